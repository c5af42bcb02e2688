"""evaluate_topk: lists of items, as nearest-neighbour indexes return them, against the same lists as dicts."""

import re
import threading

import numpy as np
import pytest
from common import UNEVEN
from matrices import AVERAGED, FIVE, LAYOUTS, NAMES, bits

import fastir

pytestmark = UNEVEN


def collection(seed, n, width, n_items):
    """Rows of items with padding, scores that fall or do not, and labels of some items, retrieved or not."""
    rng = np.random.default_rng(seed)
    indices = np.argsort(rng.random((n, n_items)), axis=1)[:, :width].astype(rng.choice([np.int32, np.int64]))
    for row, length in zip(indices, rng.integers(0, width + 1, n), strict=True):
        row[length:] = -1
    scores = rng.integers(0, 5, indices.shape).astype(rng.choice([np.float32, np.float64]))
    relevant = []
    for size in rng.integers(0, n_items // 2, n):
        items = rng.choice(n_items, size, replace=False).tolist()
        relevant.append(dict(zip(items, rng.integers(-2, 4, size).tolist(), strict=True)))
    layout = LAYOUTS[rng.choice(list(LAYOUTS))]
    return layout(indices), layout(scores), relevant


def as_dicts(indices, scores, relevant):
    run = {}
    for query, row in enumerate(indices.tolist()):
        values = -np.arange(len(row)) if scores is None else scores[query]
        run[query] = {item: score for item, score in zip(row, values.tolist(), strict=True) if item != -1}
    return dict(enumerate(relevant)), run


OPTIONS = [{}, {"rel_level": 2}, {"judged_only": True}, {"max_depth": 3}]


@pytest.mark.parametrize("seed", range(24))
def test_every_metric(seed):
    indices, scores, relevant = collection(seed, 12, (1, 5, 30)[seed % 3], 40)
    names, options = NAMES[seed % 8 :: 8], OPTIONS[seed // 6]
    expected = fastir.evaluate(*as_dicts(indices, None, relevant), names, queries="qrels", ties="input", **options)
    results = fastir.evaluate_topk(indices, relevant, names, n_threads=seed % 3 + 1, **options)
    assert bits(results) == bits(expected) and results.status == expected.status
    assert results.report.unjudged_share == expected.report.unjudged_share
    options = {**options, "ties": ("input", "optimistic", "pessimistic")[seed % 3]}
    expected = fastir.evaluate(*as_dicts(indices, scores, relevant), names, queries="qrels", **options)
    results = fastir.evaluate_topk(indices, relevant, names, scores=scores, **options)
    assert bits(results) == bits(expected)
    assert results.report.queries_with_ties == expected.report.queries_with_ties


@pytest.mark.parametrize("seed", range(30, 34))
def test_expected_values_over_ties(seed):
    indices, scores, relevant = collection(seed, 12, 30, 40)
    expected = fastir.evaluate(*as_dicts(indices, scores, relevant), AVERAGED, queries="qrels", ties="average")
    assert bits(fastir.evaluate_topk(indices, relevant, AVERAGED, scores=scores, ties="average")) == bits(expected)


@pytest.mark.parametrize("seed", range(40, 44))
def test_a_full_list_is_the_matrix(seed):
    """The order of the columns, whatever orders equal scores in it."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 30, (20, 500)).astype(np.float32)
    relevant = [rng.choice(500, size, replace=False) for size in rng.integers(0, 60, 20)]
    order = np.argsort(-scores, axis=1, kind="stable")
    names = [*FIVE, "auc", "mean_rank", "num_ret"]
    expected = fastir.evaluate_matrix(scores, relevant, names)
    assert bits(fastir.evaluate_topk(order, relevant, names)) == bits(expected)
    cut = fastir.evaluate_topk(order[:, :100], relevant, ["ndcg@10", "recall@100"])
    assert bits(cut) == bits(fastir.evaluate_matrix(scores, relevant, ["ndcg@10", "recall@100"], max_depth=100))


def test_the_best_of_torch():
    torch = pytest.importorskip("torch")
    scores = torch.rand(50, 1000, generator=torch.Generator().manual_seed(1))
    values, indices = torch.topk(scores, 20)
    relevant = [torch.randint(0, 1000, (1,), generator=torch.Generator().manual_seed(seed)) for seed in range(50)]
    expected = fastir.evaluate_matrix(scores, relevant, FIVE, max_depth=20)
    assert bits(fastir.evaluate_topk(indices, relevant, FIVE)) == bits(expected)
    values, indices = values.flip(1), indices.flip(1)
    assert bits(fastir.evaluate_topk(indices, relevant, FIVE, scores=values)) == bits(expected)


def test_padding():
    """FAISS returns -1 where a search found too little, with any score."""
    indices, relevant = [[7, 4, -1], [-1, -1, -1], [3, 8, 5]], [[4, 5], [4], [5]]
    scores = np.array([[1.0, 2.0, np.nan], [np.nan] * 3, [3.0, 2.0, 1.0]])
    results = fastir.evaluate_topk(indices, relevant, ["mrr", "num_ret", "recall@3", "P@3"])
    assert results.values.tolist() == [[0.5, 2.0, 0.5, 1 / 3], [0.0, 0.0, 0.0, 0.0], [1 / 3, 3.0, 1.0, 1 / 3]]
    assert fastir.evaluate_topk(indices, relevant, "mrr", scores=scores).values.T.tolist() == [[1.0, 0.0, 1 / 3]]


@pytest.mark.parametrize("dtype", ["i1", "i2", "u4", "i8", "u8", ">i4"])
def test_integers_of_any_kind(dtype):
    indices = np.array([[7, 4, 9], [3, 8, 1]], dtype)
    indices.flags.writeable = False
    assert fastir.evaluate_topk(indices, [[4, 5], [3]], "mrr").values.tolist() == [[0.5], [1.0]]


def test_items_are_any_numbers():
    """No catalogue says how many there are."""
    large = 2**63 - 1
    indices = np.array([[large, 0, 2**40], [5, large - 1, 2]])
    assert fastir.evaluate_topk(indices, [[2**40], {large - 1: 1, large: 1}], "mrr").values.T.tolist() == [[1 / 3, 0.5]]


def test_nothing_to_evaluate():
    assert fastir.evaluate_topk(np.empty((0, 5), int), [], "map").values.shape == (0, 1)
    results = fastir.evaluate_topk(np.empty((2, 0)), [[1], []], ["map", "num_rel"])
    assert results.values.tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert fastir.evaluate_topk(np.empty((2, 0)), [[1], []], "map", scores=np.empty((2, 0)))["map"] == 0.0


def test_threads_do_not_matter():
    indices, scores, relevant = collection(50, 300_000 // 30, 30, 40)
    one = fastir.evaluate_topk(indices, relevant, FIVE, scores=scores, n_threads=1)
    for n_threads in (2, 3, 7):
        more = fastir.evaluate_topk(indices, relevant, FIVE, scores=scores, n_threads=n_threads)
        assert bits(more) == bits(one) and more.report == one.report


def test_one_thread_starts_none(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", None)
    monkeypatch.setattr("fastir.engine.threads.sharing.teams", False)
    indices = np.tile(np.arange(100), (50_000, 1))
    assert fastir.evaluate_topk(indices, [[4]] * 50_000, "mrr", n_threads=1)["mrr"] == pytest.approx(0.2, rel=1e-15)
    with pytest.raises(TypeError):
        fastir.evaluate_topk(indices, [[4]] * 50_000, "mrr", n_threads=2)


TOP, R = [[1, 2, 3], [4, 5, -1]], [[1], [5]]
REFUSED = [
    (TOP[0], R, {}, ValueError, "indices must have 2 dimensions, got shape (3,)"),
    ([[1.0, 2.0], [3.0, 4.0]], R, {}, TypeError, "indices must be integers, got dtype float64"),
    (np.array([[True], [False]]), R, {}, TypeError, "indices must be integers, got dtype bool"),
    (np.array([[1], [2**63]], np.uint64), R, {}, OverflowError, "indices holds 9223372036854775808; out of range"),
    ([[1, 2, 3], [4, 5, 4]], R, {}, fastir.DuplicateError, "indices: duplicate item 4 in row 1"),
    ([[1, 2, 3], [4, -1, 5]], R, {}, ValueError, "indices: item 5 of row 1 follows -1, which must fill the end"),
    ([[1, 2, 3], [4, -2, -1]], R, {}, ValueError, "indices: -2 in row 1; must be an item from 0 up, or -1 for none"),
    (TOP, ([0, 1, 3], [1, 5, 5], [1, 1, 1]), {}, fastir.DuplicateError, "relevant: duplicate item 5 in row 1"),
    (TOP, R[:1], {}, ValueError, "indices has 2 rows but relevant has 1; lengths must match"),
    (TOP, {2: [1]}, {}, ValueError, "relevant has a row 2, but indices has the rows 0 to 1; out of range"),
    (
        TOP, R, {"scores": [[1.0], [2.0]]}, ValueError,
        "indices has the shape (2, 3) but scores (2, 1); shapes must match",
    ),
    (TOP, R, {"scores": [[1.0, 2, 3], [1, np.nan, 3]]}, ValueError, "scores: NaN in row 1, column 1"),
    (TOP, R, {"ties": "input"}, ValueError, "ties needs scores: without scores the items are in rank order"),
    (TOP, R, {"scores": [[1.0] * 3] * 2, "ties": "trec"}, ValueError, "ties must be one of None, 'input'"),
    (TOP, R, {"max_depth": 0}, ValueError, "max_depth: the depth must be positive"),
    (TOP, R, {"metrics": "hole@2"}, fastir.UnknownMetricError, "metric 'hole@2'"),
    (TOP, R, {"weights": [1]}, ValueError, "weights has 1 entry but there are 2 queries"),
]  # fmt: skip


@pytest.mark.parametrize(("indices", "relevant", "options", "error", "message"), REFUSED, ids=[r[4] for r in REFUSED])
def test_refused(indices, relevant, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        fastir.evaluate_topk(indices, relevant, **{"metrics": "map", **options})


# ---- what is not ranked, and what is no number --------------------------------------------------------------------
@pytest.mark.parametrize("huge", [0, 2**62])
@pytest.mark.parametrize("seed", range(6))
def test_excluded_items_leave_the_row_and_others_move_up(seed, huge, monkeypatch):
    rng = np.random.default_rng(seed)
    n, m, width = 40, 30, 12
    rows = np.array([rng.permutation(m)[:width] for _ in range(n)])
    for row in rows:
        row[width - rng.integers(0, 4) :] = -1
    excluded = [rng.integers(0, m, rng.integers(0, 15)) for _ in range(n)]
    relevant = [rng.permutation(m)[:5] for _ in range(n)]
    kept = [
        [item for item in row.tolist() if item >= 0 and item not in gone]
        for row, gone in zip(rows, excluded, strict=True)
    ]
    padded = np.array([row + [-1] * (width - len(row)) for row in kept])
    names = ["ndcg@5", "map", "recall@3", "num_ret", "judged@5"]
    expected = fastir.evaluate_topk(padded, relevant, names)
    far = np.where(rows >= 0, rows + huge, -1)
    relevant, excluded = [row + huge for row in relevant], [row + huge for row in excluded]
    monkeypatch.setattr("fastir.evaluation.items.CHUNK_ITEMS", 100)
    before = far.copy()
    results = fastir.evaluate_topk(far, relevant, names, exclude=excluded)
    assert results.values.tobytes() == expected.values.tobytes()
    assert results.report == expected.report
    assert (far == before).all()


@pytest.mark.parametrize("ties", ["input", "optimistic", "average"])
def test_a_full_list_without_its_excluded_items_is_the_matrix_without_them(ties):
    rng = np.random.default_rng(8)
    scores = rng.integers(0, 6, (30, 20)).astype(np.float32)
    relevant, seen = rng.random(scores.shape) < 0.2, rng.random(scores.shape) < 0.3
    rows = np.tile(np.arange(20), (30, 1))
    names = ["ndcg@5", "map", "mrr", "num_ret"]
    expected = fastir.evaluate_matrix(scores, relevant, names, exclude=seen, ties=ties)
    results = fastir.evaluate_topk(rows, relevant, names, scores=scores, exclude=seen, ties=ties)
    assert results.values.tobytes() == expected.values.tobytes()


def test_excluded_items_in_any_form_and_with_errors_named_as_without():
    rows = [[1, 2, 3], [4, 5, -1]]
    expected = fastir.evaluate_topk([[2, 3, -1], [4, 5, -1]], R, "map")
    for given in ([[1], []], {0: [1, 1, 9]}, {0: {1: 0.5}}, np.array([[1, -1], [-1, -1]]), ([0, 1, 1], [1])):
        assert fastir.evaluate_topk(rows, R, "map", exclude=given) == expected
    with pytest.raises(ValueError, match="scores: NaN in row 1, column 1"):
        fastir.evaluate_topk(rows, R, "map", scores=[[1.0, 2, 3], [1, np.nan, 3]], exclude={1: [4]})
    for row, error in (([4, 5, 4], "duplicate item 4 in row 1"), ([4, -1, 5], "follows -1"), ([4, -2, 5], "-2 in row")):
        with pytest.raises(ValueError, match=error):
            fastir.evaluate_topk([[1, 2, 3], row], R, "map", exclude={0: [1]})
    with pytest.raises(ValueError, match="indices has 2 rows but exclude has 1; lengths must match"):
        fastir.evaluate_topk(rows, R, "map", exclude=[[1]])


@pytest.mark.parametrize("ids", [[["a", "b"], ["c", "d"]], np.array([["a"], ["b"]]), np.array([["a"], ["b"]], object)])
def test_ids_belong_to_evaluate_lists(ids):
    message = "must hold the numbers of items, got ids such as 'a'; fastir.evaluate_lists takes ids"
    with pytest.raises(TypeError, match=re.escape("indices " + message)):
        fastir.evaluate_topk(ids, [["a"], ["b"]], "map")
    with pytest.raises(TypeError, match=re.escape("relevant " + message)):
        fastir.evaluate_topk([[1], [2]], ids, "map")
