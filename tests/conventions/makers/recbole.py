"""RecBole's evaluator: of each user which of the first items are relevant, and how many relevant items there are."""

from rankings import queries

TOOL = "recbole"
MODULES = ["recbole"]
QUERIES = queries(11, repeats=False)
TOPK = [1, 3, 10]


def values(queries):
    import torch
    from recbole.evaluator import Evaluator
    from recbole.evaluator.collector import DataStruct

    names = ["Hit", "MRR", "MAP", "Recall", "NDCG", "Precision"]
    evaluator = Evaluator({"metrics": names, "topk": TOPK, "metric_decimal_place": 16})
    found = {}
    for query in queries:
        hits = [int(doc in query["relevant"]) for doc in query["retrieved"]][: max(TOPK)]
        hits += [0] * (max(TOPK) - len(hits)) + [len(query["relevant"])]
        data = DataStruct()
        data.update_tensor("rec.topk", torch.tensor([hits], dtype=torch.int))
        for metric, value in evaluator.evaluate(data).items():
            found.setdefault(metric, []).append(value)
    return found
