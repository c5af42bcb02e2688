"""Python code that runs in a process of its own."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

PATIENCE = float(os.environ.get("FASTIR_TEST_PATIENCE") or 1)  # a factor of every limit, for slow and busy machines

# What every child starts with: a small collection, and big ones that take no memory because all queries share one dict.
PRELUDE = """
import ctypes, gc, json, os, pickle, random, resource, sys, threading, time
import numpy as np
import fastir
METRICS = ["ndcg@10", "map", "mrr", "p@5", "bpref"]
QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
RUN = {"q1": {"d1": 3.0, "d2": 2.5, "d3": 2.0}, "q2": {"d5": 9.0, "d4": 8.0, "d1": 7.0}}
def shared(queries, documents):
    judged = {f"doc{i}": i % 3 for i in range(0, documents, 2)}
    scores = {f"doc{i}": float(i * 7919 % documents) for i in range(documents)}
    return {f"q{i}": judged for i in range(queries)}, {f"q{i}": scores for i in range(queries)}
def values(results):
    return results.values.tolist()
"""


def patient(seconds):
    """A limit in seconds, for this machine. A limit ends what hangs: no test is right only below it."""
    return PATIENCE * seconds


def moments(seconds):
    """Go on for so long at most: `for _ in moments(10)` tries again until it breaks, or raises when time is up."""
    end = time.monotonic() + patient(seconds)
    while time.monotonic() < end:
        yield
    raise TimeoutError(f"nothing came within {patient(seconds)} s")


def start(code, *arguments, **options):
    """A Python process that runs the prelude and this code."""
    script = PRELUDE + textwrap.dedent(code)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], text=True, **streams)


def python(code, *arguments, timeout=None, **options):
    """Run it to its end, which must be a good one; the output."""
    process = start(code, *arguments, **options)
    try:
        out, err = process.communicate(timeout=timeout or patient(60))
    finally:
        process.kill()
    assert process.returncode == 0, f"exit {process.returncode}: {err[-2000:]}"
    return out


def more_looks(prepare, few, many, *arguments):
    """How many more times Python looks for signals in the call `many` than in `few`: work is counted, not timed."""
    compiler = shutil.which("cc")
    if compiler is None or os.name != "posix":
        pytest.skip("needs a C compiler and POSIX")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "looks.so")
        source = Path(__file__).with_name("count_looks.c")
        flags = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
        subprocess.run([compiler, "-shared", "-fPIC", *flags, "-o", library, source], check=True)
        code = f"""
import signal
{textwrap.dedent(prepare)}
library = ctypes.PyDLL({str(library)!r})
library.look.argtypes, library.look.restype = [ctypes.c_int, ctypes.py_object], None
signal.signal(signal.SIGUSR1, library.look)
looks = ctypes.c_long.in_dll(library, "looks")
seen = []
for looked_at in (lambda: {few}, lambda: {many}):
    looked_at()
    signal.raise_signal(signal.SIGUSR1)
    before = looks.value
    looked_at()
    seen.append(looks.value - before)
print(seen[1] - seen[0])
"""
        return int(python(code, *arguments))


def has_open(process, path):
    """Whether a process has a file open."""
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it may be closed by now
            if os.readlink(file) == str(path):
                return True
    return False
