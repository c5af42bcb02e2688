"""What judges prefer: their judgments of one query as orders of its documents, which need no ids any more.

Data are ``{query_id: {judge: {part: {doc_id: level}}}}``. Within a part, a document with a higher level is preferred to
one with a lower level. A judge with one part orders all of its documents; one with several orders them as far as the
parts, and what follows from them together, go: a over b in one and b over c in another is a over c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.columns.ids import encode
from fastir.errors import quote

Parts = Mapping[Any, Mapping[Any, float]]


class Order(NamedTuple):
    """The preferences of one judge.

    Attributes
    ----------
    docs : int64 array of shape (n,)
        The documents, by their positions among all of the query's, rising.
    levels : float64 array of shape (n,)
        0 is not relevant.
    beats : bool array of shape (n, n), or None
        Whether the first is preferred to the second; None: where its level is higher.
    """

    docs: np.ndarray
    levels: np.ndarray
    beats: np.ndarray | None


def is_of_parts(data: Any) -> bool:
    """Whether the first judgments of a mapping are those of a judge in parts."""
    for _ in range(3):
        if not hasattr(data, "values"):
            return False
        data = next(iter(data.values()), None)
    return hasattr(data, "items")


def checked(data: Mapping[Any, Any]) -> dict[Any, dict[Any, dict[Any, dict[Any, float]]]]:
    """The data as new dicts with levels that are floats.

    Raises
    ------
    TypeError, ValueError
        A level is no number, or a query, a judge or a part has no mapping; it is named.
    """
    return {
        query_id: {
            judge: {
                part: {doc_id: level_of(level, query_id, doc_id) for doc_id, level in inner(docs, query_id).items()}
                for part, docs in inner(parts, query_id).items()
            }
            for judge, parts in inner(judges, query_id).items()
        }
        for query_id, judges in data.items()
    }


def inner(data: Any, query_id: Any) -> Any:
    if not hasattr(data, "items"):
        raise TypeError(
            f"qrels: query {quote(query_id)} must map to a dict {{judge: {{part: {{doc_id: level}}}}}} as the first "
            f"does, got {type(data).__name__}"
        )
    return data


def level_of(level: Any, query_id: Any, doc_id: Any) -> float:
    if isinstance(level, (str, bytes)) or not hasattr(level, "__float__"):
        raise TypeError(
            f"qrels: a level must be a number, got {type(level).__name__} {quote(level)} (query {query_id}, "
            f"document {doc_id})"
        )
    number = float(level)
    if number != number:
        raise ValueError(f"qrels: the level is NaN (query {query_id}, document {doc_id})")
    return number


def documents(judges: Mapping[Any, Parts]) -> list[Any]:
    """All documents of a query, by ascending ids: the order in which those that are not retrieved count."""
    found = {doc_id: None for parts in judges.values() for docs in parts.values() for doc_id in docs}
    return sorted(found, key=lambda doc_id: encode(str(doc_id)))


def orders_of(query_id: Any, judges: Mapping[Any, Parts]) -> list[Order]:
    """The orders of a query's judges, by the judges' names.

    Raises
    ------
    ValueError
        A judge prefers each of two documents to the other, or gives a document level 0 and another one.
    """
    places = {doc_id: place for place, doc_id in enumerate(documents(judges))}
    names = sorted(judges, key=lambda judge: encode(str(judge)))
    return [order_of(query_id, judge, judges[judge], places) for judge in names if any(judges[judge].values())]


def order_of(query_id: Any, judge: Any, parts: Parts, places: dict[Any, int]) -> Order:
    where = f"query {quote(query_id)}, judge {quote(judge)}"
    levels: dict[Any, float] = {}
    for docs in parts.values():
        for doc_id, level in docs.items():
            if levels.setdefault(doc_id, level) != level and 0 in (level, levels[doc_id]):
                raise ValueError(f"qrels: {where}: document {quote(doc_id)} has the level 0 and another one")
    own = sorted(levels, key=lambda doc_id: places[doc_id])
    beats = None if len(parts) == 1 else beaten(parts, {doc_id: place for place, doc_id in enumerate(own)})
    if beats is not None and (both := (beats & beats.T) & ~np.eye(len(own), dtype=bool)).any():
        a, b = (quote(own[place]) for place in np.argwhere(both)[0])
        raise ValueError(f"qrels: {where}: document {a} is preferred to {b}, and that to {a}")
    return Order(np.array([places[doc_id] for doc_id in own]), np.array([levels[doc_id] for doc_id in own]), beats)


def beaten(parts: Parts, places: dict[Any, int]) -> np.ndarray:
    """Which document is preferred to which, with all that follows."""
    beats = np.zeros((len(places), len(places)), bool)
    for docs in parts.values():
        rows = np.array([places[doc_id] for doc_id in docs], int)
        levels = np.array(list(docs.values()), float)
        beats[np.ix_(rows, rows)] |= levels[:, None] > levels
    for between in range(len(places)):
        beats |= beats[:, between, None] & beats[between]
    return beats
