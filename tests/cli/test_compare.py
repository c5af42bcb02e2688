"""fastir compare: from files to a table, records or a picture; what it says when something is wrong; Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gen
import pytest
from common import EXAMPLES
from processes import patient
from terminals import Terminal

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
ASKED = ["-m", "ndcg@10", "-m", "map"]


@pytest.fixture(scope="module")
def comparison():
    return fastir.compare(QRELS, {"bm25": BM25, "dense": DENSE}, ["ndcg@10", "map"])


# ---- what is printed -------------------------------------------------------------------------------------------
def test_it_prints_what_the_comparison_shows(output, comparison):
    command = ("compare", QRELS, BM25, DENSE, *ASKED, "--sort", "none")
    assert output(*command) == f"{comparison.to_table()}\n"
    assert output(*command, "--intervals") == f"{comparison.to_table(intervals=True)}\n"
    assert output(*command, "--pairs") == f"{comparison.to_table(rows='pairs')}\n"
    for format in ("markdown", "html", "latex"):
        assert output(*command, "--format", format).rstrip("\n") == comparison.to_table(format).rstrip("\n")
    assert json.loads(output(*command, "--format", "json")) == json.loads(comparison.to_json(per_query=False))
    head, first, second = (line.split("\t") for line in output(*command, "--format", "tsv").splitlines())
    assert head == list(comparison.pairs[0]._fields)
    assert [first[4], second[4]] == [repr(pair.p_value) for pair in comparison.pairs]


def test_groups_of_queries_come_from_a_file(output, call, tmp_path):
    groups = {f"q{number}": "odd" if number % 2 else "even" for number in range(1, 7)}
    file = tmp_path / "groups.tsv"
    file.write_text("".join(f"{query}\t{group}\n" for query, group in groups.items()))
    runs = {"bm25": BM25, "dense": DENSE}
    comparison = fastir.compare(QRELS, runs, ["ndcg@10", "map"], segments=groups, correction="holm")
    command = ("compare", QRELS, BM25, DENSE, *ASKED, "--segments", file, "--correction", "holm")
    assert output(*command, "--sort", "none") == f"{comparison.to_table()}\n"
    assert output(*command, "--sort", "none", "--pairs") == f"{comparison.to_table(rows='pairs')}\n"
    assert json.loads(output(*command, "--format", "json")) == json.loads(comparison.to_json(per_query=False))
    head, *lines = (line.split("\t") for line in output(*command, "--format", "tsv").splitlines())
    assert head == ["segment", *comparison.pairs[0]._fields]
    assert [line[0] for line in lines] == ["odd", "odd", "even", "even", "all", "all"]
    assert lines[3][6] == repr(comparison.segments["even"].pairs[1].adjusted_p)
    rows = output(*command, "--sort", "map", "--format", "csv").splitlines()
    assert [row.split(",")[3] for row in rows[1:]] == ["dense", "bm25"] * 4
    file.write_text("q1 odd\n")
    assert call(*command) == (2, "", f"fastir: error: {file}: segments: query 'q2' has no segment\n")
    file.write_text("q1\n")
    code, out, err = call(*command)
    assert (code, out) == (2, "") and err.endswith("groups.tsv:1: expected a query and a segment, got 1 field: 'q1'\n")


def test_every_option_reaches_the_comparison(output):
    options = {
        "test": "randomization", "n_resamples": 500, "correction": "bonferroni", "family": "all",
        "interval": "bca", "effect": "hedges_gz", "confidence": 0.9, "random_state": 3,
    }  # fmt: skip
    told = [
        "--test", "randomization", "--resamples", 500, "--correction", "bonferroni", "--family", "all",
        "--interval", "bca", "--effect", "hedges_gz", "--confidence", 0.9, "--random-state", 3,
    ]  # fmt: skip
    evaluation = ["--rel-level", 2, "--queries", "intersection", "--ties", "doc_id_asc", "--threads", 2]
    expected = fastir.compare(
        QRELS, {"bm25": BM25, "dense": DENSE}, ["ndcg@10", "map"], rel_level=2, queries="intersection",
        ties="doc_id_asc", **options,
    )  # fmt: skip
    found = output("compare", QRELS, BM25, DENSE, *ASKED, *told, *evaluation, "--format", "json")
    assert json.loads(found) == json.loads(expected.to_json(per_query=False))
    assert {name: json.loads(expected.to_json(per_query=False))["method"][name] for name in ("test", "family")} == {
        "test": "randomization",
        "family": "all",
    }


@pytest.mark.parametrize("baseline", [DENSE, "dense"])
def test_a_baseline_is_named_as_typed_or_as_its_row(output, copies, baseline):
    bm25, copy = copies(BM25, 2)
    rows = output("compare", QRELS, bm25, DENSE, copy, *ASKED, "--baseline", baseline, "--format", "tsv").splitlines()
    assert [row.split("\t")[:3] for row in rows[1:3]] == [["bm25", "dense", "ndcg@10"], ["bm25_2", "dense", "ndcg@10"]]


def test_a_run_may_be_standard_input():
    command = [sys.executable, "-m", "fastir", "compare", QRELS, "-", BM25, *ASKED, "--format", "tsv"]
    done = subprocess.run(command, input=Path(DENSE).read_bytes(), capture_output=True)
    assert done.stderr == b"" and done.stdout.splitlines()[1].startswith(b"-\tbm25\tndcg@10\t")


def test_help_shows_the_defaults(output):
    assert "fastir compare examples/qrels.txt" in output("compare", "--help")


# ---- pictures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "start"), [("x.png", b"\x89PNG"), ("x.svg", b"<?xml"), ("X.PDF", b"%PDF")])
def test_a_picture_is_written_as_its_name_ends(output, comparison, tmp_path, name, start):
    pytest.importorskip("matplotlib")
    assert output("compare", QRELS, BM25, DENSE, *ASKED, "--sort", "none", "--plot", tmp_path / name) == (
        f"{comparison.to_table()}\n"
    )
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_picture_that_cannot_be_written_leaves_what_was_there(call, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    path = tmp_path / "old.png"
    path.write_text("old")
    command = ("compare", QRELS, BM25, DENSE, *ASKED, "--plot")
    code, out, err = call(*command, tmp_path / "x.docx")
    assert (code, out) == (1, "") and "x.docx: the name must end in " in err and ".png" in err
    code, out, err = call(*command, tmp_path / "absent" / "x.png")
    assert (code, out) == (2, "") and "No such file" in err

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    code, out, err = call(*command, path)
    assert (code, out) == (2, "") and err == f"fastir: error: {path}: No space left on device\n"
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["old.png"]


@pytest.mark.parametrize(("package", "arguments", "message"), [
    ("scipy", ["--test", "sign"], "fastir.stats needs SciPy: pip install 'fastir[stats]'"),
    ("matplotlib", ["--plot", "x.png"], "--plot needs matplotlib: pip install 'fastir[plot]'"),
])  # fmt: skip
def test_what_must_be_installed_is_told(package, arguments, message):
    code = (
        f"import sys; sys.modules[{package!r}] = None; from fastir import *; import fastir.cli as cli; "
        f"sys.exit(cli.main({['compare', QRELS, BM25, DENSE, *ASKED, *arguments]}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"fastir: error: {message}") and done.stderr.count("\n") == 1


# ---- exit codes and messages -----------------------------------------------------------------------------------
@pytest.mark.parametrize("arguments", [
    ["compare", QRELS, BM25, "-m", "map"],
    ["compare", QRELS, "-", "-", "-m", "map"],
    ["compare", QRELS, BM25, DENSE, "-m", "map", "--format", "xml"],
    ["compare", QRELS, BM25, DENSE, "-m", "map", "--confidence", "high"],
])  # fmt: skip
def test_usage_errors_are_1(call, arguments):
    code, out, err = call(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("fastir: error: ") and err.endswith("; see fastir compare --help\n")


@pytest.mark.parametrize(("arguments", "words"), [
    (["--test", "magic"], ["'magic'", "randomization"]), (["--correction", "magic"], ["'magic'", "holm"]),
    (["--baseline", "absent"], ["--baseline absent", "bm25, dense"]), (["--confidence", "2"], ["confidence"]),
    (["-m", "gm_map"], ["'gm_map' is a geometric mean"]), (["-m", "ndgc"], ["unknown metric 'ndgc'"]),
])  # fmt: skip
def test_bad_arguments_are_1_and_one_line(call, arguments, words):
    code, out, err = call("compare", QRELS, BM25, DENSE, *ASKED, *arguments)
    assert (code, out) == (1, ""), err
    assert err.startswith("fastir: error: ") and err.count("\n") == 1
    assert all(word in err for word in words), err


def test_warnings_name_their_run(call, tmp_path):
    half = gen.write_run(tmp_path / "half.run", {"q1": {"d1": 1.0}})
    qrels = gen.write_qrels(tmp_path / "qrels", {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}})
    full = gen.write_run(tmp_path / "full.run", {query: {"d1": 1.0} for query in ("q1", "q2", "q3")})
    code, _, err = call("compare", qrels, half, full, "-m", "map")
    assert code == 0 and err.count("\n") == 1
    assert err.startswith("fastir: warning: run 'half': 2 queries of the qrels")


# ---- the progress bar, Ctrl-C ----------------------------------------------------------------------------------
@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_on_a_terminal_and_silence_in_a_pipe(call, bars, monkeypatch, terminal):
    stream = Terminal()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    assert call("compare", QRELS, BM25, DENSE, "-m", "map", "--threads", "1")[0] == 0
    assert stream.getvalue() == ""
    assert len(bars) == terminal
    if terminal:
        assert bars[0].closed and {Path(BM25).stat().st_size} <= bars[0].seen


def test_an_interrupted_comparison_says_so(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        f"q{query} Q0 {doc} 1 {score} tag\n"
        for query in range(300)
        for doc, score in [("a", 1.0), *((f"x{place}", 2.0 + place) for place in range(400))]
    ]
    (tmp_path / "qrels").write_text("".join(f"q{query} 0 {doc} 1\n" for query in range(300) for doc in ("a", "y")))
    (tmp_path / "run").write_text(
        "".join(f"q{query} Q0 a 1 1.0 tag\nq{query} Q0 x 1 {query % 3}.0 tag\n" for query in range(300))
    )
    command = [
        sys.executable, "-m", "fastir", "compare", "qrels", "run", "-", "-m", "mrr", "--test", "bootstrap",
        "--resamples", str(10**8), "--plot", "x.png",
    ]  # fmt: skip
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=tmp_path, **streams) as process:
        try:
            process.stdin.write("".join(rows).encode())  # more than a pipe holds: it is read now
            process.stdin.close()
            time.sleep(1.5)
            assert process.poll() is None, process.stderr.read()
            process.send_signal(signal.SIGINT)
            out, err = process.stdout.read(), process.stderr.read()
            process.wait(patient(20))
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, b"", b"fastir: error: interrupted\n")
    assert not (tmp_path / "x.png").exists()


def test_a_text_is_the_label_of_latex_and_a_number_that_of_rows(output, call, tmp_path):
    words = ("compare", QRELS, BM25, DENSE, "-m", "map", "--format", "latex")
    assert "\\label{tab:runs}" in output(*words, "--label", "tab:runs")
    code, _, err = call(*words[:-1], "table", "--label", "tab:runs")
    assert code == 1 and "--label tab:runs: a text is for latex, and the format is table" in err
    (tmp_path / "seen.csv").write_text("query_id,doc_id,time\nq1,doc-176,1\n")
    assert "map" in call("compare", tmp_path / "seen.csv", BM25, DENSE, "-m", "map", "--label", 1)[1]


def test_pairs_fit_a_hundred_columns(output, tmp_path):
    runs = []
    for name in ("core17.anserini.bm25.rm3", "core17.anserini.bm25.prf", "core17.anserini.ql.prf"):
        runs.append(tmp_path / f"{name}.run")
        runs[-1].write_bytes(Path(BM25 if "ql" in name else DENSE).read_bytes())
    text = output("compare", QRELS, *runs, "--pairs", "--bounds", "-m", "map,mrr")
    assert max(map(len, text.splitlines())) <= 100 and text.count("\nmrr ") == 1
    assert "a: core17.anserini" in text and "all differences are 0" in text
    text = output("compare", QRELS, BM25, DENSE, "--pairs", "-m", "map,mrr")
    assert "map     dense  bm25" in text or "map     bm25  dense" in text
