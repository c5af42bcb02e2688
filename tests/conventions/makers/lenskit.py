"""LensKit's metrics of item lists; a value that is missing counts as the metric's default in its means."""

from rankings import queries

TOOL = "lenskit"
MODULES = ["lenskit"]
QUERIES = queries(19, grades=(1, 2), repeats=False)


def values(queries):
    import numpy as np
    from lenskit.data import ItemList
    from lenskit.metrics import ranking

    made = {}
    for k in (None, 1, 3, 10):
        at = f"@{k}" if k else ""
        made[f"Hit{at}"] = ranking.Hit(k)
        made[f"Precision{at}"] = ranking.Precision(k)
        made[f"Recall{at}"] = ranking.Recall(k)
        made[f"RecipRank{at}"] = ranking.RecipRank(k)
        made[f"NDCG{at}"] = ranking.NDCG(k)
        made[f"ndcg(gain=linear){at}"] = ranking.NDCG(k, gain="rating")
        made[f"DCG{at}"] = ranking.DCG(k)
        made[f"RBP{at}"] = ranking.RBP(k)
        made[f"AveragePrecision{at}"] = ranking.AveragePrecision(k)

    def value(metric, query):
        found = ItemList(item_ids=np.array(query["retrieved"], dtype="<U9"), ordered=True)
        truth = ItemList(
            item_ids=np.array([*query["relevant"]], dtype="<U9"),
            rating=np.array([*query["relevant"].values()], dtype=float),
        )
        try:
            value = metric.measure_list(found, truth)
        except ZeroDivisionError:  # AveragePrecision's, where nothing is relevant
            return 0.0
        return metric.default if np.isnan(value) else value

    with np.errstate(invalid="ignore"):
        return {name: [value(metric, query) for query in queries] for name, metric in made.items()}
