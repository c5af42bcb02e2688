"""Haystack 1's EvaluationResult, whose relevant documents are those of the judged ids.

Beside Python it needs haystack/schema.py and haystack/mmh3.py of farm-haystack, whose other modules load models, and
pandas and pydantic 1.
"""

from importlib.metadata import version

from rankings import queries

CONVENTION = "haystack-1"
MODULES = ["haystack", "haystack.schema"]
QUERIES = queries(1, grades=(1, 2, 3), empty_rankings=False)
COPIES = ["map", "ndcg", "precision"]
NAMES = {
    "mrr": "mrr", "map": "map", "hit_rate": "recall_single_hit", "recall": "recall_multi_hit",
    "precision": "precision", "ndcg": "ndcg",
}  # fmt: skip


def VERSION():
    return f"farm-haystack {version('farm-haystack')}"


def values(queries):
    from haystack.schema import EvaluationResult
    from pandas import DataFrame

    results = []
    for query in queries:
        gold = list(query["relevant"])
        rows = [
            {
                "multilabel_id": "q", "type": "document", "eval_mode": "integrated", "rank": rank,
                "document_id": doc, "gold_document_ids": gold,
                "gold_documents_id_match": [float(doc == each) for each in gold],
                "gold_contexts_similarity": [0.0] * len(gold), "gold_answers_match": [0.0] * len(gold),
                "gold_id_match": float(doc in gold),
            }
            for rank, doc in enumerate(query["retrieved"], 1)
        ]  # fmt: skip
        result = EvaluationResult({"retriever": DataFrame(rows)})
        results.append(result.calculate_metrics(document_scope="document_id")["retriever"])
    return {metric: [each[name] for each in results] for metric, name in NAMES.items()}
