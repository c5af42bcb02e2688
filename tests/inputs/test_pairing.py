"""Arguments beside each other: what carries ids is joined by id, in whatever order its rows are."""

import random
import warnings

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.inputs.roles import PAIRED_QUERY

pytestmark = UNEVEN
pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

LISTS = ["mrr", "recall@2", "map"]


def file_of(rows, path, form):
    frame = polars.DataFrame(rows)
    getattr(frame, "write_ndjson" if form == "jsonl" else "write_parquet")(path)
    return str(path)


def records(rows):
    return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]


CARRIERS = {
    "polars": lambda rows, _: polars.DataFrame(rows),
    "pyarrow": lambda rows, _: pyarrow.table(rows),
    "pyarrow in chunks": lambda rows, _: pyarrow.Table.from_batches(pyarrow.table(rows).to_batches(max_chunksize=3)),
    "pandas": lambda rows, _: pandas.DataFrame(rows),
    "pandas with an index": lambda rows, _: pandas.DataFrame(rows).set_index("query_id"),
    "duckdb": lambda rows, _: pytest.importorskip("duckdb").from_arrow(pyarrow.table(rows)),
    "columns": lambda rows, _: rows,
    "records": lambda rows, _: records(rows),
    "dict": lambda rows, _: dict(zip(*rows.values(), strict=True)),
    "series": lambda rows, _: pandas.Series(list(rows.values())[1], rows["query_id"]),
    "jsonl": lambda rows, path: file_of(rows, path.with_suffix(".jsonl"), "jsonl"),
    "parquet": lambda rows, path: file_of(rows, path.with_suffix(".parquet"), "parquet"),
}


def sides(rng, integers=False):
    """Two dicts by query id, with some queries on one side only, and an empty ranking."""
    ids = [(n * 7 if integers else f"q{n}") for n in range(8)]
    run = {query: rng.sample("abcdef", 4) for query in ids[:7]}
    judged = {query: rng.sample("abcdef", 2) for query in ids[1:]}
    return {**run, ids[2]: []}, judged


def shuffled(lists, role, rng):
    ids = rng.sample(list(lists), len(lists))
    return {"query_id": ids, role: [lists[query] for query in ids]}


def values(results):
    return {name: results.per_query(name) for name in results.names} | {"report": repr(results.report)}


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("relevant", CARRIERS)
@pytest.mark.parametrize("retrieved", CARRIERS)
def test_lists_are_joined_by_query_id_whatever_carries_them(retrieved, relevant, tmp_path):
    rng = random.Random(retrieved + relevant)
    for integers in (False, True):
        run, judged = sides(rng, integers)
        expected = fastir.evaluate_lists(run, judged, LISTS)
        a = CARRIERS[retrieved](shuffled(run, "retrieved", rng), tmp_path / "a")
        b = CARRIERS[relevant](shuffled(judged, "relevant", rng), tmp_path / "b")
        results = fastir.evaluate_lists(a, b, LISTS)
        for name in LISTS:
            assert results.per_query(name) == expected.per_query(name)
            assert results[name] == expected[name]
        found, known = results.report, expected.report
        assert (found.only_in_qrels, found.only_in_run, found.in_both) == (1, 1, 6)
        assert (known.only_in_qrels, known.only_in_run, known.in_both) == (1, 1, 6)


@pytest.mark.parametrize("relevant", CARRIERS)
@pytest.mark.parametrize("retrieved", CARRIERS)
def test_no_query_in_common_is_an_error_with_an_id_of_each_side(retrieved, relevant, tmp_path):
    a = CARRIERS[retrieved]({"query_id": ["a", "b"], "retrieved": [["x"], ["y"]]}, tmp_path / "a")
    b = CARRIERS[relevant]({"query_id": ["zz", "z"], "relevant": [["x"], ["y"]]}, tmp_path / "b")
    with pytest.raises(fastir.NoOverlapError, match=r"no query in common: .*'zz'.*'a'"):
        fastir.evaluate_lists(a, b, "mrr")


def test_one_side_with_ids_is_paired_by_position_and_names_the_queries():
    series = pandas.Series([["x"], ["y"]], ["u1", "u2"])
    for a, b in ((series, [["x"], ["x"]]), ([["x"], ["x"]], series), (series, pandas.Series([["x"], ["x"]]))):
        results = fastir.evaluate_lists(a, b, "mrr", weights=pandas.Series([1, 0], ["u1", "u2"]))
        assert results.per_query("mrr") == {"u1": 1.0, "u2": 0.0} and results["mrr"] == 1.0
        assert fastir.evaluate_lists(a, b, "mrr", weights=pandas.Series([3, 1]))["mrr"] == 0.75
    with pytest.raises(ValueError, match="retrieved has 2 queries but relevant has 1; they are paired by position"):
        fastir.evaluate_lists(series, [["x"]], "mrr")


