"""The corpus and a few seconds of mutation, in a process of its own; run.py does the same for longer."""

import random
import runpy
import subprocess
import sys
import types
from pathlib import Path

import pytest
from processes import patient

RUN = Path(__file__).with_name("run.py")
NAMES = runpy.run_path(str(RUN))["NAMES"]
SECONDS = 0.2
pytest.importorskip("pyarrow")  # two of the targets are files that it reads


def test_what_was_kept_and_some_mutations_break_nothing(tmp_path):
    """All targets in one process: the line that is missing, or an error, is that of the target that broke."""
    command = [sys.executable, RUN, *NAMES, "--minutes", str(len(NAMES) * SECONDS / 60), "--child", tmp_path / "last"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient(200))
    lines = done.stdout.splitlines()
    broken = next((name for name, line in zip(NAMES, [*lines, *NAMES], strict=False) if " inputs" not in line), "")
    assert done.returncode == 0, f"{broken}: {done.stdout}{done.stderr}"
    assert [line.split()[1:] for line in lines] == [["inputs"]] * len(NAMES)


def test_the_same_seed_makes_the_same_inputs(monkeypatch):
    monkeypatch.syspath_prepend(str(RUN.parent))
    run = types.SimpleNamespace(**runpy.run_path(str(RUN)))
    made = [[run.mutated(random.Random(seed), [b"abc", b"defg"], [b"w"]) for _ in range(3)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
