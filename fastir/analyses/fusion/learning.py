"""What methods of fusion learn from judgments: how likely a document is relevant, by run and rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastir.analyses.fusion.cards import SEGMENTS, Method
from fastir.analyses.fusion.layout import Layout
from fastir.analyses.fusion.settings import Setting
from fastir.engine.columns.rows import list_of_each, occurrences, repeat, sums

CUTS = np.array((0, 5, 10, 15, 20, 30, 100, 200, 500, 1000))  # between which BayesFuse counts
SMALLEST = 0.001  # the probability that replaces 0 in its odds


class Learner:
    """The relevant documents of each run by query and rank, from which any set of queries can learn."""

    def __init__(self, layout: Layout, card: Method, level: float) -> None:
        self.card, self.sizes = card, layout.sizes
        if not card.learnt:
            return
        judged = layout.judged
        relevant = judged.labels >= level
        queries = list_of_each(judged.offsets)[relevant]
        positions = layout.slots[queries] + judged.ranks[relevant] - 1
        self.num_rel = sums(judged.ideal_labels >= level, judged.ideal_offsets)
        self.hits = []
        for places, sizes in zip(layout.places, self.sizes, strict=True):
            ranks = places[positions].astype(np.int64)
            in_run = ranks < sizes[queries]
            order = np.lexsort((ranks[in_run], queries[in_run]))
            self.hits.append((queries[in_run][order], ranks[in_run][order]))

    def teach(self, settings: list[Setting], chosen: np.ndarray) -> list[Setting]:
        """The settings with what the queries where `chosen` is True teach; the same where there is nothing to learn."""
        if not self.card.learnt:
            return settings
        lists: dict[Any, list[Any]] = {}  # what is learnt depends on the number of parts alone
        taught = []
        for _, params in settings:
            rest = dict(params)
            parts = rest.pop("n_segments", None)
            if parts not in lists:
                lists[parts] = [
                    self.learn(queries[chosen[queries]], ranks[chosen[queries]], sizes, chosen, parts)
                    for (queries, ranks), sizes in zip(self.hits, self.sizes, strict=True)
                ]
            taught.append(Setting(None, {**rest, self.card.learnt: lists[parts]}))
        return taught

    def learn(self, queries: np.ndarray, ranks: np.ndarray, sizes: np.ndarray, chosen: np.ndarray, parts: Any) -> Any:
        """What the hits of one run teach."""
        name, n = self.card.name, int(chosen.sum())
        if name == "mapfuse":
            first = np.searchsorted(queries, queries)  # the position of each query's first hit
            precision = (np.arange(len(queries)) - first + 1) / (ranks + 1)
            return float(np.sum(precision / self.num_rel[queries]) / n)
        if name in ("posfuse", "slidefuse"):
            longer = occurrences(sizes[chosen])[::-1].cumsum()[::-1][1:]  # how many rankings have each rank
            return occurrences(ranks, minlength=len(longer)) / longer if len(longer) else np.zeros(1)
        if name == "probfuse":
            size = np.maximum(-(-sizes[queries] // parts), 1)
            part = ranks // size
            within = np.minimum((part + 1) * size, sizes[queries]) - part * size
            return occurrences(part, 1.0 / within, parts) / n
        edges = np.cumsum([0, *SEGMENTS]) if name == "segfuse" else CUTS
        segment = np.searchsorted(edges, ranks[ranks < edges[-1]], "right") - 1
        share = occurrences(segment, minlength=len(edges) - 1) / (np.diff(edges) * float(n))
        if name == "segfuse":
            return share
        likely = np.where(share == 0, SMALLEST, share)
        return repeat(np.log(likely / np.where(likely == 1, SMALLEST, 1 - likely)), np.diff(CUTS))
