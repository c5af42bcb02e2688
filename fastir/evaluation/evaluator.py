"""evaluate(), evaluate_many() and Evaluator: the front door. They wire the steps together, and compute nothing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from fastir.errors import NoOverlapError
from fastir.evaluation.many_runs import ResultsByRun, evaluate_runs
from fastir.evaluation.prepared import Prepared
from fastir.inputs import dicts
from fastir.qrels import GroupedQrels, as_qrels
from fastir.request.options import Duplicates, Options, Queries, Ties, Validate, metric_tuple, options_of
from fastir.request.plan import compile_settings
from fastir.results.results import Results

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.evaluation.coverage import Coverage
    from fastir.evaluation.groups import Groups
    from fastir.evaluation.rule_sets import PerRule
    from fastir.explanation.records import Explanation
    from fastir.qrels import Qrels, QrelsLike
    from fastir.request.conventions import Convention
    from fastir.request.plan import Settings
    from fastir.run import RunLike, RunsLike, Watch


class Evaluator:
    """Qrels and metrics prepared once, for any number of runs.

    Parameters and exceptions are those of `evaluate`: what is wrong with the qrels, the metrics or an option is raised
    here, what is wrong with a run by the method `evaluate`.

    Notes
    -----
    Immutable: qrels and metrics are copied, and later changes in them have no effect. Any number of threads may use one
    Evaluator at once. Pickled, it takes its qrels along and prepares them again where it is unpickled.

    Examples
    --------
    >>> import fastir
    >>> evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2}}, ["mrr", "num_ret"], rel_level=2)
    >>> evaluator.evaluate({"q": {"a": 2.0, "b": 1.0}})["mrr"]
    0.5
    >>> evaluator.evaluate({"q": {"b": 1.0}})["mrr"]
    1.0
    """

    def __init__(
        self,
        qrels: QrelsLike,
        metrics: str | Iterable[str],
        *,
        rel_level: SupportsIndex = 1,
        queries: Queries | None = None,
        ties: Ties | None = None,
        judged_only: bool = False,
        max_depth: SupportsIndex | None = None,
        score_dtype: DTypeLike | None = None,
        n_threads: SupportsIndex | None = None,
        duplicates: Duplicates | None = None,
        validate: Validate = "full",
        columns: Mapping[str, str] | None = None,
        weights: Mapping[Any, float] | None = None,
        convention: str | Convention = "fastir",
        **choices: Any,
    ) -> None:
        self._prepare(qrels, metrics, options_of(locals()), columns, weights)

    def _prepare(
        self,
        qrels: QrelsLike,
        metrics: str | Iterable[str],
        options: Options,
        columns: Mapping[str, str] | None,
        weights: Mapping[Any, float] | None,
    ) -> None:
        settings = compile_settings(metric_tuple(metrics), options)
        qrels = as_qrels(qrels, columns, options.duplicates)
        if len(qrels) == 0:
            raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
        self._weights = None if weights is None else dicts.query_weights(weights, list(qrels))
        self.prepared = prepare(qrels, settings, columns)

    def __reduce__(self) -> tuple:
        prepared, settings = self.prepared, self.prepared.settings
        return evaluator_of, (prepared.qrels, settings.metrics, settings.options, prepared.columns, self._weights)

    def evaluate(self, run: RunLike) -> Results:
        """Evaluate one run: `run`, what is returned, raised and warned of are as for the function `evaluate`."""
        settings = self.prepared.settings
        results, coverage = self.results_of(run, settings.n_threads)
        coverage.warn(settings.queries)
        return results

    def evaluate_many(self, runs: RunsLike, *, notice: Callable[[Hashable, int], object] | None = None) -> ResultsByRun:
        """Evaluate many runs: `runs`, what is returned, raised and warned of are as for the function of this name.

        notice(name, position) is called now and then, in any thread, with how much of a run's file was read.
        """
        return evaluate_runs(self.results_of, self.prepared.settings, runs, notice)

    def explain(self, run: RunLike, query_id: str | int) -> Explanation:
        """Show where the values of one ranking come from: each document with its label and what it contributes.

        Parameters
        ----------
        run : as for `evaluate`
            A file or a table is read as a whole; nothing of it is kept but this query.
        query_id : str or int
            A query of the qrels; one that the run lacks is an empty ranking.

        Returns
        -------
        Explanation
            The documents in the order in which they were evaluated, with ties, labels, gains, discounts and
            contributions, and the relevant ones that are missing. Its `diff` compares it with that of another run.

        Raises
        ------
        KeyError
            The qrels have no such query.
        ValueError
            The convention ranks equal scores differently for some of the metrics, or the tie rule for some of the
            groups of the qrels, and there are such scores: there is no single ranking.
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
            As for `evaluate`.

        Examples
        --------
        >>> import fastir
        >>> evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2, "c": 1}}, ["ndcg", "map"])
        >>> explanation = evaluator.explain({"q": {"x": 3.0, "b": 2.0, "a": 1.0}}, "q")
        >>> explanation
        query q: ndcg 0.5627, map 0.3889
        rank     doc_id  score  tied  label     ndcg      map
        1        x           3            -
        2        b           2            2  +0.4030  +0.1667
        3        a           1            1  +0.1597  +0.2222
        missing  c                        1
        >>> explanation.documents[1].gain["ndcg"], explanation.documents[1].discount["map"]
        (2.0, 0.5)
        """
        from fastir.explanation.explaining import explained

        return explained(self.prepared, prepare, run, query_id)

    def results_of(
        self, run: RunLike, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[Results, Coverage]:
        """The Results of a run, and the Coverage, which has not warned; watch(position) is called at every block."""
        settings = self.prepared.settings
        query_ids, values, status, coverage = self.prepared.measure(run, n_threads, watch)
        results = Results(
            query_ids,
            settings.names,
            values,
            status,
            settings.aggregates,
            coverage,
            self._weights,
            settings.convention,
        )
        return results, coverage


def evaluator_of(
    qrels: QrelsLike,
    metrics: str | Iterable[str],
    options: Options,
    columns: Mapping[str, str] | None,
    weights: Mapping[Any, float] | None,
) -> Evaluator:
    """An Evaluator from options that are checked."""
    evaluator = Evaluator.__new__(Evaluator)
    evaluator._prepare(qrels, metrics, options, columns, weights)
    return evaluator


def prepare(qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None = None) -> Prepared | Groups | PerRule:
    """What evaluates runs: Prepared, or what puts several of them together, for groups or for metrics' own rules."""
    if isinstance(qrels, GroupedQrels):
        from fastir.evaluation.groups import Groups

        return Groups(prepare, qrels, settings, columns)
    if settings.parts:
        from fastir.evaluation.rule_sets import PerRule

        return PerRule(prepare, qrels, settings, columns)
    return Prepared(qrels, settings, columns)


