"""What runs are called that are files: the stem, the tag or the name of the file, or what the caller says."""

import gzip
import io
from pathlib import Path

import pytest

import fastir
from fastir.evaluation.run_names import run_names

QRELS = {"q1": {"d1": 1, "d2": 0}}
LINES = "q1 Q0 d2 1 3.0 {tag}\nq1 Q0 d1 2 2.0 other\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write runs with these names and their stems in capitals as tags; the paths."""
    monkeypatch.chdir(tmp_path)

    def write(*names):
        for name in names:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = LINES.format(tag=path.name.partition(".")[0].upper()).encode()
            path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return list(names)

    return write


def names_of(runs, **options):
    return list(fastir.evaluate_many(QRELS, runs, "map", **options))


# ---- the names themselves ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("files", "stems", "names"), [
    (["bm25.run"], ["bm25"], ["bm25.run"]),
    (["a/bm25.run.gz", "a/dense.TXT", "input.bm25"], ["bm25", "dense", "input.bm25"],
     ["bm25.run.gz", "dense.TXT", "input.bm25"]),
    (["r/run.msmarco-v2.1.txt", "r/k1=0.9.res"], ["run.msmarco-v2.1", "k1=0.9"],
     ["run.msmarco-v2.1.txt", "k1=0.9.res"]),
    (["x/bm25.run", "y/bm25.txt", "z.run"], ["x/bm25", "y/bm25", "z"], ["bm25.run", "bm25.txt", "z.run"]),
    (["/a/x/b/r.run", "/a/y/b/r.run"], ["x/b/r", "y/b/r"], ["x/b/r.run", "y/b/r.run"]),
    (["r.run", "./y/r.run"], ["r", "y/r"], ["r.run", "y/r.run"]),
    (["x/r.run", "x/r.txt"], ["r.run", "r.txt"], ["r.run", "r.txt"]),
    (["all/system=v1.txt/", "all/run=b"], ["v1.txt", "b"], ["v1.txt", "b"]),
    (["-", ".run", "runs/*.parquet"], ["-", ".run", "runs"], ["-", ".run", "*.parquet"]),
    (["x/*.json", "*.json"], ["x", "*.json"], ["x/*.json", "*.json"]),
    (["x/a*.json", "x/b*.json"], ["a*.json", "b*.json"], ["a*.json", "b*.json"]),
    ([], [], []),
])  # fmt: skip
def test_names_are_as_short_as_they_differ(files, stems, names):
    assert run_names(files) == run_names(list(map(Path, files)) if "-" not in files else files) == stems
    assert run_names(files, "file") == names


@pytest.mark.parametrize("names", ["stem", "file", ["x", "x"]])
def test_a_run_that_is_there_twice_is_an_error_with_both_files(names):
    with pytest.raises(ValueError, match=r"two runs are named .*: a/x\.run and \./a/x\.run; expected every name once"):
        run_names(["a/x.run", "./a/x.run"], names)


# ---- what the functions take ---------------------------------------------------------------------------------------
def test_a_list_of_paths(written):
    files = written("x/bm25.run", "dense.txt.gz")
    expected = fastir.evaluate_many(QRELS, {"bm25": files[0], "dense": files[1]}, "map")
    for runs in (files, tuple(files), iter(files), [Path(file) for file in files], [file.encode() for file in files]):
        found = fastir.evaluate_many(QRELS, runs, "map")
        assert list(found) == ["bm25", "dense"] and dict(found) == dict(expected)
    assert names_of(["x", "*.gz"]) == names_of(iter([Path("x"), "dense.txt.gz"])) == ["bm25", "dense"]
    assert names_of(files, names="file") == ["bm25.run", "dense.txt.gz"]
    assert names_of(files, names=("one", 2)) == ["one", 2]
    assert names_of(written("y/bm25.run") + files) == ["y/bm25", "x/bm25", "dense"]
    assert names_of("*/*.run") == ["x/bm25", "y/bm25"]


def test_tags(written):
    files = written("x/bm25.run", "dense.txt.gz")
    assert names_of(files, names="tag") == names_of(["x", "*.gz"], names="tag") == ["BM25", "DENSE"]
    Path("x/b.run").write_text("\ufeff\n" + LINES.format(tag="B"), "utf-8")
    assert run_names(["x/b.run", io.BytesIO(LINES.format(tag="C").encode())], "tag") == ["B", "C"]
    Path("x/c.run").write_text(LINES.format(tag="B"))
    with pytest.raises(ValueError, match=r"two runs are named 'B': x/b\.run and x/c\.run"):
        names_of(["x/b.run", "x/c.run"], names="tag")


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.run", "q1 Q0 d1 1 2.0\n", "the first line has 5 fields, the tag is the sixth"),
    ("a.run", "", "the first line has 0 fields"),
    ("a.json", "{}", "the file is json, and only TREC files have tags"),
])  # fmt: skip
def test_files_without_tags(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(fastir.FormatError, match=message):
        names_of([tmp_path / name], names="tag")


def test_names_that_are_wrong(written):
    files = written("a.run", "b.run")
    for names, message in (
        (["x"], "names: expected 2, one for each run, got 1"),
        (["x", "x"], r"two runs are named 'x': a\.run and b\.run"),
        ("path", "names must be one of 'stem', 'tag', 'file', got 'path'"),
    ):
        with pytest.raises(ValueError, match=message):
            names_of(files, names=names)
    for runs in ({"a": files[0]}, [("a", files[0])]):
        with pytest.raises(ValueError, match="it is only for runs that are files"):
            names_of(runs, names="tag")
    with pytest.raises(ValueError, match=r"two runs are named 'a': a\.run and a\.run"):
        names_of(["a.run", "a.run"])


def test_all_functions_take_the_same(written):
    files = written("a.run", "b.run")
    for names, expected in (("stem", ["a", "b"]), ("tag", ["A", "B"]), ("file", files), (["x", "y"], ["x", "y"])):
        assert fastir.pool(files, 2, names=names).runs == expected
        assert list(fastir.contributions(QRELS, files, names=names).teams) == expected
        assert list(fastir.leave_one_out(QRELS, files, "map", names=names).results) == expected
        assert list(fastir.Evaluator(QRELS, "map").evaluate_many(files, names=names)) == expected
        assert len(fastir.to_judge(QRELS, files, "map", 1, names=names)) == 0


def test_compare_takes_them_too(written):
    pytest.importorskip("scipy")
    qrels = {f"q{number}": {"d1": 1} for number in range(4)}
    for name, place in (("a.run", 1), ("b.run", 3)):
        lines = (f"{query} Q0 d{d} 1 {d == place and 2.0} {name}" for query in qrels for d in (1, 3))
        Path(name).write_text("\n".join(lines).replace("False", "1.0") + "\n")
    for runs, names, expected in (
        (["a.run", "b.run"], "stem", ["a", "b"]),
        ("*.run", "file", ["a.run", "b.run"]),
        ("*.run", "tag", ["a.run", "b.run"]),
        (["a.run", "b.run"], ["x", "y"], ["x", "y"]),
    ):
        comparison = fastir.compare(qrels, runs, "mrr", names=names, bounds=names == "file")
        assert comparison.runs == expected
    with pytest.raises(TypeError, match="expected a list of runs under 'a', got a path"):
        fastir.compare(qrels, ["a.run", "b.run"], "mrr", seeds="mean")
    for name in ("a", "b"):
        fastir.evaluate(qrels, f"{name}.run", "mrr").save(f"{name}.json")
    assert fastir.compare(qrels, ["a.json", "b.json"], "mrr").runs == ["a", "b"]
