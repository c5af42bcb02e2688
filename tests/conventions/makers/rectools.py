"""RecTools' metrics of recommendations; users without interactions do not exist there."""

from rankings import queries

TOOL = "rectools"
MODULES = ["rectools"]
QUERIES = queries(14, grades=(1, 2), repeats=False)


def values(queries):
    import pandas as pd
    from rectools import metrics

    reco = [(user, item, rank) for user, query in enumerate(queries) for rank, item in enumerate(query["retrieved"], 1)]
    interactions = [(user, item) for user, query in enumerate(queries) for item in query["relevant"]]
    tables = (
        pd.DataFrame(reco, columns=["user_id", "item_id", "rank"]),
        pd.DataFrame(interactions, columns=["user_id", "item_id"]),
    )
    made = {}
    for k in (1, 3, 10):
        made[f"MAP@{k}"] = metrics.MAP(k=k)
        made[f"NDCG@{k}"] = metrics.NDCG(k=k)
        made[f"ndcg(ideal=judged)@{k}"] = metrics.NDCG(k=k, divide_by_achievable=True)
        made[f"MRR@{k}"] = metrics.MRR(k=k)
        made[f"Precision@{k}"] = metrics.Precision(k=k)
        made[f"relative_precision@{k}"] = metrics.Precision(k=k, r_precision=True)
        made[f"Recall@{k}"] = metrics.Recall(k=k)
        made[f"HitRate@{k}"] = metrics.HitRate(k=k)
        made[f"f_beta(beta=2)@{k}"] = metrics.F1Beta(k=k, beta=2)
    found = {name: metric.calc_per_user(*tables).to_dict() for name, metric in made.items()}
    return {name: [column.get(user) for user in range(len(queries))] for name, column in found.items()}
