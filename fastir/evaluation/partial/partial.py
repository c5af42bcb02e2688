"""Partial: an evaluation in parts, which any engine can carry: states of parts are merged, and give the Results."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastir._version import __version__
from fastir.checks import check_choice
from fastir.data.rankings import add_custom, evaluate_rankings
from fastir.data.run import Run
from fastir.engine.columns._ids import encode, ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.measure._codes import READ_CODES
from fastir.errors import NoOverlapError, UnknownMetricError, quote
from fastir.evaluation.drivers.coverage import MISSING, Coverage
from fastir.evaluation.drivers.judged import rankings, single_evaluator, single_order
from fastir.evaluation.partial.grouped import RankedIds, WholeQueries
from fastir.evaluation.partial.states import Counted, Ranked, Scored, State, check_once, check_version
from fastir.evaluation.partial.two_pass import PartReader, TwoPassFirst, TwoPassReader, TwoPassSecond, empty
from fastir.inputs.exclusions import Exclusion, find_document_map
from fastir.inputs.id_lists import is_of_lists
from fastir.inputs.shapes import PATH, TABLE, input_shape
from fastir.rendering.text import counted
from fastir.request.plan import BY_OPTION, compile_fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy as np

    from fastir.data.results.results import Results
    from fastir.data.run import RunLike
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator
    from fastir.request.custom import CustomColumns
    from fastir.request.plan import Settings
    from fastir.request.provenance import Provenance


AUTO, GROUPED, TWO_PASS, LISTS = STRATEGIES = ("auto", "grouped", "two-pass", "lists")
READERS: dict[str, type[PartReader]] = {GROUPED: WholeQueries, LISTS: RankedIds, TWO_PASS: TwoPassFirst}


class Partial:
    """The state of an evaluation after some parts of a run. Made by `Evaluator.partial`; its constructor is not public.

    A part is any number of rows. Each process adds its parts to its own Partial; then all are merged, in any order,
    into one. Its `result` has the values that `Evaluator.evaluate` gives for all rows together, to the last bit.

    Notes
    -----
    Its size is of the order of the judgments of the queries in its parts; it also keeps the ids of queries without
    judgments. A pickled Partial does not contain its Evaluator: it can be merged, or be the `after` of
    `Evaluator.partial`, but `add` and `result` do not work. Only the version of fastir that pickled it can read it.
    After an error in `add` or `merge` it cannot be used. Each thread needs its own Partial.

    Examples
    --------
    >>> import fastir
    >>> evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2}, "r": {"c": 1}}, ["mrr", "ndcg@10"])
    >>> total = evaluator.partial([("q", "a", 2.0), ("q", "b", 1.0)])
    >>> total.merge(evaluator.partial([("r", "x", 2.0), ("r", "c", 1.0)]))
    >>> total.result()["mrr"], total.result() == evaluator.evaluate({"q": {"a": 2, "b": 1}, "r": {"x": 2, "c": 1}})
    (0.75, True)
    """

    def __init__(
        self,
        prepared: RunEvaluator,
        weights: dict[Any, float] | None,
        provenance: Callable[[], Provenance],
        strategy: str,
        after: Partial | None,
        custom: CustomColumns | None,
        known: PartRules,
    ) -> None:
        check_choice("strategy", strategy, STRATEGIES)
        self._prepared: RunEvaluator | None = prepared
        self._rules, self._reads, self._digest, self._spare = known
        self._weights, self._provenance, self._custom = weights, provenance, custom
        self._first_pass: str | None = None
        self._n_unknown: int | None = None  # queries missing from the qrels, if the state does not have all their ids
        self._failed = False
        self._reader: PartReader | None = None
        self._state: State | None = None
        if after is not None:
            if strategy not in (AUTO, TWO_PASS):
                raise ValueError(f"after is the first of two passes, which strategy={strategy!r} has not")
            self._begin_second(prepared, after)
        elif strategy != AUTO:
            self._begin(prepared, strategy)

    def __repr__(self) -> str:
        if self._state is None:
            return "<Partial of nothing>"
        n = int(self._state.has_rows().sum())
        return f"<Partial of {counted(n, 'query', 'queries')}: {self._state.kind}>"

    def __reduce__(self) -> tuple[Any, ...]:
        self._check(self)
        return load_partial, (__version__, pickle.dumps((self._digest, self._first_pass, self._state)))

    def _begin(self, prepared: RunEvaluator, strategy: str) -> tuple[PartReader, State]:
        """Choose a reader, and make its empty state."""
        if strategy == TWO_PASS:
            check_two_pass(prepared)
        state: State
        self._reader = reader = READERS[strategy](single_evaluator(prepared), self._reads)
        if isinstance(reader, WholeQueries):
            reader.spare = self._spare
            self._state = state = Ranked.of_nothing()
        else:
            self._state = state = empty(prepared.qrels, reader.state)
        return reader, state

    def _begin_second(self, prepared: RunEvaluator, after: Partial) -> None:
        """Make the reader and the empty state of the second pass."""
        if not isinstance(after, Partial) or not isinstance(after._state, Scored | None):
            raise TypeError("after must be the Partial of a first pass over all parts")
        self._check(after)
        check_two_pass(prepared)
        self._n_unknown = after._n_unknown
        first = empty(prepared.qrels, Scored)
        if after._state is not None:
            first.merge(after._state)
        check_once(first, prepared.settings.options.duplicates)
        self._first_pass = digest(array.tobytes() for array in first.arrays.values())
        self._reader = TwoPassSecond(single_evaluator(prepared), self._reads, first)
        self._state = empty(prepared.qrels, Counted)

    def _evaluator(self) -> RunEvaluator:
        if self._prepared is None:
            raise ValueError(
                "this Partial was pickled or made from Arrow data, and has no Evaluator; merge it into one that "
                "Evaluator.partial made"
            )
        return self._prepared

    def _check(self, other: Partial) -> None:
        if self._digest != other._digest:
            raise ValueError("these parts were evaluated with other qrels, metrics or options")
        if self._failed or other._failed:
            raise ValueError("an earlier part could not be added to this Partial, so it cannot be used")

    def add(self, rows: RunLike) -> None:
        """Add a part.

        Parameters
        ----------
        rows : table, or as for `evaluate`
            Anything that `Run.from_table` takes, such as an Arrow batch, or the path of a CSV, JSONL or Parquet file;
            it may have no rows. For "grouped", also any other shape that `evaluate` takes. For "lists", a table with a
            row per query: a list of document ids (column doc_ids, ranking, retrieved or retrieved_ids) and optionally a
            list of scores (scores, score or predictions); without scores a list is in rank order. The column names
            given to the Evaluator hold here, too.

        Raises
        ------
        DuplicateError
            As by `evaluate`; in two passes only judged documents are checked.
        ValueError
            A query was already in an earlier part ("grouped", "lists"). Or `ties` or `duplicates` depend on the order
            of rows, and there is no column of ranks, or two documents have the same rank.
        FormatError, TypeError, ValueError, OverflowError, OSError
            As by `evaluate`; the message names a row by its position in this part.
        """
        add_rows(self, rows)

    def merge(self, other: Partial) -> None:
        """Add the parts of another Partial, which does not change.

        Parameters
        ----------
        other : Partial
            Made by an Evaluator with the same qrels, metrics and options, with the same strategy and pass.

        Raises
        ------
        TypeError, ValueError
            `other` does not fit this one, or a query has parts in both ("grouped", "lists").
        DuplicateError
            A judged document is in both (first pass).
        """
        if not isinstance(other, Partial):
            raise TypeError(f"a Partial can be merged only with a Partial, got {type(other).__name__}")
        self._check(other)
        more, state, prepared = other._state, self._state, self._prepared
        if more is None:
            return
        if state is None and prepared is None:
            self._state, self._first_pass = more.compact(), other._first_pass
            return
        if state is None:
            _, state = self._begin(self._evaluator(), GROUPED if more.kind == Ranked.kind else TWO_PASS)
        if state.kind != more.kind or self._first_pass != other._first_pass:
            both = f"{state.kind!r} and {more.kind!r}"
            both = both if state.kind != more.kind else "second passes after different first ones"
            raise ValueError(f"these parts cannot be merged: {both}")
        self._failed = True
        if prepared is not None and len(state.places) < len(prepared.qrels):  # once, not a little at every merge
            state.enlarge(empty(prepared.qrels, type(state)))
        state.merge(more)
        if prepared is not None:
            check_once(state, prepared.settings.options.duplicates)
        self._failed = False

    def result(self) -> Results:
        """The Results of all parts.

        Returns
        -------
        Results
            As from `Evaluator.evaluate` for all rows together. The report's example of a query that only the run has
            is the first in byte order. After two passes, the repairs say that only judged documents were checked for
            duplicates.

        Raises
        ------
        NoOverlapError
            As by `evaluate`: there are no rows, or no query is in both qrels and run.
        ValueError
            This is the first of two passes. Or the second pass saw other rows than the first: for some query another
            number of rows, other documents or other scores.
        TypeError, OverflowError
            As by `evaluate`.

        Warns
        -----
        FastirWarning
            As `evaluate`.

        Notes
        -----
        For undefined cases see `evaluate`.
        """
        return result_of(self)

    def to_arrow(self) -> Any:
        """Convert to a pyarrow.Table with a row for each query of the parts; needs pyarrow.

        Raises
        ------
        FastirError
            pyarrow is not installed.
        ValueError
            An earlier `add` failed.
        """
        from fastir.evaluation.partial.arrow import to_table

        self._check(self)
        return to_table(self._state, {"digest": self._digest, "first_pass": self._first_pass})

    @staticmethod
    def from_arrow(table: Any) -> Partial:
        """From the output of `to_arrow`, or Arrow data with its rows and metadata; it can be merged like a pickled one.

        Raises
        ------
        FormatError
            The table is not from `to_arrow`, was changed, or is from another version of fastir.
        FastirError
            pyarrow is not installed.
        """
        from fastir.evaluation.partial.arrow import from_table

        state, fields = from_table(table)
        return detached_partial(fields["digest"], fields["first_pass"], state)


def add_rows(partial: Partial, rows: RunLike, row_numbers: np.ndarray | None = None) -> None:
    """Add a part, or its rows with these numbers."""
    prepared = partial._evaluator()
    partial._check(partial)
    partial._failed = True
    shape = input_shape(rows, Run, prepared.columns)
    reader, state = partial._reader, partial._state
    if reader is None or state is None:
        reader, state = partial._begin(prepared, strategy_for(prepared, rows, shape))
    reader.row_numbers = row_numbers
    reader.add(state, rows, shape)
    partial._failed = False


def result_of(partial: Partial, *run: Hashable) -> Results:
    """The Results; a warning begins with the name of the run if it is given."""
    prepared = partial._evaluator()
    partial._check(partial)
    if partial._state is None or partial._reader is None:
        raise NoOverlapError("the run is empty: no results, no queries")
    outcome = partial._reader.outcome(partial._state)
    settings, evaluator = prepared.settings, partial._reader.evaluator
    status = evaluator.status.copy()
    status[outcome.ranks.missing] = MISSING
    unknown_queries = sorted(outcome.unknown_queries, key=encode)
    n_run = outcome.counts.n_matched_queries + (
        len(unknown_queries) if partial._n_unknown is None else partial._n_unknown
    )
    coverage = Coverage(evaluator, status, outcome.counts, n_run, unknown_queries, outcome.repairs)
    if not coverage.is_complete:
        coverage.check(settings.queries)
        coverage.warn(settings.queries, *run)
    judged = rankings(evaluator, partial._rules, outcome.ranks, coverage())
    results = evaluate_rankings(judged, settings.metrics, settings.options, partial._weights, partial._provenance)
    return results if partial._custom is None else add_custom(results, partial._custom, judged)


def share_tables(partial: Partial, other: Partial) -> None:
    """Use the tables of another Partial of the same Evaluator, for another run, by two passes."""
    if isinstance(partial._reader, TwoPassReader) and isinstance(other._reader, TwoPassReader):
        partial._reader.share(other._reader)


def trust_order(partial: Partial) -> None:
    """Take the rows of each query to be in the order that rules go by."""
    if partial._reader is not None:
        partial._reader.ordered = True


def take_unknown(partial: Partial) -> set[str]:
    """Remove the ids of queries without judgments from this Partial and return them; they are counted elsewhere."""
    unknown_queries: set[str] = set()
    if partial._state is not None:
        unknown_queries, partial._state.unknown_queries = partial._state.unknown_queries, set()
    return unknown_queries


def put_unknown(partial: Partial, n: int, first: str) -> None:
    """Set the number of queries without judgments, and the id of one."""
    if partial._state is not None:
        partial._state.unknown_queries = {first}
    partial._n_unknown = n


def load_partial(version: str, fields: bytes) -> Partial:
    """The Partial that was pickled, if this version of fastir has done so."""
    check_version(version, "this Partial was pickled by")
    return detached_partial(*pickle.loads(fields))


def detached_partial(digest: str, first_pass: str | None, state: State | None) -> Partial:
    """A Partial without an Evaluator."""
    partial = Partial.__new__(Partial)
    partial._prepared, partial._digest, partial._first_pass, partial._state = None, digest, first_pass, state
    partial._reader, partial._custom, partial._n_unknown, partial._failed = None, None, None, False
    return partial


PartRules = tuple[dict[str, Any], int, str, list[Any]]  # with what readers of parts leave for the next one


def part_rules(prepared: RunEvaluator, reads_all: bool) -> PartRules:
    """What all parts of an evaluation know: the order of documents, what is read of the judgments, and the digest."""
    settings = prepared.settings
    refuse_weighted(settings)
    rules = single_order(prepared)
    compile_fixed(settings.metrics, settings.options, rules)
    return rules, READ_CODES["pool"] if reads_all else read_code(prepared), evaluation_digest(prepared), []


def refuse_weighted(settings: Settings) -> None:
    """Refuse metrics of weighted, forbidden or costed documents: a Partial would keep ranks of others."""
    for requests, _, kind in settings.parts:
        if kind in BY_OPTION.values():
            raise UnknownMetricError(
                f"metric {quote(requests[0].text)}: parts are not put together for metrics of {kind} documents, "
                "although this Evaluator knows them; evaluate the whole run"
                f"{', or use fastir.spark' * (kind == 'weighted')}"
            )


# ---- what options permit parts, and the digest by which they know each other ---------------------------------------
def strategy_for(prepared: RunEvaluator, rows: Any, shape: str) -> str:
    """The strategy for parts like this: "two-pass" only where duplicates are looked for as two passes can."""
    if shape == TABLE and is_of_lists(rows):
        return LISTS
    return TWO_PASS if prepared.settings.options.validate == "judged" and shape in (TABLE, PATH) else GROUPED


def check_two_pass(prepared: RunEvaluator) -> None:
    """Refuse options for which a document must be compared with all others of its query."""
    options = prepared.settings.options
    advice = "strategy='grouped' can, with all rows of a query in one part"
    if options.validate == "full":
        raise ValueError(
            f"two passes cannot look for all duplicates (validate='full'), only for judged ones ('judged'); {advice}"
        )
    if options.min_score is not None:
        raise ValueError(f"two passes cannot leave rows out (min_score): queries may lose all of theirs; {advice}")
    if options.duplicates not in (None, "once"):
        raise ValueError(f"two passes cannot remove duplicates (duplicates={options.duplicates!r}); {advice}")
    if find_document_map(prepared.parents) is not None:
        raise ValueError(f"two passes cannot put the parts of a document together (parents); {advice}")


def read_code(prepared: RunEvaluator) -> int:
    """The READ_CODE of what all metrics read."""
    return max(evaluator.settings.plan.reads for evaluator in prepared.evaluators())


def digest(pieces: Iterable[bytes]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        hashed.update(len(piece).to_bytes(8, "little") + piece)
    return hashed.hexdigest()


def evaluation_digest(prepared: RunEvaluator) -> str:
    """A digest of the qrels, which keep it, and of the metrics and the options."""
    qrels, settings = prepared.qrels, prepared.settings
    qrels_digest = qrels.__dict__.get("_digest")
    if qrels_digest is None:
        ids, offsets, labels = qrels.columns.arrays()
        ids = ids if isinstance(ids, Arena) else Arena.of(ids)
        text, _, lengths = ids_from_arena(ids).copy(0, len(ids))
        arrays = text, lengths, offsets, labels
        qrels_digest = digest([encode(repr(list(qrels))), *(array.tobytes() for array in arrays)])
        qrels_digest = qrels.__dict__.setdefault("_digest", qrels_digest)
    request_text = qrels_digest + repr((settings.metrics, settings.options._replace(n_threads=None)))
    excluded = prepared.parents.distinguishing_texts() if isinstance(prepared.parents, Exclusion) else ()
    return digest(map(encode, (request_text, *excluded)))
