"""DataFrames: which of their columns are read, how their rows come together, and qrels that are one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastir.checks import one_of
from fastir.errors import FastirError
from fastir.evaluation.evaluator import Evaluator
from fastir.inputs import ranking_lists, tables
from fastir.request.settled import rules_of
from fastir.spark import tasks

try:
    from pyspark import sql
except ModuleNotFoundError as error:
    raise ImportError(f"fastir.spark: PySpark cannot be imported ({error}); pip install 'fastir[spark]'") from error

STRATEGIES = ("auto", "grouped", "shuffle", "lists")
MOST_BYTES = 1 << 26  # of an Evaluator in the closure of a function: Spark Connect takes 128 MB in a message
MOST_JUDGMENTS = MOST_BYTES >> 3  # as an Evaluator of more has more bytes than that


def is_frame(data: Any) -> bool:
    return isinstance(data, sql.DataFrame)


def selected(frame: Any, names: Iterable[str]) -> Any:
    """Some columns, by their whole names, be there dots in them."""
    return frame.select(*("`" + name.replace("`", "``") + "`" for name in names))


def check_run(run: Any) -> None:
    if not is_frame(run):
        raise TypeError(f"run: expected a DataFrame of Spark, got {type(run).__name__}; fastir.evaluate takes others")


def collected(frame: Any, columns: Mapping[str, str] | None) -> Any:
    """The qrels of a DataFrame as an Arrow table.

    Raises
    ------
    FastirError
        They have more judgments than an Evaluator may have here.
    """
    names = tables.find_columns("qrels", frame.columns, columns or {})
    table = selected(frame, names).limit(MOST_JUDGMENTS + 1).toArrow()
    if table.num_rows > MOST_JUDGMENTS:
        raise FastirError(f"qrels: more than {MOST_JUDGMENTS} judgments; {REMEDY}")
    return table


REMEDY = "they go to every worker as a whole, so evaluate some of the queries at a time"


def pickled(evaluator: Evaluator) -> bytes:
    """An Evaluator for the workers, as bytes: each of them has some of the queries, on one core.

    Raises
    ------
    FastirError
        It is too large to be sent.
    """
    from pyspark import cloudpickle

    prepared, settings = evaluator.prepared, evaluator.prepared.settings
    options = settings.options.but(queries="intersection", n_threads=1)
    made_of = prepared.qrels, settings.metrics, options, (None, prepared.columns), None, prepared.parents
    made: bytes = cloudpickle.dumps(Rebuilt(made_of))
    if len(made) > MOST_BYTES:
        raise FastirError(f"qrels: {len(made)} bytes when prepared, and at most {MOST_BYTES} can be sent; {REMEDY}")
    return made


class Rebuilt:
    """Pickles as what `evaluator_of` makes of some arguments, without making it here."""

    def __init__(self, made_of: tuple[Any, ...]) -> None:
        self.made_of = made_of

    def __reduce__(self) -> tuple[Any, ...]:
        from fastir.evaluation.evaluator import evaluator_of

        return evaluator_of, self.made_of


def strategy_of(run: Any, strategy: str, columns: Mapping[str, str] | None) -> str:
    """The strategy, which "auto" chooses by the type of the documents' column."""
    one_of("strategy", strategy, STRATEGIES)
    types = {field.name: field.dataType for field in run.schema.fields}
    usual = [columns["doc_id"]] if columns and "doc_id" in columns else ranking_lists.DOCS
    docs = next((name for name in usual if name in types), None)
    lists = docs is not None and isinstance(types[docs], sql.types.ArrayType)
    if strategy == "lists" and docs is not None and not lists:
        raise ValueError(f"strategy='lists', but the column {docs!r} of the run holds no lists")
    if lists and strategy not in ("auto", "lists"):
        raise ValueError(f"strategy={strategy!r}, but the column {docs!r} of the run holds lists: strategy='lists'")
    return "lists" if lists or strategy == "lists" else "shuffle" if strategy == "auto" else strategy


def states_of(run: Any, evaluator: Evaluator, strategy: str, several: bool) -> Any:
    """The DataFrame of what the partitions of a run come to.

    Raises
    ------
    ValueError
        A column is missing, or a rule asks for the order of rows, which a shuffle does not keep.
    """
    columns = evaluator.prepared.columns or {}
    if strategy == "lists":
        names: tuple[str, ...] = tuple(ranking_lists.columns_of(run.columns, columns).values())
        read = tasks.lists_of_a_run
    else:
        names = tables.find_columns("runs" if several else "run", run.columns, columns)
        read = tasks.rows_of_runs if several else tasks.rows_of_a_run
    if strategy == "shuffle":
        check_order(evaluator, tables.is_rank(names[2], columns))
    return mapped(run, names, strategy == "shuffle", tasks.states(pickled(evaluator), read, names))


def mapped(frame: Any, names: Sequence[str], shuffles: bool, function: Any) -> Any:
    """What a function makes of some columns in each partition; rows of one query, and run, are first brought together.

    The columns are numbered, as mapInArrow takes no names with dots; the function gives them their names again.
    """
    rows = selected(frame, names).toDF(*map(str, range(len(names))))
    if shuffles:
        rows = rows.repartition(*(str(place) for place in range(len(names)) if place not in (1, 2)))
    return rows.mapInArrow(function, tasks.SCHEMA)


def check_order(evaluator: Evaluator, ranks: bool) -> None:
    """Refuse rules that go by the order of rows."""
    for ranker in evaluator.prepared.rankers():
        rules = rules_of(ranker.settings)
        if rules["ties"] == "input" and not ranks:
            raise ValueError("ties='input' needs the order of rows, which a shuffle loses; give a column of ranks")
        if rules["duplicates"] in ("first", "last"):
            raise ValueError(f"duplicates={rules['duplicates']!r} needs the order of rows, which a shuffle loses")


def groups_of(by: Any) -> Mapping[Any, Any] | None:
    """{query_id: group}, from a mapping or from a DataFrame of two columns.

    Raises
    ------
    TypeError, ValueError
        It is something else, or a query has two groups.
    """
    if by is None or isinstance(by, Mapping):
        return by
    if not is_frame(by) or len(by.columns) != 2:
        raise TypeError("by must be a mapping of query_id to group, or a DataFrame with these two columns")
    groups: dict[Any, Any] = {}
    for query_id, group in zip(*(column.to_pylist() for column in by.distinct().toArrow().columns), strict=True):
        if query_id in groups:
            raise ValueError(f"by: query {query_id!r} has two groups, {groups[query_id]!r} and {group!r}")
        groups[query_id] = group
    return groups
