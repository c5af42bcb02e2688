"""Folders and patterns of Parquet: one table, with hive partitions; errors name the file and its row."""

import pathlib

import pytest
from parquet_lake import METRICS, QRELS, RUN, expected, table_of, written

import fastir
from fastir.inputs import parquet_files

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def lake(tmp_path):
    return written(tmp_path / "lake")


@pytest.mark.parametrize(
    "place", [str, pathlib.Path, lambda path: str(path).encode(), lambda path: f"{path}/*.parquet"]
)
def test_a_folder_or_a_pattern_is_one_run(lake, place):
    assert fastir.evaluate(QRELS, place(lake), METRICS) == expected()
    assert fastir.Run.from_file(place(lake)).to_dict() == RUN


def test_qrels_may_be_a_folder_too(tmp_path, lake):
    (tmp_path / "qrels" / "deep").mkdir(parents=True)
    parquet.write_table(table_of({"q1": QRELS["q1"]}, "label"), tmp_path / "qrels" / "a.parquet")
    parquet.write_table(
        table_of({query: QRELS[query] for query in ("q2", "007")}, "label"), tmp_path / "qrels" / "deep" / "b.parquet"
    )
    assert fastir.evaluate(tmp_path / "qrels", lake, METRICS) == expected()


def test_rows_of_a_query_may_lie_in_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 2)
    table = table_of(RUN)
    for number in range(3):
        parquet.write_table(table.take(list(range(number, 6, 3))), tmp_path / f"{number}.parquet")
    for options in ({}, {"n_threads": 2}, {"duplicates": "first"}):
        assert fastir.evaluate(QRELS, tmp_path, METRICS, **options) == expected()


def test_hive_partitions_are_columns(tmp_path):
    for query, docs in RUN.items():
        folder = tmp_path / f"query_id={query}"
        folder.mkdir()
        parquet.write_table(table_of({query: docs}).drop_columns("query_id"), folder / "0.parquet")
    assert fastir.evaluate(QRELS, tmp_path, METRICS).to_dict() == {q: expected().to_dict()[q] for q in QRELS}
    assert set(fastir.Run.from_file(tmp_path)) == set(RUN), "007 stays as it is written"


def test_partitions_of_whole_numbers_are_integers(tmp_path):
    for label in (0, 1):
        (tmp_path / f"label={label}").mkdir()
        table = pyarrow.table({"query_id": [1, 1], "doc_id": [10 + label, 20 + label]})
        parquet.write_table(table, tmp_path / f"label={label}" / "0.parquet")
    assert fastir.Qrels.from_file(tmp_path).to_dict() == {1: {10: 0, 20: 0, 11: 1, 21: 1}}


def test_names_of_partitions_are_unquoted(tmp_path):
    (tmp_path / "query_id=a%2Fb c").mkdir()
    parquet.write_table(pyarrow.table({"doc_id": ["d"], "score": [1.0]}), tmp_path / "query_id=a%2Fb c" / "0.parquet")
    assert fastir.Run.from_file(tmp_path).to_dict() == {"a/b c": {"d": 1.0}}


def test_a_missing_partition_is_null(tmp_path):
    folder = tmp_path / "query_id=__HIVE_DEFAULT_PARTITION__"
    folder.mkdir()
    parquet.write_table(pyarrow.table({"doc_id": ["d"], "score": [1.0]}), folder / "0.parquet")
    with pytest.raises(fastir.FormatError, match=r"0\.parquet: run: row 0: .query_id. is null"):
        fastir.evaluate({"q": {"d": 1}}, tmp_path, "map")


def test_errors_name_the_file_and_its_row(lake):
    parquet.write_table(
        pyarrow.table({"query_id": ["q", "q"], "doc_id": ["a", None], "score": [1.0, 2.0]}), lake / "part-1.parquet"
    )
    with pytest.raises(fastir.FormatError, match=r"part-1\.parquet: run: row 1: .doc_id. is null"):
        fastir.evaluate(QRELS, lake, METRICS)


def test_a_file_without_a_column_is_named(lake):
    parquet.write_table(pyarrow.table({"query_id": ["q"], "doc_id": ["a"]}), lake / "part-2.parquet")
    with pytest.raises(fastir.FormatError, match=r"part-2\.parquet: the file has no column 'score', which the others"):
        fastir.evaluate(QRELS, lake, METRICS)


def test_a_file_that_is_no_parquet_is_named(lake):
    (lake / "part-2.parquet").write_bytes(b"no")
    with pytest.raises(fastir.FormatError, match=r"part-2\.parquet: "):
        fastir.evaluate(QRELS, lake, METRICS)


def test_ids_of_two_types_are_refused(lake):
    parquet.write_table(pyarrow.table({"query_id": ["q"], "doc_id": [7], "score": [1.0]}), lake / "part-2.parquet")
    with pytest.raises(fastir.FormatError, match="ids are of another type than those before"):
        fastir.evaluate(QRELS, lake, METRICS)


@pytest.mark.parametrize("pattern", ["", "/*", "/*.txt"])
def test_a_folder_without_parquet_is_refused(tmp_path, pattern):
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 1.0 x\n")
    with pytest.raises(fastir.FormatError, match=r"no Parquet file .* was found"):
        fastir.evaluate(QRELS, f"{tmp_path}{pattern}", METRICS)
