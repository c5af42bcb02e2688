"""What judges prefer: their judgments of one query as orders of its documents, which need no ids any more.

Data are ``{query_id: {judge: {part: {doc_id: level}}}}``. Within a part, a document with a higher level is preferred to
one with a lower level. A judge with one part orders all of its documents; one with several orders them as far as the
parts, and what follows from them together, go: a over b in one and b over c in another is a over c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.columns._ids import encode
from fastir.errors import quote

Parts = Mapping[Any, Mapping[Any, float]]


class PreferenceOrder(NamedTuple):
    """The preferences of one judge."""

    docs: np.ndarray  # int64, rising: the documents, by their positions among all of the query's
    levels: np.ndarray  # float64; 0 is not relevant
    beats: (
        np.ndarray | None
    )  # bool (n, n): whether the first is preferred to the second; None: where its level is higher


def is_of_parts(data: Any) -> bool:
    """Whether the first judgments of a mapping are those of a judge in parts."""
    for _ in range(3):
        if not hasattr(data, "items"):  # a tensor among the labels has values(), and raises what it likes
            return False
        data = next((value for _, value in data.items()), None)
    return hasattr(data, "items")


def convert_levels(data: Mapping[Any, Any]) -> dict[Any, dict[Any, dict[Any, dict[Any, float]]]]:
    """The data as new dicts with levels that are floats."""
    return {
        query_id: {
            judge: {
                part: {
                    doc_id: read_level(level, query_id, doc_id) for doc_id, level in inner_dict(docs, query_id).items()
                }
                for part, docs in inner_dict(parts, query_id).items()
            }
            for judge, parts in inner_dict(judges, query_id).items()
        }
        for query_id, judges in data.items()
    }


def inner_dict(data: Any, query_id: Any) -> Any:
    if not hasattr(data, "items"):
        raise TypeError(
            f"qrels: query {quote(query_id)} must map to a dict {{judge: {{part: {{doc_id: level}}}}}} as the first "
            f"does, got {type(data).__name__}"
        )
    return data


def read_level(level: Any, query_id: Any, doc_id: Any) -> float:
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
    doc_ids = {doc_id: None for parts in judges.values() for docs in parts.values() for doc_id in docs}
    return sorted(doc_ids, key=lambda doc_id: encode(str(doc_id)))


def judge_orders(query_id: Any, judges: Mapping[Any, Parts]) -> list[PreferenceOrder]:
    """The orders of a query's judges, by the judges' names."""
    places = {doc_id: place for place, doc_id in enumerate(documents(judges))}
    names = sorted(judges, key=lambda judge: encode(str(judge)))
    return [make_order(query_id, judge, judges[judge], places) for judge in names if any(judges[judge].values())]


def make_order(query_id: Any, judge: Any, parts: Parts, places: dict[Any, int]) -> PreferenceOrder:
    where = f"query {quote(query_id)}, judge {quote(judge)}"
    levels: dict[Any, float] = {}
    for docs in parts.values():
        for doc_id, level in docs.items():
            if levels.setdefault(doc_id, level) != level and 0 in (level, levels[doc_id]):
                raise ValueError(f"qrels: {where}: document {quote(doc_id)} has the level 0 and another one")
    doc_ids = sorted(levels, key=lambda doc_id: places[doc_id])
    beats = None
    if len(parts) > 1:
        below = levels_below(parts, {doc_id: place for place, doc_id in enumerate(doc_ids)})
        beats = beaten_matrix(below, len(doc_ids))
        if beats is None:
            a, b = (quote(doc_ids[place]) for place in find_circle(below, len(doc_ids)))
            raise ValueError(f"qrels: {where}: document {a} is preferred to {b}, and that to {a}")
    return PreferenceOrder(
        np.array([places[doc_id] for doc_id in doc_ids]), np.array([levels[doc_id] for doc_id in doc_ids]), beats
    )


def levels_below(parts: Parts, places: dict[Any, int]) -> list[list[int]]:
    """What each document is preferred to, as a graph with as many edges as the parts have documents, about.

    Behind the documents there is a node for each level of each part, from which its documents and the level below are
    reached; a document leads to the level below its own.
    """
    below: list[list[int]] = [[] for _ in places]
    for docs in parts.values():
        levels: dict[float, list[int]] = {}
        for doc_id, level in docs.items():
            levels.setdefault(level, []).append(places[doc_id])
        lower: list[int] = []
        for level in sorted(levels):
            for place in levels[level]:
                below[place] += lower
            below.append(levels[level] + lower)
            lower = [len(below) - 1]
    return below


def reverse_edges(below: list[list[int]]) -> list[list[int]]:
    """The graph with its edges turned round."""
    turned: list[list[int]] = [[] for _ in below]
    for node, others in enumerate(below):
        for other in others:
            turned[other].append(node)
    return turned


def beaten_matrix(below: list[list[int]], n: int) -> np.ndarray | None:
    """Which of n documents is preferred to which, with all that follows; None if one is preferred to itself.

    A set of documents is an integer with a bit for each, so that it takes a step for 64 of them.
    """
    waiting, leads_here = list(map(len, below)), reverse_edges(below)
    ready = [node for node, number in enumerate(waiting) if not number]
    sets = [0] * len(below)
    for node in ready:  # which grows: those whose others are all done
        for other in below[node]:
            sets[node] |= sets[other] | (1 << other if other < n else 0)
        for other in leads_here[node]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    if len(ready) < len(below):
        return None
    size = -(-n // 8)
    rows = np.frombuffer(b"".join(members.to_bytes(size, "little") for members in sets[:n]), np.uint8)
    return np.unpackbits(rows.reshape(n, size), axis=1, count=n, bitorder="little").view(bool)


def find_circle(below: list[list[int]], n: int) -> tuple[int, int]:
    """The first document that is preferred to itself, and the first other one between."""
    first = next(place for place in range(n) if place in reachable_nodes(place, below))
    between = reachable_nodes(first, below) & reachable_nodes(first, reverse_edges(below))
    return first, min(place for place in between if place < n and place != first)


def reachable_nodes(node: int, edges: list[list[int]]) -> set[int]:
    nodes: set[int] = set()
    left = [node]
    while left:
        new = [other for other in edges[left.pop()] if other not in nodes]
        nodes.update(new)
        left += new
    return nodes
