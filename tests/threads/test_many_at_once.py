"""Threads and processes that share one Qrels get, in every call, what one caller alone gets.

FASTIR_MANY_ROUNDS says how often each thread makes every call: 2 unless given; 100 are some minutes.
"""
# Also of: threads.

import concurrent.futures
import functools
import multiprocessing
import os
import random
import re
from pathlib import Path

import part_options
import pytest
import spark_rows

import fastir

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("FASTIR_MANY_ROUNDS", "2"))
THREADS, PROCESSES = 8, 4
SHARED = fastir.Qrels.from_dict(part_options.QRELS)
RUN = fastir.Run.from_table(spark_rows.table(part_options.ROWS))
OTHER = fastir.Run.from_table(spark_rows.table(spark_rows.data(2)[1]))
RUNS = {"a": RUN, "b": OTHER}
NUGGETS = [
    {"query_id": "q1", "nugget_id": nugget, "importance": importance, "assignment": given}
    for nugget, importance, given in (("n1", "vital", "support"), ("n2", "okay", "not_support"))
]
CITATIONS = [
    {"query_id": "q1", "sentence_id": sentence, "doc_id": "d1", "support": support}
    for sentence, support in (("s1", "full_support"), ("s2", "no_support"))
]


def of_option(name):
    """The values of an option of `evaluate`."""
    qrels, metrics, options = part_options.request(name)
    options.pop("columns", None)
    options.pop("run_columns", None)
    return fastir.evaluate(SHARED if qrels is part_options.QRELS else qrels, RUN, metrics, **options).values.tobytes()


def of_report():
    """The page, without its warnings: before CPython 3.14 all threads share what `catch_warnings` records."""
    path = f"report-{random.getrandbits(64)}.html"
    try:
        with open(fastir.write_report(SHARED, RUNS, "map", path), encoding="utf-8") as page:
            return re.sub(r'(?s)<section class="warnings">.*?</section>', "", page.read())
    finally:
        os.unlink(path)


CALLS = {
    **{f"evaluate({name}=)": functools.partial(of_option, name) for name in part_options.VALUES},
    "evaluate_nuggets": lambda: str(fastir.evaluate_nuggets(NUGGETS, ["nugget_recall"])["run"]),
    "evaluate_citations": lambda: str(fastir.evaluate_citations(CITATIONS, ["citation_precision"])["run"]),
    "risk_coverage": lambda: fastir.risk_coverage(
        fastir.evaluate(SHARED, RUN, "map"), "map", "max", run=RUN
    ).risk.tobytes(),
    "expected_exposure": lambda: str(
        fastir.expected_exposure(
            {"q1": {"d1": 1, "d2": 1}}, {"q1": [["d1", "d2"], ["d2", "d1"]]}, part_options.GROUPS, part_options.TARGET
        )
    ),
    "fuse": lambda: str(fastir.fuse(RUNS).to_dict()),
    "tune": lambda: str(fastir.tune(SHARED, RUNS, "map", n_trials=5)),
    "identify": lambda: str(fastir.identify(SHARED, RUN, {"map": 0.0912})),
    "check": lambda: str(fastir.check(SHARED, RUNS)),
    "compare": lambda: str(fastir.compare(SHARED, RUNS, "map")),
    "write_report": of_report,
}
SLOW = ("identify", "write_report")  # made once a round by some of the threads


def make_all(seed, rounds=ROUNDS):
    """The calls whose value differs from one caller's alone, and how many were made."""
    rng, wrong, n = random.Random(seed), [], 0
    expected = {}
    for _ in range(rounds):
        names = list(CALLS)
        rng.shuffle(names)
        for name in names:
            if name in SLOW and seed % 4:
                continue
            value = CALLS[name]()
            n += 1
            if expected.setdefault(name, value) != value:
                wrong.append(name)
    return expected, wrong, n


def agree(callers):
    """That all callers have the values of one alone; how many calls they made."""
    alone, _, _ = make_all(0, 1)
    total = 0
    for expected, wrong, n in callers:
        assert not wrong
        assert {name for name, value in expected.items() if value != alone[name]} == set()
        total += n
    return total


def test_eight_threads_have_the_values_of_one_caller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        callers = list(pool.map(make_all, range(THREADS)))
    assert agree(callers) >= THREADS * ROUNDS * (len(CALLS) - len(SLOW))


def test_four_processes_have_the_values_of_one_caller(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)  # where the processes find this module
    monkeypatch.chdir(tmp_path)
    with concurrent.futures.ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
        callers = list(pool.map(make_all, range(PROCESSES)))
    assert agree(callers) >= PROCESSES * ROUNDS * (len(CALLS) - len(SLOW))
