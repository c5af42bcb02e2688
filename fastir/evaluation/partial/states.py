"""States of parts: arrays aligned with the queries of the qrels, or with their judgments, which can be merged.

A part is read into a state of all queries, or of its own ones if it is the first. `compact` keeps only the part's
queries, to move between processes. All are merged alike. Each kind of state is a table of its arrays, and a rule for
two values of them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from fastir._version import __version__
from fastir.engine.columns.rows import occurrences, repeat, stretches
from fastir.errors import DuplicateError, FormatError, quote

Count = tuple[int, int]  # of queries: how many, and the position of the first; -1 if there is none
Repairs = dict[str, tuple[int, str]]
NO_COUNT: Count = (0, -1)
ONCE_HINT = "duplicates='once' would repair it"
# Counts that have an example.
COUNTS_WITH_EXAMPLE = ("unjudged_queries", "tied_queries", "repeated_rows", "excluded_rows", "low_rows")
COUNT_NAMES = (*COUNTS_WITH_EXAMPLE, "unjudged_docs")


class Mergeable:
    """The state of some queries after some parts; `merge` adds the state of other parts."""

    places: np.ndarray  # int64 of shape (n,): the positions of the queries in the qrels, rising
    unknown_queries: set[Any]  # queries of the run that the qrels do not have
    repairs: Repairs
    counts: dict[str, Count]

    def __init__(
        self, places: np.ndarray, unknown_queries: set[Any], repairs: Repairs, counts: dict[str, Count]
    ) -> None:
        self.places, self.unknown_queries, self.repairs, self.counts = places, unknown_queries, repairs, counts

    def merge(self, other: Mergeable) -> None:
        """Add what another state of this kind knows; it does not change."""
        at = np.searchsorted(self.places, other.places)
        if len(at) and (at[-1] == len(self.places) or (self.places[at] != other.places).any()):
            self.enlarge(other)
            at = np.searchsorted(self.places, other.places)
        self.combine(other, at)
        self.unknown_queries |= other.unknown_queries
        self.repair(other.repairs)
        for name in self.counts:
            self.count(name, other.counts[name])

    def enlarge(self, other: Any) -> None:
        """Add the queries of another state, of which nothing is known yet."""
        raise NotImplementedError

    def combine(self, other: Any, at: np.ndarray) -> None:
        """Add another state; its queries are at `at` here."""
        raise NotImplementedError

    def repair(self, repairs: Repairs) -> None:
        """Add repairs; the alphabetically first location stays, so that the order of merges does not matter."""
        for kind, (count, place) in repairs.items():
            before, first = self.repairs.get(kind, (0, place))
            self.repairs[kind] = before + count, min(first, place)

    def count(self, name: str, more: Count) -> None:
        """Add to one of the counts."""
        (before, first), (count, place) = self.counts[name], more
        self.counts[name] = before + count, min(first, place) if min(first, place) >= 0 else max(first, place)


class State(Mergeable):
    """Some queries of the qrels, and what is known of them; `counts` has COUNT_NAMES, and only counts whole queries."""

    places: np.ndarray
    query_ids: list[Any]
    sizes: np.ndarray  # int64 of shape (n,): how many judgments each query has
    arrays: dict[str, np.ndarray]  # those of query_arrays and judgment_arrays
    starts: np.ndarray | None = None  # where the judgments of each query begin, once they are needed

    # {name: (dtype, the value where nothing is known)}; "num_ret" is in all of them.
    kind: ClassVar[str]
    query_arrays: ClassVar[dict[str, tuple[type, int]]]
    judgment_arrays: ClassVar[dict[str, tuple[type, float]]]

    def __init__(
        self,
        places: np.ndarray,
        query_ids: list[Any],
        sizes: np.ndarray,
        arrays: dict[str, np.ndarray],
        unknown_queries: set[str],
        repairs: Repairs,
        counts: dict[str, Count],
    ) -> None:
        super().__init__(places, unknown_queries, repairs, counts)
        self.query_ids, self.sizes, self.arrays = query_ids, sizes, arrays

    @classmethod
    def empty(cls, places: np.ndarray, query_ids: list[Any], sizes: np.ndarray) -> Self:
        """Of queries of which nothing is known."""
        arrays: dict[str, np.ndarray]
        arrays = {name: np.full(len(places), fill, dtype) for name, (dtype, fill) in cls.query_arrays.items()}
        n = int(sizes.sum())
        arrays |= {name: np.full(n, value, dtype) for name, (dtype, value) in cls.judgment_arrays.items()}
        return cls(places, query_ids, sizes, arrays, set(), {}, dict.fromkeys(COUNT_NAMES, NO_COUNT))

    def __reduce__(self) -> tuple[Any, ...]:
        s = self.compact()
        return type(self), (s.places, s.query_ids, s.sizes, s.arrays, s.unknown_queries, s.repairs, s.counts)

    def is_new(self) -> bool:
        """Whether nothing was added to a state of no queries."""
        return not (len(self.places) or self.unknown_queries or self.repairs)

    def has_rows(self) -> np.ndarray:
        """Which queries have rows in the part."""
        return self.arrays["num_ret"] != self.query_arrays["num_ret"][1]

    def compact(self) -> Self:
        """A new state of the queries that the part has."""
        present = self.has_rows()
        judged = repeat(present, self.sizes)
        arrays = {name: self.arrays[name][present] for name in self.query_arrays}
        arrays |= {name: self.arrays[name][judged] for name in self.judgment_arrays}
        query_ids = [query_id for query_id, keep in zip(self.query_ids, present.tolist(), strict=True) if keep]
        return type(self)(
            self.places[present],
            query_ids,
            self.sizes[present],
            arrays,
            set(self.unknown_queries),
            dict(self.repairs),
            dict(self.counts),
        )

    def slots(self, at: np.ndarray) -> np.ndarray:
        """Return the positions of the judgments of the queries at these indices, one after the other."""
        if len(at) == len(self.sizes):  # all, as `at` rises
            return np.arange(int(self.sizes.sum()))
        if self.starts is None:
            self.starts = np.cumsum(self.sizes) - self.sizes
        return stretches(self.starts[at], self.sizes[at])

    def enlarge(self, other: State) -> None:
        """Add the queries of another state, of which nothing is known yet."""
        places = np.union1d(self.places, other.places)
        query_ids = dict(zip(other.places.tolist(), other.query_ids, strict=True))
        query_ids |= dict(zip(self.places.tolist(), self.query_ids, strict=True))
        sizes = np.empty(len(places), np.int64)
        for state in (other, self):
            sizes[np.searchsorted(places, state.places)] = state.sizes
        larger = self.empty(places, [query_ids[place] for place in places.tolist()], sizes)
        at = np.searchsorted(places, self.places)
        for name in self.query_arrays:
            larger.arrays[name][at] = self.arrays[name]
        at = larger.slots(at)
        for name in self.judgment_arrays:
            larger.arrays[name][at] = self.arrays[name]
        self.places, self.query_ids, self.sizes, self.arrays = places, larger.query_ids, sizes, larger.arrays
        self.starts = None


class Ranked(State):
    """Whole queries: the ranks of the judged documents that were retrieved, with their labels, from the first slot on.

    The rankings of queries that are missing from the part have -1 documents.
    """

    kind = "grouped"
    query_arrays: ClassVar[dict[str, tuple[Any, Any]]] = {"num_ret": (np.int64, -1), "hits": (np.int64, 0)}
    judgment_arrays: ClassVar[dict[str, tuple[Any, Any]]] = {"ranks": (np.int64, 0), "labels": (np.int32, 0)}

    @classmethod
    def of_nothing(cls) -> Self:
        """Of no queries; all share the arrays, as nothing is in them."""
        return cls(NONE.places, [], NONE.sizes, dict(NONE.arrays), set(), {}, dict(NONE.counts))

    def combine(self, other: Self, at: np.ndarray) -> None:
        present = other.has_rows()
        twice = np.flatnonzero(present & (self.arrays["num_ret"][at] >= 0))
        if len(twice):
            raise came_back(other.query_ids[twice[0]])
        if both := self.unknown_queries & other.unknown_queries:
            raise came_back(min(both))
        slots = self.slots(at)
        for name in self.query_arrays:
            self.arrays[name][at[present]] = other.arrays[name][present]
        judged = repeat(present, other.sizes)
        for name in self.judgment_arrays:
            self.arrays[name][slots[judged]] = other.arrays[name][judged]


NONE = Ranked.empty(np.empty(0, np.int64), [], np.empty(0, np.int64))


class Scored(State):
    """The first of two passes: the rows of each query, and the score of each judged document in them.

    "again" counts judged documents that were met before, "left" the rows of excluded documents, which no other counts.
    """

    kind = "first pass"
    query_arrays: ClassVar[dict[str, tuple[Any, Any]]] = {
        "num_ret": (np.int64, 0),
        "sums": (np.uint64, 0),
        "again": (np.int64, 0),
        "left": (np.int64, 0),
    }
    judgment_arrays: ClassVar[dict[str, tuple[Any, Any]]] = {"scores": (np.float64, np.nan)}

    def has_rows(self) -> np.ndarray:
        """Which queries have rows in the part, if only of excluded documents."""
        return super().has_rows() | (self.arrays["left"] > 0)

    def combine(self, other: Self, at: np.ndarray) -> None:
        slots = self.slots(at)
        mine, theirs = self.arrays["scores"][slots], other.arrays["scores"]
        twice = ~np.isnan(mine) & ~np.isnan(theirs)
        for name in self.query_arrays:
            self.arrays[name][at] += other.arrays[name]
        if twice.any():
            owners = repeat(np.arange(len(at)), other.sizes)[twice]
            self.arrays["again"][at] += occurrences(owners, minlength=len(at))
        self.arrays["scores"][slots] = np.fmax(mine, theirs)


class Counted(State):
    """The second pass: rows of each query, and the counts of `join._two_pass`."""

    kind = "second pass"
    query_arrays: ClassVar[dict[str, tuple[Any, Any]]] = {"num_ret": (np.int64, 0), "sums": (np.uint64, 0)}
    judgment_arrays: ClassVar[dict[str, tuple[Any, Any]]] = {"before": (np.int64, 0), "alike": (np.int64, 0)}

    def combine(self, other: Self, at: np.ndarray) -> None:
        slots = self.slots(at)
        for name in self.query_arrays:
            self.arrays[name][at] += other.arrays[name]
        for name in self.judgment_arrays:
            self.arrays[name][slots] += other.arrays[name]


KINDS: dict[str, type[State]] = {state.kind: state for state in (Ranked, Scored, Counted)}


def came_back(query_id: Any) -> ValueError:
    return ValueError(
        f"run: query {quote(query_id)} comes in two parts, and strategy='grouped' needs all its rows in one; bring "
        "them together, or take strategy='two-pass' with validate='judged'"
    )


def check_once(state: State, duplicates: str | None) -> None:
    """Refuse duplicate judged documents, unless the options permit them."""
    again = state.arrays.get("again")
    if again is not None and again.any() and duplicates != "once":
        raise DuplicateError(
            f"run: duplicate judged document in query {quote(state.query_ids[int((again > 0).argmax())])}, in "
            f"two parts; {ONCE_HINT}"
        )


def check_version(version: object, what: str) -> None:
    """Refuse what another fastir has made, which may have other bits, or read other rows."""
    if version != __version__:
        raise FormatError(f"{what} fastir {version}, and this is fastir {__version__}; all parts need one version")
