"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs."""

import os

import numpy as np

from fastir._judged import Judged
from fastir.inputs import dicts, trec


class Qrels:
    """Relevance judgments.

    Made by `from_dict` or `from_file`; immutable. len() counts queries, iteration gives query ids in order of first
    appearance, ``qrels[query_id]`` is ``{doc_id: label}``.
    """

    def __init__(self, query_ids, offsets, doc_ids, labels, repairs=None):
        self._query_ids = query_ids
        self._offsets = offsets
        self._doc_ids = doc_ids
        self._labels = labels
        self.repairs = repairs or {}
        self._places = None
        self._judged = None

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
        doc_ids = decode(arena, starts, lengths)
        return cls(query_ids, offsets, doc_ids, numbers.astype(np.int32), repairs)

    def prepared(self):
        """The C-level form, made once."""
        if self._judged is None:
            self._judged = Judged(self._query_ids, self._doc_ids, self._offsets, self._labels)
        return self._judged

    def save(self, path):
        """Write a TREC qrels file, in one step; ``.gz`` is compressed."""
        write(path, (f"{query} 0 {doc} {label}" for query in self for doc, label in self[query].items()))

    def to_dict(self):
        """``{query_id: {doc_id: label}}``, new dicts."""
        return {query_id: self[query_id] for query_id in self._query_ids}

    def __len__(self):
        return len(self._query_ids)

    def __iter__(self):
        return iter(self._query_ids)

    def __contains__(self, query_id):
        return query_id in self._find()

    def _find(self):
        if self._places is None:
            self._places = {query_id: place for place, query_id in enumerate(self._query_ids)}
        return self._places

    def __getitem__(self, query_id):
        place = self._find()[query_id]
        a, b = self._offsets[place], self._offsets[place + 1]
        return dict(zip(self._doc_ids[a:b], self._labels[a:b].tolist(), strict=True))

    def __eq__(self, other):
        return self.to_dict() == other.to_dict() if isinstance(other, Qrels) else NotImplemented

    __hash__ = None

    def __reduce__(self):
        return Qrels, (self._query_ids, self._offsets, self._doc_ids, self._labels, self.repairs)

    def __repr__(self):
        return f"<Qrels: {len(self)} queries, {len(self._doc_ids)} judgments>"


def check_format(format):
    if format not in (None, "trec"):
        raise ValueError(f"format {format!r} is not supported; expected None or 'trec'")


def decode(arena, starts, lengths):
    text = arena.tobytes()
    return [text[s:s + n].decode("utf-8", "surrogateescape") for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)]


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
