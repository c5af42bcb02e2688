"""evaluate(), evaluate_many() and Evaluator: the front door. They wire the steps together, and compute nothing."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex

from fastir.data.qrels import GroupedQrels, Preferences, Qrels, as_qrels
from fastir.data.results.results import Results
from fastir.data.run import Run, as_run
from fastir.engine.measure import NUM_Q
from fastir.engine.measure._grades import count_fractions
from fastir.errors import NoOverlapError, UnknownMetricError, quote
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator
from fastir.evaluation.drivers.swapped import like_scores, note_swap
from fastir.evaluation.drivers.unmatched_ids import compare_ids
from fastir.inputs import dicts, files, places
from fastir.inputs.exclusions import Exclusion, stand_for
from fastir.inputs.ir_metadata import ir_metadata
from fastir.inputs.parents import read_as
from fastir.inputs.shapes import COLUMNS, PATH, TABLE, input_shape
from fastir.inputs.source import as_source
from fastir.request.custom import custom_columns
from fastir.request.fixed_order import compile_fixed
from fastir.request.options import (
    Aggregate,
    Duplicates,
    Options,
    Queries,
    Ties,
    Validate,
    checked_options,
    metric_tuple,
    query_rule,
)
from fastir.request.plan import compile_settings
from fastir.request.sizes import refuse_small

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import DTypeLike

    from fastir.analyses.explain.records import Explanation
    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.by_run import ResultsByRun
    from fastir.data.run import RunLike, RunsLike
    from fastir.evaluation.drivers.coverage import Coverage
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator
    from fastir.evaluation.drivers.judged import RunJudge
    from fastir.evaluation.drivers.task import Task
    from fastir.evaluation.keywords import EvaluateOptions
    from fastir.evaluation.partial.partial import Partial
    from fastir.evaluation.run_names import RunNames
    from fastir.inputs.doc_weights import DocWeights
    from fastir.inputs.exclusions import ExcludeLike
    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents, ParentsLike
    from fastir.request.conventions import Convention
    from fastir.request.custom import CustomColumns
    from fastir.request.keywords import MetricOptions
    from fastir.request.plan import Settings
    from fastir.request.provenance import Provenance


Strategy = Literal["auto", "grouped", "two-pass", "lists"]
Sides = tuple["Mapping[str, str] | None", "Mapping[str, str] | None"]  # names of the columns of qrels and run


class Evaluator:
    """Qrels and metrics prepared once, for any number of runs.

    Parameters and exceptions are those of `evaluate`: errors in the qrels, the metrics or an option are raised here,
    errors in a run by the method `evaluate`.

    Notes
    -----
    Immutable: qrels and metrics are copied, and later changes in them have no effect. Any number of threads may use one
    Evaluator at once. A pickled Evaluator contains its qrels, and prepares them again when it is unpickled.

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
        rel_level: SupportsIndex | SupportsFloat = 1,
        queries: Queries | None = None,
        ties: Ties | None = None,
        judged_only: bool = False,
        max_depth: SupportsIndex | None = None,
        score_dtype: DTypeLike | None = None,
        n_threads: SupportsIndex | None = None,
        duplicates: Duplicates | None = None,
        parents: ParentsLike | None = None,
        aggregate: Aggregate = "max",
        exclude: ExcludeLike | None = None,
        validate: Validate = "full",
        columns: Mapping[str, str] | None = None,
        qrels_columns: Mapping[str, str] | None = None,
        run_columns: Mapping[str, str] | None = None,
        weights: Mapping[Any, float] | None = None,
        doc_weights: DocWeights | str | os.PathLike[str] | None = None,
        convention: str | Convention = "fastir",
        **choices: Unpack[MetricOptions],
    ) -> None:
        rule, query_ids = query_rule(queries)
        options = checked_options(
            rel_level=rel_level,
            queries=rule,
            ties=ties,
            judged_only=judged_only,
            max_depth=max_depth,
            score_dtype=score_dtype,
            n_threads=n_threads,
            duplicates=duplicates,
            validate=validate,
            convention=convention,
            choices=choices,
        )
        sides = columns_by_side(columns, qrels_columns, run_columns)
        documents = read_as(parents, aggregate, duplicates, exclude, convention)
        self._prepare(qrels, metrics, options, sides, weights, documents, query_ids, doc_weights)
        self._warn_of_fractions()

    def _prepare(
        self,
        qrels: QrelsLike,
        metrics: str | Iterable[str],
        options: Options,
        columns: Sides,
        weights: Mapping[Any, float] | None,
        parents: AnyParents | None,
        query_ids: list[Any] | None = None,
        doc_weights: DocWeights | str | os.PathLike[str] | None = None,
    ) -> None:
        listed, self._custom = custom_columns(metrics, NUM_Q)
        settings = compile_settings(metric_tuple(listed), options)
        qrels = as_source(qrels)
        self._inputs = files.described("qrels", qrels)
        self._judgments = [qrels] if self._inputs and places.on_disk(qrels) else []
        if isinstance(parents, Exclusion):
            self._inputs["exclude"] = parents.record()
        if (documents := stand_for(parents)) is not None:
            self._inputs["parents"] = {"aggregate": documents.aggregate}
        qrels_columns, run_columns = columns
        if isinstance(doc_weights, os.PathLike):
            doc_weights = weights_in(doc_weights)
        elif isinstance(doc_weights, str):
            doc_weights = weights_column(qrels, doc_weights, qrels_columns, options.duplicates)
        qrels = as_qrels(qrels, qrels_columns, options.duplicates)
        if len(qrels) == 0:
            raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
        if isinstance(parents, Exclusion):
            parents.refuse_other_queries(list(qrels))
        if query_ids is not None:
            qrels = chosen_queries(qrels, query_ids)
            self._inputs["queries"] = {"number": len(query_ids)}
        if doc_weights is not None:
            qrels = weighted_qrels(qrels, doc_weights)
        if qrels._weights is not None:
            self._inputs["doc_weights"] = {"number": int((qrels._weights > 0).sum())}
            check_weights(settings, weights)
        self._weights: dict[Any, float] | None = None if weights is None else dicts.query_weights(weights, list(qrels))
        if isinstance(parents, Exclusion):
            parents = parents.among(list(qrels))
        self._prepared: RunEvaluator = prepare(qrels, settings, run_columns, parents)
        self._judge: RunJudge | None = None
        self._may_be_run = like_scores(qrels._numbers, qrels._offsets)
        self._provenance: Callable[[], Provenance] = functools.partial(settings.provenance, self._inputs)
        if self._custom is not None:
            self._check_custom(self._custom)

    def _warn_of_fractions(self) -> None:
        """Warn of labels that are fractions and too small for a metric; not again where an Evaluator is unpickled."""
        qrels = self._prepared.qrels
        if qrels._numbers.dtype.kind == "i" or isinstance(qrels, Preferences):  # all labels are whole
            return
        grades = qrels._coded()[0]
        if grades is not None:
            n_fractions, _ = count_fractions(qrels._numbers, qrels._offsets)
            self._prepared.settings.warn_of_fractions(n_fractions, grades.largest)

    def _check_custom(self, custom: CustomColumns) -> None:
        """Refuse metrics of the caller's own where there is not one order of documents."""
        from fastir.evaluation.drivers.judged import single_order

        prepared = self._prepared
        if isinstance(prepared.qrels, Preferences):
            name = quote(custom.custom[0].name)
            raise ValueError(f"metric {name}: a custom metric needs labels, and the qrels are preferences")
        rules = custom.checked(lambda: single_order(prepared))
        with contextlib.suppress(UnknownMetricError):  # a metric that needs the documents themselves
            compile_fixed(prepared.settings.metrics, prepared.settings.options, rules)
            custom.judges_all = True

    def __reduce__(self) -> tuple[Any, ...]:
        prepared, settings = self._prepared, self._prepared.settings
        sides = None, prepared.columns
        metrics = settings.metrics if self._custom is None else self._custom.metrics
        arguments = prepared.qrels, metrics, settings.options, sides, self._weights, prepared.parents
        return make_evaluator, arguments

    def __repr__(self) -> str:
        provenance = self._provenance()
        metrics = ", ".join(provenance.metrics)
        convention = "" if str(provenance.convention) == "fastir" else f"; convention {provenance.convention}"
        options = "".join(f"; {name}={value!r}" for name, value in provenance.options.items())
        parents = "; ids of runs by their parents" if "parents" in self._inputs else ""
        parents += "; without excluded documents" if "exclude" in self._inputs else ""
        weights = "; weighted means" if self._weights is not None else ""
        return (
            f"<Evaluator of {repr(self._prepared.qrels).strip('<>')}: {metrics}{convention}{options}{parents}{weights}>"
        )

    def _repr_html_(self) -> str:
        from fastir.rendering import Cell, Table, rendered

        provenance = self._provenance()
        rows = [("judgments", repr(self._prepared.qrels).strip("<>")), ("convention", str(provenance.convention))]
        rows += [(name, repr(value)) for name, value in provenance.options.items()]
        rows += [(f"metric {name}", text) for name, text in provenance.metrics.items()]
        return rendered(Table(["Evaluator", ""], [[Cell(what), Cell(value)] for what, value in rows], 2, []), "html")

    def evaluate(self, run: RunLike) -> Results:
        """Evaluate one run; parameters, results, errors and warnings are those of the function `evaluate`."""
        settings = self._prepared.settings
        if type(run) is not dict:
            run = as_source(run)
        results, coverage = self._evaluate_one(run, settings.n_threads)
        if self._may_be_run or not coverage.is_complete:
            warn_of_run(coverage, run, self._may_be_run, settings.queries)
        return results

    def evaluate_many(
        self, runs: RunsLike, *, names: RunNames = "stem", notice: Callable[[Any, int], object] | None = None
    ) -> ResultsByRun:
        """Evaluate many runs; parameters, results, errors and warnings are those of the function of this name.

        notice(name, position) is called repeatedly, in any thread, with the number of bytes read of a run's file.
        """
        from fastir.evaluation.many import evaluate_runs

        prepared = self._prepared
        return evaluate_runs(
            self._evaluate_one, prepared.settings, runs, prepared.columns, notice, names, self._judgments
        )

    def explain(self, run: RunLike, query_id: str | int) -> Explanation:
        """Show where the values of one ranking come from: each document with its label and what it contributes.

        Parameters
        ----------
        run : as for `evaluate`
            Of a file of lines, other queries are read but not kept, and their duplicates are not looked for.
        query_id : str or int
            A query of the qrels; if the run lacks it, its ranking is empty.

        Returns
        -------
        Explanation
            The documents in the order in which they were evaluated, with ties, labels, gains, discounts and
            contributions, and the relevant ones that are missing. Its method `diff` compares it with the Explanation of
            another run.

        Raises
        ------
        KeyError
            The qrels have no such query.
        NoOverlapError
            By ``queries="intersection"`` the query does not count, as the run lacks it.
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
        from fastir.analyses.explain.query_explanation import explain_query

        if self._custom is not None and len(self._custom.custom) == len(self._custom.metrics):
            metric_tuple(self._custom.custom)  # which refuses them; beside others they are left out
        if self._prepared.settings.options.queries == "strict":  # which only all queries can break
            run = self._readable_twice(run)
            self._evaluate_one(run, None)
        return explain_query(self._prepared, prepare, run, query_id)

    def judged_rankings(self, run: RunLike) -> JudgedRankings:
        """Judge one run; results, errors and warnings are those of the function `judged_rankings`."""
        run = as_source(run)
        rankings = self._run_judge().judged(run)
        provenance, file = self._described(run)
        if file:  # the report of a dict's rankings may be made when it is read
            add_metadata(file, run, rankings.report.repairs)
        rankings._provenance = lambda: provenance()._replace(metrics={})
        return rankings

    def _run_judge(self) -> RunJudge:
        """What judges runs by these rules, made at the first call."""
        if self._judge is None:
            from fastir.evaluation.drivers.judged import RunJudge

            self._judge = RunJudge(self._prepared)
        return self._judge

    def partial(
        self, rows: RunLike | None = None, *, strategy: Strategy = "auto", after: Partial | None = None
    ) -> Partial:
        """Evaluate a part of a run, wherever it is: the results of parts are merged, and give the Results.

        Parameters
        ----------
        rows : as for `Partial.add`
            The part; None for none, yet.
        strategy : {"auto", "grouped", "two-pass", "lists"}
            "grouped": all rows of a query come in one part. "two-pass": rows come in any part and order, and every part
            is read twice; first to find the judged documents, then to count the rows before them, with `after`; needs
            ``validate="judged"``, and what moves between parts is of the order of the judgments. "lists": each row of a
            part is the ranking of a query. "auto": "lists" for tables with a column that has such a name; else
            "two-pass" if the Evaluator has ``validate="judged"``; else "grouped".
        after : Partial or None
            The merged result of all parts in the first of two passes; the new Partial is of the second.

        Returns
        -------
        Partial

        Raises
        ------
        ValueError
            As by `judged_rankings`; or two passes cannot do what an option asks for.
        UnknownMetricError
            A metric needs the documents themselves.
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
            As by `Partial.add`; or `after` is something else.

        Examples
        --------
        >>> import fastir
        >>> evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr", validate="judged")
        >>> one, other = [("q", "b", 2.0)], [("q", "c", 3.0), ("q", "a", 1.0)]
        >>> first = evaluator.partial(one)
        >>> first.merge(evaluator.partial(other))
        >>> second = evaluator.partial(one, after=first)
        >>> second.merge(evaluator.partial(other, after=first))
        >>> second.result()["mrr"]
        0.3333333333333333
        """
        part = self._partial(strategy, after, self._custom is not None)
        if rows is not None:
            part.add(rows)
        return part

    def _partial(self, strategy: Strategy, after: Partial | None, reads_all: bool) -> Partial:
        """A Partial of no rows; `reads_all` says whether it finds all judged documents, if no metric here reads them.

        A worker has an Evaluator without the metrics of the caller's own.
        """
        from fastir.evaluation.partial.partial import Partial

        return Partial(self._prepared, self._weights, self._provenance, strategy, after, self._custom, reads_all)

    def _evaluate_one(
        self, run: RunLike, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[Results, Coverage]:
        """The Results of a run, and the Coverage, which has not warned; watch(position) is called at every block."""
        settings = self._prepared.settings
        provenance, file = self._described(run)
        if self._custom is not None:
            results, coverage = self._with_custom(self._custom, run, n_threads, watch, provenance)
        else:
            prepared, measure = self._prepared, self._prepared.measure
            if isinstance(prepared, PlainEvaluator) and not settings.sizes:
                measure = prepared.measure_late  # type: ignore[assignment]
            query_ids, values, status, coverage = measure(run, n_threads, watch)
            refuse_small(settings.sizes, values, query_ids)
            hows, weights = settings.aggregates, self._weights
            results = Results(query_ids, settings.names, values, status, hows, coverage, weights, provenance)
            results = self._with_best(results)
        add_metadata(file, run, coverage.run_repairs)
        return results, coverage

    def _described(self, run: RunLike) -> tuple[Callable[[], Provenance], dict[str, dict[str, Any]]]:
        """What makes the record of a run, and what that says of its file; empty if it is none."""
        if type(run) is not dict and (file := files.described("run", run)):
            return functools.partial(self._prepared.settings.provenance, {**self._inputs, **file}), file
        return self._provenance, {}

    def _with_best(self, results: Results) -> Results:
        """Results that know what the metrics of weighted documents were divided by."""
        if self._prepared.qrels._weights is not None:
            from fastir.evaluation.composites.per_metric import best_values

            results._best = best_values(self._prepared, results.query_ids)
        return results

    def _with_custom(
        self,
        custom: CustomColumns,
        run: RunLike,
        n_threads: SupportsIndex | None,
        watch: Watch | None,
        provenance: Callable[[], Provenance],
    ) -> tuple[Results, Coverage]:
        """What `_evaluate_one` returns, with metrics of the caller's own, of a run that is judged once."""
        prepared, settings = self._prepared, self._prepared.settings
        source = run if custom.judges_all else self._readable_twice(run)
        rankings, coverage = self._run_judge().covered(source, n_threads, watch)
        if custom.judges_all:
            named = rankings._results(settings.metrics, settings.options, None)
            query_ids, measured, status = named.query_ids, named.values, named._status_codes
        else:
            query_ids, measured, status, coverage = prepared.measure(source, n_threads)
            refuse_small(settings.sizes, measured, query_ids)
        names, hows, values = custom.joined(settings.names, settings.aggregates, measured, query_ids, rankings)
        record = functools.partial(custom.record, provenance)
        results = Results(query_ids, names, values, status, hows, coverage, self._weights, record)
        return self._with_best(results), coverage

    def _readable_twice(self, run: Any) -> Any:
        """A run in memory, or, of any other, the Run that it is."""
        columns, settings = self._prepared.columns, self._prepared.settings
        if input_shape(run, Run, columns) not in (TABLE, COLUMNS, PATH):
            return run
        return as_run(run, columns, settings.options.duplicates, None, settings.lines)


