"""Five metrics of score matrices: against torch.topk with NumPy, and against reading the matrix once.

2 000 queries x 50 000 items, float32, about ten relevant items a query; also with items to leave out, at full depth,
and as lists of the best 100. FASTIR_SIMD=portable measures without AVX2.
"""

import functools

import numpy as np
import pytest
from timing import THREADS, Goal, plural

import fastir

torch = pytest.importorskip("torch")

ROUNDS = 15
SEED = 20
READ = "reading the matrix once"


@pytest.fixture(scope="module")
def matrix(quick):
    """Scores of which no two in a row are equal, relevant items of which half stand near the top, and seen items."""
    queries, items = (100, 5000) if quick else (2000, 50_000)
    rng = np.random.default_rng(SEED)
    scores = np.empty((queries, items), np.float32)
    relevant, seen = [], []
    for row in scores:
        row[:] = rng.permutation(items)
        best = np.argpartition(-row, 500)[:500]
        count = int(rng.integers(1, 20))
        near, far = rng.choice(best, count // 2, replace=False), rng.choice(items, count - count // 2, replace=False)
        relevant.append(np.union1d(near, far))
        seen.append(np.setdiff1d(rng.choice(items, 100), relevant[-1]))
    return scores, as_csr(relevant), as_csr(seen)


def as_csr(rows):
    return np.concatenate([[0], np.cumsum([len(row) for row in rows])]), np.concatenate(rows)


def metrics(k):
    return [f"{name}@{k}" for name in ("ndcg", "map", "mrr", "P", "recall")]


# ---- by hand -----------------------------------------------------------------------------------------------------
def of_hits(hits, n_relevant):
    """The five metrics at a cutoff from whether the item at each rank is relevant, in NumPy."""
    k = hits.shape[1]
    ranks = np.arange(1, k + 1)
    ideal = np.cumsum(1 / np.log2(ranks + 1))[np.minimum(n_relevant, k) - 1]
    found = hits.sum(axis=1)
    first = np.where(found > 0, hits.argmax(axis=1) + 1, np.inf)
    return np.column_stack([
        (hits / np.log2(ranks + 1)).sum(axis=1) / ideal,
        (np.cumsum(hits, axis=1) / ranks * hits).sum(axis=1) / n_relevant,
        1 / first, found / k, found / n_relevant,
    ])  # fmt: skip


def hits_of(best, relevant, items):
    """Whether each of the best items of each row is relevant."""
    offsets, numbers = relevant
    known = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * items + numbers
    return np.isin(np.arange(len(best))[:, None] * items + best, known)


def in_torch(scores, relevant, k, threads, seen=None):
    """The best k by torch.topk, the rest in NumPy; seen items are masked in a copy."""
    if seen is not None:
        scores = scores.clone()
        scores[np.repeat(np.arange(len(scores)), np.diff(seen[0])), seen[1]] = -torch.inf
    best = only_torch(scores, k, threads).indices.numpy()
    return of_hits(hits_of(best, relevant, scores.shape[1]), np.diff(relevant[0]))


def only_torch(scores, k, threads):
    torch.set_num_threads(threads)
    return torch.topk(scores, k)


def sorted_by_numpy(scores, relevant):
    """MAP of whole rankings, by a sort of every row."""
    order = np.argsort(-scores, axis=1)
    hits = hits_of(order, relevant, scores.shape[1])
    precisions = np.cumsum(hits, axis=1) / np.arange(1, scores.shape[1] + 1)
    return (precisions * hits).sum(axis=1) / np.diff(relevant[0])


# ---- the tables --------------------------------------------------------------------------------------------------
def title(what):
    return f"2000 x 50 000 float32, {what}, {fastir.show_config()['simd']}"


@pytest.mark.parametrize("excluding", [False, True], ids=["all", "excluding"])
@pytest.mark.parametrize("threads", [1, THREADS])
@pytest.mark.parametrize("k", [10, 100])
def test_first_ranks(race, matrix, k, threads, excluding):
    """The five metrics at a cutoff, of all items or without those that were seen."""
    scores, relevant, seen = matrix
    tensor, seen = torch.from_numpy(scores), seen if excluding else None
    evaluate = functools.partial(fastir.evaluate_matrix, scores, relevant, metrics(k), max_depth=k, exclude=seen)
    by_hand = functools.partial(in_torch, tensor, relevant, k, threads, seen)
    ours, theirs = (f"{name}, {plural(threads)}" for name in ("fastir", "torch.topk and NumPy"))
    calls = {ours: functools.partial(evaluate, n_threads=threads), theirs: by_hand}
    goals = [Goal(ours, theirs, 3 if k == 10 and not excluding else None, "wall")]
    also = {}
    if not excluding:
        alone = f"torch.topk alone, {plural(threads)}"
        also[alone] = functools.partial(only_torch, tensor, k, threads)
        goals.append(Goal(ours, alone, 2 if k == 100 else None, "wall"))
    if k == 10 and threads == 1 and not excluding:
        also[READ] = scores.view(np.uint64).sum
        goals.append(Goal(ours, READ, 1 / 3))
    race(title(f"k = {k}" + ", seen items excluded" * excluding), calls, goals, ROUNDS, same=1e-12, also=also)


@pytest.mark.parametrize("k", [10, 100])
def test_threads(race, matrix, k):
    scores, relevant, _ = matrix
    call = functools.partial(fastir.evaluate_matrix, scores, relevant, metrics(k), max_depth=k)
    race.threads(title(f"k = {k}"), call, rounds=ROUNDS)


def test_whole_rankings(race, matrix):
    """MAP at full depth, in both orders of memory; float64, too. NumPy sorts one row in twenty."""
    scores, relevant, _ = matrix
    few = len(scores) // 20
    part = relevant[0][: few + 1], relevant[1][: relevant[0][few]]
    shapes = {"C order": scores, "Fortran order": np.asfortranarray(scores), "float64": scores.astype(np.float64)}
    calls = {
        f"fastir, {name}": functools.partial(fastir.evaluate_matrix, shape, relevant, "map", n_threads=1)
        for name, shape in shapes.items()
    }
    argsort = functools.partial(sorted_by_numpy, scores[:few], part)
    np.testing.assert_allclose(argsort(), calls["fastir, C order"]().values[:few, 0], rtol=0, atol=1e-12)
    also = {READ: scores.view(np.uint64).sum, "NumPy, argsort": argsort}
    more = {"slow": ["NumPy, argsort"], "parts": {"NumPy, argsort": len(scores) / few}, "same": 0, "also": also}
    goals = [
        Goal("fastir, C order", "NumPy, argsort"),
        Goal("fastir, Fortran order", "fastir, C order", 1 / 2),
        Goal("fastir, Fortran order", "a copy in C order"),
    ]
    also["a copy in C order"] = functools.partial(np.ascontiguousarray, shapes["Fortran order"])
    race(title("map, 1 thread"), calls, goals, ROUNDS, **more)


def test_lists_of_items(race, matrix):
    """The best 100, as a search returns them."""
    scores, relevant, _ = matrix
    best = torch.topk(torch.from_numpy(scores), 100).indices.numpy()
    calls = {
        "fastir": lambda: fastir.evaluate_topk(best, relevant, metrics(100), n_threads=1),
        "NumPy": lambda: of_hits(hits_of(best, relevant, scores.shape[1]), np.diff(relevant[0])),
    }
    race("2000 x 100 lists of items, 1 thread", calls, [Goal("fastir", "NumPy")], ROUNDS, same=1e-12)


def dense(matrix, dtype):
    """The scores of 200 rows, a label for each item of these, and the best 100."""
    scores, (offsets, numbers), _ = matrix
    scores = scores[:200]
    n = len(scores)
    labels = np.zeros(scores.shape, dtype)
    labels[np.repeat(np.arange(n), np.diff(offsets[: n + 1])), numbers[: offsets[n]]] = 1
    return scores, labels, np.argsort(-scores, axis=1)[:, :100].copy()


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_dense_labels(race, matrix, dtype):
    """A label for each item, as recommenders have it, beside finding the items of each row first."""
    scores, labels, _ = dense(matrix, dtype)
    ours, first = f"fastir, {dtype} labels", f"{dtype} labels, converted first"
    calls = {
        ours: lambda: fastir.evaluate_matrix(scores, labels, metrics(10), n_threads=1),
        first: lambda: fastir.evaluate_matrix(
            scores, [np.flatnonzero(row) for row in labels], metrics(10), n_threads=1
        ),
    }
    race("200 x 50 000 scores, dense labels", calls, [Goal(ours, first, 1.5)], ROUNDS, same=0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_dense_labels_of_lists(race, matrix, dtype):
    _, labels, best = dense(matrix, dtype)
    calls = {
        "fastir": lambda: fastir.evaluate_topk(best, labels, metrics(100), n_threads=1),
        "NumPy": lambda: of_hits(np.take_along_axis(labels, best, axis=1) > 0, (labels > 0).sum(axis=1)),
    }
    race(f"200 x 100 lists of items, dense {dtype} labels", calls, [Goal("fastir", "NumPy", 1.5)], ROUNDS, same=1e-12)
