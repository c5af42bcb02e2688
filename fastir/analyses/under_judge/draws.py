"""Draws of the labels that no human gave, and the metrics of the runs under each draw, measured by the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.under_judge.imputation import CellModel, LabelModel
from fastir.analyses.under_judge.pairs import NO_LABEL, known_pairs
from fastir.data.rankings import JudgedRankings, make_rankings, measure_rankings
from fastir.engine.columns.rows import offsets_from_sizes, repeat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastir.analyses.under_judge.pairs import Design, JudgedPairs
    from fastir.request.plan import Settings

BLOCK_LABELS = 1 << 20  # labels that are drawn and measured at once
Parts = list[tuple[list[int], "Settings"]]


class LabelDraws:
    """Labels of all pairs: those of humans as they are, the others drawn from the model."""

    def __init__(self, pairs: JudgedPairs, design: Design, n_draws: int, random_state: int) -> None:
        self.pairs, self.design, self.n_draws = pairs, design, n_draws
        known, labels = known_pairs(pairs, design)
        self.model: LabelModel = LabelModel(known, labels, design.prior)
        self.random: np.random.Generator = np.random.Generator(np.random.PCG64(random_state))
        self.cells: CellModel = self.model.of_cells(design.columns, design.queries)
        self.drawn: list[tuple[np.ndarray, np.ndarray]] = self.model.draw(self.random, n_draws)
        # the sum over the draws so far of P(label >= level) of each cell, for each level above the lowest
        self.chances: np.ndarray = np.zeros((len(self.drawn), len(design.columns)))
        self.block: int = max(1, BLOCK_LABELS // len(pairs.human))

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients of each draw: float64 of shape (n_draws, n_coefficients)."""
        return np.concatenate([beta for beta, _ in self.drawn] or [np.zeros((self.n_draws, 0))], axis=1)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Blocks of draws: int32 arrays of shape (n, n_pairs)."""
        pairs, levels = self.pairs, self.model.levels
        human = np.flatnonzero(~pairs.open)
        self.chances[:] = 0.0
        for start in range(0, self.n_draws, self.block):
            drawn = [(beta[start : start + self.block], u[start : start + self.block]) for beta, u in self.drawn]
            above = self.cells.thresholds(drawn)
            for total, each in zip(self.chances, above, strict=True):
                total += each.sum(axis=0, dtype=np.int64) / 65536
            size = min(self.block, self.n_draws - start), len(pairs.human)
            chance = self.random.integers(0, 1 << 64, -(-size[0] * size[1] // 4), np.uint64, False).view(np.uint16)
            chance = chance[: size[0] * size[1]].reshape(size)
            codes = np.zeros(size, np.min_scalar_type(len(levels)))
            if above:
                codes += chance < np.take(above[0], self.design.cells, axis=1)
                for place, threshold in enumerate(above[1:], 1):
                    draws, rows = np.nonzero(codes == place)
                    codes[draws, rows] += chance[draws, rows] < threshold[draws, self.design.cells[rows]]
            labels = np.take(levels, codes, mode="clip")
            labels[:, human] = pairs.human[human]
            yield labels


class Measurer:
    """Measures a run whose judged documents are numbered by pair, under labels of all pairs."""

    def __init__(self, pairs: JudgedPairs, run: JudgedRankings, parts: Parts) -> None:
        self.pairs, self.run, self.parts = pairs, run, parts
        self.n_metrics: int = sum(len(columns) for columns, _ in parts)

    def rankings(self, labels: np.ndarray, ideal_sizes: np.ndarray, ideal: np.ndarray) -> JudgedRankings:
        """The rankings of all queries under each draw, one draw after the other; a pair can have no label."""
        n_draws, run = len(labels), self.run
        arrays: dict[str, Any] = {
            "offsets": offsets_from_sizes(np.tile(np.diff(run.offsets), n_draws)),
            "ranks": np.tile(run.ranks, n_draws),
            "labels": labels[:, run.labels].reshape(-1),
            "num_ret": np.tile(run.num_ret, n_draws),
            "ideal_offsets": offsets_from_sizes(ideal_sizes),
            "ideal_labels": ideal,
            "missing": np.tile(run.missing, n_draws),
        }
        rules = run.ties, run.score_dtype, run.duplicates
        return make_rankings(JudgedRankings, run.query_ids * n_draws, arrays, *rules, run.report)

    def measure(self, labels: np.ndarray, ideal_sizes: np.ndarray, ideal: np.ndarray) -> np.ndarray:
        """Values of shape (n_draws, n_queries, n_metrics), of labels and what `ideal_labels` makes of them."""
        rankings = self.rankings(labels, ideal_sizes, ideal)
        values = np.empty((len(rankings), self.n_metrics))
        for columns, part in self.parts:
            values[:, columns] = measure_rankings(rankings, part)
        return values.reshape(len(labels), -1, self.n_metrics)


def ideal_labels(labels: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many labels each query of each draw has, and these labels, the largest first; NO_LABEL is left out."""
    levels = np.arange(labels.max(initial=0), NO_LABEL, -1)
    filled = np.flatnonzero(np.diff(offsets))
    counts = np.zeros((len(labels), len(offsets) - 1, len(levels)), np.int64)
    for place, level in enumerate(levels.tolist()):
        counts[:, filled, place] = np.add.reduceat(labels == level, offsets[filled], axis=1, dtype=np.int64)
    flat = counts.reshape(-1, len(levels))
    return flat.sum(axis=1), repeat(np.tile(levels.astype(np.int32), len(flat)), flat.reshape(-1))
