"""The metric step of torchmetrics: nDCG, MAP and recall of flat tensors, with the query of each document."""

import torch
from torchmetrics import retrieval


def prepare(qrels, run):
    rows = [(at, score, qrels[q].get(d, 0)) for at, (q, docs) in enumerate(run.items()) for d, score in docs.items()]
    indexes, scores, labels = zip(*rows, strict=True)
    given = {
        "preds": torch.tensor(scores), "target": torch.tensor(labels).clamp(max=1), "indexes": torch.tensor(indexes),
    }  # fmt: skip

    def step():
        values = []
        for name in ("NormalizedDCG", "MAP", "Recall"):
            metric = getattr(retrieval, f"Retrieval{name}")(top_k=10)
            metric.update(**given)
            values.append(metric.compute().item())
        return values

    return step
