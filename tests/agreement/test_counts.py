"""Agreement from tables of counts: many tables at once are each table alone, and alpha at every level by hand."""

import itertools

import numpy as np
import pytest

from fastir.analyses.agreement import counts

RNG = np.random.default_rng(2)
LABELS = np.array([0, 1, 3])
TABLES = RNG.integers(0, 9, (4, 5, 3, 3)).astype(float)


@pytest.mark.parametrize("measure", [
    lambda table: counts.overlap(table, LABELS >= 1),
    lambda table: counts.kappa(table, counts.distances(LABELS, "nominal")),
    lambda table: counts.kappa(table, counts.distances(LABELS, "quadratic")),
    *(lambda table, level=level: counts.alpha(table, LABELS, level) for level in counts.SCALES),
], ids=["overlap", "kappa", "weighted kappa", *counts.SCALES])  # fmt: skip
def test_many_tables_are_each_table_alone(measure):
    found = measure(TABLES)
    assert found.shape == (4, 5)
    for place in itertools.product(range(4), range(5)):
        assert found[place] == measure(TABLES[place])


def by_pairs(table, apart):
    """Krippendorff's alpha: the mean distance of the two codes of a document, over that of any two codes."""
    pairs = [(a, b) for a, b in np.ndindex(3, 3) for _ in range(int(table[a, b]))]
    codes = [code for pair in pairs for code in pair]
    seen = np.mean([apart(*pair) for pair in pairs])
    return 1 - seen / np.mean([apart(a, b) for a, b in itertools.permutations(codes, 2)])


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_alpha_is_one_less_observed_over_expected_distance(level):
    apart = (lambda a, b: float(a != b)) if level == "nominal" else lambda a, b: float(LABELS[a] - LABELS[b]) ** 2
    for table in TABLES[0]:
        assert counts.alpha(table, LABELS, level) == pytest.approx(by_pairs(table, apart), rel=1e-12)


def test_nothing_to_divide_by_is_undefined():
    table = np.zeros((3, 3))
    table[0, 0] = 4
    assert np.isnan(counts.overlap(table, LABELS >= 1)) and np.isnan(counts.alpha(table, LABELS, "nominal"))
    table[1, 0] = 1  # one document that one side calls relevant
    assert counts.overlap(table, LABELS >= 1) == 0.0
