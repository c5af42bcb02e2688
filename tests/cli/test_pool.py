"""fastir pool, contributions, leave-one-out, to-judge and merge-qrels: what they print is what the functions return."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from common import EXAMPLES
from processes import has_open, patient

import fastir
from fastir.cli import runs

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
RUNS = {"bm25": BM25, "dense": DENSE}


def rows_of(text):
    head, *lines = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


# ---- pool ------------------------------------------------------------------------------------------------------------
def test_a_pool_has_a_row_for_each_document(output):
    rows = rows_of(output("pool", BM25, DENSE, "--pool-depth", 10, "--format", "tsv"))
    pool = fastir.pool(RUNS, 10)
    assert rows == [{"query_id": q, "doc_id": d, "runs": ",".join(names)} for q, d, names in pool]
    found = json.loads(output("pool", BM25, DENSE, "--pool-depth", 10, "--format", "json"))
    assert (found["runs"], found["pool_depth"], found["n_pooled"]) == (list(RUNS), 10, len(pool))
    assert found["documents"] == [{"query_id": q, "doc_id": d, "runs": list(names)} for q, d, names in pool]
    assert f"{len(pool)} documents of 6 queries from 2 runs to depth 10." in output(
        "pool", BM25, DENSE, "--pool-depth", 10
    )


def test_with_qrels_it_lists_what_they_lack(output):
    missing = fastir.pool(RUNS, 10).unjudged(QRELS)
    rows = rows_of(output("pool", BM25, DENSE, "--pool-depth", 10, "--qrels", QRELS, "--format", "tsv"))
    assert [(row["query_id"], row["doc_id"]) for row in rows] == [row[:2] for row in missing]
    text = output("pool", BM25, DENSE, "--pool-depth", 10, "--qrels", QRELS)
    assert f"81 documents of 6 queries from 2 runs to depth 10; {len(missing)} of them are not judged." in text


def test_a_file_of_qrels_has_a_place_for_labels(output, tmp_path):
    file = tmp_path / "left.qrels"
    assert output("pool", BM25, DENSE, "--pool-depth", 10, "--qrels", QRELS, "-o", file) == ""
    assert file.read_text() == output("pool", BM25, DENSE, "--pool-depth", 10, "--qrels", QRELS, "--format", "qrels")
    assert {line.split()[3] for line in file.read_text().splitlines()} == {"-1"}


# ---- contributions and leave-one-out ---------------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["table", "markdown", "csv"])
def test_contributions_are_those_of_the_function(output, format):
    found = fastir.contributions(QRELS, RUNS, pool_depth=10, rel_level=2)
    words = ("contributions", QRELS, BM25, DENSE, "--pool-depth", 10, "--rel-level", 2, "--format", format)
    assert output(*words) == found.to_table({"table": "text"}.get(format, format)).rstrip("\n") + "\n"
    assert json.loads(output(*words[:-1], "json")) == json.loads(found.to_json(per_query=False))


def test_the_leaderboard_without_its_own_documents(output):
    words = ("leave-one-out", QRELS, BM25, DENSE, "-m", "ndcg@10", "map", "--pool-depth", 10)
    found = fastir.leave_one_out(QRELS, RUNS, ["ndcg@10", "map"], pool_depth=10)
    assert output(*words) == repr(found) + "\n"
    assert json.loads(output(*words, "--format", "json")) == json.loads(found.to_json(per_query=False))
    assert output(*words, "--without", "dense") == found.to_table(team="dense").rstrip("\n") + "\n"
    rows = rows_of(output(*words, "--without", "dense", "--format", "tsv"))
    for row in rows:
        assert float(row["mean without"]) == found.without["dense"][row["run"]][row["metric"]]


@pytest.fixture
def five(tmp_path):
    """Five copies of the examples under names of two teams, and a file of these."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("ours_1", "ours_2", "theirs_1", "theirs_2", "theirs_3"):
        (folder / f"{name}.run").write_text(Path(BM25 if "1" in name else DENSE).read_text())
    (tmp_path / "teams.tsv").write_text(
        "ours_1.run\tours\nours_2\tours\nruns/theirs_1.run\ttheirs\ntheirs_2\ttheirs\ntheirs_3.run\ttheirs\n"
    )
    return tmp_path


def test_teams_come_from_a_file_or_a_pattern(output, five):
    teams = {path.stem: path.stem.partition("_")[0] for path in sorted((five / "runs").iterdir())}
    expected = json.loads(fastir.contributions(QRELS, five / "runs", teams=teams).to_json(per_query=False))
    words = ("contributions", QRELS, five / "runs", "--format", "json")
    assert json.loads(output(*words, "--teams", five / "teams.tsv")) == expected
    assert json.loads(output(*words, "--team-pattern", r"^(\w+)_")) == expected
    assert json.loads(output(*words, "--team-pattern", "ours|theirs")) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("ours_1\tours\n", "run 'ours_2' has no team"),
    ("ours_1\tours\nours_9\tours\n", "there is no run 'ours_9'; did you mean 'ours_"),
    ("ours_1\tours\nours_1.run\ttheirs\n", "run 'ours_1' has two teams, ours and theirs"),
    ("ours_1\tours\nours_1\ttheirs\n", "2: run 'ours_1' has two teams"),
    ("ours_1 a b\n", "1: expected a run and its team, got 3 fields"),
])  # fmt: skip
def test_a_wrong_file_of_teams_is_named(call, five, text, message):
    (five / "teams.tsv").write_text(text)
    code, out, err = call("contributions", QRELS, five / "runs", "--teams", five / "teams.tsv")
    assert (code, out) == (2, "") and f"{five / 'teams.tsv'}:" in err and message in err and err.count("\n") == 1


