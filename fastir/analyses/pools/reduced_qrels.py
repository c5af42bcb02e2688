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

ORDER_OPTIONS = ("convention", "ties", "score_dtype")  # options that decide the order of documents
LABEL_TIES = ("optimistic", "pessimistic", "average")  # ties by label, which judgments' numbers would decide, or none
READING_OPTIONS = ("score_dtype", "validate")  # options that judged rankings do not take


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
            ordered = judgment_ranks.by({name: options[name] for name in ORDER_OPTIONS if name in options})
            self.ranked = {run: (ranked, self.labels[ranked.labels]) for run, ranked in ordered.ranked.items()}

    def without(self, removed: np.ndarray) -> ResultsByRun:
        """The Results of all runs; `removed` says which judgments are taken away."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastirWarning)  # missing judgments were warned of before
            if not self.ranked:
                qrels = self.reduce_qrels(removed)
                return Evaluator(qrels, self.metrics, **self.options).evaluate_many(self.judgment_ranks.runs)
            left = self.falling[~removed[self.falling]]
            sizes = occurrences(self.judgment_ranks.rows[left], minlength=len(self.judgment_ranks.judgments))
            ideal = {
                "ideal_offsets": offsets_from_sizes(sizes),
                "ideal_labels": self.labels[left],
            }
            options = {name: value for name, value in self.options.items() if name not in READING_OPTIONS}
            return ResultsByRun(
                (run, self.reduce_run(run, removed, ideal).evaluate(self.metrics, **options)) for run in self.ranked
            )

    def reduce_run(self, run: Hashable, removed: np.ndarray, ideal: dict[str, np.ndarray]) -> JudgedRankings:
        """The rankings of a run with labels, as if the removed judgments had never been made."""
        ranked, labels = self.ranked[run]
        arrays = {**ranking_arrays(ranked), "labels": labels, **ideal}
        is_removed = removed[ranked.labels]
        if is_removed.any():
            left = ~is_removed
            arrays["offsets"] = offsets_from_sizes(left)[ranked.offsets]
            arrays["ranks"], arrays["labels"] = ranked.ranks[left], labels[left]
        rules = ranked.ties, ranked.score_dtype, ranked.duplicates
        return make_rankings(JudgedRankings, ranked.query_ids, arrays, *rules, ranked.report)

    def reduce_qrels(self, removed: np.ndarray) -> dict[Any, Any]:
        """The judgments that are left, in the levels that they had; all queries and groups stay."""
        flags = iter(removed.tolist())
        return {
            query_id: prune(self.judgments[query_id], set(itertools.compress(judged, flags)))
            for query_id, judged in self.judgment_ranks.judgments.items()
        }


def reads_one_order(settings: Settings) -> bool:
    """Whether all metrics read the labels of one ranking, and the labels do not decide its order."""
    return not settings.parts and TIES[settings.ties] not in LABEL_TIES


def prune(judgments: dict[Any, Any], doc_ids: set[Any]) -> dict[Any, Any]:
    """Documents with labels, or groups of them, without some."""
    return {
        key: prune(value, doc_ids) if isinstance(value, dict) else value
        for key, value in judgments.items()
        if isinstance(value, dict) or key not in doc_ids
    }
