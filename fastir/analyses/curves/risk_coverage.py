"""Risk and coverage: what a metric gains if the queries of which a run is least sure are left without an answer.

A curve has a point for each number of queries that are answered, the surest first. The normalised area, as MTEB has it,
is made of ten points: the shares of ABSTENTION_RATES are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastir.checks import check_choice
from fastir.data.results.exportable import Exportable
from fastir.data.results.results import Results
from fastir.data.run import as_run
from fastir.errors import quote
from fastir.evaluation.drivers.min_score import refuse_ranks
from fastir.inputs import arrays
from fastir.rendering.text import counted
from fastir.request.directions import higher_is_better
from fastir.request.names import refuse_mapping

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.data.run import RunLike

    CertaintyLike = Literal["max", "std", "margin"] | Mapping[Any, float] | ArrayLike

ABSTENTION_RATES = np.linspace(0, 1, 11)[:-1]  # the shares of the queries that are left out
BLOCK_RANKINGS = 256  # rankings that one array of scores holds
OF_SCORES = {"max": "max", "std": "std", "margin": "diff1"}  # the certainties, and what MTEB calls them


# ---- the curve -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RiskCoverage(Exportable):
    """The risk of a run at each coverage; made by `risk_coverage`.

    Attributes
    ----------
    metric : str
    coverage : float64 array of shape (n_queries,)
        The fraction of the queries that are answered: 1 / n, 2 / n, ..., 1.
    risk : float64 array of shape (n_queries,)
        1 - the mean of the metric over these, the surest ones; the mean itself of a metric whose smaller values are
        better. Of queries that are equally sure each counts as their mean.
    aurc : float
        The area under the risk-coverage curve: the mean of `risk`.
    e_aurc : float
        By how much it exceeds the area of the best order of the queries, that of their values.
    nauc : float
        MTEB's normalised area of the mean over the queries that are left, from 0 to 0.9 left out: 0 for leaving out
        queries at random, 1 for the worst ones. NaN if leaving these out changes nothing.
    n_undefined : int
        Queries without a value, which are left out.
    """

    metric: str
    coverage: np.ndarray
    risk: np.ndarray
    aurc: float
    e_aurc: float
    nauc: float
    n_undefined: int

    def _columns(self) -> dict[str, Any]:
        return {"coverage": self.coverage, "risk": self.risk}

    def _title(self) -> str:
        undefined = f", {self.n_undefined} undefined" if self.n_undefined else ""
        number = counted(len(self.risk), "query", "queries")
        return (
            f"{self.metric}: nauc {self.nauc:.4f}, aurc {self.aurc:.4f}, e_aurc {self.e_aurc:.4f}; {number}{undefined}"
        )


def risk_coverage(
    results: Results, metric: str, certainty: CertaintyLike, *, run: RunLike | None = None
) -> RiskCoverage:
    """Show how the mean of a metric grows if the queries of which a run is least sure are left without an answer.

    Parameters
    ----------
    results : Results
    metric : str
        One of its metrics, in the same spelling.
    certainty : array of shape (n_queries,), mapping of query_id to float, "max", "std" or "margin"
        How sure the run is of each query, in the order of the results or by query. Or of the scores of `run`: the
        largest, the standard deviation, or the lead of the largest over the second. A ranking of one document has the
        margin 0; one that is empty or missing has 0, and the largest score -inf.
    run : as for `evaluate`, or None
        The run whose scores are read.

    Returns
    -------
    RiskCoverage

    Raises
    ------
    KeyError
        The metric was not evaluated.
    TypeError, ValueError
        A certainty is missing (the message names the query), NaN or not a number; there are too few or too many; the
        run is missing, or has ranks instead of scores; no query has a value.

    Notes
    -----
    **Source**: Gisserot-Boukhlef et al. 2024 and MTEB (nauc); Geifman and El-Yaniv 2017 (risk and coverage).
    **Differs**: others take the area under straight lines, from a point (0, 0); aurc is the mean of the risks here.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}
    >>> run = {"q1": {"a": 9.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.5}, "q4": {"b": 4.0, "a": 1.0}}
    >>> curve = fastir.risk_coverage(fastir.evaluate(qrels, run, "mrr"), "mrr", "max", run=run)
    >>> curve.coverage.tolist(), curve.risk.round(3).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.333, 0.25])
    >>> round(curve.aurc, 3), round(curve.e_aurc, 3), round(curve.nauc, 3)
    (0.208, 0.104, 0.297)
    """
    if not isinstance(results, Results):
        raise TypeError(f"results must be Results, got {type(results).__name__}")
    refuse_mapping(metric)
    values, query_ids = np.array(list(results.per_query(metric).values()), float), list(results.query_ids)
    sure = read_certainty(certainty, query_ids, run)
    defined = ~np.isnan(values)
    if not defined.any():
        raise ValueError(f"metric {quote(metric)}: no query has a value")
    values, sure = values[defined], sure[defined]
    n = len(values)
    if higher_is_better(metric) is False:
        values = 1 - values
    risk, best = risks(values, sure), risks(values, values)
    nauc = areas({"": sure}, {"": values})["nAUC__"]
    aurc = float(risk.mean())
    undefined = len(defined) - n
    return RiskCoverage(metric, np.arange(1, n + 1) / n, risk, aurc, aurc - float(best.mean()), float(nauc), undefined)


def risks(values: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """1 - the means of the values of the first, first two, ... queries; equally sure ones count as their mean."""
    order = np.argsort(-sure, kind="stable")
    averaged = average_ties(values[None, order], sure[order], len(order))[0]
    return np.asarray(1 - np.cumsum(averaged) / np.arange(1, len(order) + 1))


def read_certainty(certainty: Any, query_ids: list[Any], run: Any) -> np.ndarray:
    """The certainty of each query."""
    if isinstance(certainty, str):
        check_choice("certainty", certainty, tuple(OF_SCORES))
        if run is None:
            raise ValueError(f"certainty={certainty!r} is of the scores of a run; give run=")
        held = as_run(run, None, None)
        refuse_ranks(held, f"certainty={certainty!r}")
        by_text = {str(query_id): docs for query_id, docs in held.to_dict().items()}
        ranked: dict[Any, Any] = {query_id: by_text.get(str(query_id), {}) for query_id in query_ids}
        sure = confidences(ranked)[OF_SCORES[certainty]]
        if certainty == "max":
            sure[[not docs for docs in ranked.values()]] = -np.inf
        return sure
    if run is not None:
        raise ValueError("run has no effect: the certainty of each query is given")
    if hasattr(certainty, "items"):
        given = {str(query_id): number for query_id, number in certainty.items() if number is not None}
        missing = next((query_id for query_id in query_ids if str(query_id) not in given), None)
        if missing is not None:
            raise ValueError(f"certainty: query {quote(missing)} has none")
        certainty = [given[str(query_id)] for query_id in query_ids]
    sure = arrays.numbers(certainty, "certainty").astype(float)
    if len(sure) != len(query_ids):
        raise ValueError(f"certainty has {len(sure)} entries but the results {len(query_ids)}; lengths must match")
    if np.isnan(sure).any():
        raise ValueError(f"certainty: NaN for query {quote(query_ids[int(np.isnan(sure).argmax())])}")
    return sure


# ---- abstention as MTEB measures it ----------------------------------------------------------------------------------
def confidences(results: Mapping[Any, Mapping[Any, float]]) -> dict[str, np.ndarray]:
    """Confidences of a run in each query: the largest score, the scores' deviation, and the lead over the second."""
    sure = {name: np.zeros(len(results)) for name in ("max", "std", "diff1")}
    by_size: dict[int, list[tuple[int, Mapping[str, float]]]] = {}
    for row, docs in enumerate(results.values()):
        by_size.setdefault(len(docs), []).append((row, docs))
    by_size.pop(0, None)
    for size, alike in by_size.items():
        for start in range(0, len(alike), BLOCK_RANKINGS):
            rows, rankings = zip(*alike[start : start + BLOCK_RANKINGS], strict=True)
            flat = np.fromiter(itertools.chain.from_iterable(docs.values() for docs in rankings), float)
            scores = flat.reshape(len(rows), size)
            at = list(rows)
            sure["max"][at] = scores.max(axis=1)
            sure["std"][at] = scores.std(axis=1)
            if size > 1:
                scores[np.arange(len(rows)), scores.argmax(axis=1)] = -np.inf
                sure["diff1"][at] = sure["max"][at] - scores.max(axis=1)
    return sure


