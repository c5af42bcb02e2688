"""Every allocation of fastir's own fails once, in every entry point: MemoryError or the right value, and no crash."""

import os
import platform
import shutil
import subprocess

import pytest
from common import ROOT
from processes import python

pytestmark = [
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="takes the place of glibc's malloc"),
    pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc"),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="something else is preloaded, such as a sanitizer"),
]

# What makes the objects that a call needs, which may themselves run out of memory, and the call. evaluate_nuggets and
# evaluate_citations are not among them: they allocate by NumPy alone.
CALLS = {
    "dict": ("", "fastir.evaluate(qrels, run, names)"),
    "dict, prepared": ("evaluator = fastir.Evaluator(qrels, names)", "evaluator.evaluate(run)"),
    "dict, second": ("evaluator = fastir.Evaluator(qrels, names); evaluator.evaluate(run)", "evaluator.evaluate(run)"),
    "dict, all options": ("", "fastir.evaluate(qrels, run, names, ties='average', empty='one', rel_level=2)"),
    "integer ids": ("", "fastir.evaluate({1: {2: 1, 3: 0}}, {1: {3: 2.0, 2: 2.0}}, names)"),
    "file": ("evaluator = fastir.Evaluator(qrels, names)", "evaluator.evaluate(folder + '/run')"),
    "file, threads": ("evaluator = fastir.Evaluator(qrels, names, n_threads=2)", "evaluator.evaluate(folder + '/run')"),
    "files": ("", "fastir.evaluate(folder + '/qrels', folder + '/run', names, n_threads=1)"),
    "Qrels": ("judged = fastir.Qrels.from_file(folder + '/qrels')", "fastir.evaluate(judged, run, names)"),
    "Run": ("ranked = fastir.Run.from_file(folder + '/run')", "fastir.evaluate(qrels, ranked, names)"),
    "Run from dict": ("ranked = fastir.Run.from_dict(run)", "fastir.evaluate(qrels, ranked, names)"),
    "columns": ("", "fastir.evaluate(qrels, columns, names, n_threads=1)"),
    "columns in any order": ("", "fastir.evaluate(qrels, mixed, names, n_threads=1)"),
    "columns of integers": ("", "fastir.evaluate({1: {2: 1, 3: 0}}, whole, names, n_threads=1)"),
    "labels": ("", "fastir.evaluate_ranked(labels, offsets, names, n_threads=1)"),
    "labels, threads": ("", "fastir.evaluate_ranked(labels, offsets, names, n_threads=2)"),
    "scores": ("", "fastir.evaluate_scores(labels, scores, names, offsets=offsets, n_threads=1)"),
    "scores, wide": ("", "fastir.evaluate_scores(labels * 1000, scores, wide_names, offsets=offsets, n_threads=1)"),
    "scores, average": ("", "fastir.evaluate_scores(labels, scores, names, offsets=offsets, ties='average')"),
    "matrix": ("", "fastir.evaluate_matrix(grid, relevant, names, exclude=excluded, n_threads=1)"),
    "items": ("", "fastir.evaluate_topk(items, relevant, names, n_threads=1)"),
    "items with scores": ("", "fastir.evaluate_topk(items, relevant, names, scores=grid[:, :5], n_threads=1)"),
    "explanation": ("evaluator = fastir.Evaluator(qrels, names)", "evaluator.explain(run, 'q1')"),
    "fuse": ("", "fastir.fuse([run, mixed], 'wsum', 'zmuv', [1, 2], n_threads=1).to_dict()"),
    "tune": ("", "fastir.tune(qrels, [run, mixed], 'ndcg@10', folds=2, n_threads=1)"),
    "identify": ("", "fastir.identify(qrels, run, {'ndcg@10': 0.5})"),
    "check": ("", "fastir.check(folder + '/qrels', folder + '/run')"),
    "report": ("", "(fastir.write_report(qrels, {'a': run}, names, folder + '/x'), open(folder + '/x').read())"),
    "evidence": ("judged = fastir.Qrels.from_sets(sets)", "fastir.evaluate(judged, run, 'evidence_mrr')"),
    "min_score": ("", "fastir.evaluate(qrels, run, names, min_score=1)"),
    "ties_report": ("", "fastir.evaluate(qrels, run, names, ties_report=True).ties()"),
    "costs": ("", "fastir.evaluate(qrels, run, ['recall(budget=20)', 'cost_first_rel'], doc_costs=costs)"),
    "forbidden": ("", "fastir.evaluate(qrels, run, names, forbidden={'q1': {'d3'}})"),
    "exposure": ("", "fastir.evaluate(qrels, run, 'awrf@5', doc_groups=groups, target={'m': 0.5, 'f': 0.5})"),
    "expected exposure": ("", "fastir.expected_exposure(qrels, [run], groups, {'m': 0.5, 'f': 0.5})"),
}  # fmt: skip
EACH = {"identify": 50}  # of how many allocations one fails; a call of it tries thousands of settings


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    target = tmp_path_factory.mktemp("library") / "failing_malloc.so"
    source = ROOT / "tests" / "support" / "failing_malloc.c"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", target, source, "-ldl"], check=True, capture_output=True)
    return target


