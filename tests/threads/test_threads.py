"""Threads over arrays: the same bits for any number, what a fork and Ctrl-C do to a team, and when there is none."""
# Also of: counts, sharing.

import os
import runpy
import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest
from processes import patient

import fastir
from fastir.engine.threads import counts, sharing

ROOT = Path(__file__).resolve().parents[2]
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc, and forks")
WITH_TEAMS = pytest.mark.skipif(not sharing.OPENMP, reason="was built without OpenMP")

# What every child process starts with: calls that n threads share, and how many threads the process has.
PRELUDE = """
import os, sys, threading, time
import numpy as np
import fastir, fastir.engine.threads
rng = np.random.default_rng(0)
labels, scores, offsets = rng.integers(0, 3, 200_000), rng.random(200_000), np.arange(0, 200_001, 100)
def call(n_threads):
    return fastir.evaluate_scores(labels, scores, ["map", "ndcg@10"], offsets=offsets, n_threads=n_threads).values
def running():
    return len(os.listdir("/proc/self/task"))
before = running()
"""


def python(code):
    """What a process prints that runs the prelude and this code to a good end within the time limit."""
    script = PRELUDE + textwrap.dedent(code)
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=patient(30))
    assert process.returncode == 0, process.stderr[-2000:]
    return process.stdout


@ON_LINUX
def test_one_thread_starts_none():
    out = python("""
        call(1)
        call(None)      # far less work than a team is worth
        alone = running() - before
        call(3)
        print(alone, running() - before if fastir.show_config()["openmp"] else 2)
    """)
    assert out == "0 2\n"


@ON_LINUX
@WITH_TEAMS
def test_a_second_caller_stays_alone_while_a_team_is_at_work():
    out = python("""
        fastir.engine.threads.sharing.ROUND_SECONDS = 60.0     # the first caller does not pause
        many = np.broadcast_to(np.int8(1), 400_000_000), np.arange(0, 400_000_001, 1000), ["map", "ndcg@10", "rbp"]
        first = threading.Thread(target=lambda: fastir.evaluate_ranked(*many, n_threads=2))
        expected = call(1).tobytes()
        first.start()
        while running() < before + 2:
            time.sleep(0.001)
        values = [call(6) for _ in range(5)]
        print(first.is_alive(), running() - before, [each.tobytes() == expected for each in values] == [True] * 5)
        first.join()
        call(6)
        print(running() - before >= 5)
    """)
    assert out == "True 2 True\nTrue\n"


@ON_LINUX
@WITH_TEAMS
def test_inside_a_thread_of_fastir_no_team_is_started():
    out = python("""
        most = []
        def work(thread, task, number):
            call(5)
            most.append(running() - before)
        fastir.engine.threads.share_all(range(4), work, 2)
        inside = max(most)
        call(5)
        print(inside, running() - before)
    """)
    assert out == "1 4\n"


class Rehearsed:
    """Blocks of which a team says that the rest takes so long."""

    def __init__(self, left):
        self.left, self.teams = left, []

    def run_in_team(self, n_threads, seconds):
        self.teams.append(n_threads)
        return self.left


def test_the_automatic_choice_keeps_a_team_that_is_faster(monkeypatch):
    monkeypatch.setattr(sharing, "teams", True)
    monkeypatch.setattr(sharing, "automatic_count", lambda: 4)
    monkeypatch.setattr(sharing, "busy_until", 0.0)
    faster, slower = Rehearsed(0.5), Rehearsed(0.95)
    assert sharing.chosen_count(faster, 0.014) == 1
    assert faster.teams == []
    assert [sharing.chosen_count(blocks, 1.0) for blocks in (faster, slower, faster)] == [4, 1, 1]
    assert (faster.teams, slower.teams) == ([4], [4])  # the last one did not try: the machine is busy
    monkeypatch.setattr(sharing, "busy_until", 0.0)
    assert sharing.chosen_count(faster, 1.0) == 4


@ON_LINUX
@pytest.mark.parametrize("fork", ["os.fork()", "ctypes.CDLL(None).fork()"])
def test_a_forked_child_stays_alone(fork):
    """libgomp would wait for ever for the team, which only the parent has; C code forks, too."""
    out = python(f"""
        import ctypes
        expected = call(2).tobytes()
        child = {fork}
        if child == 0:
            alone = fastir.engine.threads.sharing.is_forked() and fastir.engine.threads.automatic_count() == 1
            same = call(2).tobytes() == expected and alone
            os._exit(0 if same and running() == 1 else 7)
        print(os.waitpid(child, 0)[1], call(2).tobytes() == expected, fastir.engine.threads.sharing.is_forked())
    """)
    assert out == "0 True False\n"


