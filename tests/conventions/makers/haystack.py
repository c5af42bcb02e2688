"""Haystack's four evaluators of documents, which compare ids here."""

from rankings import queries

TOOL = "haystack-ai"
MODULES = ["haystack"]
QUERIES = queries(1, grades=(1, 2, 3))


def values(queries):
    from haystack import Document
    from haystack.components import evaluators

    found = [[Document(id=doc, content=doc) for doc in query["retrieved"]] for query in queries]
    truth = [[Document(id=d, content=d, score=float(n)) for d, n in query["relevant"].items()] for query in queries]
    made = {
        "mrr": evaluators.DocumentMRREvaluator(), "map": evaluators.DocumentMAPEvaluator(),
        "hit_rate": evaluators.DocumentRecallEvaluator(mode="single_hit"),
        "recall": evaluators.DocumentRecallEvaluator(mode="multi_hit"), "ndcg": evaluators.DocumentNDCGEvaluator(),
    }  # fmt: skip
    return {metric: evaluator.run(truth, found)["individual_scores"] for metric, evaluator in made.items()}
