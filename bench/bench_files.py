"""Five metrics of TREC files, against pytrec_eval and ranx: what a user waits for, from two paths to the values.

The files are written to a temporary folder first and read from the page cache by everyone. The big run has 6980 x 1000
lines, about 284 MB; seven runs of a sixth of that are evaluated at once. Qrels of many queries with one or two
judgments each are read alone, too, beside pytrec_eval's parser.
"""

import gzip
import itertools
import shutil

import pytest
import workloads
from peers import TREC, assert_ranx_agrees, assert_same, pytrec_eval, ranx_files
from timing import METRICS, THREADS, Goal, plural
from whole_process import peak_memory, python

import fastir

ROUNDS = 5
RUNS = 7
START_UP = 45  # ms that the command line may take beyond Python's and NumPy's start
COMPARING = 40  # ms that a comparison may start later than an evaluation
PACKED = "6980 x 1000 lines, packed with gzip"
WIDE = "qrels of 900 000 queries, a million judgments"
SMALL, MIDDLE, LARGE = "50 x 1000 lines, 3 MB", "2900 x 1000 lines, 118 MB", "6980 x 1000 lines, 284 MB"


def pytrec_eval_files(qrels_path, run_path):
    with open(qrels_path) as qrels, open(run_path) as run:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {TREC[name] for name in METRICS})
        return evaluator.evaluate(pytrec_eval.parse_run(run))


def written(folder, qrels, run):
    """Paths of the qrels and of the run."""
    paths = str(folder / "qrels"), str(folder / "run")
    workloads.write_qrels(paths[0], qrels)
    workloads.write_run(paths[1], run)
    return paths


@pytest.fixture(scope="module")
def small(collection, tmp_path_factory):
    return written(tmp_path_factory.mktemp("small"), *collection("judged"))


@pytest.fixture(scope="module")
def middle(quick, tmp_path_factory):
    return written(tmp_path_factory.mktemp("middle"), *workloads.passages(100 if quick else 2900))


@pytest.fixture(scope="module")
def large(collection, tmp_path_factory):
    return written(tmp_path_factory.mktemp("large"), *collection("passages"))


@pytest.fixture(scope="module")
def packed(large, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("packed") / "run.gz")
    with open(large[1], "rb") as run, gzip.open(path, "wb", compresslevel=6) as file:
        shutil.copyfileobj(run, file, 1 << 20)
    return large[0], path


@pytest.fixture(scope="module")
def wide(quick, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("wide") / "qrels")
    workloads.write_qrels(path, workloads.short_judgments(*[1000] * quick))
    return path


def inflated(path):
    """Unpack a file as fastir would, and do nothing with it."""
    try:
        from isal.igzip import IGzipFile as kind
    except ImportError:
        kind = gzip.GzipFile
    block = bytearray(1 << 20)
    with kind(path) as file:
        while file.readinto(block):
            pass


def parsed(path):
    with open(path) as file:
        return pytrec_eval.parse_qrel(file)


def means(paths, n_threads=1):
    return dict(fastir.evaluate(*paths, METRICS, n_threads=n_threads))


@pytest.mark.parametrize(("title", "asked", "rounds"), [(SMALL, None, 15), (LARGE, 25, ROUNDS)], ids=["small", "large"])
def test_ranx(race, request, collection, title, asked, rounds):
    pytest.importorskip("ranx")
    paths = request.getfixturevalue("small" if title == SMALL else "large")
    assert_ranx_agrees(*collection("judged"))
    calls = {"fastir": lambda: means(paths), "ranx": lambda: ranx_files(*paths)}
    race(title, calls, [Goal("fastir", "ranx", asked)], rounds, slow=["ranx"] * (title == LARGE))


