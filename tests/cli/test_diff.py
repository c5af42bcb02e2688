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
    text = output("diff", *saved, "--markdown", "-m", "map")
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
