"""The best labelings of metrics with a reader who may stop, document by document: dynamic programs with few states.

Neither needs all labelings: what follows an unjudged document depends on those above it by one number. The kernel then
measures the labelings that are best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.bounds._labelings import UNJUDGED
from fastir.analyses.bounds.families import Family, by_document
from fastir.analyses.bounds.fractions import MAX_ROUNDS
from fastir.engine.columns.rows import repeat
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from fastir.analyses.bounds.unjudged_ranks import UnjudgedRanks

CWL_DEPTH = 1000  # the last rank that readers of C/W/L metrics see


class Cascades(NamedTuple):
    """Normalised expected reciprocal rank as the options define it."""

    floor: int  # the smallest label that satisfies
    grade: int  # the label by which satisfaction is scaled; 0 if that is the query's largest
    max_label: int
    cutoff: int
    ideal: str  # a word of IDEAL_CODES, but not "full"

    def families(self, rankings: UnjudgedRanks, inside: np.ndarray) -> list[Family]:
        """The labelings among which the one with the largest value of each query is."""
        n_unjudged = rankings.count_unjudged(MAX_DEPTH) + rankings.unseen
        labelings = []
        for q in np.flatnonzero(n_unjudged > 0).tolist():
            query = Cascade(self, rankings, q)
            highest = int(
                rankings.judged_labels[rankings.judged_offsets[q] : rankings.judged_offsets[q + 1]].max(initial=0)
            )
            for top in range(max(self.floor, highest), self.max_label + 1) if self.grade == 0 else (self.max_label,):
                missing = self.grade == 0 and top > highest
                for other in (False, True)[: 1 + (missing and bool(n_unjudged[q] > inside[q]))]:
                    labels = np.zeros(n_unjudged[q], np.int32)
                    labels[: inside[q]] = query.best(top, missing and not other, other)
                    labels[-1] = top if other else labels[-1]
                    labelings.append((q, labels))
        return [by_document(labelings)] if labelings else []


class Cascade:
    """One query: its judged documents in segments between the unjudged ones inside, with falling labels."""

    cascades: Cascades
    ranks: np.ndarray
    labels: np.ndarray
    scale: int
    levels: list[int]
    counts: list[int]
    places: np.ndarray
    added: np.ndarray
    passed: np.ndarray
    above: Any
    left: list[float]
    blocks: list[list[float]]

    def __init__(self, cascades: Cascades, rankings: UnjudgedRanks, q: int) -> None:
        slots = slice(rankings.offsets[q], rankings.offsets[q + 1])
        near = rankings.ranks[slots] <= cascades.cutoff
        self.cascades, self.ranks, self.labels = cascades, rankings.ranks[slots][near], rankings.labels[slots][near]
        self.judged_labels: np.ndarray = rankings.judged_labels[
            rankings.judged_offsets[q] : rankings.judged_offsets[q + 1]
        ]
        self.counts_other = cascades.ideal != "retrieved" or rankings.unseen[q] == 0
        if cascades.ideal == "retrieved":
            slot_labels = rankings.labels[slots]
            self.judged_labels = slot_labels[slot_labels != UNJUDGED]
        depth = MAX_DEPTH if cascades.ideal == "uncut" else cascades.cutoff
        self.limit: int = min(depth, int(rankings.num_ret[q]) if cascades.ideal == "num_ret" else MAX_DEPTH)

    def best(self, top: int, forced: bool, other: bool) -> list[int]:
        """The labels of the unjudged documents with the largest value, none above `top`.

        The first one has that label if `forced`; one that is not inside may have it.
        """
        self.scale = self.cascades.grade or top
        self.levels = [0, *range(self.cascades.floor, top + 1)]
        self.counts = [0, *(int(np.count_nonzero(self.judged_labels == level)) for level in self.levels[1:])]
        self.counts[-1] += other and self.counts_other
        self.measure_segments()
        self.measure_ideal()
        labels = [top] * len(self.places)
        value = 0.0
        for _ in range(MAX_ROUNDS):
            gained, ideal = self.value(labels)
            here = gained / ideal if ideal > 0.0 else 0.0
            if here <= value * (1.0 + 1e-15):
                break
            best, value = labels, here
            labels = self.labels_for(value, forced)
        return best if value > 0.0 else labels

    def gain(self, label: int) -> float:
        return (1.0 - 2.0**-label) * 2.0 ** (label - self.scale) if label >= self.cascades.floor else 0.0

    def measure_segments(self) -> None:
        """What judged documents between unjudged ones add, and the chance to pass them, if none of these satisfies."""
        places, added, passed = [], [0.0], [1.0]
        for rank, label in zip(self.ranks.tolist(), self.labels.tolist(), strict=True):
            if label == UNJUDGED:
                places.append(rank)
                added.append(0.0)
                passed.append(passed[-1])
            else:
                added[-1] += passed[-1] * self.gain(label) / rank
                passed[-1] *= 1.0 - self.gain(label)
        self.places, self.added, self.passed = np.array(places, np.int64), np.array(added), np.array(passed)

    def measure_ideal(self) -> None:
        """What the ideal ranking has of each level below 0, 1, 2, ... unjudged documents of which none satisfies.

        `left` is the chance to pass its judged documents of the level and above, `above` how many they are, `blocks`
        what the level's documents add.
        """
        n = len(self.places)
        self.above = np.cumsum(self.counts[::-1])[::-1].tolist()
        self.left, self.blocks = [1.0] * (len(self.levels) + 1), [[0.0] * (n + 1)] * len(self.levels)
        ranks = np.arange(1, self.above[0] + n + 1)
        worth = np.where(ranks <= self.limit, 1.0 / ranks, 0.0)
        for i in range(len(self.levels) - 1, 0, -1):
            gain, count = self.gain(self.levels[i]), self.counts[i]
            if count:
                weights = self.left[i + 1] * gain * (1.0 - gain) ** np.arange(count)
                first = self.above[i] - count
                self.blocks[i] = np.correlate(worth[first : first + n + count], weights, "valid").tolist()
            self.left[i] = self.left[i + 1] * (1.0 - gain) ** count

    def value(self, labels: list[int]) -> tuple[float, float]:
        """Expected reciprocal rank of a labeling, and of its ideal ranking."""
        gains = np.array([self.gain(label) for label in labels])
        left = np.concatenate([[1.0], np.cumprod(1.0 - gains)])
        total = left @ self.added + (left[:-1] * self.passed[: len(labels)] * gains) @ (1.0 / self.places)
        judged_gains = repeat([self.gain(level) for level in self.levels], self.counts)
        best = np.sort(np.concatenate([judged_gains, gains]))[::-1][: self.limit]
        left = np.concatenate([[1.0], np.cumprod(1.0 - best)[:-1]])
        return float(total), float((left[: len(best)] * best) @ (1.0 / np.arange(1, len(best) + 1)))

    def labels_for(self, c: float, forced: bool) -> list[int]:
        """The labels with the largest difference between the value and c times the ideal ranking's value.

        `best[m]` is the difference that the unjudged document m and those below make, if none above satisfies, where no
        label is above the level: what unjudged documents above do multiplies both values alike. An unjudged document
        has the level, or a lower level is next.
        """
        n, last = len(self.places), len(self.levels) - 1
        best = np.cumsum(self.added[::-1])[::-1]
        takes = [[False] * (n + 1)]
        for i in range(1, last + 1):
            gain, ranks = self.gain(self.levels[i]), self.above[i] + 1 + np.arange(n)
            ideal = np.where(ranks <= self.limit, self.left[i] * gain / ranks, 0.0)
            taken = (self.passed[:-1] * gain / self.places + self.added[:-1] - c * ideal).tolist()
            skipped = (best - c * np.array(self.blocks[i - 1])).tolist()
            take, value, values = [False] * (n + 1), skipped[n], [skipped[n]]
            for m in range(n - 1, -1, -1):
                value = taken[m] + (1.0 - gain) * value
                take[m] = value >= skipped[m] or (forced and i == last and m == 0)
                value = value if take[m] else skipped[m]
                values.append(value)
            best = np.array(values[::-1])
            takes.append(take)
        labels, i = [], last
        for m in range(n):
            while i > 0 and not takes[i][m]:
                i -= 1
            labels.append(self.levels[i])
        return labels


class Readers(NamedTuple):
    """Gain per document read until enough was found (bpm)."""

    floor: int  # a label from the floor up counts (label - min_rel) / (max_rel - min_rel), at least 0 and at most 1
    max_rel: int
    min_rel: int
    enough: float
    max_label: int
    cutoff: int

    def families(self, rankings: UnjudgedRanks) -> list[Family]:
        """The labelings with the smallest, the smallest positive and the largest value of each query."""
        n_unjudged = rankings.count_unjudged(MAX_DEPTH) + rankings.unseen
        labelings = []
        for q in np.flatnonzero(n_unjudged > 0).tolist():
            for unjudged_labels in self.query_labelings(rankings, q):
                labels = np.zeros(n_unjudged[q], np.int32)
                labels[: len(unjudged_labels)] = unjudged_labels
                labelings.append((q, labels))
        return [by_document(labelings)] if labelings else []

    def gain(self, label: int) -> float:
        counted = min(label, self.max_rel) if label >= self.floor else 0
        return max((counted - self.min_rel) / (self.max_rel - self.min_rel), 0.0)

    def query_labelings(self, rankings: UnjudgedRanks, q: int) -> list[list[int]]:
        """Labels of the first unjudged documents, for each of the three; rank by rank, a state is the gain so far."""
        slots = slice(rankings.offsets[q], rankings.offsets[q + 1])
        depth = min(self.cutoff, CWL_DEPTH)
        choices = {self.gain(label): label for label in range(self.max_label, -1, -1)}
        states: dict[float, Any] = {0.0: None}  # the labels that lead there: a label, and those before it
        ended: dict[float, Any] = {}
        for rank, label in zip(rankings.ranks[slots].tolist(), rankings.labels[slots].tolist(), strict=True):
            if rank > depth:
                break
            before, states = states, {}
            for total, labels in before.items():
                for gain, chosen in choices.items() if label == UNJUDGED else [(self.gain(label), None)]:
                    path = labels if chosen is None else (chosen, labels)
                    if total + gain >= self.enough:
                        ended[(total + gain) / rank] = path
                    else:
                        states[total + gain] = path
        ended.update({total / depth: labels for total, labels in states.items()})
        positive = [value for value in ended if value > 0.0]
        return [unroll(ended[value]) for value in {min(ended), *((min(positive), max(positive)) if positive else ())}]


def unroll(path: Any) -> list[int]:
    labels = []
    while path is not None:
        label, path = path
        labels.append(label)
    return labels[::-1]
