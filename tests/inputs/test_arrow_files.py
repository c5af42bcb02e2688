"""Arrow IPC: files, streams and Feather."""

import io

import pytest

import fastir

pyarrow = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")
ROWS = {"qid": ["a", "a", "b"], "rank": [1, 2, 1], "docno": ["x", "y", "z"], "score": [0.5, 2.0, 1.0]}


def write(sink, open_writer, table):
    with open_writer(sink, table.schema) as writer:
        for row in range(table.num_rows):
            writer.write_table(table.slice(row, 1))


@pytest.mark.parametrize("open_writer", [ipc.new_file, ipc.new_stream])
def test_files_and_streams_are_read_in_batches(open_writer, tmp_path):
    path = tmp_path / "run.arrow"
    write(path, open_writer, pyarrow.table(ROWS))
    assert fastir.Run.from_file(path).to_dict() == {"a": {"x": 0.5, "y": 2.0}, "b": {"z": 1.0}}
    qrels = {"a": {"x": 1}, "b": {"z": 1}}
    assert fastir.evaluate(qrels, path, "mrr")["mrr"] == 0.75
    assert fastir.evaluate(qrels, path, "mrr", columns={"rank": "rank"})["mrr"] == 1


def test_a_file_object_is_known_by_its_first_bytes():
    buffer = io.BytesIO()
    write(buffer, ipc.new_file, pyarrow.table(ROWS))
    assert fastir.evaluate({"a": {"x": 1}, "b": {"z": 1}}, buffer, "mrr")["mrr"] == 0.75


def test_what_is_no_arrow_is_an_error_with_its_name(tmp_path):
    path = tmp_path / "run.feather"
    for content in (b"", b"ARROW1", b"ARROW1" + bytes(50), b"a Q0 x 1 1 t\n"):
        path.write_bytes(content)
        with pytest.raises(fastir.FormatError, match=r"run\.feather"):
            fastir.Run.from_file(path)
    write(path, ipc.new_file, pyarrow.table(ROWS).slice(0, 0))
    with pytest.raises(fastir.FormatError, match="the run is empty"):
        fastir.Run.from_file(path)
