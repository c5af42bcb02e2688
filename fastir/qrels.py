"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs."""

import numpy as np

from fastir._judged import Judged
from fastir.inputs import dicts, formats


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
        doc_ids = decode(arena, starts, lengths)
        return cls(query_ids, offsets, doc_ids, numbers.astype(np.int32), repairs)

    def prepared(self):
        """The C-level form, made once."""
        if self._judged is None:
            self._judged = Judged(self._query_ids, self._doc_ids, self._offsets, self._labels)
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


def decode(arena, starts, lengths):
    text = arena.tobytes()
    return [text[s:s + n].decode("utf-8", "surrogateescape") for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)]