def areas(sure: dict[str, np.ndarray], table: dict[str, np.ndarray]) -> dict[str, float]:
    """The normalised area of every metric by every confidence; NaN if leaving out the worst queries changes nothing."""
    values = np.stack(list(table.values()))
    best = np.sort(values, axis=1)
    best_curves = curves(average_ties(best.reshape(1, -1), best.reshape(-1), values.shape[1]).reshape(best.shape))
    highest, lowest = areas_below(best_curves), best_curves[:, 0] * (ABSTENTION_RATES[-1] - ABSTENTION_RATES[0])
    areas_by_kind = {}
    for kind, by in sure.items():
        order = np.argsort(by, kind="stable")
        reached = areas_below(curves(average_ties(values[:, order], by[order], len(order))))
        with np.errstate(invalid="ignore", divide="ignore"):
            areas_by_kind[kind] = (reached - lowest) / (highest - lowest)
    return {
        f"nAUC_{name}_{kind}": areas[row] if highest[row] != lowest[row] else np.nan
        for row, name in enumerate(table)
        for kind, areas in areas_by_kind.items()
    }


def average_ties(values: np.ndarray, by: np.ndarray, n: int) -> np.ndarray:
    """The values of each row, with their mean where `by` is equal; every n of these are compared with each other."""
    changes = np.concatenate([[True], by[1:] != by[:-1]])
    changes[::n] = True
    starts = np.flatnonzero(changes)
    sizes = np.diff(starts, append=len(by))
    return np.repeat(np.add.reduceat(values, starts, axis=1) / sizes, sizes, axis=1)


def curves(values: np.ndarray) -> np.ndarray:
    """The mean of each row without its first values, at each of ABSTENTION_RATES."""
    n = values.shape[1]
    return np.stack([values[:, min(round(rate * n), n - 1) :].mean(axis=1) for rate in ABSTENTION_RATES], axis=1)


def areas_below(curves: np.ndarray) -> np.ndarray:
    return (np.diff(ABSTENTION_RATES) * (curves[:, 1:] + curves[:, :-1]) / 2).sum(axis=1)
