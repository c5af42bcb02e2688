"""The file of hexadecimal doubles: this build and every set of instructions give its bits, and it has every metric."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import patient

import fastir

PROGRAM = Path(__file__).with_name("bits.py")


def run_program(program=PROGRAM, **environment):
    done = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=patient(60),
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("simd", fastir.show_config()["simd_available"])
def test_every_bit_is_as_it_was(simd):
    code, said = run_program(FASTIR_SIMD=simd)
    assert (code, len(said)) == (0, 1), said[:5]


def test_every_metric_is_in_the_file():
    rows = PROGRAM.with_name("bits.txt").read_text("utf-8").splitlines()
    held = {re.split("[@(]", row.split()[1])[0] for row in rows}
    assert {card.name for card in fastir.metrics() if not card.sampled} <= held


def test_one_bit_off_is_found(tmp_path):
    text = PROGRAM.read_text("utf-8").replace('HERE / "collection"', f'Path({str(PROGRAM.parent)!r}) / "collection"')
    (tmp_path / "bits.py").write_text(text, "utf-8")
    rows = PROGRAM.with_name("bits.txt").read_text("utf-8").replace("p-2\n", "p-3\n", 1)
    (tmp_path / "bits.txt").write_text(rows, "utf-8")
    code, said = run_program(tmp_path / "bits.py")
    assert code == 1 and len(said) == 3 and ", 2 off: fastir" in said[-1]
