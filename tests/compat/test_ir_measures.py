"""fastir in ir_measures: what its own providers say, by whatever way qrels and run come in, and what is ours alone."""

import copy
import random
import subprocess
import sys

import pytest
from common import ABSENT, SHARED
from peer_names import ACCURACY, DIVERSE, IR_MEASURES

import fastir
import fastir.compat.ir_measures as layer
from fastir.request import names

irm = pytest.importorskip("ir_measures")
BUNDLED = list(irm.DefaultPipeline.providers)
Qrel, ScoredDoc = irm.Qrel, irm.ScoredDoc
MEASURES = IR_MEASURES | {"ir_measures": f"{IR_MEASURES['ir_measures']} {ACCURACY}"}


def parse(text):
    return [irm.parse_measure(name) for name in text.split()]


def flat(qrels):
    return [Qrel(query, doc, label) for query, docs in qrels.items() for doc, label in docs.items()]


def scored(run):
    return [ScoredDoc(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


def collection(seed, tied):
    """30 queries, one without a relevant document, one that the run lacks, and one of the run that is not judged."""
    rng = random.Random(seed)
    pool = [f"d{i:02}" for i in range(60)]
    qrels, run = {}, {}
    for query in map(str, range(30)):
        judged = sorted(rng.sample(pool[1:], rng.randint(1, 25)))
        qrels[query] = {"d00": 0} | {doc: rng.choice((-1, 0, 0, 1, 1, 2, 3)) for doc in judged}
        docs = ["x1", "x2", *rng.sample(pool, rng.randint(1, 40))]
        run[query] = {doc: rng.choice((1.0, 1.0 + 1e-9, 2.0, 4.5)) if tied else 90.0 - i for i, doc in enumerate(docs)}
    qrels["11"] = {"d00": 0, "d01": -1}
    del run["7"]
    run["99"] = {"d01": 1.0}
    return qrels, run


def by_subtopic(seed, tied):
    rng = random.Random(seed)
    pool = [f"d{i:02}" for i in range(60)]
    rows = [
        Qrel(query, doc, rng.choice((-1, 0, 0, 1, 1, 2)) if query != "3" else 0, str(subtopic))
        for query in map(str, range(12))
        for subtopic in range(1, rng.randint(2, 6))
        for doc in rng.sample(pool, rng.randint(1, 12))
    ]
    run = {
        query: {
            doc: rng.choice((1.0, 2.0, 3.0)) if tied else -float(i)
            for i, doc in enumerate(rng.sample(pool, rng.randint(1, 50)))
        }
        for query in map(str, range(1, 12))
    }
    return rows, run


def shapes(rows, run):
    """The same qrels and run in every way in which ir_measures takes them, as functions that make them."""
    yield lambda: (rows, scored(run))
    yield lambda: (iter(rows), (row for row in scored(run)))
    yield lambda: (rows, run)
    pandas = pytest.importorskip("pandas")
    for kind in (object, str):
        frames = pandas.DataFrame(rows), pandas.DataFrame(scored(run))
        yield lambda kind=kind, frames=frames: tuple(one.astype({"query_id": kind, "doc_id": kind}) for one in frames)


def values(metrics):
    metrics = list(metrics)
    found = {(str(metric.measure), metric.query_id): metric.value for metric in metrics}
    assert len(found) == len(metrics)
    return found


def same(ours, theirs):
    assert ours == pytest.approx(theirs, abs=1e-12, rel=0, nan_ok=True)
    return len(ours)


# ---- the provider itself -----------------------------------------------------------------------------------------
def test_importing_the_layer_imports_no_peer():
    code = "import sys, fastir.compat.ir_measures; print('ir_measures' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_without_ir_measures_it_says_what_to_install():
    code = (
        "import sys; sys.modules['ir_measures'] = None; import fastir.compat.ir_measures as layer\n"
        "for call in (layer.install, layer.provider):\n"
        "    try: call()\n"
        "    except ImportError as error: print('pip install' in str(error), 'ir_measures' in str(error))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True True\n" * 2


def test_it_is_the_first_provider_and_only_once():
    with fastir.compat.patched("ir_measures"):
        layer.install()
        layer.install()
        assert [provider.NAME for provider in irm.DefaultPipeline.providers] == [
            "fastir",
            *(provider.NAME for provider in BUNDLED),
        ]
        assert irm.DefaultPipeline.providers[0] is irm.providers.registry["fastir"] is layer.provider()
        evaluator = irm.evaluator([irm.AP, irm.RR @ 10, irm.Judged @ 5], {"q": {"d": 1}})
    assert irm.DefaultPipeline.providers == BUNDLED
    assert isinstance(layer.provider(), irm.Provider) and isinstance(evaluator, irm.Evaluator)
    assert evaluator.calc_aggregate({"q": {"d": 1.0}}) == {irm.AP: 1.0, irm.RR @ 10: 1.0, irm.Judged @ 5: 1.0}


NEEDED = {"cutoff": 5, "recall": 0.5, "max_rel": 3}


def test_every_measure_of_ir_measures_is_supported():
    for measure in irm.measures.registry.values():
        needed = {name: value for name, value in NEEDED.items() if name in measure.SUPPORTED_PARAMS}
        assert layer.provider().supports(measure(**needed)), measure


@pytest.mark.parametrize("name", ["P(rel=0)@5", "RR(rel=0)@5", "RBP(rel=0)", "alpha_nDCG(judged_only=True)@5"])
def test_what_it_does_not_compute_stays_with_the_others(name):
    measure = irm.parse_measure(name)
    assert not layer.provider().supports(measure)
    with pytest.raises(ValueError, match=r"fastir does not compute .*\(rel=0\)|judged_only"):
        layer.provider().evaluator([measure], {"q": {"d": 1}})


def test_gains_that_change_who_is_judged_stay_with_the_others():
    gains = [{-1: 2}, {2: -1}, {}]
    assert not any(layer.provider().supports(irm.nDCG(gains=each)) for each in gains)
    assert layer.provider().supports(irm.nDCG(gains={0: 0, 1: 5}) @ 3)


def test_measures_defined_at_run_time_stay_theirs_whatever_they_are_called():
    pytest.importorskip("pandas")
    longest = irm.define_byquery(lambda qrels, run: float(len(run)), name="P")
    qrels, run = {"a": {"x": 1}, "b": {"y": 1}}, {"a": {"x": 1.0, "y": 2.0}}
    with fastir.compat.patched("ir_measures"):
        found = irm.calc_aggregate([longest @ 5, irm.AP, irm.NumQ], flat(qrels), scored(run))
    assert found == {longest @ 5: 1.0, irm.AP: 0.25, irm.NumQ: 1.0}


# ---- its values are theirs ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("module", MEASURES)
def test_values(module, tied):
    pytest.importorskip(module)
    qrels, run = collection(1, tied)
    measures = parse(MEASURES[module])
    theirs = values(metric for measure in measures for metric in irm.iter_calc([measure], qrels, run))
    alone = irm.Accuracy in measures
    for make in (lambda: (qrels, run), *shapes(flat(qrels), run)):
        with fastir.compat.patched("ir_measures"):
            found = values(metric for measure in measures for metric in irm.iter_calc([measure], *make()))
            together = values(irm.iter_calc(measures, *make()))
        assert same(found, theirs) > 25 * len(measures)
        if alone:
            together = {key: value for key, value in together.items() if key in found}
        assert list(map(repr, map(together.get, found))) == list(map(repr, found.values()))


@pytest.mark.parametrize("tied", [False, True])
def test_values_by_subtopic(tied):
    pytest.importorskip("pyndeval")
    rows, run = by_subtopic(2, tied)
    measures = parse(DIVERSE)
    theirs = values(metric for measure in measures for metric in irm.iter_calc([measure], rows, run))
    for make in shapes(rows, run):
        with fastir.compat.patched("ir_measures"):
            assert same(values(irm.iter_calc(measures, *make())), theirs) == 12 * len(measures)


@pytest.mark.filterwarnings("ignore")
def test_gdeval_but_for_its_rounding():
    if not irm.gdeval.is_available():
        pytest.skip("needs perl")
    qrels, run = collection(3, True)
    measures = [irm.ERR @ 5, irm.ERR @ 20, irm.nDCG(dcg="exp-log2") @ 5, irm.nDCG(dcg="exp-log2") @ 30]
    theirs = values(irm.iter_calc(measures, qrels, run))
    with fastir.compat.patched("ir_measures"):
        ours = values(irm.iter_calc(measures, qrels, run))
    assert ours == pytest.approx(theirs, abs=5.001e-6, rel=0)
    assert sum(ours[key] != theirs[key] for key in ours) > len(ours) / 3


def test_a_real_collection():
    folder = SHARED / "data" / "trec_eval_test"
    if not folder.is_dir():
        pytest.skip(ABSENT)
    pytest.importorskip("pytrec_eval")
    rows = list(irm.read_trec_qrels(str(folder / "qrels.test")))
    run = list(irm.read_trec_run(str(folder / "results.test")))
    measures = parse(MEASURES["pytrec_eval"] + " RR@10 Judged@10 Accuracy Compat")
    theirs = [measure.calc(rows, run) for measure in measures]
    with fastir.compat.patched("ir_measures"):
        ours = irm.calc(measures, rows, run)
    per_query = values(metric for each in theirs for metric in each.per_query)
    assert same(values(ours.per_query), per_query) == 3 * len(measures)
    same(ours.aggregated, {measure: each.aggregated for measure, each in zip(measures, theirs, strict=True)})
    assert max(abs(ours.aggregated[measure]) for measure in measures) > 100


# By hand from METRICS: label 2 counts 1, the fourth document is not judged, one relevant one is missing.
CWL = {
    "INST(max_rel=2)": 0.37595087156863255, "INSQ(max_rel=2)": 0.31274695782262485, "BPM(max_rel=2)@3": 0.5,
    "SDCG(max_rel=2)@3": 0.46927872602275655, "NERR9(max_rel=2)@3": 0.4705882352941176,
    "NERR10(max_rel=2)": 0.4878706199460916, "NERR11(max_rel=2)": 0.46391752577319584,
    "RBP(rel=1)": 0.4099199999999999,
}  # fmt: skip


def test_values_of_cwl_eval_without_it():
    qrels = {"q": {"a": 1, "b": 0, "c": 2, "e": 1, "f": 1}}
    run = {"q": dict(zip("abcde", range(5, 0, -1), strict=True))}
    found = layer.provider().calc_aggregate(parse(" ".join(CWL)), qrels, run)
    same({str(measure): value for measure, value in found.items()}, CWL)


def test_values_of_ndeval_without_it():
    rows = [Qrel("q", doc, 1, subtopic) for doc, subtopic in ("a1", "a2", "b1", "c2", "d3")] + [Qrel("q", "e", 0, "1")]
    run = {"q": dict(zip("bazcd", range(5, 0, -1), strict=True))}
    expected = {
        "ERR_IA@1": 1.0, "ERR_IA@5": 0.5022692889561272, "alpha_nDCG@5": 0.8231153407224933, "NRBP": 0.46875,
        "AP_IA": 0.5666666666666667, "StRecall@1": 1 / 3, "alpha_nDCG(alpha=0.2)@5": 0.8493829779892205,
    }  # fmt: skip
    found = layer.provider().calc_aggregate(parse(" ".join(expected)), rows, run)
    assert {str(measure): value for measure, value in found.items()} == pytest.approx(expected, abs=1e-6)


def test_measures_of_two_kinds_in_one_call():
    """What is not about subtopics has a document's last judgment; RR@k and ERR@k have its best."""
    rows = [Qrel("q", "a", 1, "1"), Qrel("q", "b", 1, "1"), Qrel("q", "b", 0, "2"), Qrel("q", "a", 1, "2")]
    run = [ScoredDoc("q", "b", 2.0), ScoredDoc("q", "a", 1.0)]
    expected = {
        irm.P @ 1: 0.0, irm.RR: 0.5, irm.RR @ 10: 1.0, irm.AP_IA: 0.75, irm.Judged @ 2: 1.0,
        irm.ERR @ 1: 1 / 16, irm.nDCG(dcg="exp-log2") @ 1: 1.0, irm.nDCG @ 1: 0.0,
    }  # fmt: skip
    assert layer.provider().calc_aggregate(expected, rows, run) == expected


def test_equal_scores_are_ordered_as_by_each_provider():
    qrels, run = {"q": {"b": 1}}, {"q": {"c": 1.0, "b": 1.0, "a": 1.0, "0": 1.0}}
    found = layer.provider().calc_aggregate([irm.RR, irm.RR @ 10, irm.BPM(max_rel=1) @ 4], qrels, run)
    assert found == {irm.RR: 1 / 2, irm.RR @ 10: 1 / 3, irm.BPM(max_rel=1) @ 4: 1 / 2}
    run = {"q": {"b": 1.0, "a": 1.0 + 1e-9, "c": 1.0 - 1e-9}}
    found = layer.provider().calc_aggregate([irm.RR, irm.RR @ 10], qrels, run)
    assert found == {irm.RR: 1 / 2, irm.RR @ 10: 1 / 2}
    assert irm.msmarco.calc_aggregate([irm.RR @ 10], qrels, run) == {irm.RR @ 10: 1 / 2}


# ---- queries -----------------------------------------------------------------------------------------------------
def test_queries_that_the_run_lacks_count_with_the_default():
    qrels = {"b": {"x": 1}, "a": {"x": 1, "y": 1}, "c": {}}
    measures = [irm.NumQ, irm.NumRel, irm.AP, irm.NumRet]
    found = layer.provider().calc(measures, qrels, {"c": {"x": 1.0}, "e": {"x": 1.0}, "a": {"x": 1.0}})
    assert found.aggregated == {irm.NumQ: 1.0, irm.NumRel: 2.0, irm.AP: 1 / 6, irm.NumRet: 1.0}
    assert [metric[::2] for metric in found.per_query[:4]] == [("a", 1.0), ("a", 1.0), ("a", 2.0), ("a", 0.5)]
    assert [metric.query_id for metric in found.per_query[4:]] == ["b", "c"] * 4


@pytest.mark.parametrize("run", [{}, [], {"e": {"x": 1.0}}, iter(())])
def test_a_run_without_any_query_of_the_qrels(run):
    found = layer.provider().calc([irm.AP, irm.NumRel], {"a": {"x": 1}}, run)
    assert found.aggregated == {irm.AP: 0.0, irm.NumRel: 0.0} and len(found.per_query) == 2


@pytest.mark.parametrize("qrels", [{}, [], iter(())])
def test_no_qrels(qrels):
    found = layer.provider().calc([irm.AP, irm.NumRel], qrels, {"a": {"x": 1.0}})
    assert repr(found.aggregated) == "{NumRel: 0, AP: nan}" and found.per_query == []


def test_empty_frames():
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame([], columns=["query_id", "doc_id", "score"])
    assert layer.provider().calc_aggregate([irm.AP], {"a": {"x": 1}}, run) == {irm.AP: 0.0}
    qrels = pandas.DataFrame([], columns=["query_id", "doc_id", "relevance"])
    assert layer.provider().calc([irm.AP], qrels, run).per_query == []


def test_accuracy_leaves_out_what_is_undefined_only_where_nothing_else_is_asked_for():
    pytest.importorskip("pytrec_eval")
    qrels, run = {"a": {"x": 1, "y": 0}, "b": {"x": 0}, "c": {"x": 1}}, {"a": {"x": 2.0, "y": 1.0}, "b": {"x": 1.0}}
    for measures, expected in (([irm.Accuracy], 1.0), ([irm.Accuracy, irm.AP], 1 / 3)):
        assert irm.calc_aggregate(measures, qrels, run)[irm.Accuracy] == expected
        with fastir.compat.patched("ir_measures"):
            assert irm.calc_aggregate(measures, qrels, run)[irm.Accuracy] == expected
    assert list(layer.provider().iter_calc([irm.Accuracy], qrels, {})) == []


def test_undefined_values_are_theirs():
    """An empty ranking has no interpolated precision at recall 0, and no subtopic no ideal to compare with."""
    found = layer.provider().calc(
        [irm.IPrec(judged_only=True) @ 0.1], {"q": {"a": 1}, "p": {"a": 0}}, {"q": {"b": 1.0}, "p": {"b": 1.0}}
    )
    assert repr(found.aggregated) == "{IPrec(judged_only=True)@0.1: nan}"
    assert [metric.value == metric.value for metric in found.per_query] == [True, False]
    found = layer.provider().calc([irm.nNRBP], [Qrel("q", "a", 0), Qrel("p", "a", 1)], {"q": {"a": 1.0}})
    assert [repr(metric.value) for metric in found.per_query] == ["nan", "0.0"]


def test_means_are_summed_in_the_order_of_the_run():
    ranks = {"a": 10, "b": 3, "c": 7, "d": 6, "e": 9}
    run = {query: {f"{rank:02}" if rank < 20 else "x": -float(rank) for rank in range(1, 12)} for query in ranks}
    qrels = {query: {f"{rank:02}": 1} for query, rank in ranks.items()}
    means = set()
    for order in ("abcde", "bdace", "edcba", "aebdc"):
        ordered = {query: run[query] for query in order}
        total = 0.0
        for query in order:
            total += 1 / ranks[query]
        for each in (ordered, scored(ordered)):
            assert layer.provider().calc_aggregate([irm.RR], qrels, each)[irm.RR] == total / 5
        means.add(total / 5)
    assert len(means) > 1


def test_measures_stand_in_the_order_of_their_providers():
    """As trec_eval prints them, and then as the pipeline asks: PyTerrier's tables have their columns in this order."""
    names = "NumQ NumRet AP Rprec RR P@5 P@20 R@10 nDCG nDCG@5 AP@5 Success@1 SetP RBP(rel=1) Compat Judged@10 RR@10"
    measures = parse(names)
    rng = random.Random(4)
    for _ in range(5):
        rng.shuffle(measures)
        found = layer.provider().iter_calc(measures, {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 0.0}})
        assert " ".join(str(metric.measure) for metric in found) == names


# ---- different on purpose ----------------------------------------------------------------------------------------
def test_more_than_theirs():
    qrels, run = {"q": {"a": 3, "b": 0, "c": 2}}, {"q": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
    expected = {
        "RR(judged_only=True)@2": 1.0, "NumRel(rel=2)": 2.0, "NumRel(rel=3)": 1.0, "RBP(rel=1,p=0.5)@2": 0.25,
        "RBP(p=0.5)": 0.5 * (3 * 0.5 + 2 * 0.125), "RBP(p=0.5)@2": 0.75,
        "ERR": 7 / 32 + 3 / 64 * (1 - 7 / 16), "nDCG(dcg='exp-log2',judged_only=True)@1": 1.0,
        "IPrec@0.125": 0.5,
    }  # fmt: skip
    found = layer.provider().calc_aggregate(list(map(irm.parse_measure, expected)), qrels, run)
    assert {str(measure): value for measure, value in found.items()} == pytest.approx(expected, abs=1e-15)


def test_a_measure_does_not_depend_on_those_beside_it():
    """Theirs shares an evaluation among measures: NumRet may come out judged only, nDCG with another's gains."""
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"x": 4.0, "a": 3.0, "b": 2.0}}
    measures = [irm.NumRet, irm.nDCG, irm.nDCG(gains={1: 0, 2: 5}), irm.P(judged_only=True) @ 1, irm.NumQ]
    together = layer.provider().calc_aggregate(measures, qrels, run)
    for measure in measures:
        assert layer.provider().calc_aggregate([measure], qrels, run) == {measure: together[measure]}
    assert together[irm.NumRet] == 3.0 and together[irm.P(judged_only=True) @ 1] == 1.0


def test_subtopics_below_rank_20():
    rows = [Qrel("q", f"d{i:02}", 1, str(i % 3)) for i in range(30)]
    run = {"q": {f"d{i:02}": float(30 - i) for i in range(30)}}
    found = layer.provider().calc_aggregate([irm.alpha_nDCG @ 30, irm.StRecall @ 30, irm.alpha_nDCG], rows, run)
    assert found == pytest.approx({irm.alpha_nDCG @ 30: 1.0, irm.StRecall @ 30: 1.0, irm.alpha_nDCG: 1.0}, abs=1e-15)


def test_accuracy_of_nothing_but_relevant_documents():
    assert layer.provider().calc_aggregate([irm.Accuracy], {"q": {"a": 1}}, {"q": {"a": 1.0}}) == {irm.Accuracy: 1.0}


def test_documents_that_stand_twice_count_once_with_their_last_score():
    run = [ScoredDoc("q", "a", 1.0), ScoredDoc("q", "b", 2.0), ScoredDoc("p", "a", 1.0), ScoredDoc("q", "a", 3.0)]
    qrels = [Qrel("q", "a", 0), Qrel("q", "a", 1), Qrel("p", "a", 1)]
    found = layer.provider().calc_aggregate([irm.NumRet, irm.RR, irm.RR @ 10, irm.NumRel], qrels, run)
    assert found == {irm.NumRet: 3.0, irm.RR: 1.0, irm.RR @ 10: 1.0, irm.NumRel: 2.0}


def test_ids_may_be_integers():
    for qrels, run in (([Qrel(1, 5, 1)], [ScoredDoc(1, 5, 1.0)]), ({1: {5: 1}}, {1: {5: 1.0}})):
        assert list(layer.provider().iter_calc([irm.AP], qrels, run)) == [irm.Metric(1, irm.AP, 1.0)]


def test_rows_with_more_fields_and_in_another_order():
    from collections import namedtuple

    judged = namedtuple("judged", "relevance doc_id note query_id")
    ranked = namedtuple("ranked", "rank score query_id doc_id")
    found = layer.provider().calc_aggregate([irm.AP, irm.AP_IA], [judged(1, "d", "", "q")], [ranked(1, 0.5, "q", "d")])
    assert found == {irm.AP: 1.0, irm.AP_IA: 1.0}


@pytest.mark.parametrize(("qrels", "run", "words"), [
    ([("q", "d", 1)], {}, "qrels: expected .*namedtuples with the fields query_id, doc_id, relevance"),
    ([Qrel("q", "d", 1)], [("q", "d", 1.0)], "run: expected .*namedtuples with the fields query_id, doc_id, score"),
    ([Qrel("q", "d", 1)], "a path", "run: expected"),
    ([Qrel("q", "d", 1)], 5, "run: expected"),
    ([Qrel("q", "d", 1)], [ScoredDoc("q", "d", float("nan"))], "NaN.*query q, document d"),
    ({"q": {"d": 1}}, {"q": {"d": float("nan")}}, "NaN.*query q, document d"),
])  # fmt: skip
def test_what_cannot_be_read(qrels, run, words):
    with pytest.raises(ValueError, match=words):
        layer.provider().calc_aggregate([irm.AP], qrels, run)


def test_frames_that_lack_a_column():
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame({"query_id": ["q"], "docno": ["d"], "score": [1.0]})
    with pytest.raises(ValueError, match="run: the DataFrame has no column 'doc_id'; it has 'query_id', 'docno'"):
        layer.provider().calc_aggregate([irm.AP], {"q": {"d": 1}}, run)
    with pytest.raises(ValueError, match="qrels: the DataFrame has no column 'relevance'; it has"):
        layer.provider().calc_aggregate([irm.AP], run.rename(columns={"docno": "doc_id"}), run)


def test_a_frame_may_have_other_columns():
    pandas = pytest.importorskip("pandas")
    qrels = pandas.DataFrame({"label": [0], "query_id": ["q"], "doc_id": ["d"], "relevance": [1], "qid": ["p"]})
    assert layer.provider().calc_aggregate([irm.AP], qrels, {"q": {"d": 1.0}}) == {irm.AP: 1.0}


def test_the_callers_data_stays_as_it_is():
    pandas = pytest.importorskip("pandas")
    qrels, run = collection(5, True)
    frames = pandas.DataFrame(flat(qrels)), pandas.DataFrame(scored(run))
    kept = copy.deepcopy((qrels, run)), tuple(frame.copy() for frame in frames)
    for each in ((qrels, run), frames):
        layer.provider().calc_aggregate([irm.AP, irm.RR @ 3, irm.alpha_nDCG @ 5], *each)
    assert (qrels, run) == kept[0]
    assert all(frame.equals(before) for frame, before in zip(frames, kept[1], strict=True))


def test_pyterrier():
    """pt.Experiment says the same, its columns in the same order."""
    pt = pytest.importorskip("pyterrier")
    pandas = pytest.importorskip("pandas")
    qrels, run = collection(6, True)
    qrels = pandas.DataFrame(flat(qrels)).rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    run = pandas.DataFrame(scored(run)).rename(columns={"query_id": "qid", "doc_id": "docno"})
    topics = pandas.DataFrame({"qid": qrels["qid"].unique(), "query": "x"})
    reverse = run.assign(score=-run["score"])
    measures = [irm.RR @ 10, irm.nDCG @ 10, irm.AP, irm.P @ 5, irm.R @ 100, irm.NumRet]
    for options in ({}, {"perquery": True}, {"baseline": 0}):
        theirs = pt.Experiment([run, reverse], topics, qrels, measures, names=["a", "b"], **options)
        with fastir.compat.patched("ir_measures"):
            ours = pt.Experiment([run, reverse], topics, qrels, measures, names=["a", "b"], **options)
        pandas.testing.assert_frame_equal(ours, theirs, rtol=0, atol=1e-12)


# ---- Compat: what is not retrieved has the score 0 ----------------------------------------------------------------
def around_zero(seed):
    """Scores above, at and below 0, many of them equal; qrels in no order."""
    rng = random.Random(seed)
    pool = [f"d{i:02}" for i in range(40)]
    qrels = {str(query): {d: rng.choice((-1, 0, 0, 1, 1, 2, 3)) for d in rng.sample(pool, 20)} for query in range(8)}
    run = {
        str(query): {doc: rng.choice((0.0, -1.0, 1.0, 1.0 + 1e-9, rng.random() - 0.5)) for doc in rng.sample(pool, 15)}
        for query in range(8)
    }
    return qrels, run


@pytest.mark.parametrize("seed", range(10))
def test_compat_takes_0_for_the_score_of_what_is_not_retrieved(seed):
    qrels, run = around_zero(seed)
    names = ["Compat", "Compat(p=0.8)", "Compat(normalize=False)"]
    measures = parse(" ".join(names))
    theirs = values(irm.iter_calc(measures, qrels, run))
    under_the_name = fastir.evaluate(qrels, run, names, convention="ir_measures")
    differs = fastir.evaluate(qrels, run, names)
    for (measure, query), value in theirs.items():
        assert under_the_name.per_query(str(measure))[query] == pytest.approx(value, abs=1e-12)
    assert any(differs.per_query(str(measure))[q] != pytest.approx(v, abs=1e-6) for (measure, q), v in theirs.items())
    for make in (lambda: (qrels, run), *shapes(flat(qrels), run)):
        with fastir.compat.patched("ir_measures"):
            assert same(values(irm.iter_calc(measures, *make())), theirs) == 24


def test_compat_of_every_shape_of_a_run_and_its_explanation(tmp_path):
    pandas = pytest.importorskip("pandas")
    qrels = {"1": {"5": 1, "7": 1, "3": 1, "4": 2}, "2": {"5": 1}}
    run = {"1": {"5": -1.0, "9": -2.0, "3": 0.0, "4": 0.5}, "2": {"9": 1.0, "5": 0.0}}
    path = tmp_path / "run.trec"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} x\n" for q, docs in run.items() for d, s in docs.items()))
    rows = [(int(q), int(d), s) for q, docs in run.items() for d, s in docs.items()]
    names = ["compat", "compat-l2", "hole@3", "P@2"]
    evaluator = fastir.Evaluator(qrels, names, convention="ir_measures")
    expected = evaluator.evaluate(run)
    for other in (path, pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"]), fastir.Run.from_dict(run)):
        assert evaluator.evaluate(other).values.tolist() == expected.values.tolist()
    assert evaluator.explain(run, "1").values == {name: expected.per_query(name)["1"] for name in names}
    assert fastir.evaluate(qrels, run, "compat", missing_documents="zero")["compat"] == expected["compat"]
    assert fastir.evaluate(qrels, run, "compat")["compat"] != expected["compat"]


# ---- measures and rows of ir_measures in fastir's own functions ---------------------------------------------------
SMALL = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1}}, {"q1": {"b": 3.0, "a": 2.0, "x": 1.0}, "q2": {"d": 1.0}}


