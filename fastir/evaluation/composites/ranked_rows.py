"""The documents of a Run in rank order, for metrics that read all of them and not the judged ones alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.data.run import Run, as_run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.rows import list_of_each, offsets_from_sizes, repeat, select, stretches
from fastir.engine.rank._numbers import Numbers
from fastir.engine.rank._order import in_rank_order
from fastir.inputs.exclusions import equal_ids
from fastir.request.options import TIES, TIES_BY_INPUT

DEEP = 4  # all rows are put in order for one in so many that is read

if TYPE_CHECKING:
    Known = Callable[[bool], list[dict[Any, Any]]]  # of each query {doc_id: number}, where ids are int or str


def ranked_rows(run: Run, ties: str, single: bool) -> np.ndarray:
    """The rows of each ranking in rank order, one ranking after the other, as int64; with `single` scores are float32.

    `ties` goes by ids or by the order of the input.
    """
    ids, offsets, scores = run.columns.arrays()
    scores = comparable(scores, single)
    rows = np.arange(len(scores))
    if ties in TIES_BY_INPUT:
        return np.lexsort((-rows if ties == "input_reversed" else rows, -scores, list_of_each(offsets)))
    if ties == "trec":
        return in_rank_order(ids_from_arena(ids), offsets, scores)
    rising = in_rank_order(ids_from_arena(ids), offsets, -scores)  # the opposite order of scores and ids
    return rising[repeat(offsets[1:] + offsets[:-1] - 1, np.diff(offsets)) - rows]


class Reading(NamedTuple):
    """How far down the rankings are read: at least to document `least` of a query, at most to document `most`."""

    least: np.ndarray  # int64 of shape (n_queries,)
    most: np.ndarray
    limit: float  # the sum above which a reader stops
    absent: float  # the number of a document that has none; NaN where each must have one
    ties: int  # a code of TIES, of a rule by id or by the order of the input
    single: bool
    duplicates: Any

    def of_first(self, sizes: np.ndarray, queries: Any = slice(None)) -> Numbers:
        """Numbers to be read of some queries with so many documents."""
        return Numbers(self.least[queries], np.minimum(self.most[queries], sizes), self.limit, self.absent)


class ReadNumbers(NamedTuple):
    """The numbers of documents in rank order, query after query, and their sums down to each document."""

    offsets: np.ndarray
    numbers: np.ndarray
    sums: np.ndarray


def read_numbers(
    run: Any,
    places: Mapping[str, int],
    known: Known,
    reading: Reading,
    falls: np.ndarray,
    refuse: Any = None,
) -> ReadNumbers:
    """The numbers of the documents that are read, by queries in the order of `places`; {query id as text: position}.

    `run` is a Run or a dict of dicts; `falls` says of which queries of a dict the scores are known to fall. A document
    without a right number goes to ``refuse(query_id, doc_id)``, which raises; all are right where `absent` is a number.
    """
    n = len(places)
    ties = TIES[reading.ties]
    if not isinstance(run, Run) and (type(run) is not dict or set(map(type, run.values())) - {dict}):
        run = as_run(run, None, reading.duplicates)
    query_ids: dict[int, Any] = {}
    if isinstance(run, Run):
        ids, offsets, scores = run.columns.arrays()
        rows = {places.get(str(query_id), -1): row for row, query_id in enumerate(run.columns.query_ids)}
        rows.pop(-1, None)
        begins, ends = np.zeros(n, np.int64), np.zeros(n, np.int64)
        of_run = np.fromiter(rows.values(), np.int64, len(rows))
        begins[list(rows)], ends[list(rows)] = offsets[of_run], offsets[of_run + 1]
        numbers, docs = reading.of_first(ends - begins), ids_from_arena(ids)
        deep = (reading.least >= np.minimum(reading.most, ends - begins)).all()  # no one stops early: settle all ties
        order = ranked_rows(run, ties, reading.single) if deep and len(scores) <= DEEP * len(numbers.numbers) else None
        scores = comparable(scores, reading.single)
        numbers.read_rows(docs, begins, ends, scores, order, known(docs.integers), reading.ties)
    else:
        rankings: list[Any] = [None] * n
        for query_id, ranking in run.items():
            if (place := places.get(str(query_id), -1)) >= 0:
                rankings[place], query_ids[place] = ranking, query_id
        integers = type(next((doc_id for ranking in rankings for doc_id in ranking or ()), "")) is int
        numbers = reading.of_first(np.fromiter((0 if each is None else len(each) for each in rankings), np.int64, n))
        numbers.read_dicts(rankings, known(integers), falls, integers, reading.single, reading.ties)
    if numbers.wrong is not None:
        refuse(list(places)[numbers.wrong[0]], numbers.wrong[1])
    sizes, starts = numbers.sizes, offsets_from_sizes(np.maximum(numbers.sizes, 0))[:-1]
    found, sums = numbers.arrays()
    left = np.flatnonzero(sizes < 0)
    if not len(left):
        return ReadNumbers(offsets_from_sizes(sizes), found, sums)
    if isinstance(run, Run):
        others = select(run, [rows[place] for place in left.tolist()])
    else:
        others = as_run({query_ids[place]: rankings[place] for place in left.tolist()}, None, reading.duplicates)
    ids, offsets, scores = others.columns.arrays()
    more, docs = reading.of_first(np.diff(offsets), left), ids_from_arena(ids)
    order, by_query = ranked_rows(others, ties, reading.single), known(docs.integers)
    more.read_rows(docs, offsets[:-1], offsets[1:], scores, order, [by_query[place] for place in left.tolist()], 0)
    if more.wrong is not None:
        refuse(others.columns.query_ids[more.wrong[0]], more.wrong[1])
    sizes[left], starts[left] = more.sizes, len(found) + offsets_from_sizes(more.sizes)[:-1]
    kept = stretches(starts, sizes)
    found, sums = (np.append(*both)[kept] for both in zip((found, sums), more.arrays(), strict=True))
    return ReadNumbers(offsets_from_sizes(sizes), found, sums)


def comparable(scores: np.ndarray, single: bool) -> np.ndarray:
    """Scores as float64, as they are compared."""
    return np.ascontiguousarray(scores.astype(np.float32) if single else scores, float)


def keyed(forms: dict[bool, dict[Any, Any]], integers: bool) -> dict[Any, Any]:
    """Numbers by ids that are int, or str; an int equals its decimal text. Made at the first call."""
    if integers not in forms:
        given = forms[not integers]
        forms[integers] = (
            dict(zip(map(str, given), given.values(), strict=True))
            if not integers
            else {form: number for text, number in given.items() for form in equal_ids(text) if type(form) is int}
        )
    return forms[integers]
