"""The stand-in for pytrec_eval: its numbers to the last bit, its shapes and its errors, and life where it dies.

Also of: rows.
"""

import collections
import json
import pickle
import random

import gen
import numpy as np
import pytest
from common import ABSENT, SHARED
from reference_files import listed, paths, text_of

import fastir
from fastir.compat import pytrec_eval

QRELS = {"q1": {"a": 1, "b": 0, "c": 2, "d": -1}, "q2": {"x": 1}}
RUN = {"q2": {"x": 1.0, "y": 2.0}, "elsewhere": {"a": 1.0}, "q1": {"a": 1.0, "z": 3.0, "c": 1.0}}


def one(measure, qrels=QRELS, run=RUN, **options):
    """{query: value} of a measure that gives one value."""
    rows = pytrec_eval.RelevanceEvaluator(qrels, [measure], **options).evaluate(run)
    return {query: value for query, row in rows.items() for value in row.values()}


def harmless(qrels):
    """Without queries on which pytrec_eval dies: those whose labels are all negative."""
    return {query: docs for query, docs in qrels.items() if max(docs.values(), default=0) >= 0}


def text(rows):
    """All of it, in its order, to the last bit; `runid` is whatever lay in memory there."""
    return repr({query: {name: value for name, value in row.items() if name != "runid"} for query, row in rows.items()})


# ---- the same ----------------------------------------------------------------------------------------------------
@pytest.fixture
def peer():
    return pytest.importorskip("pytrec_eval")


def test_same_names(peer):
    assert pytrec_eval.supported_measures == peer.supported_measures
    assert pytrec_eval.supported_nicknames == peer.supported_nicknames
    assert pytrec_eval.__version__ == "0.5.11"
    assert set(peer.__all__) <= set(dir(pytrec_eval))


@pytest.mark.parametrize("options", [{}, {"relevance_level": 2}, {"judged_docs_only_flag": True}], ids=str)
@pytest.mark.parametrize("measures", [
    pytrec_eval.supported_measures, ["official"], {"set", "P"},
    (
        "P.3,7", "P_1", "ndcg_cut_1", "success.2,4", "map_cut.3", "iprec_at_recall.0.25,0.331",
        "Rprec_mult.0.35", "11pt_avg.0.25,0.5", "set_F.2", "utility.1,2,3,4", "map.5", "relstring.3",
        "recall", "recall.1000",
    ),
    {"relstring"}, (),
], ids=["all", "official", "set", "numbers", "a constant", "none"])  # fmt: skip
def test_same_numbers_on_random_collections(peer, measures, options):
    """Keys, their order, types and every bit, on what real data has of oddities."""
    for seed in range(12):
        qrels, run = gen.collection(seed)
        qrels = {**harmless(qrels), "empty": {}}
        theirs = peer.RelevanceEvaluator(qrels, measures, **options).evaluate(run)
        ours = pytrec_eval.RelevanceEvaluator(qrels, measures, **options).evaluate(run)
        assert text(ours) == text(theirs)
        assert len(ours) > 1


