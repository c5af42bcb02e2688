"""`fastir nuggets` and `fastir citations`: what Python gives, as tables and JSON, and wrong files."""

import json

import pytest

import fastir

ROWS = "query_id,run,nugget,importance,assignment\nq1,a,n1,vital,support\nq1,a,n2,okay,not_support\nq1,b,n1,vital,0.5\n"
CITED = "query_id,sentence,citation,support\nq1,1,d,FS\nq1,1,e,NS\nq1,2,,\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "nuggets.csv").write_text(ROWS + "q1,b,n2,okay,support\n")
    (tmp_path / "missing.csv").write_text(ROWS)
    (tmp_path / "citations.csv").write_text(CITED)
    nuggets = [{"text": f"n{i}", "importance": "vital" if i == 1 else "okay"} for i in (1, 2, 3)]
    (tmp_path / "expected.jsonl").write_text(json.dumps({"qid": "q1", "query": "?", "nuggets": nuggets}) + "\n")
    return tmp_path


def test_nuggets_are_those_of_python(output, files):
    path = str(files / "nuggets.csv")
    means = {run: dict(each) for run, each in fastir.evaluate_nuggets(path, ["vital", "all"]).items()}
    printed = json.loads(output("nuggets", path, "-m", "vital,all", "--format", "json"))
    assert {run: each["mean"] for run, each in printed["runs"].items()} == means
    table = output("nuggets", path, "-q", "-m", "vital").split("\n")
    assert [line.split() for line in table[:3]] == [
        ["query_id", "run", "vital"],
        ["q1", "a", "1.0000"],
        ["q1", "b", "0.5000"],
    ]
    assert output("nuggets", path).split("\n")[0].split() == ["run", *fastir.evaluate_nuggets(path, METRICS)["a"]]


METRICS = ["nugget_recall", "nugget_recall_strict", "vital_recall", "vital_recall_strict", "weighted_nugget_recall"]


def test_expected_nuggets_and_missing_verdicts(call, output, files):
    path, expected = str(files / "missing.csv"), str(files / "expected.jsonl")
    code, _, err = call("nuggets", path)
    assert code == 2 and "run 'b', query 'q1': nugget 'n2' has no verdict" in err
    printed = output("nuggets", path, "--expected", expected, "--missing", "zero", "-m", "all", "--format", "csv")
    assert printed.splitlines()[1:3] == [f"a,{1 / 3!r}", f"b,{0.5 / 3!r}"]


def test_citations_are_those_of_python(output, files):
    path = str(files / "citations.csv")
    printed = output("citations", path, "-m", "citation_precision", "--format", "csv")
    assert printed.splitlines()[1] == "run,0.5"
    assert "report_recall" not in output("citations", path)


@pytest.mark.parametrize(("words", "message"), [
    (("nuggets", "none.csv"), "No such file"), (("nuggets", "nuggets.csv", "-m", "vitl"), "did you mean 'vital'"),
    (("citations", "nuggets.csv"), "expected a column 'sentence'"),
    (("nuggets", "nuggets.csv", "--missing", "x"), "missing"),
])  # fmt: skip
def test_wrong_words(call, files, words, message):
    name, path, *rest = words
    code, out, err = call(name, str(files / path), *rest)
    assert code and not out and message in err


def test_forbidden_documents(output, files, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 h -1\n")
    (tmp_path / "x.run").write_text("q1 Q0 h 1 2.0 t\nq1 Q0 a 2 1.0 t\n")
    (tmp_path / "forbidden.txt").write_text("q1 h\n")
    paths = [str(tmp_path / name) for name in ("qrels.txt", "x.run")]
    for words in (("--forbidden", str(tmp_path / "forbidden.txt")), ("--forbidden-level", "-1")):
        line = output("eval", *paths, "-m", "forbidden_hits@1", "--format", "csv", *words).splitlines()[1]
        assert line == "x,1.0"
