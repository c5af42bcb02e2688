"""fastir identify: values on the command line or in a file, and what it says of them."""
# Also of: single_run.

import json

from common import EXAMPLES

from fastir.analyses.identify.tables import read_values

QRELS, RUN, OTHER = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
VALUES = ["--value", "ndcg@5=0.6823", "--value", "map=0.6627"]


def test_values_are_named_and_answered(output):
    text = output("identify", QRELS, RUN, *VALUES)
    assert text.splitlines()[1].split() == ["ndcg@5", "map"] and "reported" in text and "1 " in text
    answers = json.loads(output("identify", QRELS, RUN, *VALUES, "--format", "json"))["answers"]
    assert answers[0]["convention"] == "fastir" and answers[0]["options"] == {}


def test_a_value_that_nothing_gives_has_nearest_settings(output):
    text = output("identify", QRELS, RUN, "--value", "map=0.1234")
    assert text.startswith("none of ") and "the nearest" in text and "*" in text


def test_a_file_of_values_goes_with_runs_by_name(output, tmp_path):
    table = tmp_path / "t.md"
    table.write_text(
        "| system | nDCG@5 | MAP |\n|---|---|---|\n| bm25 | 0.6823 | 0.6627 |\n| other | 0.1234 | 0.2345 |\n"
    )
    assert "0.682326" in output("identify", QRELS, RUN, "--values", str(table))
    assert "none of" in output("identify", QRELS, RUN, "--values", str(table), "--row", "other")
    table.write_text("| system | MAP |\n|---|---|\n| bm25 | 0.6627 |\n| dense | 0.7661 |\n| other | 0.1 |\n")
    both = output("identify", QRELS, RUN, OTHER, "--values", str(table))
    assert " answer" in both and "0.662698" in both and "0.766" in both


def test_a_file_of_values_is_read_once(output, tmp_path, monkeypatch):
    table = tmp_path / "t.csv"
    table.write_text("system,MAP\nbm25,0.6627\n")
    reads = []

    def counted(path):
        reads.append(path)
        return read_values(path)

    for module in ("tables", "search"):
        monkeypatch.setattr(f"fastir.analyses.identify.{module}.read_values", counted)
    assert "0.662698" in output("identify", QRELS, RUN, "--values", str(table)) and reads == [str(table)]


def test_a_value_that_is_not_understood_makes_the_exit_code_1_unless_it_is_ignored(call, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("system,MAP,params,year\nbm25,0.6627,110,1994\n")
    code, out, _ = call("identify", QRELS, RUN, "--values", str(table))
    assert code == 1 and "params 110, year 1994" in out and "0.662698" in out
    code, out, _ = call("identify", QRELS, RUN, "--values", str(table), "--ignore", "params", "--format", "json")
    assert code == 1 and json.loads(out)["not_understood"] == {"year": "1994"}
    code, _, _ = call("identify", QRELS, RUN, "--values", str(table), "--ignore", "params", "--ignore", "year")
    assert code == 0


def test_arguments_that_contradict_are_usage_errors(call, tmp_path):
    for arguments, words in (
        ([QRELS, RUN], "expected --value METRIC=X, or --values FILE"),
        ([QRELS, RUN, "--value", "map"], "expected METRIC=X"),
        ([QRELS, RUN, OTHER, "--value", "map=0.1"], "several runs need --values FILE"),
    ):
        code, _, err = call("identify", *arguments)
        assert code == 1 and words in err
    code, _, err = call("identify", QRELS, RUN, "--value", "ndcg@5=68.2")
    assert code == 2 and "is it a percentage? then give 0.682" in err
