"""What `import fastir` costs beyond importing NumPy, each in a fresh process."""

import pytest
from whole_process import python

PROMISE = 15  # ms
ROUNDS = 21
PROGRAMS = {
    "python, fastir": ["-c", "import fastir"],
    "python": ["-c", "pass"],
    "python, numpy": ["-c", "import numpy"],
    "python, pytrec_eval": ["-c", "import pytrec_eval"],
    "python -m fastir --version": ["-m", "fastir", "--version"],
}

# Prints the seconds that the second import takes once the first is there.
CLOCK = """
import time
import numpy
begin = time.perf_counter()
import fastir
print(time.perf_counter() - begin)
"""


def test_whole_process(race):
    pytest.importorskip("pytrec_eval")
    calls = {name: lambda arguments=arguments: python(*arguments) for name, arguments in PROGRAMS.items()}
    calls["python -m fastir --version"]()  # byte code is kept from here on
    race("start-up, whole process", calls, rounds=ROUNDS)


def test_import(race):
    """By a clock inside the new process."""
    what = "import fastir, with NumPy already there"
    seen = race.median("start-up, whole process", what, lambda: float(python("-c", CLOCK)), ROUNDS)
    race.amount(what, 1e3 * seen, "ms", PROMISE)