def warn_of_run(coverage: Coverage, run: Any, may_be_run: bool, queries: str | None) -> None:
    """Warn of what an evaluated run met, or refuse ids that never match; `may_be_run` is about the qrels."""
    if may_be_run:
        note_swap(coverage, run)
    if not coverage.is_complete:
        if coverage.counts.nothing:
            compare_ids(coverage, run)
        coverage.warn(queries)


def add_metadata(file: dict[str, dict[str, Any]], run: Any, repairs: Mapping[str, Any]) -> None:
    """Add the `ir_metadata` of a run's comments to what a record says of its file."""
    if file and "comment lines" in repairs and (metadata := ir_metadata(run)):
        file["run"]["ir_metadata"] = metadata


def make_evaluator(
    qrels: QrelsLike,
    metrics: str | Iterable[str],
    options: Options,
    columns: Sides,
    weights: Mapping[Any, float] | None,
    parents: AnyParents | None,
    query_ids: list[Any] | None = None,
    doc_weights: DocWeights | str | os.PathLike[str] | None = None,
) -> Evaluator:
    """An Evaluator from options that are checked."""
    evaluator = Evaluator.__new__(Evaluator)
    evaluator._prepare(qrels, metrics, options, columns, weights, parents, query_ids, doc_weights)
    return evaluator


