"""RecBole's GAUC of lists whose items all have scores, equal ones too: each user's AUC, and the mean over the users."""

from rankings import queries, scored

TOOL = "recbole"
CONVENTION = "recbole"
MODULES = ["recbole"]
QUERIES = scored(queries(43, judged_only=True), 43, 4)


def gauc(queries):
    """RecBole's value over these users, who have a relevant item and another."""
    import torch
    from recbole.evaluator.collector import Collector
    from recbole.evaluator.metrics import GAUC

    collector = Collector.__new__(Collector)
    collector.device = "cpu"
    rows = []
    for query in queries:
        hits = torch.tensor([query["relevant"][doc] for doc in query["retrieved"]])
        ranks = collector._average_rank(torch.tensor([query["scores"]], dtype=torch.float64))[0]
        rows.append([float(ranks[hits == 1].sum()), len(hits), float(hits.sum())])
    data = {"rec.meanrank": torch.tensor(rows, dtype=torch.float64)}
    return GAUC({"metric_decimal_place": 16}).calculate_metric(data)["gauc"]


def defined(query):
    return 0 < sum(query["relevant"].values()) < len(query["retrieved"])


def values(queries):
    return {"GAUC": [gauc([query]) if defined(query) else None for query in queries]}


def means(queries):
    """The weights are the relevant items of a user."""
    return {"GAUC": ([sum(query["relevant"].values()) for query in queries], gauc(list(filter(defined, queries))))}
