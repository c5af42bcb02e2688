"""LongMemEval's retrieval metrics, from a checkout on the path: documents are places in the history."""

from rankings import queries

TOOL = "xiaowu0162/LongMemEval at 9e0b455"
MODULES = ["src.retrieval.eval_utils"]
QUERIES = queries(31, repeats=False, empty_relevant=False)  # its means leave out questions without an answer


def values(queries):
    from src.retrieval.eval_utils import evaluate_retrieval

    found = {}
    for query in queries:
        relevant = list(query["relevant"])
        history = query["retrieved"] + [doc for doc in relevant if doc not in query["retrieved"]]
        for k in (3, 5, 10):
            ranking = list(range(len(query["retrieved"])))
            names = (f"recall_any@{k}", f"recall_all@{k}", f"ndcg_any@{k}")
            for name, value in zip(names, evaluate_retrieval(ranking, relevant, history, k), strict=True):
                found.setdefault(name.replace("ndcg_any", "ndcg"), []).append(value)
    return found
