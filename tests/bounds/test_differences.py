"""Bounds of the difference of two runs against all labelings of the unjudged documents of both."""

import pytest
from every_labeling import case_of_two, check_two
from every_option import METRICS as ALL

import fastir
from fastir.analyses.bounds import families

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

METRICS = [name for name in ALL if not name.startswith(("gm_", "gmean_")) and not name.endswith("@1")]
EXACT = [
    *("num_rel", "num_rel_ret", "hits@3", "precision", "recall", "recall@3", "relative_precision@3"),
    *("f1@3", "cg", "dcg", "dcg@3", "dcg_burges@3", "rbp", "rbp@3", "rbp(gains=raw)@3", "sdcg@3", "insq", "tbg"),
    *("mrr", "mrr@3", "hit_rate@3", "ndcg", "ndcg@3", "ndcg_burges@3", "utility", "p_ia@3"),
    *("ndcg(gain=exp2)", "ndcg(discount=jk2)@3", "ndcg(ideal=full)@3", "judged@3", "num_ret", "set_f@3", "ndcg-l2"),
]

OPTIONS = [{}, {"judged_only": True}, {"max_depth": 3}, {"rel_level": 2}, {"empty": "nan"}]


@pytest.mark.parametrize(("depth", "max_label"), [(None, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_differences_are_within_their_bounds(options, depth, max_label):
    labels, *runs = case_of_two(10 * OPTIONS.index(options) + 100 * max_label, max_label)
    check_two(labels, runs, METRICS, max_label, depth, **options)


@pytest.mark.parametrize("seed", range(3))
def test_sums_over_ranks_are_exact_however_many_unjudged_documents_there_are(seed, monkeypatch):
    monkeypatch.setattr(families, "MAX_LABELINGS", 1)
    for max_label in (1, 2):
        labels, *runs = case_of_two(seed, max_label)
        check_two(labels, runs, EXACT, max_label)


def test_outer_bounds_of_average_precision_hold(monkeypatch):
    for seed in range(5):
        labels, *runs = case_of_two(seed, 1)
        given = {"q": labels}, {"q": runs[0]}, ["map", "map(ap_norm=min_kR)@3"]
        exact = fastir.bounds(*given, against={"q": runs[1]}, max_label=1)
        monkeypatch.setattr(families, "MAX_LABELINGS", 1)
        outer = fastir.bounds(*given, against={"q": runs[1]}, max_label=1)
        monkeypatch.undo()
        assert all(exact.exact.values())
        assert (outer.lower.values <= exact.lower.values + 1e-12).all()
        assert (outer.upper.values >= exact.upper.values - 1e-12).all()


def test_a_difference_is_that_of_the_values_and_its_queries_are_those_of_both():
    qrels = {"1": {"a": 1}, "2": {"a": 1, "b": 0}, "3": {"a": 1}}
    first, second = {"1": {"a": 1.0}, "2": {"a": 1.0, "x": 2.0}}, {"2": {"b": 2.0, "a": 1.0}, "3": {"a": 1.0}}
    found = fastir.bounds(qrels, first, ["mrr", "P@2"], against=second)
    assert found.value.query_ids == ["1", "2", "3"] and found.coverage is None
    assert found.value["mrr"] == (1.0 + 0.0 - 1.0) / 3
    assert found.against == fastir.judged_rankings(qrels, second)
    both = fastir.bounds(qrels, first, ["mrr"], against=second, queries="intersection")
    assert both.value.query_ids == both.lower.query_ids == ["2"]
    assert (both.lower["mrr"], both.upper["mrr"]) == (0.0, 0.5)


@pytest.mark.parametrize(("given", "message"), [
    ({"metrics": "gm_map"}, "metric 'gm_map': its mean is geometric"),
    ({"duplicates": "once"}, "against: with duplicates='once'"),
])  # fmt: skip
def test_what_has_no_difference_is_named(given, message):
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    given = {"metrics": "map", **given}
    with pytest.raises(ValueError, match=message):
        fastir.bounds(qrels, run, given.pop("metrics"), against=run, **given)


@pytest.mark.parametrize("against", [{"z": {"a": 1.0}}, {"q": {"a": float("nan")}}, {}])
def test_errors_say_which_run_they_are_of(against):
    with pytest.raises(ValueError, match="run 'against': "):
        fastir.bounds({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", against=against)
