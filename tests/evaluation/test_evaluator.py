"""The public functions and classes as the caller meets them: options, coverage of queries, warnings, what is refused.

Values are compared with the oracle in test_oracle.py, ways in with each other in test_invariants.py.
"""
# Also of: doc_weights, evaluate, rules.

import copy
import gzip
import pickle

import gen
import numpy as np
import pytest

import fastir

QRELS = {"q2": {"a": 1, "b": 0}, "q1": {"c": 2}, "q0": {"d": 0}}
HALF = {"q0": {"d": 1.0}, "q9": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}  # lacks q1, has q9 besides


@pytest.mark.parametrize(("options", "error"), [
    ({"rel_level": 0}, ValueError), ({"rel_level": -1}, ValueError), ({"rel_level": 0.0}, ValueError),
    ({"rel_level": "1"}, TypeError), ({"rel_level": 2**31}, ValueError),
    ({"max_depth": 0}, ValueError), ({"max_depth": 2.5}, TypeError), ({"max_depth": "10"}, TypeError),
    ({"n_threads": 0}, ValueError), ({"n_threads": -1}, ValueError), ({"n_threads": 1.5}, TypeError),
    ({"queries": "all"}, ValueError), ({"ties": "best"}, ValueError), ({"convention": "trec"}, ValueError),
    ({"score_dtype": "float16"}, ValueError), ({"score_dtype": "foo"}, ValueError),
    ({"duplicates": "median"}, ValueError),
])  # fmt: skip
def test_an_option_out_of_its_range_is_named(options, error):
    [(name, value)] = options.items()
    for call in (fastir.Evaluator, lambda qrels, metrics, **options: fastir.evaluate(qrels, HALF, metrics, **options)):
        with pytest.raises(error, match=name) as caught:
            call(QRELS, "mrr", **options)
        assert str(value) in str(caught.value) or type(value).__name__ in str(caught.value)


def test_numpy_integers_are_integers():
    options = {"rel_level": np.int8(2), "max_depth": np.uint64(1), "n_threads": np.int64(1)}
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"b": 2.0, "a": 1.0}}
    results = fastir.evaluate(qrels, run, ["mrr", "num_rel", "num_ret"], **options)
    assert dict(results) == {"mrr": 1.0, "num_rel": 1, "num_ret": 1}


def test_an_evaluator_keeps_what_it_was_given():
    qrels, metrics = copy.deepcopy(QRELS), ["mrr", "num_rel"]
    evaluator = fastir.Evaluator(qrels, metrics, queries="qrels")
    qrels["q2"].clear()
    metrics.append("map")
    assert dict(evaluator.evaluate(HALF)) == {"mrr": 0.5 / 3, "num_rel": 2}


RUN = {"q2": {"b": 2.5, "a": -1e300}, "q1": {"é": float("inf"), "文": -0.0, "c": 5e-324}, "q0": {"#1": 0.1}}
KINDS = [(fastir.Qrels, {"q2": {"a": 1, "b": 0}, "q1": {"é": -2, "c": 2**31 - 1}}), (fastir.Run, RUN)]


@pytest.fixture(params=KINDS, ids=["Qrels", "Run"])
def kind(request):
    return request.param


def test_it_reads_like_the_dict_it_came_from(kind):
    cls, data = kind
    made = cls.from_dict(data)
    assert len(made) == len(data)
    assert list(made) == list(data)
    assert made.to_dict() == data
    assert all(made[query] == data[query] for query in data)
    assert "q2" in made and "q7" not in made
    with pytest.raises(KeyError, match="q7"):
        made["q7"]


def test_it_can_be_compared_copied_and_pickled(kind):
    cls, data = kind
    made = cls.from_dict(data)
    assert made == cls.from_dict(data) == copy.deepcopy(made)
    assert all(pickle.loads(pickle.dumps(made, protocol)) == made for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1))
    assert made != cls.from_dict({**data, "q2": {"a": 0}})
    assert made != cls.from_dict({"q2": data["q2"]})
    assert made != data and made != 3