@ON_LINUX
def test_a_fork_while_a_team_is_at_work():
    out = python("""
        many = np.broadcast_to(np.int8(1), 100_000_000), np.arange(0, 100_000_001, 1000), ["map", "ndcg@10", "rbp"]
        thread = threading.Thread(target=lambda: fastir.evaluate_ranked(*many, n_threads=2))
        expected = call(1).tobytes()
        thread.start()
        while running() < before + 2:
            time.sleep(0.001)
        children = []
        while thread.is_alive() and len(children) < 5:
            child = os.fork()
            if child == 0:
                os._exit(0 if call(3).tobytes() == expected else 7)
            children.append(child)
        thread.join()
        print(len(children) > 0, [os.waitpid(child, 0)[1] for child in children] == [0] * len(children))
    """)
    assert out == "True True\n"


@ON_LINUX
def test_a_pool_of_forked_processes():
    out = python("""
        import multiprocessing
        expected = call(2).tobytes()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            values = pool.map(call, [2, None, 3, 1])
        print([each.tobytes() == expected for each in values])
    """)
    assert out == "[True, True, True, True]\n"


@pytest.mark.parametrize(("own", "openmp", "number"), [
    (None, None, 6), ("2", None, 2), (None, "3", 3), ("4", "3", 4), (None, "3,2", 3), ("x", "3", 3),
    ("0", "", 6), ("99", "", 6),
])  # fmt: skip
def test_variables_limit_the_automatic_number(own, openmp, number, monkeypatch):
    monkeypatch.setattr(counts, "processors", lambda: 6)
    for name, value in (("FASTIR_NUM_THREADS", own), ("OMP_NUM_THREADS", openmp)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert counts.automatic_count() == number
    assert fastir.show_config()["n_threads"] == number


@pytest.mark.parametrize(
    ("text", "number"), [("max 100000", 4), ("200000 100000", 2), ("50000 100000", 1), ("150000 100000", 2), ("", 4)]
)
def test_the_quota_of_a_container_counts(text, number, monkeypatch, tmp_path):
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(counts, "CGROUP_FOLDER", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    assert counts.processors() == number
    (tmp_path / "cpu.max").write_text("100000 100000")
    assert counts.processors() == number, "read once"


@pytest.mark.parametrize(("quota", "period", "number"), [
    ("-1", "100000", 4), ("200000", "100000", 2), ("250000", "100000", 3), ("900000", "100000", 4), ("1", None, 4),
])  # fmt: skip
def test_the_quota_of_an_older_control_group_counts(quota, period, number, monkeypatch, tmp_path):
    (tmp_path / "cpu").mkdir()
    for name, text in (("quota", quota), ("period", period)):
        if text is not None:
            (tmp_path / "cpu" / f"cpu.cfs_{name}_us").write_text(text + "\n")
    monkeypatch.setattr(counts, "CGROUP_FOLDER", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    assert counts.processors() == number


@pytest.fixture
def build(monkeypatch):
    """The functions of setup.py, which builds nothing here."""
    pytest.importorskip("Cython.Build")
    pytest.importorskip("setuptools")
    if not (ROOT / "setup.py").is_file():
        pytest.skip("needs the sources")
    monkeypatch.setattr("setuptools.setup", lambda **options: None)
    monkeypatch.setattr("Cython.Build.cythonize", lambda *modules, **options: [])
    monkeypatch.chdir(ROOT)
    return runpy.run_path("setup.py")


class Compiler:
    """One that has OpenMP, or not, and knows how often it was asked."""

    def __init__(self, kind, error=None):
        self.compiler_type, self.error, self.asked = kind, error, 0

    def compile(self, sources, output_dir, extra_postargs):
        self.asked += 1
        if self.error is not None:
            raise self.error
        return sources

    def link_shared_object(self, objects, name, extra_postargs):
        self.linked = extra_postargs


def test_openmp_is_found_by_compiling_and_linking(build):
    from setuptools.errors import CompileError

    flags = build["openmp_flags"]
    assert flags(Compiler("unix"), "auto", "linux") == (["-fopenmp"], ["-fopenmp"])
    assert flags(Compiler("msvc"), "require", "win32") == (["/openmp"], [])
    without = Compiler("unix", CompileError("no omp.h"))
    assert flags(without, "auto", "linux") == ([], [])
    assert without.asked == 1
    with pytest.raises(CompileError, match="FASTIR_OPENMP=require, but"):
        flags(without, "require", "linux")


def test_a_compiler_that_keeps_doubles_too_long_is_told_to_round(build):
    """The registers of 32-bit x86 are wider: metrics would differ in their last bits from those of other machines."""
    from setuptools.errors import CompileError

    flags = build["rounding_flags"]
    assert flags(Compiler("unix")) == flags(Compiler("msvc")) == []
    assert flags(Compiler("unix", CompileError("#error"))) == ["-msse2", "-mfpmath=sse"]


def test_openmp_is_not_looked_for_where_it_is_not_wanted(build):
    compiler = Compiler("unix")
    assert build["openmp_flags"](compiler, "off", "linux") == ([], [])
    assert build["openmp_flags"](compiler, "auto", "darwin") == ([], [])
    assert build["openmp_flags"](compiler, "auto", "emscripten") == ([], [])
    assert compiler.asked == 0


def test_without_a_compiler_one_sentence_says_what_to_install(build):
    from setuptools import Distribution
    from setuptools.errors import CompileError

    command = build["BuildExtensions"](Distribution())
    command.compiler = Compiler("unix", CompileError("command 'gcc' failed: No such file or directory"))
    with pytest.raises(CompileError, match=r"^to build fastir from source you need [^\n]+$"):
        command.build_extensions()


def test_where_no_thread_can_be_started_any_number_is_one(monkeypatch):
    for module in (counts, sharing):
        monkeypatch.setattr(module, "SERIAL", True)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("a thread was started"))
    monkeypatch.setattr(sharing._thread, "start_new_thread", lambda *_: pytest.fail("a thread was started"))
    assert (counts.automatic_count(), counts.thread_count(4, 1 << 30)) == (1, 1)
    assert fastir.show_config()["n_threads"] == 1
    qrels, runs = {"q": {"a": 1}}, {name: {"q": {"b": 2.0, "a": 1.0}} for name in "xy"}
    assert [r["mrr"] for r in fastir.evaluate_many(qrels, runs, ["mrr"], n_threads=4).values()] == [0.5, 0.5]
    labels = np.zeros(sharing.LONG_QUERY_ROWS + 2, np.int8)
    labels[1] = 1
    assert fastir.evaluate_ranked(labels, [0, len(labels)], ["mrr"], n_threads=4)["mrr"] == 0.5
    with pytest.raises(ValueError, match="at least 1"):
        counts.thread_count(0, 1)


def test_show_config_says_what_was_built():
    assert fastir.show_config()["openmp"] is sharing.OPENMP


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_an_interrupt_is_more_urgent_than_an_error(kind):
    """Of a task that fails while another is interrupted, the interrupt comes out; of two that fail, the earlier."""
    both = threading.Barrier(2, timeout=patient(10))

    def work(t, task, number):
        both.wait()  # both tasks are taken before one of them fails
        if task == "later":
            time.sleep(0.05)
        raise {"earlier": LookupError, "later": kind}[task]

    expected = KeyboardInterrupt if kind is KeyboardInterrupt else LookupError
    with pytest.raises(expected):
        sharing.share_all(["earlier", "later"], work, 2)


@pytest.mark.parametrize("parent", [None, object()])
def test_only_a_child_of_multiprocessing_uses_one_thread(parent, monkeypatch):
    module = types.SimpleNamespace(parent_process=lambda: parent)
    monkeypatch.setitem(sys.modules, "multiprocessing.process", module)
    monkeypatch.setattr(counts, "processors", lambda: 4)
    monkeypatch.setenv("FASTIR_NUM_THREADS", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert counts.automatic_count() == (4 if parent is None else 1)


@pytest.mark.parametrize("number", [0, -1])
def test_there_is_at_least_one_thread(number):
    with pytest.raises(ValueError, match=f"n_threads must be at least 1, got {number}"):
        fastir.evaluate_ranked([1, 0], [0, 2], "map", n_threads=number)
