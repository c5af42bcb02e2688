"""fuse(): several runs as one, by a method of fusion."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.fusion._fusion import Fusion
from fastir.analyses.fusion.cards import METHODS, Method, find_norm
from fastir.analyses.fusion.settings import Setting, check_params, check_weights, recipes
from fastir.checks import check_choice, positive_integer
from fastir.data.run import Run, set_name
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.engine.threads import longest_query, run, thread_count
from fastir.errors import quote
from fastir.evaluation.run_collections import read_runs
from fastir.request.options import DUPLICATES, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastir.analyses.fusion._recipe import Recipes
    from fastir.data.run import Run, RunLike, RunsLike
    from fastir.evaluation.run_collections import RunNames
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
    """Runs that are fused."""

    query_ids: list[Any]  # of all runs, in order of first appearance
    # int64 of shape (n_runs, n_queries): where each query's rows begin in each run, and how many they are
    firsts: np.ndarray
    sizes: np.ndarray

    def __init__(self, runs: Mapping[Any, Run]) -> None:
        if len(runs) < 2:
            raise ValueError(f"runs: at least two are needed to fuse, got {len(runs)} ({', '.join(map(quote, runs))})")
        self.names: list[Any] = list(runs)
        # what duplicates="once" leaves in a run is taken out
        self.runs: list[Run] = [
            Run.from_dict(r.to_dict()) if "duplicates" in r.columns.repairs else r for r in runs.values()
        ]
        self.query_ids = list(dict.fromkeys(itertools.chain.from_iterable(self.runs)))
        self.firsts, self.sizes = np.zeros((2, len(self.runs), len(self.query_ids)), np.int64)
        self.repairs: dict[str, tuple[int, str]] = {}  # {kind: (count, example)} of the runs
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
        self.integers: bool = any(ranked.columns.ids.integers for ranked in self.runs)  # whether document ids are
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
        self, recipes: Recipes, sign: int, top: int, n_threads: Any, lists: tuple[np.ndarray, ...] | None = None
    ) -> Iterator[tuple[slice, Fusion]]:
        """Some queries at a time, in order, and the kernel; its copy_to() copies their fused documents."""
        columns = [ranked.columns.arrays() for ranked in self.runs]
        ids, numbers = [ids_from_arena(arena) for arena, _, _ in columns], [scores for _, _, scores in columns]
        kernel = Fusion(recipes, ids, numbers, self.firsts, self.sizes, sign, lists, top)
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
    runs: Any,
    names: RunNames,
    columns: Mapping[str, str] | None,
    duplicates: Duplicates | None,
    min_score: SupportsFloat | None,
    judgments: Any = None,
) -> RunSet:
    """The runs of a caller, as for `evaluate_many`."""
    return RunSet(read_runs(runs, columns, duplicates, None, names, judgments=judgments, min_score=min_score))


# ---- fuse ------------------------------------------------------------------------------------------------------------


TiesOfRanks = Literal["trec", "doc_id_asc", "input"]


def fuse(
    runs: RunsLike | Iterable[RunLike],
    method: str = "rrf",
    norm: str | None = None,
    run_weights: Sequence[SupportsFloat] | Mapping[Any, SupportsFloat] | np.ndarray | None = None,
    *,
    max_depth: SupportsIndex | None = None,
    ties: TiesOfRanks | None = None,
    names: RunNames = "stem",
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
    min_score: SupportsFloat | None = None,
    name: str | None = None,
    n_threads: SupportsIndex | None = None,
    **params: Any,
) -> Run:
    """Fuse the rankings of several runs into one run.

    Parameters
    ----------
    runs : as for `evaluate_many`
        At least two. The method's card says how a query or document counts that is missing from a run.
    method : str
        "min", "max", "med", "sum", "anz", "mnz", "gmnz" (Comb...), "isr", "log_isr", "logn_isr", "rrf", "rbc", "wsum",
        "mixed", "wmnz", "bordafuse", "w_bordafuse", "condorcet", "w_condorcet"; and "mapfuse", "posfuse", "probfuse",
        "segfuse", "slidefuse", "bayesfuse", with parameters that `tune` learns. Longer names, such as "CombSUM", also
        work, in any case. The page Hybrid search has the formula and source of each.
    norm : None, "min-max", "min-max-inverted", "max", "sum", "zmuv", "rank" or "borda"
        How to normalize the scores of each ranking before fusion; methods that use ranks do not need it. `tune` has
        other defaults, "wsum" with "min-max", because "rrf" has no weights that must be chosen.
    run_weights : sequence of float, or mapping of run to float, or None
        From 0 up; for "wsum", "mixed", "wmnz", "w_bordafuse" and "w_condorcet", and optional for "rrf".
    max_depth : int or None
        How many documents to keep of each fused ranking; None: all.
    ties : {None, "trec", "doc_id_asc", "input"}
        Order of documents with equal scores, in the runs and in the fused ranking: the larger id first (also None), the
        smaller id first, or the order of the input.
    names, columns, duplicates, min_score
        As for `evaluate_many`, without duplicates="once"; `min_score` is of the runs, before a norm.
    name : str or None
        The name of the fused run; None: the method's name.
    n_threads : int or None
        As for `evaluate`; scores never depend on it.
    **params
        Parameters of the method: `k` (60) for "rrf", `phi` for "rbc", `gamma` for "gmnz", `sigma` (0.01) for
        "logn_isr", and the content of `Tuning.params` for methods that learn. Or all of them as one dict `params`, as
        in ranx, where ``params["weights"]`` are the `run_weights`.

    Returns
    -------
    Run
        A run with the queries of all runs, and the documents of each query in rank order; its scores make `evaluate`
        rank them in the same order. The report of an evaluation counts, among its repairs, the queries that are missing
        from some run.

    Raises
    ------
    ValueError
        The method or norm does not exist; weights or parameters do not fit it; there are fewer than two runs; or a
        score is infinite and the method computes with scores.
    OverflowError
        A fused score is not finite.
    FormatError, DuplicateError, TypeError, ValueError, OSError
        As by `evaluate_many`; or the ids of two runs differ in type. The message names the run.

    Notes
    -----
    Undefined: a norm divides by at least 1e-9, so all scores of a constant ranking become 0 (for "max", of a ranking
    of zeros). "max" of a ranking with only negative scores divides by 1e-9, too, as in ranx: -1 becomes -1e9; shift
    such scores first, or take another norm. If all rankings of a query are empty, so is the fused ranking.

    Examples
    --------
    >>> import fastir
    >>> bm25 = {"q1": {"a": 9.0, "b": 7.0, "c": 5.0}}
    >>> dense = {"q1": {"b": 0.9, "d": 0.8}}
    >>> fastir.fuse([bm25, dense]).to_dict()
    {'q1': {'b': 0.03252247488101534, 'a': 0.01639344262295082, 'd': 0.016129032258064516, 'c': 0.015873015873015872}}
    >>> fastir.fuse([bm25, dense], "wsum", norm="min-max", run_weights=[0.5, 0.5], max_depth=2).to_dict()
    {'q1': {'b': 0.75, 'a': 0.5}}
    """
    card, norm = METHODS.find(method), find_norm(norm)
    if isinstance(given := params.get("params"), Mapping):  # as ranx has them, with the weights
        params = {**given, **{name: value for name, value in params.items() if name != "params"}}
        run_weights = params.pop("weights", None) if run_weights is None else run_weights
    sign = TIE_SIGNS[check_ties(ties)]
    check_choice("duplicates", duplicates, [word for word in DUPLICATES if word != "once"])
    depth = MAX_DEPTH if max_depth is None else positive_integer("max_depth", "the depth", max_depth, MAX_DEPTH)
    thread_count(n_threads, 0)
    run_set = read_run_set(runs, names, columns, duplicates, min_score)
    setting = Setting(check_weights(card, run_weights, run_set.names), check_params(card, params, run_set.names))
    run_set.check_scores(card, norm)
    recipe = recipes(card, norm, [setting], len(run_set.names), run_set.longest)
    fused = run_set.fuse(recipe, sign, depth, n_threads)
    infinite = first_infinite(fused)
    if infinite is not None:
        raise OverflowError(f"the fused score is {infinite[0]} ({infinite[1]})")
    return set_name(fused, card.name if name is None else name)


def normalize_run(run: Run, norm: str | None) -> Run:
    """A run with the scores of each query after a norm, the documents in rank order."""
    run_set, card = RunSet({"run": run, "same": run}), METHODS.find("wsum")
    run_set.check_scores(card, norm)
    recipe = recipes(card, norm, [Setting((1.0, 0.0), {})], 2, run_set.longest)
    return run_set.fuse(recipe, TIE_SIGNS["input"], MAX_DEPTH, None)
