"""Partial: an evaluation in parts, which any engine can carry: states of parts are merged, and give the Results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fastir.checks import one_of
from fastir.columns._ids import of_arena
from fastir.columns.ids import Arena, encode
from fastir.errors import DuplicateError, NoOverlapError, quote
from fastir.evaluation.coverage import MISSING, Coverage
from fastir.evaluation.judging import rankings, single_order
from fastir.evaluation.part_rows import FirstOfTwo, Lists, SecondOfTwo, Way, WholeQueries
from fastir.evaluation.part_states import ONCE, Counted, Found, State
from fastir.inputs.ranking_lists import is_of_lists
from fastir.inputs.shapes import PATH, TABLE, shape_of
from fastir.request.settled import settled
from fastir.run import Run
from fastir.text import counted

if TYPE_CHECKING:
    from fastir.evaluation.evaluator import Evaluator
    from fastir.results.results import Results
    from fastir.run import RunLike

AUTO, GROUPED, TWO_PASS, LISTS = STRATEGIES = ("auto", "grouped", "two-pass", "lists")


class Partial:
    """What some parts of a run come to; made by `Evaluator.partial`.

    A part is any number of rows. Each place that has parts adds them to a Partial of its own; all are merged, in any
    order, into one, whose `result` has the values that `Evaluator.evaluate` gives for all rows together, to the last
    bit.

    Notes
    -----
    Its size is of the order of the judgments of the queries that the parts have; ids of queries that the qrels do not
    have are kept, too. A pickled Partial does not contain its Evaluator: it can be merged, and be the `after` of
    `Evaluator.partial`, but neither `add` nor `result` work. After an error in `add` or `merge` it is of no use. Each
    thread needs its own.

    Examples
    --------
    >>> import fastir
    >>> evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2}, "r": {"c": 1}}, ["mrr", "ndcg@10"])
    >>> total = evaluator.partial()
    >>> total.add([("q", "a", 2.0), ("q", "b", 1.0)])
    >>> other = evaluator.partial()
    >>> other.add([("r", "x", 2.0), ("r", "c", 1.0)])
    >>> total.merge(other)
    >>> total.result()["mrr"], total.result() == evaluator.evaluate({"q": {"a": 2, "b": 1}, "r": {"x": 2, "c": 1}})
    (0.75, True)
    """

    def __init__(self, evaluator: Evaluator, strategy: str = AUTO, after: Partial | None = None) -> None:
        one_of("strategy", strategy, STRATEGIES)
        settings = evaluator.prepared.settings
        self._rules = single_order(evaluator.prepared)
        settled(settings.metrics, settings.options, self._rules)
        self._evaluator: Evaluator | None = evaluator
        self._digest = digest_of(evaluator)
        self._strategy: str | None = None if strategy == AUTO else strategy
        self._state: State | None = None
        self._first: State | None = None
        self._of: str | None = None
        self._way: Way | None = None
        self._failed = False
        if after is not None:
            if strategy not in (AUTO, TWO_PASS):
                raise ValueError(f"after is the first of two passes, which strategy={strategy!r} has not")
            self._begin_second(after)
        elif self._strategy is not None:
            self._begin()

    def __repr__(self) -> str:
        if self._state is None:
            return "<Partial of nothing>"
        n = int(self._state.known().sum())
        return f"<Partial of {counted(n, 'query', 'queries')}: {self._state.kind}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self._digest, self._strategy, self._of, self._state)

    def _begin(self) -> None:
        """Make the way and the empty state of a chosen strategy."""
        evaluator = self._attached()
        ranker, reads = evaluator.prepared.rankers()[0], reads_of(evaluator)
        if self._strategy == TWO_PASS:
            check_two_pass(evaluator)
        ways: dict[str | None, type[Way]] = {GROUPED: WholeQueries, LISTS: Lists, TWO_PASS: FirstOfTwo}
        self._way = ways[self._strategy](ranker, reads)
        self._state = self._empty(self._way.state)

    def _begin_second(self, after: Partial) -> None:
        """The same for the second pass."""
        if not isinstance(after, Partial) or not isinstance(after._state, Found | None):
            raise TypeError("after must be the Partial of a first pass over all parts")
        self._check(after)
        evaluator = self._attached()
        check_two_pass(evaluator)
        self._first = self._empty(Found)
        if after._state is not None:
            self._first.merge(after._state)
        check_once(evaluator, self._first)
        self._strategy, self._of = TWO_PASS, digest(array.tobytes() for array in self._first.arrays.values())
        self._way = SecondOfTwo(evaluator.prepared.rankers()[0], reads_of(evaluator), self._first)
        self._state = self._empty(Counted)

    def _empty(self, kind: type[State]) -> State:
        qrels = self._attached().prepared.qrels
        query_ids, sizes = qrels.prepared().query_ids, np.diff(qrels._offsets)
        return kind.empty(np.arange(len(query_ids)), query_ids, sizes)

    def _attached(self) -> Evaluator:
        if self._evaluator is None:
            raise ValueError(
                "this Partial was pickled or made from Arrow data, and has no Evaluator; merge it into one that "
                "Evaluator.partial made"
            )
        return self._evaluator

    def _check(self, other: Partial) -> None:
        if self._digest != other._digest:
            raise ValueError("these parts were evaluated with other qrels, metrics or options")
        if self._failed or other._failed:
            raise ValueError("a part could not be added to this Partial, so it is of no use")

    def add(self, rows: RunLike) -> None:
        """Add a part.

        Parameters
        ----------
        rows : table, or as for `evaluate`
            Anything that `Run.from_table` takes, such as an Arrow batch, or the path of a CSV, JSONL or Parquet file;
            no rows are no error. For "grouped", what is no table of rows may have any shape that `evaluate` takes. For
            "lists", a table with a query in each row, a list of document ids (columns doc_ids, ranking, retrieved or
            retrieved_ids) and perhaps a list of scores (scores, score or predictions); without scores a list is in rank
            order. The names that the Evaluator was given for columns count here, too.

        Raises
        ------
        DuplicateError
            As by `evaluate`; in two passes only judged documents are looked at.
        ValueError
            A query came in another part before ("grouped", "lists"); or `ties` or `duplicates` go by the order of rows,
            and there is no column of ranks, or two documents have one rank.
        FormatError, TypeError, ValueError, OverflowError, OSError
            As by `evaluate`; a row is named by its place in this part.
        """
        evaluator = self._attached()
        self._check(self)
        self._failed = True
        if self._way is None:
            self._strategy = strategy_for(evaluator, rows)
            self._begin()
        assert self._way is not None and self._state is not None
        self._way.add(self._state, rows)
        self._failed = False

    def merge(self, other: Partial) -> None:
        """Add the parts of another, which does not change.

        Parameters
        ----------
        other : Partial
            Of an Evaluator of the same qrels, metrics and options, and of the same strategy and pass.

        Raises
        ------
        TypeError, ValueError
            It is something else; or a query has parts in both ("grouped", "lists").
        DuplicateError
            A judged document stands in both (the first pass).
        """
        if not isinstance(other, Partial):
            raise TypeError(f"a Partial is merged with another, got {type(other).__name__}")
        self._check(other)
        if other._state is None:
            return
        if self._state is None:
            self._strategy = other._strategy
            if self._evaluator is None:
                self._state, self._of = other._state.packed(), other._of
                return
            self._begin()
        assert self._state is not None
        if self._state.kind != other._state.kind or self._of != other._of:
            mine, theirs = self._state.kind, other._state.kind
            both = f"{mine!r} and {theirs!r}" if mine != theirs else "second passes after different first ones"
            raise ValueError(f"these parts cannot be merged: {both}")
        self._failed = True
        self._state.merge(other._state)
        if self._evaluator is not None:
            check_once(self._evaluator, self._state)
        self._failed = False

    def result(self) -> Results:
        """The Results of all parts.

        Returns
        -------
        Results
            Those of `Evaluator.evaluate` for all rows together. In the report the example of a query that only the run
            has is the first by the alphabet; after two passes its repairs say that duplicates were looked for among
            judged documents only.

        Raises
        ------
        NoOverlapError
            As by `evaluate`: there were no rows, or no query is in both.
        ValueError
            This is the first of two passes, or the second saw other rows than the first.
        TypeError, OverflowError
            As by `evaluate`.

        Warns
        -----
        FastirWarning
            As `evaluate`.

        Notes
        -----
        Undefined cases are those of `evaluate`.
        """
        evaluator = self._attached()
        self._check(self)
        if isinstance(self._state, Found):
            raise ValueError("this is the first of two passes; Evaluator.partial(after=this) takes the parts again")
        if self._state is None or self._way is None:
            raise NoOverlapError("the run is empty: no results, no queries")
        outcome = self._way.outcome(self._state, self._first)
        settings, ranker = evaluator.prepared.settings, self._way.ranker
        status = ranker.status.copy()
        status[outcome.missing] = MISSING
        foreign = sorted(self._state.foreign if self._first is None else self._first.foreign, key=encode)
        n_run = outcome.tally.found + len(foreign)
        coverage = Coverage(ranker, status, outcome.tally, n_run, foreign, outcome.repairs)
        if not coverage.clean:
            coverage.check(settings.queries)
            coverage.warn(settings.queries)
        judged = rankings(ranker, self._rules, *outcome[:5], coverage())
        return judged._results(settings.metrics, settings.options, evaluator._weights, evaluator._provenance)

    def to_arrow(self) -> Any:
        """A pyarrow.Table with a row for each query of the parts; needs pyarrow.

        Raises
        ------
        FastirError
            pyarrow is not installed.
        ValueError
            A part could not be added before.
        """
        from fastir.evaluation.part_tables import to_table

        self._check(self)
        return to_table(self._state, {"digest": self._digest, "strategy": self._strategy, "of": self._of})

    @classmethod
    def from_arrow(cls, table: Any) -> Self:
        """From what `to_arrow` made, or any Arrow data with its rows and metadata; like a pickled one, to be merged.

        Raises
        ------
        FormatError
            It is another table, or one that was changed.
        FastirError
            pyarrow is not installed.
        """
        from fastir.evaluation.part_tables import from_table

        state, fields = from_table(table)
        return restored(fields["digest"], fields["strategy"], fields["of"], state, cls)


def restored(
    digest: str, strategy: str | None, of: str | None, state: State | None, cls: type[Any] = Partial
) -> Any:
    """A Partial without an Evaluator."""
    made = cls.__new__(cls)
    made._evaluator, made._digest, made._strategy, made._of, made._state = None, digest, strategy, of, state
    made._first, made._way, made._failed = None, None, False
    return made


def strategy_for(evaluator: Evaluator, rows: Any) -> str:
    """The strategy for parts like this: "two-pass" only where duplicates are looked for as two passes can."""
    shape = shape_of(rows, Run, evaluator.prepared.columns)
    if shape == TABLE and is_of_lists(rows):
        return LISTS
    return TWO_PASS if evaluator.prepared.settings.options.validate == "judged" and shape in (TABLE, PATH) else GROUPED


def check_two_pass(evaluator: Evaluator) -> None:
    """Refuse options for which a document must be compared with all others of its query."""
    options, advice = evaluator.prepared.settings.options, "strategy='grouped' can, with all rows of a query in one part"
    if options.validate == "full":
        raise ValueError(
            f"two passes cannot look for all duplicates (validate='full'), only for judged ones ('judged'); {advice}"
        )
    if options.duplicates not in (None, "once"):
        raise ValueError(f"two passes cannot remove duplicates (duplicates={options.duplicates!r}); {advice}")
    if evaluator.prepared.parents is not None:
        raise ValueError(f"two passes cannot put the parts of a document together (parents); {advice}")


def check_once(evaluator: Evaluator, state: State) -> None:
    """Refuse judged documents that stand twice, unless the options permit them."""
    again = state.arrays.get("again")
    if again is not None and again.any() and evaluator.prepared.settings.options.duplicates != "once":
        raise DuplicateError(
            f"run: a judged document stands twice for query {quote(state.query_ids[int((again > 0).argmax())])}, in "
            f"two parts; {ONCE}"
        )


def reads_of(evaluator: Evaluator) -> int:
    """The READ_CODE of what all metrics read."""
    return max(ranker.settings.plan.reads for ranker in evaluator.prepared.rankers())


def digest(pieces: Iterable[bytes]) -> str:
    made = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        made.update(len(piece).to_bytes(8, "little") + piece)
    return made.hexdigest()


def digest_of(evaluator: Evaluator) -> str:
    """A digest of the qrels, the metrics and the options; made once for an Evaluator."""
    known = evaluator.__dict__.get("_digest")
    if known is None:
        qrels, settings = evaluator.prepared.qrels, evaluator.prepared.settings
        ids = qrels._ids if isinstance(qrels._ids, Arena) else Arena.of(qrels._ids)
        text, _, lengths = of_arena(ids).copy(0, len(ids))
        names = repr((settings.metrics, settings.options._replace(n_threads=None), list(qrels)))
        arrays = text, lengths, qrels._offsets, qrels._numbers
        known = digest([encode(names), *(array.tobytes() for array in arrays)])
    return evaluator.__dict__.setdefault("_digest", known)
