"""min_score: the slow twin is a dict without the low rows, for every container; borders; what refuses the option."""

import pickle
import random

import numpy as np
import pytest

import fastir
from fastir.engine.columns.rows import LOW
from fastir.request.plan import least_double

METRICS = ["ndcg@3", "map", "p@2", "num_ret", "num_rel", "num_rel_ret", "rbp", "bpref", "judged@5"]
LEVELS = [0.0, 0.2, 0.25, 0.5, 1.0, 2.0, float("inf"), float("-inf")]
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"x": 0}}
RUN = {"q1": {"a": 0.9, "b": 0.3, "z": 0.5}, "q2": {"c": 0.1}, "q3": {"x": 0.6}}
QUIET = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def collection(seed=3, docs=9):
    """Judgments with negative labels and queries without any relevant one, and a run of few distinct scores."""
    rng = random.Random(seed)
    names = [f"d{i}" for i in range(docs)]
    qrels = {f"q{i}": {doc: rng.choice((-1, 0, 1, 2)) for doc in rng.sample(names, 5)} for i in range(25)}
    run = {query: {doc: rng.randrange(5) / 4 for doc in rng.sample(names, rng.randrange(1, docs))} for query in qrels}
    return qrels, run


def without(run, least):
    """The slow twin."""
    return {query: {doc: score for doc, score in docs.items() if score >= least} for query, docs in run.items()}


def table(run):
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


def trec(run, path):
    path.write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, docs in run.items() for d, s in docs.items()))
    return path


def containers_of(run, folder):
    """A run in every shape that has scores."""
    pa = pytest.importorskip("pyarrow")
    return [
        run,
        fastir.Run.from_dict(run),
        table(run),
        pa.table(table(run)),
        trec(run, folder / "a.run"),
        {query: list(docs.items()) for query, docs in run.items()},
        {query: {doc: np.float64(score) for doc, score in docs.items()} for query, docs in run.items()},
    ]


@QUIET
@pytest.mark.parametrize("least", LEVELS)
@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input", "optimistic", "pessimistic"])
def test_every_container_has_the_values_of_the_dict_without_the_low_rows(least, ties, tmp_path):
    qrels, run = collection()
    wanted = fastir.evaluate(qrels, without(run, least), METRICS, ties=ties)
    for container in containers_of(run, tmp_path):
        found = fastir.evaluate(qrels, container, METRICS, ties=ties, min_score=least)
        assert np.array_equal(found.values, wanted.values, equal_nan=True), type(container)
        assert found.query_ids == wanted.query_ids and dict(found) == dict(wanted)
        assert found.provenance.options["min_score"] == least
    judged = fastir.judged_rankings(qrels, run, ties=ties, min_score=least)
    assert np.array_equal(judged.evaluate(METRICS).values, wanted.values, equal_nan=True)


@QUIET
@pytest.mark.parametrize("least", LEVELS)
@pytest.mark.parametrize(
    "options",
    [
        {"exclude": {"q1": ["d1"], "q4": ["d2", "d3"]}},
        {"max_depth": 2},
        {"judged_only": True},
        {"convention": "ir_measures"},
        {"score_dtype": "float32"},
        {"parents": {"d1": "d2"}},
    ],
)
def test_other_options_act_as_on_the_dict_without_the_low_rows(least, options):
    qrels, run = collection(5)
    wanted = fastir.evaluate(qrels, without(run, least), ["map", "ndcg@3", "num_ret"], **options)
    for container in (run, fastir.Run.from_dict(run)):
        found = fastir.evaluate(qrels, container, ["map", "ndcg@3", "num_ret"], min_score=least, **options)
        assert np.array_equal(found.values, wanted.values, equal_nan=True)


@QUIET
def test_many_runs_compare_explain_bounds_and_curves_drop_the_same_rows():
    qrels, run = collection(7)
    less = without(run, 0.5)
    other = {query: {doc: 1.0 - score / 2 for doc, score in docs.items()} for query, docs in run.items()}
    one = fastir.evaluate_many(qrels, {"a": run, "b": other}, "map", min_score=0.5)
    two = fastir.evaluate_many(qrels, {"a": less, "b": without(other, 0.5)}, "map")
    assert [dict(one[name]) for name in one] == [dict(two[name]) for name in two]
    compared = fastir.compare(qrels, {"a": run, "b": other}, "map", min_score=0.5)
    assert str(compared) == str(fastir.compare(qrels, {"a": less, "b": without(other, 0.5)}, "map"))
    for against in (None, other):
        low = None if against is None else without(against, 0.5)
        found = fastir.bounds(qrels, run, "p@3", against=against, min_score=0.5)
        assert str(found) == str(fastir.bounds(qrels, less, "p@3", against=low))
    assert str(fastir.explain(qrels, run, "q1", "map", min_score=0.5)) == str(fastir.explain(qrels, less, "q1", "map"))
    curve = fastir.precision_recall_curve(qrels, run, min_score=0.5)
    assert curve.area() == fastir.precision_recall_curve(qrels, less).area()
    evaluator = fastir.Evaluator(qrels, "map", min_score=0.5)
    assert dict(pickle.loads(pickle.dumps(evaluator)).evaluate(run)) == dict(evaluator.evaluate(run))


