"""evaluate_lists(): for each query the ids that were retrieved, in rank order, and those that are relevant."""

from __future__ import annotations

import itertools
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from fastir.data.qrels import Qrels
from fastir.engine.columns.id_lists import sequence, why_no_sequence
from fastir.engine.columns.ids import is_integer, plain_id
from fastir.engine.columns.rows import CELLS
from fastir.errors import DuplicateError, FormatError, quote
from fastir.evaluation.array_call import weights_by_query
from fastir.evaluation.evaluator import make_evaluator
from fastir.evaluation.rules import EvaluationRequest
from fastir.inputs import id_lists, library_tables, pairing
from fastir.inputs.id_lists import ListColumns, is_table_or_path
from fastir.inputs.pairing import Side
from fastir.inputs.parents import read_as
from fastir.inputs.places import is_path, place_name
from fastir.inputs.roles import LISTS, QUERY, RETRIEVED
from fastir.rendering.text import counted
from fastir.request.options import check_options

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from fastir.data.results.results import Results
    from fastir.inputs.exclusions import ExcludeLike
    from fastir.inputs.mappings import DocWeights
    from fastir.inputs.parents import ParentsLike
    from fastir.request.conventions import Convention
    from fastir.request.keywords import ConventionName, MetricOptions
    from fastir.request.options import Aggregate, Duplicates


USUAL_COLUMNS = {side: (*names, *LISTS) for side, names in RETRIEVED.items()}


