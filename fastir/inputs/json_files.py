"""JSON files: ``{query_id: {doc_id: number}}``, as ranx, BEIR and users of pytrec_eval write them; lists of ids,
``{query_id: [doc_id, ...]}``; pairs, ``{query_id: [[doc_id, number], ...]}``; an array of objects, which is a table;
the exports of engines that `engine_json` knows.

Usual files are read by `_parsing`. What is unusual in any way is left to the json module, from which
objects come as tuples of pairs, so that a duplicate key is seen.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns._parsing import rows_from_json
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import bare
from fastir.engine.columns.other_formats import hint_for_markup
from fastir.errors import FormatError, quote, warn_caller
from fastir.inputs import places
from fastir.inputs.dicts import LABEL_RANGE
from fastir.inputs.files import ByteReader
from fastir.inputs.grouping import gather
from fastir.inputs.misread import SAMPLE_ROWS, misread_labels
from fastir.inputs.roles import is_header, list_roles, refuse_label, refuse_names

if TYPE_CHECKING:
    from fastir.inputs.files import Path, Repairs, Watch
    from fastir.inputs.id_lists import ListColumns

Pairs = tuple[tuple[str, Any], ...]  # a JSON object

JSON_ENDING = re.compile(r"\.json(\.gz|\.zst)?$", re.IGNORECASE)
LISTS_OF_LISTS = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*\[')  # the beginning of {"...": [[
FIRST_BYTES = 1 << 16  # of an array of objects, in which the first one is looked at
INF = float("inf")
LOWEST_LABEL, HIGHEST_LABEL = LABEL_RANGE


class NumberText(str):
    """The text of a number in JSON."""


def read(
    path: Path,
    is_run: bool,
    duplicates: str | None,
    watch: Watch | None = None,
    query_ids: Any = None,
    columns: Mapping[Any, Any] | None = None,
) -> tuple[Any, ...]:
    """Read a JSON file, or the files of a folder or a pattern together, as columns; see `formats`."""
    files = [content_of(file, is_run, watch) for file in (json_in(path) if places.is_many(path) else [path])]
    name = places.place_name(path)
    plain = rows_from_json(files[0][1]) if len(files) == 1 and query_ids is None else None
    noted: Repairs = {}
    if plain is None and query_ids is None:
        with naming(name):
            listed = lists_or_records([content for _, content, _ in files], is_run, columns, duplicates)
        if listed is not None:
            query_ids, offsets, ids, numbers, repairs, *evidence = listed
            return query_ids, offsets, ids, numbers, {**files[0][2], **repairs}, *evidence
    if plain is None or (not is_run and not fit_labels(plain[4])):
        queries, first_rows, ids, numbers, noted = unusual_rows(files, is_run, query_ids)
    else:
        refuse_label(columns, "objects with labels")
        if not is_run:
            refuse_names(columns, "qrels", "a file of objects by query")
        queries, first_rows, starts, lengths, numbers = plain
        ids = Arena(np.frombuffer(files[0][1], np.uint8), starts, lengths)
    grouped = gather(queries, np.array(first_rows), ids, numbers, is_run, duplicates, name, watch=watch)
    query_ids, offsets, ids, numbers, repairs = grouped
    problem = None if is_run else misread_labels(numbers[:SAMPLE_ROWS])
    if problem is not None:
        warn_caller(f"{name}: {problem}")
    return query_ids, offsets, ids, numbers, {**files[0][2], **noted, **repairs}


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Within it, what is raised about the content of a file is a FormatError that names the file."""
    try:
        yield
    except FormatError as error:
        raise type(error)(error.args[0], name, error.line, None, error.text) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(str(error), name) from None


def lists_or_records(
    contents: list[bytes], is_run: bool, columns: Mapping[Any, Any] | None, duplicates: str | None
) -> tuple[Any, ...] | None:
    """The columns of files with lists of ids by query, or an array of objects; None if they hold something else."""
    from fastir.inputs import table_rows, tables
    from fastir.inputs.scored_pairs import has_pairs, read_pairs

    what = "run" if is_run else "qrels"
    lists = plain_lists(contents, what)
    if lists is not None:
        refuse_label(columns, "lists of ids, which are relevant")
        return lists.run_columns(duplicates) if is_run else lists.qrels_columns()
    if len(contents) == 1 and (lists := plain_records(contents[0], what, columns)) is not None:
        return lists.run_columns(duplicates) if is_run else lists.qrels_columns()
    rows = records_in(contents[0], columns) if len(contents) == 1 else None
    if len(contents) == 1 and LISTS_OF_LISTS.match(contents[0]) and has_pairs(pairs := json_data(contents[0])):
        return read_pairs(pairs, what, duplicates)
    if rows is None:
        refuse_label(columns, "no array of objects")
        return None
    return table_rows.columns_of(tables.table(rows, what, columns), what, duplicates)


