"""PartReader: how rows come into the states of parts; its readers of rows in any order, in two passes.

A reader knows the evaluator that ranks. `add` reads rows into a state of all queries; `outcome` says where the judged
documents of the merged state stand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fastir.errors import DuplicateError, quote
from fastir.inputs import formats, table_files, tables
from fastir.inputs.shapes import PATH, TABLE
from fastir.inputs.table_rows import not_a_number
from fastir.inputs.tables import Batch, Table
from fastir.join._counts import Counts
from fastir.join._two_pass import FirstPass, SecondPass
from fastir.measure._codes import TIE_CODES
from fastir.parts.states import ONCE, Count, Counted, Found, Repairs, State
from fastir.runs.judged import Ranks

if TYPE_CHECKING:
    from fastir.qrels import Qrels
    from fastir.runs.prepared import PreparedQrels

LIKE_JUDGED = "only judged documents checked for duplicates"
BY_ORDER = ("first", "last")  # of the duplicates


class Outcome(NamedTuple):
    """What all parts come to."""

    ranks: Ranks
    tally: Counts
    foreign: set[str]
    repairs: Repairs


def first_of(queries: np.ndarray) -> Count:
    """The Count of the queries that are marked."""
    return int(queries.sum()), int(queries.argmax()) if queries.any() else -1


def counted(known: np.ndarray, num_ret: np.ndarray, unjudged: int, **counts: Count) -> Counts:
    """The Counts of the queries that are known; `counts` are those of EXAMPLES."""
    by_name = {name: number for name, (number, _) in counts.items()}
    examples = {f"{name}_example": place for name, (_, place) in counts.items()}
    return Counts(found=int(known.sum()), ranked=int(num_ret.sum()), unjudged=unjudged, **by_name, **examples)


class PartReader:
    """One strategy of reading parts; made from the evaluator that ranks, and the READ_CODE of what metrics read."""

    ranker: PreparedQrels
    reads: int
    by_order: bool

    state: ClassVar[type[State]]

    def __init__(self, ranker: PreparedQrels, reads: int) -> None:
        self.ranker, self.reads = ranker, reads
        self.by_order = ranker.settings.ties == TIE_CODES["input"]

    def add(self, state: State, rows: Any, shape: str) -> None:
        """Read a part of this shape into a state of all queries."""
        raise NotImplementedError

    def outcome(self, state: State) -> Outcome:
        """What the state of all parts comes to."""
        raise NotImplementedError

    @contextlib.contextmanager
    def table(self, rows: Any, shape: str) -> Iterator[tuple[Table, Repairs]]:
        """The caller's rows as a table, be it in a file."""
        columns = self.ranker.columns
        if shape == PATH:
            with table_files.opened(rows, "run", formats.format_of(rows), columns, None) as opened:
                yield opened
        else:
            yield tables.table(rows, "run", columns), {}

    def refuse_order(self, found: Table | None) -> None:
        """Refuse options that go by the order of rows, unless the rows have ranks."""
        rule = self.ranker.settings.options.duplicates
        if (self.by_order or rule in BY_ORDER) and not (found is not None and found.ranks):
            name = "ties='input'" if self.by_order else f"duplicates={rule!r}"
            raise ValueError(
                f"{name} goes by the order of rows, which parts do not keep; give a column of ranks in place of scores "
                "(columns={'rank': name}), or rankings as lists"
            )

    def refuse_ties(self, tied: Count) -> None:
        """Refuse ranks that do not settle the order."""
        if self.by_order and tied[0]:
            raise ValueError(
                "run: two documents have one rank, and ties='input' goes by the order of rows, which parts do not keep "
                f"(query {self.ranker.judged.query_ids[tied[1]]})"
            )


class TwoPassReader(PartReader):
    """One of two passes over rows in any order, of queries that may be anywhere."""

    def __init__(self, ranker: PreparedQrels, reads: int) -> None:
        super().__init__(ranker, reads)
        self.kernels: dict[tuple[bool, bool], Any] = {}  # by the kinds of ids

    def add(self, state: State, rows: Any, shape: str) -> None:
        if shape != TABLE and not (shape == PATH and formats.format_of(rows) in formats.TABLES):
            raise TypeError(f"two passes take tables of rows, got {type(rows).__name__}; strategy='grouped' takes it")
        with self.table(rows, shape) as (found, repairs):
            self.refuse_order(found)
            row = known = 0
            for batch in found:
                known += self.take(state, found, batch, row)
                row += len(batch.docs)
            state.repair({**repairs, **found.repairs(known)} if known else repairs)

    def take(self, state: State, found: Table, batch: Batch, row: int) -> int:
        """Read a batch, whose first row has this number; how many of its rows have a query of the qrels."""
        raise NotImplementedError

    def kernel(self, kinds: tuple[bool, bool], make: Any, *more: Any) -> Any:
        """The kernel for ids of these kinds, those of queries and those of documents: whether they are integers."""
        if kinds not in self.kernels:
            self.kernels[kinds] = make(self.ranker.judged, *kinds, *more, self.ranker.excluded)
        return self.kernels[kinds]