def test_a_score_equal_to_it_is_kept_and_a_query_without_rows_is_an_empty_ranking():
    results = fastir.evaluate(QRELS, RUN, ["num_ret", "mrr"], min_score=0.5)
    assert results.per_query("num_ret") == {"q1": 2, "q2": 0, "q3": 1}
    assert repr(results) == repr(fastir.evaluate(QRELS, without(RUN, 0.5), ["num_ret", "mrr"]))


@QUIET
@pytest.mark.parametrize("least", [0.1, 0.7, 1 / 3, 0.0, -0.1, 1e-46, 3.4028235677973366e38, -3.5e38, 1e300, 2.0**-149])
def test_float32_compares_rounded_scores(least):
    near = [least, *(least + sign * abs(least) * 2.0**-n for n in range(20, 54) for sign in (1, -1)), 1.0, -1.0, 0.0]
    with np.errstate(over="ignore"):
        wanted = np.float32(near) >= np.float32(least)
    assert [score >= least_double(least, True) for score in near] == wanted.tolist()
    qrels, run = {"q": {"d0": 1}}, {"q": {f"d{i}": score for i, score in enumerate(near)}}
    for container in (run, fastir.Run.from_dict(run)):
        found = fastir.evaluate(qrels, container, "num_ret", min_score=least, score_dtype="float32")
        assert found["num_ret"] == wanted.sum()


