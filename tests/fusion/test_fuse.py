"""fuse() gives what each method's source defines, for any overlap and ties, and says what is wrong with its input."""
# Also of: cards, fusion, recipe, settings, sorting.

import json
import math
import os
import pickle
import statistics
import subprocess
import sys

import fused_slowly
import numpy as np
import pytest

import fastir
from fastir.analyses.fusion.cards import METHODS, NORMS

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

# Few documents and few scores: rankings that overlap, are empty, and tie, with ids longer than a word.
DOCS = st.sampled_from(["a", "b", "d1", "d10", "d2", "document-a", "document-b", "document-with-a-long-id-1", "ü"])
RANKING = st.dictionaries(DOCS, st.sampled_from([-2.0, -0.0, 0.0, 0.5, 1.0, 1.5, 3.0]), max_size=7)
QUERIES = st.lists(st.lists(RANKING, min_size=3, max_size=3), min_size=1, max_size=3)
NORM = st.sampled_from([None, *NORMS])
NUMBERS = {"gamma": 0.7, "sigma": 0.3, "k": 60, "phi": 0.8, "w": 2}
LISTS = {
    "map_scores": [0.2, 0.5, 0.1],
    "log_odds": [[0.5, -1.0], [0.1], [0.3, 0.2, -0.5]],
    "probs": [[0.5, 0.25, 0.1], [0.3, 0.2, 0.2], [0.1, 0.4, 0.0]],
}


def settings(card):
    """Weights and parameters for three runs."""
    weights = [0.25, 0.5, 1.0] if card.weights == "needed" else None
    params = {card.param.name: NUMBERS[card.param.name]} if card.param and not card.learning else {}
    if card.learnt:
        params[card.learnt] = LISTS[card.learnt]
    if card.name == "segfuse":
        params["probs"] = [[0.5 / (i + j + 1) for j in range(10)] for i in range(3)]
    return weights, params


@pytest.mark.parametrize("card", METHODS.values(), ids=lambda card: card.name)
@hypothesis.given(queries=QUERIES, norm=NORM)
@hypothesis.settings(max_examples=25, deadline=None)
def test_a_method_is_what_its_source_says(card, queries, norm):
    if norm == "borda" and card.name == "segfuse":
        norm = None  # it goes by ranks and scores, of which this norm has none
    runs = [{f"q{q}": rankings[r] for q, rankings in enumerate(queries)} for r in range(3)]
    weights, params = settings(card)
    fused = fastir.fuse(runs, card.name, norm, weights, **params)
    for q, rankings in enumerate(queries):
        expected = fused_slowly.fused(card.name, norm, rankings, weights, **params)
        found = fused[f"q{q}"]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert list(found) == fused_slowly.ranked(found)


@hypothesis.given(queries=QUERIES, n_threads=st.integers(2, 4))
@hypothesis.settings(max_examples=20, deadline=None)
def test_scores_have_the_same_bits_for_any_number_of_threads(queries, n_threads):
    runs = [{f"q{q}": rankings[r] for q, rankings in enumerate(queries)} for r in range(3)]
    for method in ("rrf", "mnz", "condorcet"):
        one, many = (fastir.fuse(runs, method, n_threads=n).to_dict() for n in (1, n_threads))
        assert one == many
        assert all(list(one[query]) == list(many[query]) for query in one)


def test_many_queries_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    runs = [
        {f"q{q}": {f"d{doc}": float(rng.integers(9)) for doc in rng.permutation(90)[:60]} for q in range(300)}
        for _ in range(3)
    ]
    one, many = (fastir.fuse(runs, "wsum", "zmuv", [0.2, 0.3, 0.5], n_threads=n).to_dict() for n in (1, 3))
    assert one == many
    for query_id in ("q0", "q299"):
        expected = fused_slowly.fused("wsum", "zmuv", [run[query_id] for run in runs], [0.2, 0.3, 0.5])
        assert one[query_id] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_reciprocal_rank_fusion_by_hand():
    """Cormack, Clarke and Buettcher (2009): the sum of 1 / (60 + rank) over the rankings that have the document."""
    lexical = {"q": {"A": 9.0, "B": 8.0, "C": 7.0}}
    dense = {"q": {"C": 0.9, "A": 0.8, "D": 0.7}}
    fused = fastir.fuse([lexical, dense], "rrf")["q"]
    assert fused == {"A": 1 / 61 + 1 / 62, "C": 1 / 63 + 1 / 61, "B": 1 / 62, "D": 1 / 63}
    assert list(fused) == ["A", "C", "B", "D"]