def test_indexes_of_integers_that_are_not_0_to_n():
    """Both sides carry them: joined. A default index beside a permutation of it: these are row numbers, as warned."""
    a = pandas.Series([["x"], ["y"], ["z"]])
    for frame in (a.iloc[::-1], a.sort_values(ascending=False), a.sample(frac=1, random_state=1)):
        assert fastir.evaluate_lists(frame, frame.sort_index(ascending=False), "mrr")["mrr"] == 1
        if list(frame.index) != [0, 1, 2]:
            with pytest.warns(fastir.FastirWarning, match="relevant: its index permutes 0 to 2, so it is read as"):
                assert fastir.evaluate_lists(a, frame, "mrr")["mrr"] == 1
    users = pandas.Series([["x"], ["y"], ["z"]], [3, 1, 2])
    assert fastir.evaluate_lists(users, users.sort_index(), "mrr")["mrr"] == 1
    with pytest.warns(fastir.FastirWarning, match=r"by position; relevant.sort_index\(\)"):
        assert fastir.evaluate_lists(a.tolist(), a.iloc[::-1], "recall", query_ids=list("abc"))["recall"] == 1 / 3
    with pytest.warns(fastir.FastirWarning, match="relevant: its index has other integers than that of retrieved"):
        assert fastir.evaluate_lists(a, pandas.Series(a.tolist(), [0, 1, 3]), "mrr")["mrr"] == 1


