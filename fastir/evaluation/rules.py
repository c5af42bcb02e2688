"""EvaluationRules: what an Evaluator holds, its `rules`, and the inner evaluator that they choose."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from fastir.data.qrels import GroupedQrels, Preferences, Qrels, as_qrels
from fastir.data.results._fields import status_codes
from fastir.data.results.micro import without_counts
from fastir.data.results.results import Results, set_best
from fastir.data.run import Run, as_run
from fastir.declared import Record
from fastir.engine.measure import NUM_Q
from fastir.engine.measure._grades import count_fractions
from fastir.errors import NoOverlapError, UnknownMetricError, quote
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator
from fastir.evaluation.drivers.suspect_runs import compare_ids, like_scores, note_swap
from fastir.inputs import dicts, files, places, roles
from fastir.inputs.exclusions import Exclusion, find_document_map
from fastir.inputs.shapes import COLUMNS, PATH, TABLE, input_shape
from fastir.inputs.source import as_source
from fastir.request.custom import custom_columns
from fastir.request.options import Options
from fastir.request.plan import compile_costed, compile_fixed, compile_settings, refuse_small, with_counts

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.run import RunLike
    from fastir.evaluation.composites.exposure import DocGroups
    from fastir.evaluation.composites.ties import TieMeasurer
    from fastir.evaluation.drivers.coverage import Coverage
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator
    from fastir.evaluation.drivers.judged import RunJudge
    from fastir.evaluation.drivers.prepared import Task
    from fastir.evaluation.partial.partial import Partial
    from fastir.inputs.files import Watch
    from fastir.inputs.mappings import DocWeights
    from fastir.inputs.parents import AnyParents
    from fastir.request.custom import CustomColumns
    from fastir.request.plan import Settings
    from fastir.request.provenance import Provenance

Sides = tuple["Mapping[str, str] | None", "Mapping[str, str] | None"]  # names of the columns of qrels and run


class EvaluationRequest(Record):
    """What an Evaluator is made of: its arguments after they were checked."""

    qrels: QrelsLike
    metrics: str | Iterable[str]
    options: Options
    columns: Sides = (None, None)
    weights: Mapping[Any, float] | None = None
    parents: AnyParents | None = None
    query_ids: list[Any] | None = None
    doc_weights: DocWeights | str | os.PathLike[str] | None = None
    forbidden: Any = None
    forbidden_level: float | None = None
    unanswerable: Any = None
    doc_groups: Any = None
    target: Any = None
    doc_costs: DocWeights | str | os.PathLike[str] | None = None
    ties_report: bool = False


def prepare(
    qrels: Qrels,
    settings: Settings,
    columns: Mapping[str, str] | None = None,
    parents: AnyParents | None = None,
    forbidden: Qrels | None = None,
    doc_groups: DocGroups | None = None,
    doc_costs: DocWeights | str | None = None,
) -> RunEvaluator:
    """A PlainEvaluator, or what puts several together, for other judgments or for metrics with rules of their own."""
    if isinstance(qrels, Preferences):
        from fastir.evaluation.composites.subtopics import PreferenceEvaluator

        return PreferenceEvaluator(prepare, qrels, settings, columns, parents)
    if isinstance(qrels, GroupedQrels):
        from fastir.evaluation.composites.subtopics import SubtopicEvaluator

        return SubtopicEvaluator(prepare, qrels, settings, columns, parents)
    if settings.parts:
        from fastir.evaluation.composites.per_metric import PerMetricRules

        return PerMetricRules(prepare, qrels, settings, columns, parents, forbidden, doc_groups, doc_costs)
    return FromAnyOrder(qrels, settings, columns, parents)


class FromAnyOrder(PlainEvaluator):
    """A PlainEvaluator that reads unordered tables twice if that is faster: `drivers` know nothing of `partial`."""

    __slots__ = ()

    def reread(self, task: Task, threads: int) -> Coverage | None:
        from fastir.evaluation.partial import row_groups

        return row_groups.from_groups(task, threads) if row_groups.suits(self, task.run) else None


class EvaluationRules:
    """Qrels and metrics, prepared for runs; `settings`, `qrels`, `columns` and `parents` are those of `prepared`."""

    def __init__(self, request: EvaluationRequest) -> None:
        qrels, metrics, options, (qrels_columns, run_columns), weights, parents, query_ids, doc_weights = request[:8]
        listed, custom = custom_columns(metrics, NUM_Q)
        self.custom: CustomColumns | None = custom
        of_runs = options if options.duplicates != "mean" else options._replace(duplicates=None)
        settings = with_counts((compile_settings if request.doc_costs is None else compile_costed)(listed, of_runs))
        # What records say of the inputs, and the file of the qrels, if it is on disk.
        self.inputs: dict[str, Any] = {}
        self.judgments: list[Any] = []
        if not isinstance(qrels, (dict, Qrels)):
            qrels = as_source(qrels)
            self.inputs = files.describe_file("qrels", qrels)
            self.judgments = [qrels] if self.inputs and places.on_disk(qrels) else []
        if isinstance(parents, Exclusion):
            self.inputs["exclude"] = parents.record()
        if (documents := find_document_map(parents)) is not None:
            self.inputs["parents"] = {"aggregate": documents.aggregate}
        if doc_weights is not None:
            from fastir.evaluation.composites.weights import read_doc_weights

            doc_weights = read_doc_weights(doc_weights, qrels, qrels_columns, options.duplicates)
        run_columns = columns_of_runs(qrels, (qrels_columns, run_columns))
        qrels = as_qrels(qrels, qrels_columns, options.duplicates)
        if len(qrels) == 0:
            raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
        if isinstance(parents, Exclusion):
            parents.refuse_other_queries(list(qrels))
        self.unanswerable: frozenset[str] | None = None  # ids as text
        if request.unanswerable is not None:
            from fastir.evaluation.unanswerable import read_unanswerable

            self.unanswerable, qrels = read_unanswerable(request.unanswerable, qrels, options.rel_level)
            self.inputs["unanswerable"] = {"number": len(self.unanswerable)}
        if query_ids is not None:
            qrels = select_queries(qrels, query_ids)
            self.inputs["queries"] = {"number": len(query_ids)}
        if doc_weights is not None:
            from fastir.evaluation.composites.weights import weigh_qrels

            qrels = weigh_qrels(qrels, doc_weights)
        held = qrels.columns
        if held.weights is not None:
            from fastir.evaluation.composites.weights import check_query_weights

            self.inputs["doc_weights"] = {"number": int((held.weights > 0).sum())}
            if weights is not None:
                check_query_weights(settings.requests)
        self.weights: dict[Any, float] | None = None if weights is None else dicts.query_weights(weights, list(qrels))
        if isinstance(parents, Exclusion):
            parents = parents.for_queries(list(qrels))
        self.forbidden: Qrels | None = None
        if request.forbidden is not None or request.forbidden_level is not None:
            from fastir.evaluation.composites.forbidden import read_forbidden

            self.forbidden = read_forbidden(request.forbidden, request.forbidden_level, qrels, options.rel_level)
            self.inputs["forbidden"] = {"number": len(self.forbidden.columns.numbers)}
        self.doc_groups: DocGroups | None = None
        if request.doc_groups is not None or request.target is not None:
            from fastir.evaluation.composites.exposure import read_doc_groups

            self.doc_groups = read_doc_groups(request.doc_groups, request.target, qrels)
            self.inputs["doc_groups"] = {"number": len(self.doc_groups.rows)}
        self.doc_costs: DocWeights | str | None = None
        if request.doc_costs is not None:
            from fastir.evaluation.composites.costs import read_doc_costs

            self.doc_costs = read_doc_costs(request.doc_costs, parents)
            self.inputs["doc_costs"] = {"number": len(self.doc_costs)} if isinstance(self.doc_costs, Mapping) else {}
        of_documents = self.forbidden, self.doc_groups, self.doc_costs
        self.prepared: RunEvaluator = prepare(qrels, settings, run_columns, parents, *of_documents)
        self.settings: Settings = self.prepared.settings
        self.measure: Callable[..., Any] = self.prepared.measure
        late = not settings.sizes and not settings.micro and self.unanswerable is None
        if isinstance(self.prepared, PlainEvaluator) and late:
            self.measure = self.prepared.measure_late
        self.tie_measurer: TieMeasurer | None = None
        if request.ties_report:
            from fastir.evaluation.composites.ties import TieMeasurer

            self.tie_measurer = TieMeasurer(self.prepared, custom is not None)
        self.judge: RunJudge | None = None
        self.part_rules: dict[bool, Any] = {}
        self.qrels: Any = self.prepared.qrels
        self.columns: Mapping[str, str] | None = self.prepared.columns
        self.parents: Any = self.prepared.parents
        self.is_weighted: bool = self.qrels.columns.weights is not None
        self.may_be_run: bool = like_scores(held.numbers, held.offsets)
        self.provenance: Callable[[], Provenance] = functools.partial(settings.provenance, self.inputs)
        if self.custom is not None:
            self.check_custom(self.custom)

    def request(self, **changed: Any) -> EvaluationRequest:
        """What makes rules like these, with some changes."""
        settings = self.settings
        metrics = settings.metrics if self.custom is None else self.custom.metrics
        sides = None, self.columns
        request = EvaluationRequest(self.qrels, metrics, settings.options, sides, self.weights, self.parents)
        request = request._replace(forbidden=self.forbidden, doc_groups=self.doc_groups, doc_costs=self.doc_costs)
        request = request._replace(unanswerable=self.unanswerable, ties_report=self.tie_measurer is not None)
        return request._replace(**changed)

    def warn_of_fractions(self) -> None:
        """Warn of labels that are fractions and too small for a metric; not again when an Evaluator is unpickled."""
        qrels = self.prepared.qrels
        columns = qrels.columns
        if columns.numbers.dtype.kind == "i" or isinstance(qrels, Preferences):  # all labels are whole
            return
        grades = columns.label_codes()[0]
        if grades is not None:
            n_fractions, _ = count_fractions(columns.numbers, columns.offsets)
            self.settings.warn_of_fractions(n_fractions, grades.largest)

    def look_at_run(self, coverage: Coverage, run: Any) -> None:
        """Note for the warning what an evaluated run looks like, or refuse ids that never match."""
        if self.may_be_run:
            note_swap(coverage, run)
        if coverage.counts.n_unjudged_queries:
            compare_ids(coverage, run)

    def warn_of_run(self, coverage: Coverage, run: Any) -> None:
        """Warn of what an evaluated run met, or refuse ids that never match."""
        self.look_at_run(coverage, run)
        if not coverage.is_complete:
            coverage.warn(self.settings.queries)

    def evaluate_one(
        self, run: RunLike, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[Results, Coverage]:
        """The Results of a run, and the Coverage, which has not warned; watch(position) is called at every block."""
        settings = self.settings
        provenance, file = (self.provenance, None) if type(run) in (dict, Run) else self.describe(run)
        if self.custom is not None:
            results, coverage = self.with_custom(self.custom, run, n_threads, watch, provenance)
        else:
            tied = None
            if self.tie_measurer is None:
                query_ids, values, status, coverage = self.measure(run, n_threads, watch)
            else:
                run = self.hold_run(run, watch)
                (query_ids, values, status, coverage), tied = self.tie_measurer.measure(run, n_threads, watch)
            values = self.of_kind(values, query_ids)
            if settings.sizes:
                refuse_small(settings.sizes, values, query_ids)
            names, aggregates, weights = settings.names, settings.aggregates, self.weights
            results = Results(query_ids, names, values, status, aggregates, coverage, weights, provenance)
            if self.is_weighted:
                results = self.with_best(results)
            if settings.micro:
                results = without_counts(results, settings)
            if self.tie_measurer is not None:
                self.tie_measurer.report(results, tied, n_threads)
        if file:
            add_metadata(file, run, coverage.run_repairs)
        return results, coverage

    def judged_rankings(self, run: RunLike) -> JudgedRankings:
        """Judge one run, and warn."""
        from fastir.data.rankings import set_provenance

        if type(run) is not dict:
            run = as_source(run)
        if self.columns is not None:
            self.refuse_names(run)
        rankings = (self.judge or self.run_judge()).judge(run)
        provenance, file = self.describe(run)
        if file:  # the report of a dict's rankings is made when it is read
            add_metadata(file, run, rankings.report.repairs)
        return set_provenance(rankings, lambda: provenance()._replace(metrics={}))

    def run_judge(self) -> RunJudge:
        """What judges runs by these rules, made at the first call."""
        if self.judge is None:
            from fastir.evaluation.drivers.judged import RunJudge

            self.judge = RunJudge(self.prepared)
        return self.judge

    def empty_partial(self, strategy: str, after: Partial | None, reads_all: bool) -> Partial:
        """A Partial of no rows; `reads_all` says whether it finds all judged documents, if no metric here reads them.

        A worker has an Evaluator without the metrics of the caller's own.
        """
        from fastir.evaluation.partial.partial import Partial, part_rules

        if self.unanswerable is not None:
            raise ValueError("unanswerable: parts are not put together with it; evaluate the whole run")
        if self.tie_measurer is not None:
            raise ValueError("ties_report: parts are not put together with their ties; evaluate the whole run")
        if (known := self.part_rules.get(reads_all)) is None:
            known = self.part_rules[reads_all] = part_rules(self.prepared, reads_all)
        return Partial(self.prepared, self.weights, self.provenance, strategy, after, self.custom, known)

    def describe(self, run: RunLike) -> tuple[Callable[[], Provenance], dict[str, dict[str, Any]]]:
        """Return a function that makes the run's record, and the record's entry for its file; empty without a file."""
        if type(run) is not dict and (file := files.describe_file("run", run)):
            return functools.partial(self.settings.provenance, {**self.inputs, **file}), file
        return self.provenance, {}

    def with_best(self, results: Results) -> Results:
        """Results that know what the metrics of weighted documents were divided by."""
        from fastir.evaluation.composites.per_metric import best_values

        return set_best(results, best_values(self.prepared, results.query_ids))

    def refuse_names(self, run: Any) -> None:
        """Raise ValueError if names of a run's columns were given for a run, the only one, that has none."""
        if type(self.columns) is roles.OneSided:
            from fastir.inputs import formats

            if got := formats.without_names(run, Run, self.columns, True, self.settings.lines):
                roles.refuse_names(self.columns, "run", got)

    def of_kind(self, values: Any, query_ids: list[Any]) -> Any:
        """Values of metrics, NaN where a query is not of the kind that the option unanswerable says."""
        if self.unanswerable is None:
            return values
        from fastir.evaluation.unanswerable import without_others

        names = [request.card.name for request in self.settings.requests]
        return without_others(values, query_ids, names, self.unanswerable)

    def retrieved(self, run: Any, watch: Watch | None = None) -> Any:
        """A run without the rows below the option min_score."""
        if self.settings.options.min_score is None:
            return run
        from fastir.evaluation.drivers.min_score import retrieved

        return retrieved(run, self.settings, self.columns, watch)

    def hold_run(self, run: Any, watch: Watch | None = None) -> Any:
        """A run in memory, or, of any other, the Run that it is; watch(position) is called at every block of a file."""
        if input_shape(run, Run, self.columns) not in (TABLE, COLUMNS, PATH):
            return run
        settings = self.settings
        return as_run(run, self.columns, settings.options.duplicates, None, settings.lines, watch=watch)

    # ---- metrics of the caller's own -----------------------------------------------------------------------------
    def check_custom(self, custom: CustomColumns) -> None:
        """Refuse metrics of the caller's own where there is not one order of documents."""
        from fastir.evaluation.drivers.judged import single_order

        prepared = self.prepared
        if isinstance(prepared.qrels, Preferences):
            name = quote(custom.custom[0].name)
            raise ValueError(f"metric {name}: a custom metric needs labels, and the qrels are preferences")
        rules = custom.check_rules(lambda: single_order(prepared))
        with contextlib.suppress(UnknownMetricError):  # a metric that needs the documents themselves
            compile_fixed(prepared.settings.metrics, prepared.settings.options, rules)
            custom.judges_all = True

    def with_custom(
        self,
        custom: CustomColumns,
        run: RunLike,
        n_threads: SupportsIndex | None,
        watch: Watch | None,
        provenance: Callable[[], Provenance],
    ) -> tuple[Results, Coverage]:
        """What `evaluate_one` returns, with metrics of the caller's own, of a run that is judged once."""
        from fastir.data.rankings import evaluate_rankings

        settings = self.settings
        source = run if custom.judges_all else self.hold_run(run)
        rankings, coverage = self.run_judge().with_coverage(source, n_threads, watch)
        if custom.judges_all:
            named = evaluate_rankings(rankings, tuple(settings.names), settings.options, None, shown=False)
            query_ids, measured, status = named.query_ids, named.values, status_codes(named)
        else:
            query_ids, measured, status, coverage = self.prepared.measure(source, n_threads)
            refuse_small(settings.sizes, measured, query_ids)
        measured = self.of_kind(measured, query_ids)
        names, aggregates = settings.names, settings.aggregates
        names, aggregates, values = custom.join_columns(names, aggregates, measured, query_ids, rankings)
        record = functools.partial(custom.record, provenance)
        results = Results(query_ids, names, values, status, aggregates, coverage, self.weights, record)
        return without_counts(self.with_best(results) if self.is_weighted else results, settings), coverage


