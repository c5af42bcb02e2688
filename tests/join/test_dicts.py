"""A run with few of the queries gives what it gives where it is joined by all queries of the qrels."""
# Also of: id_lists.

import random
import threading
import warnings
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import fastir
from fastir.evaluation.drivers import evaluate_one

N_QUERIES = 300
METRICS = ["ndcg@10", "map", "mrr", "num_rel", "num_ret", "err@10", "bpref", "judged@5", "rbp(p=0.8)", "iprec@0.5"]
CLASSICS = ["ndcg@10", "map", "mrr", "P@5", "bpref"]


def qrels_of(rng, query=str):
    """Qrels with queries that have no relevant document, and some that have negative labels alone."""
    return {
        query(number): {f"d{doc}": rng.choice([-1, 0, 0, 1, 2]) for doc in rng.sample(range(30), rng.randrange(1, 9))}
        for number in rng.sample(range(10_000), N_QUERIES)
    }


def run_of(rng, qrels, n, foreign=0):
    """A run of n queries of the qrels, in any order, and of some that they lack; with ties and empty rankings."""
    queries = rng.sample(list(qrels), n)
    queries += [type(queries[0] if queries else "")(20_000 + number) for number in range(foreign)]
    rng.shuffle(queries)
    return {
        query: {f"d{doc}": rng.randrange(9) / 2 for doc in rng.sample(range(40), rng.choice([0, 3, 12]))}
        for query in queries
    }


def outcome(evaluator, run):
    """All that a call gives: the results, the report and the warnings, or the error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            results = evaluator.evaluate(run)
        except (ValueError, TypeError, RuntimeError) as error:
            return type(error), str(error)
    values = results.values.tobytes()
    report = results.report
    return results.query_ids, results.names, values, results.status, report, [str(each.message) for each in said]


NO_FEW = property(lambda self: 1 << 60, lambda self, number: None)  # so many to spare that no run has few queries


def whole_outcome(evaluator, run):
    """The same by all queries of the qrels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate_one.PlainEvaluator, "min_missing_queries", NO_FEW)
        return outcome(evaluator, fastir.Run.from_dict(run) if type(next(iter(run.values()), None)) is dict else run)


def few(evaluator, run):
    """The positions of the queries by which a run was evaluated, or None."""
    return evaluator.rules.prepared.measure(run, 1)[3].rows


