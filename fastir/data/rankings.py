"""JudgedRankings: the join of qrels and a run, before any metric: for every query the ranks of the judged documents.

All metrics of a run follow from it, at any cutoff and relevance level, without the documents' ids: a CSR matrix with a
row per query, a column per rank and the labels as values. It is small (a number or two for each retrieved judged
document), can be saved, published and put together query by query. The last section computes their values.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, SupportsFloat, SupportsIndex, TypeVar

import numpy as np

from fastir.checks import check_choice, positive_integer
from fastir.data.results.micro import without_counts
from fastir.data.results.report import Report, add_reports
from fastir.data.results.results import Results, best_of, remake, set_best
from fastir.engine.columns.rows import EXCLUDED, list_of_each, offsets_from_sizes
from fastir.engine.measure import NUM_Q
from fastir.engine.measure._codes import STATUS_CODES
from fastir.engine.measure._grades import coded, count_fractions
from fastir.engine.rank._judged_ranks import JudgedRanks
from fastir.engine.threads import run
from fastir.errors import FastirError, NoOverlapError, quote
from fastir.inputs import dicts
from fastir.inputs.label_arrays import COLUMNS, check_arrays, check_queries
from fastir.rendering.text import counted, refuse_inputs
from fastir.request.custom import custom_columns
from fastir.request.names import refuse_mapping
from fastir.request.options import DUPLICATES, SCORE_DTYPES, TIES, check_options, query_rule
from fastir.request.plan import ORDER_RULES, compile_fixed, refuse_exclusion, refuse_small
from fastir.request.provenance import paths_of_inputs

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from fastir.data.results.by_run import ResultsByConvention
    from fastir.data.results.results import Results
    from fastir.request.conventions import Convention
    from fastir.request.custom import CustomColumns
    from fastir.request.keywords import ConventionName, MetricOptions, ValueOptions
    from fastir.request.options import Duplicates, Options, Queries, Ties
    from fastir.request.plan import Settings
    from fastir.request.provenance import Provenance

MAX_MATRIX_RANKS = 1 << 24  # of a matrix of labels
FIELD_NAMES = (*COLUMNS, *ORDER_RULES, "query_ids", "report")


class JudgedRankings:
    """The judged documents of a run's rankings, by rank, and all judgments of each query, without document ids.

    Made by `judged_rankings`, `Evaluator.judged_rankings`, `from_arrays`, `concatenate` and `load`. Immutable; can be
    pickled; two are equal if all their attributes are. len() counts queries. The arrays are read-only, and reading them
    makes no copy.

    Attributes
    ----------
    query_ids : list of str or of int
        The queries, in the order of the qrels.
    offsets : int64 array of shape (n_queries + 1,)
        Query i has the entries from ``offsets[i]`` to ``offsets[i + 1]`` of `ranks` and `labels`.
    ranks : int64 array of shape (n_found,)
        The ranks of the retrieved judged documents, from 1 up, increasing within a query.
    labels : int32 array of shape (n_found,), float64 with real-valued labels
        Their labels; any negative label (in the pool but not judged) is -1.
    num_ret : int64 array of shape (n_queries,)
        The number of documents in each ranking.
    ideal_offsets : int64 array of shape (n_queries + 1,)
        As `offsets`, for `ideal_labels`.
    ideal_labels : int32 or float64 array of shape (n_judgments,)
        All labels of each query in the qrels, the largest first.
    missing : bool array of shape (n_queries,)
        Whether the query is missing from the run: its ranking is then empty.
    ties : str or None
        The rule that orders documents with equal scores; None: unknown.
    score_dtype : {"float64", "float32"} or None
        The precision in which scores were compared; None: unknown.
    duplicates : str or None
        How duplicate documents were repaired; None: duplicates were errors.
    report : Report
        The report of the run, as in `Results`; without counts if made from arrays.
    provenance : Provenance or None
        What was judged, and how: convention, options and files, as in `Results`, without metrics; None: unknown.
        Equality ignores it.
    """

    __slots__ = (*FIELD_NAMES, "_make", "_provenance")

    query_ids: list[Any]
    offsets: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    num_ret: np.ndarray
    ideal_offsets: np.ndarray
    ideal_labels: np.ndarray
    missing: np.ndarray
    ties: Ties | None
    score_dtype: str | None
    duplicates: Duplicates | None
    report: Report
    _provenance: Provenance | Callable[[], Provenance] | None
    # absent but where the attributes are made when one is first read; None once they are
    _make: Callable[[], JudgedRankings] | None

    @classmethod
    def from_arrays(
        cls,
        query_ids: Sequence[str] | Sequence[int],
        offsets: ArrayLike,
        ranks: ArrayLike,
        labels: ArrayLike,
        num_ret: ArrayLike,
        ideal_offsets: ArrayLike,
        ideal_labels: ArrayLike,
        *,
        missing: ArrayLike | None = None,
        ties: Ties | None = None,
        score_dtype: str | None = None,
        duplicates: Duplicates | None = None,
        report: Report | None = None,
        provenance: Provenance | None = None,
    ) -> Self:
        """From arrays as described under Attributes, of any integer dtype; they are copied.

        Raises
        ------
        TypeError, ValueError, OverflowError
            An array has the wrong dtype or shape; ranks do not increase, or lie outside of the ranking; ideal labels
            increase; a query is a duplicate; or the labels of retrieved documents are not among all labels. The message
            names the query.
        """
        arrays = {
            "offsets": offsets,
            "ranks": ranks,
            "labels": labels,
            "num_ret": num_ret,
            "ideal_offsets": ideal_offsets,
            "ideal_labels": ideal_labels,
            "missing": np.zeros(len(query_ids), bool) if missing is None else missing,
        }
        check_choice("ties", ties, (None, *TIES))
        check_choice("score_dtype", score_dtype, SCORE_DTYPES)
        check_choice("duplicates", duplicates, DUPLICATES)
        ids = list(query_ids)
        valid = check_arrays(ids, arrays)
        n, place = count_fractions(valid["ideal_labels"], valid["ideal_offsets"])
        counted_here = Report(in_both=len(ids), fractions=n, fractions_example=str(ids[place]) if n else None)
        return make_rankings(cls, ids, valid, ties, score_dtype, duplicates, report or counted_here, provenance)

    def __getattr__(self, name: str) -> Any:
        """Make the attributes on their first use; threads that make them at the same time get equal ones."""
        if name not in FIELD_NAMES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        make = self._make
        if make is None:  # another thread has made them since
            return object.__getattribute__(self, name)
        made = make()
        for each in FIELD_NAMES:
            setattr(self, each, getattr(made, each))
        self._make = None  # and what it holds
        return getattr(made, name)

    @property
    def provenance(self) -> Provenance | None:
        provenance = self._provenance
        if callable(provenance):
            provenance = self._provenance = provenance()
        return provenance

    def __len__(self) -> int:
        return len(self.query_ids)

    def __repr__(self) -> str:
        size, n_ranked, n_judged = counted(len(self), "query", "queries"), len(self.ranks), len(self.ideal_labels)
        order = "" if self.ties is None else f"; ties={self.ties}"
        return f"<JudgedRankings of {size}: {n_ranked} of {n_judged} judgments ranked{order}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JudgedRankings):
            return NotImplemented
        fields = ("query_ids", *ORDER_RULES, "report")
        return all(getattr(self, name) == getattr(other, name) for name in fields) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in COLUMNS
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        rules = (getattr(self, name) for name in ORDER_RULES)
        fields = self.query_ids, ranking_arrays(self), *rules, self.report, self.provenance
        return make_rankings, (JudgedRankings, *fields)

    # ---- metrics -------------------------------------------------------------------------------------------------
    def evaluate(
        self,
        metrics: str | Iterable[str],
        *,
        rel_level: SupportsIndex | SupportsFloat = 1,
        queries: Queries | None = None,
        ties: Ties | None = None,
        judged_only: bool = False,
        max_depth: SupportsIndex | None = None,
        n_threads: SupportsIndex | None = None,
        weights: Mapping[Any, float] | None = None,
        convention: ConventionName | str | Convention = "fastir",
        **choices: Unpack[MetricOptions],
    ) -> Results:
        """Evaluate. The values equal those of `fastir.evaluate` for the same qrels, run and options, to the last bit.

        Parameters
        ----------
        metrics, rel_level, queries, judged_only, max_depth, n_threads, weights, convention, **choices
            As in `fastir.evaluate`.
        ties : str or None
            None, or the rule by which these rankings are ordered.

        Returns
        -------
        Results
            With the report of these rankings.

        Raises
        ------
        ValueError
            `ties` or the convention needs another order of documents than these rankings have.
        NoOverlapError
            With ``queries="strict"``, a query is in only one of qrels and run.
        UnknownMetricError
            As by `fastir.evaluate`; or a metric needs document ids.
        TypeError, ValueError, OverflowError
            As by `fastir.evaluate`, for options and labels.

        Notes
        -----
        Undefined cases are those of `fastir.evaluate`.

        Examples
        --------
        >>> import fastir
        >>> judged = fastir.judged_rankings({"q": {"a": 2, "b": 1}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}})
        >>> judged.ranks, judged.labels
        (array([2, 3]), array([1, 2], dtype=int32))
        >>> judged.evaluate(["mrr", "num_rel_ret"])["mrr"]
        0.5
        """
        check_choice("ties", ties, (None, *TIES))
        rule, query_ids = query_rule(queries)
        options = check_options(
            rel_level=rel_level,
            queries=rule,
            ties=ties,
            judged_only=judged_only,
            max_depth=max_depth,
            n_threads=n_threads,
            convention=convention,
            choices=choices,
        )
        chosen = self.query_ids if query_ids is None else query_ids
        weights = None if weights is None else dicts.query_weights(weights, chosen)
        listed, custom = custom_columns(metrics, NUM_Q)
        results = evaluate_rankings(self, listed, options, weights, None, query_ids)
        return results if custom is None else add_custom(results, custom, self)

    def by_convention(
        self,
        metrics: str | Iterable[str],
        conventions: Iterable[ConventionName | str | Convention] | None = None,
        **options: Unpack[ValueOptions],
    ) -> ResultsByConvention:
        """Evaluate each metric under each convention that orders documents as these rankings do.

        Parameters
        ----------
        metrics : as for `evaluate`
            Each convention reads the names as its tool does.
        conventions : iterable of str or Convention, or None
            None: all of `fastir.conventions.CONVENTIONS`.
        **options
            Options of `evaluate`, without `convention`; they hold for all conventions.

        Returns
        -------
        ResultsByConvention
            {convention: Results}. Its `refused` says why the other conventions need the run: their order of equal
            scores, precision of scores, duplicates or excluded documents differ.

        Raises
        ------
        UnknownMetricError, TypeError, ValueError
            As by `evaluate`, if no convention has a value; or a convention does not exist.

        Notes
        -----
        Undefined cases are those of `fastir.evaluate`.

        Examples
        --------
        >>> import fastir
        >>> judged = fastir.judged_rankings({"q": {"a": 2, "b": 1}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}})
        >>> judged.by_convention("ndcg@10", ["trec_eval-10", "gdeval", "ranx"])
        convention    ndcg@10
        trec_eval-10   0.6199
        gdeval         0.5869
        <BLANKLINE>
        ranx: ties='input', but these rankings were judged with ties='trec'; judge the run again
        """
        from fastir.data.results.by_run import ResultsByConvention
        from fastir.request.conventions import CONVENTIONS, check_convention

        refuse_mapping(metrics)
        listed = [metrics] if isinstance(metrics, str) else list(metrics)
        names = [check_convention(each) for each in (CONVENTIONS if conventions is None else conventions)]
        chosen = [CONVENTIONS[each] if isinstance(each, str) else each for each in names]
        keywords: dict[str, Any] = dict(options)
        found: dict[str, Results] = {}
        refused: dict[str, dict[str, str]] = {}
        first: Exception | None = None
        for convention in chosen:
            name = str(convention)
            following = []
            for metric in listed:
                try:
                    self.evaluate(metric, convention=convention, **keywords)
                    following.append(metric)
                except (ValueError, FastirError) as error:
                    first = first or error
                    refused.setdefault(name, {})[metric] = str(error)
            if following:
                found[name] = self.evaluate(following, convention=convention, **keywords)
        if first is not None and not found:
            raise first
        return ResultsByConvention(found, refused)

    def _query(self, row: int) -> JudgedRankings:
        """The ranking of one query alone."""
        here = slice(self.offsets[row], self.offsets[row + 1])
        ideal = slice(self.ideal_offsets[row], self.ideal_offsets[row + 1])
        arrays = {
            "offsets": np.array([0, here.stop - here.start], np.int64),
            "ranks": self.ranks[here].copy(),
            "labels": self.labels[here].copy(),
            "num_ret": self.num_ret[row : row + 1].copy(),
            "ideal_offsets": np.array([0, ideal.stop - ideal.start], np.int64),
            "ideal_labels": self.ideal_labels[ideal].copy(),
            "missing": self.missing[row : row + 1].copy(),
        }
        rules = {name: getattr(self, name) for name in ORDER_RULES}
        return make_rankings(JudgedRankings, [self.query_ids[row]], arrays, report=Report(in_both=1), **rules)

    # ---- labels by rank ------------------------------------------------------------------------------------------
    def to_labels(self, k: SupportsIndex) -> tuple[np.ndarray, np.ndarray]:
        """The labels at the first ranks, as matrices.

        Parameters
        ----------
        k : int
            The number of ranks, from 1 up.

        Returns
        -------
        labels : int32 or float64 array of shape (n_queries, k)
            Column j has the label of the document at rank j + 1; 0 where `judged` is False.
        judged : bool array of shape (n_queries, k)
            Whether that document is in the qrels; also False beyond the end of a ranking.

        Raises
        ------
        TypeError, ValueError
            k is not an integer from 1 up.

        Examples
        --------
        >>> import fastir
        >>> judged = fastir.judged_rankings({"q": {"a": 2, "b": 1}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}})
        >>> judged.to_labels(2)
        (array([[0, 1]], dtype=int32), array([[False,  True]]))
        """
        depth = positive_integer("k", "the number of ranks", k, MAX_MATRIX_RANKS)
        labels, judged = np.zeros((len(self), depth), self.labels.dtype), np.zeros((len(self), depth), bool)
        rows = list_of_each(self.offsets)
        near = self.ranks <= depth
        places = rows[near], self.ranks[near] - 1
        labels[places], judged[places] = self.labels[near], True
        return labels, judged

    # ---- several, and files --------------------------------------------------------------------------------------
    @classmethod
    def concatenate(cls, parts: Iterable[JudgedRankings]) -> JudgedRankings:
        """Join judged rankings of different queries, in the order given.

        The counts of their reports are added up; the provenance is kept if all have the same.

        Raises
        ------
        ValueError
            None are given, a query is in two of them, or they were judged by different rules.
        TypeError
            One of them is not a JudgedRankings.
        """
        listed = list(parts)
        if not listed:
            raise ValueError("parts: there are no judged rankings")
        for part in listed:
            if not isinstance(part, JudgedRankings):
                raise TypeError(f"parts: expected JudgedRankings, got {type(part).__name__}")
            for name in ORDER_RULES:
                if getattr(part, name) != getattr(listed[0], name):
                    raise ValueError(
                        f"parts: {name}={getattr(listed[0], name)!r} and {name}={getattr(part, name)!r}; they must be "
                        "judged by the same rules"
                    )
        ids = [query_id for part in listed for query_id in part.query_ids]
        arrays = {name: np.concatenate([getattr(part, name) for part in listed]) for name in COLUMNS}
        for name in ("offsets", "ideal_offsets"):
            sizes = np.concatenate([np.diff(getattr(part, name)) for part in listed])
            arrays[name] = offsets_from_sizes(sizes)
        check_queries(ids)
        rules = {name: getattr(listed[0], name) for name in ORDER_RULES}
        report = add_reports([part.report for part in listed], [int(part.num_ret.sum()) for part in listed])
        provenance = listed[0].provenance
        if any(part.provenance != provenance for part in listed):
            provenance = None
        return make_rankings(cls, ids, arrays, report=report, provenance=provenance, **rules)

    def save(self, path: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write a file (atomically); `load` reads it back as an equal object.

        Parameters
        ----------
        path : str, path or binary file
            ``.npz`` needs only NumPy. ``.parquet`` needs pyarrow and has a row per query with lists of ranks and
            labels; its metadata hold the rest. Both are compressed. A file open for writing, such as a member of a zip
            archive, gets the bytes of an ``.npz``.

        Raises
        ------
        ValueError
            The path has another suffix, or names a file that was judged; or a query id is not UTF-8, which Parquet
            cannot hold.
        FastirError
            pyarrow is not installed.
        OSError
            The file cannot be written; its old content stays.
        """
        from fastir.data.results.saved_rankings import write_rankings

        refuse_inputs(path, paths_of_inputs(self.provenance))
        head = {name: getattr(self, name) for name in (*ORDER_RULES, "report", "provenance")}
        write_rankings(path, self.query_ids, ranking_arrays(self), head)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | IO[bytes]) -> Self:
        """Read what `save` wrote, from a path or from an open binary file.

        Raises
        ------
        FormatError
            The file was not written by `save`, or was truncated or changed: offsets, order, ranges and a checksum are
            checked.
        FastirError
            pyarrow is not installed.
        OSError
            The file cannot be read.
        """
        from fastir.data.results.saved_rankings import read_rankings

        return read_rankings(path, cls.from_arrays, ranking_arrays)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table that `save` writes as Parquet, for Arrow libraries; needs pyarrow."""
        from fastir.data.results.saved_rankings import arrow_table

        table = arrow_table(self.query_ids, ranking_arrays(self))
        return table.__arrow_c_stream__(requested_schema)


AnyRankings = TypeVar("AnyRankings", bound=JudgedRankings)


def make_rankings(
    kind: type[AnyRankings],
    query_ids: list[Any],
    arrays: dict[str, np.ndarray],
    ties: Ties | None,
    score_dtype: str | None,
    duplicates: Duplicates | None,
    report: Report,
    provenance: Provenance | Callable[[], Provenance] | None = None,
) -> AnyRankings:
    """JudgedRankings of arrays that are known to be right."""
    rankings = kind.__new__(kind)
    for name, array in arrays.items():
        array.flags.writeable = False
        setattr(rankings, name, array)
    rankings.query_ids, rankings.report = query_ids, report
    rankings.ties, rankings.score_dtype, rankings.duplicates = ties, score_dtype, duplicates
    return set_provenance(rankings, provenance)


def defer_rankings(make: Callable[[], JudgedRankings]) -> JudgedRankings:
    """What `make` returns, which is called when an attribute is first read."""
    rankings = JudgedRankings.__new__(JudgedRankings)
    rankings._make = make
    return set_provenance(rankings, None)


def set_provenance(rankings: AnyRankings, provenance: Provenance | Callable[[], Provenance] | None) -> AnyRankings:
    """Say where new judged rankings come from; they are returned."""
    rankings._provenance = provenance
    return rankings


def ranking_arrays(judged: JudgedRankings) -> dict[str, np.ndarray]:
    """The arrays by their names."""
    return {name: getattr(judged, name) for name in COLUMNS}


# ---- values ----------------------------------------------------------------------------------------------------------


Judged = Any  # JudgedRankings, which evaluate themselves by these functions


def evaluate_rankings(
    judged: Judged,
    metrics: tuple[str, ...],
    options: Options,
    weights: dict[Any, float] | None,
    provenance: Callable[[], Provenance] | None = None,
    chosen: list[Any] | None = None,
    shown: bool = True,
) -> Results:
    """Evaluate under checked options; all queries, or only those that were chosen.

    Unless `shown`, the metrics have the counts that micro averages divide by, and so have the Results.
    """
    settings, parts = compile_fixed(metrics, options, {name: getattr(judged, name) for name in ORDER_RULES})
    if options.convention != "fastir" and judged.provenance is not None:
        refuse_exclusion(options.convention, judged.provenance, EXCLUDED in judged.report.repairs)
    status = status_by_query(judged, settings.options.rel_level)
    values = np.empty((len(judged), len(settings.names)))
    skipped = np.ones(len(judged), bool)
    for columns, part in parts:
        part_result = measure_rankings(judged, part)
        absent = mask_left_out(judged, part.queries)
        part_result[absent] = np.nan
        skipped &= absent
        values[:, columns] = part_result
    if chosen is not None:
        skipped |= mask_not_chosen(judged, chosen)
    query_ids, kept = judged.query_ids, ~skipped
    if skipped.any():
        query_ids = [query_id for query_id, keep in zip(query_ids, kept.tolist(), strict=True) if keep]
        values, status = values[kept], status[kept]
    refuse_small(settings.sizes, values, query_ids)
    provenance = provenance or functools.partial(make_provenance, judged, settings)
    hows = settings.aggregates
    results = Results(query_ids, settings.names, values, status, hows, judged.report, weights, provenance)
    return without_counts(results, settings) if shown else results


def make_provenance(judged: Judged, settings: Settings) -> Provenance:
    """Where values under these settings come from."""
    return settings.provenance(None if judged.provenance is None else judged.provenance.inputs)


def measure_rankings(judged: Judged, settings: Settings) -> np.ndarray:
    """The values under one set of rules."""
    if settings.label_limits:
        check_rankings(judged, settings.label_limits)
    labels, ideal_labels = judged.labels, judged.ideal_labels
    if ideal_labels.dtype != np.int32:
        grades, (labels, ideal_labels) = coded(labels, ideal_labels)
        settings = settings.for_grades(grades, functools.partial(first_fraction, judged))
    values = np.empty((len(judged), len(settings.names)))
    kernel = JudgedRanks(
        settings.plan, judged.offsets, judged.ranks, labels, judged.num_ret, judged.ideal_offsets, ideal_labels, values
    )
    run(kernel, settings.n_threads)
    kernel.check()
    return values


def first_fraction(judged: Judged) -> tuple[float, str]:
    """The first real-valued label and its position in words, which is a rank if the document was retrieved."""
    ranked = np.flatnonzero(judged.labels != np.trunc(judged.labels))
    of_query, labels = (judged.offsets, judged.labels) if len(ranked) else (judged.ideal_offsets, judged.ideal_labels)
    place = int(ranked[0]) if len(ranked) else int(np.argmax(labels != np.trunc(labels)))
    query_id = judged.query_ids[int(np.searchsorted(of_query, place, "right")) - 1]
    return float(labels[place]), f"query {query_id}, {f'rank {judged.ranks[place]}' if len(ranked) else 'no rank'}"


def check_rankings(judged: Judged, limits: list[tuple[int, str, str]]) -> None:
    limit, text, why = min(limits, key=lambda entry: entry[0])
    above = np.flatnonzero(judged.ideal_labels > limit)
    if len(above):
        query = int(np.searchsorted(judged.ideal_offsets, above[0], "right")) - 1
        label = judged.ideal_labels[above[0]]
        raise OverflowError(
            f"metric {quote(text)}: label {label} is too large for {why} (query {judged.query_ids[query]})"
        )


def status_by_query(judged: Judged, level: float) -> np.ndarray:
    """A status code for each query."""
    some = np.diff(judged.ideal_offsets) > 0
    top = np.zeros(len(judged), judged.ideal_labels.dtype)
    top[some] = judged.ideal_labels[judged.ideal_offsets[:-1][some]]
    status = np.where(top >= level, STATUS_CODES["evaluated"], STATUS_CODES["no_relevant"])
    status[judged.missing] = STATUS_CODES["missing"]
    return status.astype(np.uint8)


def mask_left_out(judged: Judged, queries: str | None) -> np.ndarray:
    """Which queries do not count."""
    if queries == "strict" and (judged.missing.any() or judged.report.only_in_run):
        side, example = ("run", judged.report.only_in_qrels_example)
        if not judged.missing.any():
            side, example = "qrels", judged.report.only_in_run_example
        raise NoOverlapError(
            f"queries='strict', but query {quote(example)} is missing from the {side} "
            f"({int(judged.missing.sum())} missing from the run, {judged.report.only_in_run} from the qrels)"
        )
    return judged.missing if queries == "intersection" else np.zeros(len(judged), bool)


def mask_not_chosen(judged: Judged, query_ids: list[Any]) -> np.ndarray:
    """Which queries were not chosen."""
    ids_here = set(judged.query_ids)
    unknown = next((query_id for query_id in query_ids if query_id not in ids_here), None)
    if unknown is not None:
        raise NoOverlapError(f"queries: query {quote(unknown)} is not in the qrels")
    chosen = set(query_ids)
    return np.array([query_id not in chosen for query_id in judged.query_ids], bool)


def add_custom(results: Results, custom: CustomColumns, judged: Judged) -> Results:
    """Results with the columns of the caller's own metrics beside those that they have."""
    aggregates = list(results.aggregates.values())
    names, aggregates, values = custom.join_columns(
        results.names, aggregates, results.values, results.query_ids, judged
    )
    provenance = functools.partial(getattr, results, "provenance")
    record = functools.partial(custom.record, provenance)
    made = remake(results, values, names=names, aggregates=aggregates, provenance=record)
    return set_best(made, best_of(results))
