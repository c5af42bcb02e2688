"""Memory, and sizes that wrap around in 31 or 32 bits: the cases L01 to L06 of the catalogue, each in its own process.

Those marked `large` write files of gigabytes or fill as much memory: `pytest -m large` runs them.
"""

import json
import sys

import pytest
from processes import patient, python

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses /proc and resource as on Linux")
large = pytest.mark.large
PEAK = """
def peak():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
def forget_the_peak():
    open("/proc/self/clear_refs", "w").write("5")
"""


def run_file(path, queries, documents):
    """A run of so many queries, q0000000 and on, with the documents d0 and on, scores falling."""
    lines = "".join(f"q0000000 Q0 d{doc} 1 {documents - doc} t\n" for doc in range(documents)).encode()
    with open(path, "wb", 1 << 24) as file:
        for query in range(queries):
            file.write(lines.replace(b"q0000000", b"q%07d" % query))
    return path


def qrels_file(path, size):
    """Qrels of exactly so many bytes; the second field, which nobody reads, makes lines long. Return how many lines."""
    pad, lines = "x" * 960, 0
    with open(path, "wb", 1 << 24) as file:
        while size:
            line = f"q{lines // 1000} {pad} d{lines % 1000} 1\n".encode()
            if size < 2 * len(line):
                line = line.replace(b" x", b" " + b"x" * (size - len(line) + 1))
            size -= file.write(line)
            lines += 1
    return lines


@large
@pytest.mark.parametrize("size", [2**31 + 20, 2**32 + 200], ids=["L01", "L02"])
def test_l01_l02_qrels_of_gigabytes(size, tmp_path):
    """All lines count, the last one, too."""
    path = tmp_path / "qrels"
    try:
        lines = qrels_file(path, size)
        assert path.stat().st_size == size
        query, doc = divmod(lines - 1, 1000)
        run = json.dumps({f"q{query}": {"d_": 3.0, "e": 2.0, f"d{doc}": 1.0}, "q0": {"d0": 1.0}})
        out = python(
            """
            metrics = ["num_rel", "num_rel_ret", "mrr"]
            results = fastir.evaluate(sys.argv[1], json.loads(sys.argv[2]), metrics, queries="qrels")
            print(int(results["num_rel"]), int(results["num_rel_ret"]), results.values[-1, 2], len(results.query_ids))
        """,
            path, run, timeout=patient(600),
        )  # fmt: skip
        assert out.split() == [str(lines), "2", str(1 / 3), str(query + 1)]
    finally:
        path.unlink()


