"""What MTEB's tasks make of rankings and scores: by hand, and against MTEB where it is installed."""

import math
import random
import statistics

import pytest

import fastir.compat
from fastir.compat import mteb

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


def instructed(seed):
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
        given = instructed(seed)
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
        given = instructed(seed)
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
