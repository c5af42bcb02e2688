"""Cornac's metrics of ranked items; its evaluation leaves out users without relevant items."""

from rankings import queries

TOOL = "cornac"
MODULES = ["cornac"]
QUERIES = queries(12, grades=(1, 2), repeats=False)


def values(queries):
    import numpy as np
    from cornac import metrics

    made = {"mrr": metrics.MRR(), "ndcg": metrics.NDCG(), "recall": metrics.Recall()}
    for k in (1, 3, 10):
        made[f"ndcg@{k}"] = metrics.NDCG(k=k)
        made[f"HitRatio@{k}"] = metrics.HitRatio(k=k)
        made[f"precision@{k}"] = metrics.Precision(k=k)
        made[f"recall@{k}"] = metrics.Recall(k=k)
        made[f"F1@{k}"] = metrics.FMeasure(k=k)

    def value(one, query):
        if not query["relevant"]:
            return None
        try:
            return one.compute(gt_pos=np.array([*query["relevant"]]), pd_rank=np.array(query["retrieved"], dtype=str))
        except ValueError:  # MRR's, where no relevant item is ranked
            return 0.0

    return {name: [value(metric, query) for query in queries] for name, metric in made.items()}
