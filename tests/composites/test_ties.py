"""evaluate(..., ties_report=True): what the order of equal scores changes, against a twin that tries all orders."""

import itertools
import math
import pickle
import random

import numpy as np
import pytest

import fastir

CLOSED = ["ndcg@3", "ndcg", "map", "map@3", "mrr", "mrr@2", "precision@2", "recall@3", "r_precision", "rbp(p=0.8)"]
CLOSED += ["hit_rate@2", "dcg@2", "ndcg(gain=exp2)@4", "num_rel_ret", "num_ret", "err@3", "bpref"]
OPEN = ["gmean_rank", "yaap", "pfound@3", "irbu@3", "compat", "iprec@0.1", "gm_map", "map(ap_norm=hits)@3", "inf_ap"]
NOT_EXTREME = ["map(ap_norm=hits)@3", "inf_ap"]  # labels in order need not give their least and largest value


def small_run(seed, n_queries=6, levels=3):
    """Qrels and a run of few distinct scores, such that all orders of a query can be listed."""
    draw = random.Random(seed)
    ids = "abcdef"
    qrels = {f"q{n}": {doc: draw.choice((-1, 0, 1, 2)) for doc in ids[:4]} | {"z": 1} for n in range(n_queries)}
    run = {query: {doc: float(draw.randrange(levels)) for doc in ids} for query in qrels}
    return qrels, run


def all_orders(scores):
    """Every ranking of a query in which the scores do not rise."""
    groups = [
        list(itertools.permutations(doc for doc in scores if scores[doc] == score))
        for score in sorted(set(scores.values()), reverse=True)
    ]
    return [list(itertools.chain(*order)) for order in itertools.product(*groups)]


def values_of_all_orders(labels, scores, metrics, **options):
    """Shape (n_orders, n_metrics): the values of one query in each order, each as a query of its own."""
    orders = all_orders(scores)
    qrels = {str(n): labels for n in range(len(orders))}
    return fastir.evaluate(qrels, {str(n): order for n, order in enumerate(orders)}, metrics, **options).values


@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_all_orders(seed):
    qrels, run = small_run(seed)
    results = fastir.evaluate(qrels, run, CLOSED, ties_report=True)
    report = results.ties()
    assert results == fastir.evaluate(qrels, run, CLOSED)
    for metric, column in zip(CLOSED, range(len(CLOSED)), strict=True):
        by_query = report.per_query(metric)
        for query, labels in qrels.items():
            orders = values_of_all_orders(labels, run[query], CLOSED)[:, column]
            found = by_query[query]
            assert (found["lowest"], found["highest"]) == (orders.min(), orders.max()), (metric, query)
            assert found["expected"] == pytest.approx(orders.mean(), abs=1e-12), (metric, query)
            assert found["bias"] == results.per_query(metric)[query] - found["expected"]
        lowest, highest, expected = (
            [each[name] for each in by_query.values()] for name in ("lowest", "highest", "expected")
        )
        divided = 1 if metric.startswith("num") else len(qrels)
        row = report[metric]
        assert (row.lowest, row.highest) == (math.fsum(lowest) / divided, math.fsum(highest) / divided)
        assert row.expected == math.fsum(expected) / divided
        assert row.range == row.highest - row.lowest and row.bias == results[metric] - row.expected
        assert row.n_queries == sum(low < high for low, high in zip(lowest, highest, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_metrics_without_a_closed_form_have_no_expected_value_where_there_are_ties(seed):
    qrels, run = small_run(seed)
    report = fastir.evaluate(qrels, run, [*OPEN, "map"], ties_report=True).ties()
    for metric in OPEN:
        by_query = report.per_query(metric)
        orders = {query: values_of_all_orders(qrels[query], run[query], [metric])[:, 0] for query in qrels}
        for query, values in orders.items():
            low, high = by_query[query]["lowest"], by_query[query]["highest"]
            if metric in NOT_EXTREME:
                assert values.min() <= low <= high <= values.max()
            else:
                np.testing.assert_array_equal((low, high), (values.min(), values.max()), f"{metric} of {query}")
    assert all(math.isnan(report[metric].expected) and math.isnan(report[metric].bias) for metric in OPEN)
    assert report["map"].expected == report["map"].expected


@pytest.mark.parametrize(
    "rule", ["trec", "doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic", "average"]
)
def test_the_ends_are_the_values_under_the_three_rules(rule):
    qrels, run = small_run(9, 40)
    metrics = ["ndcg@5", "map", "mrr"]
    results = fastir.evaluate(qrels, run, metrics, ties=rule, ties_report=True)
    best, worst, average = (
        fastir.evaluate(qrels, run, metrics, ties=each) for each in ("optimistic", "pessimistic", "average")
    )
    for row in results.ties():
        assert (row.lowest, row.highest) == (worst[row.metric], best[row.metric])
        assert row.expected == average[row.metric]
        assert row.bias == results[row.metric] - row.expected


def test_without_ties_everything_is_the_value():
    results = fastir.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "c": 1.0}}, ["map", "err"], ties_report=True)
    for row in results.ties():
        value = results[row.metric]
        assert row == (row.metric, value, value, value, 0.0, 0.0, 0, 1)


