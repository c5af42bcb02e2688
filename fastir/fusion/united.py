"""Runs side by side: their columns, and where each query's rows are in them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.columns._ids import ids_from_arena
from fastir.columns.ids import Arena
from fastir.columns.rows import offsets_from_sizes
from fastir.errors import quote
from fastir.fusion._fusion import Fusion, pack, pack_text
from fastir.fusion.cards import find_method
from fastir.fusion.settings import Setting, recipes
from fastir.inputs import places
from fastir.pools.ranked import read_runs
from fastir.request.options import WHOLE
from fastir.run import Run
from fastir.threads import longest_query, run

if TYPE_CHECKING:
    from fastir.evaluation.run_names import RunNames
    from fastir.fusion._recipe import Recipes
    from fastir.request.options import Duplicates

SIGNS = {"trec": 1, "doc_id_asc": -1, "input": 0}  # which of equal scores comes first, for the kernel
LACKED = "queries that some of the fused runs lack"  # a kind of repair that repairs nothing
CHUNK_ROWS = 1 << 19  # rows of all runs that are fused at a time: what they become is copied from warm memory
Repairs = dict[str, tuple[int, str]]


class United:
    """Runs that are fused.

    Attributes
    ----------
    names : list
    query_ids : list
        Of all runs, in order of first appearance.
    firsts, sizes : int64 arrays of shape (n_runs, n_queries)
        Where each query's rows begin in each run, and how many they are.
    integers : bool
        Whether document ids are.
    repairs : dict
        {kind: (count, place)} of the runs, and LACKED.
    """

    def __init__(self, runs: Mapping[Hashable, Run]) -> None:
        if len(runs) < 2:
            raise ValueError(f"runs: at least two are needed to fuse, got {len(runs)} ({', '.join(map(quote, runs))})")
        self.names = list(runs)
        self.runs = [single(held) for held in runs.values()]
        self.query_ids = list(dict.fromkeys(itertools.chain.from_iterable(self.runs)))
        self.firsts, self.sizes = np.zeros((2, len(self.runs), len(self.query_ids)), np.int64)
        lacked = np.zeros(len(self.query_ids), bool)
        for row, held in enumerate(self.runs):
            offsets, place_by_query = held._columns()[1], held._places()
            where = np.array([place_by_query.get(query_id, -1) for query_id in self.query_ids], np.int64)
            has = where >= 0
            self.firsts[row, has] = offsets[where[has]]
            self.sizes[row, has] = np.diff(offsets)[where[has]]
            lacked |= ~has
        self.integers = any(held._columns()[0].integers for held in self.runs)
        self.repairs = merged([held._repairs for held in self.runs])
        if lacked.any():
            self.repairs[LACKED] = (int(lacked.sum()), f"query {self.query_ids[int(lacked.argmax())]}")

    @property
    def longest(self) -> int:
        """The rows of the longest ranking."""
        return int(self.sizes.max(initial=0))

    def check_finite(self) -> None:
        """Raise ValueError for a score that cannot be computed with."""
        for name, held in zip(self.names, self.runs, strict=True):
            _, offsets, scores = held._columns()
            odd = ~np.isfinite(scores)
            if odd.any():
                row = int(odd.argmax())
                where = place_of(held, offsets, row)
                raise ValueError(
                    f"run {quote(name)}: the score {scores[row]} cannot be fused ({where}); a method that "
                    "goes by ranks, such as 'rrf', would take it"
                )

    def fused(
        self,
        recipes: Recipes,
        sign: int,
        top: int,
        n_threads: Any,
        by_id: bool = False,
        chosen: slice = slice(None),
        kept: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
    ) -> Run:
        """A Run of the documents of some queries, by fused score or by id; `kept` gets features and places.

        Nothing is counted before: each query gets room for all its rows, and pack() closes the gaps, which the system
        never had to find memory for.
        """
        firsts, sizes = (np.ascontiguousarray(array[:, chosen]) for array in (self.firsts, self.sizes))
        rows = sizes.sum(0)
        slots = offsets_from_sizes(np.minimum(rows, top))
        texts = np.zeros(len(rows), np.int64)
        columns, numbers = [], []
        for held, first, size in zip(self.runs, firsts, sizes, strict=True):
            ids, _, scores = held._columns()
            columns.append(ids_from_arena(ids))
            numbers.append(scores)
            texts += sums_of(ids.lengths, first, size)
        text_slots = offsets_from_sizes(texts)
        text = np.empty(int(text_slots[-1]), np.uint8)
        starts, lengths = np.empty(int(slots[-1]), np.int64), np.empty(int(slots[-1]), np.int64)
        scores, counts = np.empty(int(slots[-1])), np.zeros(len(rows), np.int64)
        kernel = Fusion(
            *(recipes, columns, numbers, firsts, sizes, sign, by_id, top, slots[:-1], text_slots[:-1]),
            *(text, starts, lengths, scores, counts, *kept),
        )
        run(kernel, n_threads, longest_query(offsets_from_sizes(rows)))
        kernel.check()
        del kernel
        text.resize(pack_text(text, text_slots[:-1], starts, lengths, slots[:-1], counts), refcheck=False)
        for array in (starts, lengths, scores):
            array.resize(pack(array.view(np.int64), slots[:-1], counts), refcheck=False)
        query_ids = self.query_ids[chosen]
        arena = Arena(text, starts, lengths, self.integers)
        return Run(query_ids, offsets_from_sizes(counts), arena, scores, dict(self.repairs))

    def fused_in_chunks(self, recipes: Recipes, sign: int, top: int, n_threads: Any) -> Run:
        """The same of all queries, some at a time: only what is kept takes memory."""
        rows = self.sizes.sum(0)
        edges = chunked(offsets_from_sizes(rows), CHUNK_ROWS)
        if len(edges) < 2:
            return self.fused(recipes, sign, top, n_threads)
        most = int(np.minimum(rows, top).sum())
        starts, lengths, scores = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
        text = np.empty(sum(int(held._columns()[0].lengths.sum()) for held in self.runs) + len(edges), np.uint8)
        sizes, n, used = [], 0, 0
        for begin, end in edges:
            ids, offsets, numbers = self.fused(recipes, sign, top, n_threads, chosen=slice(begin, end))._columns()
            here, n_bytes = slice(n, n + len(numbers)), len(ids.text)
            text[used : used + n_bytes] = ids.text
            np.add(ids.starts, used, out=starts[here])
            lengths[here], scores[here] = ids.lengths, numbers
            sizes.append(np.diff(offsets))
            n, used = here.stop, used + n_bytes
        for array, size in ((text, used), (starts, n), (lengths, n), (scores, n)):
            array.resize(size, refcheck=False)
        arena = Arena(text, starts, lengths, self.integers)
        return Run(self.query_ids, offsets_from_sizes(np.concatenate(sizes)), arena, scores, dict(self.repairs))


def chunked(slots: np.ndarray, rows: int) -> list[tuple[int, int]]:
    """(first, stop) of queries that together have about so many rows, at least one query each."""
    edges, begin = [], 0
    while begin < len(slots) - 1:
        end = max(begin + 1, int(np.searchsorted(slots, slots[begin] + rows, "right")) - 1)
        edges.append((begin, end))
        begin = end
    return edges


def normalized(held: Run, norm: str | None) -> Run:
    """A run with the scores of each query after a norm, the documents in rank order."""
    pair = United({"run": held, "same": held})
    pair.check_finite()
    setting = Setting((1.0, 0.0), {})
    return pair.fused(recipes(find_method("wsum"), norm, [setting], 2, pair.longest), SIGNS["input"], WHOLE, None)


def place_of(held: Run, offsets: np.ndarray, row: int) -> str:
    """The query and the document of a row, for messages."""
    query_id = held.query_ids[int(np.searchsorted(offsets, row, "right")) - 1]
    return f"query {query_id}, document {held._columns()[0][row : row + 1][0]}"


def sums_of(numbers: np.ndarray, firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of each of several pieces of an array."""
    sums = np.zeros(len(firsts), np.int64)
    some = np.flatnonzero(sizes)
    if len(some):
        edges = np.stack([firsts[some], firsts[some] + sizes[some]], 1).ravel()
        if (np.diff(edges) >= 0).all():
            sums[some] = np.add.reduceat(numbers[: edges[-1]], edges[:-1])[::2]
        else:  # the queries come in another order than those of the first run
            sums[some] = [
                int(numbers[first : first + size].sum()) for first, size in zip(firsts[some], sizes[some], strict=True)
            ]
    return sums


