"""fuse(): several runs as one, by a method of fusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex

import numpy as np

from fastir.checks import check_choice, positive
from fastir.fusion.cards import find_method, find_norm
from fastir.fusion.settings import Setting, checked_params, checked_weights, recipes
from fastir.fusion.united import SIGNS, place_of, united
from fastir.request.options import DUPLICATES, WHOLE
from fastir.threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastir.evaluation.run_names import RunNames
    from fastir.request.options import Duplicates
    from fastir.run import Run, RunLike, RunsLike

TiesOfRanks = Literal["trec", "doc_id_asc", "input"]


def fuse(
    runs: RunsLike | Iterable[RunLike],
    method: str = "rrf",
    norm: str | None = None,
    weights: Sequence[SupportsFloat] | Mapping[Any, SupportsFloat] | np.ndarray | None = None,
    top: SupportsIndex | None = None,
    *,
    ties: TiesOfRanks | None = None,
    names: RunNames = "stem",
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
    name: str | None = None,
    n_threads: SupportsIndex | None = None,
    **params: Any,
) -> Run:
    """Fuse the rankings of several runs to one run.

    Parameters
    ----------
    runs : as for `evaluate_many`, or a list of runs as for `evaluate`
        At least two. A query or a document that a run lacks counts there as the method's card says.
    method : str
        "min", "max", "med", "sum", "anz", "mnz", "gmnz" (Comb...), "isr", "log_isr", "logn_isr", "rrf", "rbc", "wsum",
        "mixed", "wmnz", "bordafuse", "w_bordafuse", "condorcet", "w_condorcet"; and "mapfuse", "posfuse", "probfuse",
        "segfuse", "slidefuse", "bayesfuse", whose parameters `tune` learns. Longer words, such as "weighted_sum", are
        understood. The page Hybrid search has the formula and the source of each.
    norm : None, "min-max", "min-max-inverted", "max", "sum", "zmuv", "rank" or "borda"
        How the scores of each ranking are made comparable before; for methods that go by ranks they need not be.
    weights : sequence of float, or mapping of run to float, or None
        From 0 up, for "wsum", "mixed", "wmnz", "w_bordafuse" and "w_condorcet"; "rrf" may have some.
    top : int or None
        How many documents of each fused ranking are kept; None: all.
    ties : {None, "trec", "doc_id_asc", "input"}
        Which of documents with equal scores stands first, in the runs and in the fused ranking: the one with the larger
        id (None, too), the smaller one, or the one that came first.
    names, columns, duplicates
        As for `evaluate_many`; "once" is not possible.
    name : str or None
        What the fused run is called; None: the method's name.
    n_threads : int or None
        As for `evaluate`; scores never depend on it.
    **params
        Those of the method: "rrf" has `k` (60), "rbc" `phi`, "gmnz" `gamma`, "logn_isr" `sigma` (0.01), and those
        that learn have what `Tuning.params` holds.

    Returns
    -------
    Run
        With the queries of all runs, the documents of each in rank order, and scores from which `evaluate` ranks them
        in the same order. Where some run lacks a query, the report of an evaluation counts that among its repairs.

    Raises
    ------
    ValueError
        There is no such method or norm, weights or parameters do not fit it, there are fewer than two runs, or a score
        is infinite where the method computes with scores.
    OverflowError
        A fused score is not finite.
    FormatError, DuplicateError, TypeError, ValueError, OSError
        As by `evaluate_many`; the ids of two runs are of different kinds. The run is named.

    Notes
    -----
    Undefined: a norm divides by at least 1e-9, so that all scores of a constant ranking are 0 (for "max" those of a
    ranking of zeros). Of a query whose rankings are all empty the fused one is.

    Examples
    --------
    >>> import fastir
    >>> bm25 = {"q1": {"a": 9.0, "b": 7.0, "c": 5.0}}
    >>> dense = {"q1": {"b": 0.9, "d": 0.8}}
    >>> fastir.fuse([bm25, dense]).to_dict()
    {'q1': {'b': 0.03252247488101534, 'a': 0.01639344262295082, 'd': 0.016129032258064516, 'c': 0.015873015873015872}}
    >>> fastir.fuse([bm25, dense], "wsum", norm="min-max", weights=[0.5, 0.5], top=2).to_dict()
    {'q1': {'b': 0.75, 'a': 0.5}}
    """
    card, norm = find_method(method), find_norm(norm)
    rule = check_choice("ties", "trec" if ties is None else ties, SIGNS)
    check_choice("duplicates", duplicates, [word for word in DUPLICATES if word != "once"])
    depth = WHOLE if top is None else positive("top", "the number of documents", top, WHOLE)
    thread_count(n_threads, 0)
    together = united(runs, names, columns, duplicates)
    setting = Setting(checked_weights(card, weights, together.names), checked_params(card, params, together.names))
    if card.reads_scores and norm not in ("rank", "borda"):
        together.check_finite()
    recipe = recipes(card, norm, [setting], len(together.names), together.longest)
    fused = together.fused_in_chunks(recipe, SIGNS[rule], depth, n_threads)
    _, offsets, scores = fused._columns()
    odd = ~np.isfinite(scores)
    if odd.any():
        row = int(odd.argmax())
        raise OverflowError(f"the fused score is {scores[row]} ({place_of(fused, offsets, row)})")
    return fused._named(card.name if name is None else name)
