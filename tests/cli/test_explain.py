"""fastir explain: what it prints is what the function returns."""

import pytest
from common import EXAMPLES

import fastir
from fastir.cli.arguments import DEFAULT_METRICS

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


@pytest.mark.parametrize("words", [[], ["-m", "map", "ndcg@10"], ["-m", "map", "--rel-level", "2", "--max-depth", "3"]])
def test_it_prints_what_the_function_returns(output, words):
    options = {"rel_level": 2, "max_depth": 3} if "--max-depth" in words else {}
    metrics = ["map", "ndcg@10"][: 1 if options else 2] if words else list(DEFAULT_METRICS)
    expected = fastir.explain(QRELS, BM25, "q1", metrics, **options)
    assert output("explain", QRELS, BM25, "q1", *words) == f"{expected}\n"


def test_options_of_reading_reach_it(output, files, tmp_path):
    (tmp_path / "pairs").write_text("d1-a d1\nd5-a d5\nd4-a d4\n")
    (tmp_path / "chunks").write_text("q2 Q0 d5-a 1 9 t\nq2 Q0 d4-a 2 8 t\nq2 Q0 d1-a 3 7 t\n")
    words = ["-m", "map", "--parents", tmp_path / "pairs"]
    text = output("explain", files.qrels, tmp_path / "chunks", "q2", *words, "-o", tmp_path / "out.txt")
    assert text == "" and "query q2: map 0.5833" in (tmp_path / "out.txt").read_text()


def test_ids_that_are_numbers_are_found(output, tmp_path):
    (tmp_path / "qrels.json").write_text('{"7": {"a": 1}}')
    (tmp_path / "run.json").write_text('{"7": {"a": 1.0}}')
    assert "query 7: mrr 1.0000" in output("explain", tmp_path / "qrels.json", tmp_path / "run.json", "7", "-m", "mrr")


def test_a_query_or_a_run_that_is_not_there_is_named(call, tmp_path):
    code, out, err = call("explain", QRELS, BM25, "q11")
    assert (code, out, err) == (2, "", f"fastir: error: {QRELS}: there is no query 'q11'; did you mean 'q1'?\n")
    for name in ("bm25.run", "dense.run"):
        (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    code, out, err = call("explain", QRELS, tmp_path, "q1")
    assert (code, out) == (1, "") and "expected one run, got 2" in err


def test_two_conventions_are_compared(output, call):
    text = output("explain", QRELS, BM25, "-m", "ndcg@5", "--convention", "trec_eval-9", "--convention", "lightgbm")
    assert text.startswith("ndcg@5: 0.6823 by trec_eval-9, 0.6535 by lightgbm; 6 queries differ")
    assert "query q3 parts at rank 1: doc-062" in text
    assert "\ntrec_eval-9: query q3: ndcg@5 0.5571" in text and "\nlightgbm: query q3: ndcg@5 0.4359" in text
    one = output("explain", QRELS, BM25, "q2", "-m", "map", "--convention", "fastir", "--convention", "torchmetrics")
    assert "query q2 " in one
    code, _, err = call("explain", QRELS, BM25, "--convention", "beir")
    assert code == 1 and "expected QUERY before -m, or --convention twice" in err
    code, _, err = call("explain", QRELS, BM25, *["--convention", "beir"] * 3)
    assert code == 1 and "expected two at most" in err


@pytest.mark.parametrize("query", ["q1", "301"])
def test_query_may_stand_behind_the_metrics(output, call, query, tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text(f"{query} 0 a 1\n")
    run.write_text(f"{query} Q0 a 1 2 t\n")
    expected = output("explain", qrels, run, query, "-m", "map", "ndcg@5")
    assert output("explain", qrels, run, "-m", "map", "ndcg@5", query) == expected
    assert output("explain", qrels, run, "-m", "map,ndcg@5", query) == expected
    pair = ("--convention", "beir", "--convention", "ranx")
    both = output("explain", qrels, run, query, "-m", "map", *pair)
    assert output("explain", qrels, run, "-m", "map", query, *pair) == both
    code, _, err = call("explain", qrels, run, "-m", "map")
    assert code == 1 and "expected QUERY before -m, or --convention twice" in err
    code, _, err = call("explain", qrels, run, "-m", "map", "ndgc@5")
    assert code == 1 and "unknown metric 'ndgc@5'; did you mean 'ndcg@5'" in err


def test_it_shows_the_ranks_to_the_cutoff_and_depth_sets_another(output):
    ranks = [line.split()[0] for line in output("explain", QRELS, BM25, "q1", "-m", "ndcg@5").splitlines()[2:]]
    assert ranks == ["1", "2", "3", "4", "5", "missing", "7"]
    text = output("explain", QRELS, BM25, "q1", "-m", "ndcg@5", "--depth", 2)
    assert "\n2 " in text and "\n3 " not in text
    assert text.endswith("10 documents below, 3 of them relevant; --depth shows more\n")
    assert "\n12 " in output("explain", QRELS, BM25, "q1", "-m", "ndcg@5", "map"), "a metric without a cutoff"
    kept = output("explain", QRELS, BM25, "q1", "-m", "ndcg@5", "--convention", "lightgbm")
    assert "\n6 " in kept, "a document below the cutoff that contributes"
