"""The metric step of RecBole: six metrics of the hits among each user's first hundred items, as it collects them."""

import torch
from recbole.config import Config
from recbole.evaluator import Evaluator
from recbole.evaluator.collector import DataStruct


def prepare(qrels, run):
    rows = []
    for query, docs in run.items():
        best = sorted(docs, key=docs.get, reverse=True)[:100]
        labels = qrels[query]
        rows.append([labels.get(doc, 0) > 0 for doc in best] + [sum(label > 0 for label in labels.values())])
    data = DataStruct()
    data.set("rec.topk", torch.tensor(rows, dtype=torch.int))
    metrics = ["Hit", "MRR", "MAP", "Recall", "NDCG", "Precision"]
    evaluator = Evaluator(Config("BPR", "ml-100k", config_dict={"topk": [10, 100], "metrics": metrics}))
    return lambda: evaluator.evaluate(data)
