"""Weights of judged documents as a caller has them, as an array aligned with the judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, SupportsFloat

import numpy as np

from fastir.checks import mapping
from fastir.errors import FormatError, quote
from fastir.inputs.files import Path
from fastir.inputs.mappings import field_rows
from fastir.inputs.places import place_name

DocWeights = Mapping[Any, SupportsFloat] | Mapping[Any, Mapping[Any, SupportsFloat]]

FIELDS_BY_WIDTH = {2: "a document and its weight", 3: "a query, a document and its weight"}  # by the number of fields
EXPECTED = "doc_weights: a weight must be a number above 0 and finite"


def from_file(path: Path) -> DocWeights:
    """The weights in a file, with a document and a number on each line, or a query before them."""
    by_query: dict[str, dict[str, float]] = {}
    for number, (*query, doc_id, text) in field_rows(path, FIELDS_BY_WIDTH):
        try:
            weight = float(text)
        except ValueError:
            raise FormatError(f"weight {quote(text)} is not a number", place_name(path), number) from None
        if by_query.setdefault("".join(query), {}).setdefault(doc_id, weight) != weight:
            raise FormatError(f"document {quote(doc_id)} has two weights", place_name(path), number)
    return by_query.pop("") if "" in by_query else by_query


def align(doc_weights: Any, rows: Iterable[tuple[Any, Any, float]], query: str, document: str) -> np.ndarray:
    """The weight of each judgment; NaN where one without a label above 0 has none.

    Parameters
    ----------
    doc_weights : mapping
        ``{doc_id: weight}``, or ``{query_id: {doc_id: weight}}``.
    rows : iterable of (query_id, doc_id, label)
    query, document : str
        What messages call them.
    """
    doc_weights = mapping(
        "doc_weights", doc_weights, "map ids to weights, {doc_id: weight} or {query_id: {doc_id: weight}}"
    )
    by_text = {str(key): value for key, value in doc_weights.items()}
    nested = any(hasattr(value, "items") for value in by_text.values())
    by_query: dict[str, dict[str, Any]] = {}
    aligned = []
    unused: dict[str, set[str]] = {}
    for query_id, doc_id, label in rows:
        weights, key = by_text, str(query_id)
        if nested:
            if key not in by_query:
                by_query[key] = weights_by_doc_id(by_text.get(key, {}), query_id, query)
                unused[key] = set(by_query[key])
            weights = by_query[key]
            unused[key].discard(str(doc_id))
        weight = weights.get(str(doc_id))
        if weight is None and label > 0:
            raise ValueError(f"doc_weights: {document} {quote(doc_id)} of {query} {quote(query_id)} has no weight")
        aligned.append(np.nan if weight is None else read_weight(weight, f"({query} {query_id}, {document} {doc_id})"))
    for query_id, unknown in unused.items():
        for doc_id in by_query[query_id]:
            if doc_id in unknown:
                raise ValueError(f"doc_weights: {document} {quote(doc_id)} of {query} {quote(query_id)} is not judged")
    return np.array(aligned, float)


def weights_by_doc_id(weights: Any, query_id: Any, query: str) -> dict[str, Any]:
    if not hasattr(weights, "items"):
        raise TypeError(f"doc_weights: {query} {quote(query_id)} has a {type(weights).__name__}; expected a dict")
    return {str(doc_id): weight for doc_id, weight in weights.items()}


def read_weight(weight: Any, where: str) -> float:
    if isinstance(weight, (str, bytes, bool, np.bool_)) or not hasattr(weight, "__float__"):
        raise TypeError(f"{EXPECTED}, got {type(weight).__name__} {quote(weight)} {where}")
    try:
        number = float(weight)
    except OverflowError:
        raise OverflowError(f"{EXPECTED}, got one that is too large for a float {where}") from None
    if not 0 < number < float("inf"):
        raise ValueError(f"{EXPECTED}, got {weight} {where}")
    return number