@pytest.mark.parametrize(("words", "code", "message"), [
    (("--team-pattern", "ours_."), 2, "it does not match the name of run 'theirs_1'"),
    (("--team-pattern", "("), 1, "--team-pattern (: missing )"),
    (("--team-pattern", "a", "--teams", "b"), 1, "--teams and --team-pattern: expected one of them"),
    (("--teams", "absent.tsv"), 2, "absent.tsv: No such file"),
    (("--pool-depth", "0"), 1, "--pool-depth 0: expected 1 or more"),
])  # fmt: skip
def test_wrong_teams_are_named(call, five, words, code, message):
    found, out, err = call("contributions", QRELS, five / "runs", *words)
    assert (found, out) == (code, "") and message in err and err.count("\n") == 1


def test_a_team_that_is_not_there_is_named(call):
    code, out, err = call("leave-one-out", QRELS, BM25, DENSE, "--without", "sparse", "-m", "map")
    assert (code, out) == (2, "") and "there is no team 'sparse'; the teams are bm25, dense" in err


# ---- to-judge and the way back ---------------------------------------------------------------------------------------
def test_a_list_goes_to_a_judge_and_comes_back(output, call, tmp_path):
    file, new = tmp_path / "next.qrels", tmp_path / "new.txt"
    words = ("to-judge", QRELS, BM25, DENSE, "-m", "map", "--budget", 6)
    assert output(*words, "-o", file) == ""
    chosen = fastir.to_judge(QRELS, RUNS, "map", 6)
    lines = file.read_text().splitlines()
    assert lines == [f"{c.query_id} 0 {c.doc_id} -1" for c in chosen]
    file.write_text("".join(f"{line[:-2]}1\n" for line in lines[:4]) + "\n".join(lines[4:]) + "\n")
    code, out, err = call("merge-qrels", QRELS, file, "-o", new)
    assert (code, out) == (0, "")
    assert err == (
        f"fastir: warning: 2 documents have no label yet, such as '{chosen.candidates[4].doc_id}' of query "
        f"'{chosen.candidates[4].query_id}'\n"
    )
    labels = fastir.Qrels.from_file(QRELS).to_dict()
    for candidate in chosen.candidates[:4]:
        labels[candidate.query_id][candidate.doc_id] = 1
    assert fastir.Qrels.from_file(new).to_dict() == labels
    left = json.loads(output("to-judge", new, *words[2:], "--format", "json"))
    assert left["n_unjudged"] == chosen.n_unjudged - 4 and left["uncertainty"] < chosen.uncertainty


def test_influence_is_printed_exactly_for_programs(output):
    words = ("to-judge", QRELS, BM25, DENSE, "--budget", 3, "--pool-depth", 20, "--rel-level", 2, "--max-label", 3)
    chosen = fastir.to_judge(QRELS, RUNS, "ndcg@10", 3, pool_depth=20, rel_level=2, max_label=3)
    rows = rows_of(output(*words, "--format", "tsv"))
    assert [float(row["influence"]) for row in rows] == [c.influence for c in chosen]
    assert "3 of " in output(*words)


def test_two_labels_are_refused_or_decided(output, call, tmp_path):
    (tmp_path / "other.txt").write_text("q1 0 doc-027 0\nq1 0 doc-070 3\n")
    first = next(iter(fastir.Qrels.from_file(QRELS)["q1"].items()))
    (tmp_path / "other.txt").write_text(f"q1 0 {first[0]} {first[1] + 1}\n")
    code, out, err = call("merge-qrels", QRELS, tmp_path / "other.txt")
    assert (code, out) == (2, "")
    assert f"document '{first[0]}' has the label {first[1] + 1}, and had {first[1]}; --duplicates first, last" in err
    text = output("merge-qrels", QRELS, tmp_path / "other.txt", "--duplicates", "max")
    assert text.splitlines()[0] == f"q1 0 {first[0]} {first[1] + 1}"


# ---- as the other commands -------------------------------------------------------------------------------------------
EACH = (
    ("pool", BM25, DENSE, "--pool-depth", "3"), ("contributions", QRELS, BM25, DENSE),
    ("leave-one-out", QRELS, BM25, DENSE, "-m", "map"),
    ("to-judge", QRELS, BM25, DENSE, "-m", "map", "--budget", "3"), ("merge-qrels", QRELS, QRELS),
    ("agreement", QRELS, QRELS), ("rank-correlation", QRELS, QRELS, BM25, DENSE), ("similarity", BM25, DENSE),
    ("fuse", BM25, DENSE), ("tune", QRELS, BM25, DENSE, "--folds", "2"),
)  # fmt: skip