@pytest.mark.parametrize("line", listed("pytrec_eval"))
def test_same_numbers_on_real_collections(line):
    """What pytrec_eval said of the reference data, every value exactly."""
    if line is None:
        pytest.skip(ABSENT)
    expected, qrels, run = paths(line)
    level = int(line["flags"].partition("=")[2] or 1)
    qrels, run = fastir.Qrels.from_file(qrels).to_dict(), fastir.Run.from_file(run).to_dict()
    rows = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures, relevance_level=level).evaluate(run)
    theirs = json.loads(text_of(expected))["per_query"]
    assert {query: {name: rows[query][name] for name in row} for query, row in theirs.items()} == theirs
    assert rows.keys() == theirs.keys()


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
def test_same_files(peer):
    folder = SHARED / "data" / "trec_eval_test"
    for name, parse in (("qrels.test", "parse_qrel"), ("results.test", "parse_run")):
        lines = [" ".join(line.split()[:6]) for line in (folder / name).read_text().splitlines()]
        ours, theirs = getattr(pytrec_eval, parse)(lines), getattr(peer, parse)(lines)
        assert repr(ours) == repr(theirs)
        assert len(ours) == 3


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map", "P_5"])
def test_same_aggregates(peer, measure):
    rng = random.Random(1)
    for values in ([0.5], (1, 2), [rng.random() for _ in range(1000)], np.array([0.25, 0.5])):
        ours = pytrec_eval.compute_aggregated_measure(measure, values)
        assert type(ours) is float
        assert ours == peer.compute_aggregated_measure(measure, values)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_aggregate_of_nothing():
    assert pytrec_eval.compute_aggregated_measure("num_q", []) == 0.0
    assert np.isnan(pytrec_eval.compute_aggregated_measure("map", []))
    assert np.isnan(pytrec_eval.compute_aggregated_measure("gm_map", []))


SAME_ERRORS = {
    "labels are integers": (TypeError, {"q": {"a": 1.0}}, ["map"], {"q": {"a": 1.0}}),
    "and no text": (TypeError, {"q": {"a": "1"}}, ["map"], {"q": {"a": 1.0}}),
    "query ids are text": (TypeError, {1: {"a": 1}}, ["map"], {"1": {"a": 1.0}}),
    "document ids are text": (TypeError, {"q": {1: 1}}, ["map"], {"q": {"1": 1.0}}),
    "all of them": (TypeError, {"q": {"a": 1, 2: 1}}, ["map"], {"q": {"a": 1.0}}),
    "a query has a dict": (TypeError, {"q": [("a", 1)]}, ["map"], {"q": {"a": 1.0}}),
    "the qrels are a mapping": (AttributeError, [("q", {"a": 1})], ["map"], {"q": {"a": 1.0}}),
    "the run is a dict": (TypeError, {"q": {"a": 1}}, ["map"], [("q", {"a": 1.0})]),
    "of dicts": (TypeError, {"q": {"a": 1}}, ["map"], {"q": ["a"]}),
    "its query ids are text": (TypeError, {"q": {"a": 1}}, ["map"], {1: {"a": 1.0}}),
    "its document ids are text": (TypeError, {"q": {"a": 1}}, ["map"], {"q": {1: 1.0}}),
    "scores are no text": (TypeError, {"q": {"a": 1}}, ["map"], {"q": {"a": "1"}}),
    "and not missing": (TypeError, {"q": {"a": 1}}, ["map"], {"q": {"a": None}}),
    "measures exist": (ValueError, {"q": {"a": 1}}, ["mapp"], {"q": {"a": 1.0}}),
    "in this spelling": (ValueError, {"q": {"a": 1}}, ["MAP"], {"q": {"a": 1.0}}),
    "and are supported": (ValueError, {"q": {"a": 1}}, ["prefs"], {"q": {"a": 1.0}}),
    "each for itself": (ValueError, {"q": {"a": 1}}, "map", {"q": {"a": 1.0}}),
    "they are text": (TypeError, {"q": {"a": 1}}, [1], {"q": {"a": 1.0}}),
    "and several": (TypeError, {"q": {"a": 1}}, None, {"q": {"a": 1.0}}),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME_ERRORS)
def test_same_errors(case):
    error, qrels, measures, run = SAME_ERRORS[case]
    with pytest.raises(error):
        pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)


@pytest.mark.parametrize("case", SAME_ERRORS)
def test_errors_are_the_peers(peer, case):
    error, qrels, measures, run = SAME_ERRORS[case]
    with pytest.raises(error):
        peer.RelevanceEvaluator(qrels, measures).evaluate(run)


@pytest.mark.parametrize("level", [0, 1.5, "1"], ids=repr)
def test_the_relevance_level_is_an_integer_from_1(level):
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(QRELS, {"map"}, level)


