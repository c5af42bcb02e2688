"""What the benches share: options, collections, the fixture `race`, and the table of what was asked and what was seen.

Some libraries read how many threads they may use when they are imported, which no bench does before this file is read.
"""

import collections
import functools
import os

os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["NUMBA_NUM_THREADS"] = str(max(4, os.cpu_count() or 1))  # the most that a bench may choose

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import timing
import workloads
from pytest_benchmark.stats import Stats

import fastir

RACES = pytest.StashKey[list]()
BAD = ("MISSED", "SLOWER")


def pytest_addoption(parser):
    group = parser.getgroup("bench", "benches of fastir")
    group.addoption("--quick", action="store_true", help="small inputs, on which one round is run and nothing is asked")
    group.addoption("--rounds", type=int, help="how often every contender runs (default: what each bench says)")
    group.addoption("--slow", action="store_true", help="also the peers and sizes that take minutes and 10 GB")


def pytest_configure(config):
    config.stash[RACES] = []
    config.option.benchmark_columns = config.option.benchmark_columns or ["median", "iqr", "rounds"]


def pytest_itemcollected(item):
    """Warnings about queries or casts are no concern here."""
    item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def quick(pytestconfig):
    """Whether inputs are to be small."""
    return pytestconfig.option.quick


@pytest.fixture(scope="session")
def slow(pytestconfig):
    """Whether peers and sizes take part that need minutes."""
    return pytestconfig.option.slow


@pytest.fixture(scope="session")
def collection(quick):
    """A function from a name in `workloads` to judgments and a run; only the last is kept, for one takes a gigabyte."""

    @functools.lru_cache(maxsize=1)
    def make(name):
        return getattr(workloads, name)(*[100] * (quick and name == "passages"))

    return make


@pytest.fixture(scope="session")
def loops(tmp_path_factory):
    """The module walk.pyx, compiled."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("walk")
    source = shutil.copy(Path(__file__).with_name("walk.pyx"), folder)
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "-i", "-3", source]
    subprocess.run(command, check=True, capture_output=True)
    [path] = folder.glob("walk.*.so")
    spec = importlib.util.spec_from_file_location("walk", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def race(benchmark, pytestconfig):
    """A `timing.Race`, which measures the contenders of this test side by side."""
    made = timing.Race(benchmark, pytestconfig.option.quick, pytestconfig.option.rounds)
    if benchmark.enabled:
        pytestconfig.stash[RACES].append(made)
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_benchmark_group_stats(config, benchmarks):
    """Add the other contenders to pytest-benchmark's table, in which each test has only its first."""
    rows = {row["fullname"]: row for row in benchmarks if row["path"] is None}
    for race in config.stash[RACES]:
        row = rows.get(race.benchmark.fullname)
        for place, (name, costs) in enumerate(race.costs.items() if row else ()):
            stats = Stats()
            for cost in costs:
                stats.update(cost.wall)
            own = {"name": name, **stats.as_dict()}
            if place:
                benchmarks.append({**row, **own})
            else:
                row.update(own)


def pytest_benchmark_update_machine_info(machine_info):
    """The record says what it was measured on, but not whose machine it was."""
    del machine_info["node"]
    imported = [names for module, names in importlib.metadata.packages_distributions().items() if module in sys.modules]
    versions = {name: importlib.metadata.version(name) for names in imported for name in names}
    machine_info.update(
        cpus=os.cpu_count(), load_average=os.getloadavg(), simd=fastir.show_config()["simd"], versions=versions
    )


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    """What was seen beside what was asked, group by group."""
    tables, verdicts = {}, collections.Counter()
    for race in config.stash[RACES]:
        info = race.benchmark.extra_info  # without a record where a test was skipped
        records = [*info.get("comparisons", ()), *info.get("amounts", ())]
        if records:
            tables.setdefault(race.benchmark.group, []).extend(map(timing.in_words, records))
        verdicts.update(record["verdict"] for record in records if record["verdict"])
    if not tables:
        return
    terminalreporter.section("fastir beside its peers (processor time, where it does not say wall)")
    for group, lines in tables.items():
        terminalreporter.write_line(group)
        for verdict, seen, asked in lines:
            line = f"  {verdict:<6}  {seen}" + (f", asked: {asked}" if asked else "")
            terminalreporter.write_line(line, red=verdict in BAD)
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in ("met", *BAD))
    if config.option.quick:
        counts = "small inputs, of which nothing is asked"
    terminalreporter.write_line(f"{counts}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
