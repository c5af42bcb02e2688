"""fastir fuse and fastir tune: what they write and print is what the functions return."""

import json
import shlex

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def test_fuse_prints_a_trec_run_or_writes_a_file(output, tmp_path):
    fused = fastir.fuse([BM25, DENSE])
    lines = output("fuse", BM25, DENSE).splitlines()
    assert len(lines) == sum(len(fused[query]) for query in fused)
    assert output("fuse", BM25, DENSE, "-o", tmp_path / "fused.run") == ""
    assert fastir.Run.from_file(tmp_path / "fused.run") == fused


def test_options_of_fuse_reach_it(output, tmp_path):
    words = [
        "--method", "wsum", "--norm", "min-max", "--run-weights", "bm25=0.3,dense=0.7", "--max-depth", 3,
        "--ties", "input",
    ]  # fmt: skip
    output("fuse", BM25, DENSE, *words, "-o", tmp_path / "fused.json")
    fused = fastir.fuse([BM25, DENSE], "wsum", "min-max", [0.3, 0.7], max_depth=3, ties="input")
    assert fastir.Run.from_file(tmp_path / "fused.json") == fused
    output("fuse", BM25, DENSE, "--param", "k=10", "-o", tmp_path / "k.json")
    assert fastir.Run.from_file(tmp_path / "k.json") == fastir.fuse([BM25, DENSE], k=10)


def test_tune_prints_the_table_of_the_folds(output, tmp_path):
    tuning = fastir.tune(QRELS, [BM25, DENSE], "ndcg@10", folds=2)
    text = output("tune", QRELS, BM25, DENSE, "--folds", 2, "--run", tmp_path / "tuned.run")
    table, _, command = text.rstrip("\n").rpartition("\n\n")
    assert table == repr(tuning) and command.startswith(f"fastir fuse {BM25} {DENSE} --method wsum ")
    output(*shlex.split(command)[1:], "-o", tmp_path / "again.run")
    assert (tmp_path / "again.run").read_bytes() == (tmp_path / "tuned.run").read_bytes()
    found = json.loads(output("tune", QRELS, BM25, DENSE, "--folds", 2, "--format", "json", "-q"))
    assert found["value"] == tuning.value
    assert found["weights"] == tuning.weights
    assert found["per_query"] == tuning.results.per_query("ndcg@10")


def test_options_of_tune_reach_it(output):
    words = ["-m", "map", "--method", "rrf", "--norm", "none", "--grid", 20, "--folds", 3, "--random-state", 4]
    tuning = fastir.tune(QRELS, [BM25, DENSE], "map", "rrf", None, grid=20.0, folds=3, random_state=4, rel_level=2)
    assert output("tune", QRELS, BM25, DENSE, *words, "--rel-level", 2) == (
        f"{tuning!r}\n\nfastir fuse {BM25} {DENSE} --param k={tuning.params['k']}\n"
    )


def test_parameters_that_are_learnt_have_a_run_and_no_command(output, tmp_path):
    words = ["--method", "probfuse", "--norm", "none", "--folds", 2, "--run", tmp_path / "tuned.run"]
    assert "fastir fuse" not in output("tune", QRELS, BM25, DENSE, *words)
    tuning = fastir.tune(QRELS, [BM25, DENSE], "ndcg@10", "probfuse", None, folds=2)
    fused = fastir.fuse([BM25, DENSE], "probfuse", **tuning.params)
    assert fastir.Run.from_file(tmp_path / "tuned.run") == fused


def test_tune_draws(output, tmp_path):
    pytest.importorskip("matplotlib")
    output("tune", QRELS, BM25, DENSE, "--folds", 2, "--plot", tmp_path / "weights.svg", "-o", tmp_path / "out.txt")
    assert "<svg" in (tmp_path / "weights.svg").read_text()


@pytest.mark.parametrize("words, message", [
    (["fuse", BM25], "expected 2 runs or more, got 1"),
    (["fuse", BM25, DENSE, "--method", "wsum"], "method 'wsum' needs run_weights"),
    (["fuse", BM25, DENSE, "--run-weights", "a,b"], "--run-weights 'a,b': expected numbers"),
    (["fuse", BM25, DENSE, "--run-weights", "bm25=1,2"], "some have a run and some have none"),
    (["fuse", BM25, DENSE, "--param", "k"], "--param 'k': expected NAME=NUMBER"),
    (["fuse", BM25, DENSE, "--k", "60"], "did you mean '--param k=60'?"),
    (["fuse", BM25, DENSE, "--param", "q=1"], "method 'rrf' has no parameter 'q'"),
    (["fuse", BM25, DENSE, "--max-depth", "0"], "max-depth"),
    (["fuse", BM25, DENSE, "--method", "wsun"], "did you mean 'wsum'?"),
    (["fuse", BM25, DENSE, "--duplicates", "once"], "every document once"),
    (["tune", QRELS, BM25, DENSE, "--folds", "1"], "--folds must be at least 2"),
    (["tune", QRELS, BM25, DENSE, "--folds", "7"], "folds must be at most the number of queries, 6"),
    (["tune", QRELS, BM25, DENSE, "--grid", "0.3"], "a step of weights must divide 1"),
    (["tune", QRELS, BM25, DENSE, "-m", "ndgc@10"], "did you mean 'ndcg@10'"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, words, message):
    code, out, err = call(*words)
    assert (code, out) == (1, "")
    assert message in err
