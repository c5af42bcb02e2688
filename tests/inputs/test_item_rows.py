"""Rows and columns of frames beside those of scores or items: a permutation of either side changes no value."""

import random
import warnings

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN
pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

NAMES = ["mrr", "recall@2", "ndcg", "num_rel"]
USERS, ITEMS = [f"u{n}" for n in range(6)], [f"i{n}" for n in range(5)]


def collection(seed):
    rng = np.random.default_rng(seed)
    scores = pandas.DataFrame(rng.permutation(30).reshape(6, 5) / 30, USERS, ITEMS)
    labels = pandas.DataFrame(rng.random((6, 5)) < 0.4, USERS, ITEMS)
    seen = pandas.DataFrame((rng.random((6, 5)) < 0.2) & ~labels.to_numpy(), USERS, ITEMS)
    return scores, labels, seen


def num_rel_ret(judged):
    return judged.evaluate("num_rel_ret", queries="qrels").values[:, 0]


def as_lists(frame):
    return {user: [item for item in frame.columns if frame.loc[user, item]] for user in frame.index}


FORMS = {
    "bool frame": lambda frame: frame,
    "int frame": lambda frame: frame.astype(int),
    "float frame": lambda frame: frame.astype(float).replace(0.0, np.nan),
    "series of labels": lambda frame: pandas.Series(as_lists(frame)),
    "dict of labels": as_lists,
    "dict of sets": lambda frame: {user: set(items) for user, items in as_lists(frame).items()},
    "dict of dicts": lambda frame: {user: dict.fromkeys(items, 1) for user, items in as_lists(frame).items()},
}


def values(results):
    return {user: [results.per_query(name)[user] for name in NAMES] for user in results.query_ids}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(6))
def test_a_permutation_of_either_side_changes_no_value(form, seed):
    rng = random.Random(seed)
    scores, labels, seen = collection(seed)
    plain = fastir.evaluate_matrix(scores.to_numpy(), labels.to_numpy(), NAMES, exclude=seen.to_numpy())
    expected = {USERS[row]: row_values for row, row_values in values(plain).items()}
    weights = dict(zip(USERS, range(1, 7), strict=True))
    for turn in range(8):
        frames = [
            frame.loc[rng.sample(USERS, 6), rng.sample(ITEMS, 5)] if turn & 1 << place else frame
            for place, frame in enumerate((scores, labels, seen))
        ]
        of_turn, relevant, exclude = frames[0], FORMS[form](frames[1]), FORMS[form](frames[2])
        found = fastir.evaluate_matrix(of_turn, relevant, NAMES, exclude=exclude, weights=pandas.Series(weights))
        assert values(found) == expected
        assert found["mrr"] == pytest.approx(np.average([v[0] for v in expected.values()], weights=range(1, 7)))