def test_a_constant_scorer_has_the_widest_range():
    """mteb#4932: a model that gives each document the same score gets a value by the order of ids alone."""
    documents = [f"d{n}" for n in range(20)]
    qrels = {"q": {"d9": 1}, "other": {"d0": 1}}
    run = {query: dict.fromkeys(documents, 1.0) for query in qrels}
    with pytest.warns(fastir.FastirWarning, match="equal"):
        results = fastir.evaluate(qrels, run, "mrr", ties_report=True)
    row = results.ties()["mrr"]
    assert results["mrr"] == (1 + 1 / 20) / 2
    assert (row.lowest, row.highest, row.n_queries, row.largest_group) == (1 / 20, 1.0, 2, 20)
    assert row.expected == pytest.approx(sum(1 / rank for rank in range(1, 21)) / 20)


def test_half_precision_makes_ties_that_the_report_counts():
    draw = np.random.default_rng(0)
    ids = [f"d{n:03}" for n in range(300)]
    qrels = {f"q{n}": {ids[i]: 1 for i in draw.choice(300, 10, False)} for n in range(30)}
    exact = {query: dict(zip(ids, (0.7 + 0.01 * draw.random(300)).tolist(), strict=True)) for query in qrels}
    half = {query: {doc: float(np.float16(score)) for doc, score in docs.items()} for query, docs in exact.items()}
    metrics = ["ndcg@10", "map"]
    assert fastir.evaluate(qrels, exact, metrics, ties_report=True).ties()["map"].n_queries == 0
    for row in fastir.evaluate(qrels, half, metrics, ties_report=True).ties():
        assert row.range > 0.01 and row.largest_group > 10
        assert row.n_queries > 10 and row.lowest < row.expected < row.highest


def same_reports(one, other):
    assert one.query_ids == other.query_ids
    np.testing.assert_array_equal(one.metrics, other.metrics)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.groups, other.groups)


def test_reports_are_equal_whatever_a_run_comes_as(tmp_path):
    qrels, run = small_run(3, 90)
    metrics = ["ndcg@5", "map", "bpref", "compat"]
    expected = fastir.evaluate(qrels, run, metrics, ties_report=True).ties()
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    table = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
    file = tmp_path / "some.run"
    file.write_text("".join(f"{query} Q0 {doc} 0 {score} tag\n" for query, doc, score in rows))
    shuffled = {
        name: [column[n] for n in np.random.default_rng(1).permutation(len(rows))] for name, column in table.items()
    }
    evaluator = fastir.Evaluator(qrels, metrics, ties_report=True)
    for form in (table, file, shuffled, fastir.Run.from_dict(run)):
        same_reports(evaluator.evaluate(form).ties(), expected)
    for n_threads in (1, 3):
        found = fastir.evaluate_many(qrels, {"a": file, "b": run}, metrics, ties_report=True, n_threads=n_threads)
        for each in found.values():
            same_reports(each.ties(), expected)


def test_other_options_hold_for_the_report_too():
    qrels, run = small_run(5, 12)
    run["q0"] = {}
    del run["q1"]
    average = {"ties": "average"}
    for options in (
        {"queries": "intersection"},
        {"queries": "qrels", "weights": {query: n + 1.0 for n, query in enumerate(qrels)}},
        {"queries": ["q2", "q3"]},
        {"queries": "qrels", "judged_only": True},
        {"queries": "qrels", "rel_level": 2},
        {"queries": "qrels", "empty": "skip", "rel_level": 2},
        {"queries": "qrels", "parents": {"a": "b"}},
        {"queries": "qrels", "exclude": {"q2": ["a"], "q3": ["b"]}},
        {"convention": "ranx", "queries": "qrels"},
        {"queries": "qrels", "score_dtype": "float32"},
    ):
        results = fastir.evaluate(qrels, run, ["ndcg@4", "map"], ties_report=True, **options)
        expected = fastir.evaluate(qrels, run, ["ndcg@4", "map"], **options | average)
        for row in results.ties():
            assert row.expected == pytest.approx(expected[row.metric], rel=1e-14, nan_ok=True), options
            assert row.lowest <= row.expected <= row.highest
        assert results.ties().query_ids == results.query_ids


