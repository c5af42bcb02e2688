"""Results of several runs: saved and read back, in a table and as a frame."""

import json
import math
import pickle

import gen
import numpy as np
import pytest
from rankings_made import same as same_results

import fastir
from fastir.conventions import CONVENTIONS
from fastir.data.results.results import Results
from fastir.errors import FormatError

FORMATS = ("json", "tsv", "parquet")
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q2": {"y": 1.0, "c": 0.1}, "q3": {"d": 1.0}, "q5": {"z": 1.0}}
METRICS = ["nDCG@10", "map", "num_ret", "gm_map", "rbp(p=0.5)"]


def same(found, results):
    assert found == results and type(found) is type(results)
    assert found.report == results.report
    assert found.provenance == results.provenance
    assert dict(found.items()) == pytest.approx(dict(results.items()), rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("format", FORMATS)
def test_results_of_several_runs_read_back(format, tmp_path):
    path = tmp_path / f"results.{format}"
    runs = {"one": RUN, "odd\tname": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}
    results = fastir.evaluate_many(QRELS, runs, METRICS, queries="intersection")
    results.save(path)
    found = fastir.load_results(path)
    assert type(found) is fastir.ResultsByRun and list(found) == list(runs)
    for name in runs:
        same(found[name], results[name])
    with pytest.raises(FormatError, match="saved results by run, expected results of one run"):
        Results.load(path)


def test_a_table_of_the_means(qrels, run):
    other = {"q1": run["q1"], "q2": {"d1": 1.0}}
    results = fastir.evaluate_many(qrels, {"one": run, ("k1", 0.9): other}, ["ndcg@10", "num_ret"])
    assert repr(results) == (
        "run          ndcg@10  num_ret\n"
        "one          *0.7268        6\n"
        "('k1', 0.9)   0.6867        4"
    )  # fmt: skip
    assert repr(fastir.ResultsByRun()) == "run"
    again = pickle.loads(pickle.dumps(results))
    assert again == results and type(again) is fastir.ResultsByRun


def test_a_frame_of_the_means(qrels, run):
    pytest.importorskip("pandas")
    results = fastir.evaluate_many(qrels, {"one": run, ("k1", 0.9): run}, ["map", "num_ret"])
    frame = results.to_pandas()
    assert list(frame.index) == ["one", ("k1", 0.9)] and frame.index.name == "run"
    assert list(frame.columns) == ["map", "num_ret"] and set(map(str, frame.dtypes)) == {"float64"}
    assert frame.values.tolist() == [list(map(one.get, one)) for one in results.values()]
    assert fastir.ResultsByRun().to_pandas().shape == (0, 0)


# ---- results of one run under many conventions -----------------------------------------------------------------------
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
NAMES = ["ndcg@10", "map", "mrr@10", "recall@5", "P@5", "hit_rate@3"]
OWN_IDS = {query: {query: 1, "a": 2, "b": 1, "c": 0} for query in ("q", "r")}
RANKED = {query: {"a": 3.0, query: 3.0, "x": 2.0, "b": 1.0, "c": 1.0 + 1e-12} for query in ("q", "r")}


@pytest.mark.parametrize("by", ["trec_eval-10", "trec_eval-9", "ranx", "beir", "sentence-transformers", "catboost"])
@pytest.mark.parametrize("data", [gen.collection(3), (OWN_IDS, RANKED)])
def test_every_convention_has_its_numbers_or_says_why_not(by, data):
    qrels, run = data
    record = CONVENTIONS[by]
    rules = {"ties": record.ties, "score_dtype": record.score_dtype, "exclude": record.exclude}
    judged = fastir.judged_rankings(qrels, run, **rules)
    found, n_values, n_refused = judged.by_convention(NAMES), 0, 0
    for name in CONVENTIONS:
        for metric in NAMES:
            if name in found and metric in found[name]:
                expected = fastir.evaluate(qrels, run, metric, convention=name, exclude=record.exclude)
                same_results(judged.evaluate(metric, convention=CONVENTIONS[name]), expected)
                assert repr(found[name][metric]) == repr(expected[metric])
                n_values += 1
            else:
                why = found.refused[name][metric]
                assert "judge the run again" in why or "names no metric" in why or "strict" in why or "unknown" in why
                n_refused += 1
    assert n_values + n_refused == len(NAMES) * len(CONVENTIONS) and n_values >= len(NAMES) and n_refused


def test_a_document_called_like_its_query_is_not_forgotten():
    """BEIR leaves it out, MTEB does not, and both have the same order of documents."""
    by_mteb = fastir.judged_rankings(OWN_IDS, RANKED, convention="mteb")
    why = r"convention beir: exclude='query_id', but these rankings were judged with exclude=None; judge the run again"
    with pytest.raises(ValueError, match=why):
        by_mteb.evaluate("ndcg@10", convention="beir")
    by_beir = fastir.judged_rankings(OWN_IDS, RANKED, ties="trec", score_dtype="float32", exclude="query_id")
    assert by_beir.evaluate("ndcg@10", convention="mteb") == by_beir.evaluate("ndcg@10", convention="beir")
    by_convention = fastir.Evaluator(OWN_IDS, "ndcg@10", convention="beir").judged_rankings(RANKED)
    with pytest.raises(ValueError, match=r"exclude=None, but .* exclude='query_id', by convention beir; judge"):
        by_convention.evaluate("ndcg@10", convention="mteb")
    unknown = fastir.JudgedRankings.from_arrays(["q"], [0, 1], [1], [1], [1], [0, 1], [1])
    assert unknown.evaluate("ndcg@10", convention="beir")["ndcg@10"] == 1


def test_it_prints_reasons_once_and_writes_all():
    judged = fastir.judged_rankings({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}})
    found = judged.by_convention(["map", "mrr"], ["trec_eval-10", "mteb", "ranx", "lightgbm"])
    text = repr(found)
    assert text.count("ties='input'") == 1 and "ranx, lightgbm: ties='input', but" in text
    assert list(found) == ["trec_eval-10", "mteb"] and math.isnan(np.array(found)[1, 0])
    assert list(found.refused) == ["mteb", "ranx", "lightgbm"] and list(found.refused["mteb"]) == ["map"]
    data = json.loads(found.to_json())
    assert data["conventions"]["mteb"]["mean"] == {"mrr": 1.0} and data["refused"] == found.refused


def test_bad_input():
    judged = fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 2.0}})
    with pytest.raises(fastir.UnknownMetricError, match="ndgc"):
        judged.by_convention("ndgc@10")
    with pytest.raises(ValueError, match="convention must be one of"):
        judged.by_convention("map", ["nobody"])
    with pytest.raises(ValueError, match="judge the run again"):
        judged.by_convention("map", ["ranx"])
