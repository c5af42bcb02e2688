"""Recommenders' nDCG of exponential gains, user by user."""

from rankings import queries

TOOL = "recommenders"
CONVENTION = "recommenders"
MODULES = ["recommenders"]
OPTIONS = {"gain": "exp2"}
QUERIES = queries(18, grades=(1, 2, 3), repeats=False, empty_rankings=False, empty_relevant=False)


def values(queries):
    import pandas as pd
    from recommenders.evaluation.python_evaluation import ndcg_at_k

    def value(query, k):
        truth = [("u", doc, label) for doc, label in query["relevant"].items()]
        predicted = [("u", doc, float(-rank)) for rank, doc in enumerate(query["retrieved"])]
        return ndcg_at_k(
            pd.DataFrame(truth, columns=["userID", "itemID", "rating"]),
            pd.DataFrame(predicted, columns=["userID", "itemID", "prediction"]), k=k, score_type="exp",
        )  # fmt: skip

    return {f"ndcg@{k}": [value(query, k) for query in queries] for k in (1, 3, 10)}
