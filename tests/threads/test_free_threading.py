"""Many threads at once: dicts that change while they are read, one Evaluator, and what is made when first asked for.

On an ordinary interpreter threads switch every few microseconds here; on a free-threaded one they run at the same time
(tests/free_threading.sh builds one).
"""

import random
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest
from processes import patient

import fastir
from fastir import stats
from fastir.compat import pytrec_eval
from fastir.engine.threads import sharing
from fastir.evaluation.drivers import tables
from fastir.inputs import trec

N = 16
FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
NAMES = ["ndcg@10", "map", "mrr", "recall@5"]
IMPORTS = """
import importlib, pathlib, sys, warnings
warnings.simplefilter("error")
import fastir
folder = pathlib.Path(fastir.__file__).parent
for path in sorted(folder.rglob("*.so")) + sorted(folder.rglob("*.pyd")):
    name = ".".join(("fastir", *path.relative_to(folder).parts))
    importlib.import_module(name[: name.index(".", name.rindex("._"))])
for name in fastir.__all__:
    getattr(fastir, name)
assert not sys._is_gil_enabled()
"""


@pytest.fixture(autouse=True)
def eager_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(work, n=N):
    """What work(t) returns for t = 0 ... n - 1, called by n threads that begin at the same time."""
    barrier, outcomes, problems = threading.Barrier(n), [None] * n, []

    def call(t):
        barrier.wait()
        try:
            outcomes[t] = work(t)
        except BaseException as error:
            problems.append(error)

    workers = [threading.Thread(target=call, args=(t,)) for t in range(n)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if problems:
        raise problems[0]
    return outcomes


def collection(n_queries=20, n_docs=60, id_of=str, seed=0):
    """Qrels and a run with tied scores."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for q in range(n_queries):
        docs = [id_of(doc) for doc in rng.sample(range(1000), n_docs)]
        qrels[id_of(q)] = {doc: rng.randrange(-1, 3) for doc in docs[::2]}
        run[id_of(q)] = {doc: float(rng.randrange(9)) for doc in docs}
    return qrels, run


def columns_of(run, order=None):
    """A run as a table of columns, perhaps in another order."""
    rows = [(query, doc, score) for query, ranking in run.items() for doc, score in ranking.items()]
    names = ("query_id", "doc_id", "score")
    return {
        name: np.array(column)[slice(None) if order is None else order]
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def arrays(results):
    return results.query_ids, results.values.tobytes(), results.report, dict(results)


@pytest.mark.skipif(not FREE, reason="this interpreter always has a GIL")
def test_importing_every_module_leaves_the_gil_off():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=patient(60))
    assert done.returncode == 0, done.stderr


# ---- dicts that change ------------------------------------------------------------------------------------------
def while_changing(change, read, times=10):
    """What read() returned, so often in each of three threads, while change() is called over and over in two."""
    outcomes, reading = [], {2, 3, 4}

    def work(t):
        while t < 2 and reading:
            change(random.Random(t))
        try:
            left = times if t in reading else 0
            while left:
                try:
                    outcomes.append(read())
                    left -= 1
                except RuntimeError as error:
                    assert "changed" in str(error), error
        finally:
            reading.discard(t)

    together(work, 5)
    assert outcomes
    return outcomes


def changing(id_of, n_judged):
    """A ranking that changes, and its judgments: {doc_id: score}, change(random), the states that count.

    Documents come and go below all others, dicts are replaced by new ones, and one judged document is there or not.
    """
    qrels = {id_of(doc): doc % 3 for doc in range(n_judged)}
    above = {id_of(doc): float(doc % 7) for doc in range(0, 40, 2)}
    there = {**above, id_of(1): 9.0}
    run = {id_of(0): dict(there), id_of(1): dict(above)}

    def change(rng):
        ranking = run[id_of(0)]
        for _ in range(50):
            ranking[id_of(rng.randrange(10**6, 10**9))] = -1.0
        ranking[id_of(1)] = 9.0
        ranking.pop(id_of(1), None)
        for doc in list(ranking):
            if ranking.get(doc) == -1.0:
                ranking.pop(doc, None)
        run[id_of(0)] = dict(there)
        run[id_of(2)] = {}
        run.pop(id_of(2), None)

    return {id_of(0): qrels, id_of(1): qrels}, run, change, [above, there]


@pytest.mark.parametrize("id_of", [lambda doc: f"document {doc}", int], ids=["text", "integers"])
@pytest.mark.parametrize("n_judged", [3, 30], ids=["probed", "looked up"])
@pytest.mark.parametrize("reading", ["evaluate", "evaluator", "held", "many", "mapping"])
def test_a_run_that_other_threads_change_has_the_values_of_one_of_its_states(id_of, n_judged, reading):
    qrels, run, change, states = changing(id_of, n_judged)
    names = ["map", "mrr", "ndcg@10"]
    evaluator = fastir.Evaluator(qrels, names, queries="qrels")
    allowed = {fastir.evaluate(qrels, {**run, id_of(0): state}, names).values.tobytes() for state in states}

    def read():
        if reading == "evaluate":
            results = fastir.evaluate(qrels, run, names, queries="qrels")
        elif reading == "evaluator":
            results = evaluator.evaluate(run)
        elif reading == "held":
            results = evaluator.evaluate(fastir.Run.from_dict(run))
        elif reading == "many":
            results = evaluator.evaluate_many({"one": run})["one"]
        else:
            results = evaluator.evaluate(dict(run))
        return results.values.tobytes(), results.report.in_both

    assert {outcome for outcome, _ in while_changing(change, read)} <= allowed


IDS = {"text": lambda doc: f"document {doc}", "integers": int, "bytes that are no text": lambda doc: f"\udcff{doc}"}


@pytest.mark.parametrize("id_of", IDS.values(), ids=IDS)
@pytest.mark.parametrize("reading", ["evaluate", "evaluator", "held", "lists", "subclass", "parents"])
def test_lists_that_other_threads_change_have_the_values_of_one_of_their_states(id_of, reading):
    """Unjudged documents come and go at the end, the first document is there or not, and lists are replaced."""
    if reading == "parents" and id_of is int:
        pytest.skip("parents are text")
    qrels = {id_of(q): {id_of(doc): doc % 3 for doc in range(30)} for q in range(2)}
    above = [id_of(doc) for doc in range(2, 40, 2)]
    states = [above, [id_of(1), *above]]
    run = {id_of(q): list(above) for q in range(2)}
    parents = {id_of(doc): id_of(doc) for doc in range(1000)} if reading == "parents" else None
    names = ["map", "mrr", "ndcg@10"]
    evaluator = fastir.Evaluator(qrels, names, queries="qrels", parents=parents)
    allowed = {evaluator.evaluate({**run, id_of(0): state}).values.tobytes() for state in states}

    def change(rng):
        ranking = run[id_of(0)]
        for _ in range(50):
            ranking.append(id_of(rng.randrange(10**6, 10**9)))
        del ranking[len(above) + 1 :]
        if parents is not None:
            extra = id_of(rng.randrange(1000, 10**6))
            parents[extra] = id_of(1)
            parents.pop(extra, None)
        ranking = list(states[rng.randrange(2)])
        if reading == "subclass":
            ranking = type("Ranking", (list,), {})(ranking)
        run[id_of(0)] = ranking
        run[id_of(2)] = []
        run.pop(id_of(2), None)

    def read():
        if reading == "held":
            results = evaluator.evaluate(fastir.Run.from_dict(run))
        elif reading == "evaluator":
            results = evaluator.evaluate(run)
        elif reading == "lists":
            both = [run[id_of(0)], run[id_of(1)]], [qrels[id_of(0)], qrels[id_of(1)]]
            results = fastir.evaluate_lists(*both, names, query_ids=list(qrels))
        else:
            results = fastir.evaluate(qrels, run, names, queries="qrels", parents=parents)
        return results.values.tobytes()

    assert set(while_changing(change, read)) <= allowed


@pytest.mark.parametrize("id_of", [lambda doc: f"document {doc}", int], ids=["text", "integers"])
def test_relevant_ids_that_other_threads_change_are_those_of_one_moment(id_of):
    ids = [id_of(doc) for doc in range(50)]
    relevant = {id_of(0): list(ids), id_of(1): set(ids)}
    expected = dict.fromkeys(ids, 1)

    def change(rng):
        more = [id_of(doc) for doc in range(100, 200)]
        relevant[id_of(0)].extend(more)
        relevant[id_of(1)].update(more)
        relevant[id_of(1)].difference_update(more)
        relevant[id_of(0)] = list(ids)

    for read in while_changing(change, lambda: fastir.Qrels.from_dict(relevant).to_dict()):
        assert read[id_of(0)].keys() >= expected.keys()
        assert read[id_of(1)].keys() >= expected.keys()


@pytest.mark.parametrize("id_of", [lambda doc: f"document {doc}", int], ids=["text", "integers"])
def test_qrels_that_other_threads_change_are_those_of_one_state_of_each_query(id_of):
    qrels = {id_of(q): {id_of(doc): doc % 3 for doc in range(50)} for q in range(3)}
    expected = fastir.Qrels.from_dict(qrels).to_dict()

    def change(rng):
        judged = qrels[id_of(1)]
        for doc in rng.sample(range(1000, 10**6), 50):
            judged[id_of(doc)] = 7
        for doc in [doc for doc, label in list(judged.items()) if label == 7]:
            judged.pop(doc, None)
        qrels[id_of(1)] = dict(expected[id_of(1)])
        qrels[id_of(9)] = {}
        qrels.pop(id_of(9), None)

    for read in while_changing(change, lambda: fastir.Qrels.from_dict(qrels).to_dict()):
        read.pop(id_of(9), None)
        read[id_of(1)] = {doc: label for doc, label in read[id_of(1)].items() if label != 7}
        assert read == expected


def test_a_score_that_becomes_nan_is_an_error_or_was_not_seen():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}
    evaluator = fastir.Evaluator(qrels, "mrr")

    def change(rng):
        run["q"]["b"] = float("nan")
        run["q"]["b"] = 2.0

    def read():
        try:
            return evaluator.evaluate(run)["mrr"]
        except ValueError as error:
            assert "NaN" in str(error)
            return 0.5

    assert set(while_changing(change, read)) == {0.5}


def test_a_stand_in_reads_a_run_that_other_threads_change():
    qrels, run, change, states = changing(lambda doc: f"d{doc}", 30)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, ["map", "recip_rank"])
    allowed = [evaluator.evaluate({**run, "d0": state}) for state in states]
    for read in while_changing(change, lambda: evaluator.evaluate(run)):
        read.pop("d2", None)
        assert read in allowed


# ---- one object, many threads -----------------------------------------------------------------------------------
@pytest.mark.parametrize("qrels_from", ["text", "integers", "file"])
@pytest.mark.parametrize("run_as", ["dict", "integers", "lists", "held", "file", "table", "scattered"])
def test_what_is_made_when_first_asked_for_is_the_same_for_all_threads(qrels_from, run_as, tmp_path):
    if {qrels_from, run_as} == {"text", "integers"} or (qrels_from, run_as) == ("integers", "dict"):
        pytest.skip("text never matches integers")
    qrels, run = collection(id_of=int if qrels_from == "integers" else str)
    if qrels_from == "file":
        fastir.Qrels.from_dict(qrels).save(tmp_path / "qrels")
    if run_as == "integers":
        run = {int(query): {int(doc): score for doc, score in ranking.items()} for query, ranking in run.items()}
    given = run
    if run_as == "lists":
        given = {query: list(ranking) for query, ranking in run.items()}
    elif run_as == "held":
        given = fastir.Run.from_dict(run)
    elif run_as == "file":
        fastir.Run.from_dict(run).save(tmp_path / "run")
        given = tmp_path / "run"
    elif run_as in ("table", "scattered"):
        given = columns_of(run, np.random.default_rng(0).permutation(20 * 60) if run_as == "scattered" else None)

    def evaluator():
        held = fastir.Qrels.from_file(tmp_path / "qrels") if qrels_from == "file" else qrels
        return fastir.Evaluator(held, NAMES)

    expected = arrays(evaluator().evaluate(given))
    for _ in range(2):
        shared = evaluator()
        for got in together(lambda t, shared=shared: [arrays(shared.evaluate(given)) for _ in range(2)]):
            assert got == [expected] * 2


def test_qrels_are_prepared_once_for_all_threads():
    qrels, run = collection()
    for _ in range(4):
        held, held_run = fastir.Qrels.from_dict(qrels), fastir.Run.from_dict(run)
        assert len({id(made) for made in together(lambda t, held=held: held.columns.judged())}) == 1
        values = together(
            lambda t, held=held, held_run=held_run: (
                held.to_dict(), held_run.to_dict(), "3" in held,
                fastir.evaluate(held, held_run, NAMES).values.tobytes(),
            )
        )  # fmt: skip
        assert values == [(qrels, run, True, fastir.evaluate(qrels, run, NAMES).values.tobytes())] * N


@pytest.mark.parametrize(("aggregate", "run_as"), [("max", dict), ("mean", dict), ("max", list)])
def test_parents_are_looked_up_by_many_threads(aggregate, run_as):
    qrels, run = collection()
    if run_as is list:
        run = {query: list(ranking) for query, ranking in run.items()}
    evaluator = fastir.Evaluator(
        qrels, NAMES, parents={str(doc): str(doc - doc % 3) for doc in range(1000)}, aggregate=aggregate
    )
    expected = arrays(evaluator.evaluate(run))
    assert together(lambda t: arrays(evaluator.evaluate(run))) == [expected] * N


def test_results_are_read_by_many_threads():
    qrels, run = collection(n_docs=400)
    names = [f"ndcg@{k}" for k in range(1, 30)]

    def reading(results):
        return lambda t: (dict(results), results.report, results.convention, results.to_dict(), str(results))

    expected = reading(fastir.evaluate(qrels, run, names))(0)
    for _ in range(5):
        assert together(reading(fastir.evaluate(qrels, run, names))) == [expected] * N


@pytest.mark.parametrize("teams", [True, False], ids=["team", "Python threads"])
@pytest.mark.parametrize("n_threads", [None, 3])
def test_arrays_are_evaluated_by_many_threads(teams, n_threads, monkeypatch):
    monkeypatch.setattr(sharing, "teams", teams and sharing.OPENMP)
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 3, 60_000), np.round(rng.random(60_000), 2)
    matrix, wanted = rng.random((40, 500)), [[1, 5, 77]] * 40

    def work(t):
        return (
            fastir.evaluate_scores(labels, scores, NAMES, group=[100] * 600, n_threads=n_threads).values.tobytes(),
            fastir.evaluate_matrix(matrix, wanted, NAMES, n_threads=n_threads).values.tobytes(),
            stats.randomization_test(matrix[0], matrix[1], n_resamples=2000, n_threads=n_threads),
        )

    assert together(work) == [work(0)] * N


def test_blocks_of_a_file_meet_once(tmp_path, monkeypatch):
    """A query that comes back in the block of another thread is never missed."""
    monkeypatch.setattr(trec, "BLOCK_BYTES", 1 << 10)
    qrels, run = collection(100, 40)
    halves = [[f"{q} Q0 {doc} 0 {s} t\n" for q in run for doc, s in list(run[q].items())[part::2]] for part in (0, 1)]
    (tmp_path / "run").write_text("".join(halves[0] + halves[1]))
    expected = fastir.evaluate(qrels, run, NAMES).values.tobytes()
    evaluator = fastir.Evaluator(qrels, NAMES, n_threads=N)
    for _ in range(10):
        assert evaluator.evaluate(tmp_path / "run").values.tobytes() == expected


def test_batches_are_added_while_others_are_looked_at(monkeypatch):
    monkeypatch.setattr(tables, "STRETCH_ROWS", 64)
    pyarrow = pytest.importorskip("pyarrow")
    qrels, run = collection(100, 60)
    table = pyarrow.table(columns_of(run, np.random.default_rng(0).permutation(100 * 60)))
    table = pyarrow.Table.from_batches(table.to_batches(max_chunksize=500))
    expected = fastir.evaluate(qrels, run, NAMES).values.tobytes()
    evaluator = fastir.Evaluator(qrels, NAMES, n_threads=N)
    for _ in range(5):
        assert evaluator.evaluate(table).values.tobytes() == expected
