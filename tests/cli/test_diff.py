"""`fastir diff`: saved results and runs, in text, Markdown and JSON."""

import json

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


@pytest.fixture
def saved(tmp_path):
    for name, run in (("old", BM25), ("new", DENSE)):
        fastir.evaluate(QRELS, run, ["map", "mean_rank"]).save(tmp_path / f"{name}.json")
    return tmp_path / "old.json", tmp_path / "new.json"


def test_saved_results_and_runs_give_the_same(output, saved):
    old, new = (fastir.load_results(path) for path in saved)
    expected = "\n\n".join(repr(new.diff(old, name, 3)) for name in ("map", "mean_rank")) + "\n"
    assert output("diff", *saved, "--top", 3) == expected
    assert output("diff", BM25, DENSE, "--qrels", QRELS, "-m", "map,mean_rank", "--top", 3) == expected
    assert output("diff", saved[0], DENSE, "--qrels", QRELS, "-m", "map", "mean_rank", "--top", 3) == expected


def test_markdown_for_a_pull_request(output, saved):
    text = output("diff", *saved, "--format", "markdown", "-m", "map")
    assert text.startswith(
        "| metric | old | new | change | gained | lost |\n"
        "| :--- | ---: | ---: | ---: | ---: | ---: |\n"
        "| map | 0.6627 | 0.7661 | +0.1034 | 4 | 2 |\n"
    )
    assert "<details><summary>map by query</summary>" in text and text.count("| q") == 7


def test_json_has_everything(output, saved):
    [found] = json.loads(output("diff", *saved, "-m", "mean_rank", "--format", "json"))
    old, new = (fastir.load_results(path) for path in saved)
    diff = new.diff(old, "mean_rank", 10)
    assert found == json.loads(diff.to_json())
    assert found["n_gains"] == diff.n_gains and found["gains"][0]["change"] == diff.gains[0].change < 0


def test_what_does_not_fit(call, saved, tmp_path):
    code, _, err = call("diff", *saved, "-m", "ndcg@10")
    assert code == 2 and "old.json: it has no metric 'ndcg@10'" in err
    fastir.evaluate(QRELS, BM25, "mrr").save(tmp_path / "other.tsv")
    code, _, err = call("diff", saved[0], tmp_path / "other.tsv")
    assert code == 2 and "no metric in common: map, mean_rank and mrr" in err
    code, _, err = call("diff", saved[0], BM25)
    assert code == 1 and "for runs, --qrels says where the judgments are" in err


@pytest.mark.parametrize(("rule", "code"), [("drop:map>0.01", 4), ("drop:map>0.5", 0), ("worse:map:0.9", 4)])
def test_a_gate_fails_the_new_results(call, saved, rule, code):
    new, old = saved  # the better ones are the old ones here
    pytest.importorskip("scipy")
    assert call("diff", old, new, "--fail-if", rule)[0] == code
    assert call("diff", new, old, "--fail-if", rule)[0] == 0


def test_a_gate_names_the_run_and_evaluates_its_own_metric(call, saved):
    pytest.importorskip("scipy")
    code, out, err = call("diff", DENSE, BM25, "--qrels", QRELS, "-m", "mean_rank", "--fail-if", "drop:map>0.01")
    assert code == 4 and "mean_rank" in out and "map" not in out
    assert err.startswith(f"fastir: fail: run {BM25}: map is 0.103") and "worse than" in err
    code, _, err = call("diff", *saved, "--fail-if", "drop:mrr>0")
    assert code == 2 and "it has no metric 'mrr'" in err
    assert call("diff", *saved, "--fail-if", "drop:mrr")[0] == 1


@pytest.mark.parametrize("format", ["latex", "html"])
def test_other_formats_are_those_of_the_changes(output, saved, format):
    old, new = (fastir.load_results(path) for path in saved)
    tables = [new.diff(old, name, 10).to_table(format).rstrip("\n") + "\n" for name in ("map", "mean_rank")]
    assert output("diff", *saved, "--format", format) == "\n".join(tables)


def test_judgments_may_come_first_as_in_other_commands(call, output):
    expected = output("diff", BM25, DENSE, "--qrels", QRELS, "-m", "map")
    assert output("diff", QRELS, BM25, DENSE, "-m", "map") == expected
    for words in ((BM25,), (QRELS, BM25, DENSE, DENSE), (QRELS, BM25, DENSE, "--qrels", QRELS)):
        code, _, err = call("diff", *words)
        assert code == 1 and "expected OLD and NEW with --qrels QRELS, or QRELS OLD NEW" in err


def test_queries_that_one_side_has_are_new_or_removed(output, tmp_path):
    for name, queries in (("old", ("q1", "q2")), ("new", ("q2", "q3", "q4"))):
        qrels = {query: {"a": 1} for query in queries}
        fastir.evaluate(qrels, {query: {"a": 1.0} for query in queries}, "map").save(tmp_path / f"{name}.json")
    text = output("diff", tmp_path / "old.json", tmp_path / "new.json")
    assert "1 equal, 0 lost, 2 new (such as 'q3'), 1 removed (such as 'q1')" in text
