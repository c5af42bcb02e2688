"""Lists of documents as files: a table for people, or qrels in which each label still has to be put.

In such qrels every label is -1, which all tools take for "not judged". Whoever judges replaces it, and `merge_qrels`
adds what was judged to the judgments. The lines say neither ranks nor runs, which could sway a judge.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from fastir.errors import quote
from fastir.inputs import writers
from fastir.rendering.text import replacing, tsv_text

NO_LABEL = -1
QRELS_SUFFIXES = (".qrels", ".txt")


def write_qrels(file: BinaryIO, rows: Iterable[Sequence[Any]]) -> None:
    """A TREC line for each row, which begins with query_id and doc_id, in the order of the rows.

    Raises
    ------
    ValueError
        An id cannot be a field of a line.
    """
    for query_id, documents in itertools.groupby(rows, key=lambda row: row[0]):
        writers.trec(file, {query_id: dict.fromkeys((row[1] for row in documents), NO_LABEL)}, is_run=False)


def save_list(path: str | os.PathLike[str], head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows atomically: tab-separated below their head, or as qrels, by the suffix of the path.

    Raises
    ------
    ValueError
        The path ends otherwise, or an id cannot be a field of a line.
    OSError
        The file cannot be written; its old content is untouched.
    """
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix != ".tsv" and suffix not in QRELS_SUFFIXES:
        raise ValueError(f"the path must end in .tsv, {' or '.join(QRELS_SUFFIXES)}, got {quote(name)}")
    with replacing(name) as file:
        if suffix == ".tsv":
            file.write(tsv_text([list(map(str, row)) for row in (head, *rows)]).encode("utf-8", "surrogateescape"))
        else:
            write_qrels(file, rows)
