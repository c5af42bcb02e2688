"""Run: the rankings of one system, held as columns: ids as bytes, scores as float64, rows grouped by query."""

import numpy as np

from fastir._dicts import plain_scores
from fastir._judged import encode
from fastir.errors import quote
from fastir.inputs import dicts, formats
from fastir.qrels import decode


class Run:
    """Scored documents per query.

    Made by `from_dict` or `from_file`; immutable. len() counts queries, iteration gives query ids in order of first
    appearance, ``run[query_id]`` is ``{doc_id: score}``.
    """

    def __init__(self, query_ids, offsets, arena, starts, lengths, scores, repairs=None):
        self._query_ids = query_ids
        self._offsets = offsets
        self._arena = arena
        self._starts = starts
        self._lengths = lengths
        self._scores = scores
        self.repairs = repairs or {}
        self._places = None

    @classmethod
    def from_dict(cls, data):
        """From ``{query_id: {doc_id: score}}``.

        Raises
        ------
        TypeError, ValueError, OverflowError
            An id is not a str, or a score not a number; NaN.
        """
        query_ids, sizes, ids, scores = [], [0], [], []
        for query_id, ranking in dicts.query_dict(data, "run").items():
            ranking = plain_scores(query_id, ranking)
            for doc_id, score in ranking.items():
                if score != score:
                    raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {doc_id})")
            query_ids.append(query_id)
            ids.extend(map(encode, ranking))
            scores.extend(ranking.values())
            sizes.append(len(ids))
        lengths = np.array([len(i) for i in ids], np.int64)
        starts = np.zeros(len(ids), np.int64)
        np.cumsum(lengths[:-1], out=starts[1:])
        arena = np.frombuffer(b"".join(ids) + b"\n", np.uint8)
        return cls(query_ids, np.array(sizes, np.int64), arena, starts, lengths, np.array(scores, float))

    @classmethod
    def from_file(cls, path, format=None, duplicates=None):
        """From a file, or from standard input if the path is ``-``; gzip and zstd are unpacked.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "beir", "msmarco" or "json"
            "trec": query, Q0, document, rank, score, tag; the rank is ignored, and the order of lines but for
            ``ties="input"``. "beir": query, document, score, with tabs between them, below the header ``query-id
            corpus-id score``. "msmarco": query, document, rank; the score is then minus the rank. "json": ``{query_id:
            {doc_id: score}}``. None: "json" if the name ends in .json (.json.gz, .json.zst), else "trec".
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        FormatError, DuplicateError, ValueError, OSError
        """
        return cls(*formats.read(path, True, format, duplicates))

    def save(self, path, format=None):
        """Write a file that reads back exactly, in one step; packed if the name ends in .gz or .zst.

        Documents keep their order. Parameters and errors as for `Qrels.save`; JSON cannot hold infinite scores.
        """
        formats.write(path, self, True, format)

    def to_dict(self):
        """``{query_id: {doc_id: score}}``, new dicts."""
        return {query_id: self[query_id] for query_id in self._query_ids}

    def columns(self):
        """(arena, starts, lengths, scores, offsets), none of them empty."""
        pad = (lambda a: a if len(a) else np.zeros(1, a.dtype))
        return pad(self._arena), pad(self._starts), pad(self._lengths), pad(self._scores), self._offsets

    @property
    def n_rows(self):
        return len(self._scores)

    def find(self):
        """query_id -> position."""
        if self._places is None:
            self._places = {query_id: place for place, query_id in enumerate(self._query_ids)}
        return self._places

    def __len__(self):
        return len(self._query_ids)

    def __iter__(self):
        return iter(self._query_ids)

    def __contains__(self, query_id):
        return query_id in self.find()

    def __getitem__(self, query_id):
        try:
            place = self.find()[query_id]
        except KeyError:
            raise KeyError(f"query {quote(query_id)} is not in the run") from None
        rows = slice(self._offsets[place], self._offsets[place + 1])
        low, high = (self._starts[rows].min(), (self._starts[rows] + self._lengths[rows]).max()) if rows.stop > rows.start else (0, 0)
        ids = decode(self._arena[low:high], self._starts[rows] - low, self._lengths[rows])
        return dict(zip(ids, self._scores[rows].tolist(), strict=True))

    def __eq__(self, other):
        return self.to_dict() == other.to_dict() if isinstance(other, Run) else NotImplemented

    __hash__ = None

    def __reduce__(self):
        fields = (self._query_ids, self._offsets, self._arena, self._starts, self._lengths, self._scores, self.repairs)
        return Run, fields

    def __repr__(self):
        return f"<Run: {len(self)} queries, {len(self._scores)} documents>"