def weighted_qrels(qrels: Qrels, doc_weights: DocWeights) -> Qrels:
    """Judgments with the weights of their documents."""
    from fastir.evaluation.composites import weights

    return weights.weighted(qrels, doc_weights)


def weights_in(path: os.PathLike[str]) -> DocWeights:
    """The weights of documents in a file."""
    from fastir.inputs.doc_weights import from_file

    return from_file(path)


def check_weights(settings: Settings, weights: Mapping[Any, float] | None) -> None:
    """Refuse weights of queries for metrics that are quotients of two means."""
    if weights is not None:
        from fastir.evaluation.composites.weights import check_query_weights

        check_query_weights(settings.requests)


def weights_column(
    qrels: Any, column: str, columns: Mapping[str, str] | None, duplicates: Duplicates | None
) -> DocWeights:
    """The weights in a column of the table of the qrels."""
    if input_shape(qrels, Qrels, columns) not in (TABLE, PATH):
        raise TypeError(
            f"doc_weights={column!r} names a column of a table of qrels; these qrels are a {type(qrels).__name__}, and "
            "their weights come as {doc_id: weight}"
        )
    return as_run(qrels, {**(columns or {}), "score": column}, duplicates).to_dict()


def chosen_queries(qrels: Qrels, query_ids: list[Any]) -> Qrels:
    """The judgments of some queries, all of which must have some."""
    unknown = next((query_id for query_id in query_ids if query_id not in qrels), None)
    if unknown is not None:
        example = quote(next(iter(qrels)))
        raise NoOverlapError(f"queries: query {quote(unknown)} is not in the qrels, which have {example}")
    return qrels.filter(queries=query_ids)


