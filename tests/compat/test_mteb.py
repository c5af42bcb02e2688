"""The stand-in for MTEB's calculate_retrieval_scores: against MTEB where it is installed, parts of it by hand.

Also of: mteb_abstention, mteb_scores.
"""

import contextlib
import copy
import itertools
import math
import random
import statistics

import numpy as np
import pytest
from common import ABSENT, SHARED

import fastir.compat
from fastir.compat import mteb
from fastir.compat.mteb import abstention

K = [1, 3, 5, 10, 20, 100, 1000]


# ---- abstention, slowly --------------------------------------------------------------------------------------------


def area(values, by):
    """Below the means of what is left without the first 0 to 9 tenths, the least sure first; equal ones share."""
    n = len(values)
    shared = [statistics.fmean(v for v, b in zip(values, by, strict=True) if b == mine) for mine in by]
    ranked = [value for _, value in sorted(zip(by, shared, strict=True))]
    curve = [statistics.fmean(ranked[min(round(rate / 10 * n), n - 1) :]) for rate in range(10)]
    return sum((left + right) / 20 for left, right in itertools.pairwise(curve)), curve[0] * 0.9


def test_areas():
    rng = random.Random(2)
    for n in (1, 2, 3, 7, 40, 300):
        table = {
            "fine": np.array([rng.random() for _ in range(n)]),
            "few": np.array([rng.choice((0, 0.5, 1.0)) for _ in range(n)]),
        }
        sure = {
            "max": np.array([rng.random() for _ in range(n)]),
            "std": np.array([rng.choice((0.0, 1.0)) for _ in range(n)]),
        }
        found = abstention.areas(sure, table)
        assert list(found) == ["nAUC_fine_max", "nAUC_fine_std", "nAUC_few_max", "nAUC_few_std"]
        for name, values in table.items():
            highest, lowest = area(values.tolist(), values.tolist())
            for kind, by in sure.items():
                reached, _ = area(values.tolist(), by.tolist())
                expected = (reached - lowest) / (highest - lowest) if len(set(values.tolist())) > 1 else math.nan
                assert found[f"nAUC_{name}_{kind}"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_confidences():
    """Rankings of one size are laid out together, more than a block of them, too."""
    rng = random.Random(3)
    results = {
        f"q{number}": {f"d{doc}": rng.choice((rng.random(), 1.0, 3)) for doc in range(rng.choice((0, 1, 2, 9)))}
        for number in range(5 * abstention.BLOCK_RANKINGS)
    }
    found = abstention.confidences(results)
    for row, docs in enumerate(results.values()):
        ranked = sorted(docs.values(), reverse=True)
        assert found["max"][row] == (ranked[0] if ranked else 0.0)
        assert found["diff1"][row] == (ranked[0] - ranked[1] if len(ranked) > 1 else 0.0)
        assert found["std"][row] == (np.std(list(docs.values())) if ranked else 0.0)


# ---- MTEB itself -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evaluate():
    """The method that its tasks call; it knows nothing of its object."""
    evaluator = pytest.importorskip("mteb._evaluators.retrieval_evaluator").RetrievalEvaluator
    return evaluator.evaluate.__get__(evaluator.__new__(evaluator))


def collection(seed):
    """With ties, documents called like queries, empty rankings and judgments and, at times, unknown queries."""
    rng = random.Random(seed)
    pool = [f"d{number}" for number in range(60)] + [f"q{number}" for number in range(40)]
    grade = rng.choice([(0, 1), (1,), (0, 1, 2)])
    score = rng.choice(
        [
            lambda: float(rng.randint(0, 5)),
            rng.random,
            lambda: 1.0 + rng.randint(0, 5) * 1e-9,
            lambda: rng.randint(0, 30),
        ]
    )
    queries = [f"q{number}" for number in range(rng.choice((1, 3, 12, 40)))]
    least = int(seed % 9 > 0)
    qrels = {query: {doc: rng.choice(grade) for doc in rng.sample(pool, rng.randint(least, 20))} for query in queries}
    queries += ["unknown"] * (seed % 11 == 0)
    some = rng.sample(queries, rng.randint(1, len(queries)))
    return qrels, {query: {doc: score() for doc in rng.sample(pool, rng.randint(0, 60))} for query in some}


def both(evaluate, qrels, run, *options):
    """By MTEB and by fastir: the result, or which error, and what has become of the run."""
    told = []
    for context in (contextlib.nullcontext(), fastir.compat.patched("mteb")):
        found = copy.deepcopy(run)
        with context:
            try:
                result = evaluate(qrels, found, *options)
            except (IndexError, KeyError, ZeroDivisionError) as error:
                result = type(error)
        told.append((repr(result), found))
    return told


def test_mteb_says_the_same_on_random_collections(evaluate):
    """Every key, every bit and every type."""
    failed = set()
    for seed in range(60):
        rng = random.Random(seed)
        options = (rng.choice([K, [1], [5, 3], (1, 2, 3)]), rng.random() < 0.3, rng.random() < 0.3)
        theirs, ours = both(evaluate, *collection(seed), *options)
        assert ours == theirs, f"seed {seed}"
        failed.add(ours[0] if ours[0].startswith("<class") else "")
    assert failed == {"", "<class 'IndexError'>", "<class 'KeyError'>", "<class 'ZeroDivisionError'>"}


def test_mteb_says_the_same_of_many_queries(evaluate):
    """More than NumPy takes at a time when it adds up."""
    rng = random.Random(5)
    qrels = {f"q{number}": {f"d{rng.randrange(40)}": 1} for number in range(9000)}
    run = {query: {f"d{doc}": rng.random() for doc in rng.sample(range(40), 6)} for query in qrels}
    theirs, ours = both(evaluate, qrels, run, [1, 5])
    assert ours == theirs


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("run", ["robust03/input.NLPR03vb10.gz", "webtrack_cedr/valid.wt11.run.gz"])
def test_mteb_says_the_same_on_real_collections(evaluate, run):
    path = SHARED / "data" / run
    qrels = fastir.Qrels.from_file(path.with_name("qrels.txt.gz")).to_dict()
    theirs, ours = both(evaluate, qrels, fastir.Run.from_file(path).to_dict(), K)
    assert ours == theirs
    assert "nAUC_NDCG@1000_diff1" in ours[0]


# ---- of single queries ---------------------------------------------------------------------------------------------

QRELS = {"q": {"a": 1, "b": 2, "c": 0}, "r": {"d": 1}, "s": {"a": 0}, "t": {}}
RUN = {"r": {"d": 1.0, "x": 1.0}, "q": {"a": 1.0, "y": 3.0, "b": 2.0, "c": 0.5}, "s": {"a": 1.0}, "t": {"a": 1.0}}


def test_metrics_of_single_queries_by_hand():
    """In the order of the results; x stands above d, whose score is the same."""
    assert mteb.mrr(QRELS, RUN, [1, 3]) == {"MRR@1": [0.0] * 4, "MRR@3": [1 / 2, 1 / 2, 0.0, 0.0]}
    assert mteb.recall_cap(QRELS, RUN, [1, 3]) == {
        "R_cap_at_1": [0.0, 0.0, None, None],
        "R_cap_at_3": [1.0, 1.0, None, None],
    }
    assert mteb.top_k_accuracy(QRELS, RUN, [1, 3]) == {"Accuracy@3": [1.0, 1.0]}
    assert mteb.hole(QRELS, RUN, [1, 3]) == {"Hole_at_1": [1.0, 1.0, 0.0, 0.0], "Hole_at_3": [1 / 3, 1 / 3, 0.0, 0.0]}
    for metric in (mteb.mrr, mteb.recall_cap, mteb.top_k_accuracy):
        with pytest.raises(KeyError, match="u"):
            metric(QRELS, {"u": {"a": 1.0}}, [1])
    with pytest.raises(IndexError, match="results are empty"):
        mteb.evaluate_abstention({}, {"MRR@1": []})


def test_mteb_has_the_same_metrics_of_single_queries():
    theirs = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    for seed in range(1, 40):
        qrels, run = collection(seed)
        run = {query: docs for query, docs in run.items() if query in qrels}
        for name in ("mrr", "recall_cap", "top_k_accuracy", "hole"):
            assert getattr(mteb, name)(qrels, run, K) == getattr(theirs, name)(qrels, run, K), (seed, name)
        if run:
            columns = theirs.mrr(qrels, run, K)
            told = repr(theirs.evaluate_abstention(run, columns))
            assert repr(mteb.evaluate_abstention(run, columns)) == told
