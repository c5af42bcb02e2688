"""The words of a command line: which of them are metrics, and where a list of them ends."""

import pytest
from common import EXAMPLES

from fastir.cli.arguments import split

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def test_many_metrics_after_one_m(output):
    expected = output("eval", QRELS, BM25, *(part for k in (1, 3, 5) for part in ("-m", f"ndcg@{k}")), "-m", "map")
    before = ("eval", "-m", "ndcg@1,3", "ndcg@5", "map", QRELS, BM25)
    assert output(*before) == output("eval", "--metrics", "ndcg@1,3,5", "-m", "map", QRELS, BM25) == expected
    for words in (["ndcg@1,3,5,map"], ["ndcg@1,3", "ndcg@5", "map"], ["ndcg@1, ndcg@3,5", ",map"]):
        assert output("eval", QRELS, BM25, "-m", *words) == expected


@pytest.mark.parametrize(("word", "names"), [
    ("ndcg@10,map", ["ndcg@10", "map"]),
    ("ndcg@1,3,5", ["ndcg@1", "ndcg@3", "ndcg@5"]),
    ("dcg(gain=exp2, log=2)@1,3", ["dcg(gain=exp2, log=2)@1", "dcg(gain=exp2, log=2)@3"]),
    ("P.5,10,map", ["P.5,10", "map"]),
    ("rbp.8", ["rbp.8"]),
])  # fmt: skip
def test_a_word_is_split_into_metrics(word, names):
    assert split(word) == names
