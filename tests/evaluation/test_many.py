"""Many runs at once: the values of single calls, whatever the shapes and threads; how names, warnings and errors are
told, and that nothing runs on after an error or Ctrl-C.
"""

import gzip
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import gen
import pytest
from common import ABSENT, SHARED, UNEVEN
from processes import moments, patient, start

import fastir
from fastir.evaluation import many
from fastir.evaluation.rules import EvaluationRules

METRICS = ["ndcg@10", "map", "mrr", "bpref", "num_ret"]
THREADS = (None, 1, 2, 3, 8)


def bits(results):
    return results.query_ids, results.values.tobytes(), results.status, results.report


def interleave(run):
    """The lines of a run file in which the rows of a query do not stand together."""
    rows = [(place, query, doc) for query, docs in run.items() for place, doc in enumerate(docs)]
    return "".join(f"{query} Q0 {doc} 0 {run[query][doc]!r} tag\n" for _, query, doc in sorted(rows))


@pytest.fixture
def shapes(tmp_path):
    """Qrels, and one collection's run in all shapes, with others beside it."""
    qrels, run = gen.collection(7, queries=30, depth=60)
    path = gen.write_run(tmp_path / "plain.run", run)
    packed = tmp_path / "packed.run.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    mixed = tmp_path / "mixed.run"
    mixed.write_text(interleave(run), encoding="utf-8")
    first = {"first": run["first"]}
    one = bytes(gen.write_run(tmp_path / "one.run", first))
    runs = {"dict": run, "path": path, "gzip": str(packed), "mixed": mixed, "Run": fastir.Run.from_dict(run),
            "one": first, "bytes": one, "one Run": fastir.Run.from_dict(first)}  # fmt: skip
    return qrels, runs


@pytest.fixture
def halves(qrels, run, tmp_path):
    """Runs that lack a query, in every shape."""
    half = {"q1": run["q1"]}
    path = gen.write_run(tmp_path / "half.run", half)
    return {"dict": half, "whole": run, "path": path, "Run": fastir.Run.from_dict(half), "again": path}


@pytest.fixture
def small_shares(monkeypatch):
    """Even a small run is worth threads of its own."""
    monkeypatch.setattr(many, "THREAD_ROWS", 10)


@UNEVEN
@pytest.mark.parametrize("n_threads", THREADS)
def test_every_run_has_the_results_of_a_call_of_its_own(shapes, n_threads, small_shares):
    qrels, runs = shapes
    results = fastir.evaluate_many(qrels, runs, METRICS, n_threads=n_threads)
    assert list(results) == list(runs)
    for name, run in runs.items():
        assert bits(results[name]) == bits(fastir.evaluate(qrels, run, METRICS)), name


@UNEVEN
def test_options_are_those_of_evaluate(shapes):
    qrels, runs = shapes
    options = {"rel_level": 2, "ties": "doc_id_asc", "judged_only": True, "max_depth": 20, "queries": "intersection",
               "score_dtype": "float32", "duplicates": "max", "gain": "exp2"}  # fmt: skip
    results = fastir.evaluate_many(qrels, runs, METRICS, n_threads=3, **options)
    for name, run in runs.items():
        assert bits(results[name]) == bits(fastir.evaluate(qrels, run, METRICS, **options)), name


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@UNEVEN
@pytest.mark.parametrize("folder", ["robust03", "cleftar17"])
def test_real_runs_at_the_same_time(folder):
    files = [path for path in sorted((SHARED / "data" / folder).glob("*.gz")) if path.name != "qrels.txt.gz"]
    assert len(files) == 4
    qrels = fastir.Qrels.from_file(SHARED / "data" / folder / "qrels.txt.gz")
    expected = [bits(fastir.evaluate(qrels, path, METRICS)) for path in files]
    for n_threads in THREADS:
        results = fastir.evaluate_many(qrels, [(path.name, path) for path in files], METRICS, n_threads=n_threads)
        assert [bits(one) for one in results.values()] == expected
        assert list(results) == [path.name for path in files]