def columns_by_side(
    both: Mapping[str, str] | None, qrels_columns: Mapping[str, str] | None, run_columns: Mapping[str, str] | None
) -> Sides:
    """The names of columns of the qrels and of the run, from those of both and of either side."""
    if both is qrels_columns is run_columns is None:
        return None, None
    qrels, run = (both if side is None else {**(both or {}), **side} for side in (qrels_columns, run_columns))
    return qrels, run


def prepare(
    qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None = None, parents: AnyParents | None = None
) -> RunEvaluator:
    """A PlainEvaluator, or what puts several together, for other judgments or for metrics with rules of their own."""
    if isinstance(qrels, Preferences):
        from fastir.evaluation.composites.preferences import PreferenceEvaluator

        return PreferenceEvaluator(prepare, qrels, settings, columns, parents)
    if isinstance(qrels, GroupedQrels):
        from fastir.evaluation.composites.subtopics import SubtopicEvaluator

        return SubtopicEvaluator(prepare, qrels, settings, columns, parents)
    if settings.parts:
        from fastir.evaluation.composites.per_metric import PerMetricRules

        return PerMetricRules(prepare, qrels, settings, columns, parents)
    return FromAnyOrder(qrels, settings, columns, parents)


class FromAnyOrder(PlainEvaluator):
    """A PlainEvaluator that reads unordered tables twice if that is faster: `drivers` know nothing of `partial`."""

    __slots__ = ()

    def reread(self, task: Task, threads: int) -> Coverage | None:
        from fastir.evaluation.partial import row_groups

        return row_groups.from_groups(task, threads) if row_groups.suits(self, task.run) else None