def test_it_does_not_follow_the_dict_it_came_from(kind):
    cls, data = kind
    changing = copy.deepcopy(data)
    made = cls.from_dict(changing)
    changing["q2"].clear()
    made.to_dict()["q1"].clear()
    made["q1"].clear()
    assert made.to_dict() == data


@pytest.mark.parametrize("name", ["saved.txt", "saved.txt.gz"])
def test_a_saved_file_reads_back_exactly(kind, name, tmp_path):
    cls, data = kind
    path = tmp_path / name
    cls.from_dict(data).save(path)
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    for again in (cls.from_file(path), cls.from_file(str(path), format="trec")):
        assert again == cls.from_dict(data)
        assert list(again) == list(data)


@pytest.mark.parametrize("bad", ["two words", "tab\there", "", "line\nbreak"])
def test_ids_that_a_file_cannot_hold_are_refused_and_leave_no_file(kind, bad, tmp_path):
    cls, _ = kind
    for data in ({bad: {"a": 1}}, {"q": {bad: 1}}):
        with pytest.raises(ValueError, match="cannot write"):
            cls.from_dict(data).save(tmp_path / "saved.txt")
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_is_refused(kind, tmp_path):
    with pytest.raises(ValueError, match=r"unknown format 'xml'; expected one of trec, .*json"):
        kind[0].from_file(tmp_path / "any", format="xml")
    with pytest.raises(ValueError, match=r"unknown format 'beir'; expected one of trec, json, parquet"):
        kind[0].from_dict({}).save(tmp_path / "any", format="beir")
    assert not list(tmp_path.iterdir())


def test_files_are_read_with_the_query_order_of_first_appearance(tmp_path):
    (tmp_path / "qrels").write_text("b 0 x 1\na 0 x 1\nb 0 y 2\n")
    assert fastir.Qrels.from_file(tmp_path / "qrels").to_dict() == {"b": {"x": 1, "y": 2}, "a": {"x": 1}}


@pytest.mark.parametrize("document", ["a", "unjudged"])
@pytest.mark.parametrize("far", [False, True])
def test_a_document_twice_is_an_error_wherever_it_is(document, far, tmp_path):
    lines = [f"q Q0 {document} 1 9.0 t", *(f"q Q0 d{number} 2 1.0 t" for number in range(500 * far))]
    (tmp_path / "run").write_text("\n".join([*lines, f"q Q0 {document} 3 0.5 t", ""]))
    with pytest.raises(fastir.DuplicateError, match=rf"run:{len(lines) + 1}: .*'{document}'.*'q'.* line 1\b") as caught:
        fastir.evaluate({"q": {"a": 1}}, tmp_path / "run", "mrr")
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "run"), len(lines) + 1)


@pytest.mark.parametrize(("keep", "rank"), [("first", 3), ("last", 2), ("max", 1)])
def test_duplicates_are_repaired_as_told_and_counted(keep, rank, tmp_path):
    """a stands at 1, 9 and 5; b at 6 and c at 4."""
    rows = ("a", 1), ("b", 6), ("a", 9), ("c", 4), ("a", 5)
    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 {doc} 0 {score} t\n" for doc, score in rows))
    with pytest.warns(fastir.FastirWarning, match="duplicate"):
        results = fastir.evaluate({"q": {"a": 1}}, path, ["mrr", "num_ret"], duplicates=keep)
    assert dict(results) == {"mrr": 1 / rank, "num_ret": 3}
    count, place = results.report.repairs["duplicates"]
    assert count == 2 and str(path) in place
    kept = {"first": 1, "last": 5, "max": 9}[keep]
    assert fastir.Run.from_file(path, duplicates=keep)["q"] == {"a": kept, "b": 6, "c": 4}