def plain_lists(contents: list[bytes], what: str) -> ListColumns | None:
    """The lists of files with lists of ids by query; None if one holds something else, or something unusual."""
    from fastir.inputs import id_lists
    from fastir.inputs.label_arrays import check_queries
    from fastir.inputs.list_cells import lists_in_json

    lists = id_lists.ListColumns([], [])
    for content in contents:
        read = lists_in_json(content)
        if read is None:
            return None
        query_ids, offsets, ids = read
        id_lists.append_lists(lists, offsets, ids, what, len(lists.query_ids))
        lists.query_ids += query_ids
    check_queries(lists.query_ids)
    return lists


def records_in(content: bytes, columns: Mapping[Any, Any] | None) -> list[dict[str, Any]] | None:
    """The objects of an array, the first of which has a query and documents, or the caller's columns; else None."""
    if not content.lstrip().startswith(b"["):
        return None
    rows = json_data(content)
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    return rows if are_rows(first, columns) else None


def are_rows(first: dict[str, Any], columns: Mapping[Any, Any] | None) -> bool:
    """Whether the first of several objects has a query and documents, or the caller's columns."""
    named = bool(columns) and all(name in first for name in (columns or {}).values() if isinstance(name, str))
    return bool(first) and (named or is_header(list(first)))


def json_data(content: bytes) -> Any:
    """The data of a JSON file as json.load makes it; an error for a key that an object has twice."""
    import json

    text = content.decode("utf-8", "surrogateescape")
    try:
        return json.loads(text, object_pairs_hook=distinct_pairs)
    except (json.JSONDecodeError, RecursionError):
        return parse_json(text, "", float)  # which says what is wrong


def plain_records(content: bytes, what: str, columns: Mapping[Any, Any] | None) -> ListColumns | None:
    """The lists of an array of objects with a list of ids each; None if it is another one, or something is unusual."""
    import json

    from fastir.inputs.id_lists import ListColumns
    from fastir.inputs.label_arrays import check_queries
    from fastir.inputs.list_cells import lists_in_json

    text = content[:FIRST_BYTES].decode("utf-8", "replace").lstrip()
    if not text.startswith("[") or text[1:].lstrip()[:1] != "{":
        return None
    try:
        first, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
        listed = [name for name, value in first.items() if isinstance(value, list)]
        names = list_roles(what, list(first), columns, listed) if are_rows(first, columns) else None
    except ValueError:
        return None
    if names is None or listed != [names["doc_id"]] or len(names) > 2:
        return None
    read = lists_in_json(content, list(first), names["query_id"], names["doc_id"])
    if read is None or len({type(query_id) for query_id in read[0]}) != 1:
        return None
    check_queries(read[0])
    return ListColumns(read[0], [read[1:]])


def lists_of(path: Any, what: str) -> ListColumns | None:
    """The lists of ids by query of a JSON file; None of any other file."""
    if not JSON_ENDING.search(os.fsdecode(path)):
        return None
    name, content, _ = content_of(path, True, None)
    with naming(name):
        return plain_lists([content], what)


def data_of(path: Any) -> Any:
    """What json.load makes of a JSON file; the path of any other file unchanged."""
    if not JSON_ENDING.search(os.fsdecode(path)):
        return path
    name, content, _ = content_of(path, True, None)
    with naming(name):
        read = json_data(content)
        if isinstance(read, dict):
            refuse_lists(read.items(), name)
        return read


def distinct_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        key = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise ValueError(f"duplicate key {quote(key)} in an object")
    return made


def json_in(place: Any) -> list[Any]:
    """The JSON files of a folder or a pattern."""
    files = [file for file in places.place_files(place) if JSON_ENDING.search(places.place_name(file))]
    if not files:
        raise FormatError("no JSON file (.json) was found", places.place_name(place))
    return files


