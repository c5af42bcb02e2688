"""What MTEB and its tasks make of rankings and scores: by hand, and against MTEB where it is installed."""

import contextlib
import copy
import itertools
import math
import random
import statistics

import numpy as np
import pytest
from common import ABSENT, SHARED
from ranx_data import odd_collection

import fastir.compat
from fastir.analyses.curves.risk_coverage import BLOCK_RANKINGS
from fastir.compat import mteb

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
        found = mteb.areas(sure, table)
        assert list(found) == ["nAUC_fine_max", "nAUC_fine_std", "nAUC_few_max", "nAUC_few_std"]
        for name, values in table.items():
            highest, lowest = area(values.tolist(), values.tolist())
            for kind, by in sure.items():
                reached, _ = area(values.tolist(), by.tolist())
                expected = (reached - lowest) / (highest - lowest) if len(set(values.tolist())) > 1 else math.nan
                assert found[f"nAUC_{name}_{kind}"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_confidences():
    rng = random.Random(3)
    results = {
        f"q{number}": {f"d{doc}": rng.choice((rng.random(), 1.0, 3)) for doc in range(rng.choice((0, 1, 2, 9)))}
        for number in range(5 * BLOCK_RANKINGS)
    }
    found = mteb.confidences(results)
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


def odd(seed):
    return odd_collection(seed, (1, 3, 12, 40), int(seed % 9 > 0), ["unknown"] * (seed % 11 == 0))


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
        theirs, ours = both(evaluate, *odd(seed), *options)
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
        qrels, run = odd(seed)
        run = {query: docs for query, docs in run.items() if query in qrels}
        for name in ("mrr", "recall_cap", "top_k_accuracy", "hole"):
            assert getattr(mteb, name)(qrels, run, K) == getattr(theirs, name)(qrels, run, K), (seed, name)
        if run:
            columns = theirs.mrr(qrels, run, K)
            told = repr(theirs.evaluate_abstention(run, columns))
            assert repr(mteb.evaluate_abstention(run, columns)) == told


# ---- instructions ----------------------------------------------------------------------------------------------------
def p_mrr(before, after, changed):
    """Slowly: FollowIR's formula, of ranks counted one by one."""

    def rank(docs, doc):
        if doc not in docs:
            return len(docs) + 1
        return 1 + sum((score, other) > (docs[doc], doc) for other, score in docs.items())

    means = []
    for query, docs in changed.items():
        if f"{query}-og" in before and f"{query}-changed" in after and docs:
            ranks = [(rank(before[f"{query}-og"], doc), rank(after[f"{query}-changed"], doc)) for doc in docs]
            means.append(statistics.fmean(1 / r / (1 / s) - 1 if r >= s else 1 - 1 / s / (1 / r) for r, s in ranks))
    return statistics.fmean(means)


def instruct(seed):
    """Two runs with ties, and changed documents, some of them not ranked, listed twice or of queries that are not."""
    rng = random.Random(seed)
    pool = [f"d{number}" for number in range(30)] + ["é", "D", "\U0001f600", "\uffff"]
    runs = [
        {
            f"q{number}{end}": {doc: rng.choice((1.0, 2, rng.random())) for doc in rng.sample(pool, rng.randint(0, 34))}
            for number in rng.sample(range(8), 7)
        }
        for end in ("-og", "-changed")
    ]
    changed = {f"q{number}": rng.choices(pool, k=rng.randint(0, 5)) for number in range(8)}
    return *runs, changed


def test_p_mrr_by_hand_and_slowly():
    before, after = {"q-og": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q-changed": {"b": 3.0, "c": 2.0, "a": 1.0}}
    assert mteb.calculate_pmrr(before, after, {"q": ["a"]}) == 1 - 1 / 3
    assert mteb.calculate_pmrr(before, after, {"q": ["b"]}) == 1 / 2 - 1
    assert mteb.calculate_pmrr(before, after, {"q": ["x"]}) == 0.0
    assert mteb.calculate_pmrr(before, after, {"q": ["a", "b"], "r": ["a"]}) == pytest.approx((2 / 3 - 1 / 2) / 2)
    for seed in range(100):
        given = instruct(seed)
        assert mteb.calculate_pmrr(*given) == pytest.approx(p_mrr(*given), abs=1e-14)
    with pytest.raises(ZeroDivisionError, match="no query with changed documents is in both runs"):
        mteb.calculate_pmrr(before, after, {"r": ["a"]})
    with pytest.raises(ValueError, match="NaN"):
        mteb.calculate_pmrr(before, {"q-changed": {"a": math.nan}}, {"q": ["a"]})


def test_a_query_that_a_run_lacks_is_logged(caplog):
    before, after = {"q-og": {"a": 3.0}}, {"q-changed": {"a": 1.0}}
    assert mteb.calculate_pmrr(before, after, {"q": ["a"], "r": ["a"]}) == 0.0
    assert caplog.messages == ["Query r not found in the runs for calculating p-MRR"]


def test_robustness_by_hand():
    """The least of each query's instructions, and the mean of these."""
    scores = {name: {"ndcg_cut_10": value} for name, value in (("a_1", 0.5), ("b_1", 1.0), ("a_2", 0.25), ("c", 0.0))}
    assert mteb.robustness_at_10(scores, None, scores) == (0.25 + 1.0 + 0.0) / 3
    with pytest.raises(KeyError, match="d"):
        mteb.robustness_at_10({"d": {}}, None, scores)
    with pytest.raises(ZeroDivisionError):
        mteb.robustness_at_10({}, None, scores)


def test_mteb_has_the_same_metrics_of_instructions():
    theirs = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    for seed in range(40):
        given = instruct(seed)
        assert mteb.calculate_pmrr(*given) == pytest.approx(theirs.calculate_pmrr(*given), abs=1e-14)
        queries = [f"q{number % 4}_{number}" for number in range(seed + 1)]
        scores = {query: {"ndcg_cut_10": random.Random(query).random()} for query in queries}
        asked = {query: {} for query in queries}, {}, scores
        assert mteb.robustness_at_10(*asked) == theirs.robustness_at_10(*asked)


# ---- pairs and parts -----------------------------------------------------------------------------------------------
def test_paired_accuracy_by_hand():
    scores = {name: {"recall_1": value} for name, value in (("a_q1", 1.0), ("a_q2", 1.0), ("b_q1", 1.0), ("b_q2", 0.5))}
    assert mteb.paired_accuracy(scores, None, scores) == 1 / 2
    with pytest.raises(KeyError, match="a_q2"):
        mteb.paired_accuracy({"a_q1": {}}, None, {"a_q1": {"recall_1": 1.0}})
    with pytest.raises(ZeroDivisionError):
        mteb.paired_accuracy({}, None, {})


def parts(seed):
    """Queries in parts with the same judgments, and rankings of the parts."""
    rng = random.Random(seed)
    pool = [f"d{number}" for number in range(20)]
    judged = {f"q_{number}": {doc: rng.randint(0, 2) for doc in rng.sample(pool, 5)} for number in range(6)}
    qrels = {f"{query}_{part}": labels for query, labels in judged.items() for part in range(rng.randint(1, 3))}
    score = rng.choice([rng.random, lambda: float(rng.randint(0, 3))])
    return qrels, {query: {doc: score() for doc in rng.sample(pool, rng.randint(1, 12))} for query in qrels}


def changing(seed):
    """Queries before and after a change of the instruction, with judgments, rankings and the changed documents."""
    rng = random.Random(seed)
    pool = [f"d{number}" for number in range(20)]
    ids = [f"q{number}{end}" for end in ("-og", "-changed") for number in range(5)]
    qrels = {query: {doc: rng.randint(0, 1) for doc in rng.sample(pool, 6)} for query in ids}
    run = {query: {doc: float(rng.randint(0, 9)) for doc in rng.sample(pool, 15)} for query in ids}
    return qrels, run, {f"q{number}": rng.sample(pool, 3) for number in range(5)}


def test_mteb_says_the_same_of_pairs_parts_and_changes():
    """Every key, bit and type, of MTEB's own functions and of those that are installed in their place."""
    theirs = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    for seed in range(20):
        qrels, run = parts(seed)
        told = repr(theirs.max_over_subqueries(qrels, run, [1, 3, 10]))
        with fastir.compat.patched("mteb"):
            assert repr(theirs.max_over_subqueries(qrels, run, [1, 3, 10])) == told
        qrels, run, changed = changing(seed)
        told = theirs.evaluate_p_mrr_change(qrels, run, changed, [1, 5])
        ours = mteb.evaluate_p_mrr_change(qrels, run, changed, [1, 5])
        assert list(ours) == list(told)
        assert ours["p-MRR"] == pytest.approx(told["p-MRR"], abs=1e-14)
        assert [repr(ours[name]) for name in ("og", "changed")] == [repr(told[name]) for name in ("og", "changed")]
        ids = [f"{pair}_q{one}" for pair in "abcde"[: 1 + seed % 5] for one in (1, 2)]
        scores = {query: {"recall_1": random.Random(query + str(seed)).choice((0.5, 1.0, 1.0))} for query in ids}
        assert mteb.paired_accuracy(scores, {}, scores) == theirs.paired_accuracy(scores, {}, scores)


def test_the_tasks_of_mteb_call_what_is_installed():
    """They have imported the functions by name."""
    tasks = pytest.importorskip("mteb.tasks")
    before = tasks.NevIR.task_specific_scores.__globals__["paired_accuracy"]
    with fastir.compat.patched("mteb"):
        assert tasks.NevIR.task_specific_scores.__globals__["paired_accuracy"] is mteb.paired_accuracy
        assert tasks.InstructIR.task_specific_scores.__globals__["robustness_at_10"] is mteb.robustness_at_10
    assert tasks.NevIR.task_specific_scores.__globals__["paired_accuracy"] is before
