"""Memory for one long query of labels: room is made for its hits, not for all its rows."""

import os
import subprocess
import sys

import pytest
from processes import patient

CHILD = """
import resource, sys
import numpy as np
import fastir

order, hits, bytes_a_label = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
n = 16_000_000 if order == "ranked" else 4_000_000
labels = np.zeros(n, np.int8)
for first in range(hits):
    labels[first::100] = 1 + first % 2
scores = np.random.default_rng(1).random(n, np.float32 if order == "float32" else np.float64)
if order == "tied":
    np.multiply(scores, n // 4, out=scores)
    np.floor(scores, out=scores)
elif order == "falling":
    scores[:] = np.arange(n, 0, -1)
few = np.arange(10.0)
metrics = ["map", "ndcg", "ndcg@100"]
fastir.evaluate_ranked(labels[:10], [0, 10], metrics)
fastir.evaluate_scores(labels[:10], few, metrics, offsets=[0, 10])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + bytes_a_label * n + (20 << 20)  # and a thread's stack
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
if order == "ranked":
    results = fastir.evaluate_ranked(labels, np.array([0, n]), metrics)
else:
    results = fastir.evaluate_scores(labels, scores, metrics, offsets=np.array([0, n]))
print(results["map"] > 0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("order", "hits_in_a_hundred", "bytes_a_label"), [
    ("ranked", 1, 1), ("ranked", 100, 16), ("random", 1, 40), ("random", 100, 40), ("tied", 3, 40),
    ("tied", 4, 40), ("falling", 3, 40), ("float32", 50, 40),
])  # fmt: skip
def test_one_long_query_takes_few_bytes_a_label(order, hits_in_a_hundred, bytes_a_label):
    arguments = [order, str(hits_in_a_hundred), str(bytes_a_label)]
    one_heap = {**os.environ, "MALLOC_ARENA_MAX": "1"}  # glibc reserves 64 MB for that of another thread
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], env=one_heap, capture_output=True, text=True, timeout=patient(120)
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr[-500:]
