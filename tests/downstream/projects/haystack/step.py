"""The metric step of Haystack: four evaluators of lists of documents, 100 for each question."""

from haystack import Document
from haystack.components import evaluators


def prepare(qrels, run):
    relevant, found = [], []
    for query, docs in run.items():
        relevant.append([Document(content=doc, score=label) for doc, label in qrels[query].items() if label > 0])
        best = sorted(docs, key=docs.get, reverse=True)[:100]
        found.append([Document(content=doc) for doc in best])
    parts = [getattr(evaluators, f"Document{name}Evaluator")() for name in ("MAP", "MRR", "NDCG", "Recall")]
    return lambda: [part.run(relevant, found)["score"] for part in parts]