def test_weights_of_reciprocal_rank_fusion_multiply_its_terms():
    fused = fastir.fuse({"a": {"q": {"x": 1.0}}, "b": {"q": {"y": 1.0}}}, "rrf", run_weights={"b": 3, "a": 1}, k=1)
    assert fused["q"] == {"y": 1.5, "x": 0.5}


def test_runs_may_have_any_shape_and_a_list_has_their_names(tmp_path):
    path = tmp_path / "one.run"
    path.write_text("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n")
    rows = [("q1", "b", 2.0), ("q2", "c", 1.0)]
    fused = fastir.fuse([path, fastir.Run.from_table(rows, name="two"), {"q1": ["b", "a"]}], name="all")
    assert fused.name == "all"
    assert fused.query_ids == ["q1", "q2"]
    assert list(fused["q1"]) == ["b", "a"]
    assert fused["q2"] == {"c": 1 / 61}
    fused.save(tmp_path / "all.run")
    assert fastir.Run.from_file(tmp_path / "all.run") == fused
    assert fastir.evaluate({"q1": {"b": 1}, "q2": {"c": 1}}, fused, "mrr")["mrr"] == 1.0


def test_integer_ids_stay_integers():
    assert fastir.fuse([{1: {10: 2.0, 9: 1.0}}, {1: {9: 2.0}}])[1] == {9: 1 / 62 + 1 / 61, 10: 1 / 61}


def test_queries_that_a_run_lacks_are_in_the_report():
    fused = fastir.fuse([{"q1": {"a": 1.0}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}])
    report = fastir.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, fused, "mrr").report
    assert "queries missing from some of the fused runs" in str(report.repairs)
    assert "q2" in str(report.repairs)


def test_empty_rankings_and_a_top():
    runs = [{"q1": {}, "q2": {"a": 2.0, "b": 2.0, "c": 2.0}}, {"q1": {}, "q2": {}}]
    for norm in (None, *NORMS):
        assert fastir.fuse(runs, "sum", norm)["q1"] == {}
    assert list(fastir.fuse(runs, "sum", max_depth=2)["q2"]) == ["c", "b"]
    assert list(fastir.fuse(runs, "sum", max_depth=2, ties="doc_id_asc")["q2"]) == ["a", "b"]
    assert list(fastir.fuse(runs, "sum", ties="input")["q2"]) == ["a", "b", "c"]


def test_a_run_that_holds_duplicates_counts_the_larger_score():
    rows = [("q", "a", 1.0), ("q", "a", 3.0), ("q", "b", 2.0)]
    held = fastir.Run.from_table(rows, duplicates="once")
    assert fastir.fuse([held, {"q": {"b": 1.0}}], "sum")["q"] == {"a": 3.0, "b": 3.0}


TWO = [{"q1": {"a": 2.0}}, {"q1": {"b": 1.0}}]


