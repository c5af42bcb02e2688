"""torchmetrics' retrieval metrics with another `compute`: import them from here instead of ``torchmetrics.retrieval``.

Compared with torchmetrics 1.9.0.

**Same**: all but `compute` is torchmetrics' own: parameters and their errors, `update`, `forward`, states, collections,
synchronisation of processes, plots. Values as of float32, on the device of the predictions: equal scores are averaged
by nDCG; average precision divides by the hits in the first k; average precision, reciprocal rank, precision and recall
do not find documents with a score of 0 or less; `empty_target_action`, `ignore_index` and any `aggregation`, which gets
one value for each query in ascending order of `indexes`.

**Different on purpose**: if scores are equal and not averaged, documents keep the order of the input; torchmetrics'
order is from an unstable sort. For nDCG a target below 0 counts as 0. Values are computed on the CPU in double
precision, and rounded at the end to the precision of the predictions. A NaN prediction is a ValueError. Except for
nDCG, so is a target between 0 and 1; torchmetrics takes some of these as relevant, and adds up others.

**Not offered**: `RetrievalAUROC`, `RetrievalPrecisionRecallCurve`, `RetrievalRecallAtFixedPrecision`; the functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastir import compat
from fastir.evaluation.labels import evaluate_scores
from fastir.inputs import arrays

torch: Any = compat.importing("torch", "torchmetrics")
retrieval: Any = compat.importing("torchmetrics.retrieval", "torchmetrics")
base: Any = compat.importing("torchmetrics.retrieval.base", "torchmetrics")

__all__ = [
    "RetrievalFallOut",
    "RetrievalHitRate",
    "RetrievalMAP",
    "RetrievalMRR",
    "RetrievalNormalizedDCG",
    "RetrievalPrecision",
    "RetrievalRPrecision",
    "RetrievalRecall",
]


def join_state(state: Any) -> Any:
    """Join all values that `update` got into one tensor; copied only if there are several."""
    return state[0] if type(state) is list and len(state) == 1 and state[0].ndim else base.dim_zero_cat(state)


def as_array(tensor: Any, name: str) -> np.ndarray:
    """Its numbers on the CPU, as `arrays.numbers` reads them."""
    try:
        tensor = tensor.numpy(force=True)
    except TypeError:  # bfloat16, for which NumPy has no dtype
        tensor = tensor.cpu()
    return arrays.numbers(tensor, name)


class Computed:
    """`compute` by fastir, a base to put in front of a class of torchmetrics.

    `metric` has no cutoff. `needed` is the kind of target without which a query is treated as `empty_target_action`
    says; with `positive_only` only documents with scores above 0 are found.
    """

    metric: str  # other annotations, and properties, are compiled by torch.jit.script, which fails
    needed = "positive"
    positive_only = False
    top_k = None
    adaptive_k = False

    def compute(self: Any) -> Any:
        """The aggregated value of all queries that `update` was given; a tensor of shape ()."""
        like = join_state(self.preds)
        indexes, scores, labels = (
            as_array(tensor, name)
            for tensor, name in (
                (join_state(self.indexes), "indexes"),
                (like, "preds"),
                (join_state(self.target), "target"),
            )
        )
        if not self.allow_non_binary_target and labels.dtype.kind == "f" and (labels != np.rint(labels)).any():
            raise ValueError(
                "target must be whole, 0 or 1: torchmetrics counts some other values as 1 and adds up others"
            )
        changes = (indexes[1:] != indexes[:-1]).nonzero()[0]
        if len(changes) and (indexes[1:] < indexes[:-1]).any():
            least, most = indexes.min(), indexes.max()
            narrow = np.min_scalar_type(most - least)  # numbers of 16 bits are sorted by counting
            order = np.argsort((indexes - least).astype(narrow), kind="stable")
            indexes, scores, labels = indexes[order], scores[order], labels[order]
            changes = (indexes[1:] != indexes[:-1]).nonzero()[0]
        offsets = np.concatenate(([0], changes + 1, [len(indexes)]))
        if self.needed == "negative":
            labels = 1 - labels
        n_needed = np.add.reduceat(labels, offsets[:-1])
        values = self.values(labels, scores, offsets, n_needed)
        empty = n_needed == 0
        if empty.any():
            if self.empty_target_action == "error":
                raise ValueError(f"`compute` method was provided with a query with no {self.needed} target.")
            if self.empty_target_action == "skip":
                values = values[~empty]
            else:
                values[empty] = self.empty_target_action == "pos"
        if not len(values):
            return like.new_zeros(())
        return base._retrieval_aggregate(torch.from_numpy(values).to(like), self.aggregation)

    def cutoff(self: Any) -> int | None:
        return self.top_k

    def values(
        self: Any, labels: np.ndarray, scores: np.ndarray, offsets: np.ndarray, n_needed: np.ndarray
    ) -> np.ndarray:
        """A value for each query; any number for a query without the needed target."""
        if self.positive_only:
            labels = np.where(scores > 0, labels, 0)
        k = self.cutoff()
        name = self.metric if k is None else f"{self.metric}@{k}"
        results = evaluate_scores(
            labels,
            scores,
            name,
            offsets=offsets,
            convention="torchmetrics",
            short_rankings="clip" if self.adaptive_k else "pad",
            empty="zero",
        )
        return results.values[:, 0].copy()


class RetrievalNormalizedDCG(Computed, retrieval.RetrievalNormalizedDCG):
    """nDCG with linear gains, equal scores averaged."""

    metric = "ndcg"


class RetrievalMAP(Computed, retrieval.RetrievalMAP):
    """The mean of the precision at each hit among the first top_k."""

    metric = "map"
    positive_only = True

    def cutoff(self: Any) -> int | None:
        """The cutoff, which torchmetrics has under another name here, with 0 for None."""
        return self.k or None


class RetrievalMRR(Computed, retrieval.RetrievalMRR):
    """1 / rank of the first relevant document."""

    metric = "mrr"
    positive_only = True


class RetrievalPrecision(Computed, retrieval.RetrievalPrecision):
    """Hits among the first top_k, divided by top_k; with `adaptive_k` by the documents there are, if fewer."""

    metric = "precision"
    positive_only = True


class RetrievalRecall(Computed, retrieval.RetrievalRecall):
    """Hits among the first top_k, divided by the relevant documents, found or not."""

    metric = "hits"
    positive_only = True

    def values(self, labels: np.ndarray, scores: np.ndarray, offsets: np.ndarray, n_needed: np.ndarray) -> np.ndarray:
        return super().values(labels, scores, offsets, n_needed) / np.maximum(n_needed, 1)


class RetrievalHitRate(Computed, retrieval.RetrievalHitRate):
    """Whether there is a hit among the first top_k."""

    metric = "hit_rate"


class RetrievalRPrecision(Computed, retrieval.RetrievalRPrecision):
    """Hits among the first R documents, divided by R, the number of relevant documents."""

    metric = "r_precision"


class RetrievalFallOut(Computed, retrieval.RetrievalFallOut):
    """The fraction of the documents that are not relevant which are among the first top_k."""

    metric = "recall"
    needed = "negative"
