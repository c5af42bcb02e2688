"""Labels that are fractions, none of which reaches rel_level: every call says so, and names rel_level=0.5."""

import pickle
import warnings

import numpy as np
import pytest

import fastir

QRELS = {"q": {"a": 0.9, "b": 0.2}, "p": {"c": 0.4}}
RUN = {"q": {"a": 2.0, "b": 1.5}, "p": {"c": 1.5, "d": 0.5}}
FIVE = ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]


def sparse():
    return pytest.importorskip("scipy.sparse").csr_matrix([[0.9, 0.2]])


CALLS = {
    "evaluate": lambda metrics, **options: fastir.evaluate(QRELS, RUN, metrics, **options),
    "Evaluator": lambda metrics, **options: fastir.Evaluator(QRELS, metrics, **options),
    "evaluate_many": lambda metrics, **options: fastir.evaluate_many(QRELS, {"a": RUN, "b": RUN}, metrics, **options),
    "compare": lambda metrics, **options: fastir.compare(QRELS, {"a": RUN, "b": RUN}, metrics, **options),
    "evaluate_lists": lambda metrics, **options: fastir.evaluate_lists([["a"]], [{"a": 0.7}], metrics, **options),
    "evaluate_scores": lambda metrics, **options: fastir.evaluate_scores([0.9, 0.2], [2.0, 1.5], metrics, **options),
    "evaluate_ranked": lambda metrics, **options: fastir.evaluate_ranked([0.9, 0.2], [0, 2], metrics, **options),
    "ideal": lambda metrics, **options: fastir.evaluate_ranked(
        [0, 0.2], [0, 2], metrics, ideal_labels=[0.2, 0.6], ideal_offsets=[0, 2], **options
    ),
    "evaluate_matrix": lambda metrics, **options: fastir.evaluate_matrix([[2.0, 1.5]], sparse(), metrics, **options),
    "evaluate_topk": lambda metrics, **options: fastir.evaluate_topk(np.array([[0, 1]]), sparse(), metrics, **options),
}


def warnings_of(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [str(warning.message) for warning in caught if "rel_level" in str(warning.message)]


@pytest.mark.parametrize("name", CALLS)
def test_every_call_warns_once(name):
    (message,) = warnings_of(CALLS[name], FIVE)
    words = "no label reaches rel_level=1, so no document is relevant to map, mrr, precision@10 and 1 other metric: "
    assert message.startswith(words) and "rel_level=0.5" in message


def test_the_message_counts_the_labels():
    (message,) = warnings_of(fastir.evaluate, {"q": {"a": 0.9, "b": 0.25, "c": 0}}, RUN, "map", queries="qrels")
    assert "relevant to map: 2 labels are fractions, and the largest is 0.9; with rel_level=0.5 " in message


@pytest.mark.parametrize("name", CALLS)
def test_metrics_of_gains_and_a_chosen_level_are_not_warned_of(name):
    assert warnings_of(CALLS[name], ["ndcg", "dcg@3", "num_rel"]) == []
    assert warnings_of(CALLS[name], FIVE, rel_level=0.5) == []
    assert warnings_of(CALLS[name], FIVE, rel_level=2) == []


@pytest.mark.parametrize("labels", [{"a": 1, "b": 0.5}, {"a": 0, "b": 0}, {"a": 1.5}, {"a": -1, "b": 0}, {"a": 1}])
def test_other_labels_are_not(labels):
    assert warnings_of(fastir.evaluate, {"q": labels}, RUN, FIVE, queries="qrels") == []
    assert warnings_of(fastir.evaluate_ranked, list(labels.values()), [0, len(labels)], FIVE) == []


def test_an_unpickled_evaluator_does_not_repeat_it():
    with pytest.warns(fastir.FastirWarning, match="no label reaches"):
        evaluator = fastir.Evaluator(QRELS, "map")
    assert warnings_of(pickle.loads, pickle.dumps(evaluator)) == [] == warnings_of(evaluator.evaluate, RUN)


def test_check_has_a_remark():
    (fault,) = fastir.check(QRELS, RUN).of("remark", kind="labels below 1")
    assert fault.text == "no label reaches 1, the largest is 0.9: rel_level=0.5 makes documents relevant from 0.5 on"
    for labels in ({"a": 1, "b": 0.5}, {"a": 0}, {"a": 1}):
        assert not fastir.check({"q": labels}, RUN).of(kind="labels below 1")


def test_the_command_warns(tmp_path, capsys):
    from fastir.cli.main import main

    (tmp_path / "qrels.txt").write_text("q 0 a 0.9\nq 0 b 0.2\n")
    (tmp_path / "x.run").write_text("q Q0 a 1 2.5 x\nq Q0 b 2 1.5 x\n")
    main(["eval", str(tmp_path / "qrels.txt"), str(tmp_path / "x.run")])
    out, err = capsys.readouterr()
    assert "no label reaches --rel-level 1" in err and "--rel-level 0.5" in err
    assert out.startswith("1 of 1 query has no relevant document\n")


def test_the_head_of_printed_results_counts_queries_without_relevant_documents():
    qrels = {"q": {"a": 1}, "p": {"c": 0}, "o": {"d": 0}}
    run = {"q": {"a": 1.0}, "p": {"c": 1.0}, "o": {"d": 1.0}}
    words = "2 of 3 queries have no relevant document\n"
    results = fastir.evaluate(qrels, run, "map")
    assert repr(results).startswith(words + "map")
    assert repr(fastir.evaluate_many(qrels, {"x": run}, "map")).startswith(words)
    assert not repr(fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map")).startswith("0")