def test_rows_of_one_frame_belong_together_whatever_its_index_is():
    frame = pandas.DataFrame({"retrieved": [["a"], ["b"]], "relevant": [["a"], ["b"]]})
    indexes = [[1, 1], [1, 0], [0.5, 0.25], pandas.MultiIndex.from_tuples([("a", 1), ("b", 1)]), ["u", "v"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for index in indexes:
            of_index = frame.set_axis(index)
            assert fastir.evaluate_lists(of_index["retrieved"], of_index["relevant"], "mrr")["mrr"] == 1
            assert fastir.evaluate_lists(of_index, None, "mrr")["mrr"] == 1


@pytest.mark.parametrize(("retrieved", "relevant", "error", "message"), [
    (["u", "u"], ["u", "u"], fastir.DuplicateError, "retrieved: duplicate query 'u' in the index, at positions 0"),
    (["u", "v"], [7, 7], fastir.DuplicateError, "relevant: duplicate query 7 in the index, at positions 0 and 1"),
    ([(1, 2), (1, 3)], [(1, 3), (1, 2)], TypeError, r"retrieved: the index must hold query ids, .* \(1, 2\)"),
    ([0.5, 1.5], [1.5, 0.5], TypeError, "retrieved: the index must hold query ids, str or int, got float 0.5"),
])  # fmt: skip
def test_an_index_that_cannot_join_is_refused(retrieved, relevant, error, message):
    a, b = (pandas.Series([["x"], ["y"]], pandas.Index(ids)) for ids in (retrieved, relevant))
    with pytest.raises(error, match=message):
        fastir.evaluate_lists(a, b, "mrr")


def test_a_query_id_twice_in_a_column_is_refused():
    twice = {"query_id": ["u", "u"], "relevant": [["x"], ["y"]]}
    with pytest.raises(fastir.DuplicateError, match="relevant: duplicate query 'u' in the query ids, at positions 0"):
        fastir.evaluate_lists({"query_id": ["u", "v"], "retrieved": [["x"], ["y"]]}, twice, "mrr")


def test_query_ids_beside_ids_that_differ():
    a, b = (pandas.Series([["x"], ["y"]], ids) for ids in (["u", "v"], ["v", "u"]))
    with pytest.raises(ValueError, match="query_ids: retrieved and relevant have query ids of their own"):
        fastir.evaluate_lists(a, b, "mrr", query_ids=["p", "q"])
    assert list(fastir.evaluate_lists(a, a, "mrr", query_ids=["p", "q"]).query_ids) == ["p", "q"]


@pytest.mark.parametrize("side", ["retrieved", "relevant"])
@pytest.mark.parametrize("form", ["pandas", "pandas with an index", "polars", "series"])
def test_query_ids_that_name_the_rows_of_a_side_otherwise_are_refused(form, side, tmp_path):
    rows = {"query_id": ["u", "v"], side: [["x"], ["y"]]}
    given = {"retrieved": [["y"], ["x"]], "relevant": [["y"], ["x"]], side: CARRIERS[form](rows, tmp_path)}
    with pytest.raises(ValueError, match=f"query_ids: {side} has query ids of its own, .*: entry 1 is 'v', .* has 'u'"):
        fastir.evaluate_lists(**given, metrics="mrr", query_ids=["v", "u"])
    for names in (["u", "v"], ["p", "q"]):  # the same ids, and other names for them
        assert list(fastir.evaluate_lists(**given, metrics="mrr", query_ids=names).query_ids) == names


@pytest.mark.parametrize("name", [name for name in PAIRED_QUERY if name != "query_id"])
def test_query_ids_by_other_names(name, tmp_path):
    run, judged = sides(random.Random(1))
    right = values(fastir.evaluate_lists(run, judged, LISTS))
    tables = [shuffled(side, role, random.Random(2)) for side, role in ((run, "retrieved"), (judged, "relevant"))]
    tables = [{name if column == "query_id" else column: rows[column] for column in rows} for rows in tables]
    for form in ("polars", "pyarrow", "pandas", "duckdb", "columns", "records", "jsonl", "parquet"):
        carried = [CARRIERS[form](rows, tmp_path / side) for side, rows in zip("ab", tables, strict=True)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = fastir.evaluate_lists(*carried, LISTS)
        assert {key: results.per_query(key) for key in LISTS} == {key: right[key] for key in LISTS}


def test_a_lazy_frame_is_to_be_collected():
    lazy = polars.LazyFrame({"query_id": ["a"], "retrieved": [["x"]], "relevant": [["x"]]})
    for retrieved, relevant, name in ((lazy, [["x"]], "retrieved"), ([["x"]], lazy, "relevant"), (lazy, None, "ret")):
        with pytest.raises(TypeError, match=f"{name}.*got a polars LazyFrame, which is not a table yet; .*collect()"):
            fastir.evaluate_lists(retrieved, relevant, "mrr")


def test_a_frame_is_no_series_of_numbers():
    frame = pandas.DataFrame({"query_id": ["a"], "w": [1.0]})
    for options in ({"weights": frame}, {"doc_weights": frame}):
        with pytest.raises(TypeError, match=r"must be a Series with the ids as its index, or a dict, got a DataFrame"):
            fastir.evaluate(
                {"a": {"x": 1}}, {"a": {"x": 1.0}}, "psp@1" if "doc_weights" in options else "mrr", **options
            )


def test_records_are_a_table():
    rows = [{"query_id": "a", "retrieved": ["x", "y"], "relevant": ["y"]}, {"query_id": "b", "retrieved": ["y"]}]
    rows[1]["relevant"] = "y"
    assert fastir.evaluate_lists(rows, None, "mrr").per_query("mrr") == {"a": 0.5, "b": 1.0}
    with pytest.raises(ValueError, match="retrieved: record 1 has no 'relevant', which the first one has"):
        fastir.evaluate_lists([rows[0], {"query_id": "b", "retrieved": []}], None, "mrr")
    with pytest.raises(TypeError, match="relevant is None: expected a table with both, a path or a list of records"):
        fastir.evaluate_lists([["x"]], None, "mrr")
    assert fastir.evaluate_lists([["x"]], [{"x": 1}], "mrr")["mrr"] == 1  # labels are no record


def test_series_in_place_of_dicts():
    qrels, run = {"q": {"P": 1}}, {"q": {"c1": 1.0, "c2": 0.5}}
    parents = pandas.Series({"c2": "P", "c1": "R"})
    assert fastir.evaluate(qrels, run, "mrr", parents=parents)["mrr"] == 0.5
    assert fastir.evaluate(qrels, run, "mrr", parents=parents, exclude=pandas.Series({"q": ["R"]}))["mrr"] == 1
    for option in ({"parents": pandas.Series(["P", "R"])}, {"exclude": pandas.Series([["R"]])}):
        with pytest.raises(TypeError, match="a Series must have the ids as its index, got a default RangeIndex"):
            fastir.evaluate(qrels, run, "mrr", **option)
    twice = {"exclude": [["R"], ["P"]], "parents": ["P", "R"], "weights": [1, 2], "doc_weights": [1, 2]}
    for name, listed in twice.items():
        metric = "weighted_recall@1" if name == "doc_weights" else "mrr"
        with pytest.raises(fastir.DuplicateError, match=f"{name}: duplicate id 'q' in the index, at positions 0 and 1"):
            fastir.evaluate(qrels, run, metric, **{name: pandas.Series(listed, ["q", "q"])})


def test_labels_and_scores_stay_by_position_and_a_warning_says_that_their_indexes_differ():
    labels, scores = pandas.Series([1, 0], ["a", "b"]), pandas.Series([0.1, 0.9], ["b", "a"])
    message = "labels and scores are paired by position, but their index differ: at position 0 labels has 'a', scores"
    with pytest.warns(fastir.FastirWarning, match=message):
        assert fastir.evaluate_scores(labels, scores, "mrr")["mrr"] == 0.5
    frames = pandas.DataFrame([[1, 0]], columns=["x", "y"]), pandas.DataFrame([[0.1, 0.9]], columns=["y", "x"])
    with pytest.warns(fastir.FastirWarning, match="their columns differ: at position 0 labels has 'x', scores has 'y'"):
        fastir.evaluate_scores(*frames, "mrr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastir.evaluate_scores(labels, scores.set_axis(["a", "b"]), "mrr")
        fastir.evaluate_scores(labels.set_axis([0, 1]), scores.reset_index(drop=True), "mrr")
        fastir.evaluate_scores(labels.set_axis([5, 3]), scores.reset_index(drop=True), "mrr")  # predictions of a split
        fastir.evaluate_scores(labels, np.array(scores), "mrr")
    with pytest.warns(fastir.FastirWarning, match="their index differ: at position 0 labels has 1, scores has 0"):
        fastir.evaluate_scores(labels.set_axis(np.array([1, 0], np.uint64)), scores.reset_index(drop=True), "mrr")
