"""fastir agreement, rank-correlation and similarity: what they print is what the functions return."""

import json

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


@pytest.fixture
def model(tmp_path):
    """Other judgments of the same documents."""
    human = fastir.Qrels.from_file(QRELS).to_dict()
    labels = {q: {d: min(n + (i % 3 == 0), 3) for i, (d, n) in enumerate(docs.items())} for q, docs in human.items()}
    fastir.Qrels.from_dict(labels).save(tmp_path / "model.qrels", "trec")
    return tmp_path / "model.qrels"


def test_agreement_prints_the_table_and_which_side_is_which(output, model):
    found = fastir.agreement(QRELS, model)
    assert output("agreement", QRELS, model) == f"{found!r}\na is qrels.txt, b is model.qrels.\n"
    assert json.loads(output("agreement", QRELS, model, "--format", "json")) == json.loads(
        found.to_json(per_query=False)
    )


def test_options_of_agreement_reach_it(output, model):
    words = ("--rel-level", "2", "--kappa-weights", "linear", "--scale", "nominal", "--confidence", "0.9",
             "--truth", "b")  # fmt: skip
    found = fastir.agreement(
        QRELS, model, rel_level=2, kappa_weights="linear", scale="nominal", confidence=0.9, truth="b", n_resamples=50,
        random_state=3,
    )  # fmt: skip
    text = output("agreement", QRELS, model, *words, "--resamples", "50", "--random-state", "3", "--format", "json")
    assert json.loads(text) == json.loads(found.to_json(per_query=False))


def test_agreement_has_a_row_for_each_query(output, model):
    found = fastir.agreement(QRELS, model)
    head, *rows = (line.split("\t") for line in output("agreement", QRELS, model, "-q", "--format", "tsv").splitlines())
    assert head == ["query_id", "overlap", "kappa", "weighted_kappa", "alpha", "ac1", "n"]
    assert {line[0]: {name: float(text) for name, text in zip(head[1:], line[1:], strict=True)} for line in rows} == {
        query_id: {name: pytest.approx(value, nan_ok=True) for name, value in own.items()}
        for query_id, own in found.per_query.items()
    }
    per_query = json.loads(output("agreement", QRELS, model, "-q", "--format", "json"))["per_query"]
    assert list(per_query) == found.query_ids


def test_judgments_of_nothing_in_common_are_named(call, tmp_path):
    (tmp_path / "other.txt").write_text("x 0 doc 1\n")
    code, out, err = call("agreement", QRELS, tmp_path / "other.txt")
    assert (code, out) == (2, "") and "have no query in common: 'q1' and 'x'" in err
    (tmp_path / "broken.txt").write_text("x 0 doc high\n")
    code, out, err = call("agreement", QRELS, tmp_path / "broken.txt")
    assert code == 2 and "broken.txt:1" in err and err.count("\n") == 1


@pytest.mark.parametrize(("words", "message"), [
    (("--resamples", "0"), "--resamples 0: expected 1 or more"),
    (("--confidence", "3"), "--confidence must be between 0 and 1"),
    (("--rel-level", "0"), "--rel-level 0: expected a number above 0"),
    (("--kappa-weights", "cubic"), "--kappa-weights: there is no 'cubic'"),
])  # fmt: skip
def test_wrong_options_of_agreement_are_named(call, words, message):
    code, out, err = call("agreement", QRELS, QRELS, *words)
    assert (code, out) == (1, "") and message in err and err.endswith("see fastir agreement --help\n")


# ---- rank-correlation ------------------------------------------------------------------------------------------------
@pytest.fixture
def results(model):
    runs = {"bm25": BM25, "dense": DENSE}
    return [fastir.evaluate_many(qrels, runs, ["map", "ndcg@10"]) for qrels in (QRELS, model)]


def test_two_files_of_judgments_give_two_leaderboards(output, model, results):
    found = fastir.rank_correlation(*results, "map")
    words = ("rank-correlation", QRELS, model, BM25, DENSE, "-m", "map")
    assert output(*words) == f"{found!r}\na is qrels.txt, b is model.qrels.\n"
    assert json.loads(output(*words, "--format", "json")) == json.loads(found.to_json())
    assert json.loads(output(*words[:-2], "--format", "json"))["metric"] == "ndcg@10"


def test_runs_that_used_the_judge_are_named(output, call, model, tmp_path):
    copy = tmp_path / "copy.run"
    fastir.Run.from_file(BM25).save(copy, "trec")
    words = ("rank-correlation", QRELS, model, BM25, DENSE, copy, "-m", "map", "--format", "json")
    assert json.loads(output(*words, "--used-judge", "copy"))["used_judge"] == ["copy"]
    assert "used the judge of b (copy): on average no rank better in b" in " ".join(
        output(*words[:-2], "--used-judge", "copy").split()
    )
    code, out, err = call(*words, "--used-judge", "copies")
    assert code and out == "" and "--used-judge: there is no system 'copies'" in err


def test_without_swapped_pairs_there_is_no_head_of_a_table(output):
    text = output("rank-correlation", QRELS, QRELS, BM25, DENSE, "-m", "map")
    assert text.startswith("2 systems by map: tau_b ") and "better in a" not in text
    assert "better in a" in output("rank-correlation", QRELS, QRELS, BM25, DENSE, "-m", "map", "--format", "markdown")


