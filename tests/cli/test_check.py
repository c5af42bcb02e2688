"""fastir check: what it prints is what the function returns, and its exit code says whether there is a fault."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from common import EXAMPLES
from processes import patient
from terminals import Terminal

import fastir
from fastir.cli import terminal

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
BAD = "q1 Q0 a 1 2 t\nq1 Q0 a 2 x t\nq1 Q0\nq2,Q0,b\n"


@pytest.fixture
def bad(tmp_path):
    """A run with four faults, and two missing queries."""
    path = tmp_path / "bad.run"
    path.write_text(BAD)
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    return str(tmp_path / "qrels.txt"), str(path)


def test_a_table_and_the_exit_code_0(output):
    text = output("check", QRELS, BM25, DENSE)
    assert text.rstrip("\n") == repr(fastir.check(QRELS, [BM25, DENSE]))
    assert "unjudged documents" in text


def test_a_fault_is_the_exit_code_4(call, bad):
    code, out, err = call("check", *bad)
    assert (code, err) == (4, "fastir: fail: 5 faults, 0 remarks in 2 files\n")
    assert [line.split("  ")[0] for line in out.splitlines()[1:-2]] == [bad[1]] * 5


@pytest.mark.parametrize("format", ["json", "markdown", "tsv", "csv", "html"])
def test_formats(call, bad, tmp_path, format):
    code, out, _ = call("check", *bad, "--format", format, "--examples", 1)
    assert code == 4
    result = fastir.check(*bad, examples=1)
    assert out.count("malformed line") == (3 if format == "json" else 1)
    if format == "json":
        assert json.loads(out) == json.loads(re.sub(r"format='(\w+)'", r"--run-format \1", result.to_json()))
    file = tmp_path / f"found.{format.replace('markdown', 'md')}"
    assert call("check", *bad, "--examples", 1, "-o", file)[:2] == (4, "")
    assert file.read_text() == out


def test_keywords_are_options_in_what_is_printed(call, bad, tmp_path):
    out = call("check", *bad)[1]
    assert "pass --run-format csv" in out and "format=" not in out
    judgments = tmp_path / "judgments"
    judgments.write_text("q1,0,a,1\n")
    assert "pass --qrels-format csv" in call("check", judgments, bad[1])[1]


def test_rules_of_a_track(call, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("q1\nq2\n")
    words = ("--max-depth", 5, "--exactly-queries", queries, "--tag", "team.*", "--format", "json")
    code, out, _ = call("check", QRELS, BM25, *words)
    result = fastir.check(QRELS, BM25, max_depth=5, exactly_queries=queries, tag="team.*")
    assert (code, out) == (4, result.to_json())
    assert {"too many documents", "unknown query", "tag form"} == {fault.kind for fault in result.of("fault")}


def test_what_is_wrong_with_the_arguments_is_the_exit_code_1(call):
    for words, message in (
        (("--tag", "("), "--tag: '(' is not a regular expression"),
        (("--max-depth", 0), "--max-depth 0: expected 1 or more"),
        (("--examples", -1), "--examples -1: expected 0 or more"),
        (("--format", "parquet"), "--format: there is no 'parquet'"),
        (("--duplicates", "first"), "there is no option '--duplicates'"),
    ):
        code, out, err = call("check", QRELS, BM25, *words)
        assert (code, out) == (1, "") and message in err, err


def test_what_cannot_be_read_is_the_exit_code_2(call, tmp_path):
    packed = tmp_path / "bm25.run.gz"
    packed.write_text(BAD)
    for words in ((QRELS, tmp_path / "missing.run"), (tmp_path / "missing", BM25), (QRELS, packed)):
        code, out, err = call("check", *words)
        assert (code, out) == (2, "") and err.startswith("fastir: error: ")
    code, _, err = call("check", QRELS, BM25, "--exactly-queries", tmp_path / "missing")
    assert code == 2 and "No such file" in err


def test_standard_input_folders_and_names(bad, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "fastir", "check", bad[0], "-"], input=BAD, capture_output=True, text=True
    )
    assert done.returncode == 4 and "standard input" in done.stdout
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.run").write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n")
    (runs / "b.run").write_text(BAD)
    done = subprocess.run(
        [sys.executable, "-m", "fastir", "check", bad[0], runs, "--format", "json"], capture_output=True, text=True
    )
    assert [os.path.basename(file) for file in json.loads(done.stdout)["files"]] == ["qrels.txt", "a.run", "b.run"]


def test_a_bar_over_the_bytes_of_the_runs(call, bars, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(terminal, "BAR_AFTER_SECONDS", 0.0)
    path = tmp_path / "long.run"
    path.write_text("".join(f"q{place} Q0 a 1 1 t\n" for place in range(20_000)))
    call("check", QRELS, path)
    [bar] = bars
    assert bar.closed and bar.options["total"] == path.stat().st_size
    monkeypatch.undo()
    assert "B/s" not in call("check", QRELS, path)[2]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it(tmp_path):
    path = tmp_path / "long.run"
    path.write_text("".join(f"q{place % 1000} Q0 d{place} 1 1 t\n" for place in range(1_500_000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "fastir", "check", QRELS, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=patient(30))
    assert (process.returncode, out, err) == (130, "", "fastir: error: interrupted\n")
