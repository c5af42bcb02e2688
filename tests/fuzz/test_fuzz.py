"""The corpus and a few seconds of mutation, in processes of their own; run.py does the same for longer."""

import random
import runpy
import subprocess
import sys
import types
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")
NAMES = runpy.run_path(str(RUN))["NAMES"]
SECONDS = 0.5
pytest.importorskip("pyarrow")  # two of the targets are files that it reads


@pytest.mark.parametrize("name", NAMES)
def test_what_was_kept_and_some_mutations_break_nothing(name):
    command = [sys.executable, RUN, name, "--minutes", str(SECONDS / 60)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(name) and done.stdout.endswith(" inputs\n")


def test_the_same_seed_makes_the_same_inputs(monkeypatch):
    monkeypatch.syspath_prepend(str(RUN.parent))
    run = types.SimpleNamespace(**runpy.run_path(str(RUN)))
    made = [[run.mutated(random.Random(seed), [b"abc", b"defg"], [b"w"]) for _ in range(3)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
