"""Labels in rank order or with scores: against ranx's kernels, a plain loop, LightGBM, XGBoost and loops in Python.

    python bench/bench_arrays.py [--rounds N] [--quick] [--record]

Rankings of 1000 and a million short ones; a learning-to-rank set of 31 000 queries with 118 documents on average. Slow
peers evaluate a part of the queries, and their time is multiplied.
"""

import ctypes
import functools
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "4")

import lightgbm
import numpy as np
import timing
import xgboost
from sklearn.metrics import ndcg_score
from timing import METRICS, Cost, Goal

import fastir
from fastir.rank._simd import CHOSEN

THREADS = 4
SEED = 20
NDCG = "ndcg(gain=exp2)@10"
PART = {"a NumPy loop": 20, "scikit-learn, a loop": 100}  # how many times fewer queries they evaluate


# ---- labels in rank order ----------------------------------------------------------------------------------------


def equal_lists(queries, depth, share):
    """Labels 1 to 3 for a share of the documents, in rankings of one depth."""
    rng = np.random.default_rng(SEED)
    labels = (rng.random(queries * depth) < share) * rng.integers(1, 4, queries * depth)
    return labels.astype(np.int8), np.arange(0, queries * depth + 1, depth)


def short_lists(queries):
    """10 to 100 documents, one in ten of which is relevant."""
    rng = np.random.default_rng(SEED)
    offsets = np.concatenate([[0], rng.integers(10, 101, queries).cumsum()])
    return (rng.random(offsets[-1]) < 0.1).astype(np.int8), offsets


def compiled_loop():
    """The function in plain_loop.c, of labels and offsets, which a C compiler has made."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "plain_loop.so"))
        source = str(Path(__file__).with_name("plain_loop.c"))
        subprocess.run(["cc", "-O3", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        five_metrics = ctypes.CDLL(library).five_metrics
    arrays = [np.ctypeslib.ndpointer(kind, flags="C") for kind in (np.int8, np.int64, np.float64)]
    five_metrics.argtypes, five_metrics.restype = [*arrays[:2], ctypes.c_int64, arrays[2]], None

    def call(labels, offsets):
        values = np.empty((len(offsets) - 1, len(METRICS)))
        five_metrics(labels, offsets, len(values), values)
        return values

    return call


def ranx_kernels(labels, offsets):
    """Its compiled functions, on what it makes of qrels and runs beforehand."""
    import numba
    from ranx.metrics import average_precision, ndcg, precision, recall, reciprocal_rank

    qrels, runs = numba.typed.List(), numba.typed.List()
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        ids = np.arange(stop - start, dtype=np.float64)
        best = np.argsort(-labels[start:stop], kind="stable")[: (labels[start:stop] > 0).sum()]
        qrels.append(np.column_stack([ids[best], labels[start:stop][best].astype(np.float64)]))
        runs.append(np.column_stack([ids, -ids]))

    def call(threads):
        numba.set_num_threads(threads)
        return np.column_stack(
            [
                ndcg(qrels, runs, 10),
                average_precision(qrels, runs),
                reciprocal_rank(qrels, runs),
                precision(qrels, runs, 10),
                recall(qrels, runs, 100),
            ]
        )

    return call


def ranked(labels, offsets, n_threads):
    return fastir.evaluate_ranked(labels, offsets, METRICS, n_threads=n_threads).values


def in_rank_order(report, options):
    size = 200 if options.quick else 10_000
    labels, offsets = equal_lists(size, 1000, 0.02)
    ranx, plain_loop = ranx_kernels(labels, offsets), compiled_loop()
    calls = {
        "fastir": lambda: ranked(labels, offsets, 1),
        "ranx's kernels": lambda: ranx(1),
        "a plain loop": lambda: plain_loop(labels, offsets),
    }
    same_answers(calls, 1e-12)
    calls["reading the labels"] = lambda: labels.view(np.int64).sum()
    goals = [
        Goal("fastir", "ranx's kernels", 60),
        Goal("fastir", "reading the labels", 1 / 8),
        Goal("fastir", "a plain loop"),
    ]
    report.add(f"{size:,} rankings of 1000, 2 % relevant", timing.measure(calls, 5 * options.rounds), goals)

    labels, offsets = short_lists(1000 if options.quick else 1_000_000)
    calls = {
        "fastir": lambda: ranked(labels, offsets, 1),
        f"fastir, {THREADS} threads": lambda: ranked(labels, offsets, THREADS),
        "a plain loop": lambda: plain_loop(labels, offsets),
    }
    same_answers(calls, 1e-12)
    calls["reading the labels"] = lambda: labels[: len(labels) // 8 * 8].view(np.int64).sum()
    goals = [Goal("fastir", "a plain loop", 2), Goal(f"fastir, {THREADS} threads", "fastir", 2.5, "wall")]
    report.add(
        f"{len(offsets) - 1:,} rankings of 10 to 100, {len(labels):,} labels",
        timing.measure(calls, options.rounds),
        goals,
    )


def same_answers(calls, tolerance):
    """Every value of every query that a contender evaluated is fastir's."""
    expected = next(iter(calls.values()))()
    for name, call in calls.items():
        values = call()
        difference = np.abs(values - expected[: len(values)]).max()
        assert difference <= tolerance, f"{name} differs by {difference}"


# ---- labels and scores -------------------------------------------------------------------------------------------


