"""TF-Ranking's OPA of lists with equal scores; the file of its metrics runs where the package as a whole does not."""

import sys
import types
from importlib.metadata import distribution

from rankings import queries, scored

TOOL = "tensorflow-ranking"
CONVENTION = "tf-ranking"
MODULES = ["tensorflow", "six"]
QUERIES = scored(queries(44, grades=(1, 2, 3), judged_only=True), 44, 6)
DIGITS = 6


def computed(metric, queries):
    """TF-Ranking's values of these queries as columns, and its weights of them."""
    import tensorflow

    for name in ("tensorflow_ranking", "tensorflow_ranking.python"):  # what they import, TensorFlow no longer has
        package = sys.modules.setdefault(name, types.ModuleType(name))
        package.__path__ = [str(distribution("tensorflow-ranking").locate_file(name.replace(".", "/")))]
    from tensorflow_ranking.python import metrics_impl

    found = []
    for query in queries:
        labels = [[float(query["relevant"][doc]) for doc in query["retrieved"]]]
        scores = [[float(score) for score in query["scores"]]]
        found.append(
            getattr(metrics_impl, metric)(None).compute(tensorflow.constant(labels), tensorflow.constant(scores))
        )
    return [[float(column[0][0]) for column in side] for side in zip(*found, strict=True)]


def weighted_mean(column, weights):
    """As tf.metrics.mean weighs lists."""
    return sum(value * weight for value, weight in zip(column, weights, strict=True)) / sum(weights)


def values(queries):
    return {"opa": computed("OPAMetric", queries)[0]}


def means(queries):
    column, weights = computed("OPAMetric", queries)
    return {"opa": (weights, weighted_mean(column, weights))}