def single(held: Run) -> Run:
    """The run without documents that come twice, which ``duplicates="once"`` leaves."""
    return Run.from_dict(held.to_dict()) if "duplicates" in held._repairs else held


def merged(repairs: list[Repairs]) -> Repairs:
    """What was repaired in several runs."""
    all_of_them: Repairs = {}
    for run_repairs in repairs:
        for kind, (count, where) in run_repairs.items():
            before, first = all_of_them.get(kind, (0, where))
            all_of_them[kind] = (before + count, first)
    return all_of_them


def united(
    runs: Any, names: RunNames, columns: Mapping[str, str] | None, duplicates: Duplicates | None, judgments: Any = None
) -> United:
    """The runs of a caller: as for `evaluate_many`, or a list of runs of any shape."""
    return United(read_runs(listed(runs), columns, duplicates, None, names, judgments=judgments))


def listed(runs: Any) -> Any:
    """Runs of a list, with the names that they have, else with numbers from 1; other collections as they are."""
    if not isinstance(runs, (list, tuple)) or all(map(places.is_place, runs)):
        return runs
    if all(isinstance(pair, tuple) and len(pair) == 2 for pair in runs):
        return runs
    names = [name_of(held, number) for number, held in enumerate(runs, 1)]
    if len(set(names)) < len(names):
        names = [str(number) for number in range(1, len(names) + 1)]
    return dict(zip(names, runs, strict=True))


def name_of(held: Any, number: int) -> str:
    if places.is_place(held):
        return places.stem(held) or str(number)
    return (held.name if isinstance(held, Run) else None) or str(number)
