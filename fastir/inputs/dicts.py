"""Dicts of dicts: checked and laid out as columns."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.checks import mapping
from fastir.engine.columns import id_lists
from fastir.engine.columns._dicts import has_plain_keys, plain_judgments
from fastir.engine.columns.ids import is_integer, plain_id
from fastir.engine.columns.rows import LISTED_TWICE
from fastir.errors import quote

LABEL_RANGE = (-(2**31), 2**31 - 1)


def query_dict(data: Any, what: str) -> dict[Any, Any]:
    """The outer mapping as an exact dict with exact keys, all str or all int, or the error that names the key."""
    if type(data) is not dict:
        if not hasattr(data, "items") or not hasattr(data, "keys"):
            raise TypeError(
                f"{what} must be a dict of dicts, a path, a table or a fastir object, "
                f"got {type(data).__name__}; unknown format"
            )
        data = dict(data.items())
    if has_plain_keys(data):
        return data
    integers = is_integer(next(iter(data)))
    return {plain_id(query_id, integers, f"{what}: a query id"): inner for query_id, inner in data.items()}


def compare_id_types(
    run: dict[Any, Any],
    kinds: tuple[Any, ...],
    kinds_of_qrels: tuple[type[Any], type[Any]] | None,
    repairs: dict[Any, Any],
) -> dict[Any, Any]:
    """The counted repairs of a dict run, if its ids have other types than the ids of the qrels.

    Raises TypeError if both sides are Python objects; text from a file equals the integer that it spells.
    """
    if kinds[1] is None:
        return repairs
    if kinds_of_qrels is None:
        if kinds == (str, str):
            return repairs
        return {**repairs, "integer ids read as text": (sum(map(len, run.values())), "the run")}
    what, ids, place = "query", iter(run), 0
    if kinds[0] is kinds_of_qrels[0]:
        what, ids, place = "document", (doc_id for ranking in run.values() for doc_id in ranking), 1
    raise TypeError(
        f"run: {what} ids are {kinds[place].__name__} such as {quote(next(ids))}, but those of the qrels "
        f"are {kinds_of_qrels[place].__name__}; they never match"
    )


def query_weights(weights: Any, query_ids: Iterable[Any]) -> dict[Any, float]:
    """{query_id: weight} with floats, checked; every query must have one."""
    weights = mapping("weights", weights, "map query ids to numbers")
    checked = {}
    for query_id in query_ids:
        try:
            weight = checked[query_id] = float(weights[query_id])
        except KeyError:
            raise ValueError(f"weights: query {quote(query_id)} has no weight") from None
        except (TypeError, ValueError):
            raise TypeError(
                f"weights: the weight must be a number, got {quote(weights[query_id])} (query {query_id})"
            ) from None
        except OverflowError:
            raise OverflowError(f"weights: the weight is too large for a float (query {query_id})") from None
        if not 0.0 <= weight < float("inf"):
            raise ValueError(f"weights: the weight must be 0 or more and finite, got {weight} (query {query_id})")
    return checked


def read_label(label: Any, query_id: str, doc_id: str) -> float:
    """A judged label as an int, or a float if it is real-valued."""
    number: float
    if type(label) is int:
        number = label
    elif isinstance(label, (str, bytes)) or label is None:
        raise TypeError(
            f"qrels: a label must be a number, got {type(label).__name__} {quote(label)} "
            f"(query {query_id}, document {doc_id})"
        )
    else:
        try:
            number = label.__index__()
        except (AttributeError, TypeError):
            try:
                real = float(label)
            except (TypeError, ValueError):
                raise TypeError(
                    f"qrels: a label must be a number, got {type(label).__name__} (query {query_id}, document {doc_id})"
                ) from None
            if real != real or real in (float("inf"), float("-inf")):
                raise ValueError(f"qrels: label {real} is not finite (query {query_id}, document {doc_id})") from None
            number = int(real) if real == int(real) else real
    if not LABEL_RANGE[0] <= number <= LABEL_RANGE[1]:
        raise OverflowError(
            f"qrels: the label is too large; expected a number from -2^31 to 2^31 - 1 "
            f"(query {query_id}, document {doc_id})"
        )
    return number


def flatten_groups(data: Any) -> tuple[list[tuple[Any, ...]] | None, Any]:
    """Qrels with groups as a list of (query_id, group_id) and {part: {doc_id: label}}; else None and the data."""
    first: Any = next(iter(data.values()), None) if hasattr(data, "items") and hasattr(data, "values") else None
    if not hasattr(next(iter(first.values()), None) if id_lists.is_mapping(first) else None, "items"):
        return None, data
    keys: list[tuple[Any, ...]] = []
    parts: dict[str, Any] = {}
    for query_id, groups in query_dict(data, "qrels").items():
        if not hasattr(groups, "items"):
            raise TypeError(
                f"qrels: query {quote(query_id)} must map to a dict {{group_id: {{doc_id: label}}}} as the "
                f"first does, got {type(groups).__name__}"
            )
        for group_id, docs in groups.items() or [("", {})]:
            keys.append((query_id, group_id))
            parts[f"{len(parts)}: query {query_id}, group {group_id}"] = docs
    return keys, parts


EXACT_NUMBER_TYPES = (int, float, bool)
FLOAT_READABLE_TYPES = (str, bytes, bytearray, int, float)  # types that float() reads; it may read subclasses otherwise


def convert_float_labels(data: Any) -> dict[Any, dict[Any, float]] | None:
    """Exact dicts with float labels, from labels that float() takes, such as 0-d tensors; None for any other data."""
    if type(data) is not dict:
        return None
    floats = {}
    for query_id, docs in list(data.items()):
        labels = list(docs.values()) if type(docs) is dict else [""]
        if any(
            issubclass(kind, FLOAT_READABLE_TYPES) and kind not in EXACT_NUMBER_TYPES for kind in set(map(type, labels))
        ):
            return None
        try:
            floats[query_id] = dict(zip(list(docs), map(float, labels), strict=True))
        except Exception:  # the reader of single labels names the document
            return None
    return floats


def repeats_of_lists(data: Any, offsets: np.ndarray) -> dict[str, tuple[int, str]]:
    """The repair of relevant ids that a query's list has twice, where `offsets` count each of them once."""
    count, place = 0, ""
    for (query_id, listed), distinct in zip(data.items(), np.diff(offsets).tolist(), strict=True):
        if id_lists.is_mapping(listed) or isinstance(listed, str) or not hasattr(listed, "__len__"):
            continue
        place = place or (f"query {query_id}" if len(listed) > distinct else "")
        count += len(listed) - distinct
    return {LISTED_TWICE: (count, place)} if count else {}


