"""fuse(): several runs as one, by a method of fusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex

from fastir.analyses.fusion.cards import METHODS, find_norm
from fastir.analyses.fusion.run_set import TIE_SIGNS, RunSet, check_ties, first_infinite, read_run_set
from fastir.analyses.fusion.settings import Setting, check_params, check_weights, recipes
from fastir.checks import check_choice, positive_integer
from fastir.data.run import set_name
from fastir.engine.threads import thread_count
from fastir.request.options import DUPLICATES, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from fastir.data.run import Run, RunLike, RunsLike
    from fastir.evaluation.run_names import RunNames
    from fastir.request.options import Duplicates

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
    names, columns, duplicates
        As for `evaluate_many`, without "once".
    name : str or None
        The name of the fused run; None: the method's name.
    n_threads : int or None
        As for `evaluate`; scores never depend on it.
    **params
        Parameters of the method: `k` (60) for "rrf", `phi` for "rbc", `gamma` for "gmnz", `sigma` (0.01) for
        "logn_isr", and the content of `Tuning.params` for methods that learn.

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
    of zeros). If all scores of a ranking are negative, "max" divides by 1e-9, too, as in ranx: -1 becomes
    -1e9; shift such scores first, or take another norm. If all rankings of a query are empty, the fused ranking is
    empty.

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
    sign = TIE_SIGNS[check_ties(ties)]
    check_choice("duplicates", duplicates, [word for word in DUPLICATES if word != "once"])
    depth = MAX_DEPTH if max_depth is None else positive_integer("max_depth", "the depth", max_depth, MAX_DEPTH)
    thread_count(n_threads, 0)
    run_set = read_run_set(runs, names, columns, duplicates)
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