@pytest.mark.parametrize(("parse", "error", "line"), [
    ("parse_run", ValueError, "q Q0 a 1 2.0"), ("parse_run", ValueError, "q Q0 a 1 much tag"),
    ("parse_run", ValueError, "q Q0 a 1 2.0 tag more"), ("parse_qrel", ValueError, "q 0 a"),
    ("parse_qrel", ValueError, "q 0 a 1.0"), ("parse_qrel", ValueError, ""),
])  # fmt: skip
def test_a_file_that_is_none(parse, error, line):
    good = "q Q0 first 1 2.0 tag" if parse == "parse_run" else "q 0 first 1"
    with pytest.raises(error, match="line 2"):
        getattr(pytrec_eval, parse)([good, line])


def test_a_document_that_stands_twice():
    with pytest.raises(AssertionError, match="line 2: duplicate document 'a' in query 'q'"):
        pytrec_eval.parse_run(["q Q0 a 1 2.0 tag", "q Q0 a 2 1.0 tag"])
    with pytest.raises(AssertionError, match="line 3"):
        pytrec_eval.parse_qrel(["q 0 a 1", "r 0 a 1", "q 0 a 1"])


# ---- what its own tests care for, in our words -----------------------------------------------------------------
def test_a_query_worked_by_hand():
    """One relevant document of three: nDCG by its rank; asking again changes nothing."""
    evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 0, "d2": 1, "d3": 0}, "q10": {}}, {"ndcg", "map"})
    for score, ndcg, average in ((0.0, 0.5, 1 / 3), (2.0, 1.0, 1.0), (1.2, 0.6309297535714575, 0.5)) * 2:
        rows = evaluator.evaluate({"q1": {"d1": 1.0, "d2": score, "d3": 1.5}, "q2": {}, "q10": {"d1": 1.0}})
        assert rows == {"q1": {"map": average, "ndcg": pytest.approx(ndcg, abs=1e-15)}}


def test_judged_documents_alone():
    run = {"q1": {"z": 3.0, "a": 1.0}}
    assert one("recip_rank", run=run) == {"q1": 0.5}
    assert one("recip_rank", run=run, judged_docs_only_flag=True) == {"q1": 1.0}


def test_equal_scores_come_by_id_from_the_last():
    """And scores are equal where they are as float32."""
    assert one("recip_rank", {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}) == {"q": 0.5}
    assert one("recip_rank", {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-9, "b": 1.0}}) == {"q": 0.5}
    assert one("recip_rank", {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-6, "b": 1.0}}) == {"q": 1.0}


def test_the_order_of_keys_is_that_of_the_run_and_of_trec_eval():
    rows = pytrec_eval.RelevanceEvaluator(QRELS, ["success", "P.10,5", "map", "runid"]).evaluate(RUN)
    assert list(rows) == ["q2", "q1"]
    assert list(rows["q1"]) == ["runid", "map", "P_5", "P_10", "success_1", "success_5", "success_10"]


def test_numbers_of_one_measure_come_together():
    measures = ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "ndcg_cut_15", "recall.1000"]
    row = pytrec_eval.RelevanceEvaluator(QRELS, measures).evaluate(RUN)["q1"]
    assert list(row) == ["recall_1000", "ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_15", "ndcg_cut_20"]


def test_empty_sides():
    for qrels, measures, run, rows in (
        (QRELS, {"map"}, {}, {}), (QRELS, set(), {"q2": {"x": 1.0}}, {"q2": {}}), ({}, {"map"}, RUN, {}),
        ({}, set(), RUN, {}), ({}, {}, {}, {}), (QRELS, {"map"}, None, {}), ({"q": {}}, {"map"}, {"q": {"a": 1.0}}, {}),
    ):  # fmt: skip
        assert pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run) == rows


