"""Ragas' metrics by ids with another `_single_turn_ascore`: IDBasedContextPrecision and IDBasedContextRecall.

Import them from here, or call ``fastir.compat.install("ragas")`` to change Ragas' own. Compared with ragas 0.4.3.

**Same**: all but the arithmetic is Ragas' own; ids are compared as text and without copies; the precision of no
retrieved ids and the recall of no reference ids are NaN, which Ragas leaves out of its means.

**Different on purpose**: ids that are missing are a ValueError instead of a failed assert; NaN is not logged as a
warning.

**Not offered**: the metrics that call a language model. With a model's judgments as labels in rank order, the same
average precision is ``fastir.evaluate_ranked(labels, offsets, "map", convention="ragas")``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastir import compat
from fastir.compat._id_lists import value_of_one

ragas: Any = compat.importing("ragas.metrics", "ragas")

__all__ = ["IDBasedContextPrecision", "IDBasedContextRecall"]


def make_score(metric: str) -> Any:
    """The method that scores one sample by a metric."""

    async def _single_turn_ascore(self: Any, sample: Any, callbacks: Any) -> float:
        retrieved, reference = sample.retrieved_context_ids, sample.reference_context_ids
        if retrieved is None or reference is None:
            raise ValueError(f"{self.name}: the sample has no retrieved_context_ids or no reference_context_ids")
        return value_of_one(set(map(str, retrieved)), map(str, reference), metric, "ragas")

    return _single_turn_ascore


@dataclass
class IDBasedContextPrecision(ragas.IDBasedContextPrecision):
    """The fraction of retrieved ids that are reference ids."""

    _single_turn_ascore = make_score("precision")


@dataclass
class IDBasedContextRecall(ragas.IDBasedContextRecall):
    """The fraction of reference ids that are retrieved."""

    _single_turn_ascore = make_score("recall")
