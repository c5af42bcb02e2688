"""compare_scores(): values per query of several runs in, a Comparison out.

Values are aligned by query id, never by position, and stand from here on in the order of the ids' text, so that neither
the order of the queries nor that of the runs reaches a random number.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from fastir.comparison import Comparison, Method, Pair, System
from fastir.errors import NoOverlapError, quote
from fastir.results import Results


def compare_scores(
    runs, metrics=None, *, baseline=None, test="t", n_resamples=100_000, correction=None, family="metric",
    confidence=0.95, interval="t", effect="d_z", queries=None, seeds=None, random_state=0, n_threads=None,
) -> Comparison:
    """Compare runs, given their values per query."""
    names, query_ids, values = aligned_values(runs, metrics)
    labels = list(runs)
    if baseline is None:
        chosen = [(i, j) for i in range(len(labels)) for j in range(i + 1, len(labels))]
    else:
        j = labels.index(baseline)
        chosen = [(i, j) for i in range(len(labels)) if i != j]
    pairs, systems = [], []
    for metric, x in zip(names, values, strict=True):
        n = len(x)
        quantile = special.stdtrit(n - 1, (1 + confidence) / 2)
        for run, column in zip(labels, x.T, strict=True):
            half = quantile * column.std(ddof=1) / n ** 0.5
            mean = column.mean()
            systems.append(System(run, metric, float(mean), float(mean - half), float(mean + half), n))
        for i, j in chosen:
            d = x[:, i] - x[:, j]
            mean, sd = d.mean(), d.std(ddof=1)
            p = 2 * special.stdtr(n - 1, -abs(mean) / (sd / n ** 0.5))
            half = quantile * sd / n ** 0.5
            wins, losses = int((d > 0).sum()), int((d < 0).sum())
            pairs.append(Pair(labels[i], labels[j], metric, float(mean), float(p), float(p), float(mean - half),
                              float(mean + half), float(mean / sd), wins, n - wins - losses, losses, n, True,
                              float("nan"), ""))
    import fastir

    method = Method(test, 0, len(pairs), random_state, None, family, len(chosen), confidence, interval,
                    "Cohen's d_z", "all", {}, None, (), "", fastir.__version__)
    return Comparison(labels, names, query_ids, values, pairs, systems, method)


def aligned_values(runs, metrics):
    table = {}
    for run, values in runs.items():
        if isinstance(values, Results):
            table[run] = {name: values.per_query(name) for name in values.names}
        else:
            values = dict(values.items())
            nested = values and hasattr(next(iter(values.values())), "items")
            table[run] = values if nested else {metrics if isinstance(metrics, str) else "score": values}
    names = [metrics] if isinstance(metrics, str) else list(metrics or next(iter(table.values())))
    known = {query_id for of_run in table.values() for name in names for query_id in of_run[name]}
    query_ids = sorted(known, key=str)
    for run, of_run in table.items():
        for name in names:
            if len(of_run[name]) < len(query_ids):
                lacking = next(query_id for query_id in query_ids if query_id not in of_run[name])
                raise NoOverlapError(f"run {quote(run)} lacks query {quote(lacking)}")
    values = np.array([[[of_run[name][query_id] for of_run in table.values()] for query_id in query_ids]
                       for name in names], float)
    return names, query_ids, values
