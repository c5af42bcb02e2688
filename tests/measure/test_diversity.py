"""Metrics of subtopics: ndeval's numbers, the textbook, and the greedy ranking."""

import math

import gen
import oracle
import pytest
from common import UNEVEN
from oracle_intents import INTENTS

import fastir

pytestmark = UNEVEN

# METRICS.md: subtopics 1 to 3, a serves two of them and e, judged not relevant, none.
QRELS = {"q": {"1": {"a": 1, "b": 1}, "2": {"a": 1, "c": 1}, "3": {"d": 1, "e": 0}}}
RUN = {"q": {"b": 5.0, "a": 4.0, "z": 3.0, "c": 2.0, "d": 1.0}}


@pytest.mark.parametrize(("metric", "value"), [
    ("err_ia@2", 0.4666666666666667),
    ("err_ia@5", 0.5022692889561272),
    ("nerr_ia@5", 0.7432835820895524),
    ("alpha_dcg@5", 0.5594606663742688),
    ("alpha_dcg@20", 0.5518025169829661),
    ("alpha_dcg", 0.5518025169829661),
    ("alpha_ndcg@1", 0.5),
    ("alpha_nDCG@2", 0.7398124665681315),
    ("alpha-nDCG@5", 0.8231153407224933),
    ("nrbp", 0.46875),
    ("nnrbp", 0.6976744186046512),
    ("map_ia", 0.5666666666666667),
    ("P-IA@5", 0.3333333333333333),
    ("strec@1", 0.3333333333333333),
    ("alpha_ndcg(alpha=0.2)@5", 0.8493829779892205),
    ("nrbp(alpha=0.2, beta=0.8)", 0.39110399999999995),
    ("err_ia@1", 1 / 3),  # ndeval does not divide by the number of subtopics here: 1
])  # fmt: skip
def test_values_of_ndeval(metric, value):
    assert math.isclose(fastir.evaluate(QRELS, RUN, metric)[metric], value, rel_tol=1e-12)


REQUESTS = [
    (name, k, params)
    for name in INTENTS
    for params in (
        [{}]
        if name in ("map_ia", "p_ia", "st_recall")
        else [{"alpha": 0.2, "beta": 0.8}, {"alpha": 1.0}, {"alpha": 0.0}]
        if "rbp" in name
        else [{}, {"alpha": 0.2}, {"alpha": 1.0}]
    )
    for k in ((None,) if name in ("map_ia", "nrbp", "nnrbp") else (None, 1, 2, 5, 20, 50))
]


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_subtopics_against_the_textbook(seed, level):
    qrels, run = gen.grouped_collection(seed)
    names = [str(oracle.Request(*(name, k, None, params))) for name, k, params in REQUESTS]
    results = fastir.evaluate(qrels, run, names, queries="qrels", rel_level=level)
    assert results.query_ids == list(qrels)
    for query, groups in qrels.items():
        pool = {}
        for group, docs in groups.items():
            for doc, label in docs.items():
                if label >= level:
                    pool.setdefault(doc, set()).add(group)
        ranking = [pool.get(doc, set()) for doc in oracle.ranking(run.get(query, {}))]
        for text, (name, k, params) in zip(names, REQUESTS, strict=True):
            expected = INTENTS[name](ranking, pool, **({"k": k} if k else {}), **params)
            value = results.per_query(text)[query]
            assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15), (query, text, value, expected)


def test_the_greedy_ranking_scores_one():
    """a serves two subtopics, d a new one; of b and c, which serve old ones, c has the larger id."""
    greedy = {"q": {"a": 4.0, "d": 3.0, "c": 2.0, "b": 1.0}}
    results = fastir.evaluate(
        QRELS, greedy, ["alpha_ndcg@4", "nerr_ia@4", "alpha_ndcg", "nnrbp", "nerr_ia(alpha=0.1)@2"]
    )
    assert set(results.values.flat) == {1.0}