def add_metadata(file: dict[str, dict[str, Any]], run: Any, repairs: Mapping[str, Any]) -> None:
    """Add the `ir_metadata` of a run's comments to the record's entry for its file."""
    if "comment lines" in repairs:
        from fastir.inputs.ir_metadata import ir_metadata

        if metadata := ir_metadata(run):
            file["run"]["ir_metadata"] = metadata


def select_queries(qrels: Qrels, query_ids: list[Any]) -> Qrels:
    """The judgments of some queries, all of which must have some."""
    unknown = next((query_id for query_id in query_ids if query_id not in qrels), None)
    if unknown is not None:
        example = quote(next(iter(qrels)))
        raise NoOverlapError(f"queries: query {quote(unknown)} is not in the qrels, which have {example}")
    return qrels.filter(queries=query_ids)


SIDE_OPTIONS = ("columns", "qrels_columns", "run_columns", "label")  # the arguments of columns_by_side


def columns_by_side(
    columns: Mapping[str, str] | None,
    qrels_columns: Mapping[str, str] | None,
    run_columns: Mapping[str, str] | None,
    label: SupportsFloat | None = None,
) -> Sides:
    """Return the column names of the qrels and of the run; names for one side override names for both.

    With a label the qrels are a table without labels: all rows have this label.
    """
    if columns is qrels_columns is run_columns is None and label is None:
        return None, None
    qrels, run = (
        columns
        if side is None
        else side
        if isinstance(side, roles.OneSided)
        else roles.OneSided({**(columns or {}), **side})
        for side in (qrels_columns, run_columns)
    )
    return roles.label_all(qrels, label), run


def columns_of_runs(qrels: Any, sides: Sides) -> Mapping[str, str] | None:
    """The names of the columns of runs: of these alone, if the qrels have no columns."""
    of_qrels, of_runs = sides
    if of_qrels and of_runs:
        from fastir.inputs import formats

        if formats.without_names(qrels, Qrels, of_qrels, False):
            return roles.one_sided(of_runs)
    return of_runs


def without_qrels_options(options: Mapping[str, Any], run_columns: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The options of a call whose qrels have been read, without those that say how."""
    rest = {name: value for name, value in options.items() if name not in ("label", "qrels_columns")}
    return rest if type(run_columns) is not roles.OneSided else {**rest, "columns": None, "run_columns": run_columns}
