"""The longest stretch of a call in which Python answers no signal, such as Ctrl-C; needs Unix."""

import json
import textwrap

import pytest
from whole_process import python

MOST = 200  # ms, in which nobody takes a program for one that hangs
ROUNDS = 5

# Prints the seconds of processor time of the longest stretch of a call without an answer to a signal.
STRETCH = """
import json, random, signal, sys, time
import numpy as np
import fastir
n = int(sys.argv[1])
{prepare}
longest = last = 0.0
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
RUNS = """
ids = [f"document {i}" for i in range(n)]
random.Random(1).shuffle(ids)
a, b = {"q": dict.fromkeys(ids, 1.0)}, {"q": {doc_id: i % 7 * 1.0 for i, doc_id in enumerate(ids)}}
few = {"q": {"d": 1.0}}
fastir.similarity(few, few, ["rbo", "tau"])
"""
CALLS = {  # {what: (how many, what is prepared, the call)}
    "relevant ids in a set": (1_000_000, "relevant = {f'd{i}' for i in range(n)}",
                              "fastir.evaluate_lists([['d1']], [relevant], 'map')"),
    "relevant ids in a list": (1_000_000, "relevant = [f'd{i}' for i in range(n)]",
                               "fastir.evaluate_lists([['d1']], [relevant], 'map')"),
    "systems of a rank correlation": (
        6000, "a, b = ({f's{i}': float(i * 7919 % m) for i in range(n)} for m in (6007, 6011))",
        "fastir.rank_correlation(a, b)"),
    "documents of two rankings with ties": (400_000, RUNS, "fastir.similarity(a, b, ['rbo', 'tau'])"),
    "documents of a query": (1_000_000, "run = {'q': {f'd{i}': i * 7919 % n * 1.0 for i in range(n)}}",
                             "fastir.evaluate({'q': {'d1': 1}}, run, ['ndcg@10', 'map'])"),
    "labels": (40_000_000, "labels = np.resize(np.array([0, 1, 0, 2], 'i1'), n)",
               "fastir.evaluate_ranked(labels, np.arange(0, n + 1, 10), ['ndcg@10', 'map'])"),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_longest_stretch_without_an_answer_to_signals(race, quick, what):
    many, prepare, call = CALLS[what]
    program = STRETCH.format(prepare=textwrap.dedent(prepare), call=call)
    size = "1000" if quick else str(many)
    seen = race.median("interrupts", what, lambda: json.loads(python("-W", "ignore", "-c", program, size)), ROUNDS)
    race.amount(f"{many:,} {what}: the longest wait", 1e3 * seen, "ms", MOST)
