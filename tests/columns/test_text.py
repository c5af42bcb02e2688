"""The hash of ids has a seed of its own in every process: values do not depend on it, and nobody can foresee it."""

import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from processes import patient, python

import fastir

EVALUATE = """
import hashlib, pickle, sys, tempfile, pathlib
import numpy as np
import fastir

random = np.random.default_rng(7)
qrels = {f"q{q}": {f"doc-{d:08d}": int(random.integers(-1, 4)) for d in random.integers(0, 900, 60)} for q in range(25)}
run = {f"q{q}": {f"doc-{d:08d}": float(random.integers(0, 300)) for d in random.integers(0, 900, 400)}
       for q in range(3, 30)}
rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
order = random.permutation(len(rows))
numbers = {"query_id": [0] * len(rows), "doc_id": [0] * len(rows)}
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "run.txt")
    file.write_text("".join(f"{q} Q0 {d} 1 {s!r} tag\\n" for q, d, s in rows))
    shuffled = pathlib.Path(folder, "shuffled.txt")
    shuffled.write_text("".join("{} Q0 {} 1 {!r} tag\\n".format(*rows[i]) for i in order))
    columns = [np.array([rows[i][c] for i in order]) for c in range(3)]
    table = dict(zip(("query_id", "doc_id", "score"), columns))
    metrics = ['ndcg@10', 'ndcg', 'map', 'mrr', 'bpref', 'P@5', 'recall@100', 'err@10', 'rbp', 'infap', 'judged@10']
    evaluator = fastir.Evaluator(qrels, metrics, queries="qrels")
    whole = lambda data: {int(q[1:]): {int(d[4:]): x for d, x in docs.items()} for q, docs in data.items()}
    integers = fastir.Evaluator(whole(qrels), metrics, queries="qrels")
    out = hashlib.sha256()
    for one, what in ((evaluator, run), (evaluator, run), (evaluator, file), (evaluator, shuffled), (evaluator, table),
                      (evaluator, fastir.Run.from_dict(run)), (evaluator, fastir.Run.from_file(shuffled)),
                      (integers, whole(run)), (integers, whole(run))):
        results = one.evaluate(what)
        out.update(results.values.tobytes() + repr(results.report).replace(folder, "").encode())
        out.update(repr((list(results), results.query_ids)).encode())
    out.update(repr(fastir.Run.from_file(shuffled).to_dict()).encode())
    twice = pathlib.Path(folder, "twice.txt")
    twice.write_text(shuffled.read_text() + shuffled.read_text())
    for path in (twice, {name: np.concatenate([column, column]) for name, column in table.items()}):
        try:
            evaluator.evaluate(path)
        except fastir.DuplicateError as error:
            out.update(str(error).replace(folder, "").encode())
print(out.hexdigest())
"""


def printout(code, seed, **environment):
    """What Python code prints in a process of its own, where the seed is set or, as None, is not."""
    variables = {name: value for name, value in os.environ.items() if name != "FASTIR_HASH_SEED"} | environment
    if seed is not None:
        variables["FASTIR_HASH_SEED"] = seed
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=patient(120)
    )


def test_nothing_depends_on_the_seed():
    """Values, reports, the order of queries and of what a Run holds, and messages, over every shape of a run."""
    seen = {printout(EVALUATE, seed).stdout for seed in ("0", "1", str(2**64 - 1), None)}
    assert len(seen) == 1
    assert len(seen.pop()) == 65


@pytest.mark.parametrize("seed", ["-1", str(2**64), "x", "1.0", "٣", "9" * 5000])
def test_a_seed_is_a_word(seed):
    done = printout("import fastir; fastir.Qrels", seed)
    assert done.returncode == 1
    assert "FASTIR_HASH_SEED must be an integer from 0 to 2^64 - 1, got" in done.stderr


def test_an_empty_seed_is_none():
    assert printout("import fastir; fastir.Qrels; print(1)", "").stdout == "1\n"


MASK, HALF = 2**64 - 1, 2**32 - 1


def old_state(word, n):
    """The state of the hash without a seed, after the first of two words."""
    h = (n ^ word) * 0xD6E8FEB86659FD93 & MASK
    return h ^ h >> 32


def colliding(n):
    """Ids of 16 bytes that had one and the same hash before there was a seed."""
    random = np.random.default_rng(3)
    ids = []
    while len(ids) < n:
        first = bytes(random.integers(97, 123, 8, np.uint8))
        last = (old_state(int.from_bytes(first, "little"), 16) ^ 0x5DEECE66D).to_bytes(8, "little")
        if not set(last) & set(b" \t\n\r\v\f\0"):
            ids.append(first + last)
    return ids