class TwoPassFirst(TwoPassReader):
    """Finds the scores of the judged documents."""

    state = Found

    def take(self, state: State, found: Table, batch: Batch, row: int) -> int:
        arrays, once = state.arrays, self.ranker.settings.options.duplicates == "once"
        kernel = self.kernel(id_kinds(batch), FirstPass)
        counts = (arrays[name] for name in ("scores", "num_ret", "sums", "again"))
        known, wrong = kernel.probe(*batch, *counts, once, arrays["left"])
        if wrong >= 0:
            query, doc = batch.queries[wrong], batch.docs[wrong]
            if np.isnan(batch.numbers[wrong]):
                raise not_a_number(found, query, doc, row + wrong)
            file, place = found.place_of(row + wrong)
            raise DuplicateError(
                f"run: duplicate document {quote(doc)} in query {quote(query)}, the second time in row {place}; {ONCE}",
                file,
            )
        state.foreign |= {query.decode("utf-8", "surrogateescape") for query in kernel.unknown_queries()}
        if known and batch.docs.integers and not self.ranker.qrels._integers:
            state.repair({"integer ids read as text": (known, "the run")})
        return known

    def outcome(self, state: State) -> Outcome:
        raise ValueError("this is the first of two passes; Evaluator.partial(after=this) takes the parts again")


class TwoPassSecond(TwoPassReader):
    """Counts the rows before the judged documents that the first pass found."""

    of_hits: tuple[np.ndarray, int, Any, int]

    state = Counted

    def __init__(self, ranker: PreparedQrels, reads: int, first: State) -> None:
        super().__init__(ranker, reads)
        settings = ranker.settings
        self.first = first
        self.of_hits = first.arrays["scores"], settings.ties, settings.single, reads

    def take(self, state: State, found: Table, batch: Batch, row: int) -> int:
        arrays = state.arrays
        counts = (arrays[name] for name in ("num_ret", "sums", "before", "alike"))
        self.counter(id_kinds(batch)).count(*batch, *counts)
        return 0

    def counter(self, kinds: tuple[bool, bool]) -> SecondPass:
        """The kernel for ids of these kinds; any number of threads may use it."""
        return self.kernel(kinds, SecondPass, *self.of_hits)

    def outcome(self, state: State) -> Outcome:
        first = self.first
        num_ret, again, left = (first.arrays[name] for name in ("num_ret", "again", "left"))
        seen = state.arrays["num_ret"]
        if (num_ret != seen).any():
            query = int((num_ret != seen).argmax())
            raise ValueError(
                f"run: query {quote(state.query_ids[query])} has {num_ret[query]} rows in the first pass and "
                f"{seen[query]} in the second; both must see the same parts"
            )
        changed = first.arrays["sums"] != state.arrays["sums"]
        if changed.any():
            query_id = state.query_ids[int(changed.argmax())]
            raise ValueError(
                f"run: query {quote(query_id)} has other documents or scores in the second pass than in the first; "
                "both must see the same parts, each of them once, with ids of the same type"
            )
        kernel = next(iter(self.kernels.values()), None) or self.counter((False, False))
        sizes, ranks, labels, tied = kernel.ranked(state.arrays["before"], state.arrays["alike"])
        self.refuse_ties(first_of(tied))
        owners = np.repeat(np.arange(len(num_ret)), first.sizes)[~np.isnan(first.arrays["scores"])]
        found = np.bincount(owners, minlength=len(num_ret))
        tally = counted(
            first.known(),
            num_ret,
            int((num_ret - found).sum()),
            nothing=first_of((num_ret > 0) & (found == 0)),
            tied=first_of(tied),
            repeated=(int(again.sum()), first_of(again > 0)[1]),
            excluded=(int(left.sum()), first_of(left > 0)[1]),
        )
        repairs = {**first.repairs, LIKE_JUDGED: (tally.ranked, "the run")}
        return Outcome(Ranks(sizes, ranks, labels, num_ret, ~first.known()), tally, first.foreign, repairs)


def id_kinds(batch: Batch) -> tuple[bool, bool]:
    return batch.queries.integers, batch.docs.integers


def empty(qrels: Qrels, kind: type[State]) -> State:
    """The state of all queries, of which nothing is known."""
    query_ids = qrels._prepared().query_ids
    return kind.empty(np.arange(len(query_ids)), query_ids, np.diff(qrels._offsets))
