"""MTEB's scores of retrieval, query by query."""

from rankings import queries

TOOL = "mteb"
MODULES = ["mteb"]
QUERIES = queries(20, grades=(1, 2), repeats=False, empty_rankings=False, empty_relevant=False)
NAMES = {"ndcg_at_{}": "ndcg_cut", "map_at_{}": "map_cut", "recall_at_{}": "recall", "precision_at_{}": "P"}


def values(queries):
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    found = {}
    for query in queries:
        run = {doc: float(-rank) for rank, doc in enumerate(query["retrieved"])}
        scores = calculate_retrieval_scores({"q": run}, {"q": query["relevant"]}, [1, 3, 10])
        for k in (1, 3, 10):
            for name, key in NAMES.items():
                found.setdefault(name.format(k), []).append(scores.all_scores["q"][f"{key}_{k}"])
            found.setdefault(f"mrr_at_{k}", []).append(scores.mrr[f"MRR@{k}"])
    return found
