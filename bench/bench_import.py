"""What imports, first calls and commands cost beyond importing NumPy, each in a fresh process."""

from pathlib import Path

import pytest
from whole_process import python

PROMISE = 10  # ms
EXAMPLE = [str(Path(__file__).parents[1] / "examples" / name) for name in ("qrels.txt", "bm25.run")]
ROUNDS = 21
PROGRAMS = {
    "python, fastir": ["-c", "import fastir"], "python": ["-c", "pass"], "python, numpy": ["-c", "import numpy"],
    "python, pytrec_eval": ["-c", "import pytrec_eval"], "python -m fastir --version": ["-m", "fastir", "--version"],
    "python -m fastir --help": ["-m", "fastir", "--help"],
    "python -m fastir eval": ["-m", "fastir", "eval", *EXAMPLE, "-m", "ndcg@10,map"],
}  # fmt: skip
BEYOND = {  # (a program, what it is compared with, the milliseconds that it may take beyond that)
    "python -m fastir --version": ("python", 20),
    "python -m fastir --help": ("python", 20),
    "python -m fastir eval": ("python, numpy", 35),
}

# Prints the seconds that a statement takes in a process that has run others.
CLOCK = """
import time
{before}
begin = time.process_time()
{statement}
print(time.process_time() - begin)
"""
DICTS = "fastir.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'map')"
TABLES = """fastir.evaluate(
    {'query_id': ['q'], 'doc_id': ['d'], 'label': [1]}, {'query_id': ['q'], 'doc_id': ['d'], 'score': [1.0]}, 'map'
)"""
SCORES = "fastir.compare_scores({'a': {'q': 1.0, 'r': 2.0, 's': 3.0}, 'b': {'q': 2.0, 'r': 1.0, 's': 1.0}})"
CALLS = {
    "import fastir, with NumPy already there": ("import numpy", "import fastir", PROMISE),
    "the first evaluation of a dict": ("import fastir, numpy", DICTS, None),
    "the first evaluation of a table after it": (f"import fastir, numpy; {DICTS}", TABLES, 5),
    "the first t test of two runs": ("import fastir, numpy", SCORES, None),
    "the first t test of two runs, p-value read": ("import fastir, numpy", f"{SCORES}.verdicts", None),
}


def test_whole_process(race):
    pytest.importorskip("pytrec_eval")
    calls = {name: lambda arguments=arguments: python(*arguments) for name, arguments in PROGRAMS.items()}
    calls["python -m fastir eval"]()  # byte code is kept from here on
    seen = race("start-up, whole process", calls, rounds=ROUNDS)
    for name, (base, most) in BEYOND.items():
        race.amount(f"{name}, beyond {base}", 1e3 * (seen[name].cpu - seen[base].cpu), "ms", most)


@pytest.mark.parametrize("what", CALLS)
def test_first_calls(race, what):
    """By a clock inside the new process, of processor time."""
    before, statement, most = CALLS[what]
    program = CLOCK.format(before=before, statement=statement)
    seen = race.median("start-up, whole process", what, lambda: float(python("-c", program)), ROUNDS)
    race.amount(what, 1e3 * seen, "ms", most)
