"""The results of runs on fewer judgments: the rankings are judged once, and what is taken away is left out of them.

That gives the bits of evaluating again, at a twentieth of the time. What needs more than the ranks of judged documents
(groups of judgments, `hole`, ties that are ordered by labels, several orders of one ranking) is evaluated again.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from fastir.analyses.pools.judgment_ranks import JudgmentRanks
from fastir.data.qrels import GroupedQrels, Qrels
from fastir.data.rankings import JudgedRankings, make_rankings, ranking_arrays
from fastir.data.results.by_run import ResultsByRun
from fastir.engine.columns.rows import occurrences, offsets_from_sizes
from fastir.errors import FastirWarning
from fastir.evaluation.evaluator import Evaluator
from fastir.request.options import TIES
from fastir.request.plan import Settings

ORDER = ("convention", "ties", "score_dtype")  # options that decide where documents stand
NOT_BY_RANK = (
    "optimistic",
    "pessimistic",
    "average",
)  # ties by label, which numbers in its place would decide, or none
ALREADY = ("score_dtype", "validate")  # which judged rankings do not take


class ReducedQrels:
    """Evaluates runs on the judgments that are left.

    Parameters
    ----------
    judgments : Qrels
    judgment_ranks : JudgmentRanks
        The same, without groups.
    metrics, options
        As for `Evaluator`.
    settings : Settings
        What they were compiled to.
    """

    judgments: Qrels
    judgment_ranks: JudgmentRanks
    metrics: str | Iterable[str]
    options: dict[str, Any]
    falling: np.ndarray
    labels: np.ndarray

    def __init__(
        self,
        judgments: Qrels,
        judgment_ranks: JudgmentRanks,
        metrics: str | Iterable[str],
        options: dict[str, Any],
        settings: Settings,
    ) -> None:
        self.judgments, self.judgment_ranks, self.metrics, self.options = judgments, judgment_ranks, metrics, options
        self.falling = np.lexsort((-judgment_ranks.labels.astype(float), judgment_ranks.rows))
        self.labels = np.maximum(judgment_ranks.labels, np.int32(-1))  # as judged rankings have them
        self.ranked: dict[Hashable, tuple[JudgedRankings, np.ndarray]] = {}
        if not isinstance(judgments, GroupedQrels) and reads_one_order(settings):
            ordered = judgment_ranks.by({name: options[name] for name in ORDER if name in options})
            self.ranked = {run: (ranked, self.labels[ranked.labels]) for run, ranked in ordered.ranked.items()}

    def without(self, gone: np.ndarray) -> ResultsByRun:
        """The Results of all runs; `gone` says which judgments are taken away."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastirWarning)  # what all judgments lack was said before
            if not self.ranked:
                return Evaluator(self.kept(gone), self.metrics, **self.options).evaluate_many(self.judgment_ranks.runs)
            left = self.falling[~gone[self.falling]]
            sizes = occurrences(self.judgment_ranks.rows[left], minlength=len(self.judgment_ranks.judgments))
            ideal = {
                "ideal_offsets": offsets_from_sizes(sizes),
                "ideal_labels": self.labels[left],
            }
            options = {name: value for name, value in self.options.items() if name not in ALREADY}
            return ResultsByRun(
                (run, self.thinned(run, gone, ideal).evaluate(self.metrics, **options)) for run in self.ranked
            )

    def thinned(self, run: Hashable, gone: np.ndarray, ideal: dict[str, np.ndarray]) -> JudgedRankings:
        """The rankings of a run with labels, as if what is gone had not been judged."""
        ranked, labels = self.ranked[run]
        arrays = {**ranking_arrays(ranked), "labels": labels, **ideal}
        lost = gone[ranked.labels]
        if lost.any():
            left = ~lost
            arrays["offsets"] = offsets_from_sizes(left)[ranked.offsets]
            arrays["ranks"], arrays["labels"] = ranked.ranks[left], labels[left]
        rules = ranked.ties, ranked.score_dtype, ranked.duplicates
        return make_rankings(JudgedRankings, ranked.query_ids, arrays, *rules, ranked.report)

    def kept(self, gone: np.ndarray) -> dict[Any, Any]:
        """The judgments that are left, in the levels that they had; all queries and groups stay."""
        flags = iter(gone.tolist())
        return {
            query_id: pruned(self.judgments[query_id], set(itertools.compress(judged, flags)))
            for query_id, judged in self.judgment_ranks.judgments.items()
        }


def reads_one_order(settings: Settings) -> bool:
    """Whether all metrics read the labels of one ranking, whose order these do not decide."""
    return not settings.parts and TIES[settings.ties] not in NOT_BY_RANK


def pruned(judgments: dict[Any, Any], doc_ids: set[Any]) -> dict[Any, Any]:
    """Documents with labels, or groups of them, without some."""
    return {
        key: pruned(value, doc_ids) if isinstance(value, dict) else value
        for key, value in judgments.items()
        if isinstance(value, dict) or key not in doc_ids
    }