def content_of(place: Any, is_run: bool, watch: Watch | None) -> tuple[str, bytes, Repairs]:
    """The name of a file, its bytes, and what was repaired in them."""
    with ByteReader(place) as source:
        content = source.read_all(watch)
    if not content or content.isspace():
        raise FormatError(f"the {'run' if is_run else 'qrels'} file is empty", source.path)
    if b"\0" in content:
        raise FormatError("the file holds a NUL byte; it looks truncated, binary or UTF-16", source.path)
    return source.path, content, source.repairs


def unusual_rows(
    files: list[tuple[str, bytes, Repairs]], is_run: bool, query_ids: Any
) -> tuple[list[str], list[int], Arena, np.ndarray, Repairs]:
    """Any JSON that can be read, as queries, the first row of each, documents and numbers of the rows, and notes."""
    queries: list[tuple[str, Pairs]] = []
    noted: Repairs = {}
    file_of: dict[str, str] = {}
    for path, content, _ in files:
        text = content.decode("utf-8", "surrogateescape")
        ranked, notes = document_pairs(parse_json(text, path, float), is_run, path, query_ids)
        if not ranked:
            raise FormatError(f"the {'run is' if is_run else 'qrels are'} empty: no query", path)
        if number_array([number for _, documents in ranked for _, number in documents], is_run) is None:
            # infinite scores are valid; a number too large for a float differs from them only in its text
            check(document_pairs(parse_json(text, path, NumberText), is_run, path, query_ids)[0], is_run, path)
        for query_id in dict(ranked) if len(files) > 1 else ():
            if file_of.setdefault(query_id, path) != path:
                raise FormatError(f"duplicate query {quote(query_id)}, which is also in {file_of[query_id]}", path)
        for kind, (count, place) in notes.items():
            before, first = noted.get(kind, (0, place))
            noted[kind] = (before + count, first)
        queries += ranked
    rows = [row for _, documents in queries for row in documents]
    numbers = np.array([number for _, number in rows], float)
    sizes = [len(documents) for _, documents in queries]
    first_rows = np.cumsum([0, *sizes[:-1]]).tolist()
    return [query for query, _ in queries], first_rows, Arena.of([doc_id for doc_id, _ in rows]), numbers, noted


def parse_json(text: str, path: str, number: Callable[[str], Any]) -> Any:
    """The data of JSON text, with objects as tuples of pairs and numbers as `number` makes them from their text."""
    import json

    try:
        return json.loads(text, object_pairs_hook=tuple, parse_float=number, parse_int=number)
    except json.JSONDecodeError as error:
        message = f"malformed JSON at character {error.colno}: {error.msg}{hint_for_markup(text[:80])}"
        raise FormatError(message, path, error.lineno, None, text[error.pos : error.pos + 80]) from None
    except RecursionError:
        raise FormatError("malformed JSON: nested too deeply", path) from None


def document_pairs(data: Any, is_run: bool, path: str, query_ids: Any) -> tuple[tuple[tuple[str, Pairs], ...], Repairs]:
    """The documents of each query, from an object of objects, an engine's export or responses of searches."""
    from fastir.inputs import engine_json

    rows = engine_json.engine_rows(data, is_run, path)
    responses = engine_json.responses_in(data) if rows is None else None
    if responses is not None:
        if not is_run:
            raise FormatError("the JSON has responses of searches, whose hits are a run; expected qrels", path)
        found, noted = engine_json.search_rows(responses, path, query_ids)
        return engine_json.refuse_repeated_queries(found, path), noted
    if query_ids is not None:
        raise FormatError("the JSON has no responses of searches (_search, _msearch); expected no query_ids=", path)
    return objects(data, is_run, path) if rows is None else rows, {}


