"""Saved results as arguments and as output: compared like runs, and written as -o and --format say."""

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for run, path in ((BM25, "bm25.json"), (DENSE, "dense.tsv")):
        fastir.evaluate(QRELS, run, ["ndcg@10", "map"]).save(path)
    return "bm25.json", "dense.tsv"


def test_saved_results_are_compared_as_their_runs_are(call, output, saved):
    found = output("compare", *saved, "--format", "tsv").splitlines()
    expected = output("compare", QRELS, BM25, DENSE, "-m", "ndcg@10,map", "--format", "tsv").splitlines()
    assert found == expected
    gate = ("--baseline", "dense.tsv", "--fail-if", "drop:map>0.01")
    code, _, err = call("compare", *saved, "-m", "ndcg@10", *gate)
    assert code == 4 and err.startswith("fastir: fail: run bm25: map is ")


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("--ties", "input"), 1, "--ties has no effect: bm25.json holds saved results, which are already evaluated"),
    (("--qrels-format", "trec"), 1, "--qrels-format has no effect"),
    (("--all",), 1, "--all has no effect"),
    (("-m", "mrr"), 2, "run 'bm25' has no metric 'mrr'; it has 'ndcg@10', 'map'"),
    (("--baseline", "dense.tsv", "--fail-if", "worse:mrr"), 2, "bm25: it has no metric 'mrr'; it has 'ndcg@10'"),
    (("--test", "nothing"), 1, "test"),
])  # fmt: skip
def test_what_saved_results_cannot_answer(call, saved, arguments, code, message):
    found, out, err = call("compare", *saved, *arguments)
    assert (found, out) == (code, "") and message in err


def test_results_and_a_run_do_not_mix(call, saved):
    code, _, err = call("compare", saved[0], BM25)
    assert code == 2 and "bm25.run" in err


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_parquet_is_a_format_of_files(call, command, tmp_path):
    pytest.importorskip("pyarrow")
    arguments = (command, QRELS, BM25, DENSE, "-m", "map", "--format", "parquet")
    code, out, err = call(*arguments)
    assert (code, out) == (1, "") and "--format parquet: it is written to a file" in err
    assert call(*arguments, "-o", tmp_path / "table.csv")[0] == 1
    path = tmp_path / "saved.parquet"
    assert call(*arguments, "-o", path)[:2] == (0, "")
    if command == "eval":
        assert fastir.load_results(path) == fastir.Evaluator(QRELS, ["map"]).evaluate_many(
            {"bm25": BM25, "dense": DENSE}
        )
    else:
        assert fastir.Comparison.load(path).pairs[0].p_value > 0


def test_the_name_of_a_file_says_its_format(call, saved, tmp_path):
    for command, suffix, beginning in (
        (("eval", QRELS, BM25), ".md", "| run"),
        (("compare", QRELS, BM25, DENSE), ".tex", "%"),
        (("diff", *saved), ".md", "| metric"),
        (("diff", *saved), ".json", "["),
        (("diff", *saved), ".txt", "ndcg@10: "),
    ):
        path = tmp_path / f"out{suffix}"
        assert call(*command, "-o", path)[:2] == (0, "")
        assert path.read_text().startswith(beginning)
    code, _, err = call("compare", QRELS, BM25, DENSE, "-o", tmp_path / "out.doc")
    assert code == 1 and "the name must end in .tsv, .json, .parquet" in err
