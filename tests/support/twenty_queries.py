"""Values of three runs on twenty queries, whose p-values are known."""

import numpy as np

X = [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]
Y = [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]
Z = [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]
IDS = [f"q{i:02}" for i in range(20)]
RUNS = {
    name: dict(zip(IDS, (v / 10 for v in values), strict=True)) for name, values in zip("xyz", (X, Y, Z), strict=True)
}
ARRAYS = {name: np.array(list(values.values())) for name, values in RUNS.items()}


def random_runs(n_queries, n_runs=3, n_metrics=1, seed=0):
    """Runs on no grid, too many queries for exact tests."""
    values = np.random.default_rng(seed).random((n_runs, n_metrics, n_queries))
    return {
        f"run{r}": {f"m{m}": {f"q{q}": float(value) for q, value in enumerate(row)} for m, row in enumerate(of_run)}
        for r, of_run in enumerate(values)
    }


def numbers(comparison):
    """Everything that was computed, with NaN equal to NaN."""
    return [repr(record) for record in (*comparison.pairs, *comparison.systems)]


RANDOM = [
    {"test": "randomization"}, {"test": "randomization", "correction": "max_t", "family": "all"},
    {"test": "bootstrap"}, {"test": "randomized_tukey"}, {"interval": "bca"},
]  # fmt: skip
