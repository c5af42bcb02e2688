"""RePlay's metrics of lists with scores."""

from rankings import queries

TOOL = "replay-rec"
MODULES = ["replay"]
QUERIES = queries(15, grades=(1, 2))
K = [1, 3, 10]
NAMES = ["HitRate", "MRR", "MAP", "NDCG", "Precision", "Recall"]
COPIES = [f"{name}@{k}" for name in ("MAP", "NDCG") for k in K]


def values(queries):
    from replay import metrics

    return {metric: column for name in NAMES for metric, column in columns(getattr(metrics, name), queries).items()}


def columns(kind, queries):
    from replay.metrics import PerUser

    lists = {i: [(doc, float(-rank)) for rank, doc in enumerate(query["retrieved"])] for i, query in enumerate(queries)}
    relevant = {place: [*query["relevant"]] for place, query in enumerate(queries)}
    found = kind(K, mode=PerUser())(lists, relevant)
    return {name.replace("-PerUser", ""): [one[place] for place in range(len(queries))] for name, one in found.items()}
