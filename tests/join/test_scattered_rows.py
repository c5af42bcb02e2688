"""Tables whose rows come in any order, at the widths at which their kernels count, cut and compare."""
# Also of: scattered.

import numpy as np
import pytest

import fastir
from fastir.evaluation.drivers.tables import STRETCH_ROWS


def table(queries, docs, scores, order=None):
    columns = {"query_id": np.asarray(queries), "doc_id": np.asarray(docs), "score": np.asarray(scores, float)}
    return columns if order is None else {name: column[order] for name, column in columns.items()}


@pytest.mark.parametrize("n", [1, 2, 127, 255, 256, 257, 511, 512, 513])
def test_a_tie_of_many_rows(n):
    """All scores of a query are equal, rows of another one stand between: as the dict has it."""
    docs = [f"d{i:04d}" for i in range(n)]
    run = {q: dict.fromkeys(docs, 1.0) for q in ("p", "q")}
    order = np.random.default_rng(n).permutation(2 * n)
    shuffled = table(["p"] * n + ["q"] * n, docs + docs, [1.0] * 2 * n, order)
    for place in {0, n // 2, n - 1}:
        qrels = {"p": {docs[place]: 1}, "q": {docs[0]: 1}}
        right = fastir.evaluate(qrels, run, ["mrr", "map"], ties="trec")
        found = fastir.evaluate(qrels, shuffled, ["mrr", "map"], ties="trec")
        assert found.values.tobytes() == right.values.tobytes()
        assert found.report.queries_with_ties == right.report.queries_with_ties


@pytest.mark.parametrize("threads", [1, 2])
def test_no_row_on_either_side_of_a_stretch_is_lost(threads):
    n = 3 * STRETCH_ROWS + 1
    edges = sorted({0, STRETCH_ROWS - 1, STRETCH_ROWS, 2 * STRETCH_ROWS - 1, 2 * STRETCH_ROWS, n - 2, n - 1})
    queries = np.arange(n) % 2
    rows = table(queries, np.arange(n), np.zeros(n))
    for edge in edges:
        rows["score"][:] = 0.0
        rows["score"][edge] = 1.0
        results = fastir.evaluate({0: {edge: 1, 2: 0}, 1: {edge: 1, 3: 0}}, rows, ["mrr", "num_ret"], n_threads=threads)
        assert results.values[:, 0].tolist() == [float(edge % 2 == 0), float(edge % 2 == 1)]
        assert results["num_ret"] == n


@pytest.mark.parametrize("later", [20_000, 39_998, 39_999])
@pytest.mark.parametrize("batches", [1, 2])
def test_a_duplicate_far_from_the_first(later, batches):
    pa = pytest.importorskip("pyarrow")
    n = 40_000
    docs = [f"d{i // 2:06d}" for i in range(n)]
    docs[later] = docs[later % 2]
    columns = pa.table({"query_id": [f"q{i % 2}" for i in range(n)], "doc_id": docs, "score": np.arange(n) * 1.0})
    cut = pa.concat_tables([columns.slice(0, n // batches), columns.slice(n // batches)])
    with pytest.raises(fastir.DuplicateError, match=f"duplicate document {docs[later]!r}"):
        fastir.evaluate({"q0": {"d000009": 1}, "q1": {"d000009": 1}}, cut, "map")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("queries", [2, None])
@pytest.mark.parametrize("n", [255, 256, 257, 1022, 1023, 2044, 2045, 8191, 8192, 8193, 16_385])
def test_a_duplicate_at_the_end_of_a_chunk_a_segment_or_a_bucket(n, queries):
    """In any of the last rows, by any number of threads; of two queries, or of queries of one row."""
    codes = np.arange(n) % (queries or n)
    codes[n - 1] = codes[0]  # so that they are in no order
    rows, qrels = table(codes, np.arange(n), np.arange(n)), {0: {0: 1}, 1: {1: 1}}
    right = fastir.evaluate(
        qrels, {q: {d: float(d) for d in np.flatnonzero(codes == q).tolist()} for q in qrels}, "map"
    )
    for threads in (1, 2):
        found = fastir.evaluate(qrels, rows, "map", n_threads=threads)
        assert found.values.tobytes() == right.values.tobytes()
    for later in (n - 3, n - 2, n - 1):
        again = {name: column.copy() for name, column in rows.items()}
        first = later % 2 if queries else 0
        again["query_id"][later], again["doc_id"][later] = codes[first], first
        for threads in (1, 2):
            with pytest.raises(fastir.DuplicateError, match=f"in rows {first} and {later};"):
                fastir.evaluate(qrels, again, "map", n_threads=threads)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_queries_that_the_qrels_lack_may_share_documents():
    """Far from the first rows, too, what stands twice is decided by query and document."""
    n = 40_000
    rows = table([f"f{i % 2}" for i in range(n)] + ["q"], [f"d{i // 2:06d}" for i in range(n)] + ["d"], [1.0] * (n + 1))
    assert fastir.evaluate({"q": {"d": 1}}, rows, "mrr")["mrr"] == 1
    rows["doc_id"][n - 1] = rows["doc_id"][n - 3]
    with pytest.raises(
        fastir.DuplicateError, match=f"duplicate document 'd019998' in query 'f1', in rows {n - 3} and {n - 1}"
    ):
        fastir.evaluate({"q": {"d": 1}}, rows, "mrr")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize(
    "known", [["3", "0", "12", "99999999"], ["3", "03"], ["3", "100000000"], ["3", "x"], [3, -4], [3, -(2**63), 2**62]]
)
def test_only_the_same_query_id_is_the_same_number(known):
    """Texts that look like a known number, or lie beside one in a table, are queries that the qrels lack."""
    texts = [
        "3", "03", "+3", " 3", "3 ", "-3", "٣", "", "4", "2", "0", "00", "12", "1:", "1/", "012", "99999999",
        "100000000",
    ]  # fmt: skip
    numbers = [3, -4, -5, 2, 4, 0, 2**62, 2**62 + 1, -(2**63), 2**63 - 1]
    queries = (texts if isinstance(known[0], str) else numbers) * 20
    run = {query: {f"d{i}": float(i) for i in range(20)} for query in queries}
    rows = [(query, doc, score) for doc in run[known[0]] for query, score in ((q, run[q][doc]) for q in run)]
    qrels = {query: {f"d{i}": 1} for i, query in enumerate(known)}
    right = fastir.evaluate(qrels, run, ["mrr", "num_ret"])
    found = fastir.evaluate(qrels, table(*map(list, zip(*rows, strict=True))), ["mrr", "num_ret"])
    assert found.values.tobytes() == right.values.tobytes()


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_texts_of_different_lengths_are_different_queries():
    """A hash of a text to which its length is added finds "2" and "12" alike, whatever its seed is."""
    digits = [*map(str, range(2000)), *(f"0{i}" for i in range(1200))]
    longer = [head + "x" * n for n in range(20) for head in ("", "y", "\x01", "\x02\x03")]
    queries = sorted({*digits, *longer})
    rows = [(query, doc, 1.0) for doc in ("a", "b") for query in [*queries, "known"]]
    found = fastir.evaluate({"known": {"a": 1}}, table(*map(list, zip(*rows, strict=True))), "mrr")
    assert found.report.only_in_run == len(queries)
