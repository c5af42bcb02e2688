"""Evidence of queries: sets of documents that must be complete, or hops, of which each needs one of its documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Any

import numpy as np

from fastir.declared import Record
from fastir.engine.columns.rows import offsets_from_sizes, stretches
from fastir.errors import DuplicateError, quote
from fastir.inputs import dicts
from fastir.inputs.roles import EVIDENCE_KINDS

SETS_TWICE = "sets listed twice"  # a kind of repair
Members = Mapping[Any, Mapping[Any, Mapping[Any, float]]]  # {query_id: {set: {doc_id: label}}}


class Evidence(Record):
    """Which documents are the members of each set; the arrays are int64, and no set is empty."""

    kind: str  # one of EVIDENCE_KINDS
    firsts: np.ndarray  # where the sets of each query begin, among all sets
    offsets: np.ndarray  # where the members of each set begin, among all members
    rows: np.ndarray  # the members, as rows of the qrels

    def nested(self, query_ids: list[Any], ids: Any) -> dict[Any, list[list[Any]]]:
        """The sets of each query as lists of ids."""
        members, bounds, firsts = self.rows.tolist(), self.offsets.tolist(), self.firsts.tolist()
        ids = ids[:]
        sets = [[ids[row] for row in members[first:stop]] for first, stop in pairwise(bounds)]
        return {query: sets[first:stop] for query, first, stop in zip(query_ids, firsts, firsts[1:], strict=False)}

    def only(self, places: list[int], new_rows: np.ndarray) -> Evidence:
        """The sets of the queries at these positions; `new_rows` says what becomes of each row, -1 if it is gone."""
        sets, firsts = pick_lists(self.firsts, np.array(places, np.int64))
        members, offsets = pick_lists(self.offsets, sets)
        return Evidence(self.kind, firsts, offsets, new_rows[self.rows[members]])


def pick_lists(offsets: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The elements of the lists at some positions, and the offsets of these lists."""
    sizes = np.diff(offsets)[places]
    used = sizes > 0
    return stretches(offsets[:-1][places][used], sizes[used]), offsets_from_sizes(sizes)


def listed_members(data: Any, kind: str) -> Members:
    """The caller's ``{query_id: [[doc_id, ...], ...]}``, checked; every member has the label 1."""
    word = EVIDENCE_KINDS[kind]
    members: dict[Any, dict[Any, dict[Any, float]]] = {}
    for query_id, alternatives in dicts.query_dict(data, "qrels").items():
        listed = list(collection(alternatives, f"qrels: query {quote(query_id)} must map to a collection of {kind}"))
        if not listed:
            raise ValueError(f"qrels: query {quote(query_id)} has no {kind}")
        members[query_id] = {}
        for number, docs in enumerate(listed, 1):
            where = f"qrels: query {quote(query_id)}: {word} {number}"
            ids = list(collection(docs, f"{where} must be a collection of document ids"))
            if not ids:
                raise ValueError(f"{where} has no documents")
            of_set = members[query_id][number] = dict.fromkeys(ids, 1)
            if len(of_set) < len(ids):
                twice = next(doc_id for place, doc_id in enumerate(ids) if doc_id in ids[:place])
                raise DuplicateError(f"{where} has document {quote(twice)} twice")
    return members


def collection(given: Any, expected: str) -> Iterable[Any]:
    """What a caller listed, a set in the order of its text."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{expected}, got {type(given).__name__} {quote(given)}")
    return sorted(given, key=str) if isinstance(given, AbstractSet) else given


def keyed_members(keys: list[str], offsets: np.ndarray, ids: Any, labels: np.ndarray) -> Members:
    """The members of sets from the columns of a file, whose queries are pairs of a query and a set."""
    members: dict[Any, dict[Any, dict[Any, float]]] = {}
    numbers = labels.tolist()
    for key, first, stop in zip(keys, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        query_id, name = key.split(" ")
        members.setdefault(query_id, {})[name] = dict(zip(ids[first:stop], numbers[first:stop], strict=True))
    return members


def tabled_members(query_ids: list[Any], by_set: Mapping[Any, tuple[Any, ...]]) -> tuple[Members, dict[Any, Any]]:
    """The members of sets from the columns of each set's rows, in the order of these queries, and the repairs."""
    members: dict[Any, dict[Any, dict[Any, float]]] = {query_id: {} for query_id in query_ids}
    repairs: dict[Any, tuple[int, str]] = {}
    for name, (of_set, offsets, ids, numbers, more) in by_set.items():
        labels, bounds = numbers.tolist(), offsets.tolist()
        for query_id, first, stop in zip(of_set, bounds, bounds[1:], strict=False):
            members[query_id][name] = dict(zip(ids[first:stop], labels[first:stop], strict=True))
        for repair, (count, place) in more.items():
            before, first_place = repairs.get(repair, (0, place))
            repairs[repair] = before + count, first_place
    return members, repairs


def columns_of_members(members: Members, kind: str, repairs: dict[Any, Any] | None = None) -> tuple[Any, ...]:
    """The columns of qrels in which each document has its largest label, with the repairs and the Evidence.

    Documents with a label of 1 or more are members of their sets; the others are judged, and in none. A set that a
    query has twice counts once.
    """
    repairs = dict(repairs or {})
    labels: dict[Any, dict[Any, float]] = {}
    sizes: list[int] = []
    rows: list[int] = []
    n_sets, first = [], 0
    for query_id, sets in members.items():
        judged = labels[query_id] = {}
        places: dict[Any, int] = {}
        n_before = len(sizes)
        seen: set[frozenset[int]] = set()
        for docs in sets.values():
            before = len(rows)
            for doc_id, label in docs.items():
                row = places.setdefault(doc_id, first + len(places))
                judged[doc_id] = max(label, judged.get(doc_id, label))
                if label >= 1:
                    rows.append(row)
            whole = frozenset(rows[before:])
            if kind == "sets" and whole in seen:
                count, place = repairs.get(SETS_TWICE, (0, f"query {query_id}"))
                repairs[SETS_TWICE] = count + 1, place
                del rows[before:]
            elif whole:
                sizes.append(len(rows) - before)
                seen.add(whole)
        n_sets.append(len(sizes) - n_before)
        first += len(places)
    columns = dicts.judgments(labels)[:4]
    evidence = Evidence(kind, offsets_from_sizes(n_sets), offsets_from_sizes(sizes), np.array(rows, np.int64))
    return *columns, repairs, evidence


def damaged(evidence: Evidence, n_queries: int, n_rows: int) -> bool:
    """Whether arrays of a pickle are no Evidence of qrels with so many queries and rows."""
    kind, firsts, offsets, rows = evidence
    arrays = all(type(array) is np.ndarray and array.dtype == np.int64 for array in (firsts, offsets, rows))
    if (
        not arrays
        or kind not in EVIDENCE_KINDS
        or firsts.shape != (n_queries + 1,)
        or offsets.shape != (firsts[-1] + 1,)
    ):
        return True
    starts = firsts[0] == offsets[0] == 0 and (np.diff(firsts) >= 0).all() and (np.diff(offsets) > 0).all()
    return not (starts and rows.shape == (offsets[-1],) and (rows >= 0).all() and (rows < n_rows).all())
