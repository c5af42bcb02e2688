"""merge_qrels(): judgments with more judgments added, such as a list of documents with new labels."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from fastir.checks import check_choice
from fastir.data.qrels import GroupedQrels, Qrels, as_qrels
from fastir.errors import DuplicateError, FastirWarning, quote
from fastir.inputs import writers
from fastir.rendering.text import counted, replacing, tsv_text

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike

Labels = dict[Any, dict[Any, int]]
RULES = (None, "first", "last", "max")


def merge_qrels(qrels: QrelsLike, *more: QrelsLike, duplicates: str | None = None) -> Qrels:
    """Add new judgments to old ones.

    Parameters
    ----------
    qrels, *more : as for `evaluate`
        Labels of documents, but not of groups of judges. A negative label in `more` is not a judgment and is left out;
        one in `qrels` stays until a judgment replaces it.
    duplicates : None, "first", "last" or "max"
        Which of two different labels of a document counts. None makes them an error; equal labels never are.

    Returns
    -------
    Qrels
        The queries and documents of `qrels` in their order, then the new ones.

    Raises
    ------
    DuplicateError
        A document has two labels.
    FormatError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate` for qrels; ids are of two kinds; judgments are by groups.

    Warns
    -----
    FastirWarning
        Labels of `more` are negative.

    Examples
    --------
    >>> import fastir
    >>> fastir.merge_qrels({"q1": {"a": 1, "b": -1}}, {"q1": {"b": 2}, "q2": {"c": 0}}).to_dict()
    {'q1': {'a': 1, 'b': 2}, 'q2': {'c': 0}}
    """
    check_choice("duplicates", duplicates, RULES)
    sides = [read(place, one) for place, one in enumerate((qrels, *more), 1)]
    check_kinds(sides)
    labels: Labels = {query_id: dict(sides[0][query_id]) for query_id in sides[0]}
    n_open, example = 0, None
    for place, side in enumerate(sides[1:], 2):
        for query_id in side:
            judged = side[query_id]
            open_ids = [doc_id for doc_id, label in judged.items() if label < 0]
            if open_ids:
                n_open, example = n_open + len(open_ids), example or (query_id, open_ids[0])
            if len(open_ids) < len(judged):
                add(labels.setdefault(query_id, {}), judged, f"judgments {place}: query {quote(query_id)}", duplicates)
    if example is not None:
        what = counted(n_open, "document has", "documents have")
        where = f"such as {quote(example[1])} of query {quote(example[0])}"
        warnings.warn(f"{what} no label yet, {where}", FastirWarning, stacklevel=2)
    return Qrels.from_dict(labels)


def read(place: int, judgments: Any) -> Qrels:
    qrels = as_qrels(judgments, None, None)
    if isinstance(qrels, GroupedQrels):
        raise TypeError(f"judgments {place}: expected a label for each document, got judgments by groups")
    return qrels


def check_kinds(sides: list[Qrels]) -> None:
    """Ids of two kinds never match."""
    kinds = {place: id_kinds(side) for place, side in enumerate(sides, 1) if side.columns.n_rows}
    first = next(iter(kinds), 1)
    for place, kind in kinds.items():
        if kind != kinds[first]:
            raise TypeError(f"judgments {place} have ids of type {kind}, judgments {first} of {kinds[first]}")


def id_kinds(qrels: Qrels) -> str:
    query_id, doc_id = next((query_id, doc_id) for query_id in qrels for doc_id in qrels[query_id])
    return f"({type(query_id).__name__}, {type(doc_id).__name__})"


def add(labels: dict[Any, int], judged: dict[Any, int], where: str, rule: str | None) -> None:
    """Put the labels of a query's documents among those that are known."""
    for doc_id, label in judged.items():
        if label < 0:
            continue
        old = labels.get(doc_id, label)
        if old < 0 or old == label or rule == "last":
            labels[doc_id] = label
        elif rule == "max":
            labels[doc_id] = max(old, label)
        elif rule is None:
            raise DuplicateError(
                f"{where}, document {quote(doc_id)} has the label {label}, and had {old}; "
                "duplicates='first', 'last' or 'max' would say which counts"
            )


# ---- lists of documents as files -------------------------------------------------------------------------------------


NO_LABEL = -1
QRELS_SUFFIXES = (".qrels", ".txt")


def write_qrels(file: BinaryIO, rows: Iterable[Sequence[Any]]) -> None:
    """A TREC line for each row, which begins with query_id and doc_id, in the order of the rows."""
    for query_id, documents in itertools.groupby(rows, key=lambda row: row[0]):
        writers.trec(file, {query_id: dict.fromkeys((row[1] for row in documents), NO_LABEL)}, is_run=False)


def save_list(path: str | os.PathLike[str], head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows atomically: tab-separated below their head, or as qrels, by the suffix of the path."""
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix != ".tsv" and suffix not in QRELS_SUFFIXES:
        raise ValueError(f"the path must end in .tsv, {' or '.join(QRELS_SUFFIXES)}, got {quote(name)}")
    with replacing(name) as file:
        if suffix == ".tsv":
            file.write(tsv_text([list(map(str, row)) for row in (head, *rows)]).encode("utf-8", "surrogateescape"))
        else:
            write_qrels(file, rows)