@QUIET
@pytest.mark.parametrize("least", LEVELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_have_the_values_of_dicts_and_keep_the_judgments(least, dtype):
    rng = np.random.default_rng(11)
    scores = (rng.integers(0, 6, (12, 7)) / 5).astype(dtype)
    labels = rng.integers(-1, 3, (12, 7))
    items = [{i: int(label) for i, label in enumerate(row) if label >= 0} for row in labels]
    run = {q: {f"{i}": float(s) for i, s in enumerate(row) if s >= least} for q, row in enumerate(scores)}
    wanted = fastir.evaluate(
        {q: {f"{i}": label for i, label in row.items()} for q, row in enumerate(items)}, run, METRICS, ties="input"
    ).values
    found = fastir.evaluate_scores(labels, scores, METRICS, min_score=least, ties="input").values
    assert np.array_equal(found, wanted, equal_nan=True)
    flat = fastir.evaluate_scores(
        labels.ravel(), scores.ravel(), METRICS, qid=np.repeat(range(12), 7), min_score=least, ties="input"
    )
    assert np.array_equal(flat.values, wanted, equal_nan=True)
    matrix = fastir.evaluate_matrix(scores, items, METRICS, min_score=least, ties="input").values
    assert np.array_equal(matrix, wanted, equal_nan=True)
    blocks = fastir.evaluate_matrix(iter([scores[:5], scores[5:]]), items, METRICS, min_score=least, ties="input")
    assert np.array_equal(blocks.values, wanted, equal_nan=True)
    order = np.argsort(-scores, axis=1, kind="stable")
    topk = fastir.evaluate_topk(
        order, items, METRICS, scores=np.take_along_axis(scores, order, 1), min_score=least, ties="input"
    )
    assert np.array_equal(topk.values, wanted, equal_nan=True)
    total = fastir.Accumulator(METRICS, min_score=least, ties="input")
    total.update(labels, scores)
    assert total.result() == dict(fastir.evaluate_scores(labels, scores, METRICS, min_score=least, ties="input"))


@QUIET
@pytest.mark.parametrize("ties", ["input", "input_reversed", "optimistic", "pessimistic", "average"])
@pytest.mark.parametrize("n_hits", [3, 900])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_long_rankings_of_arrays_are_cut_at_whole_ties(ties, n_hits, dtype):
    rng = np.random.default_rng(n_hits)
    scores = (rng.integers(0, 40, 30_000) / 40).astype(dtype)
    labels = np.full(len(scores), 0)
    labels[rng.choice(len(scores), n_hits, replace=False)] = rng.integers(1, 3, n_hits)
    metrics = ["map", "ndcg", "num_rel_ret", "num_ret"]
    found = fastir.evaluate_scores(labels, scores, metrics, min_score=0.7, ties=ties, offsets=[0, len(scores)])
    kept = np.flatnonzero(scores >= dtype(0.7))
    qrels = {"q": {f"{i:05}": int(labels[i]) for i in np.flatnonzero(labels)}}
    wanted = fastir.evaluate(qrels, {"q": {f"{i:05}": float(scores[i]) for i in kept}}, metrics, ties=ties)
    assert np.array_equal(found.values, wanted.values)


def test_excluded_items_and_low_items_leave_a_matrix_together():
    scores = [[0.9, 0.8, 0.1, 0.7], [0.2, 0.6, 0.5, 0.4]]
    found = fastir.evaluate_matrix(scores, [[2, 3], [2]], ["num_ret", "mrr"], exclude={0: [1]}, min_score=0.45)
    assert found.values.tolist() == [[2.0, 0.5], [2.0, 0.5]]


@QUIET
def test_array_metrics_of_the_callers_own_see_what_is_retrieved():
    metric = fastir.custom_metric("n", lambda judged: judged.num_ret / 1.0)
    labels, scores = [[1, 0, 2]], [[0.9, 0.4, 0.1]]
    assert fastir.evaluate_scores(labels, scores, [metric], min_score=0.4)["n"] == 2
    assert fastir.evaluate_matrix(scores, [[0]], [metric], min_score=0.4)["n"] == 2


@QUIET
def test_the_report_counts_the_rows_and_all_else_is_as_without_them(tmp_path):
    qrels, run = collection(9)
    less = without(run, 0.5)
    number = sum(map(len, run.values())) - sum(map(len, less.values()))
    first = next(query for query in run if len(less[query]) < len(run[query]))
    wanted = fastir.evaluate(qrels, less, METRICS, queries="qrels").report
    for container in containers_of(run, tmp_path):
        report = fastir.evaluate(qrels, container, METRICS, queries="qrels", min_score=0.5).report
        assert report.repairs[LOW] == (number, f"query {first}"), type(container)
        assert LOW in str(report)
        for name in set(report.__slots__) - {"repairs"}:
            assert getattr(report, name) == getattr(wanted, name), name
    assert LOW not in fastir.evaluate(qrels, run, METRICS, queries="qrels", min_score=0.0).report.repairs
    scores, items = np.array([[0.9, 0.1, 0.2], [0.1, 0.5, 0.5]]), [[0], [1, 2]]
    for found in (
        fastir.evaluate_matrix(scores, items, "map", min_score=0.2),
        fastir.evaluate_matrix(np.asfortranarray(scores), items, "map", min_score=0.2, exclude={0: [2, 2]}),
        fastir.evaluate_topk([[0, 2, 1], [1, 2, 0]], items, "map", scores=-np.sort(-scores), min_score=0.2),
        fastir.evaluate_scores([[1, 0, 0], [0, 1, 1]], scores, "map", min_score=0.2),
    ):
        assert found.report.repairs == {LOW: (2, "query 0")}
        assert found.report.queries_with_ties == 1


@QUIET
@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("judged", [1, 3, 40])
def test_rows_in_any_order_have_the_values_of_grouped_rows(judged, n_threads):
    rng = random.Random(judged)
    run = {f"q{i}": {f"d{j}": rng.randrange(50) / 50 for j in rng.sample(range(900), 300)} for i in range(60)}
    qrels = {query: {doc: rng.choice((0, 1, 2)) for doc in list(docs)[:judged]} for query, docs in run.items()}
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    rng.shuffle(rows)
    columns = dict(zip(("query_id", "doc_id", "score"), map(np.array, zip(*rows, strict=True)), strict=True))
    for least in (0.0, 0.5, 0.98, 2.0):
        wanted = fastir.evaluate(qrels, without(run, least), METRICS)
        for validate in ("full", "judged"):
            found = fastir.evaluate(qrels, columns, METRICS, min_score=least, n_threads=n_threads, validate=validate)
            assert found.values.tobytes() == wanted.values.tobytes() and dict(found) == dict(wanted)
    again = {name: np.append(column, column[:1]) for name, column in columns.items()}
    for least in (0.0, 2.0):  # whether it is low or not
        with pytest.raises(fastir.DuplicateError):
            fastir.evaluate(qrels, again, METRICS, min_score=least, n_threads=n_threads)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(3, 63), (3, 64), (2, 16384), (2, 16385), (70, 513)])
