"""What only shows in a whole process: threads, fork, signals, memory, start-up, the command line's streams, the locale
and the floating-point unit. The cases P01 to P18 of the catalogue, each in a process of its own.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import gen
import pytest
from common import ABSENT, SHARED
from processes import patient, python, start

import fastir

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses /proc, signals and fork as on Linux")


def fastir_command(*arguments):
    return [sys.executable, "-m", "fastir", *map(str, arguments)]


@pytest.fixture
def files(tmp_path, qrels, run):
    return gen.write_qrels(tmp_path / "qrels.txt", qrels), gen.write_run(tmp_path / "run.txt", run)


@pytest.fixture
def many_topics(tmp_path):
    """Files of 1,000 topics with long names: 200 kilobytes of output, more than a pipe holds."""
    qrels = {f"topic{number:0200}": {"a": 1, "b": 0} for number in range(1000)}
    run = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    return gen.write_qrels(tmp_path / "qrels.txt", qrels), gen.write_run(tmp_path / "run.txt", run)


# ---- P01, P02, P12, P13: threads and re-entrancy ---------------------------------------------------------------
def test_p01_a_run_that_another_thread_changes():
    """Documents come and go below the cut-off: every consistent state has the same values."""
    out = python("""
        qrels = {"q": {f"d{i}": i % 3 for i in range(100)}}
        run = {"q": {f"d{i}": 1000.0 - i for i in range(100)}}
        metrics = ["ndcg@10", "mrr", "p@5", "map"]
        evaluator = fastir.Evaluator(qrels, metrics)
        expected = values(evaluator.evaluate(run))
        stop = threading.Event()
        def change():
            while not stop.is_set():
                for i in range(300):
                    run["q"][f"extra{i}"] = -float(i)
                for i in range(300):
                    del run["q"][f"extra{i}"]
        thread = threading.Thread(target=change, daemon=True)
        sys.setswitchinterval(1e-5)
        thread.start()
        right = refused = 0
        for _ in range(300):
            try:
                assert values(evaluator.evaluate(run)) == expected
                right += 1
            except RuntimeError:
                refused += 1
        stop.set()
        thread.join()
        print(right + refused)
    """)
    assert int(out) == 300


def test_p02_sixteen_threads_on_one_evaluator():
    out = python("""
        from concurrent.futures import ThreadPoolExecutor
        qrels, run = shared(50, 400)
        reverse = {doc: -score for doc, score in run["q0"].items()}
        runs = run, {query: reverse for query in run}
        evaluator = fastir.Evaluator(qrels, METRICS)
        alone = [evaluator.evaluate(run).values.tobytes() for run in runs]
        with ThreadPoolExecutor(16) as pool:
            together = list(pool.map(lambda i: evaluator.evaluate(runs[i % 2]).values.tobytes(), range(200)))
        print(alone[0] != alone[1], together == alone * 100)
    """)
    assert out == "True True\n"


def test_p12_two_evaluators_in_turns():
    python("""
        qrels, run = shared(3, 50)
        a = fastir.Evaluator(qrels, ["map", "rbp", "ndcg@5"], rel_level=1, ties="trec")
        b = fastir.Evaluator(qrels, ["ndcg@5", "map", "rbp(p=0.5)"], rel_level=2, ties="doc_id_asc", max_depth=20)
        first_a, first_b = values(a.evaluate(run)), values(b.evaluate(run))
        assert first_a != first_b
        for _ in range(20):
            assert values(b.evaluate(run)) == first_b
            assert values(a.evaluate(run)) == first_a
        fresh = fastir.Evaluator(qrels, ["ndcg@5", "map", "rbp(p=0.5)"], rel_level=2, ties="doc_id_asc", max_depth=20)
        assert values(fresh.evaluate(run)) == first_b
    """)


def test_p13_evaluate_inside_a_callback():
    """A score that evaluates, with the same evaluator, while it is being converted."""
    out = python("""
        evaluator = fastir.Evaluator(QRELS, METRICS)
        inner = []
        class Score:
            def __init__(self, value):
                self.value = value
            def __float__(self):
                inner.append(values(evaluator.evaluate(RUN)))
                return self.value
        run = {q: {d: Score(s) for d, s in docs.items()} for q, docs in RUN.items()}
        expected = values(evaluator.evaluate(RUN))
        assert values(evaluator.evaluate(run)) == expected
        assert all(value == expected for value in inner)
        print(len(inner))
    """)
    assert int(out) >= 6


# ---- P03, P11: fork, spawn, pickle -----------------------------------------------------------------------------
@pytest.mark.parametrize("n_threads", [1, 4])
def test_p03_fork_after_a_parallel_evaluation(n_threads):
    python("""
        labels = np.resize(np.array([0, 1, 0, 0, 2, -1], "i1"), 4_000_000)
        offsets = np.arange(0, 4_000_001, 1000)
        expected = fastir.evaluate_ranked(labels, offsets, METRICS, n_threads=4).values.tobytes()
        pid = os.fork()
        if pid == 0:
            again = fastir.evaluate_ranked(labels, offsets, METRICS, n_threads=int(sys.argv[1])).values.tobytes()
            os._exit(0 if again == expected else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    """, n_threads, timeout=patient(20))  # fmt: skip


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_p11_evaluators_travel_to_other_processes(method, tmp_path, qrels, run):
    script = tmp_path / "pool.py"
    script.write_text(
        textwrap.dedent("""
        import json, multiprocessing, sys
        import fastir
        if __name__ == "__main__":
            qrels, run, method = map(json.loads, sys.argv[1:])
            evaluator = fastir.Evaluator(qrels, ["ndcg@10", "map"])
            with multiprocessing.get_context(method).Pool(2) as pool:
                results = pool.map(evaluator.evaluate, [run] * 4)
            print(json.dumps([results.values.tolist() for results in results]))
    """)
    )
    arguments = map(json.dumps, (qrels, run, method))
    done = subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=patient(30), check=True
    )
    assert json.loads(done.stdout) == [fastir.evaluate(qrels, run, ["ndcg@10", "map"]).values.tolist()] * 4


# ---- P04: Ctrl-C -----------------------------------------------------------------------------------------------
# Each makes `call`, a function of a size that takes time in proportion to it.
LONG_CALLS = {
    "dict": """
        def prepare(size):
            qrels, run = shared(100 * size, 1000)
            return lambda: fastir.evaluate(qrels, run, METRICS, n_threads=1)
    """,
    "prepared dict": """
        def prepare(size):
            qrels, run = shared(200 * size, 1000)
            evaluator = fastir.Evaluator(qrels, METRICS, n_threads=1)
            return lambda: evaluator.evaluate(run)
    """,
    "one query": """
        def prepare(size):
            qrels, run = {"q": {"doc1": 1, "doc5": 1}}, {"q": {f"doc{i}": float(i) for i in range(50_000 * size)}}
            evaluator = fastir.Evaluator(qrels, METRICS, n_threads=1)
            def call():
                for _ in range(10):
                    evaluator.evaluate(run)
            return call
    """,
    "labels": """
        def prepare(size):
            labels = np.resize(np.array([0, 1, 0, 0, 2, -1], "i1"), 4_000_000 * size)
            offsets = np.arange(0, labels.size + 1, 10)
            return lambda: fastir.evaluate_ranked(labels, offsets, METRICS, n_threads=1)
    """,
    "labels, threads": """
        def prepare(size):
            labels = np.resize(np.array([0, 1, 0, 0, 2, -1], "i1"), 8_000_000 * size)
            offsets = np.arange(0, labels.size + 1, 10)
            return lambda: fastir.evaluate_ranked(labels, offsets, METRICS, n_threads=4)
    """,
    "file": """
        import gzip
        def prepare(size):
            block = "".join(f"QUERY Q0 doc{i} {i} {i * 7919 % 1000}.5 tag\\n" for i in range(1000))
            path = sys.argv[1] + f"/{size}.gz"
            with gzip.open(path, "wt", compresslevel=1) as file:
                for i in range(200 * size):
                    file.write(block.replace("QUERY", f"q{i}"))
            qrels = {f"q{i}": {"doc1": 1} for i in range(200 * size)}
            return lambda: fastir.evaluate(qrels, path, METRICS, n_threads=1)
    """,
    "matrix": """
        def prepare(size):
            scores = np.broadcast_to(np.random.default_rng(0).random(50_000), (500 * size, 50_000))
            relevant = np.arange(500 * size + 1) * 200, np.tile(np.arange(0, 50_000, 250), 500 * size)
            return lambda: fastir.evaluate_matrix(scores, relevant, METRICS, n_threads=1)
    """,
    "matrix, threads": """
        def prepare(size):
            scores = np.broadcast_to(np.random.default_rng(0).random(50_000)[:, None], (50_000, 2000 * size)).T
            relevant = np.arange(2000 * size + 1) * 10, np.tile(np.arange(0, 50_000, 5000), 2000 * size)
            return lambda: fastir.evaluate_matrix(scores, relevant, METRICS, n_threads=4)
    """,
    "lists of items": """
        def prepare(size):
            indices = np.broadcast_to(np.arange(1000), (20_000 * size, 1000))
            relevant = np.arange(20_000 * size + 1), np.arange(20_000 * size) % 1000
            return lambda: fastir.evaluate_topk(indices, relevant, METRICS, n_threads=1)
    """,
}


@pytest.mark.parametrize("kind", LONG_CALLS)
def test_p04_an_interrupt_ends_a_call_and_leaves_the_next_one_alone(kind, tmp_path):
    """How soon is measured by `pytest bench -k interrupts`; endless calls are in tests/threads/test_blocks.py."""
    process = start(textwrap.dedent(LONG_CALLS[kind]) + textwrap.dedent("""
        prepare(1)()  # imports what a first call needs
        call = prepare(4)
        try:
            print("calling", flush=True)
            while True:
                call()
        except KeyboardInterrupt:
            print("interrupted")
        assert fastir.evaluate(QRELS, RUN, "map")["map"] > 0.7
    """), tmp_path)  # fmt: skip
    try:
        assert process.stdout.readline() == "calling\n", process.communicate()[1][-2000:]
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patient(30))
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted\n"), err


# ---- P05: out of memory ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["dict", "file", "labels"])
def test_p05_memory_error_and_a_living_interpreter(kind, tmp_path):
    """Address space runs out at every size from nothing up: MemoryError or the right value, and the next call works."""
    out = python("""
        n = 100_000
        kind, folder = sys.argv[1:]
        if kind == "dict":
            qrels, run = {"q": {"doc1": 1, "doc2": 0}}, {"q": {f"doc{i}": float(i % 1000) for i in range(n)}}
            call = lambda: fastir.evaluate(qrels, run, METRICS)
        elif kind == "file":
            qrels = {"q": {f"doc{i}": i % 3 for i in range(n // 4)}}
            with open(folder + "/run", "w") as file:
                file.writelines(f"q Q0 doc{i} {i} {i % 1000} tag\\n" for i in range(n))
            call = lambda: fastir.evaluate(qrels, folder + "/run", METRICS, n_threads=1)
        else:
            labels = np.resize(np.array([0, 1, 0, 0, 2, -1]), 8 * n)
            call = lambda: fastir.evaluate_ranked(labels, np.arange(len(labels) + 1), METRICS, n_threads=1)
        expected = call().values.tobytes()
        gc.collect()
        unlimited = resource.getrlimit(resource.RLIMIT_AS)
        short = 0
        for extra in (*range(0, 1 << 20, 1 << 16), *range(1 << 20, 32 << 20, 1 << 20)):
            size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + extra, unlimited[1]))
            try:
                got = call().values.tobytes()
            except MemoryError:
                got = None
            resource.setrlimit(resource.RLIMIT_AS, unlimited)
            assert got in (None, expected)
            short += got is None
            assert fastir.evaluate(QRELS, RUN, "mrr")["mrr"] == 0.75
        print(short)
    """, kind, tmp_path)  # fmt: skip
    assert int(out) > 0, "no limit was small enough to be felt"


# ---- P06: nothing depends on the hash seed ---------------------------------------------------------------------
def test_p06_hash_seeds_and_insertion_orders(tmp_path):
    rng = random.Random(6)
    docs = [f"doc{number}" for number in range(200)]
    qrels = {f"q{q}": {doc: rng.choice((0, 1, 2)) for doc in rng.sample(docs, 60)} for q in range(5)}
    runs = [
        {query: {doc: gen.SCORES[scores](rng) for doc in rng.sample(docs, 150)} for query in qrels}
        for scores in ("distinct", "few values")
    ]
    path = tmp_path / "collection.json"
    path.write_text(json.dumps([qrels, runs]))
    code = """
        qrels, runs = json.load(open(sys.argv[1]))
        rng = random.Random(int(sys.argv[2]))
        def shuffled(mapping):
            return dict(rng.sample(list(mapping.items()), len(mapping)))
        for run in runs:
            results = fastir.evaluate(qrels, shuffled({q: shuffled(docs) for q, docs in run.items()}), METRICS)
            print(results.values.tobytes().hex(), [results[name].hex() for name in METRICS])
    """
    outputs = {python(code, path, seed, env={**os.environ, "PYTHONHASHSEED": str(seed)}) for seed in range(10)}
    assert len(outputs) == 1


# ---- P07, P08, P09: leaks --------------------------------------------------------------------------------------
LEAKS = {
    "P07-leak-ok": """
        qrels, run = shared(2, 40)
        labels, offsets = np.array([1, 0, 2, -1], "i1"), np.array([0, 2, 4])
        def call():
            fastir.evaluate(qrels, run, "ndcg@10")
            fastir.evaluate_ranked(labels, offsets, "map")
    """,
    "P08-leak-error": """
        docs = {f"doc{i}": 1.0 for i in range(100)}
        bad = [
            ({"q": {"a": 1}}, {"q": {**docs, "z": float("nan")}}, "map"),
            ({"q": {"a": 1}}, {"q": {**docs, "z": None}}, "map"),
            ({"q": {"a": 1}}, {"q": {**docs, 7: 1.0}}, "map"),
            ({"q": {"a": 1}}, {"q": {**docs, "z": 10**400}}, "map"),
            ({"q": {**docs, "z": float("inf")}}, {"q": docs}, "map"),
            ({"q": {**docs, "z": 2**40}}, {"q": docs}, "map"),
            ({"q": docs}, {"other": docs}, "map"),
        ]
        misspelt = {"q": docs}, {"q": docs}, "ngcd@10"     # seldom: the name that was meant takes a millisecond to find
        def call(calls=iter(range(10**9))):
            i = next(calls)
            try:
                fastir.evaluate(*(bad[i % len(bad)] if i % 16 else misspelt))
            except (ValueError, TypeError, OverflowError):
                return
            raise SystemExit("no error was raised")
    """,
    "P09-evaluator-leak": """
        qrels, run = shared(2, 100)
        def call():
            fastir.Evaluator(qrels, METRICS)
    """,
}


@pytest.mark.parametrize("case", LEAKS)
def test_p07_p08_p09_resident_memory_stays_flat(case):
    """8,000 calls after a warm-up grow the process by less than 50 bytes each."""
    grown = python(textwrap.dedent(LEAKS[case]) + textwrap.dedent("""
        def resident():
            gc.collect()
            return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
        for _ in range(3000):
            call()
        before = resident()
        for _ in range(8_000):
            call()
        print(resident() - before)
    """))  # fmt: skip
    assert int(grown) < 400_000


# ---- P10, P18: time --------------------------------------------------------------------------------------------
def test_p10_import_and_first_call():
    """Work is counted: 9,000 calls of functions of Python. tests/house counts the modules that are loaded."""
    program = textwrap.dedent("""
        import sys
        import numpy
        count = 0
        def called(frame, event, made):
            global count
            count += event == "call"
        sys.setprofile(called)
        import fastir
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["ndcg@10", "map"])
        sys.setprofile(None)
        print(count)
    """)
    assert int(subprocess.check_output([sys.executable, "-c", program])) < 20_000


@pytest.mark.parametrize("kind", ["dict", "file"])
def test_p18_time_is_linear_in_topics(kind, tmp_path):
    """A second or two; with a look-up that reads all topics, hours."""
    python("""
        qrels, run = shared(400_000, 4)
        if sys.argv[1] == "file":
            run_path, qrels_path = (os.path.join(sys.argv[2], side) for side in ("run", "qrels"))
            with open(run_path, "w") as file:
                file.writelines(f"{q} Q0 doc{d} 1 {d} t\\n" for q in qrels for d in range(4))
            with open(qrels_path, "w") as file:
                file.writelines(f"{q} 0 doc2 1\\n" for q in qrels)
            qrels, run = qrels_path, run_path
        fastir.evaluate(qrels, run, METRICS, n_threads=1)
    """, kind, tmp_path)  # fmt: skip


# ---- P14, P15: the command line's output -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("format", "flags"), [("table", []), ("table", ["-q"]), ("tsv", ["-q"]), ("json", []), ("markdown", [])]
)
def test_p14_a_full_disk_is_an_error(format, flags, many_topics):
    """Where the output is one line, which waits in a buffer, and where it is more than that holds."""
    with open("/dev/full", "w") as full:
        command = fastir_command("eval", *many_topics, "-m", "map", *flags, "--format", format)
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=patient(20))
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_p14_a_closed_output_is_an_error(files):
    command = " ".join(fastir_command("eval", *files, "-m", "map")) + " >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=patient(20))
    message = "fastir: error: cannot write to standard output: the stream is closed\n"
    assert (done.returncode, done.stderr) == (3, message)


@pytest.mark.parametrize(
    "command", [("eval", "-q", "--format", "tsv"), ("trec_eval", "-q")], ids=lambda words: words[0]
)
@pytest.mark.parametrize("lines", [0, 1])
def test_p15_a_reader_that_stops_reading(command, lines, many_topics):
    """As `| true` and `| head -1`: no traceback, no complaint, and a good end."""
    command = fastir_command(command[0], *command[1:], "-m", "map", "-m", "recip_rank", *many_topics)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert all(process.stdout.readline() for _ in range(lines))
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(patient(20)) == 0


def test_an_interrupted_command_says_so(files):
    command = fastir_command("eval", files[0], "-", "-m", "map")
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **streams) as process:
        more_than_a_pipe_holds = b"".join(b"q1 Q0 x%d 1 1.0 t\n" % number for number in range(100_000))
        process.stdin.write(more_than_a_pipe_holds)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patient(20))
    assert (process.returncode, out, err) == (130, b"", b"fastir: error: interrupted\n")


# ---- P16: the locale -------------------------------------------------------------------------------------------
# The numbers of de_DE, and all else as in C: its order of letters takes seconds to compile.
GERMAN_NUMBERS = 'LC_NUMERIC\n  copy "de_DE"\nEND LC_NUMERIC\n' + "".join(
    f'LC_{part}\n  copy "POSIX"\nEND LC_{part}\n'
    for part in (
        *("CTYPE", "COLLATE", "MONETARY", "TIME", "MESSAGES", "PAPER"),
        *("NAME", "ADDRESS", "TELEPHONE", "MEASUREMENT", "IDENTIFICATION"),
    )
)


@pytest.fixture
def comma_locale(tmp_path):
    """The environment of a locale that writes 2,5: an installed de_DE, or one compiled for the test."""
    environment = {**os.environ, "LC_ALL": "de_DE.UTF-8"}
    if shutil.which("localedef"):
        source, target = tmp_path / "german", tmp_path / "locales" / "de_DE.UTF-8"
        target.parent.mkdir()
        source.write_text(GERMAN_NUMBERS)
        subprocess.run(["localedef", "-c", "-i", source, "-f", "UTF-8", target], capture_output=True)
        environment["LOCPATH"] = str(target.parent)
    probe = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"
    done = subprocess.run([sys.executable, "-c", probe], env=environment, capture_output=True, text=True)
    if done.stdout != ",\n":
        pytest.skip("no locale with a decimal comma can be had")
    return environment


def test_p16_numbers_use_the_point_in_every_locale(files, comma_locale):
    run = files[1]
    run.write_text(run.read_text().replace("9.0", "9.25").replace("8.0", "9.125"))
    code = """
        import locale
        locale.setlocale(locale.LC_ALL, "")
        assert locale.localeconv()["decimal_point"] == sys.argv[3]
        results = fastir.evaluate(*sys.argv[1:3], ["ndcg@10", "rbp(p=0.8)", "rbp.80"])
        results.save(sys.argv[1] + ".tsv")
        print(results.values.tobytes().hex(), open(sys.argv[1] + ".tsv").read(), results)
    """
    assert python(code, *files, ",", env=comma_locale) == python(code, *files, ".", env={**os.environ, "LC_ALL": "C"})
    command = fastir_command("eval", *files, "-m", "ndcg@10", "-m", "map", "-q", "--format", "tsv")
    there, here = (subprocess.check_output(command, env=env, timeout=patient(20)) for env in (comma_locale, None))
    assert there == here
    assert b"0.7601875334318685" in there


# ---- P17: the floating-point unit ------------------------------------------------------------------------------
@pytest.fixture
def flush_to_zero(tmp_path):
    """A library that sets the flags which -ffast-math sets when a library is loaded (x86: FTZ and DAZ)."""
    if not shutil.which("gcc"):
        pytest.skip("needs gcc")
    source, library = tmp_path / "ftz.c", tmp_path / "ftz.so"
    source.write_text("#include <xmmintrin.h>\nvoid set(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n")
    if subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], capture_output=True).returncode:
        pytest.skip("needs an x86 with SSE")
    return library


def test_p17_denormal_scores_are_ordered_whatever_the_flags(flush_to_zero, tmp_path):
    """Neighbours among the smallest doubles, as dict, as file and as Run."""
    scores = {"a": 2e-323, "b": 1e-323, "c": 5e-324, "e": 0.0, "f": -5e-324, "g": -1e-323}
    run = gen.write_run(tmp_path / "run", dict.fromkeys(scores, scores))
    out = python("""
        scores = json.loads(sys.argv[3])
        ctypes.CDLL(sys.argv[1]).set()
        assert np.float64(5e-324) * 1.0 == 0.0, "the flags are not set"
        qrels = {doc: {doc: 1} for doc in scores}
        for run in ({doc: scores for doc in scores}, sys.argv[2], fastir.Run.from_file(sys.argv[2])):
            print((1 / fastir.evaluate(qrels, run, "mrr").values[:, 0]).round().tolist())
    """, flush_to_zero, run, json.dumps(scores))  # fmt: skip
    assert out.splitlines() == [str([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])] * 3


# ---- all of them -----------------------------------------------------------------------------------------------
@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
def test_every_process_case_of_the_catalogue_has_its_test():
    text = (SHARED / "cases" / "cases.jsonl").read_text("utf-8")
    listed = set(re.findall(r'"id": ?"(P\d\d)-', text))
    assert listed == {f"P{number:02}" for number in range(1, 19)}
    assert listed <= {number.upper() for name in globals() for number in re.findall(r"p\d\d", name)}
