"""Metrics of the caller's own: they are listed with fastir's names, and their errors name metric and query."""

import operator
import pickle

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"a": 1, "c": 2}, "q2": {"b": 1}, "q3": {"a": 1}}
RUN = {"q2": {"b": 1.0}, "q1": {"c": 3.0, "x": 2.0, "a": 1.0}}
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def precision_at_one(judged):
    """The value that P@1 has."""
    labels, _ = judged.to_labels(1)
    return (labels[:, 0] >= 1).astype(float)


OWN = fastir.custom_metric("own@1", precision_at_one, low=0, high=1, about="the first document")
NUM_RET = fastir.custom_metric("depth", operator.attrgetter("num_ret"), higher_is_better=False)


def shapes(run):
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return [run, fastir.Run.from_dict(run), rows, iter(rows), {query: list(docs) for query, docs in run.items()}]


@pytest.mark.parametrize("queries", [None, "qrels", "intersection", ["q2", "q1"]])
def test_it_stands_beside_names_in_every_shape(queries):
    for run in shapes(RUN):
        results = fastir.evaluate(QRELS, run, ["mrr", OWN, "P@1", NUM_RET], queries=queries)
        assert list(results) == ["mrr", "own@1", "P@1", "depth"]
        assert results.per_query("own@1") == results.per_query("P@1")
        assert results["depth"] == np.mean(list(results.per_query("depth").values()))
        plain = fastir.evaluate(QRELS, RUN, ["mrr", "P@1"], queries=queries)
        assert results.per_query("mrr") == plain.per_query("mrr")
        assert results.query_ids == plain.query_ids


def test_siblings_take_it(tmp_path):
    expected = fastir.evaluate(QRELS, RUN, ["P@1", OWN])
    evaluator = pickle.loads(pickle.dumps(fastir.Evaluator(QRELS, ["P@1", OWN])))
    assert evaluator.evaluate(RUN) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert fastir.evaluate_many(QRELS, {"x": RUN}, ["P@1", OWN])["x"] == expected
    judged = fastir.judged_rankings(QRELS, RUN)
    assert judged.evaluate(["P@1", OWN]).values.tobytes() == expected.values.tobytes()
    assert judged.evaluate(OWN)["own@1"] == expected["own@1"]
    assert fastir.evaluate_lists([["a"], ["x"]], [["a"], ["b"]], OWN)["own@1"] == 0.5
    weights = {"q1": 3.0, "q2": 1.0, "q3": 0.0}
    weighted = fastir.evaluate(QRELS, RUN, ["P@1", NUM_RET], weights=weights)
    assert weighted["depth"] == 2.5
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 c 1 2.0 x\nq2 Q0 b 1 1.0 x\n")
    assert fastir.evaluate(QRELS, path, [OWN, "P@1"])["own@1"] == 2 / 3


def test_a_saved_result_says_that_it_was_the_callers(tmp_path):
    results = fastir.evaluate(QRELS, RUN, ["mrr", OWN])
    for name in ("r.json", "r.npz"):
        try:
            results.save(tmp_path / name)
        except ValueError:
            continue
        loaded = fastir.load_results(tmp_path / name)
        told = loaded.provenance.metrics
        assert told == {"mrr": "mrr", "own@1": "the caller's own metric, higher is better: the first document"}
        assert loaded["own@1"] == results["own@1"]
        break
    else:
        pytest.fail("nothing was saved")


def test_saved_results_and_comparisons_know_which_values_are_better(tmp_path):
    pytest.importorskip("scipy")
    low = fastir.custom_metric("depth", operator.attrgetter("num_ret"), higher_is_better=False, about="a: cost")
    runs = {"short": {"q1": {"a": 1.0}}, "long": {"q1": {"a": 1.0, "x": 0.5}}}
    results = fastir.evaluate_many({"q1": {"a": 1}}, runs, ["mrr", low])
    comparison = fastir.compare({"q1": {"a": 1}, "q2": {"a": 1}}, {"x": RUN, "y": RUN}, ["mrr", low], test="sign")
    for end in ("json", "tsv"):
        results["short"].save(tmp_path / f"short.{end}")
        results["long"].save(tmp_path / f"long.{end}")
        loaded = {name: fastir.load_results(tmp_path / f"{name}.{end}") for name in runs}
        assert loaded == results
        table = repr(fastir.ResultsByRun(loaded))
        assert "*1.0000" in table
        assert "*2.0000" not in table
        loaded["short"].save(tmp_path / f"again.{end}")
        assert fastir.load_results(tmp_path / f"again.{end}") == results["short"]
        comparison.save(tmp_path / f"comparison.{end}")
        again = fastir.Comparison.load(tmp_path / f"comparison.{end}")
        assert again == comparison
        assert again.higher_is_better == comparison.higher_is_better == {"mrr": True, "depth": False}