def test_real_valued_labels_and_micro_averages_are_reported():
    qrels, run = small_run(7, 12)
    fractions = {query: {doc: label / 4 for doc, label in docs.items()} for query, docs in qrels.items()}
    row = fastir.evaluate(fractions, run, "ndcg@3", ties_report=True).ties()["ndcg@3"]
    ends = [
        fastir.evaluate(fractions, run, "ndcg@3", ties=each)["ndcg@3"]
        for each in ("pessimistic", "average", "optimistic")
    ]
    assert [row.lowest, row.expected, row.highest] == ends
    micro = fastir.evaluate(qrels, run, "recall@2", average="micro", ties_report=True).ties()["recall@2"]
    ends = [
        fastir.evaluate(qrels, run, "recall@2", average="micro", ties=each)["recall@2"]
        for each in ("pessimistic", "optimistic")
    ]
    assert [micro.lowest, micro.highest] == ends


def test_max_depth_has_no_expected_value():
    qrels, run = small_run(2)
    row = fastir.evaluate(qrels, run, "map", max_depth=3, ties_report=True).ties()["map"]
    assert math.isnan(row.expected) and row.lowest < row.highest


@pytest.mark.parametrize("options", [{"max_depth": 2}, {"max_depth": 3, "judged_only": True}])
def test_the_value_is_between_the_ends_where_the_order_decides_what_is_read(options):
    names = ["mean_rank", "first_rel", "last_rel", "precision", "f1", "num_nonrel_judged_ret", "amri", "rbu"]
    for seed in range(30):
        qrels, run = small_run(seed, 8)
        results = fastir.evaluate(qrels, run, names, ties_report=True, **options)
        for name in names:
            for query, ends in results.ties().per_query(name).items():
                value = results.per_query(name)[query]
                assert math.isnan(value) or ends["lowest"] <= value <= ends["highest"], name


def test_results_without_a_report_name_the_option():
    results = fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map")
    with pytest.raises(ValueError, match="ties_report=True"):
        results.ties()


def test_a_pickled_evaluator_and_pickled_results_keep_the_report():
    qrels, run = small_run(1)
    evaluator = pickle.loads(pickle.dumps(fastir.Evaluator(qrels, "map", ties_report=True)))
    results = evaluator.evaluate(run)
    same_reports(pickle.loads(pickle.dumps(results)).ties(), results.ties())


@pytest.mark.parametrize("suffix", [".json", ".tsv", ".parquet"])
def test_saved_results_keep_the_report(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    for seed, options in ((1, {}), (2, {"max_depth": 3}), (3, {"average": "micro"})):
        qrels, run = small_run(seed)
        results = fastir.evaluate(qrels, run, "recall@2,p@3", ties_report=True, **options)
        results.save(tmp_path / f"a{suffix}")
        same_reports(fastir.load_results(tmp_path / f"a{suffix}").ties(), results.ties())
    results = fastir.evaluate_many(qrels, {"x": run, "y": run}, "p@3", ties_report=True)
    results.save(tmp_path / f"a{suffix}")
    same_reports(fastir.load_results(tmp_path / f"a{suffix}")["y"].ties(), results["y"].ties())


def test_segments_have_the_reports_of_their_queries():
    qrels, run = small_run(1)
    segments = {query: query in list(qrels)[::2] for query in qrels}
    parts = fastir.evaluate(qrels, run, "map,p@3", ties_report=True).by_segment(segments)
    for segment, part in parts.items():
        some = [query for query in qrels if segments[query] == segment]
        same_reports(part.ties(), fastir.evaluate(qrels, run, "map,p@3", queries=some, ties_report=True).ties())


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ("ndcg(judged_only=true)@3,map", {}, "ties_report: metrics or judgments with rules of their own"),
        ("psp@3", {"doc_weights": dict.fromkeys("abcdz", 1.0)}, "ties_report: metrics or judgments"),
        ([fastir.custom_metric("own", len), "map"], {}, "ties_report: metrics of your own"),
    ],
)
def test_metrics_with_rules_of_their_own_are_refused(metrics, options, message):
    qrels, _ = small_run(1)
    with pytest.raises(ValueError, match=message):
        fastir.Evaluator(qrels, metrics, ties_report=True, **options)


def test_the_option_is_true_or_false():
    with pytest.raises(TypeError, match="ties_report must be True or False"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", ties_report="yes")