@pytest.mark.parametrize("call, error, message", [
    (lambda: fastir.fuse([TWO[0]]), ValueError, "at least two are needed to fuse, got 1 ('1')"),
    (lambda: fastir.fuse(TWO, "rrrf"), ValueError, "unknown method 'rrrf'; did you mean 'rrf'?"),
    (lambda: fastir.fuse(TWO, "sum", "minmx"), ValueError, "unknown norm 'minmx'; did you mean"),
    (lambda: fastir.fuse(TWO, "wsum"), ValueError, "method 'wsum' needs run_weights"),
    (lambda: fastir.fuse(TWO, "sum", None, [1, 1]), TypeError, "run_weights: method 'sum' takes no weights"),
    (lambda: fastir.fuse(TWO, "wsum", None, [1]), ValueError, "run_weights: expected 2, one for each run, got 1"),
    (lambda: fastir.fuse(TWO, "wsum", None, [1, -1]), ValueError,
     "run_weights: the weight of run '2' must be at least 0"),
    (lambda: fastir.fuse(TWO, "wsum", None, [1, math.nan]), ValueError, "run_weights: the weight of run '2'"),
    (lambda: fastir.fuse(TWO, "wsum", None, [1, math.inf]), ValueError, "must be finite"),
    (lambda: fastir.fuse(TWO, "wsum", None, [0, 0]), ValueError, "run_weights: all are 0"),
    (lambda: fastir.fuse(TWO, "wsum", None, {"1": 1, "3": 1}), ValueError, "run_weights: there is no run '3'"),
    (lambda: fastir.fuse(TWO, "rrf", kk=1), TypeError, "method 'rrf' has no parameter 'kk'; it has k"),
    (lambda: fastir.fuse(TWO, "logn_isr", sigm=1), TypeError, "no parameter 'sigm'; did you mean 'sigma'?"),
    (lambda: fastir.fuse(TWO, "rbc"), ValueError, "method 'rbc' needs phi"),
    (lambda: fastir.fuse(TWO, "rbc", phi=2), ValueError, "phi must be at most 1, got 2.0"),
    (lambda: fastir.fuse(TWO, "posfuse"), ValueError, "needs probs, which fastir.tune learns from judgments"),
    (lambda: fastir.fuse(TWO, "posfuse", probs=[[1.0]]), ValueError, "probs: expected 2"),
    (lambda: fastir.fuse(TWO, max_depth=0), ValueError, "max_depth: the depth must be positive"),
    (lambda: fastir.fuse(TWO, ties="random"), ValueError, "ties must be one of"),
    (lambda: fastir.fuse(TWO, ties="input_reversed"), ValueError, "reverse the rows of each run"),
    (lambda: fastir.fuse(TWO, duplicates="once"), ValueError, "duplicates must be one of"),
    (lambda: fastir.fuse([TWO[0], {"q1": {"b": math.nan}}]), ValueError,
     "run '2': run: the score is NaN, not a number (query q1, document b)"),
    (lambda: fastir.fuse([TWO[0], {"q1": {"b": math.inf}}], "sum"), ValueError,
     "run '2': the score inf cannot be fused (query q1, document b)"),
    (lambda: fastir.fuse([TWO[0], {1: {2: 1.0}}]), TypeError, "run '2' has ids of type (int, int)"),
    (lambda: fastir.fuse([{"q": {"a": 1e308}}, {"q": {"a": 1e308}}], "sum"), OverflowError,
     "the fused score is inf (query q, document a)"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_methods_that_go_by_ranks_take_infinite_scores():
    assert list(fastir.fuse([{"q": {"a": 1.0, "b": math.inf}}, {"q": {"a": -math.inf}}])["q"]) == ["a", "b"]


def test_every_card_is_complete():
    for card in METHODS.values():
        assert card.source
        assert card.formula
        assert card.lacks
        json.dumps([card.name, card.title])


def test_longer_words_are_understood():
    for name in ("CombSUM", "comb-sum", "sum"):
        assert fastir.fuse(TWO, name).to_dict() == {"q1": {"a": 2.0, "b": 1.0}}
    assert fastir.fuse(TWO, "reciprocal rank fusion", k=0)["q1"] == {"b": 1.0, "a": 1.0}


@pytest.mark.parametrize("n_docs", [33, 900, 6000])
def test_many_documents_are_in_the_order_of_scores_that_differ_in_any_bit(n_docs):
    rng = np.random.default_rng(n_docs)
    near = 1.0 + rng.integers(0, 40, n_docs) * 2.0**-52  # equal, but for their last bits
    far = rng.choice([0.0, 1e-300, -1e-300, 5.0, 1e300, -1e300], n_docs) * rng.random(n_docs)
    for scores in (near, far, np.where(rng.random(n_docs) < 0.5, near, far)):
        run = {f"document-{i}": score for i, score in enumerate(scores.tolist())}
        for ties, reverse in (("trec", True), ("doc_id_asc", False)):
            fused = fastir.fuse([{"q": run}, {"q": {}}], "sum", ties=ties)["q"]
            expected = sorted(sorted(run, reverse=reverse), key=run.__getitem__, reverse=True)
            assert list(fused) == (expected if reverse else sorted(sorted(run), key=lambda doc: -run[doc]))


def test_a_run_without_queries_and_one_that_is_not_there(tmp_path):
    assert fastir.fuse([{"q": {"a": 1.0}}, {}])["q"] == {"a": 1 / 61}
    with pytest.raises(FileNotFoundError, match="absent"):
        fastir.fuse([tmp_path / "absent.run", {"q": {"a": 1.0}}])


def test_a_fused_run_is_a_run_like_any_other():
    runs = [{"q1": {"a": 2.0, "é": 1.0}, "q2": {}}, {"q1": {"b": 1.0}, "q3": {"long-document-id": 1.0}}]
    fused = fastir.fuse(runs)
    copy = pickle.loads(pickle.dumps(fused))
    assert copy == fused == fastir.Run.from_dict(fused.to_dict())
    assert [list(each.top(1)["q1"]) for each in (fused, copy)] == [["b"], ["b"]]
    assert fastir.fuse([fused, fused], "wsum", None, [1, 0]).to_dict() == fused.to_dict()
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"long-document-id": 1}}
    assert fastir.evaluate(qrels, fused, "mrr").per_query("mrr") == {"q1": 0.5, "q2": 0.0, "q3": 1.0}


def test_many_queries_are_fused_some_at_a_time(monkeypatch):
    rng = np.random.default_rng(3)
    runs = [{f"q{q}": {f"d{d}": rng.random() for d in range(q % 7)} for q in range(40)} for _ in range(2)]
    whole, few = fastir.fuse(runs, "mnz", max_depth=4), fastir.fuse(runs, "mnz", max_depth=4, n_threads=2)
    monkeypatch.setattr("fastir.analyses.fusion.fuse.CHUNK_ROWS", 20)
    parts = fastir.fuse(runs, "mnz", max_depth=4)
    assert whole.to_dict() == few.to_dict() == parts.to_dict()
    assert fastir.tune({"q6": {"d1": 1}, "q13": {"d2": 1}}, runs, "mrr", folds=2).in_sample > 0


@pytest.mark.parametrize("card", METHODS.values(), ids=lambda card: card.name)
@pytest.mark.parametrize("norm", [None, "borda", "rank"])
def test_many_runs_of_which_most_lack_a_document(card, norm):
    """Gaps of more runs than are added one by one, before, between and behind those that have a document."""
    norm = None if norm == "borda" and card.name == "segfuse" else norm
    rng = np.random.default_rng(11)
    rankings = [{f"d{doc}": float(rng.integers(1, 9)) for doc in rng.integers(0, 60, 3)} for _ in range(30)]
    rankings[0]["first"] = rankings[29]["last"] = rankings[0]["ends"] = rankings[29]["ends"] = 4.5
    weights, params = settings(card)
    weights = weights and rng.random(30).tolist()
    if card.learnt:
        params[card.learnt] = [params[card.learnt][run % 3] for run in range(30)]
    fused = fastir.fuse([{"q": ranking} for ranking in rankings], card.name, norm, weights, **params)["q"]
    assert fused == pytest.approx(
        fused_slowly.fused(card.name, norm, rankings, weights, **params), rel=1e-12, abs=1e-12
    )


def test_a_query_of_many_documents_and_runs():
    rng = np.random.default_rng(3)
    runs = [{"q": {f"d{doc}": 9.0 - i for i, doc in enumerate(rng.permutation(1200)[:5])}} for _ in range(1100)]
    docs = {doc for run in runs for doc in run["q"]}
    by_rank, by_score = dict.fromkeys(docs, 0.0), {}
    for run in runs:
        for rank, (doc, score) in enumerate(run["q"].items(), 1):
            by_rank[doc] += 1 / (60 + rank)
            by_score.setdefault(doc, []).append(score)
    assert fastir.fuse(runs).to_dict()["q"] == pytest.approx(by_rank, rel=1e-13)
    for method, combined in (
        ("mnz", lambda scores: sum(scores) * len(scores)), ("med", statistics.median), ("min", min), ("max", max),
    ):  # fmt: skip
        expected = {doc: combined(scores) for doc, scores in by_score.items()}
        assert fastir.fuse(runs, method, norm=None).to_dict()["q"] == pytest.approx(expected, rel=1e-13), method


FUSES_MANY = """
import fastir, resource, sys
n, call = int(sys.argv[1]), sys.argv[2]
runs = {f"r{i}": {"q": {f"d{i}_{j}": 3.0 - j for j in range(3)}, "p": {"d": 1.0}} for i in range(n)}
qrels = {"q": {"d0_1": 1, f"d{n - 1}_2": 1}, "p": {"d": 1}}

def use(runs):
    if call.startswith("tune "):
        return fastir.tune(qrels, runs, "ndcg", call[5:], n_trials=None if call == "tune posfuse" else 3, n_threads=1)
    return fastir.fuse(runs, call, n_threads=1)

use(dict(list(runs.items())[:3]))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
found = use(runs)
assert len(found.runs if call.startswith("tune ") else found["q"]) == (n if call.startswith("tune ") else 3 * n)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.parametrize(
    "call", ["rrf", "condorcet", "max", "bordafuse", "tune wsum", "tune rrf", "tune w_condorcet", "tune posfuse"]
)
def test_memory_is_in_proportion_to_the_rows(call):
    """A number for each document in each of 6000 runs would be 0.9 GB."""
    subprocess.run([sys.executable, "-c", FUSES_MANY, "6000", call], check=True)
