"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs."""

import numpy as np

from fastir._judged import Judged
from fastir.inputs import dicts, formats, tables
from fastir.rows import Arena, Rows


class Qrels(Rows):
    """Relevance judgments.

    Made by `from_dict` or `from_file`; immutable. len() counts queries, iteration gives query ids in order of first
    appearance, ``qrels[query_id]`` is ``{doc_id: label}``.
    """

    what = "qrels"
    _judged = None

    @classmethod
    def from_dict(cls, data):
        """From ``{query_id: {doc_id: label}}``.

        Raises
        ------
        TypeError, ValueError, OverflowError
            An id is not a str, or a label not an integer in [-2^31, 2^31 - 1].
        """
        query_ids, offsets, doc_ids, labels = dicts.judgments(data)
        return cls(query_ids, np.array(offsets, np.int64), doc_ids, np.array(labels, np.int32))

    @classmethod
    def from_file(cls, path, format=None, duplicates=None, columns=None):
        """From a file; gzip and zstd are unpacked.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "beir", "msmarco", "json", "csv", "jsonl" or "parquet"
            "trec", and "msmarco" alike: query, iteration, document, label. "beir": query, document, label, with tabs
            between them, below the header ``query-id corpus-id score``. "json": ``{query_id: {doc_id: label}}``.
            "csv" (with a header), "jsonl" and "parquet", for which pyarrow must be installed: tables with columns as
            for `from_table`. None: what the name ends in, .json, .csv, .jsonl, .ndjson or .parquet (.gz and .zst behind
            it do not count), else "trec".
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.
        columns : dict or None
            As for `from_table`; for "csv", "jsonl" and "parquet".

        Raises
        ------
        FormatError, DuplicateError, ValueError, OSError
        """
        query_ids, offsets, ids, numbers, repairs = formats.read(path, False, format, duplicates, columns)
        return cls(query_ids, offsets, ids, numbers.astype(np.int32), repairs)

    @classmethod
    def from_table(cls, data, columns=None, duplicates=None):
        """From a table: a data frame, Arrow data, a dict of arrays, or (query_id, doc_id, label) tuples.

        Parameters
        ----------
        data : table
            As for `fastir.evaluate`.
        columns : dict or None
            ``{"query_id": name, "doc_id": name, "label": name}``, for columns that are not called as usual.
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        TypeError, ValueError, OverflowError, DuplicateError
        """
        query_ids, offsets, ids, numbers, repairs = tables.read(data, "qrels", columns, duplicates)
        return cls(query_ids, offsets, ids, numbers.astype(np.int32), repairs)

    @property
    def kinds(self) -> tuple[type, type] | None:
        """The types of query ids and document ids, str or int; None for a file's, which equal an int that they spell."""
        if isinstance(self._ids, Arena) and not self._ids.integers or not self.n_rows:
            return None
        return type(self._query_ids[0]), int if self.integers else str

    @property
    def integers(self) -> bool:
        """Whether document ids are integers."""
        ids = self._ids[:1]
        return bool(ids) and type(ids[0]) is int

    def prepared(self):
        """The C-level form, made once."""
        if self._judged is None:
            self._judged = Judged(self._query_ids, self._ids, self._offsets, self._numbers)
        return self._judged

    def save(self, path, format=None):
        """Write a file that reads back exactly, in one step; packed if the name ends in .gz or .zst.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "json" or "parquet"
            "parquet" needs pyarrow and keeps integer ids. None: "json" if the name ends in .json (.json.gz, .json.zst),
            "parquet" if in .parquet, else "trec".

        Raises
        ------
        ValueError
            The format cannot hold an id, or a query without documents.
        OSError
            What was there before is untouched, as after any error.
        """
        formats.write(path, self, False, format)

    def __repr__(self):
        return f"<Qrels: {len(self)} queries, {self.n_rows} judgments>"
