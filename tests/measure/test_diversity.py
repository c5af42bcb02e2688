"""Metrics of subtopics: ndeval's numbers, the textbook, and the greedy ranking."""

import math
import random

import gen
import oracle
import pytest
from common import UNEVEN
from oracle_intents import INTENTS

import fastir

pytestmark = UNEVEN

# docs/metrics.md: subtopics 1 to 3, a serves two of them and e, judged not relevant, none.
QRELS = {"q": {"1": {"a": 1, "b": 1}, "2": {"a": 1, "c": 1}, "3": {"d": 1, "e": 0}}}
RUN = {"q": {"b": 5.0, "a": 4.0, "z": 3.0, "c": 2.0, "d": 1.0}}


@pytest.mark.parametrize(("metric", "value"), [
    ("err_ia@2", 0.4666666666666667), ("err_ia@5", 0.5022692889561272), ("nerr_ia@5", 0.7432835820895524),
    ("alpha_dcg@5", 0.5594606663742688), ("alpha_dcg@20", 0.5518025169829661), ("alpha_dcg", 0.5518025169829661),
    ("alpha_ndcg@1", 0.5), ("alpha_nDCG@2", 0.7398124665681315), ("alpha-nDCG@5", 0.8231153407224933),
    ("nrbp", 0.46875), ("nnrbp", 0.6976744186046512), ("map_ia", 0.5666666666666667), ("P-IA@5", 0.3333333333333333),
    ("strec@1", 0.3333333333333333), ("alpha_ndcg(alpha=0.2)@5", 0.8493829779892205),
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


def rank_biased_utility(groups, ranking, k, p, e, top):
    """Amigó et al. 2018: at each rank what is new to each subtopic, weighted alike, less the effort."""
    total = 0.0
    for rank, doc in enumerate(ranking[:k], 1):
        new = 0.0
        for labels in groups.values():
            chance = {other: (2 ** max(labels.get(other, 0), 0) - 1) / 2**top for other in ranking}
            new += chance[doc] * math.prod(1 - chance[above] for above in ranking[: rank - 1]) / len(groups)
        total += p**rank * (new - e)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_rank_biased_utility_is_its_definition_over_documents(seed):
    rng = random.Random(seed)
    docs = "abcdefgh"
    steps = (-1, 0, 1, 2, 3) if seed % 2 else (0, 0.25, 0.5, 1, 2.5)
    qrels = {
        query: {group: {doc: rng.choice(steps) for doc in rng.sample(docs, 5)} for group in "xyz"} for query in "pqr"
    }
    rankings = {query: rng.sample([*docs, "n"], 7) for query in qrels}
    run = {query: {doc: float(-place) for place, doc in enumerate(ranked)} for query, ranked in rankings.items()}
    for k, p, e, top in ((None, 0.99, 0.05, 4), (3, 0.5, 0.2, 3), (20, 0.8, 0.0, 5)):
        name = f"rbu(p={p},e={e},max_grade={top})" + f"@{k}" * bool(k)
        found = fastir.evaluate(qrels, run, name).per_query(name)
        for query, groups in qrels.items():
            by_hand = rank_biased_utility(groups, rankings[query], k, p, e, top)
            assert math.isclose(found[query], by_hand, rel_tol=1e-12, abs_tol=1e-14)


SUBTOPICS = {
    "p": {
        "x": {"f": 3, "b": 3, "d": 1, "a": 2},
        "y": {"a": 3, "e": 2, "b": 2, "h": 1},
        "z": {"d": 3, "a": 3, "e": 1, "h": 1},
    },
    "q": {
        "x": {"g": 3, "b": 2, "e": 3, "a": 3},
        "y": {"c": 3, "a": 1, "e": 2, "f": 1},
        "z": {"b": 3, "e": 2, "a": 3, "g": 3},
    },
    "r": {
        "x": {"d": 3, "g": 3, "b": 2, "f": 3},
        "y": {"h": 3, "c": 3, "f": 1, "d": 1},
        "z": {"g": 3, "b": 2, "c": 1, "h": 3},
    },
}
RANKINGS = {"p": "agnbhfd", "q": "gfdencb", "r": "bfchgde"}


@pytest.mark.parametrize("options, p, printed", [
    ("", 0.8, {"p": 0.1421, "q": 0.1279, "r": 0.1214}),
    ("p=0.5,e=0.2,", 0.5, {"p": 0.1690, "q": 0.1164, "r": 0.0311}),
])  # fmt: skip
def test_rank_biased_utility_is_what_its_authors_program_prints(options, p, printed):
    """rmit-ir/RBU at e929e96, which has 0.8 and 0.03 for p and e and multiplies by (1 - p) / p, to its four digits."""
    run = {query: {doc: float(-place) for place, doc in enumerate(ranked)} for query, ranked in RANKINGS.items()}
    name = f"rbu({options}max_grade=3)"
    found = fastir.evaluate(SUBTOPICS, run, name).per_query(name)
    assert {query: round(value * (1 - p) / p, 4) for query, value in found.items()} == printed


def test_without_effort_and_of_one_subtopic_both_utilities_are_one():
    plain, run = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    by_hand = 0.9 * 1 / 16 + 0.9**3 * 15 / 16 * 3 / 16
    for name in ("irbu(p=0.9)", "rbu(p=0.9,e=0)"):
        assert math.isclose(fastir.evaluate(plain, run, name)[name], by_hand, rel_tol=1e-15)
    assert fastir.evaluate({"q": {"x": plain["q"]}}, run, "rbu(p=0.9,e=0)")["rbu(p=0.9,e=0)"] == pytest.approx(by_hand)
    assert fastir.evaluate({"q": {"a": 0}}, {"q": {}}, "rbu", queries="qrels")["rbu"] == 0.0
    with pytest.raises(OverflowError, match="label 5 is too large for max_grade=4"):
        fastir.evaluate({"q": {"a": 5}}, run, "irbu")
