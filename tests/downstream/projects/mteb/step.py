"""The metric step of MTEB: all scores of a retrieval task, with their abstention curves."""

from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores


def prepare(qrels, run):
    cutoffs = [1, 3, 5, 10, 20, 100, 1000]
    return lambda: [part for part in calculate_retrieval_scores(run, qrels, cutoffs) if isinstance(part, dict)][1:]