@pytest.mark.parametrize("n_items", [0, 2, 12, 300])
def test_matrices_of_any_size_are_those_in_which_the_low_items_are_excluded(dtype, shape, n_items):
    rng = np.random.default_rng(n_items)
    scores = (rng.integers(0, 1000, shape) / 1000).astype(dtype)
    items = [rng.choice(shape[1], min(n_items, shape[1]), replace=False) for _ in range(shape[0])]
    seen = {row: rng.choice(shape[1], 5, replace=False) for row in range(0, shape[0], 2)}
    for metrics in (["map", "ndcg@10", "num_ret"], ["ndcg@5", "mrr@5"]):
        for least in (dtype(0.3), scores[0, 0], np.nextafter(scores[0, 0], dtype(2))):
            low = {row: np.union1d(np.flatnonzero(of < least), seen.get(row, [])) for row, of in enumerate(scores)}
            low = {row: of.astype(int) for row, of in low.items()}
            wanted = fastir.evaluate_matrix(scores, items, metrics, exclude=low)
            for given in (scores, np.asfortranarray(scores)):
                for n_threads in (1, 3):
                    options = {"exclude": seen, "min_score": float(least), "n_threads": n_threads}
                    found = fastir.evaluate_matrix(given, items, metrics, **options)
                    assert found.values.tobytes() == wanted.values.tobytes()


@QUIET
@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (["awrf@3", "map"], {"doc_groups": {"d1": {"a": 1}, "d2": {"b": 1}}, "target": {"a": 0.5, "b": 0.5}}),
        (["recall(budget=5)", "cost_first_rel"], {"doc_costs": {f"d{i}": 2 for i in range(9)}}),
        (["hole@3", "compat(missing_documents=zero)"], {}),
        (["forbidden_hits@3", "compat_help_harm"], {"forbidden_level": 0}),
        (["psp@3", "weighted_recall@5"], {"doc_weights": {f"d{i}": i + 1 for i in range(9)}}),
        (["recall@3"], {"average": "micro"}),
    ],
)
def test_metrics_with_rules_of_their_own_leave_out_the_same_rows(metrics, options):
    qrels, run = collection(13)
    for least in (0.25, 0.5, 2.0):
        wanted = fastir.evaluate(qrels, without(run, least), metrics, **options)
        for container in (run, fastir.Run.from_dict(run)):
            found = fastir.evaluate(qrels, container, metrics, min_score=least, **options)
            assert np.array_equal(found.values, wanted.values, equal_nan=True)


@QUIET
def test_subtopics_leave_out_the_same_rows(tmp_path):
    qrels, run = collection(15)
    rows = (f"{query} {n % 2} {doc} {max(label, 0)}\n" for query, docs in qrels.items()
            for n, (doc, label) in enumerate(docs.items()))  # fmt: skip
    (tmp_path / "a.qrels").write_text("".join(rows))
    judged = fastir.Qrels.from_file(tmp_path / "a.qrels", "subtopic")
    metrics = ["alpha_ndcg@5", "err_ia@5", "strec@5"]
    for container in (run, fastir.Run.from_dict(run)):
        found = fastir.evaluate(judged, container, metrics, min_score=0.5)
        assert np.array_equal(found.values, fastir.evaluate(judged, without(run, 0.5), metrics).values, equal_nan=True)


@QUIET
def test_analyses_of_runs_leave_out_the_same_rows():
    qrels, run = collection(17)
    runs = {"a": run, "b": {query: {doc: 1 - score / 2 for doc, score in docs.items()} for query, docs in run.items()}}
    less = {name: without(each, 0.5) for name, each in runs.items()}
    for call in (
        lambda runs, **low: fastir.leave_one_out(qrels, runs, ["map", "ndcg@3"], **low),
        lambda runs, **low: fastir.leave_one_out(qrels, runs, "map", ties="optimistic", **low),
        lambda runs, **low: fastir.to_judge(qrels, runs, "p@3", 9, **low),
        lambda runs, **low: fastir.tune(qrels, runs, "ndcg@3", **low),
        lambda runs, **low: fastir.fuse(runs, "sum", **low).to_dict(),
        lambda runs, **low: list(fastir.pool(runs, 2, **low)),
        lambda runs, **low: fastir.contributions(qrels, runs, **low),
        lambda runs, **low: fastir.similarity(runs, **low),
        lambda runs, **low: fastir.similarity(*runs.values(), "overlap@2", **low),
    ):
        assert str(call(runs, min_score=0.5)) == str(call(less)) != str(call(runs))
    value = f"{fastir.evaluate(qrels, less['a'], 'ndcg@3')['ndcg@3']:.4f}"
    found = fastir.identify(qrels, run, {"ndcg@3": value}, min_score=0.5)
    assert str(found) == str(fastir.identify(qrels, less["a"], {"ndcg@3": value}))
    with pytest.raises(TypeError, match="'min_score'"):
        fastir.expected_exposure(qrels, [run], {"d1": {"a": 1}}, {"a": 1}, min_score=0.5)