@pytest.mark.parametrize("queries", [None, "qrels", "intersection", "strict"])
@pytest.mark.parametrize("metrics, rules", [
    (METRICS, {}), (METRICS, {"ties": "input", "rel_level": 2, "score_dtype": "float32"}),
    (METRICS, {"judged_only": True, "max_depth": 5}), (CLASSICS, {"convention": "beir"}),
    (CLASSICS, {"convention": "ranx"}), (CLASSICS, {"convention": "torchmetrics"}),
])  # fmt: skip
def test_few_queries_give_what_all_would(queries, metrics, rules, monkeypatch):
    # a look that is left out has another warning
    monkeypatch.setattr("fastir.evaluation.drivers.suspect_runs.MAX_LOOKS", 1000)
    rng = random.Random(f"{queries} {rules}")
    for _ in range(2):
        qrels = qrels_of(rng)
        evaluator = fastir.Evaluator(qrels, metrics, queries=queries, **rules)
        for n, foreign in (1, 0), (1, 1), (0, 2), (0, 0), (7, 0), (29, 3), (37, 1), (250, 0):
            run = run_of(rng, qrels, n, foreign)
            expected = whole_outcome(evaluator, run)
            assert outcome(evaluator, fastir.Run.from_dict(run)) == expected
            assert outcome(evaluator, run) == expected
            assert outcome(evaluator, run) == expected
            assert outcome(evaluator, defaultdict(dict, run)) == expected
            assert outcome(evaluator, OrderedDict(run)) == expected


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_integer_queries_are_found():
    rng = random.Random(2)
    qrels = qrels_of(rng, int)
    run = run_of(rng, qrels, 4, 1)
    evaluator = fastir.Evaluator(qrels, "map", queries="intersection")
    results = evaluator.evaluate(run)
    assert results.query_ids == [query for query in qrels if query in run]
    alone = fastir.Evaluator({query: qrels[query] for query in results.query_ids}, "map", queries="intersection")
    assert (results.values == alone.evaluate(run).values).all()
    with pytest.raises(TypeError, match="query ids are str such as '7', but those of the qrels are int"):
        evaluator.evaluate({"7": {"d1": 1.0}})


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_integers_equal_the_text_of_a_file(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("".join(f"{query} 0 {doc} 1\n" for query in range(100) for doc in range(3)))
    evaluator = fastir.Evaluator(fastir.Qrels.from_file(path), ["map", "num_rel"], queries="intersection")
    numbers, text = evaluator.evaluate({7: {2: 1.0, 9: 2.0}}), evaluator.evaluate({"7": {"2": 1.0, "9": 2.0}})
    assert numbers.query_ids == text.query_ids == ["7"]
    assert (numbers.values == text.values).all()
    assert numbers.report.repairs and not text.report.repairs


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_errors_name_the_first_bad_query_of_the_qrels():
    qrels = {f"q{number}": {"a": 1} for number in range(100)}
    evaluator = fastir.Evaluator(qrels, "map")
    with pytest.raises(ValueError, match=r"NaN.*query q3, document b"):
        evaluator.evaluate({"q5": {"a": float("nan")}, "q3": {"a": 1.0, "b": float("nan")}})
    with pytest.raises(TypeError, match=r"'q3' must map to a dict"):
        evaluator.evaluate({"q5": {"a": "x"}, "q3": 1})


def test_what_a_caller_gets_is_his_own():
    qrels = {f"q{number}": {"a": 1} for number in range(100)}
    evaluator = fastir.Evaluator(qrels, ["map", "num_rel"], queries="qrels")
    first = evaluator.evaluate({"q5": {"a": 1.0}})
    values = first.values
    second = evaluator.evaluate({"q6": {"a": 1.0}})
    assert not np.shares_memory(values, second.values)
    assert first.per_query("map")["q5"] == 1.0 and second.per_query("map")["q5"] == 0.0
    assert first.status["q5"] == "evaluated" and second.status["q5"] == "missing"


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_threads_prepare_the_rows_once():
    rng = random.Random(3)
    qrels = qrels_of(rng)
    run = run_of(rng, qrels, 5)
    expected = fastir.Evaluator(qrels, "ndcg", queries="qrels").evaluate(fastir.Run.from_dict(run))
    evaluator = fastir.Evaluator(qrels, "ndcg", queries="qrels")
    results = []
    barrier = threading.Barrier(8)

    def work():
        barrier.wait()
        results.extend(evaluator.evaluate(run) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 400
    assert all(each == expected and each.report == expected.report for each in results)


RULES = [
    {}, {"duplicates": "first"}, {"duplicates": "last"}, {"duplicates": "once"}, {"max_depth": 3, "judged_only": True},
    {"parents": {f"d{doc}": f"d{doc // 2}" for doc in range(40)}}, {"convention": "ranx"}, {"convention": "beir"},
    {"parents": lambda ids: np.array([doc[:2] for doc in ids], str), "duplicates": "once"},
]  # fmt: skip


@pytest.mark.parametrize("queries", [None, "qrels", "intersection", "strict"])
@pytest.mark.parametrize("rules", RULES)
def test_few_lists_and_runs_give_what_all_would(queries, rules):
    rng = random.Random(f"{queries} {sorted(rules)}")
    qrels = qrels_of(rng)
    evaluator = fastir.Evaluator(qrels, CLASSICS, queries=queries, **rules)
    for n, foreign in (1, 0), (1, 1), (0, 2), (0, 0), (7, 0), (29, 3), (37, 1), (250, 0):
        run = {query: [*ranking] for query, ranking in run_of(rng, qrels, n, foreign).items()}
        if rules.get("duplicates"):
            run = {query: ids + ids[:2] for query, ids in run.items()}
        expected = whole_outcome(evaluator, run)
        assert outcome(evaluator, run) == expected
        assert outcome(evaluator, {query: tuple(ids) for query, ids in run.items()}) == expected
        scored = fastir.Run.from_dict(run, rules.get("duplicates"))
        if "beir" not in rules.values() and rules.get("duplicates") is None:
            assert outcome(evaluator, scored) == expected


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_many_runs_of_few_queries():
    rng = random.Random(5)
    qrels = qrels_of(rng)
    runs = {name: run_of(rng, qrels, n, 1) for name, n in (("one", 1), ("two", 2), ("most", 280))}
    for queries in ("qrels", "intersection"):
        evaluator = fastir.Evaluator(qrels, CLASSICS, queries=queries)
        lists = {name: {query: [*ranking] for query, ranking in run.items()} for name, run in runs.items()}
        for form in (runs, lists, {name: fastir.Run.from_dict(run) for name, run in runs.items()}):
            found = evaluator.evaluate_many(form)
            assert [whole_outcome(evaluator, run)[2] for run in (form if form is lists else runs).values()] == [
                results.values.tobytes() for results in found.values()
            ]


def test_one_query_is_evaluated_alone():
    qrels = qrels_of(random.Random(4))
    query = list(qrels)[7]
    ranking = {"d1": 2.0, "d2": 1.0}
    for queries in ("qrels", "intersection"):
        evaluator = fastir.Evaluator(qrels, "map", queries=queries)
        for run in ({query: ranking}, {query: [*ranking]}, fastir.Run.from_dict({query: ranking})):
            assert few(evaluator, run) == [7]


@pytest.mark.parametrize("data", [{"q5": ["a", "a"], "q3": ["b", "b"]}, {"q5": 1, "q3": 2}, {"q5": ["a"], "q3": {"x"}}])
def test_errors_in_lists_name_the_first_bad_query_of_the_qrels(data):
    evaluator = fastir.Evaluator({f"q{number}": {"a": 1} for number in range(100)}, "map")
    found, expected = outcome(evaluator, data), whole_outcome(evaluator, data)
    assert found == expected
    assert "q3" in found[1]


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_few_integers_equal_text():
    numbers = {number: dict.fromkeys(range(5), 1) for number in range(200)}
    texts = {str(number): {str(doc): 1 for doc in range(5)} for number in range(200)}
    large = 2**70
    for run in ({7: [2, 9]}, {7: [2, large]}, {199: [], 300: [1]}):
        text = {str(query): list(map(str, ids)) for query, ids in run.items()}
        for qrels, ours in (numbers, run), (texts, text):
            evaluator = fastir.Evaluator(qrels, CLASSICS)
            expected = whole_outcome(evaluator, ours)
            assert outcome(evaluator, ours) == expected
            assert outcome(evaluator, fastir.Run.from_dict(ours))[2:4] == expected[2:4]
    evaluator = fastir.Evaluator(fastir.Qrels.from_dict(texts), "map")
    assert outcome(evaluator, {7: [2, 9]}) == whole_outcome(evaluator, {7: [2, 9]})


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("queries", [None, "intersection", "strict"])
@pytest.mark.parametrize("rules", [{}, {"ties": "input", "score_dtype": "float32"}, RULES[5]])
def test_judged_rankings_of_few_queries_are_those_of_all(queries, rules):
    rng = random.Random(f"{queries} {sorted(rules)}")
    qrels = qrels_of(rng)

    def evaluator():
        return fastir.Evaluator(qrels, "num_q", queries=queries, **rules)

    def judged(by, run):
        try:
            return by.judged_rankings(run)
        except ValueError as error:
            return type(error), str(error)

    by_few = evaluator()
    for n, foreign in (1, 0), (1, 1), (0, 2), (0, 0), (7, 0), (29, 3), (250, 0):
        run = run_of(rng, qrels, n, foreign)
        lists = {query: [*ranking] for query, ranking in run.items()}
        for data, others in (fastir.Run.from_dict(run), [run]), (fastir.Run.from_dict(lists), [lists]):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(evaluate_one.PlainEvaluator, "min_missing_queries", NO_FEW)
                expected = judged(evaluator(), data)
            assert all(judged(by_few, other) == expected for other in [data, *others])
            if not isinstance(expected, tuple):
                values = expected.evaluate(CLASSICS, queries="qrels").values
                whole = fastir.evaluate(qrels, data, CLASSICS, **{**rules, "queries": "qrels"})
                assert values.tobytes() == whole.values.tobytes()


@pytest.mark.parametrize("n_docs", [60, 90, 500])
@pytest.mark.parametrize("judged_only", [False, True])
def test_many_judged_documents_are_found_alike_in_every_run(n_docs, judged_only):
    """In the first run by a table that is made for it, or by probes; as a Run by the bytes of its ids."""
    rng = random.Random(n_docs)
    docs = [f"d{number}" for number in range(600)]
    qrels = {f"q{q}": {doc: rng.choice([-1, 0, 0, 1, 2]) for doc in rng.sample(docs, 100)} for q in range(4)}
    run = {f"q{q}": {doc: rng.randrange(99) / 2 for doc in rng.sample(docs, n_docs)} for q in range(3)}
    evaluator = fastir.Evaluator(qrels, METRICS, judged_only=judged_only, queries="qrels")
    first, second = evaluator.evaluate(run), evaluator.evaluate(run)
    held = evaluator.evaluate(fastir.Run.from_dict(run))
    assert first.values.tobytes() == second.values.tobytes() == held.values.tobytes()
    assert str(first.report) == str(second.report)
