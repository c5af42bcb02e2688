"""Pickles of Qrels, Run and Evaluator that were damaged: an error, or other numbers, but no crash."""
# Also of: qrels, qrels_columns, run.

import pickle
import subprocess
import sys

import numpy as np
import pytest
from processes import patient

import fastir
from fastir.engine.columns.ids import Arena

QRELS = fastir.Qrels.from_dict({"q": {"a": 1, "b": 0}, "p": {"c": 2}})


def run_of_a_file(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\np Q0 c 1 1.0 t\n")
    return fastir.Run.from_file(path)


@pytest.mark.parametrize(
    "offsets", [[0, 10**8, 3], [0, 2], [0, 4, 3], [0, -1, 3], [1, 2, 3], [0, 2, 2], [0, 2, 4], [0, 2, 3, 3]]
)
def test_offsets_that_do_not_fit_are_refused(offsets, tmp_path):
    offsets = np.array(offsets)
    with pytest.raises(ValueError, match="offsets"):
        fastir.evaluate(fastir.Qrels(["q", "p"], offsets, ["a", "b", "c"], np.array([1, 0, 2], np.int32)), "x", "map")
    run = run_of_a_file(tmp_path)
    for kind, rows in ((fastir.Qrels, QRELS), (fastir.Run, run)):
        load, (_, query_ids, _, ids, numbers, repairs), *_ = rows.__reduce__()
        with pytest.raises(ValueError, match="are damaged: ids, offsets"):
            load(kind, query_ids, offsets, ids, numbers, repairs)


@pytest.mark.parametrize(("starts", "lengths"), [
    ([0, 10**9], [1, 1]), ([0, 2], [1, 2]), ([-1, 1], [1, 1]), ([0, 1], [1, -1]),
    ([0, 1], [1, 2**63 - 1]), ([0], [1, 1]),
])  # fmt: skip
def test_ids_outside_their_text_are_refused(starts, lengths):
    load, (text, _, _, integers) = Arena.of(["a", "bc"]).__reduce__()
    with pytest.raises(ValueError, match="outside their text"):
        load(text, np.array(starts), np.array(lengths), integers)


def test_what_is_whole_comes_back(tmp_path):
    run = run_of_a_file(tmp_path)
    for rows in (QRELS, run, fastir.Qrels.from_dict({1: {2: 3}}), fastir.Run.from_dict({1: {2: 3.0}})):
        assert pickle.loads(pickle.dumps(rows)) == rows


FLIP = """
import pickle, random, sys, warnings
import fastir
warnings.simplefilter("ignore")
sys.setrecursionlimit(2000)
random.seed(int(sys.argv[1]))
qrels = fastir.Qrels.from_dict({f"q{q}": {f"d{i}": i % 3 for i in range(20)} for q in range(4)})
run = fastir.Run.from_file(sys.argv[2])
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for kept in (qrels, run, fastir.Evaluator(qrels, ["ndcg@10", "map"])):
    whole = pickle.dumps(kept)
    # Only what stands in the columns: other opcodes make other objects, and a pickle is no place to be safe from these.
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(random.randrange(1, 4)):
            data[random.randrange(len(data) // 4, len(data))] = random.randrange(256)
        try:
            made = pickle.loads(bytes(data))
            if isinstance(made, fastir.Evaluator):
                made.evaluate(run)
            elif isinstance(made, fastir.Run):
                fastir.evaluate(qrels, made, ["ndcg@10", "map"])
            elif isinstance(made, fastir.Qrels):
                fastir.evaluate(made, run, ["ndcg@10", "map"])
        except Exception:
            pass
print("alive")
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bytes_changed_at_random_do_not_crash(seed, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("".join(f"q{q} Q0 d{i} 1 {50 - i} t\n" for q in range(4) for i in range(50)))
    done = subprocess.run(
        [sys.executable, "-c", FLIP, str(seed), str(path)], capture_output=True, text=True, timeout=patient(120)
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-500:]
