"""A query whose explanation is known, and explanations of any."""

import math

import fastir

QRELS = {"q": {"a": 3, "b": 0, "c": 1, "d": -1, "e": 2, "f": 1}}
RUN = {"q": {"b": 6.0, "a": 5.0, "x": 5.0, "y": 4.0, "c": 3.0, "d": 2.0, "e": 2.0}}


def explanations(qrels, run, metrics, **options):
    """The results of a run, and an explanation of each query."""
    evaluator = fastir.Evaluator(qrels, metrics, queries="qrels", **options)
    return evaluator.evaluate(run), {query: evaluator.explain(run, query) for query in qrels}


def agree(results, told):
    """The values are those of the evaluation, to the bit, and the parts add up to them."""
    for query, row in results.to_dict().items():
        explanation = told[query]
        assert same(explanation.values, row), query
        assert explanation.status == results.status[query]
        for metric, value in row.items():
            parts = [explanation.base[metric], *(document.contribution[metric] for document in explanation.documents)]
            if value == value:
                assert math.isclose(math.fsum(parts), value, rel_tol=1e-15, abs_tol=1e-15), (query, metric)


def same(values, others):
    return values.keys() == others.keys() and all(
        values[name] == others[name] or (values[name] != values[name] and others[name] != others[name])
        for name in values
    )
