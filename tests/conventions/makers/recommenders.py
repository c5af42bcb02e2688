"""Recommenders' functions of two data frames, user by user, as they return means."""

from importlib.metadata import version

from rankings import queries

MODULES = ["recommenders"]
QUERIES = queries(17, grades=(1, 2), repeats=False, empty_rankings=False, empty_relevant=False)
COLUMNS = ["userID", "itemID"]


def VERSION():
    return f"recommenders {version('recommenders')}"


def values(queries):
    from recommenders.evaluation import python_evaluation as theirs

    functions = {
        "precision@{}": theirs.precision_at_k, "recall@{}": theirs.recall_at_k, "ndcg@{}": theirs.ndcg_at_k,
        "map@{}": theirs.map_at_k, "map(ap_norm=R)@{}": theirs.map,
    }  # fmt: skip
    return {
        name.format(k): [function(*frames(query), k=k) for query in queries]
        for name, function in functions.items()
        for k in (1, 3, 10)
    }


def frames(query):
    import pandas as pd

    truth = [("u", doc, label) for doc, label in query["relevant"].items()]
    predicted = [("u", doc, float(-rank)) for rank, doc in enumerate(query["retrieved"])]
    return (
        pd.DataFrame(truth, columns=[*COLUMNS, "rating"]),
        pd.DataFrame(predicted, columns=[*COLUMNS, "prediction"]),
    )
