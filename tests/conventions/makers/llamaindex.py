"""LlamaIndex's metrics of retrieval, as its registry has them; they refuse empty lists."""

from importlib.metadata import version

from rankings import queries

MODULES = ["llama_index.core"]
QUERIES = queries(2, empty_rankings=False, empty_relevant=False)
NAMES = {
    "hit_rate": "hit_rate", "mrr": "mrr", "precision": "precision", "recall": "recall", "map": "ap",
    "ndcg": "ndcg",
}  # fmt: skip
COPIES = ["map", "ndcg"]


def VERSION():
    return f"llama-index-core {version('llama-index-core')}"


def values(queries):
    from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

    return {
        ours: [
            METRIC_REGISTRY[theirs]()
            .compute(expected_ids=list(query["relevant"]), retrieved_ids=query["retrieved"])
            .score
            for query in queries
        ]
        for ours, theirs in NAMES.items()
    }