@large
@pytest.mark.parametrize("together", [False, True], ids=["grouped", "scattered"])
def test_l03_a_run_of_179_million_lines(together, tmp_path):
    """Records of 24 bytes would wrap in 32 bits; scattered, the first query comes back in the last line."""
    n, path = 178_956_971, tmp_path / "run"
    try:
        run_file(path, n // 1000, 1000)
        with open(path, "ab") as file:
            last = "q0000000" if together else f"q{n // 1000 - 1:07}"
            file.write("".join(f"{last} Q0 x{doc} 1 {-doc} t\n" for doc in range(n % 1000)).encode())
        out = python(
            """
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            last = f"q{178_955:07}"
            qrels = {"q0000000": {"d2": 1, "x970": 1}, last: {"d999": 1, "x970": 1}}
            try:
                results = fastir.evaluate(qrels, sys.argv[1], ["mrr", "num_ret", "num_rel_ret"], queries="qrels")
            except MemoryError:
                print("MemoryError")
            else:
                print(*results.values.ravel().tolist())
        """,
            path,
            timeout=patient(900),
        )
        more = [1971.0, 2.0], [1000.0, 1.0]
        first, other = more if together else more[::-1]
        assert out in ("MemoryError\n", f"{1 / 3} {first[0]} {first[1]} 0.001 {other[0]} {other[1]}\n")
        assert together or out != "MemoryError\n"
    finally:
        path.unlink()


def test_l04_memory_of_a_run_entry(tmp_path):
    """At most 48 bytes a document, ids included."""
    n = 500 * 1000
    out = python(
        PEAK
        + """
fastir.Run.from_file(sys.argv[2])
before = resident()
run = fastir.Run.from_file(sys.argv[1])
print(run.columns.n_rows, resident() - before)
""",
        run_file(tmp_path / "run", 500, 1000),
        run_file(tmp_path / "small", 1, 10),
    )
    rows, grown = map(int, out.split())
    assert rows == n and grown / n <= 48


@large
def test_l05_more_labels_than_31_bits_count():
    """The only relevant one is the last; where one query has them all, its scratch may be more memory than there is."""
    out = python(
        """
        n = 2**31 + 8
        labels = np.zeros(n, np.int8)
        labels[-1] = 1
        results = fastir.evaluate_ranked(labels, np.append(np.arange(0, n, 2**20), n), ["num_ret", "mrr"])
        print(results["num_ret"] == n, results.values[:-1, 1].any(), results.values[-1].tolist())
        try:
            results = fastir.evaluate_ranked(labels, [0, n], ["num_ret", "mrr"])
        except MemoryError:
            print("MemoryError")
        else:
            print(results.values[0].tolist() == [n, 1 / n])
    """,
        timeout=patient(600),
    )
    assert out in [f"True False [8.0, 0.125]\n{last}\n" for last in ("True", "MemoryError")]


def test_l06_more_offsets_than_31_bits_count():
    """Empty queries, which take no memory before they come in: a MemoryError under 16 GiB, and a living interpreter."""
    out = python("""
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        offsets = np.broadcast_to(np.int64(0), 2**31 + 8)
        try:
            fastir.evaluate_ranked([], offsets, ["mrr"])
        except MemoryError:
            print("MemoryError", fastir.evaluate(QRELS, RUN, "mrr")["mrr"])
    """)
    assert out == "MemoryError 0.75\n"


# ---- streams -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_of_seven_million_rows_in_batches(threads):
    """Rows grouped by query, from a generator that was warmed up: at most 100 MB."""
    pytest.importorskip("pyarrow")
    out = python(
        PEAK
        + """
import pyarrow
threads, queries, documents = int(sys.argv[1]), 7000, 1000
schema = pyarrow.schema([("query_id", pyarrow.string()), ("doc_id", pyarrow.string()), ("score", pyarrow.float64())])
def reader(queries):
    def batches():
        docs = np.tile(np.arange(documents), 50).astype(str)
        scores = np.tile(-np.arange(float(documents)), 50)
        for first in range(0, queries, 50):
            ids = np.repeat(np.arange(first, first + 50), documents).astype(str)
            yield pyarrow.record_batch([pyarrow.array(ids), pyarrow.array(docs), pyarrow.array(scores)], schema=schema)
    return pyarrow.RecordBatchReader.from_batches(schema, batches())
evaluator = fastir.Evaluator({str(query): {str(query % 10): 1} for query in range(queries)}, METRICS, queries="qrels",
                             n_threads=threads)
assert sum(batch.num_rows for batch in reader(100)) == 100 * documents
evaluator.evaluate({"0": {"0": 1.0}})
before = resident()
forget_the_peak()
results = evaluator.evaluate(reader(queries))
print(peak() - before, results["mrr"] == sum(1 / rank for rank in range(1, 11)) / 10, results.report.unjudged_share)
""",
        threads,
    )
    grown, right, unjudged = out.split()
    assert int(grown) <= 100 << 20 and right == "True" and unjudged == "0.999"


@pytest.mark.parametrize("queries", [2000, pytest.param(12000, marks=large)])
@pytest.mark.parametrize("threads", [1, 4])
def test_memory_of_a_file(threads, queries, tmp_path):
    """A run of 50 MB, or 300 MB, is read in at most 40 MB, or 60 MB, above the import."""
    path = run_file(tmp_path / "run", queries, 1000)
    out = python(
        PEAK
        + """
before = resident()
forget_the_peak()
qrels = {f"q{query:07}": {f"d{query % 10}": 1} for query in range(int(sys.argv[3]))}
results = fastir.evaluate(qrels, sys.argv[1], METRICS, n_threads=int(sys.argv[2]))
print(peak() - before, results["p@5"])
""",
        path, threads, queries,
    )  # fmt: skip
    size, (grown, precision) = path.stat().st_size, out.split()
    path.unlink()
    assert size > (45 << 20 if queries == 2000 else 284 * 10**6)
    assert int(grown) <= (40 << 20 if queries == 2000 else 60 << 20) and precision == "0.1"
