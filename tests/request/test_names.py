"""How metrics are asked for: every dialect's spelling, the grammar, and the answer to a name that does not exist."""

import re

import pytest

import fastir

QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 3}}
RUN = {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}}


def value(metric, **options):
    return fastir.evaluate(QRELS, RUN, metric, **options)[metric]


def message(metric, **options):
    with pytest.raises(fastir.UnknownMetricError) as caught:
        fastir.evaluate(QRELS, RUN, metric, **options)
    return str(caught.value)


@pytest.mark.parametrize(("name", "others"), [
    ("hit_rate@2", ["success@2", "Success@2", "hit@2", "Hit@2", "HR@2", "hr@2"]),
    ("precision@2", ["P@2", "p@2"]),
    ("recall@2", ["R@2"]),
    ("r_precision", ["r-precision", "Rprec", "RPrec"]),
    ("mrr", ["MRR", "recip_rank", "RR"]),
    ("map@3", ["AP@3", "MAP@3"]),
    ("bpref", ["Bpref"]),
    ("ndcg@3", ["nDCG@3", "NDCG@3", "ndcg()@3", "ndcg( gain = linear )@3", "ndcg(ideal='judged')@3"]),
    ("ndcg_burges@3", ["ndcg(gain=exp2)@3"]),
    ("rbp(p=0.95)", ["rbp.95", "RBP.95", "rbp.950", "rbp(p=.95)", "rbp(P=9.5e-1)"]),
    ("rbp(p=0.5, gains=raw)@3-l2", ["rbp.5(gains=RAW)@3-l2", "rbp(gains=raw, p=0.5)@3-L2"]),
    ("err(max_grade=3)", ["err(max_grade=3.0)", "err(max_grade=query)"]),
    ("num_rel_ret", ["NumRelRet"]),
])  # fmt: skip
def test_spellings_of_one_metric(name, others):
    results = fastir.evaluate(QRELS, RUN, [name, *others])
    assert results.names == [name, *others]
    assert results[name] > 0
    assert set(results.values[0]) == {results[name]}


def test_a_name_asked_for_twice_is_one_name():
    assert fastir.evaluate(QRELS, RUN, ["map", "AP", "map"]).names == ["map", "AP"]


def test_the_level_of_a_metric_takes_gains_away_and_rel_level_does_not():
    assert value("num_rel_ret") == 2 and value("hits-l2") == 1
    assert value("map", rel_level=2) == value("map-l2")
    assert value("cg") == value("cg", rel_level=2) == 3
    assert value("cg-l2") == value("cg-l2", rel_level=3) == 2


@pytest.mark.parametrize("cutoff", ["4", "5", "1000000", str(2**63 - 1)])
def test_a_cutoff_beyond_the_ranking(cutoff):
    assert value(f"ndcg@{cutoff}") == value("ndcg")
    assert value(f"R@{cutoff}") == value("R")


@pytest.mark.parametrize("bad", [
    "", " ", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@+1", "ndcg@1.5", "ndcg@1e3", "ndcg@ten", "ndcg@１０", "ndcg @10",
    " ndcg@10", "ndcg@10 ", "ndcg@10@5", "ndcg@10()", "ndcg@10,map", f"ndcg@{2**63}", "ndcg@" + "9" * 1000, "map-l0",
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
    ("map-l0", "the relevance level must be a number above 0, got '0'"),
])  # fmt: skip
def test_the_message_says_what_was_expected(bad, words):
    assert words in message(bad)


def test_a_keyword_is_checked_like_a_parameter():
    assert message("map", gain="cubic") == "gain must be linear or exp2 or binary or {label:gain, ...}, got 'cubic'"
    with pytest.raises(TypeError, match=r"unknown option 'gian'.*gain"):
        fastir.evaluate(QRELS, RUN, "map", gian="exp2")


@pytest.mark.parametrize(("typed", "meant"), [
    ("ngcd@10", "ndcg@10"),
    ("ngcd(gain=exp2)@10", "ndcg(gain=exp2)@10"),
    ("recal(gain=cubic)@10", "recall"),
    ("mpa-l2", "map-l2"),
    ("prec@10", "precision@10"),
    ("hitrat", "hit_rate"),
    ("precision_5", "precision@5"),
    ("ndgc_cut_10", "ndcg@10"),
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


def test_without_a_near_name_the_message_says_where_metrics_are_listed():
    n = len(fastir.metrics())
    assert message("K@10") == f"unknown metric 'K@10'; fastir.metrics() lists the {n} that there are"


@pytest.mark.parametrize("bad", [None, 5, b"map", ["map", None], [b"map"], [["map"]], {"map": 1, 2: 3}])
def test_metrics_are_strings(bad):
    with pytest.raises(TypeError, match="str"):
        fastir.evaluate(QRELS, RUN, bad)


@pytest.mark.parametrize("none", [[], (), iter(())])
def test_no_metric_is_an_error(none):
    assert "no metric" in message(none)
