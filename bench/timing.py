"""What pytest-benchmark lacks: contenders that take turns within a round, processor time, and what is asked of a ratio.

A test hands its contenders to the fixture `race`, which is a `Race`: a dict of calls whose first is measured by
pytest-benchmark itself, and the others around it, in its setup and teardown, in random order. So whatever else the
machine does meets all of them alike.
"""

import functools
import gc
import os
import random
import resource
import statistics
import time
from typing import NamedTuple

import numpy as np

import fastir

METRICS = ["ndcg@10", "map", "mrr", "P@10", "recall@100"]
THREADS = 4  # where a contender uses more than one
SLOW_ROUNDS = 3  # in which the contenders take part that need seconds


class Cost(NamedTuple):
    """Seconds of one call."""

    wall: float
    cpu: float  # of all threads, and of the processes that it started and waited for


class Goal(NamedTuple):
    """A comparison: the peer's time divided by ours, and the least that this is asked to be.

    An `asked` below 1 allows us to be slower: 1 / 1.6 means that we may take 1.6 times as long. None asks nothing.
    """

    ours: str
    peer: str
    asked: float | None = None
    clock: str = "cpu"  # or "wall"

    def compared(self, costs):
        """The comparison as a record: what was asked, what was seen, and the verdict."""
        seen = getattr(costs[self.peer], self.clock) / getattr(costs[self.ours], self.clock)
        good, bad = ("", "SLOWER") if self.asked is None else ("met", "MISSED")
        verdict = good if seen >= (self.asked or 1) else bad
        if self.clock == "wall" and os.getloadavg()[0] > os.cpu_count():
            verdict = "busy"  # other work shares the processors, and the clock says nothing
        return {**self._asdict(), "seen": seen, "verdict": verdict}


class Race:
    """Measures the contenders of one test, and keeps what it saw in pytest-benchmark's `extra_info`."""

    def __init__(self, benchmark, quick, rounds):
        self.benchmark = benchmark
        self.quick = quick
        self.rounds = rounds
        self.costs = {}  # a list of Cost for each contender

    def __call__(
        self, group, calls, goals=(), rounds=5, repeat=1, slow=(), parts=None, same=None, also=None, between=None
    ):
        """Compare the answers, run every contender once in each round, and return the median Cost of each.

        `group` is the title of the table that the contenders share with those of other tests. Each makes `repeat` calls
        in its turn, and those in `slow` take part in the first `SLOW_ROUNDS` rounds only. `parts` says how many times
        less work than the first a contender does; its time is multiplied by that. The answers of peers may differ by
        `same` from that of the first, those of fastir not at all; where `same` is None, the test has compared them.
        The contenders in `also` give no answer, as reading the input once. `between` is called before every turn.
        """
        rounds, repeat = (1, 1) if self.quick or self.benchmark.disabled else (self.rounds or rounds, repeat)
        if same is not None:
            assert_same(calls, same)
        calls = {**calls, **(also or {})}
        first, *others = calls
        self.costs = {name: [] for name in calls}
        late = []
        measured = self.benchmark.enabled and not self.quick
        collect_garbage = gc.collect if measured else lambda: None  # it takes longer than a call on small inputs

        def take_turn(name):
            if between is not None and measured:
                between()
            gc.disable()
            try:
                cost = clocked(calls[name], repeat)
            finally:
                gc.enable()
            self.costs[name].append(Cost(*(seconds * (parts or {}).get(name, 1) for seconds in cost)))

        def run(names):
            for name in names:
                collect_garbage()
                take_turn(name)

        def before():
            """Some of the others, so that the place of the first contender is random, too."""
            taking_part = [name for name in others if name not in slow or len(self.costs[first]) < SLOW_ROUNDS]
            order, place = random.sample(taking_part, len(taking_part)), random.randint(0, len(taking_part))
            run(order[:place])
            late[:] = order[place:]
            if self.benchmark.stats:
                self.benchmark.stats.iterations = repeat  # pedantic() takes no setup where it repeats the call itself
            collect_garbage()

        def after():
            run(late)
            late.clear()

        self.benchmark.group = group + (" (small inputs)" if self.quick else "")
        self.benchmark.pedantic(functools.partial(take_turn, first), setup=before, teardown=after, rounds=rounds)
        after()  # with --benchmark-disable there is no teardown
        medians = {name: Cost(*map(statistics.median, zip(*costs, strict=True))) for name, costs in self.costs.items()}
        info = self.benchmark.extra_info
        info["contenders"] = {name: cost._asdict() for name, cost in medians.items()}
        info["comparisons"] = [self.judged(goal.compared(medians)) for goal in goals]
        return medians

    def threads(self, group, call, counts=(1, THREADS), asked=None, **more):
        """Race `call(n_threads=...)` with different numbers of threads, whose answers must be equal to the last bit.

        `asked` is how many times as fast the last of `counts` is to be as the first.
        """
        calls = {f"fastir, {plural(count)}": functools.partial(call, n_threads=count) for count in counts}
        one, *others = calls
        goals = [Goal(name, one, asked if name == others[-1] else None, "wall") for name in others]
        return self(group, calls, goals, same=0, **more)

    def median(self, group, what, call, rounds=1):
        """The median of what `call` returns, which measures by itself."""
        seen = []
        self(group, {what: lambda: seen.append(call())}, rounds=rounds)
        return statistics.median(seen)

    def amount(self, what, seen, unit, most=None):
        """Keep an amount that is no ratio, and the most that it is asked to be."""
        verdict = "" if most is None else "met" if seen <= most else "MISSED"
        record = {"what": what, "seen": seen, "unit": unit, "asked": most, "verdict": verdict}
        self.benchmark.extra_info.setdefault("amounts", []).append(self.judged(record))

    def judged(self, record):
        """On small inputs nothing is asked."""
        return {**record, "verdict": ""} if self.quick else record


def assert_same(calls, tolerance):
    """The answers of all calls are that of the first: of fastir to the last bit, of others up to the tolerance."""
    answers = {name: call() for name, call in calls.items()}
    values = {name: answer.values if isinstance(answer, fastir.Results) else answer for name, answer in answers.items()}
    expected = next(iter(values.values()))
    for name, found in values.items():
        most = 0 if name.startswith("fastir") else tolerance
        np.testing.assert_allclose(found, expected, rtol=0, atol=most, err_msg=name)


def clocked(call, repeat):
    """The Cost of one of `repeat` calls in a row."""
    wall, cpu = time.perf_counter(), cpu_time()
    for _ in range(repeat):
        call()
    return Cost((time.perf_counter() - wall) / repeat, (cpu_time() - cpu) / repeat)


def cpu_time():
    """Processor seconds of this process and of the processes that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def plural(count):
    return f"{count} thread" + "s" * (count > 1)


def in_words(record):
    """A comparison or an amount as (verdict, what was seen, what was asked)."""
    seen, asked = record["seen"], record["asked"]
    if "what" in record:
        return record["verdict"], f"{record['what']}: {seen:.3g} {record['unit']}", asked and f"at most {asked:.3g}"
    clock = " (wall)" if record["clock"] == "wall" else ""
    if asked is not None and asked < 1:
        said, asked = f"takes {1 / seen:.3g} x as long as", f"at most {1 / asked:.3g}"
    else:
        said, asked = f"is {seen:.3g} x as fast as", asked and f"at least {asked:.3g}"
    return record["verdict"], f"{record['ours']} {said} {record['peer']}{clock}", asked