def learning_to_rank(queries):
    """The shape of MSLR-WEB30K: labels 0 to 4, and float32 scores that know a little of them."""
    rng = np.random.default_rng(SEED)
    sizes = np.clip(rng.gamma(4, 29.5, queries).astype(np.int64), 1, None)
    labels = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.int8)
    return labels, (rng.normal(size=len(labels)) + 0.3 * labels).astype(np.float32), sizes


def in_lightgbm(labels, scores, sizes, threads):
    """Its own metric: scores come in as those that boosting would begin from."""
    data = np.zeros((len(labels), 1))
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_threads": threads, "verbose": -1}
    train = lightgbm.Dataset(data[:1000], np.arange(1000) % 2, group=[1000], params=options)
    valid = lightgbm.Dataset(data, labels, group=sizes, init_score=scores.astype(np.float64), reference=train)
    booster = lightgbm.Booster(options, train)
    booster.add_valid(valid, "valid")
    return lambda: booster.eval_valid()[0][2]


def in_xgboost(labels, scores, sizes, threads):
    """Its own metric: scores come in as margins, with no tree to add to them."""
    matrix = xgboost.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores, group=sizes, nthread=threads)
    options = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": threads, "base_score": 0}
    booster = xgboost.train(options, matrix, 0)
    return lambda: float(booster.eval_set([(matrix, "valid")]).rpartition(":")[2])


def numpy_loop(labels, scores, offsets):
    """Two sorts for each query, as in many a training script."""
    discounts = 1 / np.log2(np.arange(2, 12))
    values = []
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        gains = 2.0 ** labels[start:stop] - 1
        best = np.sort(gains)[::-1][:10]
        ranked = gains[np.argsort(-scores[start:stop], kind="stable")[:10]]
        ideal = best @ discounts[: len(best)]
        values.append(ranked @ discounts[: len(ranked)] / ideal if ideal > 0 else 0.0)
    return np.array(values)[:, None]


def sklearn_loop(labels, scores, offsets):
    """Exponential gains; queries with one document are not for it."""
    values = []
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        gains = 2.0 ** labels[start:stop] - 1
        alone = float(gains[0] > 0)
        values.append(alone if stop - start < 2 else ndcg_score([gains], [scores[start:stop]], k=10))
    return np.array(values)[:, None]


def scored(arrays, metrics, threads, dtype=np.float32, **options):
    labels, scores, sizes = arrays
    return fastir.evaluate_scores(
        labels, scores.astype(dtype, copy=False), metrics, group=sizes, n_threads=threads, **options
    )


def with_scores(report, options):
    arrays = learning_to_rank(310 if options.quick else 31_000)
    labels, scores, sizes = arrays
    offsets = np.concatenate([[0], sizes.cumsum()])
    parts = {name: offsets[: (len(offsets) - 1) // part + 1] for name, part in PART.items()}
    calls = {"fastir": lambda: scored(arrays, NDCG, 1).values}
    calls |= {
        name: functools.partial(loop, labels, scores, parts[name])
        for name, loop in zip(PART, (numpy_loop, sklearn_loop), strict=True)
    }
    same_answers(calls, 1e-12)
    calls[f"fastir, {THREADS} threads"] = lambda: scored(arrays, NDCG, THREADS).values
    assert np.array_equal(calls["fastir"](), calls[f"fastir, {THREADS} threads"]()), "threads differ"
    mean = scored(arrays, NDCG, 1, convention="lightgbm")[NDCG]
    for name, peer, tolerance in (("LightGBM", in_lightgbm, 1e-12), ("XGBoost", in_xgboost, 1e-6)):
        for threads in (1, THREADS):
            title = name if threads == 1 else f"{name}, {threads} threads"
            calls[title] = peer(labels, scores, sizes, threads)
            assert abs(calls[title]() - mean) <= tolerance, f"{title}: {calls[title]()} is {mean} in fastir"
    wide = scores.astype(np.float64)
    calls |= {
        "fastir, five metrics at full depth": lambda: scored(arrays, METRICS, 1),
        "fastir, float64 scores": lambda: scored((labels, wide, sizes), NDCG, 1, np.float64),
        "fastir, expected values of ties": lambda: scored(arrays, NDCG, 1, ties="average"),
        "reading labels and scores": lambda: labels[: len(labels) // 8 * 8].view(np.int64).sum() + scores.sum(),
    }
    costs = timing.measure(calls, options.rounds, slow=("scikit-learn, a loop",))
    for name, part in PART.items():
        costs[name] = Cost(*(seconds * (len(offsets) - 1) / (len(parts[name]) - 1) for seconds in costs[name]))
    both = [
        Goal("fastir" + extra, peer + extra, 3, clock)
        for peer in ("LightGBM", "XGBoost")
        for extra, clock in (("", "cpu"), (f", {THREADS} threads", "wall"))
    ]
    most = 8 if CHOSEN == "portable" else 3
    report.add(
        f"{len(sizes):,} queries, {len(labels):,} documents, nDCG@10",
        costs,
        [
            *both,
            Goal("fastir", "a NumPy loop", 20),
            Goal("fastir", "scikit-learn, a loop", 300),
            Goal("fastir, five metrics at full depth", "fastir", 1 / most),
            Goal(f"fastir, {THREADS} threads", "fastir", None, "wall"),
        ],
    )


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=7)
    warnings.simplefilter("ignore")
    report = timing.Report("arrays", options)
    in_rank_order(report, options)
    with_scores(report, options)
    report.close()


if __name__ == "__main__":
    main()
