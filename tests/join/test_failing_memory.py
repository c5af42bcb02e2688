"""Memory that runs out: whichever allocation of ours fails, there is a MemoryError, and the next call is right."""
# Also of: join, contiguous, counts, trec_stream.

import os
import shutil
import subprocess
import sys

import pytest
from processes import patient

PRELOAD = r"""
/* malloc, calloc and realloc of which the n-th call that comes from fastir's own modules fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long left = -1;
void fail_at(long n) { left = n; }
long left_to_fail(void) { return left; }

static int fails(void *caller) {
    Dl_info info;
    if (left <= 0 || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "/fastir/")) return 0;
    return --left == 0;
}
void *malloc(size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
"""
CHILD = """
import ctypes, sys
import numpy as np
import fastir

memory = ctypes.CDLL(None)
qrels = {"q": {f"d{i}": i % 3 for i in range(40)}, "p": {"é": 1, "\\udc80": 2}}
run = {"q": {f"d{i}": float(i % 9) for i in range(0, 80, 2)}, "p": {"é": 1.0, "\\udc80": 2.0}, "other": {"d": 1.0}}
rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
text = lambda d: d.encode("utf-8", "surrogateescape").hex()
columns = [np.array(column) for column in zip(*((q, text(d), s) for q, d, s in rows))]
with open(sys.argv[1], "wb") as file:
    for q, d, s in rows:
        file.write(f"{q} Q0 {d} 1 {s} t\\n".encode("utf-8", "surrogateescape"))
table = {"query_id": columns[0], "doc_id": columns[1], "score": columns[2]}
mixed = {name: np.concatenate([column[::2], column[1::2]]) for name, column in table.items()}
hexed = {q: {text(d): label for d, label in docs.items()} for q, docs in qrels.items()}
numbers = {0: dict.fromkeys(range(40), 1)}
ranked = np.zeros(40, int), np.arange(40), np.linspace(1, 0, 40)
cases = {
    "file": (qrels, sys.argv[1]), "dict": (qrels, run), "held": (qrels, fastir.Run.from_dict(run)),
    "table": (hexed, table), "rows in any order": (hexed, mixed),
    "integers": (numbers, dict(zip(("query_id", "doc_id", "score"), ranked))),
}
for name, (judged, given) in cases.items():
    def values():
        evaluator = fastir.Evaluator(judged, ["ndcg@10", "map", "bpref"], queries="qrels")
        return [evaluator.evaluate(given).values.tobytes() for _ in range(2)]
    right = values()
    n = 0
    while True:
        n += 1
        memory.fail_at(n)
        try:
            seen = values()
        except MemoryError:
            seen = None
        except OSError:             # an Arrow library that read our data
            seen = None
        failed = memory.left_to_fail() == 0
        memory.fail_at(-1)
        assert seen is None or seen == right, (name, n)
        assert values() == right, (name, n)
        if not failed:
            break
    print(name, n > 5)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs glibc and cc")
def test_every_allocation_of_a_join_may_fail(tmp_path):
    source, library = tmp_path / "failing.c", tmp_path / "failing.so"
    source.write_text(PRELOAD)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True, timeout=patient(60)
    )
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "run.txt")],
        env={**os.environ, "LD_PRELOAD": str(library), "FASTIR_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=patient(300),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.endswith("True") for line in done.stdout.splitlines()] == [True] * 6, done.stdout
