"""evaluate_matrix: rows of scores against the same rankings as dicts, against other libraries, and what is refused.

Bits, not tolerances, wherever the other side is fastir itself: a matrix is only another way in.
"""

import itertools
import math
import pickle
import re
import threading
import tracemalloc

import numpy as np
import pytest
from common import UNEVEN
from matrices import AVERAGED, FIVE, LAYOUTS, NAMES, bits

import fastir

pytestmark = UNEVEN

CUT = [name for name in NAMES if "@" in name and not name.startswith(("iprec", "r_precision_mult"))]

SCORES = np.array([[0.1, 0.9, 0.5, 0.3], [0.8, 0.2, 0.4, 0.6]])
RELEVANT = [{2: 1, 3: 2}, {0: 1, 1: 0}]


def as_dicts(scores, relevant, excluded):
    """The same rankings as qrels and run."""
    run = {}
    for query, row in enumerate(scores.tolist()):
        out = set() if excluded is None else set(excluded[query].tolist())
        run[query] = {item: score for item, score in enumerate(row) if item not in out}
    return dict(enumerate(relevant)), run


SHAPES = {
    "distinct": lambda rng, n, m: rng.permutation(n * m).reshape(n, m).astype(float),
    "few levels": lambda rng, n, m: rng.integers(0, 5, (n, m)).astype(float),
    "infinite": lambda rng, n, m: rng.choice([-np.inf, -1.0, -0.0, 0.0, 0.5, np.inf], (n, m)),
    "equal": lambda rng, n, m: np.full((n, m), 0.25),
    "rising": lambda rng, n, m: np.sort(rng.random((n, m)).round(3), axis=1),
    "falling": lambda rng, n, m: -np.sort(rng.random((n, m)).round(3), axis=1),
    "equal from a third on": lambda rng, n, m: np.where(np.arange(m) < m // 3, rng.random((n, m)), 0.75),
}


def collection(seed, n, m, densities):
    """Scores, labels of some items and excluded items of n rows."""
    rng = np.random.default_rng(seed)
    scores = SHAPES[rng.choice(list(SHAPES))](rng, n, m).astype(rng.choice([np.float32, np.float64]))
    relevant, excluded = [], []
    for density in rng.choice(densities, n):
        items = rng.choice(m, min(m, density), replace=False).tolist()
        relevant.append(dict(zip(items, rng.integers(-2, 4, len(items)).tolist(), strict=True)))
        excluded.append(rng.choice(m, rng.choice([0, m // 20, m // 2, m])))  # some stand twice
    return rng, LAYOUTS[rng.choice(list(LAYOUTS))](scores), relevant, excluded if rng.integers(2) else None


def assert_like_dicts(rng, scores, relevant, excluded, names, **options):
    expected = fastir.evaluate(*as_dicts(scores, relevant, excluded), names, queries="qrels", **options)
    results = fastir.evaluate_matrix(
        scores, relevant, names, exclude=excluded, n_threads=int(rng.integers(1, 4)), **options
    )
    for name, ours, theirs in zip(names, results.values.T, expected.values.T, strict=True):
        assert ours.tobytes() == theirs.tobytes(), name
    assert results.status == expected.status
    report, wanted = results.report, expected.report
    assert (report.unjudged_share, report.no_relevant, report.nothing_judged) == (
        wanted.unjudged_share, wanted.no_relevant, wanted.nothing_judged,
    )  # fmt: skip
    return report, wanted


OPTIONS = [{}, {"rel_level": 2}, {"judged_only": True}, {"max_depth": 3}, {"max_depth": 50, "judged_only": True}]


@pytest.mark.parametrize("seed", range(40))
def test_every_metric(seed):
    m = (1, 2, 7, 40, 300)[seed % 5]
    rng, *data = collection(seed, 8, m, [0, 1, 3, m // 2, m])
    options = {"ties": ("input", "optimistic", "pessimistic")[seed % 3], **OPTIONS[seed // 5 % 5]}
    report, wanted = assert_like_dicts(rng, *data, NAMES[seed % 8 :: 8], **options)
    if "max_depth" not in options:
        assert report.queries_with_ties == wanted.queries_with_ties


@pytest.mark.parametrize("seed", range(100, 110))
def test_expected_values_over_ties(seed):
    m = (7, 40, 300, 3000)[seed % 4]
    rng, *data = collection(seed, 6, m, [0, 1, 3, m // 4])
    assert_like_dicts(rng, *data, AVERAGED, ties="average")
    assert_like_dicts(rng, *data, [name for name in AVERAGED if "@" in name], ties="average")


@pytest.mark.parametrize("seed", range(200, 240))
def test_the_best_of_long_rows(seed):
    """Long rows with many relevant items, of which only the first few ranks are read: they are selected."""
    m = (3000, 9000, 20_000)[seed % 3]
    rng, *data = collection(seed, 3, m, [40, 100, 400])
    names = rng.choice(CUT, 12, replace=False).tolist()
    ties = ("input", "input", "optimistic", "pessimistic")[seed % 4]
    k = (None, None, 10, 60)[seed // 4 % 4]
    assert_like_dicts(rng, *data, names, max_depth=k, ties=ties)
    retrieved = ["ndcg(ideal=retrieved)@5", "nerr(ideal=retrieved)@10"]  # whose ideal reads the whole ranking, or k
    assert_like_dicts(rng, *data, retrieved, max_depth=k, ties=ties)
    assert_like_dicts(rng, *data, names, max_depth=k, ties=ties, judged_only=True)


def test_ties_in_blocks_of_few_and_of_many_good_scores():
    """Scores that are kept for later come before a block that is counted at once."""
    scores = -np.arange(20_000.0)[None]
    scores[0, [1, 2, 3]] = 1.0
    scores[0, 12_288:16_384] = 1.0
    relevant = [[12_290, *range(9000, 9040)]]
    names = [f"mrr@{k}" for k in (5, 6, 10)]
    assert fastir.evaluate_matrix(scores, relevant, names).values.tolist() == [[0.0, 1 / 6, 1 / 6]]


@pytest.mark.parametrize("hits", [1, 30, 200, 300, 2000])
def test_exact_ranks_at_any_depth(hits):
    """Against a stable sort: counted, and placed from some hundred relevant items on."""
    rng = np.random.default_rng(hits)
    scores = rng.integers(0, 900, (4, 5000)).astype(np.float32)
    relevant = [rng.choice(5000, hits, replace=False) for _ in range(4)]
    excluded = [rng.choice(5000, 700) for _ in range(4)]
    results = fastir.evaluate_matrix(scores, relevant, ["mean_rank", "num_ret", "num_rel_ret"], exclude=excluded)
    for query, row in enumerate(results.values.tolist()):
        order = np.argsort(-scores[query], kind="stable")
        order = order[~np.isin(order, excluded[query])]
        ranks = np.flatnonzero(np.isin(order, relevant[query])) + 1
        assert row == [ranks.sum() / len(ranks), len(order), len(ranks)]


def test_a_tie_is_reported_where_it_can_matter():
    scores, relevant = [[3.0, 2.0, 2.0, 1.0, 1.0]] * 3, [[0], [1], [4]]
    assert fastir.evaluate_matrix(scores, relevant, "map").report.queries_with_ties == 2
    report = fastir.evaluate_matrix(scores, relevant, "mrr@2").report
    assert (report.queries_with_ties, report.queries_with_ties_example) == (1, "1")
    assert fastir.evaluate_matrix(scores, relevant, "mrr@1").report.queries_with_ties == 0


@pytest.mark.parametrize("hits", [3, 60])
@pytest.mark.parametrize("levels", [20, 400, 10**6])
def test_ties_are_reported_alike_however_ranks_are_found(levels, hits):
    """Within the depth that is read: a tie further down decides nothing."""
    rng = np.random.default_rng([levels, hits])
    scores = rng.integers(0, levels, (30, 4000)).astype(float)
    relevant = rng.permuted(np.tile(np.arange(4000), (30, 1)), axis=1)[:, :hits]
    scores[np.arange(30)[:, None], relevant] += levels // 3
    expected = 0
    for row, items in zip(scores, relevant, strict=True):
        tenth = np.sort(row)[-10]
        expected += any((row == row[item]).sum() > 1 for item in items if row[item] >= tenth)
    assert fastir.evaluate_matrix(scores, relevant, "ndcg@10").report.queries_with_ties == expected


def test_an_excluded_item_is_not_retrieved():
    names = ["recall@4", "num_rel", "num_ret", "ndcg"]
    results = fastir.evaluate_matrix(SCORES, [[1, 2], [0]], names, exclude=[[1, 1], []])
    assert results.to_dict()[0] == {"recall@4": 0.5, "num_rel": 2.0, "num_ret": 3.0, "ndcg": 1 / (1 + 1 / math.log2(3))}


def test_all_excluded_is_an_empty_ranking():
    results = fastir.evaluate_matrix(SCORES, [[1, 2], [0]], ["ndcg", "mrr", "num_ret"], exclude=[range(4), []])
    assert results.to_dict()[0] == {"ndcg": 0.0, "mrr": 0.0, "num_ret": 0.0}
    assert results.report.nothing_judged == 0 and results.report.unjudged_share == 0.75


def test_scores_of_any_kind():
    expected = fastir.evaluate_matrix([[1.0, 9.0, 5.0, 3.0], [8.0, 2.0, 4.0, 6.0]], RELEVANT, FIVE)
    for dtype in ("f2", "f4", "f8", "i1", "u2", "i8", ">f4", ">i4"):
        scores = (SCORES * 10).round().astype(dtype)
        scores.flags.writeable = False
        assert bits(fastir.evaluate_matrix(scores, RELEVANT, FIVE)) == bits(expected), dtype


def test_tensors():
    torch = pytest.importorskip("torch")
    expected = fastir.evaluate_matrix(SCORES, RELEVANT, FIVE)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        scores = torch.tensor(SCORES, dtype=dtype, requires_grad=True)
        assert bits(fastir.evaluate_matrix(scores, RELEVANT, FIVE)) == bits(expected), dtype
    rows = [torch.tensor([2, 3]), torch.tensor([0])]
    assert fastir.evaluate_matrix(torch.tensor(SCORES).t().contiguous().t(), rows, "mrr")["mrr"] == 0.75
    assert fastir.evaluate_matrix((torch.tensor(row)[None] for row in SCORES), rows, "mrr")["mrr"] == 0.75


def test_a_neighbour_that_flushes_small_numbers_changes_nothing():
    torch = pytest.importorskip("torch")
    scores = np.full((300, 9000), -1.0)
    scores[:, 4000:4002] = 0.0, 1e-310
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot")
    try:
        for n_threads in (1, 3):
            for relevant in ([4001], [4001, *range(40)]):
                results = fastir.evaluate_matrix(scores, [relevant] * 300, "mrr@5", n_threads=n_threads)
                assert results["mrr@5"] == 1.0
    finally:
        torch.set_flush_denormal(False)


def test_blocks_are_the_whole():
    _, scores, relevant, excluded = collection(7, 50, 60, [0, 5, 20])
    expected = fastir.evaluate_matrix(scores, relevant, FIVE, exclude=excluded)
    for cuts in ([50], [1, 20, 29], [0, 25, 0, 25], [1] * 50):
        blocks = np.split(scores, np.cumsum(cuts)[:-1])
        for source in (iter(blocks), blocks, (block.astype(float) for block in blocks)):
            results = fastir.evaluate_matrix(source, relevant, FIVE, exclude=excluded)
            assert results == expected and results.report == expected.report
    assert fastir.evaluate_matrix(iter(blocks), dict(enumerate(relevant)), FIVE, exclude=excluded) == expected


def test_blocks_come_one_at_a_time_in_the_callers_thread():
    alive = []

    def blocks():
        for seed in range(5):
            assert threading.current_thread() is threading.main_thread()
            alive.append(seed)
            yield np.random.default_rng(seed).random((3, 1000))

    whole = fastir.evaluate_matrix(blocks(), [[1]] * 15, "mrr", n_threads=3)
    assert whole.query_ids == list(range(15)) and alive == [0, 1, 2, 3, 4]


def test_nothing_to_evaluate():
    assert fastir.evaluate_matrix(np.empty((0, 5)), [], "map").values.shape == (0, 1)
    assert math.isnan(fastir.evaluate_matrix(iter([]), {}, "map")["map"])
    results = fastir.evaluate_matrix(np.empty((2, 0), "f4"), [[], []], ["map", "num_ret"])
    assert results.values.tolist() == [[0.0, 0.0]] * 2 and results.status == {0: "no_relevant", 1: "no_relevant"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_is_changed_or_copied(layout):
    scores = LAYOUTS[layout](np.random.default_rng(0).random((200, 20_000), np.float32))
    relevant, seen = [np.array([5, 3])] * 200, [np.array([7, 1, 7])] * 200
    before = scores.copy()
    scores.flags.writeable = False
    fastir.evaluate_matrix(scores[:2], relevant[:2], FIVE, exclude=seen[:2])
    tracemalloc.start()
    fastir.evaluate_matrix(scores, relevant, FIVE, exclude=seen)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < scores.nbytes / 20
    assert (scores == before).all() and relevant[0].tolist() == [5, 3] and seen[0].tolist() == [7, 1, 7]


@pytest.mark.parametrize("seed", range(300, 304))
def test_threads_do_not_matter(seed):
    _, scores, relevant, excluded = collection(seed, 300, 9000, [0, 5, 60, 300])
    one = fastir.evaluate_matrix(scores, relevant, FIVE, exclude=excluded, n_threads=1)
    for n_threads in (2, 3, 5):
        more = fastir.evaluate_matrix(scores, relevant, FIVE, exclude=excluded, n_threads=n_threads)
        assert bits(more) == bits(one) and more.report == one.report


def test_one_thread_starts_none(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", None)
    monkeypatch.setattr("fastir.engine.threads.sharing.teams", False)
    scores = np.random.default_rng(0).random((600, 9000))
    assert fastir.evaluate_matrix(scores, [[1]] * 600, "mrr", n_threads=1)["mrr"] > 0
    with pytest.raises(TypeError):
        fastir.evaluate_matrix(scores, [[1]] * 600, "mrr", n_threads=2)


def test_weights():
    for weights in ([1, 3], np.array([1.0, 3.0]), {1: 3, 0: 1, 2: 5}):
        assert fastir.evaluate_matrix(SCORES, [[2], [0]], "mrr", weights=weights)["mrr"] == 0.875


def test_scores_compared_as_float32():
    scores = [[1.0, 1.0 + 1e-12, 2.0]]
    assert fastir.evaluate_matrix(scores, [[1]], "mrr")["mrr"] == 0.5
    assert fastir.evaluate_matrix(scores, [[1]], "mrr", score_dtype="float32")["mrr"] == 1 / 3


def test_a_convention_whose_metrics_differ_in_their_rules():
    """torchmetrics: nDCG as an expected value, all else in input order."""
    _, scores, relevant, _ = collection(11, 20, 50, [5, 20])
    relevant = [{item: max(label, 0) for item, label in row.items()} for row in relevant]
    both = fastir.evaluate_matrix(scores, relevant, ["ndcg@10", "map@10"], convention="torchmetrics")
    alone = [
        fastir.evaluate_matrix(scores, relevant, name, convention="torchmetrics", ties=ties)
        for name, ties in (("ndcg@10", "average"), ("map@10", "input"))
    ]
    assert both.values.tolist() == np.hstack([results.values for results in alone]).tolist()
    assert fastir.evaluate_matrix(SCORES, RELEVANT, FIVE, convention="trec_eval-10").values.shape == (2, 5)


def test_results_are_those_of_any_evaluation():
    results = fastir.evaluate_matrix(SCORES, RELEVANT, ["mrr", "P@2"])
    assert results.query_ids == [0, 1] and results.names == ["mrr", "P@2"] and results.aggregates["mrr"] == "mean"
    assert str(results) == "mrr  0.7500\nP@2  0.5000\n2 queries"
    again = pickle.loads(pickle.dumps(results))
    assert again == results and again.report == results.report


S, R = np.arange(12.0).reshape(3, 4), [[0], [1], [2]]
GRADED = ([0, 1, 2, 3], [0, 1, 2], [1, 0.5, 2])
REFUSED = [
    (S[0], R, {}, ValueError, "scores must have 2 dimensions, got shape (4,)"),
    (S.astype(str), R, {}, TypeError, "scores must hold numbers"),
    (iter([S, S[:, :3]]), R + R, {}, ValueError, "scores: a block has 3 columns but the first has 4"),
    (S, R[:2], {}, ValueError, "scores has 3 rows but relevant has 2; lengths must match"),
    (iter([S]), R + R, {}, ValueError, "scores has 3 rows but relevant has 6; lengths must match"),
    (iter([S, S]), R, {}, ValueError, "scores has 6 rows but relevant has 3; lengths must match"),
    (S, R, {"exclude": R[:2]}, ValueError, "scores has 3 rows but exclude has 2; lengths must match"),
    (S, {3: [1]}, {}, ValueError, "relevant has a row 3, but scores has the rows 0 to 2; out of range"),
    (S, {-1: [1]}, {}, ValueError, "relevant has a row -1, but scores has the rows 0 to 2; out of range"),
    (S, {"1": [1]}, {}, TypeError, "relevant: the keys of a dict must be row numbers, got str '1'"),
    (S, [[0], [4], [2]], {}, ValueError, "relevant: item 4 of row 1 is no column of scores; out of range"),
    (S, [[0], [1], [-1]], {}, ValueError, "relevant: item -1 of row 2 is no column of scores; out of range"),
    (S, R, {"exclude": [[], [], [9]]}, ValueError, "exclude: item 9 of row 2 is no column of scores; out of range"),
    (S, ([0, 1, 4, 5], [0, 3, 1, 3, 2], [1] * 5), {}, fastir.DuplicateError, "relevant: duplicate item 3 in row 1"),
    (S, [[0], [1.0], [2]], {}, TypeError, "relevant: row 1 must be integers, got dtype float64"),
    (S, [[0], "1", [2]], {}, TypeError, "relevant: row 1 must hold numbers of at most 64 bits, got dtype <U1"),
    (S, 5, {}, TypeError, "relevant must be a sparse matrix, a tuple (indptr, indices, labels), a dict or a list"),
    (S, (1, 2, 3, 4), {}, ValueError, "relevant: a tuple must hold indptr, indices and perhaps labels, got 4 entries"),
    (S, ([0, 1, 1, 3], [0, 1, 2], [1]), {}, ValueError, "relevant[2] has 1 entries but there are 3 indices"),
    (S, ([0, 2, 1, 3], [0, 1, 2]), {}, ValueError, "offsets of relevant[2] = 1 < offsets of relevant[1] = 2"),
    (S, {2: {3: math.nan}}, {}, ValueError, "relevant: label nan is not finite (row 2, item 3)"),
    (S, {2: {3: "x"}}, {}, TypeError, "relevant: row 2, labels must hold numbers"),
    (S, {2: {3: 2000}}, {"metrics": "dcg_burges"}, OverflowError, "2000 is too large for an exponential gain (row 2, "),
    (S, {2: {3: 2**31}}, {}, OverflowError, "relevant holds a label outside [-2^31, 2^31 - 1]; out of range"),
    (S, R, {"max_depth": 0}, ValueError, "max_depth: the depth must be positive"),
    (S, R, {"k": 2}, TypeError, "unknown option 'k'"),
    (S, R, {"max_depth": 2.0}, TypeError, "max_depth must be an int, got float 2.0"),
    (S, R, {"ties": "trec"}, ValueError, "ties must be one of None, 'input', 'input_reversed', 'optimistic'"),
    (S, R, {"weights": [1, 2]}, ValueError, "weights has 2 entries but there are 3 queries"),
    (S, R, {"metrics": "hole@2"}, fastir.UnknownMetricError, "metric 'hole@2' needs document ids and qrels"),
    (S, R, {"metrics": "ngcd@2"}, fastir.UnknownMetricError, "'ndcg@2'"),
    (S, R, {"n_threads": 0}, ValueError, "n_threads must be at least 1"),
    (S, R, {"gian": "exp2"}, TypeError, "unknown option 'gian'"),
]


@pytest.mark.parametrize(("scores", "relevant", "options", "error", "message"), REFUSED, ids=[r[4] for r in REFUSED])
def test_refused(scores, relevant, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        fastir.evaluate_matrix(scores, relevant, **{"metrics": "map", **options})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("hits", "metric"), [(0, "map"), (2, "map"), (60, "ndcg@10"), (300, "map")])
@pytest.mark.parametrize("column", [0, 777, 4999])
def test_a_nan_is_named_with_its_row_and_column(hits, metric, layout, column):
    """Wherever it stands: far from all that is read, among relevant items, among those that are excluded."""
    rng = np.random.default_rng(hits)
    for place in (set(), {"relevant"}, {"exclude"}):
        scores = rng.random((40, 5000), np.float32)
        scores[33, column] = np.nan
        relevant = [set(rng.choice(5000, hits).tolist()) - {column} for _ in range(40)]
        if "relevant" in place and hits:
            relevant[33].add(column)
        exclude = [[column] if "exclude" in place else []] * 40
        with pytest.raises(ValueError, match=rf"^scores: NaN in row 33, column {column}$"):
            fastir.evaluate_matrix(LAYOUTS[layout](scores), relevant, metric, exclude=exclude, n_threads=2)


def test_a_nan_in_a_block_is_named_with_its_row_of_all():
    scores = np.ones((4, 3))
    scores[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"^scores: NaN in row 5, column 2$"):
        fastir.evaluate_matrix(iter([np.ones((4, 3)), scores]), [[0]] * 8, "map")


def by_hand(scores, relevant, seen, k):
    """What recommenders' textbooks say, in NumPy, for a user at a time."""
    rows = []
    for row, items, out in zip(scores, relevant, seen, strict=True):
        row = row.copy()
        row[out] = -np.inf
        top = np.argsort(-row, kind="stable")[: min(k, len(row) - len(set(out)))]
        hits = np.isin(top, items)
        best = min(k, len(items))
        gains = hits / np.log2(np.arange(2, len(top) + 2))
        ideal = (1 / np.log2(np.arange(2, best + 2))).sum()
        precisions = np.cumsum(hits) / np.arange(1, len(top) + 1)
        first = np.flatnonzero(hits)
        rows.append([
            float(hits.any()), hits.sum() / best if best else 0.0, (precisions * hits).sum() / best if best else 0.0,
            gains.sum() / ideal if best else 0.0, 1 / (first[0] + 1) if len(first) else 0.0,
        ])  # fmt: skip
    return np.array(rows)


@pytest.mark.parametrize("k", [1, 5, 20, 100])
def test_what_recommenders_measure(k):
    """Their hit rate, recall, MAP, nDCG and MRR are our cards under the right parameters."""
    rng = np.random.default_rng(k)
    scores = rng.random((60, 400)).round(2)
    relevant = [rng.choice(400, size, replace=False) for size in rng.choice([0, 1, 3, 30, 150], 60)]
    seen = [rng.choice(400, size, replace=False) for size in rng.choice([0, 10, 200, 400], 60)]
    names = [f"hit_rate@{k}", f"relative_precision@{k}", f"map(ap_norm=min_kR)@{k}", f"ndcg@{k}", f"mrr@{k}"]
    results = fastir.evaluate_matrix(scores, relevant, names, exclude=seen)
    np.testing.assert_allclose(results.values, by_hand(scores, relevant, seen, k), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("levels", [7, 10**6])
def test_scikit_learn(levels):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(levels)
    scores = rng.integers(0, levels, (40, 120)).astype(float)
    labels = rng.choice(4, (40, 120), p=(0.7, 0.1, 0.1, 0.1))
    labels[0] = 0
    relevant = [dict(enumerate(row)) for row in labels.tolist()]

    def ours(name, **options):
        return fastir.evaluate_matrix(scores, relevant, name, **options).values[:, 0]

    for k in (1, 10, 120):
        row = [metrics.ndcg_score([y], [x], k=k) for y, x in zip(labels, scores, strict=True)]
        np.testing.assert_allclose(ours(f"ndcg@{k}", convention="sklearn"), row, rtol=1e-12, atol=1e-15)
    averaged, binary = slice(1, None), labels > 0
    row = [metrics.roc_auc_score(y, x) for y, x in zip(binary[averaged], scores[averaged], strict=True)]
    np.testing.assert_allclose(ours("auc", ties="average")[averaged], row, rtol=1e-12)
    assert math.isnan(ours("auc")[0])
    if levels > 7:
        distinct = [len(set(row)) == len(row) for row in scores.tolist()]
        row = [metrics.average_precision_score(y, x) for y, x in zip(binary[averaged], scores[averaged], strict=True)]
        assert np.abs(ours("map")[averaged] - row)[distinct[1:]].max() <= 1e-12


def test_torchmetrics():
    """It computes in float32, and takes nothing with a score of 0 or less for relevant."""
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.retrieval")
    rng = np.random.default_rng(3)
    scores = rng.permutation(40 * 120).reshape(40, 120).astype(np.float32) / 4800 + 0.001
    labels = (rng.random((40, 120)) < 0.1).astype(int)
    relevant = [np.flatnonzero(row) for row in labels]
    theirs = {
        "P@10": functional.retrieval_precision, "recall@10": functional.retrieval_recall,
        "hit_rate@10": functional.retrieval_hit_rate, "map@10": functional.retrieval_average_precision,
        "mrr@10": functional.retrieval_reciprocal_rank, "ndcg@10": functional.retrieval_normalized_dcg,
    }  # fmt: skip
    results = fastir.evaluate_matrix(scores, relevant, list(theirs), convention="torchmetrics")
    for name, function in theirs.items():
        row = [function(torch.tensor(x), torch.tensor(y), top_k=10).item() for x, y in zip(scores, labels, strict=True)]
        ours = results.values[:, results.names.index(name)]
        np.testing.assert_allclose(ours, row, rtol=1e-6, atol=1e-7, err_msg=name)


def test_every_row_alone_is_what_it_is_among_others():
    _, scores, relevant, excluded = collection(3, 12, 3000, [0, 3, 50, 400])
    together = fastir.evaluate_matrix(scores, relevant, FIVE, exclude=excluded)
    for query, cut in itertools.product(range(12), (slice(None), slice(0, 1))):
        rows = slice(query, query + 1) if cut.stop else slice(0, query + 1)
        out = None if excluded is None else excluded[rows]
        results = fastir.evaluate_matrix(scores[rows], relevant[rows], FIVE, exclude=out)
        assert results.values[-1].tobytes() == together.values[query].tobytes()
