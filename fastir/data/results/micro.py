"""Results with micro averages, from those with the counts that such averages divide by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastir.data.results.results import Results, best_of, remake, set_best, set_denominators
from fastir.errors import quote
from fastir.request.plan import count_names

if TYPE_CHECKING:
    from fastir.request.plan import Settings


def without_counts(results: Results, settings: Settings) -> Results:
    """The Results that were asked for, of those with the counts that micro averages divide by.

    A query that the metric leaves out, or with nothing to divide by, has the denominator 0.
    """
    if not settings.micro:
        return results
    values, denominators = results.values, {}
    for column in settings.micro:
        request = settings.requests[column]
        if results.weights is not None:
            raise ValueError(f"weights: metric {quote(request.text)} has average='micro', which weighs queries itself")
        one, n, R = (values[:, results.names.index(name)] for name in (request.text, *count_names(settings, column)))
        of = request.card.denominator(settings.values[column], request.cutoff, n, R)  # type: ignore[misc]
        if (one[of != of] == one[of != of]).any():
            raise ValueError(f"metric {quote(request.text)}: no average='micro', as some queries have no counts here")
        denominators[request.text] = np.where(one == one, of, 0.0)
    hidden = set(settings.names[settings.n_shown :])
    kept = [column for column, name in enumerate(results.names) if name not in hidden]
    names, hows = results.names, list(results.aggregates.values())
    fields = {"names": [names[column] for column in kept], "aggregates": [hows[column] for column in kept]}
    shown = remake(results, np.ascontiguousarray(values[:, kept]), **fields)
    return set_denominators(set_best(shown, best_of(results)), denominators)
