"""explain(): where the values of one query of a run come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastir.evaluation.evaluator import Evaluator

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.evaluation.keywords import EvaluateOptions
    from fastir.explanation.records import Explanation
    from fastir.qrels import QrelsLike
    from fastir.run import RunLike


def explain(
    qrels: QrelsLike,
    run: RunLike,
    query_id: str | int,
    metrics: str | Iterable[str],
    **options: Unpack[EvaluateOptions],
) -> Explanation:
    """Show where the values of one ranking come from: each document with its label and what it contributes.

    For several queries or runs of the same qrels, `Evaluator.explain` prepares them once.

    Parameters
    ----------
    qrels, run : as for `evaluate`
        Of a file of lines, other queries are read but not kept, and their duplicates are not looked for.
    query_id : str or int
        A query of the qrels; if the run lacks it, its ranking is empty.
    metrics : str or iterable of str
        As for `evaluate`.
    **options
        Those of `evaluate`.

    Returns
    -------
    Explanation
        The documents in the order in which they were evaluated, with ties, labels, gains, discounts and contributions,
        and the relevant ones that are missing. Its method `diff` compares it with the Explanation of another run.

    Raises
    ------
    KeyError
        The qrels have no such query.
    ValueError
        The convention ranks equal scores differently for some of the metrics, or the tie rule for some of the groups of
        the qrels, and there are such scores: there is no single ranking.
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
    return Evaluator(qrels, metrics, **options).explain(run, query_id)