def evaluate(
    qrels: QrelsLike,
    run: RunLike,
    metrics: str | Iterable[str],
    *,
    rel_level: SupportsIndex = 1,
    queries: Queries | None = None,
    ties: Ties | None = None,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    score_dtype: DTypeLike | None = None,
    n_threads: SupportsIndex | None = None,
    duplicates: Duplicates | None = None,
    validate: Validate = "full",
    columns: Mapping[str, str] | None = None,
    weights: Mapping[Any, float] | None = None,
    convention: str | Convention = "fastir",
    **choices: Any,
) -> Results:
    """Evaluate a run against qrels. For several runs against the same qrels, see `evaluate_many`.

    Parameters
    ----------
    qrels : dict of dict, table, path or Qrels
        ``{query_id: {doc_id: label}}``, a table as for `Qrels.from_table` or a file as for `Qrels.from_file`. Ids are
        str or int; labels are whole numbers of any type, from -2^31 to 2^31 - 1; a negative label means in the pool,
        not judged.
    run : dict of dict, table, path or Run
        ``{query_id: {doc_id: score}}``, a table as for `Run.from_table` or a file as for `Run.from_file`. Scores are
        numbers of any type, infinite ones too, but not NaN; they are compared as `score_dtype`.
    metrics : str or iterable of str
        Such as ``"ndcg@10"``; `metrics` lists them, `explain` says what one means.
    rel_level : int
        Documents with at least this label, from 1 up, are relevant; gains do not change.
    queries : {None, "qrels", "intersection", "strict"}
        Which queries count. "qrels": all of the qrels, where one missing from the run is an empty ranking; None: the
        same, with a warning, or what the convention says; "intersection": those in both; "strict": all, and both sides
        must have the same.
    ties : {None, "trec", "doc_id_asc", "input", "optimistic", "pessimistic", "average"}
        Order of equal scores: id descending by bytes, ascending, as they came, the best or the worst labels first, or
        the expected value over all orders, for metrics where a formula gives it; None: what the convention says. Labels
        in order give the best and the worst value of nearly all metrics; `explain` says where they need not.
    judged_only : bool
        Remove documents without a judgment from the rankings (after max_depth).
    max_depth : int or None
        Read only so many documents of each ranking, from 1 up.
    score_dtype : {None, "float64", "float32"}
        Precision in which scores are compared; "float32" gives the ties of trec_eval 9; None: what the convention says.
    n_threads : int or None
        How many threads the call uses; values never depend on it. None uses up to 8 of the processors that this
        process may use, if the work is worth it: files and tables from a million rows on, arrays if the rest would take
        15 ms. The environment variable FASTIR_NUM_THREADS, or else OMP_NUM_THREADS, can lower that. A number is taken
        at its word, even for little work: on a busy machine a call over arrays can then take 20 ms longer.
    duplicates : {None, "first", "last", "max"}
        What to do with a document that stands twice under a query of a file or table; None is an error.
    validate : {"full", "judged"}
        Where documents that stand twice are looked for: everywhere, or, for callers who know their data, only among
        judged documents, which is quicker for tables whose rows are not grouped by query.
    columns : dict or None
        For tables, ``{"query_id": name, "doc_id": name, "score": name, "label": name}``, as far as the columns are not
        called as usual.
    weights : mapping of query_id to float, or None
        How much each query counts in the means, from 0 up; those of other queries are ignored. Sums and counts do not
        change.
    convention : str or Convention
        Whose numbers: "fastir", "trec_eval-10", "trec_eval-9", "ranx", "ir_measures", "sklearn", "lightgbm", "xgboost",
        "catboost", "torchmetrics", "sentence-transformers", "beir", "gdeval" or "ndeval". It sets queries, ties,
        score_dtype and the parameters of the metrics; those that are given here win. `Results.convention` shows it.
    **choices
        Parameters of the metrics, for all that have them: the other fields of `Results.convention`, such as ap_norm,
        empty, gain, ideal. One that a metric's own name sets, as in ``"ndcg(gain=exp2)"``, wins.

    Returns
    -------
    Results
        The mean of each metric by the name given, a float; its ``values`` are float64 of shape (n_queries, n_metrics),
        with the queries in the order of the qrels.

    Raises
    ------
    UnknownMetricError
        A metric, or a parameter or cutoff of one, does not exist or is out of range; or no metric is given.
    FormatError
        A file does not hold what it should; a line at fault is named.
    DuplicateError
        A document stands twice under a query of a file or table, and `duplicates` is None.
    NoOverlapError
        A side is empty, no query is in both, or ``queries="strict"`` and a query is in only one.
    TypeError
        An id is neither str nor int, or ids of dicts differ in type; a label is not a whole number, or a score not a
        number; an option has the wrong type or name.
    ValueError
        A score is NaN, a label is not finite, or an option is out of its range. The first four are ValueErrors too.
    OverflowError
        A label is outside [-2^31, 2^31 - 1] or too large for a metric's formula, or a score for a float.
    RuntimeError
        A ranking changed its size while it was read, as by another thread.
    OSError
        A file cannot be read.

    Warns
    -----
    FastirWarning
        Once per call, with counts and examples: queries in only one side while `queries` is None, rankings without any
        judged document, duplicates that were repaired.

    Notes
    -----
    Undefined: a query without relevant documents counts as `explain` says, for nearly all metrics as 0, and has the
    status "no_relevant". The option `empty` changes that: with "one" it counts as 1; with "skip" its value is NaN and
    leaves the mean, and the mean of no values is NaN; with "nan" the mean is NaN, too.
    A query missing from the run is an empty ranking with the status "missing". Beyond the end of a ranking there is
    nothing: a cutoff does not shrink to its length.

    Integer ids equal the decimal text that a file or a text column has, and tie by it; the report counts them.

    A table whose rows are grouped by query is evaluated while it is read, and nothing is kept but the longest query.
    Rows in any other order are read again, with 4 bytes kept for each, and 16 more with ``validate="full"``; documents
    that tie are looked up in the table. A source that can be read only once is kept as far as 2^20 rows; a query that
    comes back later than that is a ValueError.

    The arguments are never changed, and any number of threads may call this at once.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 0, "c": 2}}
    >>> run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 0.5}}
    >>> results = fastir.evaluate(qrels, run, ["mrr", "P@2"])
    >>> results
    mrr  0.7500
    P@2  0.5000
    2 queries
    >>> results["mrr"], results.per_query("mrr")
    (0.75, {'q1': 0.5, 'q2': 1.0})
    """
    return evaluator_of(qrels, metrics, options_of(locals()), columns, weights).evaluate(run)


