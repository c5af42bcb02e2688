"""The instructions that read score matrices and ranked labels: any set gives the same bits, the choice shows."""
# Also of: matrix, row_counts, label_loop.

import hashlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastir

SETS = fastir.show_config()["simd_available"]
METRICS = ["ndcg@10", "recall@100", "map", "auc", "mean_rank", "num_ret"]


def digest():
    """A hash over what comes of many matrices: counted, selected and placed, of either type, with ties, with NaN."""
    found = hashlib.sha256()
    for seed in range(24):
        rng = np.random.default_rng(seed)
        m = int(rng.choice([3, 31, 33, 100, 2047, 4097, 9001]))
        scores = rng.integers(0, rng.choice([3, 100, 10**6]), (6, m)).astype((np.float32, np.float64)[seed % 2])
        scores[rng.random(scores.shape) < 0.01] = rng.choice([np.inf, -np.inf, 1e-310, -0.0])
        relevant = [rng.choice(m, size, replace=False) for size in rng.choice([0, 1, 2, m // 20, m // 3], 6)]
        exclude = [rng.choice(m, m // 10) for _ in range(6)]
        for options in ({}, {"ties": "average", "exclude": exclude}, {"ties": "pessimistic"}):
            for metrics in (METRICS, METRICS[:2]):
                results = fastir.evaluate_matrix(scores, relevant, metrics, **options)
                found.update(results.values.tobytes() + str(results.report).encode())
    for column, hits, dtype in itertools.product((0, 8, 31, 4096, 5000), (2, 60), (np.float32, np.float64)):
        scores = np.random.default_rng(column).random((1, 5001)).astype(dtype)
        scores[0, column] = np.nan
        try:
            fastir.evaluate_matrix(scores, [range(1, 5000, 5000 // hits)], "ndcg@10")
        except ValueError as error:
            found.update(str(error).encode())
        else:
            raise RuntimeError(f"NaN in column {column} was not seen")
    for seed in range(12):
        rng = np.random.default_rng(seed)
        offsets = np.concatenate([[0], rng.integers(0, 300, 20).cumsum()])
        share, top = rng.choice([0.02, 0.1, 0.5, 1.0]), rng.choice([2, 4, 100])
        labels = ((rng.random(offsets[-1]) < share) * rng.integers(-2 * (seed % 3), top, offsets[-1])).astype(np.int8)
        results = fastir.evaluate_ranked(labels, offsets, METRICS)
        found.update(results.values.tobytes() + str(results.report).encode())
    return found.hexdigest()


def with_simd(name, code):
    """What Python code prints where FASTIR_SIMD has that value."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent,
        env={**os.environ, "FASTIR_SIMD": name},
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("name", SETS)
def test_every_set_of_instructions_gives_the_same_bits(name):
    code = "import fastir, test_simd; print(fastir.show_config()['simd'], test_simd.digest())"
    assert with_simd(name, code).split() == [name, digest()]


@pytest.mark.parametrize("top", [1, 3, 9, 120])
def test_labels_are_those_of_a_list_as_long_as_any_number_of_words(top):
    rng = np.random.default_rng(top)
    for n in (1, 63, 64, 65, 127, 128, 200):
        for share in (0.0, 0.05, 0.4, 1.0):
            labels = ((rng.random(n) < share) * rng.integers(1, top + 1, n)).astype(np.int8)
            labels[rng.random(n) < 0.1] = -1
            hits = np.maximum(labels, 0).astype(float)
            relevant = np.flatnonzero(hits) + 1
            precisions = [(i + 1) / rank for i, rank in enumerate(relevant.tolist())]
            *_, total = itertools.accumulate(precisions, initial=0.0)
            expected = [sum(hits[:70].tolist()), total / max(1, len(relevant)), hits.sum()]
            for array, offsets in ((labels, [0, n]), (np.concatenate([labels, np.ones(99, np.int8)]), [0, n, n + 99])):
                found = fastir.evaluate_ranked(array, offsets, ["cg@70", "map", "cg"]).values
                assert found[0].tolist() == expected, (n, share)


def test_a_set_that_is_not_there_is_an_error():
    code = "import fastir; print(fastir.evaluate({'q': {'a': 1}}, {'q': {'a': 1}}, 'map')['map']); fastir.show_config()"
    message = f"ValueError: FASTIR_SIMD is 'mmx'; must be one of {', '.join(SETS)} on this machine"
    assert message in with_simd("mmx", code)
    assert with_simd("", "import fastir; print(fastir.show_config()['simd'])") == SETS[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_a_processor_with_avx2_uses_it():
    flags = Path("/proc/cpuinfo").read_text().split()
    assert ("avx2" in SETS) == ("avx2" in flags and sys.maxsize > 2**32)
