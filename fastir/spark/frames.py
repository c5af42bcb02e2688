"""DataFrames: which of their columns are read, how their rows come together, and qrels that are one."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fastir.data.qrels import Qrels
from fastir.engine.columns.rows import list_of_each
from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator, make_evaluator
from fastir.evaluation.rules import EvaluationRequest, Sides
from fastir.inputs import id_lists, roles
from fastir.request.options import TIES_BY_INPUT
from fastir.request.plan import order_rules, refuse_micro
from fastir.spark import run_files, tasks

try:
    from pyspark import sql
except ModuleNotFoundError as error:
    raise ImportError(f"fastir.spark: PySpark cannot be imported ({error}); pip install 'fastir[spark]'") from error

STRATEGIES = ("auto", "grouped", "shuffle", "two-pass", "lists")
MAX_EVALUATOR_BYTES = 1 << 26  # of an Evaluator in the closure of a function: Spark Connect takes 128 MB in a message
MAX_JUDGMENTS = MAX_EVALUATOR_BYTES >> 5  # as an Evaluator of more has about this many bytes, or more
QRELS_COLUMNS = ("query_id", "doc_id", "label")


class RunColumns(NamedTuple):
    """The columns of a run that are read, and the files that the workers read instead of the DataFrame, if any.

    `names` are all: query, document and number, or the columns of lists; then `run`, the column of the names of runs,
    and `order`, the column of the order of rows, if there are such.
    """

    names: tuple[str, ...]
    run: str | None = None
    order: str | None = None
    files: run_files.Files | None = None

    @property
    def keys(self) -> tuple[int, ...]:
        """Return the positions of the columns that group rows by query, and by run if there are several."""
        return (0,) if self.run is None else (0, self.names.index(self.run))


def is_frame(data: Any) -> bool:
    return isinstance(data, sql.DataFrame)


def select_columns(frame: Any, names: Iterable[str]) -> Any:
    """Some columns, by their whole names, be there dots in them."""
    return frame.select(*map(quote_column, names))


def quote_column(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def check_run(run: Any, expected: str = "a Spark DataFrame") -> None:
    if not is_frame(run):
        raise TypeError(f"run: expected {expected}, got {type(run).__name__}; fastir.evaluate takes other runs")


def frame_of(run: Any) -> Any:
    """A run as a DataFrame, be it one or files, which the active session finds."""
    if not run_files.is_paths(run):
        check_run(run, "a Spark DataFrame or paths of Parquet files")
        return run
    session = sql.SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("run: paths of files need an active Spark session, and there is none")
    return session.read.parquet(*map(os.fspath, [run] if run_files.is_path(run) else run))


def qrels_frame(session: Any, qrels: Qrels) -> Any:
    """A DataFrame of qrels that the driver holds, with the columns of QRELS_COLUMNS, numbered."""
    import pyarrow

    owners = list_of_each(qrels.columns.offsets)
    docs = qrels.columns.ids[0 : qrels.columns.n_rows]
    columns = [pyarrow.array(list(qrels)).take(pyarrow.array(owners)), pyarrow.array(docs), qrels.columns.numbers]
    return session.createDataFrame(pyarrow.table(columns, list(map(str, range(3)))))


def pickle_evaluator(evaluator: Evaluator, **options: Any) -> bytes:
    """An Evaluator for the workers, with some options changed, as bytes: each has some of the rows, on one core."""
    settings = evaluator.rules.settings
    refuse_micro(settings, "Spark's workers sum no denominators")
    changed = settings.options.replace(n_threads=1, **options)
    return dump_pickle(Rebuilt(evaluator.rules.request(metrics=settings.metrics, options=changed, weights=None)))


def dump_pickle(data: Any) -> bytes:
    """A pickle of what may hold functions of the caller's."""
    from pyspark import cloudpickle

    pickled: bytes = cloudpickle.dumps(data)
    return pickled


class Rebuilt:
    """Pickles as what `make_evaluator` makes of a request, without making it here."""

    def __init__(self, request: EvaluationRequest) -> None:
        self.request = request

    def __reduce__(self) -> tuple[Any, ...]:
        return make_evaluator, (self.request,)