def evaluate_many(qrels: QrelsLike, runs: RunsLike, metrics: str | Iterable[str], **options: Any) -> ResultsByRun:
    """Evaluate many runs against the same qrels, which are prepared once.

    Parameters
    ----------
    qrels, metrics, **options
        As for `evaluate`. n_threads counts the threads of all runs together; values never depend on it.
    runs : mapping of name to run, or iterable of (name, run)
        Runs as for `evaluate`, names as you like. Files and `Run` objects are evaluated at the same time, dicts one
        after the other. An iterable is read one pair at a time.

    Returns
    -------
    ResultsByRun
        A dict {name: Results} in the order of the runs; it prints as a table and has `to_pandas`.

    Raises
    ------
    TypeError, ValueError
        `runs` is something else, or two runs have one name.
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As for `evaluate`, with the name or the path of the run; the first in the order of the runs, dicts before files.
        Then no results are returned.

    Warns
    -----
    FastirWarning
        As for `evaluate`, for each run, with its name.

    Examples
    --------
    >>> import fastir
    >>> runs = {"x": {"q": {"a": 2.0}}, "y": {"q": {"b": 2.0, "a": 1.0}}}
    >>> fastir.evaluate_many({"q": {"a": 1}}, runs, ["mrr", "p@1"])
    run     mrr     p@1
    x    1.0000  1.0000
    y    0.5000  0.0000
    """
    return Evaluator(qrels, metrics, **options).evaluate_many(runs)