def test_results_do_not_hold_the_function():
    found = fastir.evaluate(QRELS, RUN, fastir.custom_metric("own", lambda judged: judged.num_ret))
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(ValueError, match=r"'own': .*not its function"):
        fastir.evaluate(QRELS, RUN, found.names)


def test_a_run_is_judged_once(monkeypatch):
    """Even one that can be read only once; but metrics that need the documents themselves have joins of their own."""
    from fastir.evaluation.drivers import evaluate_one, judged
    from fastir.inputs.source import data_of

    measured = []
    plain = evaluate_one.PlainEvaluator.measure_rows
    monkeypatch.setattr(
        evaluate_one.PlainEvaluator, "measure_rows", lambda *given: measured.append(data_of(given[1])) or plain(*given)
    )
    rows = iter([("q1", "c", 3.0), ("q1", "x", 2.0), ("q1", "a", 1.0), ("q2", "b", 1.0)])
    found = fastir.evaluate(QRELS, rows, ["mrr", OWN, "ndcg@3"])
    assert measured == [rows]
    assert found == fastir.evaluate(QRELS, RUN, ["mrr", OWN, "ndcg@3"])
    judge = judged.RunJudge(fastir.Evaluator(QRELS, "mrr").rules.prepared)
    assert judge.with_coverage(RUN, None)[0].evaluate(OWN)["own@1"] == 2 / 3


def test_it_stands_beside_metrics_of_weights_and_options_that_read_runs_otherwise():
    weights, parents = {"a": 2.0, "b": 1.0, "c": 3.0}, {"c#1": "c", "a#1": "a"}
    run = {"q2": {"b": 1.0}, "q1": {"c#1": 3.0, "x": 2.0, "a#1": 1.0}}
    options = {"doc_weights": weights, "parents": parents, "exclude": {"q1": ["x"]}}
    found = fastir.evaluate(QRELS, run, ["psp@2", OWN, NUM_RET], **options)
    assert found.per_query("own@1") == fastir.evaluate(QRELS, run, "P@1", **options).per_query("P@1")
    assert found.per_query("depth") == {"q1": 2.0, "q2": 1.0, "q3": 0.0}
    assert found["psp@2"] == fastir.evaluate(QRELS, run, "psp@2", **options)["psp@2"]


def test_which_values_are_better_is_its_own_to_say():
    runs = {"short": {"q1": {"a": 1.0}}, "long": {"q1": {"a": 1.0, "x": 0.5}}}
    table = repr(fastir.evaluate_many({"q1": {"a": 1}}, runs, [NUM_RET]))
    assert "*1.0000" in table
    assert "*2.0000" not in table
    other = fastir.custom_metric("depth", operator.attrgetter("num_ret"))
    assert "*2.0000" in repr(fastir.evaluate_many({"q1": {"a": 1}}, runs, [other]))


def test_compare_takes_it():
    pytest.importorskip("scipy")
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    runs = {"good": {q: {"a": 1.0} for q in qrels}, "bad": {q: {"x": 2.0, "a": 1.0} for q in qrels}}
    comparison = fastir.compare(qrels, runs, [OWN, NUM_RET], test="sign")
    assert {(pair.wins, pair.losses) for pair in comparison.pairs if pair.metric == "own@1"} == {(8, 0)}


def failing(judged):
    if "q2" in judged.query_ids:
        raise KeyError("nothing to divide")
    return np.zeros(len(judged))


