"""The command line: tables, formats, exit codes and messages. Streams that break are in test_process.py."""

import csv
import gzip
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import gen
import pytest
from common import EXAMPLES
from processes import has_open, patient

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
METRICS = ["ndcg@10", "map", "num_ret"]
ASKED = [part for metric in METRICS for part in ("-m", metric)]


def cells(table):
    return [line.split() for line in table.splitlines()]


# ---- what is printed -------------------------------------------------------------------------------------------
def test_means_of_one_run(output, files):
    assert output("eval", files.qrels, files.run, *ASKED) == (
        "run  ndcg@10     map  num_ret\n"
        "run   0.7268  0.7083        6\n"
    )  # fmt: skip


def test_a_row_per_run(output):
    header, *rows = cells(output("eval", QRELS, BM25, DENSE, *ASKED))
    assert header == ["run", *METRICS]
    results = fastir.evaluate_many(QRELS, {"dense": DENSE, "bm25": BM25}, METRICS)
    assert output("eval", QRELS, BM25, DENSE, *ASKED) == results.to_table(), "the best run comes first"
    assert rows[0] == ["dense", f"*{results['dense']['ndcg@10']:.4f}", f"*{results['dense']['map']:.4f}", "72"]
    assert output("eval", QRELS, BM25, DENSE, *ASKED, "--transpose") == results.to_table(transpose=True)
    for format in ("markdown", "latex", "html", "csv"):
        runs = (DENSE, BM25) if format == "csv" else (BM25, DENSE)
        assert output("eval", QRELS, *runs, *ASKED, "--format", format) == results.to_table(format)


def test_the_default_metrics_and_all_of_them(output):
    [header, _] = cells(output("eval", QRELS, BM25))
    assert header == ["run", "ndcg@10", "map", "mrr", "precision@10", "recall@100"]
    data = json.loads(output("eval", QRELS, BM25, "--all", "--format", "json"))
    plain = {card.name for card in fastir.metrics() if not (card.groups or card.sampled)}
    assert len(data["mean"]) > 40 and set(data["mean"]) <= plain
    assert {"ndcg", "map", "bpref", "err", "rbp", "judged", "num_rel"} <= set(data["mean"])


def test_a_folder_and_a_pattern_are_several_runs(output, tmp_path):
    (tmp_path / "runs" / "deeper").mkdir(parents=True)
    for name, path in (("b.run", BM25), ("d.run", DENSE)):
        (tmp_path / "runs" / name).write_bytes(Path(path).read_bytes())
    (tmp_path / "runs" / ".hidden").write_text("nothing")
    expected = output("eval", QRELS, tmp_path / "runs" / "b.run", tmp_path / "runs" / "d.run", *ASKED)
    assert output("eval", QRELS, tmp_path / "runs", *ASKED) == expected
    assert output("eval", QRELS, tmp_path / "runs" / "*.run", *ASKED) == expected
    assert output("eval", QRELS, tmp_path / "**" / "?.run", *ASKED) == expected


