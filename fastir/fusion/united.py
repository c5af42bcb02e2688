"""Runs side by side: their columns, and where each query's rows are in them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.columns._ids import ids_from_arena
from fastir.columns.ids import Arena
from fastir.columns.rows import offsets_from_sizes
from fastir.errors import quote
from fastir.fusion._fusion import Fusion
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
CHUNK_ROWS = 1 << 20  # rows of all runs that are fused at a time: what they become is copied from warm memory
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

    def parts(
        self, recipes: Recipes, sign: int, top: int, n_threads: Any, by_id: bool = False
    ) -> Iterator[tuple[int, int, Fusion]]:
        """(first, stop, kernel) of some queries at a time, whose fused documents copy_to() copies, in order."""
        columns = [held._columns() for held in self.runs]
        kernel = Fusion(
            *(recipes, [ids_from_arena(ids) for ids, _, _ in columns], [scores for _, _, scores in columns]),
            *(self.firsts, self.sizes, sign, by_id, top),
        )
        rows = offsets_from_sizes(self.sizes.sum(0))
        first = 0
        while first < len(self.query_ids):
            stop = max(first + 1, int(np.searchsorted(rows, rows[first] + CHUNK_ROWS, "right")) - 1)
            kernel.begin(first, stop)
            run(kernel, n_threads, longest_query(rows[first : stop + 1]))
            kernel.check()
            yield first, stop, kernel
            first = stop

    def fused(self, recipes: Recipes, sign: int, top: int, n_threads: Any) -> Run:
        """A Run of the documents of each query in the order of their fused scores."""
        n_rows = int(np.minimum(self.sizes.sum(0), top).sum())
        n_bytes = sum(int(held._columns()[0].lengths.sum()) for held in self.runs)
        text, starts, scores = arrays_of_ids(n_rows, n_bytes)
        counts = np.zeros(len(self.query_ids), np.int64)
        n = used = 0
        for first, stop, kernel in self.parts(recipes, sign, top, n_threads):
            kernel.copy_to(text, starts, scores, n, used)
            run(kernel, n_threads)
            counts[first:stop] = kernel.counts[first:stop]
            n, used = n + int(counts[first:stop].sum()), used + int(kernel.n_bytes[first:stop].sum())
            del kernel  # which holds the arrays
        for array, size in ((text, used), (starts, n + 1), (scores, n)):
            array.resize(size, refcheck=False)
        starts[n] = used
        return self.run(slice(None), counts, text, starts, scores)

    def run(self, queries: slice, counts: np.ndarray, text: np.ndarray, starts: np.ndarray, scores: np.ndarray) -> Run:
        arena = Arena(text, starts, None, self.integers)
        return Run(self.query_ids[queries], offsets_from_sizes(counts), arena, scores, dict(self.repairs))


def arrays_of_ids(n: int, n_bytes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes of n ids, where each one starts and the last one ends, and their scores; to be filled."""
    return np.empty(n_bytes, np.uint8), np.empty(n + 1, np.int32 if n_bytes < 1 << 31 else np.int64), np.empty(n)


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
