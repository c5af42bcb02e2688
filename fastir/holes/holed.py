"""Rankings with holes: judged documents and the places of those that nobody judged, as arrays of a block of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.holes._labelings import HOLE

if TYPE_CHECKING:
    from fastir.judged_rankings import JudgedRankings

BLOCK = 1 << 20  # ranked documents that are looked at together


class Holed(NamedTuple):
    """A block of queries: what is known of them, and where their holes are.

    Attributes
    ----------
    offsets : int64 array of shape (n_queries + 1,)
    ranks, labels : int64 and int32 arrays of shape (n_slots,)
        Known documents and holes, by rank; the label of a hole is HOLE.
    num_ret : int64 array of shape (n_queries,)
    unseen : int64 array of shape (n_queries,)
        Holes at no rank of these slots.
    known_offsets, known_labels : int64 array of shape (n_queries + 1,), int32 array
        The labels of the query that no labeling changes, best first.
    """

    offsets: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    num_ret: np.ndarray
    unseen: np.ndarray
    known_offsets: np.ndarray
    known_labels: np.ndarray

    @property
    def n_queries(self) -> int:
        return len(self.num_ret)

    def holes_to(self, cutoff: int) -> np.ndarray:
        """How many holes each query has at the ranks up to a cutoff."""
        return sums((self.labels == HOLE) & (self.ranks <= cutoff), self.offsets)

    def cut(self, cutoff: int) -> Holed:
        """The same without the ranks beyond a cutoff; their holes are unseen."""
        kept = self.ranks <= cutoff
        if kept.all():
            return self
        beyond = sums((self.labels == HOLE) & ~kept, self.offsets)
        offsets = ends_of(sums(kept, self.offsets))
        return self._replace(
            offsets=offsets, ranks=self.ranks[kept], labels=self.labels[kept], unseen=self.unseen + beyond
        )

    def known_from(self, label: int) -> np.ndarray:
        """How many known labels of each query are at least `label`."""
        return sums(self.known_labels >= label, self.known_offsets)


def sums(array: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The sum of each segment, as int64."""
    return np.diff(np.concatenate([[0], np.cumsum(array, dtype=np.int64)])[offsets])


def ends_of(sizes: np.ndarray) -> np.ndarray:
    """The offsets of segments of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def positions(sizes: np.ndarray) -> np.ndarray:
    """0, 1, 2, ... within each segment of these sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def blocks(num_ret: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of queries that together have about BLOCK documents."""
    block = np.cumsum(num_ret) // BLOCK
    starts = np.flatnonzero(np.concatenate([[True], np.diff(block) > 0])[: len(num_ret)])
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(num_ret)], strict=True))


def holed(
    judged: JudgedRankings,
    block: tuple[int, int],
    depth: int,
    max_depth: int,
    judged_only: bool,
    outside: tuple[np.ndarray, np.ndarray] | None = None,
) -> Holed:
    """The queries of a block, with holes down to a depth.

    Parameters
    ----------
    judged : JudgedRankings
    block : (int, int)
    depth : int
    max_depth, judged_only
        The options: rankings are cut at the former; with the latter what has no judgment below `depth` is left out.
    outside : (int64 array, int64 array) of shape (n_queries,), or None
        Holes that other rankings of the same query have, and how many of these have a negative label.
    """
    start, stop = block
    entries = slice(judged.offsets[start], judged.offsets[stop])
    hits = np.diff(judged.offsets[start : stop + 1])
    rows = np.repeat(np.arange(stop - start), hits)
    ranks, labels = judged.ranks[entries], judged.labels[entries]
    num_ret = np.minimum(judged.num_ret[start:stop], max_depth)
    deepest = np.minimum(num_ret, depth)
    within = ranks <= deepest[rows]
    further = ~within & (ranks <= num_ret[rows]) & ((labels >= 0) | (not judged_only))
    sizes = deepest + np.bincount(rows[further], minlength=len(num_ret))
    offsets = ends_of(sizes)
    slots = positions(sizes) + 1
    of_slots = np.full(len(slots), HOLE, np.int32)
    placed = within & (labels >= 0)
    of_slots[offsets[rows[placed]] + ranks[placed] - 1] = labels[placed]
    tail = slots > np.repeat(deepest, sizes)
    of_slots[tail] = labels[further]
    if judged_only:
        num_ret = sizes
    else:
        slots[tail] = ranks[further]
    negative = np.bincount(rows[within & (labels < 0)], minlength=len(num_ret))
    unseen = np.zeros(len(num_ret), np.int64)
    if outside is not None:
        unseen, negative = outside[0][start:stop], negative + outside[1][start:stop]
    ideal = judged.ideal_labels[judged.ideal_offsets[start] : judged.ideal_offsets[stop]]
    known = np.diff(judged.ideal_offsets[start : stop + 1])
    kept = positions(known) < np.repeat(known - negative, known)
    return Holed(offsets, slots, of_slots, num_ret.astype(np.int64), unseen, ends_of(known - negative), ideal[kept])