@pytest.mark.parametrize("seed", range(6))
def test_lists_of_items_with_an_index(seed):
    rng = random.Random(seed)
    scores, labels, seen = collection(seed)
    ranked = pandas.DataFrame(np.argsort(-scores.to_numpy(), axis=1), USERS)
    at = dict(zip(ITEMS, range(5), strict=True))
    relevant, exclude = (
        pandas.Series({user: [at[item] for item in items] for user, items in as_lists(frame).items()})
        for frame in (labels, seen)
    )
    expected = fastir.evaluate_topk(ranked.to_numpy(), relevant.tolist(), NAMES, exclude=exclude.tolist())
    expected = {USERS[row]: row_values for row, row_values in values(expected).items()}
    sides = [side.loc[rng.sample(USERS, 6)] for side in (ranked, relevant, exclude)]
    assert values(fastir.evaluate_topk(*sides[:2], NAMES, exclude=sides[2])) == expected
    assert values(fastir.evaluate_topk(sides[0], dict(sides[1]), NAMES, exclude=dict(sides[2]))) == expected
    by_score = pandas.DataFrame(np.sort(-scores.to_numpy(), axis=1) * -1, USERS).loc[rng.sample(USERS, 6)]
    assert values(fastir.evaluate_topk(*sides[:2], NAMES, exclude=sides[2], scores=by_score)) == expected


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_one_side_lacks_are_treated_as_by_evaluate(form):
    scores, labels, seen = collection(1)
    runs = {user: {i: s for i, s in scores.loc[user].items() if not seen.loc[user, i]} for user in USERS[:4]}
    judged = {user: dict.fromkeys(items, 1) for user, items in as_lists(labels).items() if user not in USERS[1:3]}
    with pytest.warns(fastir.FastirWarning, match="2 queries of the qrels are missing from the run"):
        expected = fastir.evaluate(judged, runs, NAMES)
    message = (
        r"2 queries of relevant are missing from scores .* 'u5'\); 2 queries of scores are not in relevant .* 'u1'"
    )
    relevant = FORMS[form](labels.drop(USERS[1:3]).iloc[::-1])
    with pytest.warns(fastir.FastirWarning, match=message):
        found = fastir.evaluate_matrix(scores.iloc[:4], relevant, NAMES, exclude=FORMS[form](seen))
    assert values(found) == values(expected)
    assert found.status == expected.status
    report = found.report
    assert (report.only_in_qrels, report.only_in_run, report.in_both) == (2, 2, 2)
    assert (report.only_in_qrels_example, report.only_in_run_example) == ("u5", "u1")
    assert found["mrr"] == expected["mrr"]
    ranked = pandas.DataFrame(np.argsort(-scores.to_numpy(), axis=1)[:4], USERS[:4])
    numbers = pandas.Series({user: [ITEMS.index(item) for item in items] for user, items in judged.items()})
    excluded = pandas.Series({user: [ITEMS.index(i) for i in items] for user, items in as_lists(seen).items()})
    with pytest.warns(fastir.FastirWarning, match="2 queries of relevant are missing from indices"):
        assert values(fastir.evaluate_topk(ranked, numbers, NAMES, exclude=excluded)) == values(expected)


def test_a_metric_of_the_caller_and_weighted_items_see_the_same_rows():
    scores, labels, _ = collection(2)
    found_relevant = fastir.custom_metric("own", num_rel_ret)
    weights = pandas.Series(range(1, 6), ITEMS[::-1])
    names = ["weighted_recall@2", "num_rel_ret"]
    expected = fastir.evaluate_matrix(
        scores.to_numpy(), labels.to_numpy(), names, doc_weights=list(range(5, 0, -1))
    ).values
    found = fastir.evaluate_matrix(scores, labels.iloc[::-1, ::-1], names, doc_weights=weights)
    assert np.array_equal(found.values, expected)
    with pytest.warns(fastir.FastirWarning, match="1 query of relevant is missing from scores"):
        found = fastir.evaluate_matrix(scores.iloc[1:], labels.iloc[::-1], ["num_rel_ret", found_relevant])
    assert found.per_query("own") == found.per_query("num_rel_ret") and found.per_query("own")["u0"] == 0


