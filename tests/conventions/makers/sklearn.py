"""scikit-learn's multilabel ranking metrics, of the documents that have labels and are all ranked."""

from rankings import queries

TOOL = "scikit-learn"
MODULES = ["sklearn.metrics"]
QUERIES = queries(33, grades=(1,), judged_only=True)


def values(queries):
    from sklearn.metrics import coverage_error, label_ranking_loss

    found = {}
    for query in queries:
        labels = [[query["relevant"][doc] for doc in query["retrieved"]]]
        scores = [list(range(len(labels[0]), 0, -1))]
        if len(labels[0]) == 1:
            labels, scores = [[*labels[0], 0]], [[1, 0]]  # it takes no single column
        for metric in (coverage_error, label_ranking_loss):
            found.setdefault(metric.__name__, []).append(metric(labels, scores))
    return found