@pytest.mark.parametrize("least", [float("nan"), "0.5", True, None])
def test_what_is_no_number_is_refused(least):
    if least is None:
        assert fastir.evaluate(QRELS, RUN, "num_ret", min_score=None)["num_ret"] == 5
        return
    with pytest.raises((TypeError, ValueError), match="min_score must be a number"):
        fastir.evaluate(QRELS, RUN, "map", min_score=least)


def test_runs_without_scores_refuse_it(tmp_path):
    lists = {"q1": ["a", "z", "b"], "q2": ["c"], "q3": ["x", "y"]}
    by_rank = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "rank": [1, 2]}
    path = tmp_path / "run.msmarco"
    path.write_text("q1\ta\t1\nq1\tz\t2\nq2\tc\t1\n")
    for run in (lists, fastir.Run.from_dict(lists), by_rank, fastir.Run.from_file(path, "msmarco")):
        with pytest.raises(ValueError, match="min_score needs scores, and the run has ranks"):
            fastir.evaluate(QRELS, run, "map", min_score=0.5)
    with pytest.raises(ValueError, match="min_score needs scores"):
        fastir.evaluate_topk([[1, 2]], [[1]], "map", min_score=0.5)
    for call in (fastir.evaluate_ranked, fastir.explain_ranked):
        with pytest.raises(TypeError, match="does not take the option 'min_score'"):
            call([1, 0], metrics="map", min_score=0.5) if call is fastir.evaluate_ranked else call(
                [1, 0], "map", min_score=0.5
            )
    with pytest.raises(TypeError, match="does not take the option 'min_score'"):
        fastir.evaluate_lists([["a"]], [["a"]], "map", min_score=0.5)
    with pytest.raises(ValueError, match=r"two passes cannot leave rows out \(min_score\)"):
        fastir.Evaluator(QRELS, "map", min_score=0.5, validate="judged").partial(strategy="two-pass")


def test_integer_scores_that_are_no_ranks_are_scores():
    distances = {"q1": {"a": -3, "b": -12}, "q2": {"c": -1}, "q3": {"x": -4}}
    assert fastir.evaluate(QRELS, fastir.Run.from_dict(distances), "num_ret", min_score=-4)["num_ret"] == 3


def test_a_dict_of_scores_is_no_list_whatever_the_metrics_read():
    run, costs = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}, {"a": 1, "b": 1, "c": 1}
    found = fastir.evaluate(QRELS, run, ["num_ret", "recall(budget=5)"], min_score=1.5, doc_costs=costs, queries=["q1"])
    assert found.values.tolist() == [[1.0, 0.5]]
    held = fastir.Run.from_dict(run)  # which does not know whether it was made of lists
    with pytest.raises(ValueError, match=r"has 2, as made of a rank; if these are scores, add 0\.5 to them"):
        fastir.evaluate(QRELS, held, "num_ret", min_score=1.5)
    shifted = fastir.Run.from_dict(
        {query: {doc: score + 0.5 for doc, score in docs.items()} for query, docs in run.items()}
    )
    assert fastir.evaluate(QRELS, shifted, "num_ret", min_score=2.0, queries=["q1"])["num_ret"] == 1


def test_bad_scores_are_named_whether_they_are_low_or_not():
    for bad, error in ((float("nan"), ValueError), ("high", TypeError), (None, TypeError)):
        with pytest.raises(error, match="q1"):
            fastir.evaluate(QRELS, {**RUN, "q1": {"a": 0.1, "b": bad}}, "map", min_score=0.5)
    with pytest.raises(ValueError, match="NaN"):
        fastir.evaluate_scores([1, 0], [float("nan"), 0.2], "map", min_score=0.5, group=[2])
    with pytest.raises(ValueError, match="NaN"):
        fastir.evaluate_matrix([[float("nan"), 0.2]], [[0]], "map", min_score=0.5)
