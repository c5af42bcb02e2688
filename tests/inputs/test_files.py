"""Files as bytes: packed and unpacked by either library, damaged, and put in place in one step."""

import gzip
import io
import json
import os
import sys

import pytest
from formatted import QRELS, RUN
from packings import PACKINGS, exact, needs_zstd, zstd

import fastir
from fastir import Qrels, Run
from fastir.inputs import places

MAGIC = {"": b"", ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}


@pytest.fixture(params=["isal", "zlib"])
def gzip_by(request, monkeypatch):
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)


LONG = "".join(f"q{number // 1000} Q0 d{number} 0 {number % 1000 / 7} t\n" for number in range(100_000))


def test_gzip_is_unpacked_by_either_library(gzip_by, read):
    assert exact(read(Run, gzip.compress(LONG.encode()))) == exact(read(Run, LONG))
    members = gzip.compress(LONG[:999].encode()) + gzip.compress(LONG[999:].encode())
    assert exact(read(Run, members)) == exact(read(Run, LONG))


@needs_zstd
@pytest.mark.parametrize("first", range(0x50, 0x60))
def test_zstd_of_many_frames(read, first):
    nothing = bytes([first]) + b"\x2a\x4d\x18\x03\0\0\0abc"  # a frame to be skipped, as parallel packers write them
    frames = [zstd.compress(text.encode()) for text in (LONG[:999], LONG[999:])]
    assert exact(read(Run, nothing + frames[0] + nothing + frames[1])) == exact(read(Run, LONG))


def damaged(data):
    """The data cut off or changed in several places."""
    yield from (data[:n] for n in (4, 5, 11, len(data) // 2, len(data) - 1))
    yield data[:1000] + b"1234567890" + data[1010:]
    yield data + b"something"


@pytest.mark.parametrize("suffix", [".txt", ".json"])
def test_damaged_gzip(gzip_by, suffix, read):
    for bad in damaged(gzip.compress(LONG.encode())):
        with pytest.raises(fastir.FormatError, match=f"file{suffix}: the compressed data is damaged or truncated"):
            read(Run, bad, f"file{suffix}")


@needs_zstd
def test_damaged_zstd(read):
    for bad in damaged(zstd.compress(LONG.encode(), options={zstd.CompressionParameter.checksum_flag: 1})):
        with pytest.raises(fastir.FormatError, match="file: the compressed data is damaged or truncated"):
            read(Run, bad)


@pytest.mark.parametrize(("suffix", "what"), [(".gz", "gzip"), (".zst", "zstd")])
def test_a_name_that_promises_packing(suffix, what, read):
    with pytest.raises(fastir.FormatError, match=f"named {suffix} but is not {what} compressed"):
        read(Run, LONG, f"run{suffix}")


def test_zstd_without_its_library(read, tmp_path, monkeypatch):
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    monkeypatch.setitem(sys.modules, module, None)
    parent = sys.modules.get(module.partition(".")[0])
    if hasattr(parent, "zstd"):
        monkeypatch.delattr(parent, "zstd")
    needed = "Python" if sys.version_info >= (3, 14) else "backports.zstd"
    with pytest.raises(fastir.FormatError, match=f"run: zstd compression needs .*{needed}"):
        read(Run, MAGIC[".zst"] + b"1234", "run")
    with pytest.raises(fastir.FormatError, match=f"out.zst: zstd compression needs .*{needed}"):
        Run.from_dict(RUN).save(tmp_path / "out.zst")
    assert os.listdir(tmp_path) == ["run"]


class Stops(Run):
    """A run that cannot be read to its end."""

    def __getitem__(self, query_id):
        if query_id == "stop":
            raise self.error
        return super().__getitem__(query_id)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("suffix", ["", ".json"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), OSError(28, "No space left on device")])
def test_an_error_on_the_way_leaves_what_was_there(error, suffix, packing, tmp_path):
    path = tmp_path / f"saved{suffix}{packing}"
    path.write_text("old")
    run = Stops.from_dict({"q": {"a": 1.0}, "stop": {"a": 1.0}})
    run.error = error
    with pytest.raises(type(error)) as caught:
        run.save(path)
    assert not isinstance(error, OSError) or caught.value.filename == str(path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="modes and special files are those of POSIX")
def test_a_saved_file_is_a_normal_new_file(tmp_path):
    old = os.umask(0o027)
    try:
        Run.from_dict(RUN).save(tmp_path / "run.gz")
    finally:
        os.umask(old)
    assert (tmp_path / "run.gz").stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="modes and special files are those of POSIX")
def test_only_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a regular file"):
            Run.from_dict(RUN).save(tmp_path / name)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights on Windows")
def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real")
    Qrels.from_dict(QRELS).save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real").read_text()) == QRELS


ONE = {"q": {"d": 1}}


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
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(content)
    for read in (fastir.Run.from_file, fastir.Qrels.from_file, lambda path: fastir.evaluate(ONE, path, "map")):
        with pytest.raises(fastir.FormatError, match=message) as caught:
            read(path)
        assert caught.value.path == str(path)
        assert len(str(caught.value)) < 1000 + len(str(path))


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
    pytest.importorskip("pyarrow")
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
        fastir.evaluate(ONE, path, "map", n_threads=1)
    assert (caught.value.errno, caught.value.filename) == (5, str(path))
