"""fastir report: the page is that of write_report; what is wrong is said before a run is read."""

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def test_the_page_is_that_of_the_function(call, tmp_path):
    there, here = tmp_path / "there.html", tmp_path / "here.html"
    words = ("-m", "ndcg@10,map", "--k", 5, "--baseline", BM25, "--test", "sign", "-o", there)
    code, out, err = call("report", QRELS, BM25, DENSE, *words)
    assert (code, out, err) == (0, "", "")
    fastir.write_report(QRELS, [BM25, DENSE], ["ndcg@10", "map"], here, k=5, baseline="bm25", test="sign")
    assert there.read_bytes() == here.read_bytes()


@pytest.mark.parametrize(("words", "message"), [
    ((BM25, "-o", "r.html"), "two runs or more"),
    ((BM25, DENSE, "r.html"), "the page is named by -o, as in -o r.html"),
    ((BM25, DENSE, "-o", "r.html", "--k", 0), "--k 0: expected 1 or more"),
    ((BM25, DENSE, "-o", "r.html", "--baseline", "bm52"), "--baseline bm52: there is no such run"),
    ((BM25, DENSE, "-o", BM25), "would be overwritten"),
])  # fmt: skip
def test_usage_errors(call, words, message):
    code, out, err = call("report", QRELS, *words)
    assert (code, out) == (1, "")
    assert message in err
