"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs."""

import os

import numpy as np

from fastir._judged import Judged
from fastir.inputs import dicts, trec
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
        """From a TREC qrels file: query, iteration, document, label; gzip is unpacked.

        Parameters
        ----------
        path : str or path
        format : None or "trec"
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        FormatError, DuplicateError, OSError
        """
        check_format(format)
        query_ids, offsets, arena, starts, lengths, numbers, repairs = trec.read(path, False, duplicates)
        return cls(query_ids, offsets, Arena(arena, starts, lengths), numbers.astype(np.int32), repairs)

    def prepared(self):
        """The C-level form, made once."""
        if self._judged is None:
            self._judged = Judged(self._query_ids, self._ids, self._offsets, self._numbers)
        return self._judged

    def save(self, path):
        """Write a TREC qrels file, in one step; ``.gz`` is compressed."""
        write(path, (f"{query} 0 {doc} {label}" for query in self for doc, label in self[query].items()))

    def __repr__(self):
        return f"<Qrels: {len(self)} queries, {self.n_rows} judgments>"


def check_format(format):
    if format not in (None, "trec"):
        raise ValueError(f"format {format!r} is not supported; expected None or 'trec'")


def write(path, lines):
    """Write lines to a file in one step."""
    import gzip

    path = os.fsdecode(path)
    target = os.path.realpath(path)
    draft = f"{target}.{os.getpid()}.tmp"
    try:
        with (gzip.open if path.endswith(".gz") else open)(draft, "wb") as file:
            for line in lines:
                if len(line.split()) not in (4, 6) or "\0" in line:
                    raise ValueError(f"cannot write {path}: an id is empty or holds white space or NUL: {line[:80]!r}")
                file.write(line.encode("utf-8", "surrogateescape") + b"\n")
        os.replace(draft, target)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)
