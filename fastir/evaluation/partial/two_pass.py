"""PartReader: how rows come into the states of parts; its readers of rows in any order, in two passes.

A reader knows the evaluator that ranks. `add` reads rows into a state of all queries; `outcome` returns the ranks of
the judged documents of the merged state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fastir.engine.columns.rows import LIKE_SCORES, occurrences, repeat
from fastir.engine.join._counts import Counts
from fastir.engine.join._two_pass import FirstPass, QueryFinder, SecondPass
from fastir.errors import DuplicateError, quote
from fastir.evaluation.drivers.judged import Ranks
from fastir.evaluation.partial.states import ONCE_HINT, Count, Counted, Repairs, Scored, State
from fastir.inputs import formats, table_files, tables
from fastir.inputs.shapes import PATH, TABLE
from fastir.inputs.table_rows import not_a_number
from fastir.inputs.tables import Batch, Table
from fastir.request.options import TIES, TIES_BY_INPUT

if TYPE_CHECKING:
    from fastir.data.qrels import Qrels
    from fastir.evaluation.drivers.prepared import PreparedQrels

JUDGED_ONLY_NOTE = "only judged documents checked for duplicates"
ORDER_DEPENDENT_RULES = ("first", "last")  # of the duplicates


class Outcome(NamedTuple):
    """The result of all parts."""

    ranks: Ranks
    counts: Counts
    unknown_queries: set[str]
    repairs: Repairs


def count_marked(queries: np.ndarray) -> Count:
    """The Count of the queries that are marked."""
    return int(queries.sum()), int(queries.argmax()) if queries.any() else -1


def make_counts(present: np.ndarray, num_ret: np.ndarray, unjudged: int, **counts: Count) -> Counts:
    """Return the Counts of the known queries; `counts` has the counts of COUNTS_WITH_EXAMPLE."""
    by_name = {f"n_{name}": number for name, (number, _) in counts.items()}
    examples = {f"{name}_example": place for name, (_, place) in counts.items()}
    matched, ranked = int(present.sum()), int(num_ret.sum())
    return Counts(n_matched_queries=matched, n_ranked_docs=ranked, n_unjudged_docs=unjudged, **by_name, **examples)


class PartReader:
    """One strategy of reading parts; made from the evaluator that ranks, and the READ_CODE of what metrics read."""

    evaluator: PreparedQrels
    reads: int
    ties: str
    by_order: bool
    row_numbers: np.ndarray | None = None  # of the rows that are added next, if they are some of a part
    ordered = False  # whether the rows of a query are in the order that rules go by

    state: ClassVar[type[State]]

    def __init__(self, evaluator: PreparedQrels, reads: int) -> None:
        self.evaluator, self.reads = evaluator, reads
        self.ties = TIES[evaluator.settings.ties]
        self.by_order = self.ties in TIES_BY_INPUT

    def add(self, state: State, rows: Any, shape: str) -> None:
        """Read a part of this shape into a state of all queries."""
        raise NotImplementedError

    def outcome(self, state: State) -> Outcome:
        """The result of the state of all parts."""
        raise NotImplementedError

    @contextlib.contextmanager
    def table(self, rows: Any, shape: str) -> Iterator[tuple[Table, Repairs]]:
        """The caller's rows as a table, be it in a file."""
        columns = self.evaluator.columns
        if shape == PATH:
            with table_files.open_table(rows, "run", formats.file_format(rows), columns, None) as opened:
                yield opened
        else:
            table = tables.table(rows, "run", columns)
            table.row_numbers = self.row_numbers
            yield table, {}

    def refuse_order(self, table: Table | None) -> None:
        """Refuse options that go by the order of rows, unless the rows have ranks, or this order."""
        if self.ordered:
            return
        rule = self.evaluator.settings.options.duplicates
        if (self.by_order or rule in ORDER_DEPENDENT_RULES) and not (table is not None and table.ranks):
            name = f"ties={self.ties!r}" if self.by_order else f"duplicates={rule!r}"
            raise ValueError(
                f"{name} depends on the order of rows, which parts do not keep; give a column of ranks instead of "
                "scores (columns={'rank': name}), or rankings as lists"
            )

    def refuse_ties(self, tied: Count) -> None:
        """Refuse ranks that do not settle the order."""
        if self.by_order and not self.ordered and tied[0]:
            raise ValueError(
                f"run: two documents have one rank, and ties={self.ties!r} depends on the order of rows, which parts "
                f"do not keep (query {self.evaluator.judged.query_ids[tied[1]]})"
            )


