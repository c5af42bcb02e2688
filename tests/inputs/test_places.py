"""Places of qrels and runs: folders, patterns and hive partitions of Parquet, file objects, URLs and file systems."""

import io
import os

import pytest
from parquet_lake import METRICS, QRELS, RUN, expected, table_of, written

import fastir
from fastir.inputs import places

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def lake(tmp_path):
    return written(tmp_path / "lake")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
def test_links_to_their_own_folder_are_walked_once(tmp_path, monkeypatch):
    """Two of them made the number of paths to a file one of 2 ** 40."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for folder in ("a", "a/b", "other"):
        parquet.write_table(table_of(RUN), tmp_path / folder / f"{folder[-1]}.parquet")
    for name in ("one", "two"):
        (tmp_path / "a" / name).symlink_to(".")
    (tmp_path / "a" / "b" / "out").symlink_to(tmp_path / "other")
    (tmp_path / "a" / ".hidden").mkdir()
    names = ["a.parquet", "b/b.parquet", "b/out/r.parquet"]
    for pattern in ("a/**/*.parquet", "a/**", "**/a/**/*.parquet", "a/**/**/*.parquet"):
        assert places.place_files(tmp_path / pattern) == [str(tmp_path / "a" / name) for name in names], pattern
    assert len(places.place_files(tmp_path / "**/*.parquet")) == 3
    monkeypatch.chdir(tmp_path / "a")
    assert places.place_files("**/*.parquet") == names


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_among_the_files_of_a_folder_is_refused(lake, tmp_path):
    """It was waited for without end."""
    os.mkfifo(tmp_path / "lake" / "pipe.parquet")
    with pytest.raises(fastir.FormatError, match=r"pipe\.parquet: not a regular file"):
        fastir.evaluate({"q1": {"d1": 1}}, tmp_path / "lake", "map")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "run[1].txt").write_text("q1 Q0 d1 1 1.0 x\n")
    assert fastir.Run.from_file(tmp_path / "run[1].txt").to_dict() == {"q1": {"d1": 1.0}}


def contents():
    held = fastir.Run.from_dict(RUN)
    trec = "".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, docs in held.to_dict().items() for d, s in docs.items())
    buffer = io.BytesIO()
    parquet.write_table(table_of(RUN), buffer)
    return {"trec": trec.encode(), "parquet": buffer.getvalue()}


@pytest.mark.parametrize("format", ["trec", "parquet"])
def test_bytes_in_memory_are_a_file_that_can_be_read_again(format):
    file = io.BytesIO(contents()[format])
    file.seek(0, io.SEEK_END)
    for options in ({}, {"convention": "ranx"}):
        assert fastir.evaluate(QRELS, file, METRICS, **options) == fastir.evaluate(QRELS, RUN, METRICS, **options)
    assert not file.closed


def test_the_format_of_bytes_in_memory_can_be_said():
    file = io.BytesIO(b"query_id,doc_id,score\nq,d,1\n")
    assert fastir.Run.from_file(file, "csv").to_dict() == {"q": {"d": 1.0}}
    with pytest.raises(fastir.FormatError, match=r"<BytesIO>:1: "):
        fastir.Run.from_file(file)


@pytest.mark.parametrize("name", ["run.trec", "run.parquet", "run.csv"])
def test_an_open_file_has_the_format_of_its_name(tmp_path, name):
    format = name.partition(".")[2]
    text = "query_id,doc_id,score\n" + "".join(f"{q},{d},{s}\n" for q, docs in RUN.items() for d, s in docs.items())
    (tmp_path / name).write_bytes({**contents(), "csv": text.encode()}[format])
    with open(tmp_path / name, "rb") as file:
        assert fastir.evaluate(QRELS, file, METRICS) == expected()
        assert not file.closed
    with (
        open(tmp_path / name) as file,
        pytest.raises(fastir.FormatError, match=r"run\..*opened as text; expected open"),
    ):
        fastir.evaluate(QRELS, file, METRICS)


def test_a_stream_that_cannot_go_back_is_read_once(tmp_path):
    class Stream(io.RawIOBase):
        def __init__(self, content):
            self.rest = content

        def readable(self):
            return True

        def readinto(self, view):
            part, self.rest = self.rest[: len(view)], self.rest[len(view) :]
            view[: len(part)] = part
            return len(part)

    class Reader:
        def __init__(self, content):
            self.read = io.BytesIO(content).read

    assert fastir.evaluate(QRELS, Stream(contents()["trec"]), METRICS) == expected()
    assert fastir.evaluate(QRELS, Reader(contents()["trec"]), METRICS) == expected()
    assert fastir.Run.from_file(Reader(contents()["parquet"]), "parquet").to_dict() == RUN


def test_many_runs_may_be_file_objects():
    files = {name: io.BytesIO(content) for name, content in contents().items()}
    for results in fastir.evaluate_many(QRELS, files, METRICS).values():
        assert results == expected()


def test_a_url_and_a_path_in_a_file_system_of_pyarrow(lake):
    fs = pytest.importorskip("pyarrow.fs")
    system = fs.SubTreeFileSystem(str(lake.parent), fs.LocalFileSystem())
    text = lake.parent / "run.txt"
    text.write_bytes(contents()["trec"])
    for place in (
        f"file://{lake}", f"file://{lake}/*.parquet", f"file://{text}", (system, "lake"),
        (system, "lake/part*"), (system, "**/*.parquet"), (system, "run.txt"),
    ):  # fmt: skip
        assert fastir.evaluate(QRELS, place, METRICS).to_dict() == expected().to_dict(), place


def test_paths_of_fsspec(lake):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    try:
        for file in lake.glob("*.parquet"):
            system.pipe(f"/lake/system=x/{file.name}", file.read_bytes())
        system.pipe("/run.trec", contents()["trec"])
        places = (
            "memory://lake", "memory://lake/*/part-?.parquet", "memory://run.trec", (system, "/lake"),
            (system, "/run.trec"), fsspec.open("memory://run.trec"),
        )  # fmt: skip
        for place in places:
            assert fastir.evaluate(QRELS, place, METRICS).to_dict() == expected().to_dict(), place
        with fsspec.open("memory://run.trec") as file:
            assert fastir.evaluate(QRELS, file, METRICS) == expected()
    finally:
        system.rm("/", recursive=True)


def test_errors_of_urls_name_them(monkeypatch):
    with pytest.raises((FileNotFoundError, OSError), match="nowhere"):
        fastir.evaluate(QRELS, "file:///nowhere/run.parquet", METRICS)
    pytest.importorskip("fsspec")
    with pytest.raises(fastir.FormatError, match=r"noscheme://x: .*noscheme"):
        fastir.evaluate(QRELS, "noscheme://x", METRICS)


@pytest.mark.parametrize("name", ["bm25.trec", "BM25.TREC", "bm25.run.gz", "BM25.Run.ZST", "bm25", "runs/bm25.res"])
def test_the_name_of_a_run_is_that_of_its_file_without_known_endings(name):
    assert places.stem(name).lower() == "bm25"
    assert places.stem("bm25.v2") == "bm25.v2" and places.stem("-") is None


def test_folders_that_are_hidden_by_their_names_may_be_partitions(tmp_path):
    for folder in ("_year=2024", "_temporary", ".git"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "0.parquet").write_bytes(b"")
    (tmp_path / "_metadata").write_bytes(b"")
    assert places.place_files(tmp_path) == [str(tmp_path / "_year=2024" / "0.parquet")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links")
@pytest.mark.parametrize("pattern", ["", "*.parquet", "**/*.parquet", "**"])
def test_a_link_that_leads_to_no_file_is_named(pattern, tmp_path):
    (tmp_path / "lake").mkdir()
    parquet.write_table(table_of(RUN), tmp_path / "lake" / "a.parquet")
    (tmp_path / "lake" / "b.parquet").symlink_to("/no/where")
    with pytest.raises(fastir.FormatError, match=r"b\.parquet: the link leads to '/no/where', which does not exist"):
        fastir.evaluate(QRELS, tmp_path / "lake" / pattern, "map")
