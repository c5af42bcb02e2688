"""Rankings that are arrays of integers, or lists of NumPy's, are what the same lists of int are."""

import numpy as np
import pytest

import fastir

METRICS = ["ndcg@10", "map", "mrr", "P@10", "recall@100", "num_rel"]
CUT = ["ndcg@10", "P@5"]  # no id below rank 10 is looked at
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8"]
LENGTHS = (0, 1, 2, 9, 10, 11, 63, 64, 65, 100)


def sides(dtype, lengths):
    rng = np.random.default_rng(3)
    low = -100 if np.dtype(dtype).kind == "i" else 0
    ranked = [rng.permutation(np.arange(low, 120))[:n].astype(dtype) for n in lengths]
    relevant = [np.unique(rng.integers(low, 120, 1 + n % 12)).astype(dtype) for n in lengths]
    return ranked, relevant


def layouts(row):
    wide = np.zeros((len(row), 3), row.dtype)
    wide[:, 1] = row
    read_only = row.copy()
    read_only.flags.writeable = False
    return wide[:, 1], row[::-1].copy()[::-1], read_only, list(row), tuple(row)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("metrics", [METRICS, CUT], ids=["whole", "cut"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_arrays_of_every_type_and_stride_are_lists(dtype, metrics):
    ranked, relevant = sides(dtype, LENGTHS)
    plain, judged = [row.tolist() for row in ranked], [row.tolist() for row in relevant]
    want = fastir.evaluate_lists(plain, judged, metrics)
    assert fastir.evaluate_lists(ranked, relevant, metrics) == want
    by_query = fastir.evaluate(dict(enumerate(judged)), dict(enumerate(plain)), metrics)
    assert fastir.evaluate(dict(enumerate(relevant)), dict(enumerate(ranked)), metrics) == by_query
    for rows in zip(*map(layouts, ranked), strict=True):
        assert fastir.evaluate_lists(list(rows), judged, metrics) == want
    for rows in zip(*map(layouts, relevant), strict=True):
        assert fastir.evaluate_lists(plain, list(rows), metrics) == want
    text = [[str(number) for number in row] for row in plain], [[str(number) for number in row] for row in judged]
    assert fastir.evaluate_lists(*text, metrics).values.tobytes() == want.values.tobytes()


@pytest.mark.filterwarnings("ignore:1 duplicate was repaired")
@pytest.mark.parametrize("place", [0, 1, 9, 10, 63, 64, 65])
def test_a_repeat_in_an_array_is_named_like_one_in_a_list(place):
    row = np.arange(70)
    row[place + 1] = row[place]
    same = f"duplicate document {place} in query 0, at ranks {place + 1} and {place + 2}"
    for given in (row, row.astype(np.uint16), list(row), row.tolist()):
        with pytest.raises(fastir.DuplicateError, match=same):
            fastir.evaluate_lists([given], [[1]], "map")
        once = fastir.evaluate_lists([given], [[3, 69]], METRICS, duplicates="first")
        assert once == fastir.evaluate_lists([row.tolist()], [[3, 69]], METRICS, duplicates="first")


def test_integers_of_more_than_63_bits_match_by_their_text():
    large = [2**63, 5, 2**64 - 1, 7]
    want = fastir.evaluate_lists([list(map(str, large))], [[str(2**63), "7"]], METRICS).values.tobytes()
    for given in (large, np.array(large, np.uint64), list(np.array(large, np.uint64))):
        for judged in ([2**63, 7], np.array([2**63, 7], np.uint64)):
            assert fastir.evaluate_lists([given], [judged], METRICS).values.tobytes() == want


@pytest.mark.parametrize(("given", "message"), [
    (np.array([1.0, 2.0]), "at rank 1 of query 0 must be a str, got float 1.0"),
    ([1, True], "at rank 2 of query 0 must be an int like those before it, got bool True"),
    (np.array([True]), "at rank 1 of query 0 must be a str, got bool True"),
    (np.array([[1, 2]]), "at rank 1 of query 0 must be a str, got list"),
    (np.array(["2020-01-01"], "M8[D]"), "at rank 1 of query 0 must be a str, got date"),
])  # fmt: skip
def test_what_is_no_id_is_named(given, message):
    with pytest.raises(TypeError, match=message):
        fastir.evaluate_lists([given], [[1]], "map")


def test_a_document_listed_twice_among_many_or_few_relevant_ones_counts_once():
    for n in (1, 2, 8, 9, 70):
        distinct = list(range(n))
        for twice in ([*distinct, 0], (0, *distinct), np.array([*distinct, 0]), list(np.array([*distinct, 0]))):
            results = fastir.evaluate_lists([[0, 3]], [twice], METRICS)
            assert results == fastir.evaluate_lists([[0, 3]], [distinct], METRICS)
            assert results.report.repairs


def test_ids_of_qrels_stay_of_one_kind():
    for judged in ([[1, "a"]], [[1], ["a"]], [["a"], [1]], [["a"], np.array([1])]):
        with pytest.raises(TypeError, match="must be"):
            fastir.evaluate_lists([[1]] * len(judged), judged, "map")
    with pytest.raises(TypeError, match="they never match"):
        fastir.evaluate_lists([np.array([1])], [["1"]], "map")


@pytest.mark.parametrize("qrels", [{"q": [3, 2**70, 5]}, {"q": {3: 1, 2**70: 2, 5: 0}}])
def test_integer_judgments_are_found_by_integers_text_and_tables(qrels):
    run = {"q": [5, 9, 3]}
    evaluator = fastir.Evaluator(qrels, METRICS)
    want = evaluator.evaluate(run).values.tobytes()
    columns = {"query_id": ["q"] * 3, "score": [3.0, 2.0, 1.0]}
    for ids in ([5, 9, 3], ["5", "9", "3"], np.array([5, 9, 3])):
        assert evaluator.evaluate({**columns, "doc_id": ids}).values.tobytes() == want
    assert evaluator.evaluate({"q": {5: 3.0, 9: 2.0, 3: 1.0}}).values.tobytes() == want
    assert evaluator.evaluate({"q": np.array([5, 9, 3])}).values.tobytes() == want
