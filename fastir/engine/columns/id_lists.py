"""Ids without numbers, as callers list them: one query's list, checked, or the error that names query and position.

A position is counted from 1; in a run it is the rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from fastir.engine.columns.ids import is_integer, plain_ids
from fastir.errors import DuplicateError, quote, remedy


def ranking(query_id: Any, value: Any) -> tuple[Any, ...]:
    """A query's ranking as a tuple of whatever it holds.

    Raises
    ------
    TypeError
        It is no sequence, or one that has no order.
    """
    ranked = sequence(value)
    if ranked is None:
        why = why_no_sequence(value, ", where the first ranking is a list")
        expected = "a dict {doc_id: score} or a list of document ids in rank order"
        raise TypeError(f"run: query {quote(query_id)} must map to {expected}, {why}")
    return ranked


def first_value(column: Any) -> Any:
    """The first value of a column; None of an empty one, and of what has no order."""
    values = column.iloc if hasattr(column, "iloc") else column
    return values[0] if hasattr(values, "__getitem__") and hasattr(column, "__len__") and len(column) else None


def why_no_sequence(value: Any, mapping_problem: str) -> str:
    """The type of what is no sequence, and what it lacks; `mapping_problem` says what is wrong with a mapping."""
    kind = type(value).__name__
    if isinstance(value, AbstractSet):
        return f"got a {kind}, which has no order"
    if isinstance(value, Iterator):
        return f"got a {kind}, which can be read only once"
    return f"got a {kind}{mapping_problem}" if is_mapping(value) else f"got {kind} {quote(value)}"


def is_mapping(value: Any) -> bool:
    """Whether a query's value maps documents to numbers; a pandas column does not, though it has items."""
    return hasattr(value, "items") and not hasattr(value, "tolist")


def sequence(value: Any) -> tuple[Any, ...] | None:
    """A caller's list, tuple, array, column or other sequence as an exact tuple; None if it is something else.

    A list counts as it is at this moment: other threads may change it later.
    """
    if isinstance(value, (list, tuple)):
        return tuple(value)
    for name in ("tolist", "to_pylist", "to_list"):  # of NumPy and pandas, of pyarrow, of polars
        if hasattr(value, name):
            listed = getattr(value, name)()
            return tuple(listed) if isinstance(listed, list) else None
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)) else None


def plain_ranking(query_id: Any, ranked: Sequence[Any], integers: bool) -> list[Any]:
    """A ranking as a list of exact str, or of exact int; or the error that names the rank."""
    first = ranked[0] if len(ranked) else None
    if isinstance(first, (dict, tuple)):  # a hit with its score
        raise TypeError(
            f"run: the ranking of query {quote(query_id)} holds {quote(first)}, expected ids in rank order; with "
            "scores it is {doc_id: score}, as `evaluate` takes it"
        )
    return plain_ids(ranked, integers, lambda rank: f"run: the document id at rank {rank} of query {quote(query_id)}")


def relevant(query_id: Any, value: Any) -> Mapping[Any, Any]:
    """A query's judgments as {doc_id: label}: those of a mapping, or label 1 for each id that is listed.

    Raises
    ------
    TypeError
        It is neither, or an id cannot be a key.
    """
    if is_mapping(value):
        return value
    if isinstance(value, str) or is_integer(value):
        return {value: 1}
    doc_ids = list(value) if isinstance(value, AbstractSet) else sequence(value)
    if doc_ids is None:
        raise TypeError(
            f"qrels: query {quote(query_id)} must map to a dict {{doc_id: label}}, or to a list or set of the relevant "
            f"ids, got {type(value).__name__} {quote(value)}"
        )
    integers = bool(doc_ids) and is_integer(doc_ids[0])
    ids = plain_ids(doc_ids, integers, lambda place: f"qrels: document id {place} of query {quote(query_id)}")
    return dict.fromkeys(sorted(ids) if isinstance(value, AbstractSet) else ids, 1)


def duplicate_error(query_id: Any, doc_id: Any, first: int, later: int, is_run: bool = True) -> DuplicateError:
    """The error about a duplicate document in a list, at these ranks."""
    return DuplicateError(
        f"{'run' if is_run else 'qrels'}: duplicate document {quote(doc_id)} in query {quote(query_id)}, at "
        f"{'ranks' if is_run else 'places'} {first} and {later}; {remedy(is_run)}"
    )