def choose_strategy(run: Any, strategy: str, evaluator: Evaluator, several: bool = False) -> str:
    """The strategy, which "auto" chooses by the type of the documents' column, and by what the options permit."""
    columns = evaluator.rules.columns
    types = {field.name: field.dataType for field in run.schema.fields}
    usual = [columns["doc_id"]] if columns and "doc_id" in columns else roles.RANKINGS["doc_id"]
    docs = next((name for name in usual if name in types), None)
    lists = docs is not None and isinstance(types[docs], sql.types.ArrayType)
    if strategy == "lists" and docs is not None and not lists:
        raise ValueError(f"strategy='lists', but the column {docs!r} of the run holds no lists")
    if lists and strategy not in ("auto", "lists"):
        raise ValueError(f"strategy={strategy!r}, but the column {docs!r} of the run holds lists: strategy='lists'")
    if lists or strategy not in ("auto", "two-pass"):
        return "lists" if lists else strategy
    if evaluator.rules.settings.options.validate == "full":
        if strategy == "two-pass":
            raise ValueError(
                "strategy='two-pass' looks for duplicates only among judged documents: give validate='judged', or take "
                "strategy='shuffle'"
            )
        return "shuffle"
    try:
        evaluator.partial(strategy="two-pass")
        order = run_columns(run, strategy, evaluator, several).order
        if order is not None:
            raise ValueError(
                f"strategy='two-pass', but {order_rule(evaluator)} goes by the column {order!r}: give it "
                "instead of scores (columns={'rank': name}), or take strategy='shuffle'"
            )
    except ValueError:
        if strategy == "two-pass":
            raise
        return "shuffle"
    return "two-pass"


def run_columns(run: Any, strategy: str, evaluator: Evaluator, several: bool = False) -> RunColumns:
    """The columns of a run that are read."""
    columns, what = evaluator.rules.columns or {}, "runs" if several else "run"
    if strategy == "lists":
        names = tuple(id_lists.ranking_columns(run.columns, columns).values())
        if not several:
            return RunColumns(names)
        usual = [columns["run"]] if "run" in columns else roles.RUN
        of_runs = roles.find_column("runs", run.columns, "run", usual)
        return RunColumns((*names, of_runs), of_runs)
    names = roles.find_columns(what, run.columns, columns)
    of_runs = names[3] if names[3:] else None
    rule = None if roles.is_rank(names[2], columns) else order_rule(evaluator)
    if rule is None:
        return RunColumns(names, of_runs)
    candidates = [columns["rank"]] if "rank" in columns else roles.ORDER
    if "rank" not in columns and not any(name in run.columns for name in candidates):
        raise ValueError(
            f"{rule} needs the order of rows, which Spark does not keep; give a column of ranks: rank or position, or "
            "columns={'score': name, 'rank': name}"
        )
    order = roles.find_column(what, run.columns, "rank", candidates)
    return RunColumns((*names, order), of_runs, order)


def columns_read(run: Any, frame: Any, strategy: str, evaluator: Evaluator, several: bool = False) -> RunColumns:
    """The columns of a run that are read, and the files, if it was given by paths that the workers can open."""
    columns = run_columns(frame, strategy, evaluator, several)
    if is_frame(run):
        return columns
    return columns._replace(files=run_files.readable_files(select_columns(frame, columns.names)))


def weights_in(qrels: Any, names: Sequence[str], column: str) -> dict[Any, dict[Any, float]]:
    """Return {query_id: {doc_id: weight}} from a DataFrame of judgments; `names` are its column names."""
    weights: dict[Any, dict[Any, float]] = {}
    columns = select_columns(qrels, [*names[:2], column]).toArrow().columns
    for query_id, doc_id, weight in zip(*(each.to_pylist() for each in columns), strict=True):
        if weight is not None:
            weights.setdefault(query_id, {})[doc_id] = weight
    return weights


def order_rule(evaluator: Evaluator) -> str | None:
    """The rule that goes by the order of rows, in words that name the option; None if there is none."""
    options = evaluator.rules.settings.options
    convention = getattr(options.convention, "name", options.convention)
    for each in evaluator.rules.prepared.evaluators():
        rules = order_rules(each.settings)
        for name, values in (("ties", TIES_BY_INPUT), ("duplicates", tasks.ORDER_RULES)):
            if rules[name] in values:
                own = getattr(options, name) == rules[name]
                return f"{'' if own else f'convention {convention}: '}{name}={rules[name]!r}"
    return None


