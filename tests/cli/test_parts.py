"""`fastir eval --parts`: one run in many Parquet files, whose rows may be in any order."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from common import EXAMPLES
from processes import patient

import fastir
from fastir.evaluation.partial import row_groups

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
QRELS, BM25 = str(EXAMPLES / "qrels.txt"), str(EXAMPLES / "bm25.run")
READ_TWICE = "only judged documents checked for duplicates"


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """A function that writes the rows of the example, shuffled, to a folder of files in small row groups."""
    monkeypatch.setattr(row_groups, "MAX_ROWS_IN_MEMORY", 0)
    monkeypatch.chdir(tmp_path)
    held = fastir.Run.from_file(BM25).to_dict()
    rows = [(query, doc, score) for query, docs in held.items() for doc, score in docs.items()]
    random.Random(5).shuffle(rows)

    def write(folder="runs", names=("query_id", "doc_id", "score"), more=None, extra=()):
        Path(folder).mkdir(parents=True)
        for number in range(3):
            own = [*rows[number::3], *(extra if number == 2 else ())]
            columns = dict(zip(names, map(list, zip(*own, strict=True)), strict=True))
            table = pyarrow.table({**columns, **{name: [value] * len(own) for name, value in (more or {}).items()}})
            parquet.write_table(table, f"{folder}/{number}.parquet", row_group_size=7)
        return rows

    return write


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html", "csv", "tsv"])
@pytest.mark.parametrize("more", [[], ["-q"], ["--transpose"]], ids=str)
def test_every_format_shows_what_a_file_of_the_run_shows(output, parts, format, more):
    parts("bm25.run.d")
    words = ["-m", "ndcg@10,map,mrr", "--format", format, *more]
    expected = output("eval", QRELS, BM25, *words).replace("bm25", "RUN")
    found = output("eval", QRELS, "--parts", "bm25.run.d", *words).replace("bm25.run.d", "RUN")
    assert found.split() == expected.split()


@pytest.mark.parametrize("threads", [1, 2])
def test_folders_and_patterns_as_the_text_of_the_command_has_them(output, parts, threads):
    parts()
    expected = output("eval", QRELS, BM25, "--format", "tsv").splitlines()[1].split("\t")[1:]
    for word in ("runs", "runs/*.parquet", "r*", str(Path("runs").absolute()), Path("runs").absolute().as_uri()):
        found = output("eval", QRELS, "--parts", word, "--format", "tsv", "--threads", threads)
        assert found.splitlines()[1].split("\t")[1:] == expected, word


def test_a_remote_folder(output, parts):
    fsspec = pytest.importorskip("fsspec")
    parts()
    fsspec.filesystem("memory").put("runs", "/parts_of_the_command", recursive=True)
    expected = output("eval", QRELS, "--parts", "runs", "--format", "json")
    assert output("eval", QRELS, "--parts", "memory://parts_of_the_command", "--format", "json") == expected
    assert output("eval", QRELS, "--parts", "memory://parts_of_the_command/*.parquet", "--format", "json") == expected


def test_the_report_says_which_way_was_chosen(output, parts):
    parts()
    for words, twice in ((["--parts"], True), (["--parts", "--validate", "full"], False)):
        found = json.loads(output("eval", QRELS, "runs", *words, "-q", "--format", "json"))
        assert (READ_TWICE in found["fastir"]["report"]["repairs"]) is twice
        assert found["fastir"]["provenance"]["options"].get("validate", "full") == ("judged" if twice else "full")


def test_validate_full_holds_the_rows_and_finds_all_duplicates(call, parts):
    parts(extra=[(next(iter(fastir.Qrels.from_file(QRELS))), "unjudged", 0.1)] * 2)
    assert call("eval", QRELS, "--parts", "runs")[0] == 0
    code, out, error = call("eval", QRELS, "--parts", "runs", "--validate", "full")
    assert (code, out) == (2, "") and "runs/2.parquet: run: duplicate document 'unjudged'" in error


def test_saved_results_gates_and_comparisons(call, output, parts):
    parts()
    output("eval", QRELS, "--parts", "runs", "-o", "one.json")
    output("eval", QRELS, "--parts", "runs", "-o", "one.parquet")
    saved = fastir.load_results("one.parquet")
    assert dict(saved) == dict(fastir.evaluate(QRELS, BM25, list(saved))) == dict(fastir.load_results("one.json"))
    assert call("eval", QRELS, "--parts", "runs", "--fail-under", "map=0.99")[0] == 4
    assert "runs" in output("compare", "--parts", QRELS, "runs", BM25, "-m", "map")


def test_columns_with_other_names(output, call, parts):
    parts(names=("q", "d", "s"))
    expected = output("eval", QRELS, BM25, "--format", "tsv").split("\t")[-5:]
    named = ["--run-columns", "query_id=q,doc_id=d,score=s"]
    assert output("eval", QRELS, "--parts", "runs", *named, "--format", "tsv").split("\t")[-5:] == expected
    code, _, error = call("eval", QRELS, "--parts", "runs")
    assert code == 2 and "runs: run: the table has no column 'query_id'" in error and "--columns" in error


def test_a_column_with_the_name_of_the_one_run_holds_no_rows(output, parts):
    parts(more={"run": "bm25"})
    found = json.loads(output("eval", QRELS, "--parts", "runs", "-q", "--format", "json"))
    assert READ_TWICE in found["fastir"]["report"]["repairs"]
    assert output("eval", QRELS, "--parts", "runs").splitlines()[1].startswith("bm25 ")


def test_bad_rows_are_one_line_with_file_and_row(call, parts):
    rows = parts(extra=[("q", "d", None)])
    code, out, error = call("eval", QRELS, "--parts", "runs")
    assert (code, out) == (2, "")
    row = len(rows[2::3])
    assert (
        error.startswith(f"fastir: error: runs/2.parquet: run: row {row}: 'score' is null") and error.count("\n") == 1
    )


def test_what_is_not_there_is_an_error(call, parts):
    parts()
    Path("empty").mkdir()
    assert "no Parquet file (.parquet) was found" in call("eval", QRELS, "--parts", "empty")[2]
    assert call("eval", QRELS, "--parts", "nowhere")[0] == 2
    assert call("eval", QRELS, "--parts", "runs", "--validate", "none")[0] == 1


def test_a_pipe_gets_nothing_but_the_table(parts):
    parts()
    words = [sys.executable, "-m", "fastir", "eval", QRELS, "--parts", "runs/*.parquet"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=patient(60))
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 2
