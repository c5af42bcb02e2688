"""The words of a command line: which of them are metrics, and where a list of them ends."""

import pytest
from common import EXAMPLES

from fastir.request.names import split

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def test_many_metrics_after_one_m(output):
    expected = output("eval", QRELS, BM25, *(part for k in (1, 3, 5) for part in ("-m", f"ndcg@{k}")), "-m", "map")
    before = ("eval", "-m", "ndcg@1,3", "ndcg@5", "map", QRELS, BM25)
    assert output(*before) == output("eval", "--metrics", "ndcg@1,3,5", "-m", "map", QRELS, BM25) == expected
    for words in (["ndcg@1,3,5,map"], ["ndcg@1,3", "ndcg@5", "map"], ["ndcg@1, ndcg@3,5", ",map"]):
        assert output("eval", QRELS, BM25, "-m", *words) == expected


@pytest.mark.parametrize(("word", "names"), [
    ("ndcg@10,map", ["ndcg@10", "map"]), ("ndcg@1,3,5", ["ndcg@1", "ndcg@3", "ndcg@5"]),
    ("dcg(gain=exp2, log=2)@1,3", ["dcg(gain=exp2, log=2)@1", "dcg(gain=exp2, log=2)@3"]),
    ("P.5,10,map", ["P.5,10", "map"]), ("rbp.8", ["rbp.8"]),
])  # fmt: skip
def test_a_word_is_split_into_metrics(word, names):
    assert split(word) == names


@pytest.mark.parametrize("word", ["", " ", ",", " , "])
@pytest.mark.parametrize("command", [("eval", QRELS, BM25), ("to-judge", QRELS, BM25, BM25, "--budget", "1"),
                                     ("compare", QRELS, BM25, BM25), ("similarity", BM25, BM25)])  # fmt: skip
def test_an_empty_name_stands_for_no_default(call, command, word):
    code, out, err = call(*command, "-m", word)
    assert (code, out) == (1, "") and f"-m {word!r}: the name is empty; expected one such as ndcg@10" in err


@pytest.mark.parametrize("command", [
    ("eval", "q.tsv", "r.tsv", "--qrels-format", "trec", "-o", "q.tsv"),
    ("eval", "q.tsv", "runs", "-o", "runs/r.tsv"),
    ("eval", "q.tsv", "runs/*.tsv", "-o", "./runs/../runs/r.tsv"),
    ("eval", "q.tsv", "r.tsv", "-o", "link.tsv"),
    ("compare", "q.tsv", "r.tsv", "s.json", "--segments", "s.json", "-o", "s.json"),
    ("compare", "q.tsv", "r.tsv", "s.json", "--plot", "r.tsv"),
    ("diff", "a.json", "b.json", "-o", "b.json"),
    ("merge-qrels", "q.tsv", "next.json", "-o", "next.json"),
    ("explain", "q.tsv", "r.tsv", "q1", "-o", "q.tsv"),
    ("agreement", "q.tsv", "s.json", "-o", "s.json"),
    ("pool", "r.tsv", "s.json", "--pool-depth", "9", "-o", "s.json"),
])  # fmt: skip
def test_an_output_that_is_an_input_is_refused(call, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("q.tsv", "r.tsv", "s.json", "a.json", "b.json", "next.json", "runs/r.tsv"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "link.tsv").symlink_to("r.tsv")
    code, out, err = call(*command)
    assert (code, out) == (1, "") and "is an input and would be overwritten; see fastir" in err, err
    assert {path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()} == {"mine"}


def test_an_output_that_two_options_name_is_refused(call, tmp_path):
    code, out, err = call("compare", "q", "a", "b", "-o", tmp_path / "x.svg", "--plot", tmp_path / "x.svg")
    assert (code, out) == (1, "") and "are the same file" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("eval", QRELS, BM25, "-m"), ("eval", "-m", QRELS, BM25),
                                   ("compare", "-m", QRELS, BM25, DENSE)])  # fmt: skip
def test_a_file_in_place_of_a_metric_is_called_a_file(call, words):
    code, out, err = call(*words)
    assert (code, out) == (1, "")
    assert "unknown metric" not in err and (
        "this is a file; -m takes names of metrics" in err or "-m: expected METRIC" in err
    )
