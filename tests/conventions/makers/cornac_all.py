"""Cornac's metrics of scores, which rank all items."""

from rankings import queries

TOOL = "cornac"
CONVENTION = "cornac"
MODULES = ["cornac"]
QUERIES = queries(13, judged_only=True, longest=20, empty_relevant=False)


def values(queries):
    import numpy as np
    from cornac import metrics

    def value(metric, query):
        relevant = np.array([doc for doc, label in query["relevant"].items() if label > 0])
        items = np.array(query["retrieved"])
        if len(relevant) == len(items) and metric.name == "AUC":
            return None  # no pair to compare
        scores = np.arange(len(items), 0.0, -1.0)
        return metric.compute(item_indices=items, pd_scores=scores, gt_pos=relevant)

    return {n: [value(made, q) for q in queries] for n, made in {"auc": metrics.AUC(), "map": metrics.MAP()}.items()}