@pytest.mark.parametrize("words", EACH, ids=lambda words: words[0])
def test_a_file_is_written_in_one_step_or_not_at_all(output, call, tmp_path, words):
    file = tmp_path / "out.txt"
    text = output(*words)
    assert output(*words, "-o", file) == "" and file.read_text() == text
    missing = [tmp_path / "absent" if word == BM25 else word for word in words]
    if missing == list(words):
        missing = [*words[:-1], tmp_path / "absent"]
    code, out, err = call(*missing, "-o", file)
    assert (code, out, err) == (2, "", f"fastir: error: {tmp_path / 'absent'}: No such file or directory\n")
    assert file.read_text() == text and [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("words", EACH, ids=lambda words: words[0])
@pytest.mark.parametrize("wrong", [("--formt", "json"), ("--format", "jsn"), ("-o", "x.xyz")])
def test_usage_errors_are_1_and_one_line(call, words, wrong):
    if words[0] in ("merge-qrels", "fuse") and wrong[0] != "--formt":
        return
    code, out, err = call(*words, *wrong)
    assert (code, out) == (1, "") and err.count("\n") == 1 and err.endswith(f"; see fastir {words[0]} --help\n")


@pytest.mark.parametrize(("words", "message"), [
    (("pool", BM25), "--pool-depth"),
    (("to-judge", QRELS, BM25, DENSE), "--budget"),
    (("to-judge", QRELS, BM25, DENSE, "--budget", "0"), "--budget 0: expected 1 or more"),
    (("to-judge", QRELS, BM25, "--budget", "5"), "expected 2 runs or more, got 1"),
    (("to-judge", QRELS, BM25, DENSE, "--budget", "5", "-m", "map,mrr"), "-m map mrr: expected one metric, got 2"),
    (("to-judge", QRELS, BM25, DENSE, "--budget", "5", "-m", "ndgc"), "did you mean"),
    (("leave-one-out", QRELS, BM25, "-m", "map", "--without", "x", "--format", "json"), "--without: JSON"),
    (("merge-qrels", QRELS, QRELS, "--duplicates", "once"), "--duplicates once is for runs"),
])  # fmt: skip
def test_what_is_missing_or_means_nothing_is_said(call, words, message):
    code, out, err = call(*words)
    assert (code, out) == (1, "") and message in err and err.count("\n") == 1


def test_a_bar_shows_how_far_runs_are_read(call, bars, copies, monkeypatch):
    class Terminal:
        def isatty(self):
            return True

        def write(self, text):
            return len(text)

        def flush(self):
            pass

    def slowly(*arguments):
        found = read_run(*arguments)
        time.sleep(0.3)
        return found

    read_run = runs.read_run
    monkeypatch.setattr(runs, "read_run", slowly)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert call("pool", *copies(BM25, 2), "--pool-depth", 3)[0] == 0
    [bar] = bars
    assert bar.closed and bar.options["total"] == 2 * Path(BM25).stat().st_size


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_an_interrupt_ends_it_with_a_line(tmp_path):
    rows = "".join(f"q{n} Q0 doc{d} 1 {d * 7919 % 1000 / 7} tag\n" for n in range(100) for d in range(1000))
    (tmp_path / "run").write_text(rows)
    for n in range(300):
        (tmp_path / f"run{n}").symlink_to(tmp_path / "run")
    (tmp_path / "old.tsv").write_text("old")
    command = [
        sys.executable, "-m", "fastir", "pool", *(f"run{n}" for n in range(300)), "--pool-depth", "9", "-o",
        "old.tsv",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            while not has_open(process, tmp_path / "run"):
                assert process.poll() is None, process.communicate()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=patient(20))
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, b"", b"fastir: error: interrupted\n")
    assert (tmp_path / "old.tsv").read_text() == "old"


@pytest.mark.parametrize("name", ["runs.csv", "packed.gz"])
def test_runs_are_read_as_everywhere(output, tmp_path, name):
    if name == "packed.gz":
        import gzip

        (tmp_path / "bm25.run.gz").write_bytes(gzip.compress(Path(BM25).read_bytes()))
        words = [tmp_path / "bm25.run.gz", DENSE]
    else:
        pytest.importorskip("pyarrow")
        lines = ["run,query_id,doc_id,score"]
        for run, path in RUNS.items():
            for line in Path(path).read_text().splitlines():
                query_id, _, doc_id, _, score, _ = line.split()
                lines.append(f"{run},{query_id},{doc_id},{score}")
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        words = [tmp_path / name]
    found = json.loads(output("pool", *words, "--pool-depth", 10, "--format", "json"))
    assert found["n_pooled"] == len(fastir.pool(RUNS, 10)) and len(found["runs"]) == 2
