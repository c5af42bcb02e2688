"""PyKEEN's metrics of ranks: of several relevant entities with scores that differ, or of one among equal scores.

A triple of PyKEEN has one true entity; the ranks of a list of triples are those of a query's relevant documents here.
"""

import random
from importlib.metadata import version

from rankings import queries, scored

CONVENTION = "fastir"
MODULES = ["pykeen"]
TIES = {"optimistic": "optimistic", "realistic": "average", "pessimistic": "pessimistic"}
METRICS = {
    "median_rank": "MedianRank", "gmean_rank": "GeometricMeanRank", "hmean_rank": "HarmonicMeanRank",
    "amr": "AdjustedArithmeticMeanRank", "amri": "AdjustedArithmeticMeanRankIndex", "first_rel": None,
}  # fmt: skip
ALONE = ("median_rank", "gmean_rank", "hmean_rank")  # no ties=average; of one document, first_rel has it


def several_or_tied():
    """Every second query has one relevant document among equal scores; in the others scores differ."""
    rng = random.Random(42)
    found = scored(queries(42, judged_only=True, empty_relevant=False), 42, 3)
    for query in found[::2]:
        query["scores"] = list(range(len(query["retrieved"]), 0, -1))
    for query in found[1::2]:
        true = rng.choice(query["retrieved"])
        query["relevant"] = {doc: int(doc == true) for doc in query["retrieved"]}
    return found


QUERIES = several_or_tied()


def VERSION():
    return f"pykeen {version('pykeen')}"


def values(queries):
    import torch
    from pykeen.evaluation.ranks import Ranks
    from pykeen.metrics import ranking

    found = {}
    for query in queries:
        scores = dict(zip(query["retrieved"], query["scores"], strict=True))
        true = [score for doc, score in scores.items() if query["relevant"][doc]]
        everything = torch.tensor([query["scores"]] * len(true), dtype=torch.float64)
        ranks = Ranks.from_scores(torch.tensor(true, dtype=torch.float64).unsqueeze(1), everything).to_type_dict()
        for kind, ties in TIES.items():
            of_kind, candidates = ranks[kind].double().numpy(), [len(query["retrieved"])] * len(true)
            for name, theirs in METRICS.items():
                if ties == "average" and name in ALONE:
                    continue
                if theirs is None:
                    value = of_kind.min()
                elif name == "amri" and candidates[0] == 1:
                    value = 0.0  # PyKEEN divides zero by zero, and fastir says 0
                else:
                    value = getattr(ranking, theirs)()(of_kind, num_candidates=candidates)
                found.setdefault(f"{name} ties={ties}", []).append(value)
    return found
