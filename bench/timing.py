"""How every bench here measures: answers first, then rounds in which all contenders take part, then medians.

Within a round the order is random and the garbage collector is off, so that whatever else the machine does meets
everyone alike. A ratio is of two medians of the same rounds.
"""

import argparse
import datetime
import gc
import importlib.metadata
import json
import os
import platform
import random
import statistics
import sys
import time
from pathlib import Path

METRICS = ["ndcg@10", "map", "mrr", "P@10", "recall@100"]
TREC_NAMES = ["ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100"]
TREC_MEASURES = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
TOLERANCE = 1e-12


def options(description, rounds):
    """The arguments that all benches take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how often everyone runs (default {rounds})")
    parser.add_argument("--quick", action="store_true", help="small inputs, one round: only checks the answers")
    parser.add_argument("--record", action="store_true", help="keep the figures under bench/records/")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rounds = 1
    return chosen


def assert_same(results, theirs):
    """Every value of every query is pytrec_eval's."""
    ours = results.to_dict()
    assert ours.keys() == theirs.keys(), "not the same queries"
    for query, row in ours.items():
        for name, trec_name in zip(METRICS, TREC_NAMES, strict=True):
            difference = abs(row[name] - theirs[query][trec_name])
            assert difference <= TOLERANCE, f"{name} of query {query} differs by {difference}"


def measure(contenders, rounds, calls=1):
    """Median seconds per call of each contender, {name: seconds}."""
    seconds = {name: [] for name in contenders}
    for _ in range(rounds):
        for name in random.sample(list(contenders), len(contenders)):
            call = contenders[name]
            gc.collect()
            gc.disable()
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            seconds[name].append((time.perf_counter() - begin) / calls)
            gc.enable()
    return {name: statistics.median(times) for name, times in seconds.items()}


def show(title, medians, peers=None):
    """Print a table of medians; `peers` names whom a contender is compared with, and who wins is said."""
    peers = peers or {}
    width = max(map(len, medians))
    print(f"\n{title}")
    for name, seconds in medians.items():
        ratio = f"  {medians[peers[name]] / seconds:6.1f} x" if name in peers else ""
        lost = "  slower than the peer" if name in peers and seconds > medians[peers[name]] else ""
        print(f"  {name:<{width}}  {duration(seconds):>10}{ratio}{lost}")


def duration(seconds):
    for unit, size in (("s ", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def record(bench, tables):
    """Write all tables {title: {contender: median seconds}} beside what they were measured on."""
    folder = Path(__file__).parent / "records" / datetime.date.today().isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    versions = {name: importlib.metadata.version(name) for name in ("fastir", "numpy", "pytrec_eval-terrier")}
    data = {
        "machine": {"processor": processor(), "cpus": os.cpu_count(), "system": platform.system()},
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "versions": {"python": platform.python_version(), **versions},
        "arguments": sys.argv[1:],
        "median_seconds": tables,
    }
    (folder / f"{bench}.json").write_text(json.dumps(data, indent=2) + "\n")


def processor():
    """The processor's name, where it can be had."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
