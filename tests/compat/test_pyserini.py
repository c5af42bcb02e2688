"""Pyserini's trec_eval without Java: what it prints and returns, by hand."""

import pytest

from fastir import FastirError
from fastir.compat.pyserini import trec_eval

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 1\n3 0 z 1\n"
RUN = "1 Q0 x 1 9 t\n1 Q0 a 2 8 t\n1 Q0 b 3 7 t\n2 Q0 y 1 9 t\n2 Q0 c 2 8 t\n4 Q0 a 1 1 t\n3 Q0 x 1 1 t\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "msmarco").write_text("1\tx\t1\n1\ta\t2\n2\tc\t1\n")
    return tmp_path


def call(files, *arguments, run="run", **options):
    return trec_eval(["trec_eval.py", *arguments, str(files / "qrels"), str(files / run)], **options)


def test_the_last_value_of_all_is_returned(files, capsys):
    assert call(files, "-m", "map", "-m", "recip_rank") == 0.3333
    assert capsys.readouterr().out == "map                   \tall\t0.3333\nrecip_rank            \tall\t0.3333\n"


def test_without_unjudged_documents_queries_that_lose_all_are_gone(files, capsys):
    assert call(files, "-remove-unjudged", "-m", "recip_rank") == 1.0
    assert call(files, "-c", "-remove-unjudged", "-m", "recip_rank") == 0.6667


def test_judged_at_cutoffs_is_a_share_of_all_rankings_together(files, capsys):
    assert call(files, "-m", "judged.1,2") == 0.3333
    assert capsys.readouterr().out == "judged_1              \tall\t0.0000\njudged_2              \tall\t0.3333\n"
    assert call(files, "-m", "judged.2", "-m", "map", "-remove-unjudged") == 1.0
    assert capsys.readouterr().out.startswith("map")


def test_values_of_queries(files):
    assert call(files, "-q", "-m", "recip_rank", query_id="1") == 0.5
    assert call(files, "-q", "-m", "recip_rank", return_per_query_results=True) == {
        "1": 0.5, "2": 0.5, "3": 0.0, "all": 0.3333,
    }  # fmt: skip
    with pytest.raises(ValueError, match="need the argument -q"):
        call(files, query_id="1")
    with pytest.raises(KeyError):
        call(files, "-q", "-m", "map", query_id="9")


def test_a_run_of_ms_marco(files):
    assert call(files, "-m", "recip_rank", run="msmarco") == 0.75


@pytest.mark.parametrize("arguments", [("-m", "judged.0"), ("-m", "judged.x"), ("judged.5",), ("-m", "mapp")])
def test_a_wrong_argument_is_an_error_and_the_list_stays(files, arguments):
    args = ["trec_eval.py", *arguments, str(files / "qrels"), str(files / "run")]
    before = list(args)
    with pytest.raises(FastirError):
        trec_eval(args)
    assert args == before