def test_parts_and_hive_partitions_of_parquet(output, tmp_path):
    pytest.importorskip("pyarrow")
    held = fastir.Run.from_file(BM25)
    for number, query in enumerate(held):
        for folder in ("parts", f"lake/query_id={query}", f"systems/system=b/query_id={query}"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            fastir.Run.from_dict({query: held[query]}).save(tmp_path / folder / f"{number}.parquet")

    def values(*words):
        return [line.split()[1:] for line in output("eval", QRELS, *words, *ASKED).splitlines()]

    expected = values(BM25)
    assert values(tmp_path / "parts", "--parts") == values(tmp_path / "parts" / "*.parquet", "--parts") == expected
    assert values(tmp_path / "lake") == values(tmp_path / "systems") == expected
    assert "\nb " in output("eval", QRELS, tmp_path / "systems", *ASKED)
    assert len(values(tmp_path / "parts", "--queries", "qrels")) == 1 + len(held)


def test_columns_with_unusual_names(output, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "run.csv").write_text("question,passage,sim\nq1,d1,1.0\n")
    (tmp_path / "qrels.csv").write_text("question,passage,grade\nq1,d1,1\n")
    names = "query_id=question,doc_id=passage,score=sim,label=grade"
    files = (tmp_path / "qrels.csv", tmp_path / "run.csv")
    sides = ("--qrels-columns", "label=grade", "--run-columns", "score=sim")
    for options in (("--columns", names), ("--columns", names.partition(",score")[0], *sides)):
        assert cells(output("eval", *files, "-m", "mrr", *options))[1] == ["run", "1.0000"]
        formats = ("--qrels-format", "csv", "--run-format", "csv")
        assert cells(output("eval", *files, "-m", "mrr", *options, *formats))[1] == ["run", "1.0000"]


@pytest.mark.parametrize("name", ["x.json", "x.tsv", "x.parquet"])
def test_a_file_that_holds_the_results(output, name, tmp_path):
    assert output("eval", QRELS, BM25, DENSE, *ASKED, "-o", tmp_path / name) == ""
    assert fastir.load_results(tmp_path / name) == fastir.evaluate_many(QRELS, {"bm25": BM25, "dense": DENSE}, METRICS)
    assert output("eval", QRELS, BM25, *ASKED, "-o", tmp_path / name) == ""
    assert fastir.Results.load(tmp_path / name) == fastir.evaluate(QRELS, BM25, METRICS)


def test_a_file_that_holds_what_would_be_printed(output, call, tmp_path):
    for name, format in (
        ("x.md", "markdown"), ("x.tex", "latex"), ("x.csv", "csv"), ("x.txt", "table"), ("x.html", "html"),
    ):  # fmt: skip
        assert output("eval", QRELS, BM25, *ASKED, "-o", tmp_path / name) == ""
        assert (tmp_path / name).read_text() == output("eval", QRELS, BM25, *ASKED, "--format", format)
    output("eval", QRELS, BM25, *ASKED, "-o", tmp_path / "plain", "--format", "json", "-q")
    assert (tmp_path / "plain").read_text() == output("eval", QRELS, BM25, *ASKED, "--format", "json", "-q")
    code, _, err = call("eval", QRELS, BM25, *ASKED, "-o", tmp_path / "x.xls")
    assert code == 1 and "the name must end in .tsv, .json, .parquet, .txt" in err and not (tmp_path / "x.xls").exists()


def test_threads_do_not_show(output, copies):
    runs = copies(BM25, 3) + copies(DENSE, 3)
    tables = {output("eval", QRELS, *runs, *ASKED, "-q", "--format", "tsv", "--threads", n) for n in (1, 2, 5)}
    assert len(tables) == 1


def test_a_row_per_query_then_the_mean(output, files):
    assert output("eval", files.qrels, files.run, *ASKED, "-q") == (
        "query_id  ndcg@10     map  num_ret\n"
        "q1         0.7602  0.8333        3\n"
        "q2         0.6934  0.5833        3\n"
        "mean       0.7268  0.7083        6\n"
    )  # fmt: skip


def test_a_row_per_query_and_run_for_several_runs(output, files):
    options = ("-m", "map", "-m", "num_ret", "-q", "--queries", "intersection")
    assert output("eval", files.qrels, files.half, files.run, *options) == (
        "query_id  run      map  num_ret\n"
        "q1        half  0.8333        3\n"
        "q1        run   0.8333        3\n"
        "q2        run   0.5833        3\n"
        "mean      half  0.8333        3\n"
        "mean      run   0.7083        6\n"
    )  # fmt: skip


def test_markdown(output, files, tmp_path):
    odd = tmp_path / "a|b.run"
    Path(files.run).rename(odd)
    assert output("eval", files.qrels, odd, "-m", "map", "-m", "num_ret", "--format", "markdown") == (
        "| run | map | num\\_ret |\n"
        "| :--- | ---: | ---: |\n"
        "| a\\|b | 0.7083 | 6 |\n"
    )  # fmt: skip


@pytest.mark.parametrize("flags", [[], ["-q"]])
def test_tsv_is_exact(output, flags):
    printed = output("eval", QRELS, BM25, *ASKED, *flags, "--format", "tsv")
    header, *rows = csv.reader(io.StringIO(printed), delimiter="\t")
    results = fastir.evaluate(QRELS, BM25, METRICS)
    if flags:
        assert header == ["query_id", *METRICS]
        table = {row[0]: dict(zip(METRICS, map(float, row[1:]), strict=True)) for row in rows}
        assert table == {**results.to_dict(), "mean": dict(results)}
    else:
        assert header == ["run", *METRICS] and [row[0] for row in rows] == ["bm25"]
        assert dict(zip(METRICS, map(float, rows[0][1:]), strict=True)) == dict(results)


def test_json_of_one_run_is_what_save_writes(output, tmp_path):
    results = fastir.evaluate(QRELS, BM25, METRICS)
    results.save(tmp_path / "saved.json")
    assert output("eval", QRELS, BM25, *ASKED, "-q", "--format", "json") == (tmp_path / "saved.json").read_text()
    assert json.loads(output("eval", QRELS, BM25, *ASKED, "--format", "json")) == {"mean": dict(results)}


def test_json_of_several_runs_names_them(output):
    data = json.loads(output("eval", QRELS, BM25, DENSE, *ASKED, "-q", "--format", "json"))
    expected = {
        name: json.loads(fastir.evaluate(QRELS, run, METRICS).to_json())
        for name, run in (("bm25", BM25), ("dense", DENSE))
    }
    for own in expected.values():
        del own["fastir"]["crc32"]  # of a file that holds nothing else
    assert data == {"runs": expected}


def test_options_reach_the_evaluation(output, files):
    for flags, options in (
        (["--rel-level", "2"], {"rel_level": 2}), (["--queries", "strict"], {"queries": "strict"}),
        (["--ties", "doc_id_asc"], {"ties": "doc_id_asc"}), (["--judged-only"], {"judged_only": True}),
        (["--max-depth", "2"], {"max_depth": 2}), (["--score-dtype", "float32"], {"score_dtype": "float32"}),
        (["--threads", "1"], {"n_threads": 1}),
    ):  # fmt: skip
        data = json.loads(output("eval", files.qrels, files.run, *ASKED, *flags, "--format", "json"))
        assert data["mean"] == dict(fastir.evaluate(files.qrels, files.run, METRICS, **options)), flags


def test_duplicates_are_kept_as_told_and_counted(call, files):
    with open(files.run, "a") as run:
        run.write("q1 Q0 d1 0 -1.0 tag\n")
    for keep in ("first", "last", "max", "once"):
        code, out, err = call("eval", files.qrels, files.run, "-m", "map", "--duplicates", keep, "--format", "json")
        assert code == 0 and err.startswith("fastir: warning: ") and "duplicate" in err
        with pytest.warns(fastir.FastirWarning, match="duplicate"):
            expected = fastir.evaluate(files.qrels, files.run, "map", duplicates=keep)
        assert json.loads(out)["mean"]["map"] == expected["map"]


def test_parents_come_from_a_file(call, files, tmp_path):
    path = tmp_path / "parents.tsv"
    path.write_text("d1\td2\nd3\td2\n")
    for options in ({}, {"aggregate": "sum"}, {"duplicates": "once"}):
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        code, out, _ = call(
            "eval", files.qrels, files.run, "-m", "map", "--parents", str(path), "--format", "json", *flags
        )
        expected = fastir.evaluate(files.qrels, files.run, "map", parents=path, **options)
        assert code == 0
        assert json.loads(out)["mean"]["map"] == expected["map"]
    code, _, err = call("eval", files.qrels, files.run, "-m", "map", "--aggregate", "sum")
    assert code == 1 and "--aggregate sum needs parents" in err


def test_ids_come_out_as_the_bytes_that_went_in(tmp_path):
    (tmp_path / "qrels").write_bytes(b"q\xff 0 d 1\n")
    (tmp_path / "run").write_bytes(b"q\xff Q0 d 1 1.0 t\n")
    command = [sys.executable, "-m", "fastir", "eval", "qrels", "run", "-m", "map", "-q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert b"q\xff" in done.stdout


def test_the_run_may_be_standard_input(files):
    arguments = ("eval", files.qrels, "-", files.half, "-m", "map", "--queries", "intersection")
    command = [sys.executable, "-m", "fastir", *arguments]
    done = subprocess.run(command, input=Path(files.run).read_bytes(), capture_output=True, check=True)
    assert cells(done.stdout.decode()) == [["run", "map"], ["half", "*0.8333"], ["-", "0.7083"]]


def test_a_compressed_run(output, files, tmp_path):
    packed = tmp_path / "run.gz"
    packed.write_bytes(gzip.compress(Path(files.run).read_bytes()))
    assert cells(output("eval", files.qrels, packed, "-m", "map"))[1] == ["run", "0.7083"]


# ---- the other commands ----------------------------------------------------------------------------------------
# ---- exit codes and messages -----------------------------------------------------------------------------------
def test_arguments_that_mean_nothing_are_1_and_one_line(call, files):
    for arguments, words in (
        (("-m", "ngcd@10"), ("unknown metric 'ngcd@10'", "ndcg@10")),
        (("-m", "map", "ngcd@10"), ("unknown metric 'ngcd@10'", "ndcg@10")), (("-m", "ndcg@0"), ("ndcg@0",)),
        (("-m", "map", "--rel-level", "-1"), ("--rel-level",)), (("-m", "map", "--max-depth", "0"), ("--max-depth",)),
        (("-m", "map", "--threads", "-1"), ("--threads",)),
    ):  # fmt: skip
        code, out, err = call("eval", files.qrels, files.run, *arguments)
        assert (code, out) == (1, ""), err
        assert err.startswith("fastir: error: ") and err.count("\n") == 1
        assert all(word in err for word in words), err


def test_bad_input_is_2_and_one_line(call, files, tmp_path):
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 abc t\n")
    other = gen.write_run(tmp_path / "other.run", {"elsewhere": {"d1": 1.0}})
    for arguments, words in (
        ((files.qrels, broken, "-m", "map"), ("broken.run:2", "'abc'")),
        ((files.qrels, tmp_path / "absent.run", "-m", "map"), ("absent.run", "No such file")),
        ((tmp_path / "absent", files.run, "-m", "map"), ("absent", "No such file")),
        ((tmp_path, files.run, "-m", "map"), (tmp_path.name, "no Parquet file")),
        ((files.qrels, tmp_path / "*.nothing", "-m", "map"), ("no file was found",)),
        ((files.qrels, other, "-m", "map"), ("elsewhere",)),
        ((files.qrels, files.half, "-m", "map", "--queries", "strict"), ("q2",)),
        ((files.qrels, files.run, files.half, broken, "-m", "map"), ("broken.run:2",)),
    ):  # fmt: skip
        code, out, err = call("eval", *arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("fastir: error: ") and err.count("\n") == 1
        assert all(word in err for word in words), err


def test_a_warning_is_one_line_and_not_an_error(call, files):
    code, out, err = call("eval", files.qrels, files.half, "-m", "map")
    assert code == 0 and cells(out)[1] == ["half", "0.4167"]
    assert err.startswith("fastir: warning: ") and err.count("\n") == 1 and "q2" in err


def test_a_warning_names_its_run_when_there_are_several(call, files):
    code, _, err = call("eval", files.qrels, files.run, files.half, "-m", "map")
    assert code == 0
    assert err.startswith("fastir: warning: run 'half': 1 query of the qrels is missing") and err.count("\n") == 1


def test_the_same_warning_of_many_runs_is_one_line(call, files, copies):
    code, _, err = call("eval", files.qrels, *copies(files.half, 50), "-m", "map")
    assert code == 0 and err.count("\n") == 1
    assert err.startswith("fastir: warning: run 'half': 1 query of the qrels") and "(and so for 49 more)" in err


def test_an_error_names_its_run(call, files, tmp_path):
    gen.write_run(tmp_path / "other.run", {"elsewhere": {"d1": 1.0}})
    for n_threads in (1, 3):
        runs = files.run, tmp_path / "other.run"
        code, out, err = call("eval", files.qrels, *runs, "-m", "map", "--threads", n_threads)
        assert (code, out) == (2, "")
        assert err.startswith("fastir: error: run 'other': no query in common: ") and err.count("\n") == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("n_threads", [1, 3])
def test_several_runs_are_interrupted_at_once(tmp_path, n_threads):
    rows = "".join(f"QUERY Q0 doc{number} 1 {number * 7919 % 1000 / 7} tag\n" for number in range(1000))
    (tmp_path / "qrels").write_text("q1 0 doc1 1\n")
    (tmp_path / "run").write_text("".join(rows.replace("QUERY", f"q{number}") for number in range(1000)))
    for number in range(300):
        (tmp_path / f"run{number}").symlink_to(tmp_path / "run")
    arguments = ["eval", "qrels", *(f"run{number}" for number in range(300)), "-m", "map", "--threads", str(n_threads)]
    command = [sys.executable, "-m", "fastir", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            while not has_open(process, tmp_path / "run"):
                assert process.poll() is None, process.communicate()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=patient(20))
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, b"", b"fastir: error: interrupted\n")


# ---- the progress bar ------------------------------------------------------------------------------------------
# ---- intervals -----------------------------------------------------------------------------------------------------
def test_intervals_of_the_means(output, tmp_path):
    pytest.importorskip("scipy")
    metrics = ["ndcg@10", "num_ret"]
    results = fastir.evaluate_many(QRELS, [BM25, DENSE], metrics)
    words = ("eval", QRELS, BM25, DENSE, "-m", *metrics, "--ci", "--sort", "none")
    assert output(*words) == results.to_table(interval="percentile").rstrip("\n") + "\n"
    assert output(*words, "--interval", "t", "--confidence", ".9", "--format", "csv") == results.to_table(
        "csv", interval="t", confidence=0.9
    )
    head, *rows = [line.split("\t") for line in output(*words, "--interval", "bca", "--format", "tsv").splitlines()]
    assert head == ["run", "ndcg@10", "ndcg@10 low", "ndcg@10 high", "num_ret"]
    for row in rows:
        assert (float(row[2]), float(row[3])) == results[row[0]].interval("ndcg@10", "bca")
    printed = json.loads(output(*words, "--format", "json"))["runs"]["bm25"]
    low, high = results["bm25"].interval("ndcg@10")
    means = {"ndcg@10": {"low": low, "high": high}, "num_ret": None}
    assert printed["intervals"] == {"method": "percentile", "confidence": 0.95, "means": means}
    file = tmp_path / "one.json"
    output("eval", QRELS, BM25, "-m", *metrics, "--ci", "-o", file)
    assert json.loads(file.read_text())["intervals"]["means"] == means
    assert fastir.load_results(file) == results["bm25"]
    last = [line.split() for line in output(*words, "-q", "--format", "tsv").splitlines()[-4:]]
    assert [line[:2] for line in last] == [[end, run] for end in ("low", "high") for run in ("bm25", "dense")]
    assert float(last[0][2]) == low


@pytest.mark.parametrize(("words", "message"), [
    (("--interval", "t"), "--interval: it belongs to --ci"),
    (("--confidence", "0.9"), "--confidence: it belongs to --ci"),
    (("--ci", "--bounds"), "--ci: --bounds prints the bounds of single values"),
    (("--ci", "-o", "x.parquet"), "--ci: intervals are not written as Parquet"),
    (("--ci", "--confidence", "95"), "confidence must be between 0 and 1"),
])  # fmt: skip
def test_intervals_that_cannot_be_are_refused(call, words, message):
    code, out, err = call("eval", QRELS, BM25, "-m", "map", *words)
    assert code == 1 and message in err and not out
