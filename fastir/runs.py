"""Run: the rankings of one system, held as columns: ids as bytes, scores as float64, rows grouped by query."""

from collections.abc import Callable

import numpy as np

from fastir._columns import Columns
from fastir._dicts import plain_scores
from fastir._ids import of_arena
from fastir.inputs import dicts, trec
from fastir.qrels import check_format, write
from fastir.rows import Arena, Rows
from fastir.threads import share_all

STRETCH = 1 << 16       # rows that a thread takes at a time


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
        for query_id, ranking in dicts.query_dict(data, "run").items():
            ranking = plain_scores(query_id, ranking)
            for doc_id, score in ranking.items():
                if score != score:
                    raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {doc_id})")
            query_ids.append(query_id)
            ids.extend(ranking)
            scores.extend(ranking.values())
            sizes.append(len(ids))
        return cls(query_ids, np.array(sizes, np.int64), Arena.of(ids), np.array(scores, float))

    @classmethod
    def from_file(cls, path, format=None, duplicates=None):
        """From a TREC run file: query, Q0, document, rank, score, tag; gzip is unpacked, ``-`` is standard input.

        The rank column and the order of lines are ignored (but for ``ties="input"``).

        Raises
        ------
        FormatError, DuplicateError, OSError
        """
        check_format(format)
        return cls._from_trec(path, duplicates)

    @classmethod
    def _from_trec(cls, path, duplicates, watch=None):
        """As from_file; watch(position) is called at every block."""
        query_ids, offsets, arena, starts, lengths, scores, repairs = trec.read(path, True, duplicates, watch)
        return cls(query_ids, offsets, Arena(arena, starts, lengths), scores, repairs)

    def save(self, path):
        """Write a TREC run file, in one step; ``.gz`` is compressed. Documents keep their order."""
        write(path, (f"{query} Q0 {doc} {rank} {score!r} fastir" for query in self
                     for rank, (doc, score) in enumerate(self[query].items(), 1)))

    def evaluate(self, join: Columns, query_ids: list, threads: int, watch: Callable | None = None) -> None:
        """Hand the rows of these queries to a Columns, in stretches of queries; watch(0) is called before each."""
        find = self.places()
        places = np.array([find.get(query_id, -1) for query_id in query_ids], np.int64)
        docs = of_arena(self._ids)
        stretch = max(1, len(places) * STRETCH // max(1, self.n_rows))

        def work(t, begin, number):
            if watch is not None:
                watch(0)
            join.read_run(t, docs, self._numbers, self._offsets, places, begin, min(begin + stretch, len(places)))

        share_all(range(0, len(places), stretch), work, threads)

    def __repr__(self):
        return f"<Run: {len(self)} queries, {self.n_rows} documents>"
