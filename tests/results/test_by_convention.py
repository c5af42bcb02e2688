"""Judged rankings under each convention: the numbers of `evaluate` where their order is the same, else what differs."""

import json
import math

import gen
import numpy as np
import pytest
from rankings_made import same

import fastir
from fastir.conventions import CONVENTIONS

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
                same(judged.evaluate(metric, convention=CONVENTIONS[name]), expected)
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
