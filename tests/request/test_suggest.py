"""The answer to a metric that does not exist: what was meant, and who else has it."""

import re

import pytest

import fastir
from fastir.request import names, suggest

QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 3}}
RUN = {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}}


def message(metric, **options):
    with pytest.raises(fastir.UnknownMetricError) as caught:
        fastir.evaluate(QRELS, RUN, metric, **options)
    return str(caught.value)


@pytest.mark.parametrize("bad", [
    "", " ", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@+1", "ndcg@1.5", "ndcg@1e3", "ndcg@ten", "ndcg@１０", "ndcg @10",
    " ndcg@10", "ndcg@10 ", "ndcg@10@5", "ndcg@10()", f"ndcg@{2**63}", "ndcg@" + "9" * 1000, "map-l0",
    "map-l-1", "map-lx", "map-l", f"map-l{2**31}", "bpref@10", "num_ret@10", "ndcg(", "ndcg)", "ndcg(gain)",
    "ndcg(=exp2)", "ndcg(gain=cubic)", "ndcg(gain=exp2, gain=linear)", "ndcg(p=0.5)", "num_q(empty=skip)", "rbp(p=0)",
    "rbp(p=1)", "rbp(p=nan)", "rbp(p=1_0)", "rbp.0", "rbp.", "rbp.5(p=0.5)", "map.5", "err(max_grade=0)",
    "err(max_grade=2.5)", "err(max_grade=1001)", "K@10", "map\n", "map\0", "(" * 10_000, "x" * 10_000,
])  # fmt: skip
def test_what_is_no_metric_is_refused_in_one_short_sentence(bad):
    text = message(bad)
    assert "\n" not in text and len(text) < 400


@pytest.mark.parametrize(("bad", "words"), [
    ("ndcg@0", "metric 'ndcg@0': the cutoff k must be between 1 and"),
    ("bpref@10", "bpref takes no cutoff"),
    ("ndcg(p=0.5)", "ndcg has no parameter 'p'; its parameters: gain, discount, ideal, empty_ranking, empty"),
    ("ndcg(gain=cubic)", "gain must be linear or exp2 or binary or {label:gain, ...}, got 'cubic'"),
    ("rbp(p=1)", "p must be a number above 0 and below 1, got '1'"),
    ("err(max_grade=9999)", "max_grade must be query or an integer from 1 to 1000, got '9999'"),
    ("map-l0", "the relevance level must be a number above 0 and at most 2147483647, got '0'"),
])  # fmt: skip
def test_the_message_says_what_was_expected(bad, words):
    assert words in message(bad)


@pytest.mark.parametrize(("typed", "meant"), [
    ("ngcd@10", "ndcg@10"), ("ngcd(gain=exp2)@10", "ndcg(gain=exp2)@10"),
    ("recal(gain=cubic)@10", "recall@10"), ("mpa-l2", "map-l2"), ("prec@10", "precision@10"),
    ("hitrat", "hit_rate"), ("precision_5", "precision@5"), ("ndgc_cut_10", "ndcg@10"),
    ("rcall_at_100", "recall@100"),
])  # fmt: skip
def test_a_suggestion_is_a_metric_that_exists(typed, meant):
    text = message(typed)
    assert text.startswith(f"unknown metric {typed!r}; did you mean ")
    suggested = re.findall("'(.*?)'", text.partition("did you mean")[2])
    assert meant in suggested and len(suggested) <= 3
    for metric in suggested:
        fastir.metric(metric)


@pytest.mark.parametrize(("typed", "tool"), [
    ("relstring", "trec_eval"), ("relstring_5", "trec_eval"), ("runid", "trec_eval"),
])  # fmt: skip
def test_metrics_that_other_tools_have(typed, tool):
    assert message(typed) == f"metric {typed!r} is not supported; {tool} has it"


@pytest.mark.parametrize(("typed", "meant"), [
    ("ndcg10", "'ndcg@10'"), ("MRR10", "'mrr@10'"), ("P5", "'P@5'"), ("recall5", "'recall@5'"), ("HR 10", "'HR@10'"),
    ("ndcg at 10", "'ndcg@10'"), ("nDCG @ 10", "'ndcg@10'"), ("ndcg(k=10)", "'ndcg@10'"), ("NDCG-10", "'ndcg@10'"),
    ("ndcg@10 ", "'ndcg@10'"), ("ndcg(gain=exp2) at 10", "'ndcg(gain=exp2)@10'"), ("MAP_5-l2", "'map@5-l2'"),
    ("normalized discounted cumulative gain", "'ndcg'"), ("Normalised Discounted Cumulated Gain at 10", "'ndcg@10'"),
    ("mean average precision at 10", "'map@10'"), ("Mean Reciprocal Rank @ 10", "'mrr@10'"), ("F1 score@5", "'f1@5'"),
    ("top-5 accuracy", "'hit_rate@5'"),
    ("Hit Ratio @ 10", "'hit_rate@10'"), ("subtopic recall at 20", "'st_recall@20'"),
    ("accuracy at 5", "'hit_rate@5' or 'pair_accuracy@5'"), ("rbp 0.8", "'rbp(p=0.8)'"),
    ("recall@10%", "'ncg_share@0.1'"), ("ircl_prn.0.10", "'iprec@0.1'"), ("11-pt_avg", "'iprec_avg'"),
    ("3-pt_avg", "'iprec_avg(points={0.2, 0.5, 0.8})'"), ("gm_ap", "'gm_map'"), ("exact_prec", "'precision'"),
    ("R-prec", "'r_precision'"), ("0.20R-prec", "'r_precision_mult@0.2'"), ("relative_prec5", "'relative_precision@5'"),
    ("exact_unranked_avg_prec", "'set_map'"), ("average precision at R", "'map_r'"),
    ("hit@10%", "'hit_rate_share@0.1'"),
])  # fmt: skip
def test_names_that_are_written_otherwise_are_understood_with_their_cutoff(typed, meant):
    assert message(typed).endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("typed", [
    "harm@5", "miss_rate@5", "unsuccess@5", "nonrecall", "non-recall@10", "undiscounted cumulative gain", "rmse",
])  # fmt: skip
def test_the_opposite_and_other_measures_are_no_suggestions(typed):
    assert "did you mean" not in message(typed)


def test_a_short_name_that_may_be_another_metric_says_what_it_is():
    assert message("mape@10").endswith("did you mean 'map@10' (average precision)?")


@pytest.mark.parametrize("typed", ["bpref_10", "binary preference 10"])
def test_a_cutoff_that_a_metric_has_not_is_named(typed):
    assert message(typed) == f"metric {typed!r}: bpref takes no cutoff '10'"


def test_every_spelling_in_the_tables_means_a_metric():
    for metrics in suggest.vocabulary().values():
        assert all(fastir.metric(metric) for metric in metrics)
    for name, others in suggest.OTHER_NAMES.items():
        for other in others.split(", "):
            assert names.is_metric(other) or name in names.spoken_names(other)


def test_long_names_are_read_in_linear_time():
    for text in ("@ " * 50_000, "a@" * 50_000, "1" * 100_000, "(=" * 50_000, "-l1" * 50_000):
        assert len(message(text)) < 400


def test_without_a_near_name_the_message_says_where_metrics_are_listed():
    n = len(fastir.metrics())
    assert message("K@10") == f"unknown metric 'K@10'; fastir.metrics() lists all {n}"
