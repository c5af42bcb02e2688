"""Parquet files of rows in no order, read twice and not kept: the bits of a run in memory, and errors with rows."""

import threading

import gen
import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.data.results.report import Report
from fastir.evaluation.partial import row_groups

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = UNEVEN

READ_TWICE = "only judged documents checked for duplicates"
SINGLE = ["trec", "doc_id_asc", "optimistic", "pessimistic"]
METRICS = ["ndcg@5", "map", "mrr", "P@3", "bpref", "judged@5", "rbp(p=0.5)", "num_ret"]
QRELS = {"1": {"10": 1, "11": 2, "12": 0}, "2": {"10": 1, "13": 1}, "3": {"14": 1}}
RUN = [("1", "10", 3.0), ("1", "20", 4.0), ("2", "13", 1.0), ("2", "10", 1.0), ("1", "11", 3.0), ("2", "21", 1.0)]


@pytest.fixture(autouse=True)
def nothing_is_held(monkeypatch):
    monkeypatch.setattr(row_groups, "MAX_ROWS_IN_MEMORY", 0)


def rows_of(run):
    return [(query, doc, float(score)) for query, docs in run.items() for doc, score in docs.items()]


def table(rows, names=("query_id", "doc_id", "score")):
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    kinds = (pyarrow.string(), pyarrow.string(), pyarrow.float64()) if not rows else (None, None, None)
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pyarrow.table(arrays, names=list(names))


