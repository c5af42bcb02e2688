"""Run: the rankings of one system, held as columns: ids as bytes, scores as float64, rows grouped by query."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from fastir.columns._dicts import has_integer_documents, plain_scores
from fastir.columns.ids import Arena
from fastir.columns.rows import Rows
from fastir.inputs import dicts, formats
from fastir.inputs.shapes import HELD, PATH, TABLE, shape_of
from fastir.text import counted

if TYPE_CHECKING:
    from fastir.request.options import Duplicates


class Run(Rows):
    """Scored documents per query.

    Made by `from_dict` or `from_file`; immutable. len() counts queries, iteration gives query ids in order of first
    appearance, ``run[query_id]`` is ``{doc_id: score}``.
    """

    what = "run"

    @classmethod
    def from_dict(cls, data):
        """From ``{query_id: {doc_id: score}}``.

        Raises
        ------
        TypeError, ValueError, OverflowError
            An id is not a str, or a score not a number; NaN.
        """
        query_ids, sizes, ids, scores = [], [0], [], []
        data = dicts.query_dict(data, "run")
        integers = bool(has_integer_documents(data))
        for query_id, ranking in data.items():
            ranking = plain_scores(query_id, ranking, integers)
            for doc_id, score in ranking.items():
                if score != score:
                    raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {doc_id})")
            query_ids.append(query_id)
            ids.extend(ranking)
            scores.extend(ranking.values())
            sizes.append(len(ids))
        return cls(query_ids, np.array(sizes, np.int64), Arena.of(ids), np.array(scores, float))

    @classmethod
    def from_file(cls, path, format=None, duplicates=None, columns=None):
        """From a file, or from standard input if the path is ``-``; gzip and zstd are unpacked.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "beir", "msmarco", "json", "csv", "jsonl" or "parquet"
            "trec": query, Q0, document, rank, score, tag; the rank is ignored, and the order of lines but for
            ``ties="input"``. "beir": query, document, score, with tabs between them, below the header ``query-id
            corpus-id score``. "msmarco": query, document, rank; the score is then minus the rank. "json": ``{query_id:
            {doc_id: score}}``. "csv" (with a header), "jsonl" and "parquet", for which pyarrow must be there: tables
            with columns as for `from_table`. None: what the name ends in, .json, .csv, .jsonl, .ndjson or .parquet (.gz
            and .zst behind it do not count), else "trec".
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.
        columns : dict or None
            As for `from_table`; for "csv", "jsonl" and "parquet".

        Raises
        ------
        FormatError, DuplicateError, ValueError, OSError
        """
        return cls(*formats.read(path, True, format, duplicates, columns))

    @classmethod
    def from_table(cls, data, columns=None, duplicates=None):
        """From a table: a data frame, Arrow data, a dict of arrays, or (query_id, doc_id, score) tuples.

        Parameters
        ----------
        data : table
            All of it is copied. pandas and polars frames, pyarrow tables and readers, DuckDB relations, whatever has
            ``__arrow_c_stream__`` or ``__arrow_c_array__``, dicts of arrays, iterables of tuples. Its columns are found
            by the first of these names that it has: query_id, qid, q_id, user_id, query-id; doc_id, docno, docid,
            item_id, corpus-id; score. Ids are strings or integers.
        columns : dict or None
            ``{"query_id": name, "doc_id": name, "score": name}``, for columns that are not called as usual.
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        TypeError, ValueError, DuplicateError
        """
        from fastir.inputs import table_rows

        return cls(*table_rows.read(data, "run", columns, duplicates))

    def save(self, path, format=None):
        """Write a file that reads back exactly, in one step; packed if the name ends in .gz or .zst.

        Documents keep their order.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "json" or "parquet"
            "parquet" needs pyarrow and keeps integer ids. None: "json" if the name ends in .json (.json.gz, .json.zst),
            "parquet" if in .parquet, else "trec".

        Raises
        ------
        ValueError
            The format cannot hold an id, a query without documents, or (JSON) an infinite score.
        OSError
            The file cannot be written. After this and any other error its old content is untouched.
        """
        formats.write(path, self, True, format)

    def columns(self) -> tuple[Arena, np.ndarray, np.ndarray]:
        """What it is made of: document ids, where each query begins, and scores. Not to be changed."""
        return self._ids, self._offsets, self._numbers

    def repeated(self, names: Iterable[tuple[str, Hashable]]) -> Run:
        """A Run of rankings under other names, from (name, query_id) pairs; pairs of absent queries are left out."""
        places, offsets, ids = self.places(), self._offsets, self._ids
        found = [(name, places[query_id]) for name, query_id in names if query_id in places]
        rows = np.concatenate([np.arange(offsets[place], offsets[place + 1]) for _, place in found] or [offsets[:0]])
        sizes = np.diff(offsets)[[place for _, place in found]]
        return Run(
            [name for name, _ in found],
            np.concatenate(([0], np.cumsum(sizes))),
            Arena(ids.text, ids.starts[rows], ids.lengths[rows], ids.integers),
            self._numbers[rows],
        )

    def __repr__(self):
        return f"<Run: {counted(len(self), 'query', 'queries')}, {counted(self.n_rows, 'document', 'documents')}>"


if TYPE_CHECKING:
    Path = str | bytes | os.PathLike
    RunLike = Mapping[str, Mapping[str, SupportsFloat]] | Path | Run
    RunsLike = Mapping[Hashable, RunLike] | Iterable[tuple[Hashable, RunLike]]
    Watch = Callable[[int], object]


def as_run(data: Any, columns: Mapping[str, str] | None, duplicates: Duplicates | None) -> Run:
    """A Run of what a caller passed as one, of any shape."""
    shape = shape_of(data, Run)
    if shape == HELD:
        return data
    if shape == PATH:
        return Run.from_file(data, duplicates=duplicates, columns=columns)
    return Run.from_table(data, columns, duplicates) if shape == TABLE else Run.from_dict(data)
