"""The metric step of scikit-learn: nDCG of a matrix of scores, where equal ones are averaged."""

import numpy as np
from sklearn import metrics


def prepare(qrels, run):
    scores = np.array([list(docs.values()) for docs in run.values()])
    labels = np.array([[qrels[query].get(doc, 0) for doc in docs] for query, docs in run.items()])
    return lambda: [metrics.ndcg_score(labels, scores, k=k) for k in (10, 100, None)]
