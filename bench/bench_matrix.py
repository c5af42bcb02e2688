"""Score matrices in, five metrics out: against torch.topk with NumPy, and against reading the matrix once.

    python bench/bench_matrix.py [--rounds N] [--quick] [--record]

2 000 queries x 50 000 items, float32, about ten relevant items a query; also with items to leave out, at full depth,
and as lists of the best 100. PyTorch must be there. FASTIR_SIMD=portable measures without AVX2.
"""

import functools

import numpy as np
import timing
import torch
from timing import Goal

import fastir

THREADS = 4
SEED = 20
READ = "reading the matrix once"


def collection(queries, items):
    """Scores of which no two in a row are equal, relevant items of which half stand near the top, and seen items."""
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
    torch.set_num_threads(threads)
    if seen is not None:
        scores = scores.clone()
        scores[np.repeat(np.arange(len(scores)), np.diff(seen[0])), seen[1]] = -torch.inf
    best = torch.topk(scores, k).indices.numpy()
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


def assert_same(ours, theirs, name):
    difference = np.abs(ours - theirs).max()
    assert difference <= 1e-12, f"{name} differs by {difference}"


# ---- the tables --------------------------------------------------------------------------------------------------


def first_ranks(report, options, scores, relevant, seen, k):
    """The five metrics at a cutoff, of all items and without those that were seen."""
    tensor = torch.from_numpy(scores)
    evaluate = functools.partial(fastir.evaluate_matrix, scores, relevant, metrics(k), k=k)
    expected = evaluate(n_threads=1).values
    assert_same(expected, in_torch(tensor, relevant, k, THREADS), "torch.topk")
    masked = evaluate(exclude=seen, n_threads=1).values
    assert_same(masked, in_torch(tensor, relevant, k, THREADS, seen), "torch.topk, masked")
    calls = {READ: scores.view(np.uint64).sum}
    goals = [Goal("fastir, 1 thread", READ, 1 / 3)] if k == 10 else []
    for threads in (1, THREADS):
        count = f"{threads} thread" + "s" * (threads > 1)
        calls[f"fastir, {count}"] = functools.partial(evaluate, n_threads=threads)
        calls[f"fastir, seen items excluded, {count}"] = functools.partial(evaluate, exclude=seen, n_threads=threads)
        calls[f"torch.topk and NumPy, {count}"] = functools.partial(in_torch, tensor, relevant, k, threads)
        calls[f"torch.topk alone, {count}"] = functools.partial(only_torch, tensor, k, threads)
        calls[f"masked copy, torch.topk and NumPy, {count}"] = functools.partial(
            in_torch, tensor, relevant, k, threads, seen
        )
        assert np.array_equal(evaluate(n_threads=threads).values, expected), f"{count} differ"
        goals += [
            Goal(f"fastir, {count}", f"torch.topk and NumPy, {count}", 3 if k == 10 else None, "wall"),
            Goal(f"fastir, {count}", f"torch.topk alone, {count}", 2 if k == 100 else None, "wall"),
            Goal(f"fastir, seen items excluded, {count}", f"masked copy, torch.topk and NumPy, {count}", clock="wall"),
        ]  # fmt: skip
    goals.append(Goal(f"fastir, {THREADS} threads", "fastir, 1 thread", clock="wall"))
    report.add(title(scores, f"k = {k}"), timing.measure(calls, options.rounds), goals)


def whole_rankings(report, options, scores, relevant):
    """MAP at full depth, in both orders of memory; float64, too."""
    few = slice(len(scores) // 20)
    offsets = relevant[0][: few.stop + 1]
    part = offsets, relevant[1][: offsets[-1]]
    ours = fastir.evaluate_matrix(scores[few], part, "map").values[:, 0]
    assert_same(ours, sorted_by_numpy(scores[few], part), "argsort")
    turned, wide = np.asfortranarray(scores), scores.astype(np.float64)
    calls = {READ: scores.view(np.uint64).sum}
    for name, matrix in (("C order", scores), ("Fortran order", turned), ("float64", wide)):
        assert np.array_equal(fastir.evaluate_matrix(matrix[few], part, "map").values[:, 0], ours), f"{name} differs"
        calls[f"fastir, {name}"] = functools.partial(fastir.evaluate_matrix, matrix, relevant, "map", n_threads=1)
    calls["NumPy, argsort, of a twentieth"] = functools.partial(sorted_by_numpy, scores[few], part)
    goals = [Goal("fastir, C order", "NumPy, argsort, of a twentieth")]
    report.add(title(scores, "map, 1 thread"), timing.measure(calls, options.rounds, slow=list(calls)[-1:]), goals)


def lists_of_items(report, options, scores, relevant):
    """The best 100, as a search returns them."""
    best = torch.topk(torch.from_numpy(scores), 100).indices.numpy()
    n_relevant = np.diff(relevant[0])

    def by_hand():
        return of_hits(hits_of(best, relevant, scores.shape[1]), n_relevant)

    def ours():
        return fastir.evaluate_topk(best, relevant, metrics(100), n_threads=1)

    assert_same(ours().values, by_hand(), "NumPy")
    costs = timing.measure({"fastir": ours, "NumPy": by_hand}, options.rounds)
    report.add(title(best, "lists of items, 1 thread"), costs, [Goal("fastir", "NumPy")])


def title(array, what):
    return f"{array.shape[0]:,} x {array.shape[1]:,} {array.dtype}, {what}, {fastir.show_config()['simd']}"


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=15)
    report = timing.Report("matrix", options)
    scores, relevant, seen = collection(*(100, 5000) if options.quick else (2000, 50_000))
    for k in (10, 100):
        first_ranks(report, options, scores, relevant, seen, k)
    whole_rankings(report, options, scores, relevant)
    lists_of_items(report, options, scores, relevant)
    report.close()


if __name__ == "__main__":
    main()
