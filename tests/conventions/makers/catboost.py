"""CatBoost's PFound and QueryAUC, which no other tool has, of lists whose documents all have labels."""

from rankings import queries

TOOL = "catboost"
MODULES = ["catboost"]
QUERIES = queries(34, grades=(1,), judged_only=True)
METRICS = {"pfound": "PFound", "pfound@3": "PFound:top=3", "pfound(decay=0.5)@5": "PFound:top=5;decay=0.5"}


def values(queries):
    from catboost.utils import eval_metric

    found = {}
    for query in queries:
        labels = [query["relevant"][doc] for doc in query["retrieved"]]
        scores = list(range(len(labels), 0, -1))
        for ours, theirs in {**METRICS, "QueryAUC": "QueryAUC"}.items():
            [value] = eval_metric(labels, scores, theirs, group_id=[0] * len(labels))
            found.setdefault(ours, []).append(value)
    return found
