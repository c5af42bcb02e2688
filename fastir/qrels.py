"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs."""

import numpy as np

from fastir._judged import Judged
from fastir.inputs import dicts, formats
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
    def from_file(cls, path, format=None, duplicates=None):
        """From a file; gzip and zstd are unpacked.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "beir", "msmarco" or "json"
            "trec", and "msmarco" alike: query, iteration, document, label. "beir": query, document, label, with tabs
            between them, below the header ``query-id corpus-id score``. "json": ``{query_id: {doc_id: label}}``.
            None: "json" if the name ends in .json (.json.gz, .json.zst), else "trec".
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        FormatError, DuplicateError, ValueError, OSError
        """
        query_ids, offsets, arena, starts, lengths, numbers, repairs = formats.read(path, False, format, duplicates)
        return cls(query_ids, offsets, Arena(arena, starts, lengths), numbers.astype(np.int32), repairs)

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
        format : None, "trec" or "json"
            None: "json" if the name ends in .json (.json.gz, .json.zst), else "trec".

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
