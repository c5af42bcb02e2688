"""Judgments of a sample: how each document of the pool came into it, from files and dicts, aligned with labels.

A file of lines is read once for each of its numbers, by the reader that has one number per line.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import LineFormat
from fastir.engine.columns.rows import repeat, sums
from fastir.errors import quote
from fastir.inputs import places, trec
from fastir.inputs.files import Watch

NOT_SAMPLED = -1  # the label of a document of the pool without a judgment
PRELS_NOT_SAMPLED = -999  # that label in prels
MANUAL_METHODS = (0, 2)  # methods of prels that chose documents on purpose: their inclusion probability is 1

Strata = Mapping[Any, Mapping[Any, SupportsIndex]]
Probabilities = Mapping[Any, Mapping[Any, SupportsFloat]]


class SampleColumns(NamedTuple):
    """What SampledQrels are made of; strata are int64, probabilities float64 with NaN for what is not in the sample."""

    query_ids: list[Any]
    offsets: np.ndarray
    ids: Arena | list[Any]
    labels: np.ndarray
    strata: np.ndarray | None
    probabilities: np.ndarray | None
    repairs: dict[str, tuple[int, str]]


class NamedBytes(io.BytesIO):
    """The bytes of a file object that can be read only once, with its name."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def read(
    path: Any, is_run: bool, duplicates: str | None, watch: Watch | None, line_format: tuple[LineFormat, ...]
) -> SampleColumns:
    """Read a file once for each of its columns; the first line format counts the fields."""
    if duplicates == "max":
        name = line_format[0].name
        raise ValueError(f"duplicates='max' is not possible with format={name!r}; expected 'first', 'last' or 'once'")
    if places.is_file_object(path) and not places.reopens(path):
        path = NamedBytes(path.read(), places.place_name(path))
    first, *others = line_format
    query_ids, offsets, ids, numbers, repairs = trec.read(path, False, duplicates, watch, first)
    columns = [trec.read(path, False, duplicates, None, other)[3] for other in others]
    if first.what == "sampled label":
        return SampleColumns(query_ids, offsets, ids, as_labels(numbers), columns[0].astype(np.int64), None, repairs)
    labels, methods = columns
    probabilities = np.where(np.isin(methods, MANUAL_METHODS) & ~np.isnan(numbers), 1.0, numbers)
    probabilities[labels <= PRELS_NOT_SAMPLED] = np.nan
    by_sampling = sums((methods != 0) & ~np.isnan(probabilities), offsets) > 0
    probabilities[~repeat(by_sampling, np.diff(offsets))] = np.nan
    return SampleColumns(query_ids, offsets, ids, as_labels(labels), None, probabilities, repairs)


def as_labels(numbers: np.ndarray) -> np.ndarray:
    return np.maximum(numbers, NOT_SAMPLED).astype(np.int32)


def add_pool(labels: Mapping[Any, Any], strata: Strata) -> dict[Any, dict[Any, Any]]:
    """The labels of all documents that have a stratum; documents without a label get the label "not sampled"."""
    for query_id, judged in labels.items():
        of_query = inner_dict(strata, query_id, "strata")
        for doc_id in judged:
            if doc_id not in of_query:
                raise ValueError(f"strata: document {quote(doc_id)} of query {quote(query_id)} has no stratum")
    return {
        query_id: {
            doc_id: labels.get(query_id, {}).get(doc_id, NOT_SAMPLED)
            for doc_id in inner_dict(strata, query_id, "strata")
        }
        for query_id in all_queries(labels, strata, "strata")
    }


def all_queries(labels: Any, others: Any, what: str) -> list[Any]:
    """The queries of both dicts."""
    return list(dict.fromkeys((*labels, *mapping(others, what))))


def inner_dict(data: Any, query_id: Any, what: str) -> Any:
    """The mapping of a query in a dict of dicts; empty for a missing query."""
    return mapping(mapping(data, what).get(query_id, {}), what)


def mapping(data: Any, what: str) -> Any:
    if not hasattr(data, "get"):
        raise TypeError(f"{what} must be {{query_id: {{doc_id: number}}}}, got {type(data).__name__} {quote(data)}")
    return data


def align_strata(rows: Mapping[Any, Mapping[Any, Any]], strata: Strata) -> np.ndarray:
    """The stratum of each document, in the order of `rows`."""
    numbers = [
        read_stratum(strata[query_id][doc_id], query_id, doc_id) for query_id in rows for doc_id in rows[query_id]
    ]
    return np.array(numbers, np.int64)


def read_stratum(stratum: Any, query_id: Any, doc_id: Any) -> int:
    where = f"(query {query_id}, document {doc_id})"
    if isinstance(stratum, (bool, np.bool_)) or not hasattr(stratum, "__index__"):
        raise TypeError(f"strata: a stratum must be an int, got {type(stratum).__name__} {quote(stratum)} {where}")
    if abs(number := stratum.__index__()) >= 2**63:
        raise OverflowError(f"strata: the stratum is too large; expected an integer of 64 bits {where}")
    return number


def align_probabilities(rows: Mapping[Any, Mapping[Any, Any]], probabilities: Probabilities) -> np.ndarray:
    """The inclusion probability of each document, in the order of `rows`; NaN where there is none."""
    aligned = []
    for query_id in all_queries(rows, probabilities, "probabilities"):
        of_query = inner_dict(probabilities, query_id, "probabilities")
        for doc_id in of_query:
            if doc_id not in rows.get(query_id, {}):
                raise ValueError(f"probabilities: document {quote(doc_id)} of query {quote(query_id)} has no label")
        aligned += [read_probability(of_query.get(doc_id), query_id, doc_id) for doc_id in rows.get(query_id, {})]
    return np.array(aligned, float)


def read_probability(probability: Any, query_id: Any, doc_id: Any) -> float:
    if probability is None:
        return float("nan")
    expected = "probabilities: an inclusion probability must be a number above 0 and at most 1"
    where = f"(query {query_id}, document {doc_id})"
    if isinstance(probability, (str, bytes, bool, np.bool_)) or not hasattr(probability, "__float__"):
        raise TypeError(f"{expected}, got {type(probability).__name__} {quote(probability)} {where}")
    if not 0 < float(probability) <= 1:
        raise ValueError(f"{expected}, got {probability} {where}")
    return float(probability)