@pytest.mark.parametrize(("title", "asked", "rounds"), [(SMALL, 25, 15), (MIDDLE, 28, ROUNDS)], ids=["small", "middle"])
def test_one_thread(race, request, title, asked, rounds):
    paths = request.getfixturevalue("small" if title == SMALL else "middle")
    assert_same(fastir.evaluate(*paths, METRICS), pytrec_eval_files(*paths))
    calls = {"fastir": lambda: means(paths), "pytrec_eval": lambda: pytrec_eval_files(*paths)}
    race(title, calls, [Goal("fastir", "pytrec_eval", asked)], rounds, slow=["pytrec_eval"] * (title == MIDDLE))


@pytest.mark.parametrize(("title", "asked"), [(SMALL, 6), (MIDDLE, 3), (LARGE, 3)], ids=["small", "middle", "large"])
def test_checking(race, request, title, asked):
    """All lines are right; evaluating them is the peer."""
    paths = request.getfixturevalue({SMALL: "small", MIDDLE: "middle", LARGE: "large"}[title])
    assert fastir.check(*paths).ok
    ours, peer = "fastir, check", "fastir"
    calls = {ours: lambda: fastir.check(*paths), peer: lambda: means(paths)}
    race(title, calls, [Goal(ours, peer, 1 / asked)], ROUNDS)


def test_gzip(race, large, packed):
    """Beside unpacking alone, and beside unpacking and then evaluating the file."""
    one, two = "fastir", "fastir, 2 threads"
    calls = {one: lambda: list(means(packed).values()), two: lambda: list(means(packed, 2).values())}
    also = {"unpacking": lambda: inflated(packed[1]), "both": lambda: (inflated(packed[1]), means(large))}
    assert means(packed) == means(large)
    race(PACKED, calls, [Goal(one, "both", 1), Goal(two, "unpacking", 1 / 1.4, "wall")], ROUNDS, same=0, also=also)


def test_qrels_of_many_queries(race, wide):
    assert fastir.Qrels.from_file(wide).to_dict() == parsed(wide)
    calls = {"fastir": lambda: fastir.Qrels.from_file(wide), "pytrec_eval": lambda: parsed(wide)}
    race(WIDE, calls, [Goal("fastir", "pytrec_eval", 5)])
    most = peak_memory("import fastir", f"fastir.Qrels.from_file({wide!r})")
    race.amount("peak memory above the imports", most, "MB", 120)


def test_pytrec_eval(race, large):
    """One thread and more beside pytrec_eval, whose one thread is all it has."""
    assert_same(fastir.evaluate(*large, METRICS), pytrec_eval_files(*large))
    more = f"fastir, {plural(THREADS)}"
    calls = {
        "fastir": lambda: means(large),
        more: lambda: means(large, THREADS),
        "pytrec_eval": lambda: pytrec_eval_files(*large),
    }
    goals = [Goal("fastir", "pytrec_eval", 30), Goal(more, "pytrec_eval", 60, "wall")]
    race(LARGE, calls, goals, ROUNDS, slow=["pytrec_eval"])


def test_threads(race, large):
    race.threads(LARGE, lambda n_threads: list(means(large, n_threads).values()), asked=2.5, rounds=ROUNDS)


def test_command_line(race, small):
    """The whole process, beside its start without fastir and beside pytrec_eval in the process."""
    assert_same(fastir.evaluate(*small, METRICS), pytrec_eval_files(*small))
    chosen = itertools.chain.from_iterable(("-m", name) for name in METRICS)
    arguments = ["-m", "fastir", "eval", *small, *chosen, "--threads", "1"]
    assert all(name in python(*arguments).decode() for name in METRICS)
    command, start = "fastir eval, whole process", "python, numpy, whole process"
    calls = {
        "fastir": lambda: means(small), "pytrec_eval": lambda: pytrec_eval_files(*small),
        command: lambda: python(*arguments), start: lambda: python("-c", "import numpy"),
    }  # fmt: skip
    costs = race(SMALL, calls, [Goal("fastir", "pytrec_eval")], 15)
    wall, cpu = (1e3 * (spent - begun) for spent, begun in zip(costs[command], costs[start], strict=True))
    race.amount("fastir eval beyond Python's and NumPy's start", wall, "ms", START_UP)
    race.amount("the same, processor time", cpu, "ms", START_UP)
    race.amount("the same, against pytrec_eval in the process", cpu, "ms", 1e3 * costs["pytrec_eval"].cpu)