def flip(bits):
    """2^bits ids that would have one hash, whatever the seed is, if only the lower half of a product counted.

    The highest bit of a word would then become two known bits of the next one.
    """
    pairs = [
        b"abcdefghijklmnop",
        bytes([*b"abcdefg", ord("h") ^ 128, *b"ijk", ord("l") ^ 128, *b"mno", ord("p") ^ 128]),
    ]
    return [b"".join(chosen) for chosen in itertools.product(pairs, repeat=bits)]


@pytest.mark.parametrize("make", [lambda: colliding(150_000), lambda: flip(17)], ids=["words", "bits"])
def test_ids_that_were_made_to_collide_take_no_longer_than_others(make, tmp_path):
    """Half a second; if each is compared with all before it, minutes."""
    ids = make()
    assert len(set(ids)) == len(ids) > 130_000
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_bytes(b"".join(b"q Q0 %s 1 %d t\n" % (name, i) for i, name in enumerate(ids)))
    qrels.write_bytes(b"".join(b"q 0 %s 1\n" % name for name in ids))
    found = python("print(fastir.evaluate(sys.argv[1], sys.argv[2], 'num_rel_ret')['num_rel_ret'])", qrels, run)
    assert float(found) == len(ids)


def spread(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def foreseen(n, slots):
    """n integers that fall into one slot of a table, in a process whose seed is 0."""
    start, factor = spread(0x9E3779B97F4A7C15), spread(2 * 0x9E3779B97F4A7C15 & MASK) | 1

    start, factor, low, high = map(np.uint64, (start, factor, factor & HALF, factor >> 32))

    def fold(x):
        """The lower 64 bits of x * factor, and those above."""
        below, middle = (x & HALF) * low, (x & HALF) * high
        carried = (x >> 32) * low + (below >> 32) + (middle & HALF)
        return x * factor ^ (x >> 32) * high + (middle >> 32) + (carried >> 32)

    ids, block = [], np.arange(1 << 16, dtype=np.uint64)
    while len(ids) < n:
        ids += block[fold(fold(start ^ block) ^ start ^ np.uint64(8)) % slots == 7].tolist()
        block += np.uint64(len(block))
    return ids[:n]


def test_a_run_of_ids_that_were_foreseen_is_sorted():
    """Who knows the seed can make a table long to search: it is given up, and duplicates are found by sorting."""
    ids = foreseen(400, 1024)
    code = (
        "import fastir, numpy as np;"
        f"ids = {ids};"
        "run = lambda ids: {'query_id': np.zeros(len(ids), int), 'doc_id': np.array(ids),"
        "                   'score': np.arange(len(ids), 0, -1.)};"
        "print(fastir.evaluate({0: {ids[9]: 1}}, run(ids), 'mrr')['mrr'] == 1 / 10)\n"
        "try: fastir.evaluate({0: {ids[9]: 1}}, run([*ids, ids[300], ids[2]]), 'mrr')\n"
        "except fastir.DuplicateError as error: print(error)"
    )
    done = [printout(code, seed) for seed in ("0", "1")]
    assert done[0].stdout == done[1].stdout
    assert done[0].stdout.startswith("True\n") and str(ids[300]) in done[0].stdout


def test_qrels_of_ids_that_were_foreseen_are_refused():
    ids = foreseen(1100, 8192)
    code = (
        "import fastir, numpy as np;"
        f"ids = {ids};"
        "run = {'query_id': np.zeros(1, int), 'doc_id': np.array(ids[:1]), 'score': np.ones(1)};"
        "print(fastir.evaluate({0: dict.fromkeys(ids, 1)}, run, 'mrr')['mrr'])"
    )
    assert printout(code, "1").stdout == "1.0\n"
    assert "RuntimeError: 1024 ids collide in a table of hashes" in printout(code, "0").stderr


def test_a_pickle_holds_nothing_that_was_made_with_the_seed():
    """What one process pickles, another with a different seed reads and evaluates to the same values."""
    code = (
        "import fastir, pickle, sys;"
        "qrels = fastir.Qrels.from_dict({'q': {f'd{i}': i % 3 for i in range(300)}});"
        "run = fastir.Run.from_dict({'q': {f'd{i}': float(i % 7) for i in range(500)}});"
        "fastir.evaluate(qrels, run, 'ndcg'); fastir.evaluate(qrels, run.to_dict(), 'ndcg');"
        "print(pickle.dumps((qrels, run, fastir.evaluate(qrels, run, 'ndcg'))).hex())"
    )
    texts = [printout(code, seed).stdout for seed in ("1", "2")]
    assert texts[0] == texts[1] != ""
    qrels, run, results = pickle.loads(bytes.fromhex(texts[0]))
    assert fastir.evaluate(qrels, run, "ndcg").values.tobytes() == results.values.tobytes()
