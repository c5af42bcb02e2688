"""The metric step of ranx: six metrics of its own Qrels and Run."""

import ranx


def prepare(qrels, run):
    theirs, metrics = (
        (ranx.Qrels(qrels), ranx.Run(run)),
        ["map", "ndcg", "mrr", "ndcg@10", "recall@100", "precision@10"],
    )
    return lambda: ranx.evaluate(*theirs, metrics)
