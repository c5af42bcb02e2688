"""What metrics of a share of the collection cannot do without: its size, which must be given, and be large enough.

A kernel cannot raise, and each of the ways to a result has its own; so a value is infinite where the size is too small,
as no other value of these metrics is, and whoever makes Results of values asks here first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir.declared import Param
from fastir.errors import quote
from fastir.request.names import Request, UnknownMetricError


def refuse_without(request: Request, param: Param) -> None:
    """Say which parameter a metric lacks, and how it is given."""
    example = request._replace(params={**request.params, param.name: param.example})
    raise UnknownMetricError(
        f"metric {quote(request.text)} needs {param.name}, {param.meaning}; pass it as in {quote(str(example))}"
    )


def collection_sizes(requests: Sequence[Request], all_values: Sequence[dict[str, Any]]) -> dict[int, tuple[str, Any]]:
    """{column: (metric, size of the collection)} of the metrics that need one."""
    return {
        column: (request.text, values[param.name])
        for column, (request, values) in enumerate(zip(requests, all_values, strict=True))
        for param in request.card.params
        if param.required
    }


def refuse_small(sizes: dict[int, tuple[str, Any]], values: np.ndarray, query_ids: Sequence[Any]) -> None:
    """Refuse a size of the collection that is less than the documents of a query."""
    for column, (metric, size) in sizes.items():
        small = np.isposinf(values[:, column])
        if small.any():
            raise ValueError(
                f"metric {quote(metric)}: n_docs={size} is less than the documents that are retrieved or relevant "
                f"(query {query_ids[int(small.argmax())]})"
            )
