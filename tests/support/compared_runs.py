"""Runs whose comparison several files of tests look at."""

import random

METRICS = ["ndcg@5", "map", "mrr"]


def collection(runs=3, queries=30, seed=7):
    """Qrels and runs, each better than the one before."""
    rng = random.Random(seed)
    qrels = {f"q{number}": {f"d{doc}": rng.choice((0, 0, 1, 2)) for doc in range(12)} for number in range(queries)}
    skill = {f"run_{number}": number / 2 for number in range(runs)}
    return qrels, {
        name: {
            query: {doc: level * label + rng.gauss(0, 1) for doc, label in docs.items()}
            for query, docs in qrels.items()
        }
        for name, level in skill.items()
    }


def values(**runs):
    """Runs given as lists of values, for compare_scores."""
    return {name: {f"q{place}": value for place, value in enumerate(of_run)} for name, of_run in runs.items()}