def test_names_are_as_the_caller_likes(qrels, run):
    evaluator = fastir.Evaluator(qrels, "map")
    results = evaluator.evaluate_many((name, run) for name in [("bm25", 0.9), 3, "x"])
    assert list(results) == [("bm25", 0.9), 3, "x"]
    assert all(one == evaluator.evaluate(run) for one in results.values())
    assert evaluator.evaluate_many({}) == {} == evaluator.evaluate_many([])


def test_pairs_are_asked_for_one_at_a_time(qrels, run, monkeypatch):
    asked = []

    class Noted(EvaluationRules):
        def evaluate_one(self, *arguments):
            asked.append("evaluated")
            return super().evaluate_one(*arguments)

    def runs():
        for name in "ab":
            asked.append(name)
            yield name, run

    monkeypatch.setattr("fastir.evaluation.evaluator.EvaluationRules", Noted)
    fastir.evaluate_many(qrels, runs(), "map")
    assert asked == ["a", "evaluated", "b", "evaluated"]


@pytest.mark.parametrize(("runs", "message"), [
    ("bm25.run", "a table with a column of runs, got the file bm25.run of a single run"),
    (3, "runs must be a mapping of name to run, a list of runs, an iterable of (name, run) pairs or of paths, a "
        "folder, or a table with a column of runs, got int"),
    ([3], "a table with a column of runs, got int 3 among them"),
    (["bm25.run", 3], "a table with a column of runs, got int 3 among paths"),
    ([("a", {}, 3)], "a table with a column of runs, got tuple ('a', {}, 3) among them"),
])  # fmt: skip
def test_what_is_not_runs_is_a_type_error(qrels, runs, message):
    with pytest.raises(TypeError) as caught:
        fastir.evaluate_many(qrels, runs, "map")
    assert message in str(caught.value)


def test_a_run_alone_is_an_error(qrels, run):
    with pytest.raises(TypeError, match=r"got Run$"):
        fastir.evaluate_many(qrels, fastir.Run.from_dict(run), "map")
    with pytest.raises(ValueError, match=r"^runs is one run, .*; several are expected, as \{'name': run\}$"):
        fastir.evaluate_many(qrels, run, "map")


def test_two_runs_of_one_name(qrels, run):
    with pytest.raises(ValueError, match=r"^two runs are named 'a'; expected every name once$"):
        fastir.evaluate_many(qrels, [("a", run), ("b", run), ("a", run)], "map")


@pytest.mark.parametrize("n_threads", THREADS)
def test_warnings_name_the_run_and_point_at_the_caller(qrels, halves, n_threads):
    with pytest.warns(fastir.FastirWarning) as alone:
        fastir.evaluate(qrels, halves["dict"], "map")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        line = sys._getframe().f_lineno + 1
        fastir.evaluate_many(qrels, halves, "map", n_threads=n_threads)
        fastir.Evaluator(qrels, "map", n_threads=n_threads).evaluate_many(halves)
    expected = [f"run '{name}': {alone[0].message}" for name in ("dict", "path", "Run", "again")]
    assert [str(warning.message) for warning in caught] == 2 * expected
    assert {warning.filename for warning in caught} == {__file__}
    assert [warning.lineno for warning in caught] == 4 * [line] + 4 * [line + 1]


@pytest.mark.parametrize("n_threads", THREADS)
def test_the_first_error_in_the_order_of_the_runs_is_raised(qrels, run, tmp_path, n_threads):
    """However big the runs are: the biggest are begun first."""
    good = gen.write_run(tmp_path / "good.run", run)
    alive = threading.active_count()
    bad, big = tmp_path / "bad.run", tmp_path / "big.run"
    bad.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 abc t\n")
    big.write_text("q1 Q0 d1 1 xyz t\n" + good.read_text() * 5000)
    other = fastir.Run.from_dict({"elsewhere": {"d1": 1.0}})
    for runs, kind, message in (
        ([("a", good), ("b", bad), ("c", big), ("d", other)], fastir.FormatError, f"{bad}:2: score 'abc' is not"),
        ([("a", good), ("b", other), ("c", bad), ("d", big)], fastir.NoOverlapError, "run 'b': no query in common: "),
        ([("a", big), ("b", bad), ("c", other)], fastir.FormatError, f"{big}:1: score 'xyz'"),
        ([("a", good), ("b", big), ("c", {"q1": {"d1": "x"}})], TypeError, "run 'c': "),
        ([("a", good), ("b", tmp_path / "absent.run"), ("c", good)], FileNotFoundError, str(tmp_path / "absent.run")),
    ):
        with pytest.raises(kind) as caught:
            fastir.evaluate_many(qrels, runs, "map", n_threads=n_threads)
        assert message in str(caught.value)
        assert threading.active_count() == alive
    with pytest.raises(fastir.FormatError) as caught:
        fastir.evaluate_many(qrels, [("a", good), ("b", bad)], "map", n_threads=n_threads)
    assert (caught.value.path, caught.value.line) == (str(bad), 2)


