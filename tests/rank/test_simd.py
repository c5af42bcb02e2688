"""The instructions that read score matrices: any set gives the same bits, the choice shows and can be forced.

Also of: matrix, row_counts, judged_items.
"""

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
    return found.hexdigest()


def with_simd(name, code):
    """What Python code prints where FASTIR_SIMD has that value."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env={**os.environ, "FASTIR_SIMD": name},
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("name", SETS)
def test_every_set_of_instructions_gives_the_same_bits(name):
    code = "import fastir, test_simd; print(fastir.show_config()['simd'], test_simd.digest())"
    assert with_simd(name, code).split() == [name, digest()]


def test_the_choice_shows():
    config = fastir.show_config()
    assert config["simd"] == (os.environ.get("FASTIR_SIMD") or SETS[-1])
    assert SETS[0] == "portable" and config["version"] == fastir.__version__
    assert config["n_threads"] >= 1
    config["simd_available"].clear()
    assert fastir.show_config()["simd_available"] == SETS


def test_a_set_that_is_not_there_is_an_error():
    code = "import fastir; print(fastir.evaluate({'q': {'a': 1}}, {'q': {'a': 1}}, 'map')['map']); fastir.show_config()"
    message = f"ValueError: FASTIR_SIMD is 'mmx'; must be one of {', '.join(SETS)} on this machine"
    assert message in with_simd("mmx", code)
    assert with_simd("", "import fastir; print(fastir.show_config()['simd'])") == SETS[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_a_processor_with_avx2_uses_it():
    flags = Path("/proc/cpuinfo").read_text().split()
    assert ("avx2" in SETS) == ("avx2" in flags and sys.maxsize > 2**32)
