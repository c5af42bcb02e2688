"""Memory for one long query of labels: room is made for its hits, not for all its rows."""

import subprocess
import sys

import pytest

CHILD = """
import resource, sys
import numpy as np
import fastir

n, scored = 20_000_000, sys.argv[1] == "scores"
labels = np.zeros(n, np.int8)
labels[::100] = 1
scores = np.random.default_rng(1).random(n) if scored else None
offsets = np.array([0, n])
fastir.evaluate_ranked(labels[:10], [0, 10], ["map", "ndcg@10"])
fastir.evaluate_scores(labels[:10], np.arange(10.0), ["map", "ndcg@10"], offsets=[0, 10])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[2]) * n + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
if scored:
    print(fastir.evaluate_scores(labels, scores, ["map", "ndcg@10"], offsets=offsets)["map"] > 0)
else:
    print(fastir.evaluate_ranked(labels, offsets, ["map", "ndcg@10"])["map"] > 0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("kind", "bytes_a_label"), [("ranked", 16), ("scores", 72)])
def test_one_long_query_takes_few_bytes_a_label(kind, bytes_a_label):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, kind, str(bytes_a_label)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr[-500:]
