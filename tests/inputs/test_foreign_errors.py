"""Whatever goes wrong in a library or the system while a file is read comes out as an error that names the file."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest

import fastir
from fastir.inputs import places

pytest.importorskip("pyarrow")
QRELS = {"q": {"d": 1}}
COMMAND = [sys.executable, "-m", "fastir"]
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what cannot be read under /proc")


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.csv", b"query_id,doc_id,s\rcore\nq,d,1\n", "the header is malformed"),
    ("a.csv", b'query_id,doc_id,"' + b"x" * 200_000 + b'"\nq,d,1\n', "the header is malformed"),
    ("a.jsonl", b'{"a":' * 100_000, "nested too deeply|malformed JSON"),
    ("a.jsonl", b"[" * 100_000, "nested too deeply"),
    ("a.jsonl", b"1" * 5000 + b"\n", "expected a JSON object"),
    ("a.jsonl", b'{"query_id": 1' + b"1" * 5000 + b', "doc_id": 2, "score": 1}\n', "."),
    ("a.jsonl", b'{"query_id": "q", "doc_id": \n', "malformed JSON at character"),
    ("a.jsonl", b'{"query_id": "q", "doc_id": "d", "score": 1}\n{"query_id": [1], "doc_id": "d", "score": 1}\n', "."),
    ("a.jsonl", b'{"query_id": "q", "doc_id": "d", "score": 1}\n\x00\xff\n', "."),
    ("a.json", b'{"q":' * 100_000, "nested too deeply"),
    ("a.json", b"1" * 5000, "expected an object"),
    ("a.json", b'{"q": {"d": 1' + b"1" * 5000 + b"}}", "."),
    ("a.parquet", b"PAR1" + b"\0" * 50 + b"PAR1", "."),
    ("a.parquet", b"", "."),
    ("a.parquet", b"not parquet at all", "."),
    ("a.parquet", b"PAR1\xff\xff\xff\x7fPAR1", "."),
    ("a.csv.gz", gzip.compress(b"query_id,doc_id,score\nq,d,1\n" * 100, mtime=0)[:-20], "damaged or truncated"),
])  # fmt: skip
def test_a_damaged_file_is_named(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    for read in (fastir.Run.from_file, fastir.Qrels.from_file, lambda path: fastir.evaluate(QRELS, path, "map")):
        with pytest.raises(fastir.FormatError, match=message) as caught:
            read(path)
        assert caught.value.path == str(path)
        assert len(str(caught.value)) < 1000 + len(str(path))


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


class Failing(io.BytesIO):
    """A file that cannot be read beyond a place."""

    def readinto(self, view):
        if self.tell() >= 100:
            raise OSError(5, "Input/output error")
        return super().readinto(view[:100])

    def peek(self, n):
        return self.getvalue()[:n]


@pytest.mark.parametrize("name", ["run", "run.json", "run.csv", "run.jsonl"])
def test_a_read_error_in_the_middle_is_named(name, tmp_path, monkeypatch):
    lines = {
        "run": b"q Q0 d%d 1 1.5 tag\n", "run.json": b'{"q": {"d%d": 1.5}}\n',
        "run.csv": b"query_id,doc_id,score\nq,d%d,1.5\n",
        "run.jsonl": b'{"query_id": "q", "doc_id": "d%d", "score": 1}\n',
    }  # fmt: skip
    path = tmp_path / name
    path.write_bytes(b"")
    content = b"".join(lines[name] % number for number in range(99))
    monkeypatch.setattr(places, "open", lambda *arguments: Failing(content), raising=False)
    with pytest.raises(OSError) as caught:
        fastir.evaluate(QRELS, path, "map", n_threads=1)
    assert (caught.value.errno, caught.value.filename) == (5, str(path))


@ON_LINUX
def test_the_command_line_names_what_it_cannot_read(tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 d 1\n")
    done = subprocess.run([*COMMAND, "eval", qrels, "/proc/self/mem", "-m", "map"], capture_output=True, timeout=20)
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
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (2, "fastir: error: standard input: it is closed\n")


def test_an_empty_folder_is_named(tmp_path):
    for name in ("run", "run.json", "run.csv", "run.parquet"):
        Path(tmp_path, name).mkdir()
        with pytest.raises(fastir.FormatError, match="no Parquet file") as caught:
            fastir.evaluate(QRELS, tmp_path / name, "map")
        assert caught.value.path == str(tmp_path / name)
