"""Quepid's scorers: they run in its page, so these values are computed as its files db/scorers/*.js say.

A rating is a label from 0 to 3. NDCG_CUT@10 is its nDCG of version 8.0, whose ideal has ten documents.
"""

import math

from rankings import queries

TOOL = "quepid, db/scorers at f80322f"
DIGITS = 12
QUERIES = queries(23, grades=(0, 1, 2, 3), repeats=False)


def values(queries):
    found = {}
    for query in queries:
        for k in (1, 3, 10):
            hits = [query["relevant"].get(doc, 0) for doc in query["retrieved"]][:k]
            for name, value in scorers(hits, query["relevant"].values(), k).items():
                found.setdefault(f"{name}@{k}", []).append(value)
    return found


def scorers(hits, ratings, k):
    """The scores of the first k documents by their ratings, 0 for one without, and of all rated documents."""
    total_rel, found = (
        sum(rating > 0 for rating in ratings),
        [rank for rank, rating in enumerate(hits, 1) if rating > 0],
    )
    ideal, err, trust = dcg(sorted(ratings, reverse=True)[:k]), 0.0, 1.0
    for rank, rating in enumerate(hits, 1):
        useful = (2**rating - 1) / 2**3
        err, trust = err + trust * useful / rank, trust * (1 - useful)
    return {
        "precision": len(found) / len(hits) if hits else 0.0,
        "map": sum(n / rank for n, rank in enumerate(found, 1)) / total_rel if total_rel else math.nan,
        "mrr": 1 / found[0] if found else 0.0, "err": err, "ndcg": dcg(hits) / ideal if ideal else 0.0,
    }  # fmt: skip


def dcg(ratings):
    return sum((2**rating - 1) / math.log2(rank + 1) for rank, rating in enumerate(ratings, 1))
