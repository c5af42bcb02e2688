"""The metric step of BEIR: `evaluate` with its own cutoffs, and the reciprocal rank."""

from beir.retrieval.evaluation import EvaluateRetrieval


def prepare(qrels, run):
    cutoffs = [1, 3, 5, 10, 100, 1000]
    return lambda: [
        *EvaluateRetrieval.evaluate(qrels, run, cutoffs),
        EvaluateRetrieval.evaluate_custom(qrels, run, cutoffs, "mrr"),
    ]