def evaluate_lists(
    retrieved: Any,
    relevant: Any,
    metrics: str | Iterable[str],
    *,
    query_ids: Sequence[Any] | None = None,
    columns: Mapping[str, str] | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    n_threads: SupportsIndex | None = None,
    duplicates: Duplicates | None = None,
    parents: ParentsLike | None = None,
    aggregate: Aggregate = "max",
    exclude: ExcludeLike | None = None,
    weights: Mapping[Any, float] | ArrayLike | None = None,
    doc_weights: DocWeights | os.PathLike[str] | None = None,
    convention: ConventionName | str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate lists of retrieved ids against the relevant ids of the same queries, by query id or by position.

    If both sides carry query ids, they are joined by id, in any order; queries of only one side are treated as in
    `evaluate`. Query ids are a column of a table, a file or records, the keys of a dict, and the index of a pandas
    object. If only one side carries ids, or neither, lists are paired by position, and the numbers of queries must be
    equal. A default RangeIndex, 0 to n - 1, carries no ids. Beside it, an index with the same integers in another order
    says the numbers of its rows, and a warning tells so; other integers, and a permutation beside lists without an
    index, are paired by position, with a warning. Two columns of one frame are never joined.

    Parameters
    ----------
    retrieved : sequence of shape (n_queries,), table, path or dict
        For each query the ids in rank order: a list, tuple or array; an empty one is an empty ranking. Or an array of
        shape (n_queries, n_retrieved), or an Arrow column of lists; integer arrays and Arrow columns are read as is.
        Or a table with a row for each query, in memory, as a list of records, or in a file of JSON, JSON Lines, CSV,
        TSV, Parquet or Arrow (of which all but JSON need pyarrow). A column of a table may hold text: lists as JSON or
        Python print them, or ids with blanks or with commas between them, in one form, which the report names. Or
        ``{query_id: ids}``, if `relevant` carries query ids, too. Documents of LangChain and others stand for their
        attribute `id`, or else `doc_id`, `docid` or `node_id`.
        Where all metrics have cutoffs, a list is read down to the deepest one, unless an option below needs more, and
        duplicates behind it are not found.
    relevant : sequence of shape (n_queries,), table, path, dict or None
        For each query the relevant ids, as a list, set, tuple or array, one id, or ``{doc_id: label}``. An id listed
        twice counts once, as the report says. Or a column or table as for `retrieved`. None: another column of that
        table.
    metrics : str or iterable of str
        Such as ``"ndcg@10"``; `metrics` lists them.
    query_ids : sequence of shape (n_queries,), of str or int, or None
        For lists that are paired by position. Distinct; None: those that one side carries, else 0 to n_queries - 1.
    columns : dict or None
        For tables, ``{"query_id": name, "retrieved": name, "relevant": name}``, for columns that have other names than
        retrieved, retrieved_ids, retrieved_doc_ids, retrieved_context_ids or prediction, and relevant, relevant_ids,
        relevant_doc_ids, expected_ids or reference_context_ids.
    rel_level, judged_only, max_depth, n_threads, duplicates, parents, aggregate, exclude, convention, **choices
        As in `evaluate`.
    weights : array of shape (n_queries,), mapping of query_id to float, or None
        As in `evaluate`; an array is in the order of `relevant`.
    doc_weights : mapping, pathlib.Path or None
        As in `evaluate`.

    Returns
    -------
    Results
        As of `evaluate`.

    Raises
    ------
    TypeError
        One side is not a sequence, or a ranking is a set or a str, or holds something other than ids.
    ValueError
        Sides that are paired by position differ in length.
    DuplicateError
        A query id by which the sides are joined is there twice.
    UnknownMetricError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> results = fastir.evaluate_lists([["c2", "c7", "c1"], ["c4"]], [{"c1", "c7"}, "c4"], ["recall@2", "mrr"])
    >>> results.per_query("recall@2")
    {0: 0.5, 1: 1.0}
    """
    options = check_options(
        rel_level=rel_level,
        judged_only=judged_only,
        max_depth=max_depth,
        n_threads=n_threads,
        duplicates=duplicates,
        convention=convention,
        choices=choices,
    )
    documents = read_as(parents, aggregate, duplicates, exclude, convention)
    retrieved, relevant = read_json(retrieved, relevant, query_ids, columns)
    run, judged = pair_lists(retrieved, relevant, query_ids, columns)
    if isinstance(run, dict):
        run = id_lists.ids_of_documents(run, "run")
    if isinstance(judged, dict):
        judged = id_lists.ids_of_documents(judged, "qrels")
    qrels = Qrels.from_dict(judged) if isinstance(judged, dict) else Qrels(*judged.qrels_columns())
    query_weights = None if weights is None else weights_by_query(weights, qrels.query_ids)
    request = EvaluationRequest(
        qrels, metrics, options, weights=query_weights, parents=documents, doc_weights=doc_weights
    )
    evaluator = make_evaluator(request)
    evaluator.rules.warn_of_fractions()
    return evaluator.evaluate(run)


# ---- pairs of lists ------------------------------------------------------------------------------------------------
def pair_lists(retrieved: Any, relevant: Any, query_ids: Any, columns: Mapping[str, str] | None) -> tuple[Any, Any]:
    """The rankings and the relevant ids, each as a dict by query id or as ListColumns."""
    if query_ids is None and is_plain(retrieved) and is_plain(relevant) and len(retrieved) == len(relevant):
        return dict(enumerate(retrieved)), dict(enumerate(relevant))
    if is_dict(retrieved, "retrieved", columns) and is_dict(relevant, "relevant", columns):
        if query_ids is not None:
            raise ValueError("query_ids: retrieved and relevant are mappings, whose keys are the query ids")
        return dict(retrieved), dict(relevant)
    if isinstance(retrieved, ListColumns) and isinstance(relevant, ListColumns):
        return retrieved, relevant
    if relevant is None:
        table = read_table(retrieved, ("query_id", "retrieved", "relevant"), columns)
        run, judged = per_query(table["retrieved"], "retrieved"), per_query(table["relevant"], "relevant")
        sides = table_side("retrieved", table, len(run)), Side("relevant", len(judged), None)
    else:
        run, of_run = read_side(retrieved, "retrieved", columns)
        judged, of_judged = read_side(relevant, "relevant", columns)
        sides = of_run, of_judged
        for data, side, other in ((retrieved, of_run, of_judged), (relevant, of_judged, of_run)):
            if other.ids is None and is_dict(data, side.name, columns):
                raise no_sequence(data, side.name)
    refuse_cut_ids(run, judged)
    if sides[0].ids is None is sides[1].ids and len(run) != len(judged):
        raise ValueError(
            f"retrieved has {counted(len(run), 'query', 'queries')} but relevant has {len(judged)}; "
            "expected a list for each query on both sides"
        )
    if relevant is not None and pairing.is_joined(*sides):
        if query_ids is not None:
            raise ValueError("query_ids: retrieved and relevant have query ids of their own, which differ")
        return with_ids(run, ids_or_numbers(sides[0])), with_ids(judged, ids_or_numbers(sides[1]))
    ids = row_ids(sides) if query_ids is None else distinct_query_ids(query_ids, len(run), "query_ids")
    if query_ids is not None:
        for side in sides:
            refuse_other_order(side, ids)
    return with_ids(run, ids), with_ids(judged, ids)


def read_json(retrieved: Any, relevant: Any, query_ids: Any, columns: Mapping[str, str] | None) -> tuple[Any, Any]:
    """What JSON files hold, as ListColumns if both have lists by query; what is no path of one unchanged."""
    paths = is_path(retrieved), is_path(relevant)
    if paths == (False, False):
        return retrieved, relevant
    from fastir.inputs import json_files

    if all(paths) and query_ids is None:
        run, judged = json_files.lists_of(retrieved, "retrieved"), json_files.lists_of(relevant, "relevant")
        sides = ((run, "retrieved"), (judged, "relevant"))
        if all(side is not None and not has_column(side.query_ids, name, columns) for side, name in sides):
            return run, judged
    run, judged = (
        json_files.data_of(data) if known else data for data, known in zip((retrieved, relevant), paths, strict=True)
    )
    return run, judged


def refuse_cut_ids(run: Any, judged: Any) -> None:
    """Refuse relevant ids that blanks or commas separate in text, where ids of lists beside it have these."""
    if not isinstance(judged, ListColumns) or not judged.repairs or getattr(run, "repairs", None):
        return
    mark = {CELLS[1]: ",", CELLS[2]: " "}.get(next(iter(judged.repairs)))
    listed = (
        itertools.chain.from_iterable(sequence(ids) or () for ids in run)
        if isinstance(run, tuple)
        else run.rows()[1][:]
    )
    cut = next((doc_id for doc_id in listed if mark and isinstance(doc_id, str) and mark in doc_id), None)
    if cut is not None:
        raise ValueError(
            f"relevant: its text has {mark!r} between ids, and retrieved has the id {quote(cut)} with it; expected "
            "lists of ids, or lists in brackets"
        )


def refuse_other_order(side: Side, ids: list[Any]) -> None:
    """Refuse a caller's query ids that a side has in other rows."""
    own = [] if side.ids is None else list(side.ids)
    if own != ids and not set(ids).isdisjoint(own):
        place = next(place for place, query_id in enumerate(ids) if own[place] != query_id)
        raise ValueError(
            f"query_ids: {side.name} has query ids of its own, which differ: entry {place + 1} is {quote(ids[place])}, "
            f"{side.name} has {quote(own[place])}"
        )


def is_plain(data: Any) -> bool:
    """Whether a side is a list of lists, which has no ids of its own."""
    return type(data) is list and bool(data) and type(data[0]) is list


def ids_or_numbers(side: Side) -> list[Any]:
    """The query ids of a side that is joined by id; rows without ids are numbered."""
    if side.ids is None:
        return list(range(side.n))
    return (
        pairing.query_ids(side)
        if side.index is not None
        else distinct_query_ids(side.ids, side.n, f"{side.name}: query ids")
    )


def row_ids(sides: tuple[Side, Side]) -> list[Any]:
    """Return the query ids of rows that are paired by position: one side's ids, else the row numbers."""
    for side in sides:
        if side.ids is not None and side.index is None:
            return distinct_query_ids(side.ids, side.n, f"{side.name}: query ids")
    ids = next((ids for side in sides if (ids := pairing.plain_ids(side)) is not None), None)
    return list(range(sides[0].n)) if ids is None else ids


def read_side(data: Any, name: str, columns: Mapping[str, str] | None) -> tuple[Any, Side]:
    """What a caller gave for one side: the list of each query, and the Side that says their ids."""
    if type(data) in (list, tuple) and not (data and isinstance(data[0], Mapping)):  # neither a table nor records
        return tuple(data), Side(name, len(data), None)
    if hasattr(data, "collect"):
        library_tables.refuse(data, name)
    if is_table(data, name, columns):
        table = read_table(data, ("query_id", name), columns)
        lists = per_query(table[name], name)
        return lists, table_side(name, table, len(lists))
    if isinstance(data, Mapping):
        data = dict(data)
        return tuple(data.values()), Side(name, len(data), list(data))
    lists = per_query(data, name)
    return lists, pairing.index_side(name, data, len(lists))


def table_side(name: str, table: dict[str, Any], n: int) -> Side:
    """The Side of a table: its column of query ids, or else its index."""
    ids = table.get("query_id")
    if ids is None:
        return pairing.index_side(name, table[name], n)
    entries = sequence(ids)
    return Side(name, n, ids if entries is None else entries)


def read_table(data: Any, roles: tuple[str, ...], columns: Mapping[str, str] | None) -> Any:
    """{role: column} of a table, a path or a list of records."""
    name = roles[1]
    if hasattr(data, "collect"):
        library_tables.refuse(data, name)
    if is_records(data, name, columns):
        data = id_lists.columns_of_records(data, name)
    if is_path(data):
        return columns_from_file(data, roles, columns, name)
    if is_table_or_path(data):
        return id_lists.table(data, roles, columns, name)
    raise TypeError(
        f"relevant is None: expected a table with both, a path or a list of records, got {type(data).__name__}"
    )


def columns_from_file(path: Any, roles: tuple[str, ...], columns: Mapping[str, str] | None, what: str) -> Any:
    """The columns of a file that holds a table."""
    from fastir.inputs import formats, table_files

    name, form = place_name(path), formats.file_format(path)
    if form not in formats.TABLE_FORMATS:
        raise FormatError(f"{what}: lists are read from {', '.join(formats.LIST_SUFFIXES)} files", name)
    with table_files.convert_errors(name), table_files.FILES[form](path) as file:
        file.look()
        return table_files.columns_of_file(file, id_lists.find_list_columns(file.names, roles, columns, what))


def is_table(data: Any, name: str, columns: Mapping[str, str] | None) -> bool:
    """Whether a side is a table, a path or a list of records."""
    if isinstance(data, Mapping):
        return not is_dict(data, name, columns)
    return is_table_or_path(data) or is_records(data, name, columns)


def is_dict(data: Any, name: str, columns: Mapping[str, str] | None) -> bool:
    """Whether a mapping has query ids as its keys, rather than the names of columns."""
    return (type(data) is dict or isinstance(data, Mapping)) and not has_column(data, name, columns)


def has_column(names: Container[Any], name: str, columns: Mapping[str, str] | None) -> bool:
    """Whether a mapping has a column of a side's lists by its usual names, or should have one by the caller's."""
    return (columns is not None and name in columns) or any(map(names.__contains__, USUAL_COLUMNS[name]))


def is_records(data: Any, name: str, columns: Mapping[str, str] | None) -> bool:
    """Whether a sequence has a record for each query, rather than {doc_id: label} with numbers as values."""
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    if not isinstance(first, Mapping) or not has_column(first, name, columns):
        return False
    return any(query in first for query in QUERY) or any(not isinstance(value, Number) for value in first.values())


def with_ids(lists: Any, ids: list[Any]) -> Any:
    """Lists by their query ids."""
    if isinstance(lists, ListColumns):
        return ListColumns(ids, lists.batches, lists.numbers, lists.repairs)
    return dict(zip(ids, lists, strict=True))


def per_query(data: Any, name: str) -> Any:
    """What a caller gave for each query, as a list or tuple or as ListColumns."""
    lists: Any = data if isinstance(data, ListColumns) else id_lists.column(data, name)
    if lists is None:
        lists = sequence(data)
    if lists is None:
        raise no_sequence(data, name)
    return lists


def no_sequence(data: Any, name: str) -> TypeError:
    """The error for a side that is no sequence, or is a dict beside a side without query ids."""
    why = why_no_sequence(data, "; evaluate() takes lists by query id")
    return TypeError(f"{name} must be a sequence with the ids of each query, {why}")


def distinct_query_ids(query_ids: Any, n: int, what: str) -> list[Any]:
    """The query ids of a caller or of a column, as distinct str or int."""
    entries = sequence(query_ids)
    if entries is None:
        raise TypeError(f"{what} must be a sequence of str or int, got {type(query_ids).__name__}")
    if len(entries) != n:
        raise ValueError(f"{what} has {counted(len(entries), 'entry', 'entries')}, retrieved {n}; lengths must match")
    integers = bool(entries) and is_integer(entries[0])
    ids = [plain_id(query_id, integers, f"{what}: entry {place}") for place, query_id in enumerate(entries, 1)]
    places: dict[Any, int] = {}
    for place, query_id in enumerate(ids, 1):
        if places.setdefault(query_id, place) < place:
            raise DuplicateError(f"{what}: duplicate {quote(query_id)}, as entries {places[query_id]} and {place}")
    return ids
