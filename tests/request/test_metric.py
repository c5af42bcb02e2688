"""metric(): what a name means here and to other tools, as attributes and as text."""

import copy
import json
import pickle
import re
import subprocess
import sys

import pytest

import fastir
from fastir.engine.measure import MOST_USED


def lines_of(metric):
    return str(fastir.metric(metric)).splitlines()


def test_metric_says_what_the_name_means_elsewhere():
    members = [f"precision@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
    assert lines_of("P")[-2:] == [f"  in trec_eval    {', '.join(members)}", "  in implicit     relative_precision"]
    assert lines_of("rbp@95")[-1] == "  in ranx         rbp(p=0.95)"
    assert lines_of("success")[-1] == "  in trec_eval    hit_rate@1, hit_rate@5, hit_rate@10"
    assert not [line for line in lines_of("ndcg@10") + lines_of("P_5") if line.startswith("  in ")]


def test_metric_gives_the_canonical_name():
    assert lines_of("P_5")[1] == "  canonical name  precision@5"
    assert lines_of("nDCG(dcg='exp-log2')@10")[1] == "  canonical name  ndcg(gain=exp2)@10"
    assert lines_of("AP(rel=2)")[1] == "  canonical name  map-l2"


def test_metric_lists_what_a_name_stands_for():
    assert lines_of("P.10,5") == ["P.10,5: P_5, P_10", "  precision@k     share of relevant documents in the first k"]
    first, *rest = lines_of("official")
    assert first.startswith("official: num_q, num_ret, ") and first.endswith(", P_500, P_1000")
    assert len(rest) == 11


def test_metric_shows_what_is_in_force():
    text = str(fastir.metric("RBP.95@10-l2"))
    title = "RBP.95@10-l2: rank-biased precision"
    for words in (title, "first 10 documents", "label >= 2", "0.95", "binary or scaled or raw"):
        assert words in text


def test_metric_names_every_parameter_and_value():
    for card in fastir.metrics():
        text = str(fastir.metric(card.name))
        for words in (card.summary, card.formula, card.undefined, card.source, card.differs, card.range, *card.aliases):
            assert words in text
        for param in card.params:
            assert re.search(rf"^  {param.name} +{'must be given' if param.required else param.default}  ", text, re.M)
            assert all(choice in text for choice in param.choices)


def test_metric_refuses_what_evaluate_refuses():
    with pytest.raises(fastir.UnknownMetricError, match=r"did you mean .*'ndcg@10'"):
        fastir.metric("ngcd@10")
    with pytest.raises(TypeError, match="a metric must be a str"):
        fastir.metric(10)


def test_metric_tells_all_meanings_of_a_name():
    lines = str(fastir.metric("Accuracy@10")).splitlines()
    assert lines[0] == "Accuracy@10: 2 metrics, by the tool; without a convention the name is an error"
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")][1:] == ["hit_rate@10", "pair_accuracy@10"]
    assert [line.split() for line in lines[-3:]] == [
        ["in", "beir", "hit_rate@10"],
        ["in", "sentence-transformers", "hit_rate@10"],
        ["in", "ir_measures", "pair_accuracy@10"],
    ]
    with pytest.raises(fastir.UnknownMetricError, match="did you mean"):
        fastir.metric("acuracy")


def test_what_it_prints_is_there_for_programs():
    ndcg = fastir.metric("nDCG(dcg='exp-log2')@10-l2")
    assert (ndcg.name, ndcg.canonical) == ("nDCG(dcg='exp-log2')@10-l2", "ndcg(gain=exp2)@10-l2")
    assert (ndcg.cutoff, ndcg.rel_level, ndcg.parameters["gain"], ndcg.parameters["discount"]) == (
        10, 2, "exp2", "log2",
    )  # fmt: skip
    assert (ndcg.range, ndcg.aggregate) == ("0 to 1; or any number with gain={...}", "mean") and ndcg.higher_is_better
    assert ndcg.sources[1].startswith("trec_eval ndcg") and ndcg.references[0].url in str(ndcg)
    assert "ndcg_cut_k" in ndcg.aliases and ndcg.members == () and "scikit-learn" in ndcg.differs
    assert fastir.metric("rbp@95").meanings == {"ranx": "rbp(p=0.95)"}


def test_related_metrics_are_the_ones_that_cards_mention():
    gain = fastir.metric("ndcg")
    assert {"dcg", "ideal_dcg", "ndcg_burges"} <= set(gain.see_also)
    assert f"see also        {', '.join(gain.see_also)}" in str(gain)
    cards = {card.name for card in fastir.metrics()}
    for name in cards:
        for other in fastir.metric(name).see_also if not fastir.metric(name).members else ():
            assert other in cards - {name}
            assert name in fastir.metric(other).see_also


def test_a_name_for_several_has_what_they_share():
    several = fastir.metric("P.10,5")
    assert [member.canonical for member in several.members] == ["precision@5", "precision@10"]
    assert several.canonical == "precision@5, precision@10" and several.formula == several.members[0].formula
    assert several.cutoff is None and several.parameters == several.members[1].parameters
    mixed = fastir.metric("official")
    assert (mixed.formula, mixed.higher_is_better, mixed.sources, mixed.parameters) == ("", None, (), {})
    error = fastir.metric("Accuracy@10")
    assert {member.canonical for member in error.members} == set(error.meanings.values())


def test_every_card_has_its_attributes():
    for card in fastir.metrics():
        metric = fastir.metric(card.name)
        assert (metric.formula, metric.undefined, metric.range) == (card.formula, card.undefined, card.range)
        assert metric.canonical.startswith(card.name)
        assert list(metric.parameters) == [param.name for param in card.params]


def test_it_is_a_value():
    one, other = fastir.metric("ndcg@10"), fastir.metric("ndcg@10")
    assert one == other != fastir.metric("ndcg_cut_10") and len({one, other}) == 1
    assert pickle.loads(pickle.dumps(one)) == one and repr(copy.deepcopy(one)) == str(one)
    with pytest.raises(AttributeError):
        one.range = "0 to 2"


def test_notebooks_show_a_table():
    html = fastir.metric("map")._repr_html_()
    assert "<table" in html and "canonical name</td>" in html and "average precision" in html
    assert "in trec_eval" in fastir.metric("P")._repr_html_()


def test_a_metric_stands_where_its_name_can():
    qrels, run = {"q": {"a": 1, "b": 2}, "r": {"a": 1}}, {"q": {"b": 1.0, "a": 2.0}, "r": {"c": 2.0, "a": 1.0}}
    ndcg, mrr = fastir.metric("ndcg@10"), fastir.metric("mrr")
    results = fastir.evaluate(qrels, run, [ndcg, "map", mrr])
    assert results.names == ["ndcg@10", "map", "mrr"] and {type(name) for name in results.names} == {str}
    assert results[ndcg] == results["ndcg@10"] == fastir.evaluate(qrels, run, ndcg)[ndcg]
    assert results.per_query(mrr) == results.per_query("mrr") and results.diff(results, mrr).metric == "mrr"
    assert fastir.compare_scores({"a": results, "b": results}, mrr).metrics == ["mrr"]
    assert fastir.rank_correlation({"a": results, "b": results}, {"a": results, "b": results}, ndcg).tau_b != 1
    assert fastir.evaluate_ranked([2, 0, 1], [0, 3], ndcg)[ndcg] == fastir.explain_ranked([2, 0, 1], ndcg).value
    with pytest.raises(KeyError, match="'err@3' was not evaluated; the metrics here are 'ndcg@10', 'map', 'mrr'"):
        results[fastir.metric("err@3")]


def test_a_metric_is_its_name_that_prints_what_it_means():
    ndcg = fastir.metric("ndcg@10")
    assert f"{ndcg}, {ndcg:>8}" == "ndcg@10,  ndcg@10" and json.dumps([ndcg]) == '["ndcg@10"]'
    assert ndcg == ndcg.name == "ndcg@10" and type(ndcg.name) is type(fastir.metric(ndcg).name) is str
    assert str(ndcg) == repr(ndcg) == str(pickle.loads(pickle.dumps(ndcg)))
    assert pickle.loads(pickle.dumps(ndcg)).sources == ndcg.sources


# ---- all metrics -----------------------------------------------------------------------------------------------------
CARDS = fastir.metrics()


def test_both_are_columns_of_the_list_of_metrics():
    listed = subprocess.run([sys.executable, "-m", "fastir", "metrics"], capture_output=True, text=True, check=True)
    head, *lines = listed.stdout.splitlines()
    assert re.split(r"\s{2,}", head)[1:3] == ["relevance", "first k"]
    metrics = lines[: lines.index("")]  # measures of two runs stand below
    rows = [line for line in metrics if not line.startswith(" ")]  # what is long goes on in the next line
    for card, row in zip(CARDS, rows, strict=True):
        assert re.match(
            rf"{re.escape(card.name)}\S*\s+{card.relevance}\s+{card.order}\s+{card.summary.split()[0]}", row
        )
    assert {card.name for card in CARDS if card.graded and not card.rank_sensitive} == {
        "cg", "ncg", "ideal_dcg", "prefs_num_prefs_poss",
    }  # fmt: skip


def test_the_list_begins_with_what_people_ask_for_most():
    names = [card.name for card in fastir.metrics()]
    assert names[:5] == ["ndcg", "map", "mrr", "precision", "recall"] and names[20] == "num_q"
    assert len(set(names)) == len(names) and {*MOST_USED} == {*names[:20]}


def test_the_first_column_of_a_metric_is_narrow():
    assert re.search(r"<thead><tr><th[^>]*></th><th[^>]*>ndcg@10: ", fastir.metric("ndcg@10")._repr_html_())
