"""Python code that runs in a process of its own."""

import contextlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

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


def start(code, *arguments, **options):
    """A Python process that runs the prelude and this code."""
    script = PRELUDE + textwrap.dedent(code)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], text=True, **streams)


def python(code, *arguments, timeout=60, **options):
    """Run it to its end, which must be a good one; the output."""
    process = start(code, *arguments, **options)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, f"exit {process.returncode}: {err[-2000:]}"
    return out


def longest_wait(prepare, call, *arguments):
    """The longest stretch of a call, in seconds of processor time, in which Python answers no signal."""
    code = f"""
import signal
{textwrap.dedent(prepare)}
longest, last = 0.0, 0.0
def tick(number, frame):
    global longest, last
    longest, last = max(longest, time.process_time() - last), time.process_time()
signal.signal(signal.SIGPROF, tick)
last = time.process_time()
signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
{call}
signal.setitimer(signal.ITIMER_PROF, 0)
tick(0, None)
print(longest)
"""
    return float(python(code, *arguments))


def has_open(process, path):
    """Whether a process has a file open."""
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it may be closed by now
            if os.readlink(file) == str(path):
                return True
    return False
