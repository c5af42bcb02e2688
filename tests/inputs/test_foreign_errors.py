"""Whatever goes wrong in a library or the system while a file is read comes out as an error that names the file."""

import subprocess
import sys
from pathlib import Path

import pytest
from processes import patient

import fastir

pytest.importorskip("pyarrow")
QRELS = {"q": {"d": 1}}
COMMAND = [sys.executable, "-m", "fastir"]
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what cannot be read under /proc")


def test_a_parquet_file_with_a_damaged_page_is_named(tmp_path):
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"query_id": ["q"] * 99, "doc_id": [f"d{i}" for i in range(99)], "score": [1.5] * 99})
    parquet.write_table(table, tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    path = tmp_path / "run.parquet"
    for place in range(4, len(whole) - 8, 13):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            fastir.Run.from_file(path)
        except fastir.FormatError as error:
            assert error.path == str(path)
        except OSError as error:
            assert error.filename == str(path)


@ON_LINUX
def test_the_command_line_names_what_it_cannot_read(tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 d 1\n")
    done = subprocess.run(
        [*COMMAND, "eval", qrels, "/proc/self/mem", "-m", "map"], capture_output=True, timeout=patient(20)
    )
    assert (done.returncode, done.stderr) == (2, b"fastir: error: /proc/self/mem: Input/output error\n")


@pytest.mark.skipif(sys.platform == "win32", reason="closes a stream as a shell does")
@pytest.mark.parametrize(
    "words", [("eval", "-m", "map"), ("trec_eval",), ("compare", "-m", "map", "OTHER")], ids=lambda words: words[0]
)
def test_a_closed_standard_input_is_an_error_of_input(words, tmp_path):
    qrels, other = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 d 1\n")
    other.write_text("q Q0 d 1 1.5 tag\n")
    words = [str(other) if word == "OTHER" else word for word in words]
    command, *options = words
    files = [str(qrels), *(word for word in options if word == str(other)), "-"]
    options = [word for word in options if word != str(other)]
    line = " ".join([*COMMAND, command, *options, *files, "<&-"])
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=patient(20))
    assert (done.returncode, done.stderr) == (2, "fastir: error: standard input: the stream is closed\n")


def test_an_empty_folder_is_named(tmp_path):
    for name in ("run", "run.json", "run.csv", "run.parquet"):
        Path(tmp_path, name).mkdir()
        with pytest.raises(fastir.FormatError, match=r"no (Parquet|JSON) file") as caught:
            fastir.evaluate(QRELS, tmp_path / name, "map")
        assert caught.value.path == str(tmp_path / name)