def test_an_empty_ranking():
    row = pytrec_eval.RelevanceEvaluator(QRELS, ["all_trec"]).evaluate({"q1": {}})["q1"]
    assert {name for name, value in row.items() if value != value} == {"11pt_avg", "iprec_at_recall_0.00"}
    assert {name: value for name, value in row.items() if value and value == value} == {
        "num_q": 1.0, "num_rel": 2.0, "gm_map": -11.512925464970229, "gm_bpref": -11.512925464970229,
    }  # fmt: skip


# ---- different on purpose ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("measure", [
    "P_0", "P.0.5", "ndcg_cut_0", "success.0", "P.1.5", "ndcg.10", "ndcg_10", "G_1,2", "Rndcg.5", "ndcg_rel.2",
    "ndcg_cut_10abc", "P_", "utility.1", "P_99999999999999999999",
])  # fmt: skip
def test_a_measure_that_ends_the_process_there(measure):
    with pytest.raises(ValueError, match=r"metric|unsupported|cutoff"):
        pytrec_eval.RelevanceEvaluator(QRELS, {measure})


def test_what_else_ends_the_process_there():
    with pytest.raises(TypeError, match="relevance_level"):
        pytrec_eval.RelevanceEvaluator(QRELS, {"bpref"}, relevance_level=-1)
    assert one("bpref", {"a": {"x": 1}, "b": {"x": -2}}, {"a": {"x": 1.0}, "b": {"x": 1.0}}) == {"a": 1.0, "b": 0.0}
    assert one("map", {"q": {"\udc80": 1}}, {"q": {"\udc80": 1.0}}) == {"q": 1.0}
    with pytest.raises(OverflowError, match="query q, document a"):
        pytrec_eval.RelevanceEvaluator({"q": {"a": 2**40}}, {"map"})
    with pytest.raises(OverflowError, match="query q1, document a"):
        one("map", run={"q1": {"a": 10**400}})


def test_what_is_wrong_in_silence_there():
    with pytest.raises(ValueError, match="NaN"):
        one("map", run={"q1": {"a": float("nan")}})
    assert one("map", {"no query": {"a": 1}}, {"no query": {"a": 1.0}}) == {"no query": 1.0}
    assert one("map", {"q": {"a\0b": 1}}, {"q": {"a\0b": 1.0, "a\0c": 1.0}}) == {"q": 0.5}


def test_numbers_of_numpy():
    qrels, run = {"q": {"a": np.int64(1), "b": True}}, {"q": {"a": np.float32(1), "b": np.int64(2), "c": np.float64(0)}}
    assert one("map", qrels, run) == {"q": 1.0}


# ---- and otherwise -----------------------------------------------------------------------------------------------
def test_subclasses_of_dict():
    plain = one("map")
    for kind in (collections.OrderedDict, lambda data: collections.defaultdict(dict, data)):
        qrels, run = (kind({query: kind(docs) for query, docs in side.items()}) for side in (QRELS, RUN))
        assert one("map", qrels, run) == plain


def test_one_query_at_a_time():
    """Whatever the others are, and in whatever order they come."""
    qrels, run = gen.collection(3, queries=30)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)
    together = evaluator.evaluate(run)
    assert text({query: evaluator.evaluate({query: run[query]})[query] for query in together}) == text(together)
    backwards = evaluator.evaluate(dict(reversed(run.items())))
    assert list(backwards) == list(reversed(together))
    assert text({query: backwards[query] for query in together}) == text(together)


def test_what_the_caller_has_stays_as_it_is():
    qrels, run, measures = {"q": {"a": 1}, "empty": {}}, {"q": {"a": 1}}, ["map", "P.5"]
    rows = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    rows["q"]["map"] = 7.0
    assert (qrels, run, measures) == ({"q": {"a": 1}, "empty": {}}, {"q": {"a": 1}}, ["map", "P.5"])
    assert pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)["q"]["map"] == 1.0


def test_pickled():
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"official"}, relevance_level=2)
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(RUN) == evaluator.evaluate(RUN)
