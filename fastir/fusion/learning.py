"""What methods of fusion learn from judgments: how likely a document is relevant, by run and rank."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from fastir.fusion.cards import SEGMENTS, Method
from fastir.fusion.layout import Layout

CUTS = (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000)  # between which BayesFuse counts
SMALLEST = 0.001  # the probability that stands for 0 in its odds


class Learner:
    """The relevant documents of each run by query and rank, from which any set of queries can learn."""

    def __init__(self, layout: Layout, card: Method, level: float) -> None:
        judged = layout.judged
        self.card, self.sizes = card, layout.sizes
        queries = np.repeat(np.arange(len(judged)), np.diff(judged.offsets))
        relevant = judged.labels >= level
        queries, positions = queries[relevant], layout.slots[queries[relevant]] + judged.ranks[relevant] - 1
        ideal = np.add.reduceat(np.append(judged.ideal_labels >= level, False), judged.ideal_offsets[:-1], dtype=int)
        self.num_rel = np.where(np.diff(judged.ideal_offsets) > 0, ideal, 0)
        self.hits = []
        for places, sizes in zip(layout.places, self.sizes, strict=True):
            ranks = places[positions].astype(np.int64)
            in_run = ranks < sizes[queries]
            order = np.lexsort((ranks[in_run], queries[in_run]))
            self.hits.append((queries[in_run][order], ranks[in_run][order]))

    def learn(self, chosen: np.ndarray, params: dict[str, Any]) -> dict[str, Any]:
        """What the queries where `chosen` is True teach, by the name of the parameter of `fuse`."""
        learnt = []
        for (queries, ranks), sizes in zip(self.hits, self.sizes, strict=True):
            kept = chosen[queries]
            learnt.append(self.learn_run(queries[kept], ranks[kept], sizes, chosen, params))
        return {**{k: v for k, v in params.items() if k != "n_segments"}, self.card.learnt: learnt}

    def learn_run(
        self, queries: np.ndarray, ranks: np.ndarray, sizes: np.ndarray, chosen: np.ndarray, params: dict[str, Any]
    ) -> Any:
        name, n = self.card.name, int(chosen.sum())
        if name == "mapfuse":
            first = np.searchsorted(queries, queries)  # the place of each query's first hit
            precision = (np.arange(len(queries)) - first + 1) / (ranks + 1)
            return float(np.sum(precision / self.num_rel[queries]) / n)
        if name in ("posfuse", "slidefuse"):
            lengths = np.bincount(sizes[chosen])
            longer = lengths[::-1].cumsum()[::-1][1:]  # how many rankings have each rank
            if not len(longer):
                return np.zeros(1)
            return np.bincount(ranks, minlength=len(longer)) / longer
        if name == "probfuse":
            parts = params["n_segments"]
            size = np.maximum(-(-sizes[queries] // parts), 1)
            part = ranks // size
            within = np.minimum((part + 1) * size, sizes[queries]) - part * size
            return np.bincount(part, 1.0 / within, parts) / n
        edges = np.cumsum([0, *SEGMENTS]) if name == "segfuse" else np.array(CUTS)
        ranks = ranks[ranks < edges[-1]]
        segment = np.searchsorted(edges, ranks, "right") - 1
        share = np.bincount(segment, minlength=len(edges) - 1) / (np.diff(edges) * float(n))
        return share if name == "segfuse" else log_odds(share)


def log_odds(share: np.ndarray) -> np.ndarray:
    """The logarithm of the odds at each rank, from the share of relevant documents between two cuts."""
    likely = np.where(share == 0, SMALLEST, share)
    other = np.where(likely == 1, SMALLEST, 1 - likely)
    sizes = [stop - start for start, stop in itertools.pairwise(CUTS)]
    return np.repeat(np.log(likely / other), sizes)