class Endless(EvaluationRules):
    """Reads endless.run until it is stopped; any other file once that has begun."""

    def __init__(self, request):
        super().__init__(request)
        self.reading, self.stopped = threading.Event(), []

    def evaluate_one(self, run, n_threads, watch):
        if Path(run).name != "endless.run":
            assert self.reading.wait(patient(10))
            return super().evaluate_one(run, n_threads, watch)
        self.reading.set()
        try:
            for _ in moments(10):
                watch(0)
        except many.Stopped:
            self.stopped.append(threading.current_thread())
            raise


def test_an_error_stops_the_runs_behind_it(qrels, run, tmp_path, monkeypatch):
    """The first of two runs fails while the second is being read."""
    endless = gen.write_run(tmp_path / "endless.run", run)
    wrong = tmp_path / "wrong.run"
    wrong.write_text("q1 Q0 d1 1 abc t\n")
    monkeypatch.setattr("fastir.evaluation.evaluator.EvaluationRules", Endless)
    evaluator = fastir.Evaluator(qrels, "map", n_threads=2)
    with pytest.raises(fastir.FormatError, match="'abc'"):
        evaluator.evaluate_many({"wrong": wrong, "endless": endless})
    [thread] = evaluator.rules.stopped
    assert not thread.is_alive()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_an_interrupt_stops_runs_in_the_middle(qrels, run, tmp_path, monkeypatch):
    """The signal comes while two runs are being read, and reaches the caller's thread, which waits for them."""
    endless = gen.write_run(tmp_path / "endless.run", run)
    monkeypatch.setattr("fastir.evaluation.evaluator.EvaluationRules", Endless)
    evaluator = fastir.Evaluator(qrels, "map", n_threads=2)
    caller = threading.get_ident()

    def interrupt():
        evaluator.rules.reading.wait(patient(10))
        time.sleep(0.1)
        signal.pthread_kill(caller, signal.SIGINT)

    alive = threading.active_count()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            evaluator.evaluate_many({"a": endless, "b": endless, "c": endless})
        thread.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(evaluator.rules.stopped) == 2
    assert threading.active_count() == alive