@pytest.mark.parametrize("name", CALLS)
def test_any_one_allocation_may_fail(name, library, tmp_path):
    (tmp_path / "run").write_text("".join(f"q{i} Q0 d{j} 1 {j % 4} t\n" for i in range(5) for j in range(40)))
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d{j} {j % 3}\n" for i in range(5) for j in range(0, 50, 2)))
    made, call = CALLS[name]
    out = python(f"""
        folder = sys.argv[1]
        names, wide_names = ["ndcg@10", "map", "bpref", "num_ret", "rbp"], ["ndcg@10", "map", "recall"]
        qrels = {{f"q{{i}}": {{f"d{{j}}": j % 3 for j in range(0, 50, 2)}} for i in range(5)}}
        run = {{f"q{{i}}": {{f"d{{j}}": float(j % 4) for j in range(40)}} for i in range(5)}}
        rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
        table = lambda rows: dict(zip(("query_id", "doc_id", "score"), map(np.array, zip(*rows))))
        columns, mixed = table(rows), table(sorted(rows, key=lambda row: row[1]))
        whole = {{"query_id": np.array([1, 1]), "doc_id": np.array([3, 2]), "score": np.array([2.0, 2.0])}}
        labels = np.resize(np.array([0, 1, 2, -1, -2, 3]), 600).astype("i4")
        scores, offsets = np.resize(np.arange(37.0), 600), np.arange(0, 601, 100)
        grid = np.resize(np.arange(11.0), (6, 50))
        relevant, excluded = (np.arange(0, 13, 2), np.resize([1, 7], 12)), (np.arange(7), np.arange(6))
        items = np.resize(np.arange(5), (6, 5))
        sets = {{query: [["d1", "d7"], ["d9"]] for query in qrels}}
        costs, groups = {{}}, {{}}
        for j in range(50):
            costs[f"d{{j}}"], groups[f"d{{j}}"] = j % 5 + 1, {{"mf"[j % 2]: 1.0}}
        memory = ctypes.CDLL(None)
        def call():
            {made or "pass"}
            return {call}
        bits = lambda found: found.values.tobytes() if isinstance(found, fastir.Results) else str(found)
        import warnings
        warnings.simplefilter("ignore")
        expected = bits(call())
        memory.failing_malloc_arm.argtypes = [ctypes.c_long]
        memory.failing_malloc_arm(1 << 30)
        call()
        n = memory.failing_malloc_seen()
        short = 0
        for nth in range(1, n + 1, {EACH.get(name, 1)}):
            memory.failing_malloc_arm(nth)
            try:
                assert bits(call()) == expected, nth
            except MemoryError:
                short += 1
            memory.failing_malloc_arm(0)
        assert bits(call()) == expected
        print(n, short)
    """, tmp_path, env={**os.environ, "LD_PRELOAD": str(library)})  # fmt: skip
    n, short = map(int, out.split())
    assert n > 0 and short > 0, "no allocation was seen to fail"
