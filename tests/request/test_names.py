"""How metrics are asked for: every dialect's spelling, the grammar, and the answer to a name that does not exist."""

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
    ("hit_rate@2", ["success@2", "Success@2", "hit@2", "Hit@2", "HR@2", "hr@2"]), ("precision@2", ["P@2", "p@2"]),
    ("recall@2", ["R@2"]), ("r_precision", ["r-precision", "Rprec", "RPrec"]), ("mrr", ["MRR", "recip_rank", "RR"]),
    ("map@3", ["AP@3", "MAP@3"]), ("bpref", ["Bpref"]),
    ("ndcg@3", ["nDCG@3", "NDCG@3", "ndcg()@3", "ndcg( gain = linear )@3", "ndcg(ideal='judged')@3"]),
    ("ndcg_burges@3", ["ndcg(gain=exp2)@3"]),
    ("rbp(p=0.95)", ["rbp.95", "RBP.95", "rbp.950", "rbp(p=.95)", "rbp(P=9.5e-1)"]),
    ("rbp(p=0.5, gains=raw)@3-l2", ["rbp.5(gains=RAW)@3-l2", "rbp(gains=raw, p=0.5)@3-L2"]),
    ("err(max_grade=3)", ["err(max_grade=3.0)", "err(max_grade=query)"]), ("num_rel_ret", ["NumRelRet"]),
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


def test_a_keyword_is_checked_like_a_parameter():
    assert message("map", gain="cubic") == "gain must be linear or exp2 or binary or {label:gain, ...}, got 'cubic'"
    with pytest.raises(TypeError, match=r"unknown option 'gian'.*gain"):
        fastir.evaluate(QRELS, RUN, "map", gian="exp2")


@pytest.mark.parametrize("bad", [None, 5, b"map", ["map", None], [b"map"], [["map"]], {"map": 1, 2: 3}])
def test_metrics_are_strings(bad):
    with pytest.raises(TypeError, match="str"):
        fastir.evaluate(QRELS, RUN, bad)


@pytest.mark.parametrize("none", [[], (), iter(())])
def test_no_metric_is_an_error(none):
    assert "no metric" in message(none)


@pytest.mark.parametrize("end", ["x", "e", ".", ".e", ""])
def test_a_long_text_is_told_from_a_number_in_linear_time(end):
    """The text is so long that a step for each pair of its digits would not end."""
    from fastir.request.names import is_number

    assert is_number("1" * (1 << 17) + end) == (end in (".", ""))
