"""How rows come into the states of a part, in each of the ways, and what all parts together come to.

Each way knows the Prepared that its Evaluator ranks by; `add` reads rows into a state of all queries, `outcome` says
where the judged documents of the merged state stand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fastir.errors import DuplicateError, quote
from fastir.evaluation.coverage import Counts, Coverage
from fastir.evaluation.held_runs import from_run
from fastir.evaluation.judging import Ranks, first_of_each, keeper_of
from fastir.evaluation.measuring import DRIVERS, OneRuleSet
from fastir.evaluation.part_states import (
    EXAMPLES,
    ONCE,
    Count,
    Counted,
    Found,
    Ranked,
    Repairs,
    State,
    came_back,
)
from fastir.evaluation.table_runs import from_rows
from fastir.inputs import formats, ranking_lists, table_files, tables
from fastir.inputs.shapes import PATH, TABLE, shape_of
from fastir.inputs.table_rows import arena_of, grouped, not_a_number, taken
from fastir.inputs.tables import Batch, Table
from fastir.join._two_pass import FirstPass, SecondPass
from fastir.measure._codes import STATUS_CODES, TIE_CODES
from fastir.run import MERGED, Run

if TYPE_CHECKING:
    from fastir.evaluation.prepared import Prepared

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


class Way:
    """One way to take parts of a run; made from the Prepared that ranks, and the READ_CODE of what metrics read."""

    state: ClassVar[type[State]]

    def __init__(self, ranker: Prepared, reads: int) -> None:
        self.ranker, self.reads = ranker, reads
        self.by_order = ranker.settings.ties == TIE_CODES["input"]

    def add(self, state: State, rows: Any) -> None:
        """Read a part into a state of all queries."""
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


class WholeQueries(Way):
    """Rows of whole queries, or rankings as lists: each part is evaluated at once, for its queries."""

    state = Ranked
    lists = False  # whether a table has a ranking in each row
    keeper: tuple[np.ndarray, OneRuleSet] | None = None  # and the ranks that it writes to

    def add(self, state: State, rows: Any) -> None:
        ranks = state.arrays["ranks"]
        if self.keeper is None or self.keeper[0] is not ranks:
            self.keeper = ranks, keeper_of(self.ranker, ranks, state.arrays["labels"], self.reads)
        keeper = self.keeper[1]
        values, status = np.empty(keeper.shape), keeper.status.copy()
        coverage = self.measure(keeper, rows, values, status)
        if coverage is None or coverage.n_run == 0:  # whose status was not filled
            return
        tally = coverage.tally
        at = np.flatnonzero(status != STATUS_CODES["missing"])
        again = at[state.known()[at]]
        if len(again):
            raise came_back(state.query_ids[again[0]])
        foreign = set(map(str, coverage.only_in_run())) if coverage.n_run > tally.found else set()
        if both := foreign & state.foreign:
            raise came_back(min(both))
        state.arrays["found"][at], state.arrays["num_ret"][at] = values[at].T.astype(np.int64)
        state.foreign |= foreign
        repairs = dict(coverage.run_repairs)
        if tally.repeated:  # a Coverage says it of all parts
            repairs.pop("duplicates" if self.ranker.parents is None else MERGED)
        state.repair(repairs)
        for name in EXAMPLES:
            state.count(name, (getattr(tally, name), getattr(tally, f"{name}_example")))
        state.count("unjudged", (coverage.unjudged(), -1))

    def measure(self, keeper: OneRuleSet, rows: Any, values: np.ndarray, status: np.ndarray) -> Coverage | None:
        """The Coverage of a part, whose hits are kept; None if it is an empty table."""
        columns, rule, threads = keeper.columns, keeper.settings.options.duplicates, keeper.settings.n_threads
        if self.lists and shape_of(rows, Run, columns) == TABLE:
            held = Run(*ranking_lists.read(rows, columns, rule))
            return from_run(keeper, held, values, status, threads, None)
        shape = shape_of(rows, Run, columns)
        if shape != TABLE and not (shape == PATH and formats.format_of(rows) in formats.TABLES):
            if shape == PATH:
                self.refuse_order(None)
            return DRIVERS[shape](keeper, rows, values, status, threads, None)
        with self.table(rows, shape) as (found, repairs):
            self.refuse_order(found)
            if keeper.reads_whole:
                batches = list(found)
                if not batches:
                    return None
                held = Run(*grouped(found, rule, by_rank(batches) if rule in BY_ORDER else batches))
                coverage = from_run(keeper, held, values, status, threads, None)
            else:
                coverage = from_rows(keeper, found, values, status, threads)
        self.refuse_ties((coverage.tally.tied, coverage.tally.tied_example))
        coverage.run_repairs = {**repairs, **coverage.run_repairs}
        return coverage

    def outcome(self, state: State) -> Outcome:
        arrays = state.arrays
        kept, missing = first_of_each(state.sizes, arrays["found"]), ~state.known()
        num_ret = np.where(missing, 0, arrays["num_ret"])
        unjudged = state.counts["unjudged"][0]
        tally = counted(~missing, num_ret, unjudged, **{name: state.counts[name] for name in EXAMPLES})
        labels = arrays["labels"][kept]
        ranks = Ranks(arrays["found"], arrays["ranks"][kept], labels, num_ret, missing)
        return Outcome(ranks, tally, state.foreign, state.repairs)


class Lists(WholeQueries):
    lists = True


class Pass(Way):
    """One of two passes over rows in any order, of queries that may be anywhere."""

    def __init__(self, ranker: Prepared, reads: int) -> None:
        super().__init__(ranker, reads)
        self.kernels: dict[tuple[bool, bool], Any] = {}  # by the kinds of ids

    def add(self, state: State, rows: Any) -> None:
        shape = shape_of(rows, Run, self.ranker.columns)
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

    def kernel(self, batch: Batch, make: Any, *more: Any) -> Any:
        """The kernel for ids of these kinds."""
        kinds = batch.queries.integers, batch.docs.integers
        if kinds not in self.kernels:
            self.kernels[kinds] = make(self.ranker.judged, *kinds, *more)
        return self.kernels[kinds]


class FirstOfTwo(Pass):
    """Finds the scores of the judged documents."""

    state = Found

    def take(self, state: State, found: Table, batch: Batch, row: int) -> int:
        arrays, once = state.arrays, self.ranker.settings.options.duplicates == "once"
        kernel = self.kernel(batch, FirstPass)
        known, wrong = kernel.look(*batch, arrays["scores"], arrays["num_ret"], arrays["again"], once)
        if wrong >= 0:
            query, doc = batch.queries[wrong], batch.docs[wrong]
            if np.isnan(batch.numbers[wrong]):
                raise not_a_number(found, query, doc, row + wrong)
            raise DuplicateError(
                f"run: document {quote(doc)} stands twice for query {quote(query)}, the second time in row "
                f"{row + wrong}; {ONCE}"
            )
        state.foreign |= {query.decode("utf-8", "surrogateescape") for query in kernel.foreign()}
        if known and batch.docs.integers and not self.ranker.qrels.integers:
            state.repair({"integer ids read as text": (known, "the run")})
        return known

    def outcome(self, state: State) -> Outcome:
        raise ValueError("this is the first of two passes; Evaluator.partial(after=this) takes the parts again")


class SecondOfTwo(Pass):
    """Counts the rows before the judged documents that the first pass found."""

    state = Counted

    def __init__(self, ranker: Prepared, reads: int, first: State) -> None:
        super().__init__(ranker, reads)
        settings = ranker.settings
        self.first = first
        self.of_hits = first.arrays["scores"], settings.ties, settings.single, reads

    def take(self, state: State, found: Table, batch: Batch, row: int) -> int:
        arrays = state.arrays
        self.kernel(batch, SecondPass, *self.of_hits).count(
            *batch, arrays["num_ret"], arrays["before"], arrays["alike"]
        )
        return 0

    def outcome(self, state: State) -> Outcome:
        first = self.first
        num_ret, seen, again = first.arrays["num_ret"], state.arrays["num_ret"], first.arrays["again"]
        if (num_ret != seen).any():
            query = int((num_ret != seen).argmax())
            raise ValueError(
                f"run: query {quote(state.query_ids[query])} has {num_ret[query]} rows in the first pass and "
                f"{seen[query]} in the second; both must see the same parts"
            )
        kernel = next(iter(self.kernels.values()), None) or SecondPass(self.ranker.judged, False, False, *self.of_hits)
        sizes, ranks, labels, tied = kernel.ranked(state.arrays["before"], state.arrays["alike"])
        self.refuse_ties(first_of(tied))
        owners = np.repeat(np.arange(len(num_ret)), first.sizes)[~np.isnan(first.arrays["scores"])]
        found = np.bincount(owners, minlength=len(num_ret))
        tally = counted(
            num_ret > 0,
            num_ret,
            int((num_ret - found).sum()),
            nothing=first_of((num_ret > 0) & (found == 0)),
            tied=first_of(tied),
            repeated=(int(again.sum()), first_of(again > 0)[1]),
        )
        repairs = {**first.repairs, LIKE_JUDGED: (tally.ranked, "the run")}
        return Outcome(Ranks(sizes, ranks, labels, num_ret, num_ret == 0), tally, first.foreign, repairs)


def by_rank(batches: list[Batch]) -> list[Batch]:
    """The rows in the order of their ranks, as one batch."""
    numbers = np.concatenate([batch.numbers for batch in batches])
    order = np.argsort(-numbers, kind="stable")
    ids = ([getattr(batch, name) for batch in batches] for name in ("queries", "docs"))
    queries, docs = (taken(arena_of(column), order) for column in ids)
    return [Batch(queries, docs, numbers[order])]