class TwoPassReader(PartReader):
    """One of two passes over rows in any order, of queries that may be anywhere."""

    def __init__(self, evaluator: PreparedQrels, reads: int) -> None:
        super().__init__(evaluator, reads)
        self.kernels: dict[tuple[bool, bool], Any] = {}  # by the kinds of ids
        self.finders: dict[tuple[bool, bool], QueryFinder] = {}  # the first of each, here or in a reader that shares

    def add(self, state: State, rows: Any, shape: str) -> None:
        if shape != TABLE and not (shape == PATH and formats.file_format(rows) in formats.TABLE_FORMATS):
            raise TypeError(f"two passes take tables of rows, got {type(rows).__name__}; strategy='grouped' takes it")
        with self.table(rows, shape) as (table, repairs):
            if not isinstance(table, Table):
                raise TypeError("two passes take tables of rows, and this has lists of ids; strategy='lists' takes it")
            self.refuse_order(table)
            row = in_qrels = 0
            for batch in table:
                in_qrels += self.take(state, table, batch, row)
                row += len(batch.docs)
            found = {**repairs, **table.repairs(in_qrels)} if in_qrels else dict(repairs)
            found.pop(LIKE_SCORES, None)  # a part can lack rows of its queries, so that their ranks have gaps
            state.repair(found)

    def take(self, state: State, table: Table, batch: Batch, row: int) -> int:
        """Read a batch that begins at row `row`; return how many of its rows have a query of the qrels."""
        raise NotImplementedError

    def kernel(self, kinds: tuple[bool, bool], make: Any, *more: Any) -> Any:
        """Return the kernel for ids of these kinds: whether query ids are integers, and whether document ids are."""
        if kinds not in self.kernels:
            like = self.finders.get(kinds)
            self.kernels[kinds] = made = make(self.evaluator.judged, *kinds, *more, self.evaluator.excluded, like)
            self.finders.setdefault(kinds, made)
        return self.kernels[kinds]

    def share(self, other: TwoPassReader) -> None:
        """Look rows up in the tables of another reader of the same qrels, which then exist once."""
        self.finders = other.finders


class TwoPassFirst(TwoPassReader):
    """Finds the scores of the judged documents."""

    state = Scored

    def take(self, state: State, table: Table, batch: Batch, row: int) -> int:
        arrays, once = state.arrays, self.evaluator.settings.options.duplicates == "once"
        kernel = self.kernel(id_kinds(batch), FirstPass)
        counts = (arrays[name] for name in ("scores", "num_ret", "sums", "again"))
        in_qrels, wrong = kernel.probe(*batch, *counts, once, arrays["left"])
        if wrong >= 0:
            query, doc = batch.queries[wrong], batch.docs[wrong]
            if np.isnan(batch.numbers[wrong]):
                raise not_a_number(table, query, doc, row + wrong)
            file, place = table.row_location(row + wrong)
            raise DuplicateError(
                f"run: duplicate document {quote(doc)} in query {quote(query)}, the second time in row {place}; "
                f"{ONCE_HINT}",
                file,
            )
        state.unknown_queries |= {query.decode("utf-8", "surrogateescape") for query in kernel.unknown_queries()}
        if in_qrels and batch.docs.integers and not self.evaluator.qrels.columns.integers:
            state.repair({"integer ids read as text": (in_qrels, "the run")})
        return in_qrels

    def outcome(self, state: State) -> Outcome:
        raise ValueError("this is the first of two passes; Evaluator.partial(after=this) takes the parts again")


class TwoPassSecond(TwoPassReader):
    """Counts the rows before the judged documents that the first pass found."""

    pass_arguments: tuple[np.ndarray, int, Any, int]

    state = Counted

    def __init__(self, evaluator: PreparedQrels, reads: int, first: State) -> None:
        super().__init__(evaluator, reads)
        settings = evaluator.settings
        self.first = first
        self.pass_arguments = first.arrays["scores"], settings.ties, settings.single, reads

    def take(self, state: State, table: Table, batch: Batch, row: int) -> int:
        arrays = state.arrays
        counts = (arrays[name] for name in ("num_ret", "sums", "before", "alike"))
        self.counter(id_kinds(batch)).count(*batch, *counts)
        return 0

    def counter(self, kinds: tuple[bool, bool]) -> SecondPass:
        """The kernel for ids of these kinds; any number of threads may use it."""
        return self.kernel(kinds, SecondPass, *self.pass_arguments)

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
        sizes, ranks, labels, tied = kernel.find_ranks(state.arrays["before"], state.arrays["alike"])
        self.refuse_ties(count_marked(tied))
        owners = repeat(np.arange(len(num_ret)), first.sizes)[~np.isnan(first.arrays["scores"])]
        n_hits = occurrences(owners, minlength=len(num_ret))
        counts = make_counts(
            first.has_rows(),
            num_ret,
            int((num_ret - n_hits).sum()),
            unjudged_queries=count_marked((num_ret > 0) & (n_hits == 0)),
            tied_queries=count_marked(tied),
            repeated_rows=(int(again.sum()), count_marked(again > 0)[1]),
            excluded_rows=(int(left.sum()), count_marked(left > 0)[1]),
        )
        repairs = {**first.repairs, JUDGED_ONLY_NOTE: (counts.n_ranked_docs, "the run")}
        return Outcome(Ranks(sizes, ranks, labels, num_ret, ~first.has_rows()), counts, first.unknown_queries, repairs)


def id_kinds(batch: Batch) -> tuple[bool, bool]:
    return batch.queries.integers, batch.docs.integers


def empty(qrels: Qrels, kind: type[State]) -> State:
    """The state of all queries, of which nothing is known."""
    query_ids = qrels.columns.judged().query_ids
    return kind.empty(np.arange(len(query_ids)), query_ids, np.diff(qrels.columns.offsets))
