"""Calls on few queries: what is kept from one call to the next is never stale, and each border has the usual answer."""
# Also of: array_call, labels, query_groups, arrays, rules, accumulator, grouped, judged, many, run_collections.

import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.data.results.results import Results
from fastir.engine.join._judged import collecting_plan

pytestmark = UNEVEN
LABELS, SCORES = np.array([0, 2, 1, 0, 3]), np.array([5.0, 4.0, 3.0, 2.0, 1.0])
QRELS = {"q": {"a": 2, "b": 0, "c": 1}, "r": {"a": 1}, "s": {"x": 3, "y": 0}}
RUN = {"q": {"x": 3.0, "a": 2.0, "c": 1.0}}
METRICS = ["ndcg@10", "map", "mrr", "recall@2", "num_ret"]


def scores(metrics, **options):
    return fastir.evaluate_scores(LABELS, SCORES, metrics, **options)


def ranked(metrics, **options):
    return fastir.evaluate_ranked(LABELS, metrics=metrics, **options)


def lists(metrics, **options):
    return fastir.evaluate_lists([["x", "a", "c"]], [{"a": 2, "b": 0, "c": 1}], metrics, **options)


def dicts(metrics, **options):
    return fastir.evaluate(QRELS, RUN, metrics, queries="qrels", **options)


CALLS = pytest.mark.parametrize("call", [scores, ranked, lists, dicts])


def outcome(call, *arguments, **options):
    """The bits of a call, or its error."""
    try:
        results = call(*arguments, **options)
    except Exception as error:
        return type(error), str(error)
    return list(results), results.values.tobytes()


# ---- kept calls ------------------------------------------------------------------------------------------------------
@CALLS
def test_a_list_of_metrics_may_change_between_calls(call):
    metrics = ["mrr"]
    assert list(call(metrics)) == ["mrr"]
    metrics.append("map")
    assert list(call(metrics)) == ["mrr", "map"]
    metrics[0] = "recall@1"
    assert list(call(metrics)) == ["recall@1", "map"]
    assert list(call(iter(metrics))) == list(call(tuple(metrics))) == list(call(",".join(metrics))) == metrics


@CALLS
def test_a_dict_of_gains_may_change_between_calls(call):
    gains = {1: 1, 2: 2, 3: 3}
    before = outcome(call, "ndcg", gain=gains)
    gains[1] = 9
    after = outcome(call, "ndcg", gain=gains)
    assert before != after == outcome(call, "ndcg", gain={1: 9, 2: 2, 3: 3})
    assert before == outcome(call, "ndcg", gain={1: 1, 2: 2, 3: 3})


@CALLS
def test_numbers_count_by_their_values_and_flags_by_their_types(call):
    expected = outcome(call, "map", rel_level=1)
    for level in (True, 1.0, np.int64(1), np.float32(1), np.True_):
        assert outcome(call, "map", rel_level=level) == outcome(call, "map", rel_level=level)
    assert outcome(call, "map", rel_level=1.0) == outcome(call, "map", rel_level=np.uint8(1)) == expected
    assert outcome(call, "map", rel_level=2) == outcome(call, "map", rel_level=2.0) != expected
    assert outcome(call, "map", judged_only=True) == outcome(call, "map", judged_only=np.True_)
    for _ in range(2):
        with pytest.raises(TypeError, match="judged_only must be True or False, got int 1"):
            call("map", judged_only=1)
        with pytest.raises(ValueError, match="rel_level must be a number, got nan"):
            call("map", rel_level=math.nan)
        with pytest.raises((TypeError, ValueError)):
            call("map", rel_level=np.array([1, 2]))


@CALLS
def test_an_option_whose_value_changes_is_read_at_each_call(call):
    class Level:
        value = 1

        def __index__(self):
            return self.value

    level = Level()
    first = outcome(call, "map", rel_level=level)
    level.value = 2
    assert outcome(call, "map", rel_level=level) == outcome(call, "map", rel_level=2) != first


