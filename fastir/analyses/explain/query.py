"""explain(): where the values of one query of a run come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastir.checks import refuse_options
from fastir.evaluation.evaluator import Evaluator

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.explain.records import Explanation
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import ExplainOptions


def explain(
    qrels: QrelsLike,
    run: RunLike,
    query_id: str | int,
    metrics: str | Iterable[str],
    **options: Unpack[ExplainOptions],
) -> Explanation:
    """Show where the values of one ranking come from: the label and the contribution of each document.

    For several queries or runs with the same qrels, use `Evaluator.explain`, which prepares the qrels once.

    Parameters
    ----------
    qrels, run : as for `evaluate`
        Other queries in a file of lines are read but not kept, and not checked for duplicates.
    query_id : str or int
        A query of the qrels; its ranking is empty if the query is missing from the run.
    metrics : str or iterable of str
        As for `evaluate`.
    **options
        Options of `evaluate`, except `weights` and `doc_weights`: one query has no mean, and labels do not show
        weights of documents. ``queries="strict"`` reads the whole run.

    Returns
    -------
    Explanation
        The documents in the evaluated order, with ties, labels, gains, discounts and contributions; and the missing
        relevant documents. Its method `diff` compares it with the Explanation of another run.

    Raises
    ------
    KeyError
        The qrels have no such query.
    NoOverlapError
        With ``queries="intersection"`` the query does not count, because it is missing from the run.
    ValueError
        There is no single ranking: the query has equal scores, and the convention orders them differently for different
        metrics, or the tie rule orders them differently for different groups of the qrels.
    UnknownMetricError, NoOverlapError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> fastir.explain({"q": {"a": 1, "b": 2}}, {"q": {"x": 3.0, "b": 2.0}}, "q", ["mrr", "ndcg"])
    query q: mrr 0.5000, ndcg 0.4796
    rank     doc_id  score  tied  label      mrr     ndcg
    1        x           3            -
    2        b           2            2  +0.5000  +0.4796
    missing  a                        1
    """
    refuse_options("explain", options, ("weights",), "one query has no mean that weights of queries could change")
    refuse_options("explain", options, ("doc_weights",), "labels do not show the weights of documents")
    return Evaluator(qrels, metrics, **options).explain(run, query_id)