def test_one_side_with_labels_is_paired_by_position():
    scores, labels, _ = collection(3)
    expected = fastir.evaluate_matrix(scores.to_numpy(), labels.to_numpy(), NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sides in ((scores, labels.to_numpy()), (scores.to_numpy(), labels), (scores, labels.to_numpy().tolist())):
            assert np.array_equal(fastir.evaluate_matrix(*sides, NAMES).values, expected.values)
        blocks = iter([scores.to_numpy()[:2], scores.to_numpy()[2:]])
        assert np.array_equal(fastir.evaluate_matrix(blocks, labels, NAMES).values, expected.values)


def test_an_index_of_integers_says_the_numbers_of_rows():
    """Beside rows without labels, whose query ids are their numbers, as the keys of a dict; a warning says so."""
    scores = np.array([[0.9, 0.1, 0.5], [0.1, 0.8, 0.2]])
    relevant, exclude = pandas.Series([[1], [0]], [1, 0]), pandas.Series([[], [2]], [1, 0])
    calls = [
        lambda: fastir.evaluate_matrix(scores, relevant, "mrr"),
        lambda: fastir.evaluate_matrix(iter([scores[:1], scores[1:]]), relevant, "mrr"),
        lambda: fastir.evaluate_matrix(pandas.DataFrame(scores), relevant, "mrr"),
        lambda: fastir.evaluate_matrix(scores, [[2], [1]], "num_ret", exclude=exclude),
        lambda: fastir.evaluate_topk([[0, 1], [1, 0]], relevant, "mrr"),
    ]
    for call, expected in zip(calls, [1, 1, 1, 5, 1], strict=True):
        with pytest.warns(fastir.FastirWarning, match="its index permutes 0 to 1, so it is read as the numbers of the"):
            results = call()
        assert results[results.names[0]] == expected
    assert fastir.evaluate_matrix(scores, relevant.reset_index(drop=True), "mrr")["mrr"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("columns", [["a", "b", "c"], [3, 1, 2]])
def test_items_that_are_listed_by_the_label_of_a_column(columns):
    scores = pandas.DataFrame([[0.9, 0.1, 0.5], [0.1, 0.8, 0.2]], ["u", "v"], columns)
    one, two = columns[:2]
    forms = [[[one], [two]], [one, two], np.array([[one], [two]]), np.array([one, two]), {"v": two, "u": {one}}]
    forms += [[{one: 2}, {two: 1}], [np.array([one]), (two,)], pandas.Series([two, one], ["v", "u"])]
    for relevant in forms:
        assert fastir.evaluate_matrix(scores, relevant, "mrr")["mrr"] == 1
    with pytest.raises(ValueError, match="relevant: item 0 of row 0 is no column of scores" if one == 3 else "exclude"):
        fastir.evaluate_matrix(scores, [[0], [1]], "mrr", exclude=[["x"], []] if one == "a" else None)


def test_names_of_columns_of_polars():
    scores = polars.DataFrame({"a": [0.9, 0.1], "b": [0.1, 0.8]})
    for kind in (int, bool):
        labels = polars.DataFrame({"b": [kind(0), kind(1)], "a": [kind(1), kind(0)]})
        assert fastir.evaluate_matrix(scores, labels, "mrr")["mrr"] == 1


S, L, _ = collection(0)
REFUSED = [
    (S, L.set_axis(list("abcdef")), {}, fastir.NoOverlapError, "no query in common: scores has 'u0', relevant has 'a'"),
    (S, L.set_axis(list("abcde"), axis=1), {}, fastir.NoOverlapError, "no column in common: scores has 'i0', relevant"),
    (S, L.set_axis(["u"] * 6), {}, fastir.DuplicateError, "relevant: duplicate query 'u' in the index, at positions 0"),
    (S.set_axis(["i"] * 5, axis=1), L, {}, fastir.DuplicateError, "scores: duplicate column 'i' in the columns"),
    (S, L.assign(i9=True), {}, ValueError, "relevant: item 'i9' of row 0 is no column of scores"),
    (S, {"u1": ["i9"]}, {}, ValueError, "relevant: item 'i9' of row 'u1' is no column of scores"),
    (S, L.iloc[:2].to_numpy(), {}, ValueError, "scores has 6 rows but relevant has 2"),
    (
        S, L, {"exclude": pandas.Series({"x": ["i1"]})}, fastir.NoOverlapError,
        "no query in common: scores has 'u0', exc",
    ),
    (S.assign(user_id=range(6)), L, {}, ValueError, r"scores: column 'user_id' has query ids.*scores.set_index"),
    (S, L.assign(qid=1), {}, ValueError, r"relevant: column 'qid' has query ids.*relevant.set_index"),
    (
        polars.DataFrame({"user_id": [1, 2], "i1": [0.5, 0.1]}), [[0], [1]], {}, ValueError,
        r"scores: column 'user_id' has query ids.*scores.drop\('user_id'\)",
    ),
    (S.to_numpy(), L.to_numpy().astype(int), {}, ValueError, "expected a mask of bools"),
    (S.to_numpy(), pandas.DataFrame(L.to_numpy().astype(int)), {}, ValueError, "expected a mask of bools"),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "relevant", "options", "error", "message"), REFUSED, ids=[r[4] for r in REFUSED])
def test_refused(scores, relevant, options, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate_matrix(scores, relevant, "mrr", **options)


def test_scores_of_rows_that_items_lack():
    ranked, scores = pandas.DataFrame([[0, 1]], ["u1"]), pandas.DataFrame([[1.0, 0.5], [1.0, 0.5]], ["u2", "u3"])
    with pytest.raises(fastir.NoOverlapError, match="no query in common: indices has 'u1', scores has 'u2'"):
        fastir.evaluate_topk(ranked, [[0]], "mrr", scores=scores)


@pytest.mark.parametrize("rows", ["lists", "csr", "dict", "arrays"])
def test_an_item_that_is_listed_twice_counts_once_and_is_reported(rows):
    """As in lists of ids: the report says it, and labels that could differ remain an error."""
    twice = {
        "lists": [[1, 1, 2], [0], [2, 0, 2, 2]],
        "csr": ([0, 3, 4, 8], [1, 1, 2, 0, 2, 0, 2, 2]),
        "dict": {0: [1, 1, 2], 1: [0], 2: [2, 0, 2, 2]},
        "arrays": [np.array([1, 1, 2]), np.array([0]), np.array([2, 0, 2, 2])],
    }[rows]
    once = [[1, 2], [0], [2, 0]]
    scores = np.random.default_rng(0).random((3, 4))
    ranked = np.argsort(-scores, axis=1)[:, :3]
    own = fastir.custom_metric("own", num_rel_ret)
    for function, given in ((fastir.evaluate_matrix, scores), (fastir.evaluate_topk, ranked)):
        for names in (NAMES, [*NAMES, own]):
            found, expected = function(given, twice, names), function(given, once, names)
            assert np.array_equal(found.values, expected.values)
            assert found.report.repairs == {"relevant ids listed twice": (3, "query 0")}
            assert expected.report.repairs == {}
        weighted = {"doc_weights": [1, 2, 3, 4]}
        assert function(given, twice, "weighted_recall@2", **weighted).values.tolist() == (
            function(given, once, "weighted_recall@2", **weighted).values.tolist()
        )
    lists = fastir.evaluate_lists(ranked, twice if rows == "lists" else once, NAMES)
    if rows == "lists":
        assert lists.report.repairs == {"relevant ids listed twice": (3, "query 0")}
        assert fastir.evaluate_matrix(iter(scores[:, None]), twice, "mrr").report.repairs == lists.report.repairs


@pytest.mark.parametrize("kind", [int, float, np.float32, np.int64])
def test_labels_of_rows_and_columns_that_are_whole_floats(kind):
    scores = pandas.DataFrame([[0.9, 0.1, 0.5], [0.1, 0.8, 0.2]], list(map(kind, (1, 2))), list(map(kind, (1, 2, 3))))
    for relevant in ({1: [1], 2: [2]}, {2: [2], 1: [1]}, [[1], [2]], pandas.Series([[2], [1]], [2, 1])):
        assert fastir.evaluate_matrix(scores, relevant, "mrr")["mrr"] == 1
    with pytest.raises(ValueError, match=r"relevant: item 0 of row 1.* is no column of scores"):
        fastir.evaluate_matrix(scores, {1: [0], 2: [1]}, "mrr")


def test_a_column_of_query_ids_is_no_item_of_topk():
    frame = {"user_id": [7, 8], "first": [0, 2], "second": [1, 0]}
    for library, remedy in ((pandas, "set_index"), (polars, "drop")):
        items = library.DataFrame(frame)
        with pytest.raises(ValueError, match=rf"indices: column 'user_id' has query ids.*indices.{remedy}"):
            fastir.evaluate_topk(items, [[0], [2]], "mrr")
        with pytest.raises(ValueError, match="scores: column 'user_id' has query ids"):
            fastir.evaluate_topk(np.zeros((2, 3), int), [[0], [2]], "mrr", scores=items)