def test_comparing(race, small):
    """The whole process beside that of an evaluation of the same two runs; the test is one that needs no SciPy."""
    pytest.importorskip("scipy")
    qrels, run = small
    other = shutil.copy(run, f"{run}.again")  # a file that is given twice is refused
    test = ["--test", "randomization", "--resamples", "1000"]
    arguments = {"eval": [], "compare": test}
    lines = {word: ["-m", "fastir", word, qrels, run, other, "-m", "map", *more] for word, more in arguments.items()}
    assert all(b"map" in python(*line) for line in lines.values())
    calls = {f"fastir {word}, whole process": lambda line=line: python(*line) for word, line in lines.items()}
    one, two = race(f"{SMALL}, two runs", calls, rounds=15).values()
    race.amount("fastir compare beyond fastir eval, processor time", 1e3 * (two.cpu - one.cpu), "ms", COMPARING)


@pytest.mark.parametrize("name", ["judged", "passages"])
def test_report(race, collection, tmp_path, name):
    """A report explains the first ten documents of each run and query; comparing the runs is the peer."""
    qrels, run = collection(name)
    runs, path = {"a": run, "b": workloads.another_run(run)}, tmp_path / "report.html"
    fastir.write_report(qrels, runs, METRICS, path)
    ours, peer = "fastir, write_report", "fastir, compare"
    calls = {
        ours: lambda: fastir.write_report(qrels, runs, METRICS, path),
        peer: lambda: fastir.compare(qrels, runs, METRICS),
    }
    race(f"report of two runs, {len(run)} x 1000", calls, [Goal(ours, peer, 1 / 10)], ROUNDS)


@pytest.mark.parametrize("threads", [1, THREADS])
def test_memory(race, large, threads):
    call = f"fastir.evaluate({large[0]!r}, {large[1]!r}, {METRICS!r}, n_threads={threads})"
    what = f"peak memory above the imports, {plural(threads)}"
    race.amount(what, race.median(LARGE, what, lambda: peak_memory("import fastir", call)), "MB", 60)


def test_explaining_one_query(race, large, collection):
    """One pass that keeps the rows of one query, beside the evaluation of the file: 0.8 times its time."""
    evaluator = fastir.Evaluator(large[0], METRICS, n_threads=1)
    query = list(collection("passages")[1])[-1]
    assert evaluator.explain(large[1], query).values == evaluator.evaluate(large[1]).to_dict()[query]
    explain, evaluate = "fastir, explain one query", "fastir, evaluate"
    calls = {explain: lambda: evaluator.explain(large[1], query), evaluate: lambda: evaluator.evaluate(large[1])}
    race(LARGE, calls, [Goal(explain, evaluate, 1)], ROUNDS)
    prepare = f"import fastir; one = fastir.Evaluator({large[0]!r}, {METRICS!r}); one.explain({{}}, {query!r})"
    most = peak_memory(prepare, f"one.explain({large[1]!r}, {query!r})")
    race.amount("peak memory of explaining", most, "MB", 10)


def test_many_runs(race, quick, tmp_path):
    """Several runs at once, copies of one so that their making takes no time."""
    qrels_path, run_path = written(tmp_path, *workloads.passages(100 if quick else 1200))
    runs = {str(number): shutil.copy(run_path, f"{run_path}{number}") for number in range(RUNS)}
    expected = fastir.evaluate(qrels_path, run_path, METRICS).values

    def call(n_threads):
        return [
            results.values for results in fastir.evaluate_many(qrels_path, runs, METRICS, n_threads=n_threads).values()
        ]

    assert all((values == expected).all() for values in call(1)), "evaluate_many differs from evaluate"
    race.threads(f"evaluate_many, {RUNS} times 1200 x 1000 lines, 49 MB", call, asked=2.5, rounds=15)
