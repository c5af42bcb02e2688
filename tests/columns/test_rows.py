"""Qrels and Run as collections: what they give back, what they are cut down to, and that nothing is lost on the way."""

import gen
import numpy as np
import pytest

import fastir
from fastir import Qrels, Run
from fastir.engine.columns.rows import equal_offsets, list_of_each, occurrences, repeat, sums

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

QRELS, RUN = gen.collection(4, queries=10)
NUMBERED = {7: {1: 2, 30: 0, 2: -1}, 5: {4: 1}, -1: {1: 3}}
STRATA = {"q1": {"a": 0, "b": 1, "c": 1}, "q2": {"d": 0}}
ONES = {"q1": {"a": 1, "b": 0}, "q2": {"d": 2}}

JUDGMENTS = {
    "labels": Qrels.from_dict(QRELS),
    "integers": Qrels.from_dict(NUMBERED),
    "ids": Qrels.from_dict({"q1": ["a", "b"], "q2": "c"}),
    "groups": Qrels.from_dict({"q1": {"s1": {"a": 1, "b": 2}, "s2": {"b": 1}}, "q2": {"s1": {"c": 1}}}),
    "preferences": Qrels.from_dict({
        "q1": {"x": {"p1": {"a": 2, "b": 1}, "p2": {"b": 2, "c": 1}}, "y": {"p1": {"c": 2, "b": 1}}},
        "q2": {"x": {"p1": {"d": 2, "e": 1}}},
    }),
    "strata": Qrels.from_dict(ONES, strata=STRATA),
    "probabilities": Qrels.from_dict(ONES, probabilities={"q1": {"a": 0.5, "b": 1.0}, "q2": {"d": 0.25}}),
}  # fmt: skip
RANKINGS = {
    "scores": Run.from_dict(RUN),
    "integers": Run.from_dict({7: {1: 2.5, 30: 0.0}, 5: {4: 1.0}}),
    "lists": Run.from_dict({"q1": ["b", "a"], "q2": ["c"]}),
    "infinite": Run.from_dict({"q1": {"b": float("inf"), "a": -float("inf"), "c": -0.0}}),
}
BOTH = {**JUDGMENTS, **{f"run of {name}": run for name, run in RANKINGS.items()}}
everything = pytest.mark.parametrize("rows", BOTH.values(), ids=BOTH)


def back(rows, data):
    """The object that `from_dict` makes of what `to_dict` gave, and the columns of a sample."""
    if isinstance(rows, Run):
        return Run.from_dict(data)
    return Qrels.from_dict(data, strata=rows.strata, probabilities=rows.probabilities)


@everything
def test_to_dict_and_from_dict_are_inverse(rows):
    data = rows.to_dict()
    again = back(rows, data)
    assert again == rows and type(again) is type(rows) and again.to_dict() == data
    assert list(data) == rows.query_ids == list(rows)
    assert {type(query_id) for query_id in data} == {type(query_id) for query_id in rows}


@everything
def test_what_is_given_back_is_new(rows):
    before = rows.to_dict()
    changed = rows.to_dict()
    for documents in changed.values():
        documents.clear()
    rows.query_ids.clear()
    assert rows.to_dict() == before and rows.query_ids == list(before)


@pytest.mark.parametrize("name", ["labels", "integers", "ids", "run of scores", "run of integers", "run of lists"])
@pytest.mark.parametrize("out", ["to_pandas", "to_arrow"])
def test_tables_and_from_table_are_inverse(name, out):
    pytest.importorskip("pandas" if out == "to_pandas" else "pyarrow")
    rows = BOTH[name]
    rows = rows.filter(queries=[query_id for query_id in rows if rows[query_id]])  # a table has no empty queries
    table = getattr(rows, out)()
    assert list(table.columns if out == "to_pandas" else table.column_names) == [
        "query_id",
        "doc_id",
        "score" if isinstance(rows, Run) else "label",
    ]
    assert type(rows).from_table(table) == rows


@everything
def test_both_tables_have_the_same_columns(rows):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame, table = rows.to_pandas(), rows.to_arrow()
    assert list(frame.columns) == table.column_names
    for name in table.column_names:
        np.testing.assert_array_equal(np.array(frame[name].tolist()), np.array(table[name].to_pylist()))