def test_saved_results_are_leaderboards_too(output, call, results, tmp_path):
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    for path, side in zip((a, b), results, strict=True):
        side.save(path)
    found = fastir.rank_correlation(*results, "map")
    assert json.loads(output("rank-correlation", a, b, "-m", "map", "--format", "json")) == json.loads(found.to_json())
    code, _, err = call("rank-correlation", a, b, BM25)
    assert code == 1 and "expected two such files, and no runs" in err
    code, _, err = call("rank-correlation", a, b, "--rel-level", "2")
    assert code == 1 and "--rel-level has no effect" in err


@pytest.mark.parametrize("test", ["wilcoxon", "tukey"])
def test_swapped_pairs_are_tested_as_asked(output, model, results, test):
    pytest.importorskip("scipy")
    words = ("rank-correlation", QRELS, model, BM25, DENSE, "-m", "map", "--test", test, "--format", "json")
    correction = None if test == "tukey" else "holm"
    found = fastir.rank_correlation(*results, "map", test=test, correction=correction)
    assert json.loads(output(*words)) == json.loads(found.to_json())


def test_another_winner_and_swapped_pairs_are_said(output, tmp_path):
    """The one relevant document is another one, which the other run has first."""
    (tmp_path / "a.txt").write_text("".join(f"q{n} 0 x 1\nq{n} 0 y 0\n" for n in range(8)))
    (tmp_path / "b.txt").write_text("".join(f"q{n} 0 x 0\nq{n} 0 y 1\n" for n in range(8)))
    for name, order in (("one", "xzy"), ("two", "yzx")):
        rows = [f"q{n} Q0 {d} 1 {3 - place} t\n" for n in range(8) for place, d in enumerate(order)]
        (tmp_path / name).write_text("".join(rows))
    words = ("rank-correlation", tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "one", tmp_path / "two")
    text = output(*words, "-m", "mrr")
    assert "one is best by a, two by b; one falls most, from rank 1 to 2." in text
    assert "1 pair is swapped" in text
    [swap] = json.loads(output(*words, "-m", "mrr", "--format", "json"))["swaps"]
    assert (swap["better"], swap["worse"]) == ("one", "two") and swap["difference_a"] == -swap["difference_b"] > 0


@pytest.mark.parametrize(("words", "message"), [
    ((QRELS, QRELS), "takes two files of judgments and two runs or more"),
    ((QRELS, QRELS, BM25), "expected 2 runs or more, got 1"),
    ((QRELS, QRELS, BM25, DENSE, "-m", "map,mrr"), "expected one metric, got 2"),
    ((QRELS, QRELS, BM25, DENSE, "-m", "ndgc"), "ndgc"),
    ((QRELS, QRELS, BM25, DENSE, "--test", "magic"), "--test: there is no 'magic'"),
    ((QRELS, QRELS, BM25, DENSE, "--correction", "magic"), "--correction: there is no 'magic'"),
    ((QRELS, QRELS, BM25, DENSE, "--confidence", "3"), "--confidence must be between 0 and 1, got 3"),
])  # fmt: skip
def test_what_makes_no_leaderboards_is_refused(call, words, message):
    code, out, err = call("rank-correlation", *words)
    assert (code, out) == (1, "") and message in err


# ---- similarity ------------------------------------------------------------------------------------------------------
MEASURES = ["rbo", "rbo(p=0.8, ties=a)", "overlap@10"]


def test_two_runs_have_a_row(output):
    found = fastir.similarity(BM25, DENSE, MEASURES)
    head, row = (line.split("\t") for line in output("similarity", BM25, DENSE, "-m", *MEASURES, "--format", "tsv")
                 .splitlines())  # fmt: skip
    assert head == ["runs", *MEASURES] and row[0] == "bm25, dense"
    assert list(map(float, row[1:])) == [found[name] for name in MEASURES]
    table = output("similarity", BM25, DENSE, "-m", "rbo,overlap@10")
    assert "*" not in table and f"{found['rbo']:.4f}" in table


def test_several_runs_have_a_row_for_each_pair_and_query(output, tmp_path):
    fastir.Run.from_file(BM25).save(tmp_path / "copy.run", "trec")
    runs = (BM25, DENSE, tmp_path / "copy.run")
    pairs = json.loads(output("similarity", *runs, "--format", "json"))["pairs"]
    assert list(pairs) == ["bm25, dense", "bm25, copy", "dense, copy"]
    assert pairs["bm25, copy"]["mean"]["overlap@10"] == 1.0
    lines = output("similarity", *runs, "-q", "--format", "tsv").splitlines()
    assert lines[0].split("\t") == ["query_id", "runs", "rbo", "overlap@10"]
    assert len(lines) == 1 + 3 * 6 + 3


def test_the_numbers_can_be_kept(output, tmp_path):
    path = tmp_path / "alike.tsv"
    output("similarity", BM25, DENSE, "-o", path)
    assert fastir.load_results(path)["bm25, dense"] == fastir.similarity(BM25, DENSE, ["rbo", "overlap@10"])


def test_an_unknown_measure_or_a_single_run_is_refused(call):
    code, out, err = call("similarity", BM25, DENSE, "-m", "rbq")
    assert (code, out) == (1, "") and "rbq" in err and "see fastir similarity --help" in err
    code, out, err = call("similarity", BM25)
    assert (code, out) == (1, "") and "expected 2 runs or more, got 1" in err


def test_both_leaderboards_are_drawn(output, call, model, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "boards.svg"
    output("rank-correlation", QRELS, model, BM25, DENSE, "--plot", path)
    assert path.read_bytes().startswith(b"<?xml")
    code, out, err = call("rank-correlation", QRELS, model, BM25, DENSE, "--plot", "x.xyz")
    assert (code, out) == (1, "") and "--plot x.xyz: the name must end in" in err
