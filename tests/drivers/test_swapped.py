"""Qrels and a run in each other's place are warned of where their numbers show it, in every shape."""

import gzip
import json
import warnings

import numpy as np
import pytest
from common import SHARED

import fastir
from fastir.evaluation.drivers.coverage import SWAPPED_TEXT

README_QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
README_RUN = {"q1": {"d1": 3.0, "d2": 2.5, "d3": 2.0}, "q2": {"d5": 9.0, "d4": 8.0, "d1": 7.0}}
RNG = np.random.default_rng(7)
DEEP_RUN = {f"q{q}": {f"d{d}": float(score) for d, score in enumerate(RNG.normal(8, 3, 200))} for q in range(5)}
DEEP_QRELS = {f"q{q}": {f"d{d}": int(label) for d, label in enumerate(RNG.integers(0, 3, 40))} for q in range(5)}
WHOLE_RUN = {query: {doc_id: 1000 - d for d, doc_id in enumerate(docs)} for query, docs in DEEP_RUN.items()}
ONE_LABEL = {query: dict.fromkeys(list(docs)[:1], 1) for query, docs in DEEP_QRELS.items()}
PAIRS = {
    "README": (README_QRELS, README_RUN), "deep": (DEEP_QRELS, DEEP_RUN),
    "whole scores": (DEEP_QRELS, WHOLE_RUN), "one label": (ONE_LABEL, DEEP_RUN),
}  # fmt: skip


def rows(nested):
    return [(query, doc_id, number) for query, docs in nested.items() for doc_id, number in docs.items()]


def columns(nested):
    names = ("query_id", "doc_id", "score")
    return dict(zip(names, map(list, zip(*rows(nested), strict=True)), strict=True))


def file(nested, path):
    path.write_text(json.dumps(nested))
    return str(path)


def shapes(qrels, run, tmp_path):
    yield qrels, run
    yield fastir.Qrels.from_dict(qrels), fastir.Run.from_dict(run)
    yield columns(qrels), columns(run)
    yield file(qrels, tmp_path / "qrels.json"), file(run, tmp_path / "run.json")


def messages(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [str(warning.message) for warning in caught if SWAPPED_TEXT in str(warning.message)]


@pytest.mark.parametrize("name", PAIRS)
def test_swapped_data_are_warned_of_and_a_fault(name, tmp_path):
    qrels, run = PAIRS[name]
    for judgments, ranked in shapes(run, qrels, tmp_path):
        assert messages(fastir.evaluate, judgments, ranked, "ndcg@10") == [SWAPPED_TEXT]
    (named,) = messages(fastir.evaluate_many, run, {"x": qrels}, "ndcg@10")
    assert named == f"run 'x': {SWAPPED_TEXT}"
    assert [fault.severity for fault in fastir.check(run, qrels).of(kind="swapped data")] == ["fault"]


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_data_in_their_places_are_not(name, tmp_path):
    qrels, run = PAIRS[name]
    for judgments, ranked in shapes(qrels, run, tmp_path):
        assert messages(fastir.evaluate, judgments, ranked, "ndcg@10") == []
    assert not fastir.check(qrels, run).of(kind="swapped data")


def test_arrays():
    labels, scores = [1, 0, 2, 0], [0.9, 0.3, 0.22, 0.1]
    assert messages(fastir.evaluate_scores, scores, labels, "ndcg") == [SWAPPED_TEXT]
    assert messages(fastir.evaluate_scores, labels, scores, "ndcg") == []
    assert messages(fastir.evaluate_scores, [scores], [labels], "ndcg") == [SWAPPED_TEXT]


@pytest.mark.parametrize("run", [
    {"a": 3, "b": 2, "c": 1},  # ranks turned round
    {"a": 0.5, "b": 0.25, "c": 0}, {"a": 100, "b": 50, "c": 0}, {"a": 2, "b": 1, "c": 0}, {"a": 1.0},
    {"a": 1, "b": 0},
])  # fmt: skip
def test_real_labels_are_legitimate(run):
    assert messages(fastir.evaluate, {"q": {"a": 0.9, "b": 0.4, "c": 0.1}}, {"q": run}, "ndcg") == []


def test_small_whole_scores_are_legitimate():
    run = {"q": {"a": 1, "b": 0, "c": 0}}
    assert messages(fastir.evaluate, {"q": {"a": 2, "b": 1}}, run, "ndcg") == []
    labels = {"q": {"a": 0.5, "b": 0.5, "c": 1.0}}  # which a judge gives
    assert messages(fastir.evaluate, labels, run, "ndcg") == []


def test_one_score_for_all_documents_is_that_of_labels_from_three_queries_on():
    labels = {f"q{n}": {"a": 3.5 + n, "b": 2.25} for n in range(3)}
    for n_queries, expected in ((2, []), (3, [SWAPPED_TEXT])):
        run = {f"q{n}": {"a": 1} for n in range(n_queries)}
        assert messages(fastir.evaluate, labels, run, "ndcg") == expected


@pytest.mark.parametrize("n_documents", [1, 2])
def test_ranks_are_no_labels(n_documents):
    ranks = {"query_id": ["q", "r"] * n_documents, "doc_id": ["a", "a", "b", "b"][: 2 * n_documents]}
    ranks["rank"] = [1, 1, 2, 2][: 2 * n_documents]
    assert messages(fastir.evaluate, {"q": {"a": 0.93, "b": 0.41}, "r": {"a": 0.27, "b": 1.0}}, ranks, "ndcg") == []
    below = {"q": {"a": -1, "b": -2}, "r": {"a": -2, "b": -1}}
    assert messages(fastir.evaluate, {"q": {"a": 0.93, "b": 0.41}, "r": {"a": 0.27, "b": 1.0}}, below, "ndcg") == []


def test_a_source_that_can_be_read_only_once_is_left_alone():
    stream = (row for row in rows(README_QRELS))
    assert messages(fastir.evaluate, README_RUN, stream, "ndcg") == []


def test_the_command(tmp_path, capsys):
    from fastir.cli.main import main

    paths = [file(README_RUN, tmp_path / "run.json"), file(README_QRELS, tmp_path / "qrels.json")]
    main(["eval", *paths])
    assert SWAPPED_TEXT in capsys.readouterr().err


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared collections")
def test_collections():
    """Every run of the shared collections, swapped and in its place."""
    for path in sorted((SHARED / "data").glob("*/*.gz")):
        qrels = path.parent / "qrels.txt.gz"
        with gzip.open(path) as lines:
            is_run = len(next(lines).split()) == 6
        if not is_run or not qrels.exists():
            continue
        run, judged = fastir.Run.from_file(path, duplicates="first"), fastir.Qrels.from_file(qrels, duplicates="first")
        assert messages(fastir.evaluate, judged, run, "ndcg@10", queries="qrels") == []
        scores = run.columns.numbers
        if len(np.unique(scores)) > 100 and np.abs(scores).max() < 2**31:
            swapped = run.to_dict(), judged.to_dict()
            assert messages(fastir.evaluate, *swapped, "ndcg@10", queries="qrels") == [SWAPPED_TEXT], path
