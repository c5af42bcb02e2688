"""A run whose scores are all equal lost its ranking: ids order it, and a warning says so, in every shape."""

import random
import warnings

import pytest

import fastir

QRELS = {"q": {"a": 1, "b": 0}, "p": {"c": 1}}
FLAT = {"q": {"a": 0.0, "b": 0.0, "z": 0.0}, "p": {"c": 2.0, "d": 2.0}}
WORDS = "all scores of 2 queries are equal (such as 'q'): ids decide the order; ties='input' keeps the file's order"


def warnings_of(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [str(warning.message) for warning in caught]


def shapes(run, tmp_path):
    rows = [(query, doc_id, score) for query, docs in run.items() for doc_id, score in docs.items()]
    yield run
    yield fastir.Run.from_dict(run)
    yield rows
    yield random.Random(3).sample(rows, len(rows))  # in no order
    for name in ("run.txt", "run.json"):
        fastir.Run.from_dict(run).save(tmp_path / name)
        yield str(tmp_path / name)


def test_every_shape_warns(tmp_path):
    for run in shapes(FLAT, tmp_path):
        assert warnings_of(fastir.evaluate, QRELS, run, "map") == [WORDS]
        assert warnings_of(fastir.evaluate, QRELS, run, "map", convention="trec_eval-10") == [WORDS]
        assert warnings_of(fastir.judged_rankings, QRELS, run) == [WORDS]
        assert warnings_of(fastir.evaluate_many, QRELS, {"x": run}, "map") == [f"run 'x': {WORDS}"]


def test_a_chosen_rule_is_not_warned_of(tmp_path):
    for run in shapes(FLAT, tmp_path):
        for ties in ("trec", "doc_id_asc", "input", "optimistic", "average"):
            assert warnings_of(fastir.evaluate, QRELS, run, "map", ties=ties) == []
        assert warnings_of(fastir.evaluate, QRELS, run, "map", convention="ranx") == []  # by the order of the input


@pytest.mark.parametrize("run", [
    {"q": {"a": 1.0}, "p": {"c": 1.0}},  # one document
    {"q": {"a": 1.0, "b": 1.0}},  # two
    {"q": {"a": 1.0, "b": 1.0, "z": 0.5}, "p": {"c": 2.0, "d": 2.0, "e": 1.0}},  # ties
    {"q": {"a": 1.0, "b": 1.0, "z": 1.0}, "p": {"c": 2.0, "d": 1.0}},  # one query of two
    {"q": ["a", "b", "z"], "p": ["c", "d"]},  # no scores
])  # fmt: skip
def test_other_runs_are_not(run):
    assert warnings_of(fastir.evaluate, QRELS, run, "map", queries="qrels") == []


def test_nearly_all_queries():
    qrels = {f"q{n}": {"a": 1} for n in range(20)}
    run = {query: {"a": 1.0, "b": 1.0} for query in qrels} | {"q0": {"a": 2.0, "b": 1.0}}
    assert warnings_of(fastir.evaluate, qrels, run, "map")[0].startswith(
        "all scores of 19 queries are equal (such as 'q1')"
    )
    run |= {"q1": {"a": 2.0, "b": 1.0}}
    assert warnings_of(fastir.evaluate, qrels, run, "map") == []  # 18 of 20


def test_check_says_it_in_its_remark():
    faults = fastir.check(QRELS, FLAT).of("remark", kind="ties")
    assert ["ids decide the order, ties='input' keeps the file's order" in fault.text for fault in faults] == [True] * 2
    (fault,) = fastir.check(QRELS, {"q": {"a": 1.0, "b": 1.0, "z": 0.5}, "p": {"c": 1.0}}).of(kind="ties")
    assert "ids decide" not in fault.text