def test_groups_preferences_and_samples_have_columns_of_their_own():
    pytest.importorskip("pandas")
    rows = {
        name: list(JUDGMENTS[name].to_pandas().itertuples(index=False, name=None))
        for name in ("groups", "preferences", "strata", "probabilities")
    }
    assert rows["groups"] == [("q1", "s1", "a", 1), ("q1", "s1", "b", 2), ("q1", "s2", "b", 1), ("q2", "s1", "c", 1)]
    assert rows["preferences"][:3] == [("q1", "x", "p1", "a", 2), ("q1", "x", "p1", "b", 1), ("q1", "x", "p2", "b", 2)]
    assert sorted(rows["strata"]) == [("q1", "a", 1, 0), ("q1", "b", 0, 1), ("q1", "c", -1, 1), ("q2", "d", 2, 0)]
    assert rows["probabilities"] == [("q1", "a", 1, 0.5), ("q1", "b", 0, 1.0), ("q2", "d", 2, 0.25)]


def test_an_empty_table_has_its_columns():
    pytest.importorskip("pyarrow")
    for rows, number in (
        (Qrels.from_dict({}), "label"),
        (Run.from_dict({}), "score"),
        (Run.from_dict({"q": {}}), "score"),
    ):
        assert rows.to_arrow().column_names == ["query_id", "doc_id", number]
        assert rows.to_arrow().num_rows == 0


# ---- filter --------------------------------------------------------------------------------------------------------
def cut(data, kept):
    """Nested dicts without documents that are not kept."""
    if not all(isinstance(inner, dict) for inner in data.values()) or not data:
        return {doc_id: number for doc_id, number in data.items() if doc_id in kept}
    return {key: cut(inner, kept) for key, inner in data.items()}


@everything
def test_some_queries_keep_their_order_and_all_they_have(rows):
    chosen = rows.query_ids[::-2]
    expected = {query_id: rows[query_id] for query_id in rows if query_id in chosen}
    for ids in (chosen, tuple(chosen), set(chosen), dict.fromkeys(chosen), np.array(chosen), [*chosen, "nowhere"]):
        few = rows.filter(queries=ids)
        assert few.to_dict() == expected and type(few) is type(rows)
        assert list(few) == list(expected)
    assert rows.filter() == rows
    assert rows.filter(queries=[]).to_dict() == {} and len(rows.filter(queries=[])) == 0


@everything
def test_a_query_stays_when_its_documents_are_gone(rows):
    few = rows.filter(documents=["nowhere"])
    assert few.query_ids == rows.query_ids
    assert few.to_dict() == cut(rows.to_dict(), set())


@everything
def test_some_documents_keep_their_numbers(rows):
    documents = list(dict.fromkeys(rows.columns.ids[:]))[::2]
    expected = cut(rows.to_dict(), set(documents))
    for ids in (documents, set(documents), np.array(documents)):
        assert rows.filter(documents=ids).to_dict() == expected


def test_a_sample_keeps_its_columns():
    few = JUDGMENTS["strata"].filter(queries=["q1"], documents=["c", "b"])
    assert few.strata == {"q1": {"b": 1, "c": 1}} and few.to_dict() == {"q1": {"b": 0, "c": -1}}
    few = JUDGMENTS["probabilities"].filter(documents={"d"})
    assert few.probabilities == {"q1": {}, "q2": {"d": 0.25}}


def test_qrels_and_runs_filter_each_other():
    qrels, run = JUDGMENTS["labels"], RANKINGS["scores"]
    common = [query_id for query_id in run if query_id in qrels]
    assert run.filter(queries=qrels).query_ids == common
    assert set(qrels.filter(queries=run)) == set(common)


@pytest.mark.parametrize("name", ["queries", "documents"])
@pytest.mark.parametrize("ids", ["q1", b"q1", 7], ids=str)
def test_one_id_is_not_a_collection(name, ids):
    for rows in (JUDGMENTS["labels"], RANKINGS["scores"]):
        with pytest.raises(TypeError, match=f"{name} must be a collection of ids, got {type(ids).__name__}"):
            rows.filter(**{name: ids})