@CALLS
def test_metrics_of_ones_own_are_never_taken_for_others_of_their_name(call):
    for number in (1.0, 2.0):
        own = fastir.custom_metric("own", lambda judged, number=number: np.full(len(judged), number))
        for metrics in ([own], ["mrr", own], iter([own, "mrr"])):
            assert call(metrics)["own"] == number
    assert list(call(["mrr,map"])) == ["mrr", "map"]
    comma = fastir.custom_metric("mrr,map", lambda judged: np.full(len(judged), 7.0))
    assert call([comma])["mrr,map"] == 7.0
    assert list(call(["mrr,map"])) == ["mrr", "map"]
    with pytest.raises(fastir.UnknownMetricError, match="own"):
        call(["own"])


def test_weights_are_those_of_the_call():
    both = {"group": [2, 3], "metrics": "mrr"}
    assert [
        fastir.evaluate_scores(LABELS, SCORES, **both, weights=weights)["mrr"] for weights in ([1, 0], None, [0, 1])
    ] == [0.5, 0.75, 1.0]


@pytest.mark.parametrize("convention", ["ranx", "fastir", "sklearn"])
def test_a_convention_and_options_of_its_own_are_told_apart(convention):
    assert outcome(scores, "ndcg@3", convention=convention) == outcome(scores, "ndcg@3", convention=convention)
    for ties in (None, "input", "optimistic", "pessimistic"):
        tied = [1.0] * 5
        results = fastir.evaluate_scores(LABELS, tied, "mrr", ties=ties)
        assert results["mrr"] == {"optimistic": 1.0, "pessimistic": 1 / 3}.get(ties, 0.5)


# ---- rows of queries -------------------------------------------------------------------------------------------------
FORMS = {
    "int64": lambda numbers: np.array(numbers, np.int64),
    "int32": lambda numbers: np.array(numbers, np.int32),
    "strided": lambda numbers: np.repeat(np.array(numbers, np.int64), 2)[::2],
    "reversed": lambda numbers: np.array(numbers[::-1], np.int64)[::-1],
    "big-endian": lambda numbers: np.array(numbers, ">i8"),
    "unaligned": lambda numbers: np.frombuffer(b"x" + np.array(numbers, np.int64).tobytes(), np.int64, offset=1),
    "list": list,
}
GROUPS = [[5], [2, 3], [0, 5], [5, 0], [0, 0, 5, 0], [2, 0, 3], [4], [6], [2, 2], [3, -1, 3], [-5], [0], [2**62, 5], []]
OFFSETS = [[0, 5], [0, 2, 5], [0, 0, 5], [0, 5, 5], [1, 5], [-1, 5], [0, 3, 2, 5], [0, 4], [0, 6], [0, 5, 4], [0], [5]]


@pytest.mark.parametrize("name, divisions", [("group", GROUPS), ("offsets", OFFSETS)])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "list"])
def test_divisions_of_any_form_have_the_same_values_and_errors(name, divisions, form):
    for numbers in divisions:
        if numbers and (form != "int32" or max(numbers) < 2**31):
            assert outcome(scores, "map", **{name: FORMS[form](numbers)}) == outcome(scores, "map", **{name: numbers})


def test_errors_of_divisions_name_the_place():
    for option, numbers, message in [
        ("group", [4], "group sizes sum to 4 but labels has 5 entries"),
        ("group", [2**62, 5], f"group sizes sum to {2**62 + 5} but labels has 5 entries"),
        ("group", [3, -1, 3], r"group\[1\] = -1; a group size must be 0 or more"),
        ("offsets", [1, 5], "offsets must start at 0, got offset 1"),
        ("offsets", [0, 3, 2, 5], r"offsets\[2\] = 2 < offsets\[1\] = 3; offsets must not fall"),
        ("offsets", [0, 4], "labels has 5 entries but offsets ends at 4"),
        ("offsets", [], "offsets must have 1 dimension and at least one entry"),
    ]:
        with pytest.raises(ValueError, match=message):
            scores("map", **{option: np.array(numbers, np.int64)})
    for options in ({"group": [5], "qid": [0] * 5}, {"group": [5], "offsets": [0, 5]}):
        with pytest.raises(ValueError, match="must not be given together"):
            scores("map", **options)


