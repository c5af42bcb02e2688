"""Query ids that collide although the hash has a seed: whoever foresees the seed gets an error, not an hour of work.

Also of: join.
"""

import os
import subprocess
import sys

import pytest

SEED = 5
MASK = 2**64 - 1
CHILD = """
import sys
import fastir
queries = [bytes.fromhex(line).decode("utf-8", "surrogateescape") for line in sys.stdin] + ["q"]
n = 2 * len(queries)
table = {"query_id": 2 * queries, "doc_id": [f"d{i}" for i in range(n - 1)] + ["d"], "score": n * [1.0]}
print(fastir.evaluate({"q": {"d": 1}}, table, "num_rel_ret")["num_rel_ret"])
"""


def spread(x):
    """The mixing step of splitmix64, of which the hash's words are made."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


START = spread(SEED + 0x9E3779B97F4A7C15 & MASK)
FACTOR = spread(SEED + 2 * 0x9E3779B97F4A7C15 & MASK) | 1


def colliding(n):
    """Ids of two words with one hash under SEED: the second word takes back what the first one did."""
    ids, i = [], 0
    while len(ids) < n:
        i += 1
        first = b"q%07d" % i
        product = (START ^ int.from_bytes(first, "little")) * FACTOR
        last = ((product ^ product >> 64) & MASK ^ 0x123456789ABCDEF).to_bytes(8, "little")
        if min(last) > 32:
            ids.append(first + last)
    return ids


@pytest.mark.parametrize(("n", "seed", "refused"), [(1024, SEED, False), (1026, SEED, True), (3000, SEED + 1, False)])
def test_unknown_queries_of_an_ungrouped_run_may_not_collide_without_end(n, seed, refused):
    lines = "".join(query.hex() + "\n" for query in colliding(n))
    environment = {**os.environ, "FASTIR_HASH_SEED": str(seed)}
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, input=lines, env=environment, capture_output=True, text=True)
    if refused:
        assert "RuntimeError: 1024 ids collide in a table of hashes" in done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, "1.0\n"), done.stderr
