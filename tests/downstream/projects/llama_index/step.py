"""The metric step of LlamaIndex: six metrics of lists of ids, a call for each query."""

from llama_index.core.evaluation.retrieval import metrics


def prepare(qrels, run):
    lists = [
        ([doc for doc, label in qrels[query].items() if label > 0], sorted(docs, key=docs.get, reverse=True)[:100])
        for query, docs in run.items()
    ]
    parts = [getattr(metrics, name)() for name in ("HitRate", "MRR", "Precision", "Recall", "AveragePrecision", "NDCG")]
    return lambda: [
        [part.compute(expected_ids=relevant, retrieved_ids=found).score for part in parts] for relevant, found in lists
    ]