def test_a_judgment_twice(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 0\nq 0 b 1\nq 0 a 2\n")
    with pytest.raises(fastir.DuplicateError, match=r"qrels:3: .*'a'"):
        fastir.evaluate(tmp_path / "qrels", {"q": {"a": 1.0}}, "cg")
    for keep, gain in (("first", 0), ("last", 2), ("max", 2)):
        with pytest.warns(fastir.FastirWarning, match="duplicate"):
            assert fastir.evaluate(tmp_path / "qrels", {"q": {"a": 1.0}}, "cg", duplicates=keep)["cg"] == gain


@pytest.mark.parametrize("label", ["-inf", "1e300", "9223372036854775808", "-2147483649", "2147483647.5"])
def test_a_label_that_no_int32_holds_is_out_of_range(label, tmp_path):
    (tmp_path / "qrels").write_text(f"q 0 d {label}\n")
    with pytest.raises(fastir.FormatError, match="out of range"):
        fastir.Qrels.from_file(tmp_path / "qrels")


def test_line_repairs_are_counted_in_silence(tmp_path):
    clean = gen.write_run(tmp_path / "run", {"q": {"a": 1.0, "b": 2.0}}).read_text()
    untidy = "\ufeff# a comment\r\n\r\n" + clean.replace(" ", "\t").replace("\n", "\r\n").rstrip()
    path = tmp_path / "untidy.gz"
    path.write_bytes(gzip.compress(untidy.encode()))
    results = fastir.evaluate({"q": {"a": 1}}, path, "mrr")
    assert results["mrr"] == 0.5
    assert {kind: count for kind, (count, _) in results.report.repairs.items()} == {
        "byte order mark": 1, "comment lines": 1, "blank lines": 1, "CRLF line ends": 3,
    }  # fmt: skip


def test_ranked_labels_are_numbered_queries():
    results = fastir.evaluate_ranked([1, 0, -1, -7, 2], [0, 2, 2, 5], ["mrr", "num_ret", "num_rel"])
    assert results.query_ids == [0, 1, 2]
    assert results.to_dict() == {
        0: {"mrr": 1.0, "num_ret": 2.0, "num_rel": 1.0},
        1: {"mrr": 0.0, "num_ret": 0.0, "num_rel": 0.0},
        2: {"mrr": 1 / 3, "num_ret": 3.0, "num_rel": 1.0},
    }
    assert results.report.unjudged_share == 2 / 5


@pytest.mark.parametrize("make", [list, np.array])
def test_a_matrix_of_ranked_labels_has_a_ranking_in_each_row(make):
    names = ["mrr", "recall@2", "num_ret", "ndcg@3"]
    flat = fastir.evaluate_ranked([0, 2, 1, 1, 0, -1], [0, 3, 6], names)
    rows = fastir.evaluate_ranked(make([[0, 2, 1], [1, 0, -1]]), None, names)
    assert rows.values.tobytes() == flat.values.tobytes() and not rows.report.repairs
    ideal = [[2, 1], [3, 1]]
    both = fastir.evaluate_ranked(make([[0, 2], [1, 0]]), metrics="ndcg@2", ideal_labels=make(ideal))
    want = fastir.evaluate_ranked([0, 2, 1, 0], [0, 2, 4], "ndcg@2", ideal_labels=[2, 1, 3, 1], ideal_offsets=[0, 2, 4])
    assert both.values.tobytes() == want.values.tobytes()


def test_lists_of_ranked_labels_may_differ_in_length():
    assert fastir.evaluate_ranked([[0, 1], [], [1]], metrics="num_ret").per_query("num_ret") == {0: 2.0, 1: 0.0, 2: 1.0}
    assert fastir.evaluate_ranked([[0, 1]], None, "mrr", ideal_labels=[[1]])["mrr"] == 0.5


def test_labels_without_offsets_are_one_ranking_and_the_report_says_so():
    results = fastir.evaluate_ranked([0, 1, 1], metrics="mrr", ideal_labels=[1, 1, 1])
    assert results == {"mrr": 0.5} and list(results.report.repairs.values()) == [(3, "query 0")]
    with pytest.raises(TypeError, match=r"metrics is missing: .* offsets are where each query begins"):
        fastir.evaluate_ranked([0, 1], "mrr")
    with pytest.raises(ValueError, match="ideal_labels and ideal_offsets must be given together"):
        fastir.evaluate_ranked([0, 1], metrics="mrr", ideal_offsets=[0, 1])


def test_judgments_that_the_list_lacks():
    ideal = {"ideal_labels": [0, 3, 1], "ideal_offsets": [0, 3]}
    results = fastir.evaluate_ranked([1, -1], [0, 2], ["recall", "num_rel", "ndcg@1"], **ideal)
    assert dict(results) == {"recall": 0.5, "num_rel": 2, "ndcg@1": 1 / 3}


@pytest.mark.parametrize(("labels", "offsets", "error", "words"), [
    ([1, 0], [0, 3], ValueError, "labels has 2 entries but offsets ends at 3"),
    ([1, 0], [0, 1], ValueError, "labels has 2 entries but offsets ends at 1"),
    ([1, 0], [1, 2], ValueError, "offsets must start at 0, got offset 1"),
    ([1, 0], [0, 2, 1, 2], ValueError, r"offsets\[2\] = 1"),
    ([1, 0], [], ValueError, "offsets"),
    ([1, 0], [[0, 2]], ValueError, "offsets.* 1 dimension"),
    ([1, 0], [0.0, 2.0], TypeError, "offsets must be integers"),
    ([[1, 0]], [0, 2], ValueError, r"labels has 2 dimensions, .*; expected no offsets"),
    ([[1, 0], 1], None, ValueError, "labels must be an array of numbers"),
    ([[1], [0]], None, ValueError, r"labels has the shape \(2, 1\), .* expected \(2,\)"),
    (np.ones((1, 1, 1)), None, ValueError, "labels must have 1 dimension"),
    ([1, float("nan")], [0, 2], ValueError, r"labels\[1\] is not a finite number"),
    (["1", "0"], [0, 2], TypeError, "labels must hold numbers"),
    ([1, 2**31], [0, 2], OverflowError, "labels.*out of range"),
])  # fmt: skip
def test_arrays_that_do_not_fit_are_named(labels, offsets, error, words):
    with pytest.raises(error, match=words):
        fastir.evaluate_ranked(labels, offsets, "map")
    if error is not TypeError:
        with pytest.raises(error, match="ideal_"):
            fastir.evaluate_ranked([1, 0], [0, 2], "map", ideal_labels=labels, ideal_offsets=offsets)


def test_the_ideal_has_two_arrays_over_the_same_queries():
    with pytest.raises(ValueError, match="given together"):
        fastir.evaluate_ranked([1], [0, 1], "map", ideal_labels=[1])
    with pytest.raises(ValueError, match="ideal_offsets has 3 entries but offsets 2"):
        fastir.evaluate_ranked([1], [0, 1], "map", ideal_labels=[1], ideal_offsets=[0, 1, 1])


@pytest.mark.parametrize("kind", [fastir.Qrels, fastir.Run])
def test_qrels_and_runs_say_how_they_are_made(kind):
    with pytest.raises(TypeError, match=f"^a {kind.__name__} is made by {kind.__name__}.from_dict, from_file or"):
        kind([("q", "d", 1)])


def test_completion_shows_what_is_public():
    evaluator = fastir.Evaluator({"q": {"a": 1}}, "map")
    public = {
        "evaluate evaluate_many explain judged_rankings partial": evaluator,
        "add from_arrow merge result to_arrow": evaluator.partial(),
        "merge n_queries result update": fastir.Accumulator("map"),
    }
    for names, made in public.items():
        assert [name for name in dir(made) if not name.startswith("_")] == names.split()


def test_an_evaluator_shows_itself_in_a_notebook():
    text = fastir.Evaluator({"q": {"a": 1}}, ["map", "ndcg@10"], rel_level=2)._repr_html_()
    assert "1 query, 1 judgment" in text and "metric ndcg@10" in text and "rel_level" in text