def number_columns(frame: Any, names: Sequence[str]) -> Any:
    """Some columns, called by numbers: functions over Arrow data take no names with dots, and have their own."""
    return select_columns(frame, names).toDF(*map(str, range(len(names))))


def map_partitions(frame: Any, columns: RunColumns, keys: Sequence[int], function: Any) -> Any:
    """What a function makes of some columns in each partition; rows with equal keys, numbers of columns, meet first."""
    if columns.files is not None:
        return run_files.map_files(frame.sparkSession, columns.files, bool(keys), function)
    rows = number_columns(frame, columns.names)
    if keys:
        rows = rows.repartition(*map(str, keys))
    return rows.mapInArrow(function, tasks.ANSWER_SCHEMA)


def collect_answers(states: Any) -> list[Any]:
    """What the partitions returned, in their order."""
    answers = [pickle.loads(state) for state in states.toArrow()["state"].to_pylist()]
    answers.sort(key=lambda answer: answer.partition)
    for answer in answers:
        if isinstance(answer, tasks.Failure):
            raise answer.error
    return answers


def check_one_run(names: set[Any], columns: RunColumns) -> None:
    """Refuse rows of several runs, where one is to be evaluated."""
    if len(names) > 1:
        one, other = sorted(names, key=str)[:2]
        raise ValueError(
            f"run: the table has several runs in its column {columns.run!r}, such as {quote(one)} and {quote(other)}; "
            "evaluate_many evaluates each of them"
        )


def groups_by_query(by: Any, qrels: Any, run: Any, columns: Sides) -> Mapping[Any, Any] | None:
    """{query_id: group}, from a mapping, from a DataFrame of two columns, or from a column of the qrels or the run."""
    if by is None or isinstance(by, Mapping):
        return by
    if isinstance(by, str):
        frame, frame_columns = (qrels, columns[0]) if is_frame(qrels) and by in qrels.columns else (run, columns[1])
        if by not in frame.columns:
            has = ", ".join(map(repr, run.columns[:20]))
            raise ValueError(f"by: the run has no column {by!r}; it has {has}; a DataFrame of qrels may have it, too")
        named = (frame_columns or {}).get("query_id")
        usual: Sequence[str] = roles.QUERY if named is None else [named]
        pairs = select_columns(frame, [roles.find_column("by", frame.columns, "query_id", usual), by]).toDF("0", "1")
    elif is_frame(by) and len(by.columns) == 2:
        pairs = by
    else:
        raise TypeError(
            "by must be the name of a column, a mapping of query_id to group, or a DataFrame with these two columns"
        )
    groups: dict[Any, Any] = {}
    for query_id, group in zip(*(column.to_pylist() for column in pairs.distinct().toArrow().columns), strict=True):
        if query_id in groups:
            raise ValueError(f"by: query {query_id!r} has two groups, {groups[query_id]!r} and {group!r}")
        groups[query_id] = group
    return groups


def groups_of_queries(groups: Mapping[Any, Any], by: Any, query_ids: Iterable[Any]) -> dict[Any, Any]:
    """The groups of those queries that have one; the groups of a DataFrame may have ids of another type."""
    names = {query_id: query_id if by is groups else str(query_id) for query_id in query_ids}
    by_name = groups if by is groups else {str(query_id): group for query_id, group in groups.items()}
    chosen = {}
    for query_id, name in names.items():
        with contextlib.suppress(KeyError):  # not by `in`: a mapping may have defaults
            chosen[query_id] = by_name[name]
    return chosen


def groups_of_results(groups: Mapping[Any, Any] | None, by: Any, query_ids: Iterable[Any]) -> Mapping[Any, Any] | None:
    """The groups of the queries of results."""
    if groups is None:
        return None
    chosen = groups_of_queries(groups, by, query_ids)
    for query_id in query_ids:
        if query_id not in chosen:
            raise ValueError(
                f"by: query {query_id!r} has no group; with queries='intersection' only the run says which need one"
            )
    return chosen
