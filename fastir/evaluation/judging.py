"""A run and its judgments as JudgedRankings, through the same joins that metrics are evaluated through."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.evaluation.measuring import OneRuleSet
from fastir.join._keep import judgments, keeping_plan
from fastir.judged_rankings import JudgedRankings
from fastir.measure._codes import STATUS_CODES
from fastir.qrels import GroupedQrels
from fastir.request.options import WHOLE
from fastir.request.settled import RULES, rules_of

if TYPE_CHECKING:
    from fastir.evaluation.measuring import Measurer


def judged(prepared: Measurer, run: Any) -> JudgedRankings:
    """The JudgedRankings of a run, by the rules of an Evaluator."""
    qrels = prepared.qrels
    if isinstance(qrels, GroupedQrels):
        raise ValueError("the qrels have groups, each with judgments of its own; judged rankings have one")
    rankers = prepared.rankers()
    rules = rules_of(rankers[0].settings)
    if any(rules_of(ranker.settings) != rules for ranker in rankers):
        raise ValueError(f"the convention has several rules for the order of documents; give {', '.join(RULES)}")
    if rules["ties"] == "average":
        raise ValueError("ties='average' has no single order of documents; give another rule")
    made = qrels.prepared()
    ideal_offsets, ideal_labels = judgments(made)
    ranks, labels = np.empty(len(ideal_labels), np.int64), np.empty(len(ideal_labels), np.int32)
    settings = copy.copy(rankers[0].settings)
    settings.plan = keeping_plan(made, ranks, labels, WHOLE)
    settings.names, settings.label_limits = ["num_rel_ret", "num_ret"], []
    settings.queries = None if settings.queries == "intersection" else settings.queries
    keeper = OneRuleSet(qrels, settings, prepared.columns, prepared.parents)
    query_ids, values, status, coverage = keeper.measure(run, settings.n_threads)
    if not coverage.clean:
        coverage.warn(rankers[0].settings.queries)
    sizes, num_ret = values.T.astype(np.int64, "C")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    kept = np.arange(len(ranks)) - np.repeat(ideal_offsets[:-1], np.diff(ideal_offsets)) < np.repeat(
        sizes, np.diff(ideal_offsets)
    )
    arrays = {
        "offsets": offsets,
        "ranks": ranks[kept],
        "labels": np.maximum(labels[kept], -1),
        "num_ret": num_ret,
        "ideal_offsets": ideal_offsets,
        "ideal_labels": ideal_labels,
        "missing": status == STATUS_CODES["missing"],
    }
    return JudgedRankings._of(list(query_ids), arrays, report=coverage(), **rules)
