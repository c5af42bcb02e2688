"""Elasticsearch's _rank_eval: a server, so these values are computed as the Java classes of modules/rank-eval say.

A metric's k is the size of the search, so the hits are the first k; an unrated hit keeps its rank and counts nothing.
"""

import math

from rankings import queries

TOOL = "elasticsearch, PrecisionAtK at 19a4254, RecallAtK at 82f5de8, DiscountedCumulativeGain at 02f2048, \
ExpectedReciprocalRank at 0991027, MeanReciprocalRank at 0066a27"
QUERIES = queries(21, grades=(0, 1, 2, 3), repeats=False)


def values(queries):
    found = {}
    for query in queries:
        for k in (1, 3, 10):
            hits = query["retrieved"][:k]
            ratings = query["relevant"]
            for name, value in rank_eval([ratings.get(doc) for doc in hits], ratings.values()).items():
                found.setdefault(f"{name}@{k}", []).append(value)
    return found


def rank_eval(hits, ratings):
    """The metrics of the ratings of some hits, None for an unrated one, and of all rated documents."""
    relevant = [rating is not None and rating >= 1 for rating in hits]
    num_rel = sum(rating >= 1 for rating in ratings)
    ideal = sorted(ratings, reverse=True)[: len(hits)]
    return {
        "precision": sum(relevant) / len(hits) if hits else 0.0,
        "recall": sum(relevant) / num_rel if num_rel else 0.0,
        "mean_reciprocal_rank": 1 / (relevant.index(True) + 1) if any(relevant) else 0.0, "dcg": dcg(hits),
        "ndcg": dcg(hits) / dcg(ideal) if dcg(ideal) else 0.0, "expected_reciprocal_rank(max_grade=3)": err(hits, 3),
    }  # fmt: skip


def dcg(ratings):
    return sum((2**rating - 1) / math.log2(rank + 1) for rank, rating in enumerate(ratings, 1) if rating is not None)


def err(ratings, maximum_relevance):
    total, go_on = 0.0, 1.0
    for rank, rating in enumerate(ratings, 1):
        if rating is not None:
            satisfied = (2**rating - 1) / 2**maximum_relevance
            total += go_on * satisfied / rank
            go_on *= 1 - satisfied
    return total