def test_no_one_and_two_queries():
    assert fastir.evaluate_scores(LABELS[:0], SCORES[:0], METRICS[:4], group=np.empty(0, np.int64)).query_ids == []
    assert scores("mrr", group=np.array([5])).values.tolist() == [[0.5]]
    assert scores("mrr", group=np.array([2, 3])).values.tolist() == [[0.5], [1.0]]
    assert scores("mrr", offsets=np.array([0, 5, 5])).values.tolist() == [[0.5], [0.0]]


@pytest.mark.parametrize("kind", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", ">i4", ">f8"])
def test_labels_and_scores_of_any_dtype(kind):
    labels = np.array([0, 1, 1, 0, 1], kind)
    expected = fastir.evaluate_scores([0, 1, 1, 0, 1], [5, 4, 3, 2, 1], ["map", "ndcg"])
    given = np.array([5, 4, 3, 2, 1], "d" if kind == "?" else kind)
    assert fastir.evaluate_scores(labels, given, ["map", "ndcg"]).values.tobytes() == expected.values.tobytes()


def test_arrays_of_another_dtype_or_shape_are_refused_as_ever():
    with pytest.raises(TypeError, match="labels must hold numbers of at most 64 bits, got dtype complex128"):
        fastir.evaluate_scores(LABELS.astype(complex), SCORES, "map")
    with pytest.raises(ValueError, match=r"scores must have 1 dimension, got shape \(1, 5\)"):
        fastir.evaluate_scores(LABELS, SCORES[None], "map")
    with pytest.raises(TypeError, match="group must be integers, got dtype float64"):
        scores("map", group=np.array([5.0]))


# ---- means of one query ----------------------------------------------------------------------------------------------
def test_means_of_one_query_are_its_values():
    values = np.array([[0.5, math.nan, -0.0, 3.0, math.nan, 0.25]])
    hows = ["mean", "mean", "sum", "count", "mean_or_nan", "geometric"]
    one = Results(["q"], list("abcdef"), values, np.zeros(1, np.uint8), hows, None)
    assert dict(one) == {**dict(one), "a": 0.5, "c": 0.0, "d": 3.0, "f": 0.25}
    assert math.isnan(one["b"]) and math.isnan(one["e"]) and math.copysign(1, one["c"]) == 1
    held = pickle.loads(pickle.dumps(values))  # whose dtype is another object
    again = Results(["q"], list("abcdef"), held, np.zeros(1, np.uint8), hows, None)
    assert str(dict(again)) == str(dict(one))
    strided = Results(
        ["q"], ["a", "b"], np.array([[1.0, 0.0, 2.0, 0.0]])[:, ::2], np.zeros(1, np.uint8), hows[:2], None
    )
    assert dict(strided) == {"a": 1.0, "b": 2.0}
    for wrong in (values.astype(np.float32), values[:, :5], values[0], np.vstack([values, values])):
        with pytest.raises((ValueError, IndexError)):
            dict(Results(["q"], list("abcdef"), wrong.copy(), np.zeros(1, np.uint8), hows, None))


# ---- one query of many -----------------------------------------------------------------------------------------------
def many_queries(n=300):
    return {f"q{i}": {f"d{j}": (i + j) % 3 for j in range(i % 5 + 1)} for i in range(n)}


@pytest.mark.parametrize("queries", ["qrels", "intersection"])
@pytest.mark.parametrize("ids", [["q7"], ["q8", "q4"], ["q7", "unknown"], [f"q{i}" for i in range(300)]])
def test_a_run_of_few_queries_has_the_same_values_in_any_shape(queries, ids):
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    evaluator = fastir.Evaluator(many_queries(), METRICS, queries=queries)
    run = {query: {"d3": 4.0, "d1": 3.0, "x": 2.0, "d0": 1.0} for query in ids}
    rows = [(query, doc, score) for query, ranking in run.items() for doc, score in ranking.items()]
    table = pyarrow.table(dict(zip(["query_id", "doc_id", "score"], map(list, zip(*rows, strict=True)), strict=True)))
    expected = evaluator.evaluate(run)
    frames = [table.to_pandas(), pandas.DataFrame(table.to_pydict(), dtype=object), table]
    for shape in (fastir.Run.from_dict(run), *frames, {query: list(ranking) for query, ranking in run.items()}):
        results = evaluator.evaluate(shape)
        assert results == expected and dict(results) == dict(expected)
        assert results.report.in_both == expected.report.in_both == len(set(ids) - {"unknown"})
    assert evaluator.judged_rankings(run) == evaluator.judged_rankings(table)
    assert evaluator.judged_rankings(run).evaluate(METRICS, queries=queries) == expected


def test_judged_rankings_are_of_the_run_as_it_was():
    run = {"q": {"x": 3.0, "a": 2.0, "c": 1.0}}
    judged = fastir.judged_rankings({"q": QRELS["q"]}, run)
    run["q"]["a"] = 9.0
    run.clear()
    assert judged.ranks.tolist() == [2, 3] and judged.report.in_both == 1


def test_judged_rankings_let_go_of_what_made_them():
    judged = fastir.judged_rankings(QRELS, RUN, queries="qrels")
    with ThreadPoolExecutor(8) as threads:
        read = list(threads.map(lambda name: getattr(judged, name), ["ranks", "labels", "num_ret", "report"] * 8))
    assert all(read[row] is read[row % 4] or read[row].tolist() == read[row % 4].tolist() for row in range(3))
    assert judged._make is None and judged == pickle.loads(pickle.dumps(judged))
    with pytest.raises(AttributeError, match="no attribute 'rank'"):
        judged.rank  # noqa: B018


@pytest.mark.parametrize("dtypes", [("i4", "i4"), ("i8", "i8"), ("f8", "i4"), ("i8", "u4")])
def test_ranks_are_collected_into_arrays_of_their_dtypes_alone(dtypes):
    judged = fastir.Qrels.from_dict(QRELS).columns.judged()
    for sizes in ((5, 5), (6, 6), (6, 5)):
        arrays = [np.zeros(size, dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
        with pytest.raises(ValueError, match="expected arrays of 6 entries, int64 and int32"):
            collecting_plan(judged, *arrays, 10)


def test_frames_with_a_list_in_each_row_are_known_by_their_first_value():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr")
    for lists in (
        pandas.Series([["b", "a"]]),
        pandas.Series([["b", "a"]], dtype=pandas.ArrowDtype(pyarrow.list_(pyarrow.string()))),
    ):
        assert evaluator.evaluate(pandas.DataFrame({"query_id": ["q"], "doc_id": lists}))["mrr"] == 0.5


# ---- several runs ----------------------------------------------------------------------------------------------------
def test_dicts_of_runs_are_runs_whatever_their_names():
    runs = {"query_id": RUN, "score": {"q": {"a": 1.0}}, 3: {"r": {"a": 1.0}}}
    evaluator = fastir.Evaluator(QRELS, METRICS, queries="qrels")
    together = evaluator.evaluate_many(runs)
    assert list(together) == list(runs)
    assert all(together[name] == evaluator.evaluate(run) for name, run in runs.items())
    assert list(evaluator.evaluate_many({})) == []
    assert evaluator.evaluate_many({"one": RUN})["one"] == evaluator.evaluate(RUN)
    for wrong in ({"a": {"b": 1.0}}, {"one": {"q": {"a": "x"}}}):
        with pytest.raises((TypeError, ValueError), match=r"one|run"):
            evaluator.evaluate_many(wrong)
    with pytest.raises(ValueError, match=r"names=.*only for runs that are files"):
        evaluator.evaluate_many(runs, names="tag")


# ---- parts -----------------------------------------------------------------------------------------------------------
def test_a_part_of_few_queries_is_as_large_as_these():
    qrels = many_queries()
    evaluator = fastir.Evaluator(qrels, METRICS, queries="qrels")
    runs = [{f"q{i}": {"d1": 2.0, "x": 1.5, f"d{i % 3}": 1.0}} for i in (7, 2, 290, 4)] + [{"unknown": {"d": 1.0}}]
    whole = evaluator.evaluate({query: ranking for run in runs for query, ranking in run.items()})
    parts = [evaluator.partial(run) for run in runs]
    assert [len(part._state.places) for part in parts[:4]] == [1] * 4
    for order in (parts, parts[::-1], parts[2:] + parts[:2]):
        total = evaluator.partial()
        for part in order:
            total.merge(part)
        assert total.result() == whole and total.result().report.unjudged_share == whole.report.unjudged_share
    added = evaluator.partial(runs[0])
    for run in runs[1:]:
        added.add(run)
    assert added.result() == whole
    grouped = evaluator.partial(strategy="grouped")
    assert repr(grouped) == "<Partial of 0 queries: grouped>"
    grouped.merge(pickle.loads(pickle.dumps(parts[0])))
    grouped.add({query: ranking for run in runs[1:] for query, ranking in run.items()})
    assert grouped.result() == whole


def test_parts_of_few_queries_that_come_back_are_refused():
    evaluator = fastir.Evaluator(many_queries(), METRICS, queries="qrels")
    run = {"q7": {"d1": 1.0}}
    one, other = evaluator.partial(run), evaluator.partial(run)
    with pytest.raises(ValueError, match="query 'q7' comes in two parts"):
        one.merge(other)
    with pytest.raises(ValueError, match="query 'q7' comes in two parts"):
        other.add(run)
    unknown = evaluator.partial({"u": {"d1": 1.0}})
    with pytest.raises(ValueError, match="query 'u' comes in two parts"):
        unknown.add({"u": {"d1": 1.0}, "q1": {"d1": 1.0}})
    with pytest.raises(ValueError, match="query q9"):
        evaluator.partial({"q9": {"d1": math.nan}})
    assert evaluator.partial(run).result() == evaluator.evaluate(run)  # an error leaves nothing for the next part
    with pytest.raises(fastir.NoOverlapError, match="no query in common"):
        evaluator.partial({"u": {"d1": 1.0}}).result()
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        evaluator.partial({}).result()


def test_a_part_knows_no_ranks_of_the_part_before():
    evaluator = fastir.Evaluator(many_queries(), METRICS, queries="qrels")
    full = {f"q{i}": {f"d{j}": float(-j) for j in range(5)} for i in range(300)}
    first = evaluator.partial(full)
    second = evaluator.partial({"q4": {"x": 1.0}})
    assert first.result() == evaluator.evaluate(full)
    assert second._state.arrays["ranks"].tolist() == [0] * 5
    assert second.result() == evaluator.evaluate({"q4": {"x": 1.0}})


# ---- batches ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 40])
def test_few_values_of_a_batch_add_up_as_many_do(n):
    rng = np.random.default_rng(n)
    labels, numbers = rng.integers(0, 3, (max(n, 1), 6))[:n], rng.random((max(n, 1), 6))[:n]
    metrics = ["ndcg@5", "map(empty=skip)", "num_rel", "gm_map", "mrr(empty=nan)"]
    total = fastir.Accumulator(metrics)
    total.update(labels, numbers) if n else total.update([], [], group=[])
    one_by_one = fastir.Accumulator(metrics)
    for row in range(n):
        one_by_one.update(labels[row], numbers[row])
    whole = fastir.evaluate_scores(labels.ravel(), numbers.ravel(), metrics, group=[6] * n)
    assert str(total.result()) == str(one_by_one.result()) == str(dict(whole))
