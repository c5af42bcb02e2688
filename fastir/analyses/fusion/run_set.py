"""Runs side by side: their columns, and where each query's rows are in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.fusion._fusion import Fusion
from fastir.analyses.fusion.cards import Method
from fastir.checks import check_choice
from fastir.data.run import Run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.engine.threads import longest_query, run
from fastir.errors import quote
from fastir.evaluation.read_runs import read_runs

if TYPE_CHECKING:
    from fastir.analyses.fusion._recipe import Recipes
    from fastir.evaluation.run_names import RunNames
    from fastir.request.options import Duplicates

TIE_SIGNS = {"trec": 1, "doc_id_asc": -1, "input": 0}  # which of equal scores comes first, for the kernel
MISSING_QUERIES = "queries missing from some of the fused runs"  # a kind of repair that repairs nothing
CHUNK_ROWS = 1 << 20  # rows of all runs that are fused at a time


def check_ties(ties: Any) -> str:
    """The order of equal scores, one of TIE_SIGNS; "trec" if none is given."""
    if ties == "input_reversed":
        raise ValueError(
            "ties='input_reversed': runs that are fused have several inputs, and no order of all documents to reverse; "
            "reverse the rows of each run, and give ties='input'"
        )
    return check_choice("ties", "trec" if ties is None else ties, TIE_SIGNS)


class RunSet:
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
        {kind: (count, example)} of the runs, and MISSING_QUERIES.
    """

    names: list[Any]
    runs: list[Run]
    query_ids: list[Any]
    firsts: np.ndarray
    sizes: np.ndarray
    integers: bool

    def __init__(self, runs: Mapping[Any, Run]) -> None:
        if len(runs) < 2:
            raise ValueError(f"runs: at least two are needed to fuse, got {len(runs)} ({', '.join(map(quote, runs))})")
        self.names = list(runs)
        # what duplicates="once" leaves in a run is taken out
        self.runs = [Run.from_dict(r.to_dict()) if "duplicates" in r.columns.repairs else r for r in runs.values()]
        self.query_ids = list(dict.fromkeys(itertools.chain.from_iterable(self.runs)))
        self.firsts, self.sizes = np.zeros((2, len(self.runs), len(self.query_ids)), np.int64)
        self.repairs: dict[str, tuple[int, str]] = {}
        missing = np.zeros(len(self.query_ids), bool)
        for row, ranked in enumerate(self.runs):
            offsets, place_by_query = ranked.columns.offsets, ranked.columns.places()
            where = np.array([place_by_query.get(query_id, -1) for query_id in self.query_ids], np.int64)
            has = where >= 0
            self.firsts[row, has] = offsets[where[has]]
            self.sizes[row, has] = np.diff(offsets)[where[has]]
            missing |= ~has
            for kind, (count, first) in ranked.columns.repairs.items():
                before, first = self.repairs.get(kind, (0, first))
                self.repairs[kind] = before + count, first
        self.integers = any(ranked.columns.ids.integers for ranked in self.runs)
        if missing.any():
            self.repairs[MISSING_QUERIES] = (int(missing.sum()), f"query {self.query_ids[int(missing.argmax())]}")

    @property
    def longest(self) -> int:
        """The rows of the longest ranking."""
        return int(self.sizes.max(initial=0))

    def check_scores(self, card: Method, norm: str | None) -> None:
        """Raise ValueError for a score with which a method cannot compute."""
        if not card.reads_scores or norm in ("rank", "borda"):
            return
        for name, ranked in zip(self.names, self.runs, strict=True):
            where = first_infinite(ranked)
            if where is not None:
                raise ValueError(
                    f"run {quote(name)}: the score {where[0]} cannot be fused ({where[1]}); a method that "
                    "goes by ranks, such as 'rrf', would take it"
                )

    def parts(
        self, recipes: Recipes, sign: int, top: int, n_threads: Any, by_id: bool = False
    ) -> Iterator[tuple[slice, Fusion]]:
        """Some queries at a time, in order, and the kernel; its copy_to() copies their fused documents."""
        columns = [ranked.columns.arrays() for ranked in self.runs]
        ids, numbers = [ids_from_arena(arena) for arena, _, _ in columns], [scores for _, _, scores in columns]
        kernel = Fusion(recipes, ids, numbers, self.firsts, self.sizes, sign, by_id, top)
        rows = offsets_from_sizes(self.sizes.sum(0))
        first = 0
        while first < len(self.query_ids):
            stop = max(first + 1, int(np.searchsorted(rows, rows[first] + CHUNK_ROWS, "right")) - 1)
            kernel.begin(first, stop)
            run(kernel, n_threads, longest_query(rows[first : stop + 1]))
            kernel.check()
            yield slice(first, stop), kernel
            first = stop

    def fuse(self, recipes: Recipes, sign: int, top: int, n_threads: Any) -> Run:
        """A Run of the documents of each query in the order of their fused scores."""
        n_rows = int(np.minimum(self.sizes.sum(0), top).sum())
        text, starts, scores = empty_columns(n_rows, sum(int(r.columns.ids.lengths.sum()) for r in self.runs))
        counts = np.zeros(len(self.query_ids), np.int64)
        n = n_bytes = 0
        for queries, kernel in self.parts(recipes, sign, top, n_threads):
            kernel.copy_to(text, starts, scores, n, n_bytes)
            run(kernel, n_threads)
            counts[queries] = kernel.counts[queries]
            n, n_bytes = n + int(counts[queries].sum()), n_bytes + int(kernel.n_bytes[queries].sum())
            del kernel  # which holds the arrays
        for array, size in ((text, n_bytes), (starts, n + 1), (scores, n)):
            array.resize(size, refcheck=False)
        starts[n] = n_bytes
        return self.as_run(slice(None), counts, text, starts, scores)

    def as_run(
        self, queries: slice, counts: np.ndarray, text: np.ndarray, starts: np.ndarray, scores: np.ndarray
    ) -> Run:
        """A Run of columns as empty_columns() makes them."""
        arena = Arena(text, starts, None, self.integers)
        return Run(self.query_ids[queries], offsets_from_sizes(counts), arena, scores, dict(self.repairs))


def empty_columns(n: int, n_bytes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for the bytes of n ids, for where each one starts and the last one ends, and for their scores."""
    return np.empty(n_bytes, np.uint8), np.empty(n + 1, np.int32 if n_bytes < 1 << 31 else np.int64), np.empty(n)


def first_infinite(ranked: Run) -> tuple[float, str] | None:
    """The first score that is infinite or NaN, with its query and document; None if all are finite."""
    ids, offsets, scores = ranked.columns.arrays()
    if np.isfinite([scores.min(initial=0.0), scores.max(initial=0.0)]).all():
        return None
    row = int(np.isfinite(scores).argmin())
    query_id = ranked.query_ids[int(np.searchsorted(offsets, row, "right")) - 1]
    return float(scores[row]), f"query {query_id}, document {ids[row : row + 1][0]}"


def read_run_set(
    runs: Any, names: RunNames, columns: Mapping[str, str] | None, duplicates: Duplicates | None, judgments: Any = None
) -> RunSet:
    """The runs of a caller, as for `evaluate_many`."""
    return RunSet(read_runs(runs, columns, duplicates, None, names, judgments=judgments))
