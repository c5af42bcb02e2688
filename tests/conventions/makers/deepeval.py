"""The arithmetic of DeepEval's contextual precision, with labels for the verdicts of a language model."""

from types import SimpleNamespace

from rankings import queries

TOOL = "deepeval"
MODULES = ["deepeval"]
QUERIES = queries(9, repeats=False)


def values(queries):
    from deepeval.metrics import ContextualPrecisionMetric
    from deepeval.metrics.contextual_precision import contextual_precision

    def score(query):
        metric = ContextualPrecisionMetric.__new__(ContextualPrecisionMetric)  # its constructor asks for a model
        words = {True: contextual_precision.Verdict.YES, False: contextual_precision.Verdict.NO}
        metric.strict_mode = False
        metric.verdicts = [SimpleNamespace(verdict=words[doc in query["relevant"]]) for doc in query["retrieved"]]
        return metric._calculate_score()

    return {"map": [score(query) for query in queries]}
