"""Two ways to share one call among threads, from 0.05 to 70 ms of work: a team of OpenMP, and Python threads.

    pytest bench -k threads                  a team beside one thread, with the machine as it is
    python bench/bench_threads.py            both ways under all four conditions, about a minute
    python bench/bench_threads.py --quick    only with the machine as it is, and the default wait policy

The conditions: idle, or with a process that spins on every core but one; and OpenMP's wait policy, by default (a
thread of a team spins for some milliseconds before it sleeps) or passive (it sleeps at once). A variable of the
environment sets that policy before a process starts, so each condition is measured in a process of its own. Before
anything is timed, all ways must give the same bits. Times are medians on the wall, of rounds in which all ways take
turns; a figure is the time of one thread over that of the way, so that below 1 threads lose. "quarter" is the figure
that three of four rounds reach.

Idle figures mean something only on a machine that is otherwise quiet.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

import fastir
from fastir.engine.threads import sharing

SIZES = (0.05, 0.2, 0.5, 1.4, 7.0, 70.0)  # milliseconds of one thread
SECONDS = 0.6  # that a size is measured for
N_THREADS = 2
CONDITIONS = [(busy, policy) for busy in (False, True) for policy in ("default", "passive")]
ASKED = {  # (busy, policy, way, size): the figure asked for
    (False, "default", "team", 0.2): 1.5, (False, "default", "team", 1.4): 1.8, (False, "passive", "team", 0.5): 1.3,
    **{(False, "default", "automatic", size): 0.95 for size in SIZES},
    **{(True, "default", "automatic", size): 1 / 1.2 for size in SIZES},
}  # fmt: skip


def lists(n):
    """n lists of 100 documents with scores, as a training loop has them after each step."""
    rng = np.random.default_rng(0)
    labels = (rng.random(100 * n) < 0.1).astype(np.int32)
    scores, group = rng.random(100 * n, dtype=np.float32), np.full(n, 100)
    return lambda n_threads: fastir.evaluate_scores(labels, scores, "ndcg@10", group=group, n_threads=n_threads)


def matrix(n):
    """n rows of 2000 scores, with five relevant items each."""
    rng = np.random.default_rng(0)
    scores = rng.random((n, 2000), dtype=np.float32)
    relevant = np.arange(0, 5 * n + 1, 5), rng.integers(1, 400, (n, 5)).cumsum(axis=1).ravel()
    return lambda n_threads: fastir.evaluate_matrix(scores, relevant, "ndcg@10", n_threads=n_threads)


WORKLOADS = {"lists": lists, "matrix": matrix}


def alone(call):
    return call(1)


def team(call):
    return call(N_THREADS)


def python_threads(call):
    sharing.teams = False
    try:
        return call(N_THREADS)
    finally:
        sharing.teams = sharing.OPENMP


def automatic(call):
    return call(None)


WAYS = [alone, team, python_threads, automatic]


def seconds(function, call):
    begin = time.perf_counter()
    function(call)
    return time.perf_counter() - begin


def sized(workload, milliseconds):
    """The call of a workload that takes one thread about so long."""
    n = 20
    for _ in range(5):
        call = workload(n)
        took = statistics.median(seconds(alone, call) for _ in range(5))
        n = max(1, round(n * min(50, max(0.02, milliseconds / 1000 / took))))
    return workload(n)


def measured(call):
    """The seconds of each way, round by round, and with them those of one thread in the same round."""
    expected = alone(call).values.tobytes()
    for way in WAYS:
        if way(call).values.tobytes() != expected:
            raise AssertionError(f"{way.__name__} gives other bits than one thread")
    times = {way.__name__: [] for way in WAYS}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times["alone"]) < 7:
        for way in random.sample(WAYS, len(WAYS)):
            times[way.__name__].append(seconds(way, call))
    return times


def condition(busy):
    """Figures of one condition, in this process: a list of (workload, size, milliseconds, way, median, quarter)."""
    calls = [(name, size, sized(workload, size)) for name, workload in WORKLOADS.items() for size in SIZES]
    spinning = (os.cpu_count() or 2) - 1 if busy else 0
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(spinning)]
    rows = []
    try:
        for name, size, call in calls:
            times = measured(call)
            one = statistics.median(times["alone"])
            for way in WAYS[1:]:
                took = sorted(times[way.__name__])
                median, quarter = statistics.median(took), took[3 * len(took) // 4]
                rows.append((name, size, 1000 * one, way.__name__, one / median, one / quarter))
    finally:
        for process in others:
            process.kill()
            process.wait()
    return rows


def in_process(busy, policy):
    """condition() in a process with that wait policy."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    if policy != "default":
        environment["OMP_WAIT_POLICY"] = policy
    command = [sys.executable, __file__, "--condition", "busy" if busy else "idle"]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def show(busy, policy, rows):
    print(f"\n{'other cores busy' if busy else 'idle'}, wait policy {policy}; load {os.getloadavg()[0]:.1f}")
    print(f"{'':8}{'ms of one':>10}  " + "".join(f"{way.__name__ + ' (quarter)':>28}" for way in WAYS[1:]))
    for start in range(0, len(rows), len(WAYS) - 1):
        name, size, one = rows[start][:3]
        line = f"{name:8}{one:10.3f}  "
        for *_, way, median, quarter in rows[start : start + len(WAYS) - 1]:
            asked = ASKED.get((busy, policy, way, size))
            verdict = "" if asked is None else "met" if median >= asked else "MISSED"
            line += f"{f'{median:.2f} ({quarter:.2f}) {verdict:6}':>28}"
        print(line, flush=True)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("milliseconds", SIZES)
def test_a_team_of_threads(race, workload, milliseconds):
    asked = ASKED.get((False, "default", "team", milliseconds))
    call = sized(WORKLOADS[workload], milliseconds)
    group = f"{workload}, {milliseconds} ms of one thread"
    race.threads(group, call, counts=(1, N_THREADS), asked=asked, rounds=31, repeat=max(1, int(2 / milliseconds)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--condition", choices=("idle", "busy"), help="for the processes that this one starts")
    arguments = parser.parse_args()
    if arguments.condition:
        print(json.dumps(condition(arguments.condition == "busy")))
        return
    print(f"fastir {fastir.__version__}, {os.cpu_count()} cores, OpenMP: {sharing.OPENMP}, {N_THREADS} threads")
    for busy, policy in CONDITIONS[:1] if arguments.quick else CONDITIONS:
        show(busy, policy, in_process(busy, policy))


if __name__ == "__main__":
    main()