# ---- top, name -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ties", ["trec", "doc_id_asc"])
@pytest.mark.parametrize("k", [1, 2, 5, 24, 10**6])
@pytest.mark.parametrize("seed", range(5))
def test_the_top_is_what_max_depth_evaluates(seed, k, ties):
    qrels, run = gen.collection(seed, queries=12)
    names = ["map", "ndcg", "num_ret", "num_rel_ret", "rbp", "mrr", "judged@3"]
    top = Run.from_dict(run).top(k, ties)
    assert fastir.evaluate(qrels, top, names, ties=ties) == fastir.evaluate(qrels, run, names, ties=ties, max_depth=k)
    assert all(len(top[query_id]) == min(k, len(run[query_id])) for query_id in run)
    assert top.query_ids == list(run)


def test_the_top_keeps_the_order_and_the_name():
    run = Run.from_dict({"q": {"c": 1.0, "a": 3.0, "b": 1.0, "d": 2.0}, "empty": {}}, name="bm25")
    assert list(run.top(3)["q"].items()) == [("c", 1.0), ("a", 3.0), ("d", 2.0)]
    assert list(run.top(3, "doc_id_asc")["q"].items()) == [("a", 3.0), ("b", 1.0), ("d", 2.0)]
    assert run.top(np.int8(3)).name == run.filter(queries=["q"]).name == "bm25"
    assert run.top(10**9) == run


def test_integer_ids_are_ordered_as_text():
    run = Run.from_dict({1: {9: 1.0, 10: 1.0, 100: 1.0}})
    for ties in ("trec", "doc_id_asc"):
        top = run.top(1, ties)
        [doc_id] = top[1]
        rank_one = fastir.evaluate({1: {doc_id: 1}}, run, "mrr", ties=ties)
        assert rank_one["mrr"] == 1.0


@pytest.mark.parametrize("k", [0, -1, 1.0, "1", None], ids=repr)
def test_a_depth_is_a_positive_int(k):
    with pytest.raises((TypeError, ValueError), match="k"):
        RANKINGS["scores"].top(k)


def test_a_tie_rule_goes_by_ids():
    with pytest.raises(ValueError, match="ties"):
        RANKINGS["scores"].top(1, "input")


def test_a_run_has_the_name_that_was_given_or_that_of_its_file(tmp_path):
    import copy
    import pickle

    run = Run.from_dict({"q": {"a": 1.0}})
    assert run.name is None and repr(run) == "<Run: 1 query, 1 document>"
    run.save(tmp_path / "bm25.trec.gz")
    assert Run.from_file(tmp_path / "bm25.trec.gz").name == "bm25"
    named = Run.from_file(tmp_path / "bm25.trec.gz", name="BM 25")
    assert named.name == "BM 25" and named == run
    assert repr(named) == "<Run 'BM 25': 1 query, 1 document>"
    assert pickle.loads(pickle.dumps(named)).name == copy.deepcopy(named).name == "BM 25"
    assert Run.from_table([("q", "a", 1.0)], name="x").name == "x"
    with pytest.raises(TypeError, match="name must be a str or None"):
        Run.from_dict({"q": {"a": 1.0}}, name=7)
    with pytest.raises(AttributeError):
        run.name = "other"


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint64])
def test_counts_of_any_integer_type_repeat_and_are_counted(kind):
    """NumPy itself refuses uint64 here, as it refuses int64 on 32-bit platforms."""
    counts = np.array([2, 0, 1], kind)
    assert repeat(["a", "b", "c"], counts).tolist() == ["a", "a", "c"]
    times, sums = occurrences(counts, minlength=4), occurrences(counts, np.array([0.5, 1.0, 2.0]))
    assert (times.dtype, times.tolist()) == (np.int64, [1, 1, 1, 0])
    assert (sums.dtype, sums.tolist()) == (np.float64, [1.0, 2.0, 0.5])


def test_every_element_knows_its_list():
    numbers = list_of_each(np.array([0, 2, 2, 3]))
    assert (numbers.dtype, numbers.tolist()) == (np.int64, [0, 0, 2])
    assert list_of_each(np.array([0])).tolist() == []


def test_an_empty_list_adds_up_to_0():
    assert sums(np.array([True, True, False]), np.array([0, 2, 2, 3])).tolist() == [2, 0, 0]


def test_offsets_of_equal_lists_have_64_bits():
    offsets = equal_offsets(2, 2**40)
    assert (offsets.dtype, offsets.tolist()) == (np.int64, [0, 2**40, 2**41])