def objects(data: Any, is_run: bool, path: str) -> tuple[tuple[str, Pairs], ...]:
    """The pairs of the outer object; all values must be objects."""
    expected = "{query_id: {doc_id: " + ("score" if is_run else "label") + "}}"
    refuse_nested_rows(data[0] if type(data) is list and data else data, path)
    if type(data) is list and data and type(data[0]) is tuple:
        names = ", ".join(quote(name) for name, _ in data[0][:8])
        problem = (
            f"the JSON is an array of objects with {names or 'nothing'}, of which none has query ids and documents"
        )
        raise FormatError(f"{problem}; columns={{'query_id': name}} and the like tells which they are", path)
    if type(data) is not tuple:
        raise FormatError(f"the JSON is {kind(data)}, expected an object {expected}", path)
    refuse_lists(data, path)
    for query_id, documents in data:
        if type(documents) is not tuple:
            raise FormatError(f"query {quote(query_id)} has {kind(documents)}, expected as in {expected}", path)
    return data


def refuse_nested_rows(pairs: Any, path: str) -> None:
    """Say which value of an object is an array of objects: rows, if their keys have names."""
    for name, rows in pairs if type(pairs) is tuple else ():
        if type(rows) is list and rows and all(type(row) is tuple and row for row in rows):
            names = ", ".join(quote(key) for key, _ in rows[0][:8])
            raise FormatError(
                f"{quote(name)} is an array of objects with {names}; expected such an array alone, each object with "
                "its query and a document or a list of them, whose unusual names columns={'query_id': name} and the "
                "like give",
                path,
            )


def refuse_lists(data: Iterable[tuple[str, Any]], path: str) -> None:
    """Say what is wrong in (query_id, value) pairs, of which some have lists that cannot be read."""
    listed = {query_id: type(value) is list for query_id, value in data}
    if len(set(listed.values())) > 1:
        (one, is_list), *others = listed.items()
        other = next(query_id for query_id, other_is_list in others if other_is_list != is_list)
        values = {query_id: kind(value) for query_id, value in data if query_id in (one, other)}
        raise FormatError(f"query {quote(other)} has {values[other]}, but query {quote(one)} {values[one]}", path)
    for query_id, ids in data if any(listed.values()) else ():
        for rank, one in enumerate(ids if set(map(type, ids)) not in ({str}, {int}) else (), 1):
            is_id = isinstance(one, str) or (type(one) in (int, float) and one == int(one))
            if not is_id or isinstance(one, str) != isinstance(ids[0], str):
                shown = f"{one:g}" if type(one) in (int, float) else kind(one)
                where = f"the document id at rank {rank} of query {quote(query_id)}"
                raise FormatError(f"{where} is {shown}; expected all strings, or all integers", path)


def kind(value: object) -> str:
    """JSON's word for the type of a value."""
    names = {
        tuple: "an object",
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a truth value",
        type(None): "null",
    }
    return names.get(type(value), "a number")


def number_array(numbers: list[Any], is_run: bool) -> np.ndarray | None:
    """The numbers as float64, or None if one of them might not be a valid score or label."""
    if not set(map(type, numbers)) <= {float, bool}:
        return None
    array = np.array(numbers, float)
    return array if (np.isfinite(array).all() if is_run else fit_labels(array)) else None


def fit_labels(labels: np.ndarray) -> bool:
    """Whether all are labels that qrels can hold."""
    return bool(((labels >= LOWEST_LABEL) & (labels <= HIGHEST_LABEL)).all())


def check(queries: tuple[tuple[str, Pairs], ...], is_run: bool, path: str) -> None:
    """Raise the error for the first invalid number; numbers are Written, except NaN and Infinity, JSON's words."""
    what, wrong = ("score", wrong_score) if is_run else ("label", wrong_label)
    for query_id, documents in queries:
        for doc_id, number in documents:
            problem = wrong(number) if type(number) in (NumberText, float, bool) else "is not a number"
            if problem:
                shown = quote(str(number)) if isinstance(number, (str, float)) else kind(number)
                place = f"query {bare(query_id)}, document {bare(doc_id)}"
                raise FormatError(f"{what} {shown} {problem} ({place})", path)


def wrong_score(number: str | float) -> str | None:
    """The problem of a score, or None; infinity must be a word, because a number that large does not fit a float."""
    value = float(number)
    if value != value:
        return "is not a number: NaN cannot be ranked"
    return "is too large for a float" if type(number) is NumberText and value in (INF, -INF) else None


def wrong_label(number: str | float) -> str | None:
    """The problem of a label, or None."""
    value = float(number)
    if value != value:
        return "is not a number"
    return (
        None if LOWEST_LABEL <= value <= HIGHEST_LABEL else "is out of range; expected a number from -2^31 to 2^31 - 1"
    )
