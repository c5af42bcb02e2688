"""No output is written over an input: each function that writes refuses it, whatever its path and the link to it."""

import os
import pickle
import shutil

import pytest
from common import EXAMPLES

import fastir

NAMES = ("qrels.txt", "bm25.run", "dense.run")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the examples and files for options, in which the test runs."""
    (tmp_path / "runs").mkdir()
    for name in NAMES:
        shutil.copy(EXAMPLES / name, tmp_path / (name if name == "qrels.txt" else f"runs/{name}"))
    queries = [f"q{number}" for number in range(1, 7)]
    (tmp_path / "segments.txt").write_text("".join(f"{query} {number % 2}\n" for number, query in enumerate(queries)))
    (tmp_path / "exclude.txt").write_text("".join(f"{query} none\n" for query in queries))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def paths_of(path, folder):
    """The path, and others that lead to it: absolute, with steps, as an object and as bytes, a link and a hard link."""
    os.symlink(path, folder / "link.txt")
    os.link(path, folder / "hard.txt")
    several = (path, str(folder / path), os.path.join(".", "runs", "..", path), folder / path, os.fsencode(path))
    # to the system these lead nowhere, and to what resolves them to the file
    unresolved = [f"{path}/", f"{path}//", f"{path}/.", "link.txt/", os.path.join("missing", "..", path)]
    return [*several, "link.txt", "hard.txt", *unresolved]


BOTH = ["runs/bm25.run", "runs/dense.run"]
RUNS = {
    "a list": BOTH, "a mapping": dict(zip("ab", BOTH, strict=True)), "a folder": "runs",
    "a pattern": "runs/*.run", "pairs": [("a", BOTH[0]), ("b", BOTH[1])],
}  # fmt: skip


@pytest.mark.parametrize("read", ["qrels.txt", "runs/dense.run", "segments.txt", "exclude.txt"])
@pytest.mark.parametrize("runs", RUNS)
def test_a_report_is_not_written_over_what_it_reads(folder, read, runs):
    paths = paths_of(read, folder)
    before = contents(folder)
    for path in paths:
        with pytest.raises(ValueError, match="is an input and would be overwritten"):
            fastir.write_report(
                "qrels.txt", RUNS[runs], "map", path, segments="segments.txt", exclude="exclude.txt", k=2
            )
        assert contents(folder) == before
    fastir.write_report("qrels.txt", BOTH, "map", "new.html", k=2)
    fastir.write_report("qrels.txt", BOTH, "map", "new.html", k=2)


def made(what):
    """An object that was made of qrels.txt and of the two runs."""
    if what == "results":
        return fastir.evaluate("qrels.txt", "runs/dense.run", "map")
    if what == "several":
        return fastir.evaluate_many("qrels.txt", "runs", "map")
    if what == "comparison":
        return fastir.compare("qrels.txt", "runs", "map")
    fastir.evaluate_many("qrels.txt", BOTH, "map").save("runs/saved.tsv")
    return fastir.compare_scores("runs/saved.tsv")


@pytest.mark.parametrize(("what", "reads"), [
    ("results", ["qrels.txt", "runs/dense.run"]),
    ("several", ["qrels.txt", *BOTH]),
    ("comparison", ["qrels.txt", *BOTH]),
    ("scores", ["runs/saved.tsv"]),
])  # fmt: skip
def test_results_are_not_saved_over_what_they_were_made_of(folder, what, reads):
    """Under any ending that they are saved with."""
    whole = made(what)
    for read in reads:
        for ending in (".txt", ".json", ".tsv", ".csv", ".html"):
            link = folder / f"link{ending}"
            for make in (os.symlink, os.link):
                make(folder / read, link)
                before = contents(folder)
                with pytest.raises(ValueError, match="is an input and would be overwritten"):
                    whole.save(link)
                assert contents(folder) == before
                link.unlink()
    if what != "scores":
        with pytest.raises(ValueError, match="is an input and would be overwritten"):
            whole.save("qrels.txt")
    whole.save("new.json")
    whole.save("new.json")


def test_judged_rankings_are_not_saved_over_what_they_were_made_of(folder):
    rankings = fastir.judged_rankings("qrels.txt", "runs/dense.run")
    for read in ("qrels.txt", "runs/dense.run"):
        os.symlink(folder / read, folder / "link.npz")
        before = contents(folder)
        with pytest.raises(ValueError, match="is an input and would be overwritten"):
            rankings.save("link.npz")
        assert contents(folder) == before
        (folder / "link.npz").unlink()
    rankings.save("new.npz")
    with open("other.npz", "wb") as file:
        rankings.save(file)


def test_where_a_file_is_stays_in_the_process(folder):
    """Neither a saved file nor a pickle names its folder, and what is read back is equal."""
    results = fastir.evaluate("qrels.txt", "runs/dense.run", "map")
    results.save("new.json")
    comparison = fastir.compare("qrels.txt", "runs", "map")
    for data in ((folder / "new.json").read_bytes(), pickle.dumps(results), pickle.dumps(comparison)):
        assert os.fsencode(folder) not in data
    assert fastir.load_results("new.json") == pickle.loads(pickle.dumps(results)) == results
    assert pickle.loads(pickle.dumps(comparison)) == comparison
