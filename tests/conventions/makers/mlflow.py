"""MLflow's metrics of retrievers."""

from rankings import queries

TOOL = "mlflow"
MODULES = ["mlflow"]
CUTOFFS = (1, 3, 8)
QUERIES = [query for query in queries(5) if query["retrieved"] or query["relevant"]]
COPIES = [f"{name}@{k}" for name in ("precision", "ndcg") for k in CUTOFFS]


def values(queries):
    import pandas
    from mlflow import metrics

    retrieved = pandas.Series([query["retrieved"] for query in queries])
    relevant = pandas.Series([list(query["relevant"]) for query in queries])
    made = {"precision": metrics.precision_at_k, "recall": metrics.recall_at_k, "ndcg": metrics.ndcg_at_k}
    return {f"{name}@{k}": make(k).eval_fn(retrieved, relevant).scores for name, make in made.items() for k in CUTOFFS}