def test_measures_are_metrics_wherever_metrics_are_named():
    qrels, run = SMALL
    asked = [irm.nDCG @ 10, irm.AP, irm.P(rel=2) @ 5, irm.RR]
    texts = [str(measure) for measure in asked]
    expected = fastir.evaluate(qrels, run, texts, queries="qrels")
    results = fastir.evaluate(qrels, run, asked, queries="qrels")
    assert results == expected
    assert results.names == ["nDCG@10", "AP", "P(rel=2)@5", "RR"]
    assert results[irm.nDCG @ 10] == results["nDCG@10"]
    assert results.per_query(irm.AP) == results.per_query("AP")
    assert irm.AP in results
    assert irm.AP @ 3 not in results
    with pytest.raises(KeyError, match="AP@3 was not evaluated; the metrics here are 'nDCG@10'"):
        results[irm.AP @ 3]
    assert fastir.evaluate(qrels, run, irm.RR, queries="qrels")["RR"] == expected["RR"]
    assert fastir.evaluate(qrels, run, ["RR", irm.AP], queries="qrels").names == ["RR", "AP"]
    assert fastir.Evaluator(qrels, asked, queries="qrels").evaluate(run) == expected
    assert fastir.evaluate_scores([1, 0], [0.1, 0.2], irm.AP)["AP"] == 0.5


