"""Row groups of several batches, and row groups that each go to another thread, whatever the machine would do."""

import pytest

import fastir
from fastir.evaluation.partial import row_groups
from fastir.inputs import parquet_files

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
QRELS = {"1": {"a": 1, "b": 2}, "2": {"a": 1}}
ROWS = [("1", "a", 3.0), ("2", "x", 2.0), ("1", "b", 4.0), ("2", "a", 1.0), ("1", "y", 5.0), ("2", "z", 0.5)]
AGAIN = ("1", "a", 2.0)
TWICE = r"duplicate document 'a' in query '1', the second time in row 6; "


@pytest.fixture(autouse=True)
def nothing_is_held(monkeypatch):
    monkeypatch.setattr(row_groups, "MAX_ROWS_IN_MEMORY", 0)


def write(path, rows, size):
    table = pyarrow.table([list(column) for column in zip(*rows, strict=True)], ["query_id", "doc_id", "score"])
    parquet.write_table(table, path, row_group_size=size)
    return path


def in_turn(tasks, work, threads):
    """share_all, with each task for the next thread."""
    for number, task in enumerate(tasks):
        work(number % threads, task, number)


@pytest.mark.parametrize("size", [2, 4, 7])
def test_rows_are_counted_through_the_batches_of_a_row_group(tmp_path, monkeypatch, size):
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 2)
    path = write(tmp_path / "run.parquet", [*ROWS, AGAIN], size)
    with pytest.raises(fastir.errors.DuplicateError, match=TWICE):
        fastir.evaluate(QRELS, path, "map", validate="judged", n_threads=1)


@pytest.mark.parametrize("size", [1, 3])
def test_a_document_that_two_threads_have_met_is_named_with_its_row(tmp_path, monkeypatch, size):
    monkeypatch.setattr(row_groups, "share_all", in_turn)
    path = write(tmp_path / "run.parquet", [*ROWS, AGAIN], size)
    with pytest.raises(fastir.errors.DuplicateError, match=TWICE):
        fastir.evaluate(QRELS, path, "map", validate="judged", n_threads=3)
    with pytest.warns(fastir.FastirWarning, match="1 duplicate was repaired"):
        found = fastir.evaluate(QRELS, path, "map", validate="judged", duplicates="once", n_threads=3)
    assert found == fastir.evaluate(QRELS, {"1": ["y", "b", "a"], "2": ["x", "a", "z"]}, "map")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_threads_have_the_bits_of_rows_in_memory(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(row_groups, "share_all", in_turn)
    found = fastir.evaluate(
        QRELS, write(tmp_path / "r.parquet", ROWS, 1), ["map", "ndcg"], validate="judged", n_threads=threads
    )
    expected = fastir.evaluate(QRELS, {"1": ["y", "b", "a"], "2": ["x", "a", "z"]}, ["map", "ndcg"])
    assert found == expected and found.values.tobytes() == expected.values.tobytes()


def test_queries_that_the_qrels_lack_are_reported_in_order(tmp_path):
    rows = [*ROWS, *((f"q{number * 7 % 20:02}", "a", 1.0) for number in range(20))]
    path = write(tmp_path / "run.parquet", rows, 3)
    with pytest.warns(fastir.FastirWarning, match="'q00'"):
        report = fastir.evaluate(QRELS, path, "map", validate="judged").report
    assert (report.only_in_run, report.only_in_run_example) == (20, "q00")