@UNEVEN
@pytest.mark.parametrize("name", ["path", "gzip", "mixed", "Run"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_run_of_any_shape_can_be_stopped(shapes, name, n_threads):
    qrels, runs = shapes
    alive = threading.active_count()

    def watch(position):
        raise many.Stopped

    with pytest.raises(many.Stopped):
        fastir.Evaluator(qrels, METRICS).rules.evaluate_one(runs[name], n_threads, watch)
    assert threading.active_count() == alive


@UNEVEN
@pytest.mark.parametrize("n_threads", [2, 3, 5])
@pytest.mark.parametrize("n_runs", [2, 3, 4, 7])
def test_no_more_threads_than_allowed(qrels, run, tmp_path, n_threads, n_runs, small_shares, monkeypatch):
    """Runs at the same time, times the threads inside each; every thread has work while runs are waiting."""
    path = gen.write_run(tmp_path / "run", {f"q{i}": run["q1"] for i in range(500)})
    changed, now, seen, inside = threading.Condition(), [0], [], []

    class Counting(EvaluationRules):
        def evaluate_one(self, run, n_threads, watch):
            with changed:
                now[0] += n_threads
                seen.append(now[0])
                inside.append(n_threads)
                changed.notify_all()
                assert changed.wait_for(lambda: max(seen) >= allowed, timeout=patient(10))
            try:
                return super().evaluate_one(run, n_threads, watch)
            finally:
                with changed:
                    now[0] -= n_threads

    allowed = n_threads
    monkeypatch.setattr("fastir.evaluation.evaluator.EvaluationRules", Counting)
    fastir.evaluate_many(qrels, dict.fromkeys(range(n_runs), path), "map", n_threads=allowed)
    assert len(inside) == n_runs and now == [0]
    assert max(seen) == allowed
    if n_runs < n_threads:
        assert sum(inside) == n_threads
    if n_runs % n_threads == 0:
        assert inside == [1] * n_runs


@UNEVEN
def test_the_biggest_run_first_by_all_threads_then_one_each(qrels, run, tmp_path, small_shares, monkeypatch):
    """Seven runs, three threads: no thread waits for work."""
    docs = {f"d{i}": float(i) for i in range(1000)}
    paths = [gen.write_run(tmp_path / f"{n}.run", {"q1": docs | run["q1"], **dict.fromkeys(map(str, range(n)), docs)})
             for n in range(7)]  # fmt: skip
    begun, together = [], threading.Barrier(3, timeout=patient(10))

    class Noted(EvaluationRules):
        def evaluate_one(self, run, n_threads, watch):
            begun.append((Path(run).stem, n_threads))
            if n_threads == 1:
                together.wait()
            return super().evaluate_one(run, n_threads, watch)

    monkeypatch.setattr("fastir.evaluation.evaluator.EvaluationRules", Noted)
    fastir.evaluate_many(qrels, {path: path for path in paths}, "map", n_threads=3)
    assert begun[0] == ("6", 3)
    assert sorted(begun[1:4]) == [("3", 1), ("4", 1), ("5", 1)]
    assert sorted(begun[4:]) == [("0", 1), ("1", 1), ("2", 1)]


@UNEVEN
def test_small_work_starts_no_thread(shapes, monkeypatch):
    qrels, runs = shapes

    def refuse(*_, **__):
        raise AssertionError("a thread")

    monkeypatch.setattr(threading, "Thread", refuse)
    fastir.evaluate_many(qrels, runs, METRICS)
    fastir.evaluate_many(qrels, runs, METRICS, n_threads=1)
    with pytest.raises(AssertionError, match="a thread"):
        fastir.evaluate_many(qrels, runs, METRICS, n_threads=2)


@UNEVEN
@pytest.mark.parametrize("n_threads", THREADS)
def test_how_far_each_file_was_read(shapes, n_threads, small_shares):
    qrels, runs = shapes
    read = {}

    def notice(name, position):
        read[name] = max(position, read.get(name, 0))

    fastir.Evaluator(qrels, METRICS, n_threads=n_threads).evaluate_many(runs, progress=notice)
    sizes = {name: os.path.getsize(runs[name]) for name in ("path", "gzip", "mixed", "bytes")}
    assert read == {**sizes, "Run": 0, "one Run": 0}


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize(("kind", "n_threads"), [
    ("files", 1), ("files", 4), ("one query", 2), ("mixed", 3), ("Runs", 2), ("dicts", 2),
])  # fmt: skip
def test_an_interrupt_ends_a_call_of_many_runs(kind, n_threads, tmp_path):
    """A call of hours ends in KeyboardInterrupt, and no thread goes on."""
    process = start("""
        kind, n_threads, path = sys.argv[1], int(sys.argv[2]), sys.argv[3] + "/run"
        qrels, run = shared(200, 1000)
        if kind == "one query":
            run = {"q1": {f"doc{i}": i * 7919 % 1000 / 7 for i in range(100_000)}}
        if kind in ("files", "one query"):
            fastir.Run.from_dict(run).save(path)
        if kind == "mixed":
            with open(path, "w") as file:
                file.writelines(f"q{q} Q0 doc{i} 1 {i * 7919 % 1000 / 7} t\\n" for i in range(1000) for q in range(200))
        run = {"dicts": run, "Runs": fastir.Run.from_dict(run)}.get(kind, path)
        evaluator = fastir.Evaluator(qrels, METRICS, n_threads=n_threads, queries="qrels")
        try:
            print("calling", flush=True)
            evaluator.evaluate_many({name: run for name in range(1_000_000)})
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", threading.active_count())
    """, kind, n_threads, tmp_path)  # fmt: skip
    try:
        assert process.stdout.readline() == "calling\n", process.communicate()[1][-2000:]
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patient(30))
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted 1\n"), err