@pytest.mark.parametrize("text", sorted(set(MEASURES["ir_measures"].split())))
def test_a_measure_is_the_metric_that_its_name_is(text):
    measure = irm.parse_measure(text)
    known = layer.read_measure(measure)
    if known is None or known.card.name == "rbp":
        pytest.skip("a measure whose name says less than the provider knows")
    request = str(names.read(str(measure), "ir_measures")[0])
    assert request.replace("ndcg(gain=exp2)", "ndcg_burges") == str(known)


def test_measures_that_fastir_does_not_know_are_refused_by_name():
    own = irm.define_byquery(lambda qrels, run: 1.0, name="mine")
    with pytest.raises(fastir.UnknownMetricError, match="unknown metric 'mine'"):
        fastir.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, [own])
    with pytest.raises(TypeError, match="a metric must be a str"):
        fastir.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["map", 3])
    with pytest.raises(fastir.UnknownMetricError, match="ask for one of these"):
        fastir.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, irm.Accuracy)


@pytest.mark.parametrize("once", [iter, list])
def test_rows_of_ir_measures_are_tables(once):
    qrels, run = SMALL
    expected = fastir.evaluate(qrels, run, ["map", "ndcg@5"], queries="qrels")
    found = fastir.evaluate(once(flat(qrels)), once(scored(run)), ["map", "ndcg@5"], queries="qrels")
    assert found.to_dict() == expected.to_dict()


def test_rows_with_other_fields_are_refused():
    rows = [Qrel("q", "d", 1), ("q", "d", 1)]
    with pytest.raises(TypeError, match="qrels: row 1: expected a tuple"):
        fastir.evaluate(rows, {"q": {"d": 1.0}}, "map")
    with pytest.raises(
        ValueError,
        match="run: the table has no column 'score' or 'prediction' or 'similarity' or 'rank'; it has 'query_id'",
    ):
        fastir.evaluate({"q": {"d": 1}}, [Qrel("q", "d", 1)], "map")
    frame = pytest.importorskip("pandas").DataFrame({"doc_id": ["d", "e"], "query_id": "q", "score": [1.0, 2.0]})
    assert fastir.evaluate({"q": {"d": 1}}, frame.itertuples(), "mrr")["mrr"] == 0.5
