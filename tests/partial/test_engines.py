"""docs/at_scale.md is true, but for Spark: its blocks run, with the bits of one machine; absent engines skip."""

import contextlib
import functools
import importlib
import io
import multiprocessing
import pickle
import shutil
import subprocess
import sys

import pytest
from common import EXAMPLES, ROOT, UNEVEN
from pages import sections
from processes import patient

import fastir

PAGE = ROOT / "docs" / "at_scale.md"
METRICS = ["ndcg@10", "map"]
COMMON = "two passes"  # in the head of the section whose functions the engines use
NEEDS = {  # by the heads of the sections
    "One machine": [], "Parts": [], "multiprocessing": [], "joblib": ["joblib"],
    "Dask": ["pandas", "dask.dataframe"], "Ray Data": ["ray"], "polars": ["polars"], "DuckDB": ["duckdb"],
    "MPI": ["mpi4py.MPI"],
}  # fmt: skip
pytestmark = [UNEVEN, pytest.mark.skipif(not PAGE.is_file(), reason="needs the pages")]


def run(found, names):
    printed = ""
    for language, code in found:
        if language == "text":
            assert printed == code
            continue
        assert language == "python"
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, PAGE.name, "exec"), names)
        printed = out.getvalue()


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the blocks that all engines share define."""
    pytest.importorskip("pyarrow")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    found, made = sections(PAGE), {}
    run(found[""] + found["One machine"], made)
    run(next(found[head] for head in found if COMMON in head), made)
    return made


@pytest.fixture
def two_cores_of_ray(monkeypatch):
    import ray

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def needed(modules):
    for module in modules:
        try:
            importlib.import_module(module)
        except (ImportError, RuntimeError) as missing:  # the latter: mpi4py without a library of MPI
            pytest.skip(f"could not import {module!r}: {missing}")


def same(found):
    expected = fastir.evaluate("examples/qrels.txt", "examples/bm25.run", METRICS)
    assert found == expected and found.values.tobytes() == expected.values.tobytes()
    assert [repr(mean) for mean in dict(found).values()] == [repr(mean) for mean in dict(expected).values()]


def test_every_section_is_tested():
    heads = [head for head in sections(PAGE) if head and COMMON not in head]
    assert heads == [*NEEDS, "Spark"]


@pytest.mark.parametrize("head", NEEDS)
def test_an_engine_gives_the_bits_of_one_machine(head, names, monkeypatch, request):
    needed(NEEDS[head])
    if head == "multiprocessing" and sys.platform != "linux":
        pytest.skip("the page says where the block stands on systems that start processes afresh")
    if head == "Ray Data":
        request.getfixturevalue("two_cores_of_ray")
    if head == "multiprocessing":
        monkeypatch.setattr(multiprocessing.context, "_default_context", multiprocessing.get_context("fork"), False)
    if head != "One machine":
        names.pop("results")
        run(sections(PAGE)[head], names)
    same(names["results"])
    if "grouped" in names:
        same(names["grouped"])


def test_processes_of_mpi_have_the_bits_of_one_machine(names, tmp_path):
    needed(NEEDS["MPI"])
    launcher = shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("there is no mpiexec")
    head = 'import fastir\nevaluator = fastir.Evaluator("examples/qrels.txt", ["ndcg@10", "map"], validate="judged")\n'
    (code,) = [code for _, code in sections(PAGE)["MPI"]]
    (tmp_path / "program.py").write_text(head + code + 'results.save(f"{world.rank}.json")\n')
    subprocess.run([launcher, "-n", "3", sys.executable, "program.py"], check=True, timeout=patient(100))
    for rank in range(3):
        same(fastir.load_results(f"{rank}.json"))


def test_a_reduction_of_pickled_states_is_what_mpi_does(names):
    evaluator, files = names["evaluator"], names["files"]

    def merged(one, other):
        one, other = pickle.loads(one), pickle.loads(other)
        one.merge(other)
        return pickle.dumps(one)

    def of_all(work):
        return pickle.loads(functools.reduce(merged, [pickle.dumps(work(file)) for file in files]))

    first = of_all(functools.partial(evaluator.partial, strategy="two-pass"))
    second = evaluator.partial(after=first)
    second.merge(of_all(functools.partial(evaluator.partial, after=first)))
    same(second.result())