def judgments(data: Any) -> tuple[Any, ...]:
    """{query_id: {doc_id: label}} as query_ids, offsets (int64), doc_ids and labels (int32, or float64).

    Then the repairs, if there is one.
    """
    plain = plain_judgments(data)
    if plain is None:
        plain = plain_judgments(convert_float_labels(data))
    if plain is not None:
        return plain
    query_ids: list[Any] = []
    offsets: list[int] = [0]
    doc_ids: list[Any] = []
    labels: list[float] = []
    kind: type[Any] = str
    for query_id, judged in query_dict(data, "qrels").items():
        for doc_id, label in id_lists.relevant(query_id, judged).items():
            if type(doc_id) is not kind:
                if not doc_ids and is_integer(doc_id):
                    kind = int
                doc_id = plain_id(doc_id, kind is int, f"qrels: a document id of query {quote(query_id)}")
            doc_ids.append(doc_id)
            labels.append(read_label(label, query_id, doc_id))
        query_ids.append(query_id)
        offsets.append(len(doc_ids))
    whole = all(type(label) is int for label in labels)
    starts = np.array(offsets, np.int64)
    columns = query_ids, starts, doc_ids, np.array(labels, np.int32 if whole else np.float64)
    repairs = repeats_of_lists(data, starts)
    return (*columns, repairs) if repairs else columns