def written(folder, parts, size=2, **more):
    """A folder of files with these parts, in row groups of this many rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(parts):
        parquet.write_table(table(rows, **more), folder / f"{number}.parquet", row_group_size=size)
    return folder


def alternating(rows, n=2):
    return [rows[first::n] for first in range(n)]


def same(found, expected):
    assert found == expected and found.values.tobytes() == expected.values.tobytes()
    assert [repr(mean) for mean in dict(found).values()] == [repr(mean) for mean in dict(expected).values()]
    for name in set(Report.__slots__) - {"repairs", "only_in_run_example"}:
        assert getattr(found.report, name) == getattr(expected.report, name), name
    assert {**expected.report.repairs, READ_TWICE: found.report.repairs[READ_TWICE]} == found.report.repairs


# ---- the same bits -----------------------------------------------------------------------------------------------
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.randoms(use_true_random=False),
    st.sampled_from(SINGLE),
    st.sampled_from([None, "float32"]),
    st.integers(1, 3),
)
def test_any_cut_into_files_and_row_groups_has_the_bits_of_one_table(tmp_path_factory, seed, rng, ties, dtype, threads):
    qrels, run = gen.collection(seed)
    rows = rows_of(run)
    rng.shuffle(rows)
    borders = sorted(rng.randint(0, len(rows)) for _ in range(3))
    parts = [rows[a:b] for a, b in zip([0, *borders], [*borders, len(rows)], strict=True)]
    folder = written(tmp_path_factory.mktemp("parts"), parts, rng.randint(1, 9))
    options = {"ties": ties, "score_dtype": dtype, "validate": "judged", "n_threads": threads}
    metrics = rng.choice([METRICS, ["P@5"], ["ndcg"]])
    expected = fastir.evaluate(qrels, table(rows), metrics, **options)
    found = fastir.evaluate(qrels, folder, metrics, **options)
    if READ_TWICE not in found.report.repairs:  # few rows, which stood together by chance
        assert found == expected
    else:
        same(found, expected)


@pytest.mark.parametrize("options", [{"max_depth": 2}, {"judged_only": True}, {"queries": "intersection"}], ids=str)
def test_options_say_what_they_say_of_rows_in_memory(tmp_path, options):
    options = {**options, "validate": "judged", "n_threads": 2}
    found = fastir.evaluate(QRELS, written(tmp_path / "run", alternating(RUN)), METRICS, **options)
    same(found, fastir.evaluate(QRELS, table(RUN), METRICS, **options))


def test_integer_ids_are_read_as_the_text_of_the_qrels(tmp_path):
    rows = [(int(query), int(doc), score) for query, doc, score in RUN]
    options = {"validate": "judged", "queries": "qrels"}
    found = fastir.evaluate(QRELS, written(tmp_path / "run", alternating(rows)), METRICS, **options)
    same(found, fastir.evaluate(QRELS, table(rows), METRICS, **options))


def test_ranks_are_scores_here_too(tmp_path):
    rows = [(query, doc, rank) for rank, (query, doc, _) in enumerate(RUN, 1)]
    names = {"names": ("query_id", "doc_id", "rank")}
    options = {"validate": "judged", "queries": "qrels"}
    found = fastir.evaluate(QRELS, written(tmp_path / "run", alternating(rows), **names), METRICS, **options)
    same(found, fastir.evaluate(QRELS, table(rows, **names), METRICS, **options))


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_files_without_rows_do_no_harm(tmp_path, empty):
    parts = alternating(RUN)
    parts.insert(empty, [])
    options = {"validate": "judged", "queries": "qrels", "n_threads": 2}
    found = fastir.evaluate(QRELS, written(tmp_path / "run", parts), METRICS, **options)
    same(found, fastir.evaluate(QRELS, table(RUN), METRICS, **options))


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_partitions_and_remote_places(tmp_path, scheme):
    parts = alternating(RUN)
    root = tmp_path / "lake"
    for number, rows in enumerate(parts):
        written(root / f"day={number}", [rows])
    url = root.as_uri()
    if scheme == "memory":
        fsspec = pytest.importorskip("fsspec")
        memory = fsspec.filesystem("memory")
        memory.put(str(root), "/two_passes_lake", recursive=True)
        url = "memory://two_passes_lake"
    options = {"validate": "judged", "queries": "qrels", "n_threads": 2}
    expected = fastir.evaluate(QRELS, table(RUN), METRICS, **options)
    same(fastir.evaluate(QRELS, url, METRICS, **options), expected)
    same(fastir.evaluate(QRELS, f"{url}/day=*/*.parquet", METRICS, **options), expected)


def test_a_query_in_the_names_of_folders_is_a_column(tmp_path):
    for query in "123":
        rows = [(doc, score) for other, doc, score in RUN if other == query]
        for half, part in enumerate(alternating(rows)):
            folder = tmp_path / f"half={half}" / f"query_id={query}"
            folder.mkdir(parents=True)
            columns = [
                pyarrow.array([row[0] for row in part], "string"),
                pyarrow.array([row[1] for row in part], "float64"),
            ]
            parquet.write_table(pyarrow.table(columns, names=["doc_id", "score"]), folder / "0.parquet")
    options = {"validate": "judged", "queries": "qrels"}
    found = fastir.evaluate(QRELS, tmp_path, METRICS, **options)
    assert found == fastir.evaluate(QRELS, table(RUN), METRICS, **options)
    assert READ_TWICE in found.report.repairs


# ---- when rows are read twice ------------------------------------------------------------------------------------
def test_rows_that_stand_together_are_read_once(tmp_path):
    found = fastir.evaluate(QRELS, written(tmp_path, [sorted(RUN)]), "map", validate="judged", queries="qrels")
    assert READ_TWICE not in found.report.repairs


@pytest.mark.parametrize("options", [
    {}, {"ties": "input"}, {"ties": "average"}, {"duplicates": "max"}, {"parents": {"10": "x"}},
    {"metrics": "hole@3"},
    {"metrics": "ndcg(gain={-1:0.5})"},  # of every document without a judgment
], ids=str)  # fmt: skip
def test_what_needs_all_rows_of_a_query_holds_them(tmp_path, options):
    options = {"metrics": "map", "queries": "qrels", "validate": "judged" if options else "full", **options}
    found = fastir.evaluate(QRELS, written(tmp_path, alternating(RUN)), **options)
    rows = [row for part in alternating(RUN) for row in part]
    assert found == fastir.evaluate(QRELS, table(rows), **options)
    assert READ_TWICE not in found.report.repairs


def test_few_rows_are_held(tmp_path, monkeypatch):
    monkeypatch.setattr(row_groups, "MAX_ROWS_IN_MEMORY", len(RUN))
    folder = written(tmp_path, alternating(RUN))
    assert not fastir.evaluate(QRELS, folder, "map", validate="judged", queries="qrels").report.repairs
    monkeypatch.setattr(row_groups, "MAX_ROWS_IN_MEMORY", len(RUN) - 1)
    assert fastir.evaluate(QRELS, folder, "map", validate="judged", queries="qrels").report.repairs


# ---- what is wrong with rows -------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [1, 3])
def test_a_judged_document_that_stands_twice_is_named_with_its_file_and_row(tmp_path, threads):
    parts = [*alternating(RUN), [("1", "30", 1.0), ("1", "10", 2.0)]]
    folder = written(tmp_path, parts, 1)
    message = r"2\.parquet: run: duplicate document '10' in query '1', the second time in row 1; "
    for _ in range(3):
        with pytest.raises(fastir.errors.DuplicateError, match=message):
            fastir.evaluate(QRELS, folder, "map", validate="judged", n_threads=threads)
    found = fastir.evaluate(QRELS, folder, "map", validate="judged", duplicates="once", queries="qrels")
    rows = [row for part in parts for row in part]
    assert found == fastir.evaluate(QRELS, table(rows), "map", validate="judged", duplicates="once", queries="qrels")


@pytest.mark.parametrize(("row", "message"), [
    (("2", "22", float("nan")), r"1\.parquet: run: row 3: 'score' is NaN, missing or not a number \(query 2, doc"),
    (("2", None, 1.0), r"1\.parquet: run: row 3: 'doc_id' is null, its value is missing"),
    ((None, "22", 1.0), r"1\.parquet: run: row 3: 'query_id' is null, its value is missing"),
], ids=["score", "doc_id", "query_id"])  # fmt: skip
@pytest.mark.parametrize("threads", [1, 2])
def test_a_bad_row_is_named_with_its_file(tmp_path, row, message, threads):
    first, second = alternating(RUN)
    folder = written(tmp_path, [first, [*second, row]], 2)
    with pytest.raises(fastir.FormatError, match=message):
        fastir.evaluate(QRELS, folder, "map", validate="judged", n_threads=threads)


def test_files_that_do_not_fit_together_are_named(tmp_path):
    folder = written(tmp_path, alternating(RUN))
    parquet.write_table(table(RUN, ("query_id", "doc_id", "similarity")), folder / "9.parquet")
    with pytest.raises(fastir.FormatError, match=r"9\.parquet: the file has no column 'score', which the others have"):
        fastir.evaluate(QRELS, folder, "map", validate="judged")
    parquet.write_table(table([(int(query), doc, score) for query, doc, score in RUN]), folder / "9.parquet")
    with pytest.raises(fastir.FormatError, match=r"9\.parquet: run: row 0: ids are of another type than those before"):
        fastir.evaluate(QRELS, folder, "map", validate="judged")


def test_files_that_change_between_the_passes_are_an_error(tmp_path, monkeypatch):
    scores = row_groups.scores

    def then_changed(*arguments):
        first = scores(*arguments)
        written(tmp_path / "more", [[("1", "99", 1.0)]])
        return first

    monkeypatch.setattr(row_groups, "scores", then_changed)
    with pytest.raises(ValueError, match="query '1' has 3 rows in the first pass and 4 in the second"):
        fastir.evaluate(QRELS, written(tmp_path, alternating(RUN)), "map", validate="judged")


def test_rows_that_are_held_are_named_with_their_files_too(tmp_path):
    twice = r"1\.parquet: run: duplicate document '20' in query '1', in row 1 of .*0\.parquet and row 3 of this file"
    first, second = alternating(RUN)
    folder = written(tmp_path, [first, [*second, ("1", "20", 1.0)]])
    with pytest.raises(fastir.errors.DuplicateError, match="duplicate document '20'"):
        fastir.evaluate(QRELS, folder, "map")
    folder = written(tmp_path, [[("1", "9", 1.0), ("1", "20", 1.0)], [*second[:0], *RUN[2:5], ("1", "20", 1.0)]])
    with pytest.raises(fastir.errors.DuplicateError, match=twice):
        fastir.evaluate(QRELS, folder, "map")


# ---- threads -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("when", [0.1, 0.6])
def test_an_interrupt_ends_all_threads_and_closes_the_files(tmp_path, threads, when):
    folder = written(tmp_path, alternating(RUN, 3), 1)
    size = sum(file.stat().st_size for file in folder.iterdir())
    evaluator = fastir.Evaluator(QRELS, "map", validate="judged", n_threads=threads)
    positions = []

    def notice(name, position):
        positions.append(position)
        if len(positions) > 3 and position > when * size:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        evaluator.evaluate_many({"run": folder}, progress=notice)
    assert threading.active_count() == before and max(positions) <= size


def test_positions_are_halves_of_the_bytes_in_each_pass(tmp_path):
    folder = written(tmp_path, alternating(RUN, 3), 1)
    size = sum(file.stat().st_size for file in folder.iterdir())
    positions = []
    evaluator = fastir.Evaluator(QRELS, "map", validate="judged", queries="qrels", n_threads=1)
    evaluator.evaluate_many({"run": folder}, progress=lambda name, position: positions.append(position))
    passes = positions[-2 * len(RUN) :]
    assert passes == sorted(passes) and passes[0] == 0 and passes[len(RUN)] == size // 2 and passes[-1] < size


def test_many_rows_in_threads_have_the_bits_of_one(tmp_path):
    rng = np.random.default_rng(3)
    n = 60_000
    queries, docs = np.divmod(rng.permutation(n), 600)
    columns = {"query_id": queries, "doc_id": docs, "score": rng.integers(0, 99, n).astype(np.float32)}
    judged = {"query_id": np.repeat(np.arange(120), 40), "doc_id": np.tile(np.arange(0, 800, 20), 120)}
    judged["label"] = rng.integers(0, 4, len(judged["doc_id"]))
    for part in range(4):
        rows = slice(part * n // 4, (part + 1) * n // 4)
        columns_of_part = {name: column[rows] for name, column in columns.items()}
        parquet.write_table(pyarrow.table(columns_of_part), tmp_path / f"{part}.parquet", row_group_size=5000)
    expected = fastir.evaluate(judged, columns, METRICS, validate="judged", queries="qrels")
    for threads in (1, 2, 5, None):
        options = {"validate": "judged", "queries": "qrels", "n_threads": threads}
        same(fastir.evaluate(judged, tmp_path, METRICS, **options), expected)