@pytest.mark.parametrize(("function", "error", "message"), [
    (failing, ValueError, r"metric 'bad': KeyError: 'nothing to divide' \(query q2\)"),
    (lambda judged: np.zeros(len(judged) + 1), ValueError, r"one value for each query, .* got shape \(4,\)"),
    (lambda judged: np.where(judged.num_ret == 1, 2.0, 0.0), ValueError, r"2.0 is not from 0 to 1 \(query q2\)"),
    (lambda judged: ["a"] * len(judged), TypeError,
     r"'bad': the function must return numbers: got str_ 'a' \(query q1\)"),
    (lambda judged: [0.5, None, 1], TypeError,
     r"'bad': the function must return numbers: got NoneType .* \(query q2\)"),
    (lambda judged: np.zeros(len(judged), complex), TypeError, "'bad': .* got complex128"),
])  # fmt: skip
def test_errors_name_metric_and_query(function, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(QRELS, RUN, fastir.custom_metric("bad", function, low=0, high=1))


def test_undefined_values_are_left_out_of_the_mean():
    metric = fastir.custom_metric("own", lambda judged: np.where(judged.missing, np.nan, 1.0))
    assert fastir.evaluate(QRELS, RUN, metric)["own"] == 1.0


@pytest.mark.parametrize(("call", "message"), [
    (lambda: fastir.bounds(QRELS, RUN, [OWN]), "'own@1': a custom metric has no bounds"),
    (lambda: fastir.explain(QRELS, RUN, "q", OWN), "'own@1' is a custom metric, .* and this call needs a formula"),
    (lambda: fastir.evaluate(QRELS, RUN, OWN, ties="average"), "'own@1': .* ties='average' has no single order"),
    (lambda: fastir.evaluate(QRELS, RUN, [OWN, "mrr@3", "map"], convention="ir_measures"), "'own@1': .* several rules"),
    (lambda: fastir.evaluate(QRELS, RUN, [OWN, fastir.custom_metric("own@1", len)]), "two metrics have this name"),
    (lambda: fastir.custom_metric("ndcg@10", len), "is a fastir metric"),
    (lambda: fastir.custom_metric("x", 3), "function must be callable, got int"),
    (lambda: fastir.custom_metric("x", len, low="0"), "low must be a number"),
    (lambda: fastir.custom_metric("x", len, low=1, high=0), "low must be at most high"),
    (lambda: fastir.custom_metric("x", len, about=3), "about must be a str"),
    (lambda: fastir.custom_metric(3, len), "name must be a str"),
])  # fmt: skip
def test_where_it_cannot_stand_the_error_says_so(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


class Broken:
    """A value whose conversion fails with an error that no caller expects."""

    def __float__(self):
        raise RuntimeError("boom")


NOT_EACH = {  # fails for all queries together, and for none by itself
    "ZeroDivisionError": lambda judged: 1 / 0 if len(judged) > 1 else [1.0],
    "MemoryError": lambda judged: np.ones((1 << 58) if len(judged) > 1 else 1),
    "IndexError": lambda judged: np.ones(1)[[len(judged) - 1]],
    "StopIteration": lambda judged: next(iter([])) if len(judged) > 1 else [1.0],
}
NO_NUMBERS = {
    "10\\*\\*400|too large": lambda judged: [10**400] * len(judged),
    "boom|got Broken": lambda judged: [Broken()] * len(judged),
    "got dict": lambda judged: dict.fromkeys(judged.query_ids, 1.0),
    "got datetime64": lambda judged: np.zeros(len(judged), "M8[s]"),
    "got timedelta64": lambda judged: np.zeros(len(judged), "m8[s]"),
    "got NoneType": lambda judged: None,
}


@pytest.mark.parametrize("name", NOT_EACH)
def test_a_failure_of_all_queries_together_keeps_its_cause(name):
    with pytest.raises(ValueError, match=rf"metric 'bad': (_Array)?{name}: .*\(all queries together\)") as caught:
        fastir.evaluate(QRELS, RUN, fastir.custom_metric("bad", NOT_EACH[name]))
    assert type(caught.value.__cause__).__name__.removeprefix("_Array") == name


@pytest.mark.parametrize("message", NO_NUMBERS)
def test_what_is_no_number_is_an_error_that_names_the_metric(message):
    with pytest.raises(TypeError, match=rf"metric 'bad': the function must return numbers: .*({message})") as caught:
        fastir.evaluate(QRELS, RUN, fastir.custom_metric("bad", NO_NUMBERS[message]))
    assert caught.value.__cause__ is not None


def test_a_failure_takes_one_call_for_each_query_even_of_metrics_that_evaluate_metrics():
    calls = []

    def itself(judged):
        calls.append(len(judged))
        return judged.evaluate(fastir.custom_metric("m", itself)).values[:, 0]

    def anew(depth):
        def deeper(judged):
            calls.append(len(judged))
            return judged.evaluate(anew(depth + 1)).values[:, 0] if depth < 6 else 1 / 0

        return fastir.custom_metric(f"m{depth}", deeper)

    with pytest.raises(ValueError, match=r"'m': .*'m': the function evaluates its own metric \(query q1\)"):
        fastir.evaluate(QRELS, RUN, fastir.custom_metric("m", itself))
    assert calls == [3, 1]
    calls.clear()
    with pytest.raises(ValueError, match=r"'m0': .*'m6': ZeroDivisionError: division by zero \(query q1\)"):
        fastir.evaluate(QRELS, RUN, anew(0))
    assert calls == [3] * 7 + [1] * 7
    assert fastir.evaluate(QRELS, RUN, OWN)["own@1"] == 2 / 3  # nothing is left of the failed calls


def test_a_metric_may_evaluate_another_one():
    twice = fastir.custom_metric("twice", lambda judged: 2 * judged.evaluate(OWN).values[:, 0])
    assert fastir.evaluate(QRELS, RUN, [OWN, twice])["twice"] == 4 / 3


def test_masked_values_are_undefined():
    def masked(judged):
        return np.ma.array([9.0, 1, 2][: len(judged)], mask=[True, False, False][: len(judged)])

    results = fastir.evaluate(QRELS, RUN, fastir.custom_metric("own", masked))
    assert results["own"] == 1.5
    assert np.isnan(results.values[0, 0])
    whole = fastir.custom_metric("own", lambda judged: np.ma.array([9, 1, 2], mask=[1, 0, 0]))
    assert fastir.evaluate(QRELS, RUN, whole)["own"] == 1.5


def test_a_series_is_paired_by_the_ids_of_its_index():
    pandas = pytest.importorskip("pandas")
    order = fastir.custom_metric("own", lambda judged: pandas.Series({q: int(q[1]) for q in sorted(judged.query_ids)}))
    results = fastir.evaluate(QRELS, RUN, order, queries=["q3", "q1", "q2"])
    assert results.per_query("own") == {"q3": 3.0, "q1": 1.0, "q2": 2.0}
    by_place = fastir.custom_metric("own", lambda judged: pandas.Series(judged.num_ret.astype(float)))
    assert fastir.evaluate(QRELS, RUN, by_place) == fastir.evaluate(
        QRELS, RUN, fastir.custom_metric("own", lambda judged: judged.num_ret)
    )


TAKEN = ["query_id", "run", "segment", "convention", "ndcg@10", "mrr", "AP", "recip_rank", "num_q"]
UNWRITABLE = ["\ud800", "a\udc80", "a\tb", "a\nb", "a\rb", "\0", "\x1b[31m", "\x7f", "a\u202eb", "\x85", "\u2028"]
UNWRITABLE += ["m\u200b", "\ufeffm", "a\u2060b"]


@pytest.mark.parametrize("name", ["", " ", "\t", *TAKEN, *UNWRITABLE])
def test_a_name_that_tables_or_files_cannot_hold_is_refused(name):
    with pytest.raises((TypeError, ValueError), match="name"):
        fastir.custom_metric(name, len)


@pytest.mark.parametrize("name", ["Query_ID", "own metric", "é@1", "a,b", 'a"b', "=1+1", "#", "name", "value", "日本"])
def test_results_with_any_other_name_are_saved_and_read_back(name, tmp_path):
    results = fastir.evaluate(QRELS, RUN, ["mrr", fastir.custom_metric(name, lambda judged: judged.num_ret)])
    for end in ("json", "tsv"):
        results.save(tmp_path / f"r.{end}")
        assert fastir.load_results(tmp_path / f"r.{end}") == results


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("ends", [(0, np.inf), (-np.inf, np.inf)])
def test_an_infinite_value_is_refused_whatever_the_range(value, ends):
    metric = fastir.custom_metric("own", lambda judged: [0.0] * (len(judged) - 1) + [value], low=ends[0], high=ends[1])
    with pytest.raises(ValueError, match=r"metric 'own': the value -?inf is not .* \(query q3\)"):
        fastir.evaluate(QRELS, RUN, metric)


def test_the_function_is_never_called_without_queries():
    class Nothing(list):
        query_ids = ()

    values = fastir.custom_metric("never", lambda judged: 1 / 0).values(Nothing())
    assert (values.shape, values.dtype) == ((0,), float)
