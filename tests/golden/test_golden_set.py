"""The numbers of other programs on a small collection of our own: README.md says how it was made.

trec_eval's values are compared as printed, pytrec_eval's to the last bit. ranx and ir_measures add up in another order:
their values agree to 1e-12.
"""

import json
import math

import golden_set
import pytest
from common import UNEVEN
from golden_set import COLLECTION, EXPECTED
from reference_files import ours

import fastir

pytestmark = UNEVEN

QRELS = COLLECTION / "qrels.txt"
FLAGS = {
    "-c": {"queries": "qrels"}, "-l 2": {"rel_level": 2}, "-J": {"judged_only": True},
    "-M 7": {"max_depth": 7},
}  # fmt: skip


def loaded(name):
    return json.loads((EXPECTED / name).read_text("utf-8"))


def printed(value, text):
    """Whether a value is printed so; where it is half-way between two texts, a neighbour's text will do."""
    digits = len(text.partition(".")[2])
    return text in {
        f"{near:.{digits}f}" for near in (value, *(math.nextafter(value, to) for to in (-math.inf, math.inf)))
    }


def check(compared, agree, at_least):
    """Fail with the first disagreements among (place, value, expected)."""
    wrong = [row for row in compared if not agree(*row[1:])]
    assert len(compared) >= at_least
    assert not wrong, f"{len(wrong)} of {len(compared)} values differ: {wrong[:5]}"


@pytest.mark.parametrize("name", golden_set.TREC_EVAL)
def test_trec_eval(name):
    flags, run = golden_set.TREC_EVAL[name]
    options = {key: value for flag, choice in FLAGS.items() if flag in flags for key, value in choice.items()}
    lines = [(query, ours(theirs), text) for query, row in loaded(name).items() for theirs, text in row.items()]
    rows = [line for line in lines if line[1]]
    names = dict.fromkeys(metric for _, metric, _ in rows)
    results = fastir.evaluate(QRELS, COLLECTION / run, names, convention="trec_eval-10", **options)
    values = {**results.to_dict(), "all": dict(results)}
    assert {query for query, _, _ in rows} == (set(values) if "-q" in flags else {"all"})
    compared = [((query, metric), values[query][metric], text) for query, metric, text in rows]
    check(compared, printed, 1200 if "-q" in flags else 95)


@pytest.mark.parametrize("run", ["distinct", "tied", "gaps"])
def test_pytrec_eval(run):
    expected = loaded(f"{run}.pytrec_eval.json")
    names = {theirs: ours(theirs) for theirs in expected["301"] if ours(theirs)}
    results = fastir.evaluate(QRELS, COLLECTION / f"{run}.run", names.values(), convention="trec_eval-9").to_dict()
    assert results.keys() == expected.keys()
    compared = [
        # pytrec_eval gives the logarithms that trec_eval adds up for its geometric means
        ((query, theirs), math.log(value) if theirs.startswith("gm_") else value, row[theirs])
        for query, row in expected.items()
        for theirs, value in ((theirs, results[query][metric]) for theirs, metric in names.items())
    ]
    check(compared, float.__eq__, 800)


def close(value, expected):
    return math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-14)


def test_ranx():
    """Without the query that has no relevant document: ranx divides by zero there, and loses the queries after it."""
    expected = loaded("distinct.ranx.json")
    qrels, run = golden_set.for_ranx()
    results = fastir.evaluate(qrels, run, golden_set.RANX, convention="ranx")
    values = {"mean": dict(results), **results.to_dict()}
    assert values.keys() == expected.keys()
    compared = [
        ((query, metric), values[query][metric], theirs)
        for query, row in expected.items()
        for metric, theirs in row.items()
    ]
    check(compared, close, 400)


def test_ir_measures():
    expected = loaded("gaps.ir_measures.json")
    names = dict.fromkeys(golden_set.IR_MEASURES)
    assert expected.keys() == names.keys()
    compared = []
    for theirs, row in expected.items():
        results = fastir.evaluate(QRELS, COLLECTION / "gaps.run", theirs, convention="ir_measures")
        values = results.per_query(results.names[0])
        compared += [((query, theirs), values[query], value) for query, value in row.items()]
    check(compared, close, 400)