def evaluate(
    qrels: QrelsLike,
    run: RunLike,
    metrics: str | Iterable[str],
    *,
    rel_level: SupportsIndex | SupportsFloat = 1,
    queries: Queries | None = None,
    ties: Ties | None = None,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    score_dtype: DTypeLike | None = None,
    n_threads: SupportsIndex | None = None,
    duplicates: Duplicates | None = None,
    parents: ParentsLike | None = None,
    aggregate: Aggregate = "max",
    exclude: ExcludeLike | None = None,
    validate: Validate = "full",
    columns: Mapping[str, str] | None = None,
    qrels_columns: Mapping[str, str] | None = None,
    run_columns: Mapping[str, str] | None = None,
    weights: Mapping[Any, float] | None = None,
    doc_weights: DocWeights | str | os.PathLike[str] | None = None,
    convention: str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate a run against qrels. For several runs against the same qrels, see `evaluate_many`.

    Parameters
    ----------
    qrels : dict, table, path or Qrels
        ``{query_id: {doc_id: label}}``, or whatever else `Qrels` can be made of.
    run : dict, table, path or Run
        ``{query_id: {doc_id: score}}``, ``{query_id: [doc_id, ...]}`` in rank order, or whatever else `Run` can be made
        of.
    metrics : str or iterable of str
        Such as ``"ndcg@10"`` or ``"ndcg@10,map"``; `metrics` lists them, `metric` says what one means.
    rel_level : int or float
        Documents with at least this label, a number above 0, are relevant; gains do not change.
    queries : {None, "qrels", "intersection", "strict"} or collection of query ids
        Which queries count. "qrels": all of the qrels; one that the run lacks is an empty ranking. "intersection":
        those in both. "strict": all, and both sides must have the same. A collection: exactly these. None: what the
        convention says, else as "qrels", with a warning.
    ties : {None, "trec", "doc_id_asc", "input", "optimistic", "pessimistic", "average"}
        Order of documents with equal scores; None: what the convention says, else descending ids.
    convention : str or Convention
        Whose numbers: "fastir", or a tool such as "trec_eval-9", "ranx", "lightgbm" or "llamaindex".

    Returns
    -------
    Results
        The mean of each metric by the name given, a float; its ``values`` are float64 of shape (n_queries, n_metrics),
        with the queries in the order of the qrels.

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

    Other Parameters
    ----------------
    judged_only : bool
        Remove documents without a judgment from the rankings (after max_depth).
    max_depth : int or None
        The number of documents that are read of each ranking, from 1 up; None: all of them.
    score_dtype : {None, "float64", "float32"}
        Precision in which scores are compared; "float32" gives the ties of trec_eval 9; None: what the convention says.
    n_threads : int or None
        How many threads the call uses; values never depend on it. None uses up to 8 of the processors that this
        process may use, if the work is worth it: files and tables from a million rows on, arrays if the rest would take
        15 ms. The environment variable FASTIR_NUM_THREADS, or else OMP_NUM_THREADS, can lower that. A number given here
        is used even for little work: on a busy machine a call over arrays can then take 20 ms longer.
    duplicates : {None, "first", "last", "max", "once"}
        What to do with a duplicate document in a list, or in a query of a file or table. None: an error that names both
        places. "first", "last", "max": one row stays, at the place of the first, with the score of the first, the last
        or the best; the ranks below close up. Of a list "max" keeps the first and "last" the last one. "once": all rows
        keep their ranks; the first in rank order is the document, and the others count as unjudged. In qrels "once"
        keeps one of several rows with the same label, and two labels are an error. The report counts the repeats.
    parents : mapping, table, function, path or None
        For runs whose ids are parts (chunks, passages) of judged documents: the document of each id. A mapping, a table
        or tuple of two columns, a file with an id and its document on each line, or a function. The function gets an
        array of the distinct ids of a run and returns an array of their documents; one that cannot take an array gets
        one id. An id without a document is a document itself, and integer ids equal their decimal text. Applied once,
        before the run is judged. Parts of one document become one row, as `aggregate` says, or stay with
        ``duplicates="once"``. The report counts the parts that are not their document's first. `duplicates` is about
        duplicate ids.
    aggregate : {"max", "sum", "mean"}
        With `parents`, the score of a document: that of its best part, or the sum or the mean over its parts in the
        run, from the largest score down. The document stands where its best part stood.
    exclude : "query_id", mapping of query_id to document ids, path or None
        Documents that do not count for a query and take no rank, such as the query's source or what a user has seen.
        Their judgments stay: a relevant one counts as not found. "query_id": the document with the query's own id. A
        file has a query and a document on each line. Queries that the run lacks are ignored; integer ids equal their
        decimal text. With `parents` these are ids of documents. None: what the convention says ("beir": "query_id";
        ``{}`` turns that off). The report's repairs count the "excluded documents" of queries in the qrels.
    validate : {"full", "judged"}
        Which documents are checked for duplicates: all, or only judged ones. The latter is quicker for tables whose
        rows are not grouped by query, and right for data without duplicates.
    columns : dict or None
        For tables with unusual column names (see `Run.from_table`): ``{"query_id": name, "doc_id": name, "score": name,
        "label": name}``. ``"rank"`` in place of ``"score"`` names a column of ranks.
    qrels_columns, run_columns : dict or None
        The same for one side; they override `columns`.
    weights : mapping of query_id to float, or None
        How much each query counts in the means, from 0 up; weights of other queries are ignored. Sums and counts do not
        change.
    doc_weights : mapping, str, pathlib.Path or None
        The weight of each judged document in the metrics that are defined on weights (psp, psndcg and weighted_*):
        ``{doc_id: weight}``, ``{query_id: {doc_id: weight}}``, a str that names a column of a table of qrels, or the
        path of a file with a document and its weight on each line, perhaps after a query. Weights are above 0, such as
        inverse propensities. Every document with a label above 0 needs one.
    **choices
        Parameters of the metrics, for all that have them: empty, gain, discount, ideal, ap_norm, short_rankings,
        rounding, unranked, one_class, gains, rbp_norm, bpref_norm, negatives, f_weight, max_grade, tail, rank_one,
        depth, normalize, missing_documents, recall_norm, no_hit, empty_ranking, wanted, n_docs, self_normalized.
        `metric` says what those of a metric mean. A parameter set in a metric's name, as in ``"ndcg(gain=exp2)"``,
        overrides them.

    Raises
    ------
    UnknownMetricError
        A metric, or a parameter or cutoff of one, does not exist or is out of range; or no metric is given.
    FormatError
        A file does not have the expected content; the message names the line.
    DuplicateError
        A document is a duplicate under a query of a file or table, and `duplicates` is None; or it has two labels in
        the qrels, and `duplicates` is "once".
    NoOverlapError
        The qrels or the run are empty, no query is in both, or the qrels lack one of the query ids in `queries`. With
        ``queries="strict"``, a query is in only one of them. Or no ranking holds a judged document, and `parents` has
        none of the run's ids, or ids would match but for white space, case, a suffix or the form of numbers; the
        conventions of tools only warn of this.
    TypeError
        An id is neither str nor int, or ids of dicts differ in type; a label or a score is not a number; an
        option has the wrong type or name.
    ValueError
        A score is NaN, a label is not finite, an option is out of range, a part has two documents or a missing one, or
        infinite scores of both signs would be added up. fastir's errors are ValueErrors, too.
    OverflowError
        A label is outside [-2^31, 2^31 - 1] or too large for a metric's formula, or a score for a float.
    RuntimeError
        A ranking changed its size while it was read, perhaps in another thread.
    OSError
        A file cannot be read.

    Warns
    -----
    FastirWarning
        Once per call, with counts and examples: queries in only one of qrels and run while `queries` is None, rankings
        without any judged document, duplicates that were repaired. Scores that are all equal while `ties` is None;
        qrels and a run that look swapped. And, once for the qrels: fractions as labels, none of which reaches the
        usual `rel_level`.

    Notes
    -----
    **Qrels and runs**: a dict of qrels may have ids of relevant documents in place of labels (`Qrels.from_dict`). A
    table is read as by `from_table`, a file as by `from_file`. A dict is a table if it has columns of the usual names,
    or of those that `columns` says; else its keys are query ids. Ids are str or int. Labels are numbers of any type,
    from -2^31 to 2^31 - 1, and fractions count as they are; a negative label means that the document was in the pool
    but not judged. Scores are numbers of any type, infinite ones too, but not NaN; they are compared as `score_dtype`.
    A list has none: its order is the ranking, and an empty list is an empty ranking. Measures of ir_measures may stand
    among the metrics: each is the metric that it prints, under this call's convention.

    **Queries**: with query ids only these are evaluated, and the qrels must have them all. One that the run lacks is an
    empty ranking, as with "qrels"; other queries of the run are ignored.

    **Ties**: ids descending by bytes ("trec"), ids ascending, the order of the input, the best labels first, the worst
    labels first, or the expected value over all orders, for metrics where a formula gives it. Labels in order give the
    best and the worst value of nearly all metrics; `metric` names the exceptions.

    **Conventions**: ``fastir conventions`` on the command line lists all of them. One sets queries, ties, score_dtype
    and the parameters of the metrics; options given in the call override it. `Results.convention` shows it.

    **Undefined**: a query without relevant documents counts as `metric` says, for nearly all metrics as 0, and has the
    status "no_relevant". The option `empty` changes that: with "one" it counts as 1; with "skip" its value is NaN and
    left out of the mean, and the mean of no values is NaN; with "nan" the mean is NaN, too. A query missing from the
    run is an empty ranking with the status "missing". A cutoff beyond the end of a ranking does not shrink to its
    length: P@10 of five documents divides by 10.

    **Integer ids**: one equals its decimal text in a file or a text column, and that text decides among equal scores;
    the report counts such ids.

    **Memory**: a table whose rows are grouped by query is evaluated while it is read, in memory for the longest query.
    Rows in any other order are read again, with 4 bytes kept for each, and 8 more with ``validate="full"``; documents
    that tie are looked up in the table. More than 2^21 such rows in Parquet are not kept with ``validate="judged"``:
    they are read twice, in memory for the judgments, and the report's repairs say that only judged documents were
    checked for duplicates. Of a source that can be read only once the first 2^20 rows are kept; a query that comes back
    after them is a ValueError.

    **Threads**: the arguments are never changed, and any number of threads may call this at once. Other threads may
    change dicts and lists meanwhile, but not tables, which are read in place.
    """
    rule, query_ids = query_rule(queries)
    options = checked_options(
        rel_level=rel_level,
        queries=rule,
        ties=ties,
        judged_only=judged_only,
        max_depth=max_depth,
        score_dtype=score_dtype,
        n_threads=n_threads,
        duplicates=duplicates,
        validate=validate,
        convention=convention,
        choices=choices,
    )
    documents = read_as(parents, aggregate, duplicates, exclude, convention)
    sides = columns_by_side(columns, qrels_columns, run_columns)
    evaluator = make_evaluator(qrels, metrics, options, sides, weights, documents, query_ids, doc_weights)
    evaluator._warn_of_fractions()
    return evaluator.evaluate(run)


def evaluate_many(
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str],
    *,
    names: RunNames = "stem",
    **options: Unpack[EvaluateOptions],
) -> ResultsByRun:
    """Evaluate many runs against the same qrels, which are prepared once.

    Parameters
    ----------
    qrels, metrics : as for `evaluate`
    runs : mapping of name to run, iterable of (name, run) or of paths, path or table
        Runs as for `evaluate`, under any names. Files and `Run` objects are evaluated in parallel, dicts one after the
        other. An iterable is read one pair at a time. A folder or a pattern such as ``"runs/*"``, also as one of
        several paths, gives a run for each file; the file of the qrels is left out. A folder of hive partitions
        ``run=...`` or ``system=...`` gives a run for each partition. A table, in memory or in a file, has the name of
        each row's run in the column run, system, run_id or system_id, or the one named in `columns`; it is read as a
        whole.
    names : {"stem", "tag", "file"} or list
        How to name runs that are paths, folders or patterns. "stem": the file name without folders and suffixes, "bm25"
        for ``runs/bm25.run.gz``; runs with the same stem keep as many folders as tell them apart, ``x/bm25`` and
        ``y/bm25``. "file": the same with suffixes. "tag": the sixth field of the first line of a TREC file. A list: one
        name for each file, in order.
    **options
        Options of `evaluate`: rel_level, queries, ties, judged_only, max_depth, score_dtype, n_threads, duplicates,
        parents, aggregate, exclude, validate, columns, qrels_columns, run_columns, weights, doc_weights, convention,
        and parameters of the metrics, such as gain and empty.
        n_threads counts the threads of all runs together; values never depend on it.

    Returns
    -------
    ResultsByRun
        A dict {name: Results} in the order of the runs; prints as a table and has `to_pandas`.

    Raises
    ------
    TypeError, ValueError
        `runs` is something else, two runs have the same name, or `names` is given for runs that are not files.
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate`, with the name or path of the run. If several runs have errors, the first one in the order of
        the runs is raised, dicts before files.

    Warns
    -----
    FastirWarning
        As by `evaluate`, for each run, with its name.

    Examples
    --------
    >>> import fastir
    >>> runs = {"x": {"q": {"a": 2.0}}, "y": {"q": {"b": 2.0, "a": 1.0}}}
    >>> fastir.evaluate_many({"q": {"a": 1}}, runs, ["mrr", "p@1"])
    run      mrr      p@1
    x    *1.0000  *1.0000
    y     0.5000   0.0000
    """
    return Evaluator(qrels, metrics, **options).evaluate_many(runs, names=names)
