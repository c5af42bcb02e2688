"""How every bench here measures: answers first, then rounds in which all contenders take part, then medians.

Within a round the order is random and the garbage collector is off, so that whatever else the machine does meets
everyone alike. A ratio is of two medians of the same rounds: of processor time where both sides use one thread, which a
busy machine changes least, else of the time on the wall.
"""

import argparse
import datetime
import gc
import importlib.metadata
import json
import os
import platform
import random
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

METRICS = ["ndcg@10", "map", "mrr", "P@10", "recall@100"]
SLOW_ROUNDS = 3  # of those who take seconds
LIBRARIES = (
    "fastir",
    "numpy",
    "scipy",
    "pytrec_eval-terrier",
    "ranx",
    "ir_measures",
    "beir",
    "mteb",
    "duckdb",
    "polars",
    "pandas",
    "pyarrow",
    "torch",
)


class Cost(NamedTuple):
    """Median seconds of a call."""

    wall: float
    cpu: float  # of all threads, and of processes that were started


class Goal(NamedTuple):
    """A comparison: the peer's time over ours, and what is asked of that.

    Below 1, the most that we may take, as 1 / 1.6; None asks nothing.
    """

    ours: str
    peer: str
    asked: float | None = None
    clock: str = "cpu"  # or "wall"


def options(description, rounds, **flags):
    """The arguments that all benches take, and flags of one's own with their help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how often everyone runs (default {rounds})")
    parser.add_argument("--quick", action="store_true", help="small inputs, one round: only checks the answers")
    parser.add_argument("--record", action="store_true", help="keep the figures under bench/records/")
    for flag, text in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=text)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # of fastir about queries, of numba about casts
    if chosen.quick:
        chosen.rounds = 1
    return chosen


# ---- measuring ---------------------------------------------------------------------------------------------------


def cpu_time():
    """Processor seconds of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def once(call, calls):
    """The Cost of one of so many calls in a row."""
    gc.collect()
    gc.disable()
    wall, cpu = time.perf_counter(), cpu_time()
    for _ in range(calls):
        call()
    cost = Cost((time.perf_counter() - wall) / calls, (cpu_time() - cpu) / calls)
    gc.enable()
    return cost


def measure(contenders, rounds, calls=1, slow=()):
    """The median Cost of each contender; those in `slow` take part in the first rounds only."""
    costs = {name: [] for name in contenders}
    for done in range(rounds):
        taking_part = [name for name in contenders if done < SLOW_ROUNDS or name not in slow]
        for name in random.sample(taking_part, len(taking_part)):
            costs[name].append(once(contenders[name], calls))
    return {name: Cost(*map(statistics.median, zip(*those, strict=True))) for name, those in costs.items()}


# ---- telling -----------------------------------------------------------------------------------------------------


def show(title, costs, goals=()):
    """Print a table of costs, then how they compare."""
    width = max(map(len, costs))
    print(f"\n{title}\n  {'':<{width}}  {'wall':>9}  {'processor':>9}")
    for name, cost in costs.items():
        print(f"  {name:<{width}}  {duration(cost.wall):>9}  {duration(cost.cpu):>9}")
    for goal in goals:
        print(f"    {verdict(goal, ratio(goal, costs))}")
    sys.stdout.flush()


def ratio(goal, costs):
    return getattr(costs[goal.peer], goal.clock) / getattr(costs[goal.ours], goal.clock)


def verdict(goal, times):
    """A comparison in words."""
    asked = goal.asked
    if asked is not None and asked < 1:
        said = f"takes {1 / times:.3g} x as long as {goal.peer}, asked: at most {1 / asked:.3g}"
    else:
        said = f"is {times:.3g} x as fast as {goal.peer}" + (f", asked: {asked:g}" if asked else "")
    said = f"{goal.ours}: {said}" + (" (wall)" if goal.clock == "wall" else "")
    if asked is not None:
        return f"{said}: {'met' if times >= asked else 'MISSED'}"
    return said + (": SLOWER" if times < 1 else "")


def duration(seconds):
    for unit, size in (("s ", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


class Report:
    """The tables of a bench: shown as they come, kept at the end if that is asked for."""

    def __init__(self, bench, options):
        self.bench = bench
        self.keep = options.record
        self.quick = options.quick
        self.tables = {}
        self.goals = []
        self.limits = []

    def add(self, title, costs, goals=()):
        show(title, costs, () if self.quick else goals)
        self.tables[title] = {name: cost._asdict() for name, cost in costs.items()}
        for goal in goals:
            seen = ratio(goal, costs)
            met = None if goal.asked is None else seen >= goal.asked
            self.goals.append({"table": title, **goal._asdict(), "seen": seen, "met": met})

    def limit(self, what, seen, most, unit):
        """Print an amount and the most that it may be."""
        asked = "" if self.quick else f", asked: at most {most:.3g}: {'met' if seen <= most else 'MISSED'}"
        print(f"    {what}: {seen:.3g} {unit}{asked}", flush=True)
        self.limits.append({"what": what, "seen": seen, "asked": most, "unit": unit, "met": seen <= most})

    def close(self, **more):
        """Write everything beside what it was measured on, and say where; `more` goes there, too."""
        if not self.keep:
            return
        machine = {"processor": processor(), "cpus": os.cpu_count(), "system": platform.system()}
        data = {
            "machine": machine, "load_average": os.getloadavg(), "versions": versions(), "arguments": sys.argv[1:],
            "median_seconds": self.tables, "comparisons": self.goals, "limits": self.limits, **more,
        }  # fmt: skip
        path = records() / f"{self.bench}.json"
        path.write_text(json.dumps(data, indent=2) + "\n")
        print(f"\nkept in {path}")


def records():
    """Today's folder."""
    folder = Path(__file__).parent / "records" / datetime.date.today().isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def versions():
    installed = {dist.name.lower().replace("_", "-"): dist.version for dist in importlib.metadata.distributions()}
    known = {name: installed.get(name.replace("_", "-")) for name in LIBRARIES}
    return {"python": platform.python_version(), **{name: version for name, version in known.items() if version}}


def processor():
    """The processor's name, where it can be had."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
