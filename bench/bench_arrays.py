"""Labels in rank order or with scores: against ranx's kernels, a plain loop, LightGBM, XGBoost and loops in Python.

Rankings of 1000 and a million short ones; a learning-to-rank set of 31 000 queries with 118 documents on average. Slow
peers evaluate a part of the queries, and their time is multiplied.
"""

import ctypes
import functools
import itertools
import operator
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from timing import METRICS, THREADS, Goal, plural

import fastir
from fastir.engine.rank._simd import CHOSEN

SEED = 20
NDCG = "ndcg(gain=exp2)@10"


# ---- labels in rank order ----------------------------------------------------------------------------------------
def long_lists(quick, share=0.02):
    """1000 documents, labels 1 to 3 for one in fifty, or for a larger share."""
    queries, depth = 200 if quick else 10_000, 1000
    rng = np.random.default_rng(SEED)
    labels = (rng.random(queries * depth) < share) * rng.integers(1, 4, queries * depth)
    return labels.astype(np.int8), np.arange(0, queries * depth + 1, depth)


def short_lists(quick):
    """10 to 100 documents, one in ten of which is relevant."""
    queries = 1000 if quick else 1_000_000
    rng = np.random.default_rng(SEED)
    offsets = np.concatenate([[0], rng.integers(10, 101, queries).cumsum()])
    return (rng.random(offsets[-1]) < 0.1).astype(np.int8), offsets


@pytest.fixture(scope="module")
def plain_loop(tmp_path_factory):
    """The function in plain_loop.c, of labels and offsets, compiled."""
    library = str(tmp_path_factory.mktemp("plain_loop") / "plain_loop.so")
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
    """Its compiled functions on one thread, on what it makes of qrels and runs beforehand."""
    import numba
    from ranx.metrics import average_precision, ndcg, precision, recall, reciprocal_rank

    numba.set_num_threads(1)
    qrels, runs = numba.typed.List(), numba.typed.List()
    for start, stop in itertools.pairwise(offsets):
        ids = np.arange(stop - start, dtype=np.float64)
        best = np.argsort(-labels[start:stop], kind="stable")[: (labels[start:stop] > 0).sum()]
        qrels.append(np.column_stack([ids[best], labels[start:stop][best].astype(np.float64)]))
        runs.append(np.column_stack([ids, -ids]))

    def call():
        whole = [metric(qrels, runs) for metric in (average_precision, reciprocal_rank)]
        cut = [metric(qrels, runs, k) for metric, k in ((ndcg, 10), (precision, 10), (recall, 100))]
        return np.column_stack([cut[0], *whole, *cut[1:]])

    return call


def read(labels):
    """The least that can be done with the labels: eight at a time."""
    return labels[: len(labels) // 8 * 8].view(np.int64).sum()


def ranked(labels, offsets, n_threads=1):
    return fastir.evaluate_ranked(labels, offsets, METRICS, n_threads=n_threads).values


LISTS = {
    "10 000 rankings of 1000, 2 % relevant": long_lists,
    "10 000 rankings of 1000, 30 % relevant": functools.partial(long_lists, share=0.3),
    "a million rankings of 10 to 100": short_lists,
}
LONG, DENSE, SHORT = LISTS
AGAINST_A_LOOP = {LONG: None, DENSE: 5, SHORT: 2.6}


def test_ranked_ranx(race, quick):
    pytest.importorskip("ranx")
    lists = long_lists(quick)
    calls = {"fastir": lambda: ranked(*lists), "ranx's kernels": ranx_kernels(*lists)}
    race(LONG, calls, [Goal("fastir", "ranx's kernels", 80)], 35, same=1e-12)


@pytest.mark.parametrize("group", LISTS)
def test_ranked_plain_loop(race, quick, plain_loop, group):
    lists = LISTS[group](quick)
    calls = {"fastir": lambda: ranked(*lists), "a plain loop": lambda: plain_loop(*lists)}
    goals = [Goal("fastir", "a plain loop", AGAINST_A_LOOP[group])]
    if group == LONG:
        goals.append(Goal("fastir", "reading the labels", 1 / 6))
    also = {"reading the labels": lambda: read(lists[0])}
    race(group, calls, goals, 7 if group == SHORT else 35, same=1e-12, also=also)


def test_ranked_dtypes(race, quick):
    """Labels of other types: what they take beyond int8, beside reading them."""
    labels, offsets = long_lists(quick)
    arrays = {dtype: labels.astype(dtype) for dtype in ("float32", "float64", "int32", "int64")}
    calls = {"fastir": lambda: ranked(labels, offsets)}
    calls |= {f"fastir, {dtype}": functools.partial(ranked, array, offsets) for dtype, array in arrays.items()}
    also = {f"reading the {dtype} labels": functools.partial(read, array) for dtype, array in arrays.items()}
    cost = race(LONG, calls, rounds=15, same=0, also=also)
    for dtype in arrays:
        beyond = (cost[f"fastir, {dtype}"].cpu - cost["fastir"].cpu) / cost[f"reading the {dtype} labels"].cpu
        race.amount(f"{dtype} labels beyond int8 labels", beyond, "times reading them", 1.5)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_ranked_narrowed_labels(race, quick, dtype):
    """Labels of another type as they are, beside int8 labels that the caller makes of them."""
    labels, offsets = long_lists(quick)
    array = labels.astype(dtype)
    ours, first = f"fastir, {dtype}", f"{dtype}, converted first"
    calls = {ours: lambda: ranked(array, offsets), first: lambda: ranked(array.astype(np.int8), offsets)}
    race(LONG, calls, [Goal(ours, first, 1)], rounds=15, same=0)


def real_labels(labels):
    """Real-valued labels: as many distinct ones as before, or a distinct one for each label above 0."""
    return {
        "few": labels * 0.3,
        "distinct": labels - (labels > 0) * np.random.default_rng(SEED).random(len(labels)) / 2,
    }


@pytest.mark.parametrize("group", LISTS)
def test_ranked_real_labels(race, quick, group):
    labels, offsets = LISTS[group](quick)
    arrays = {"whole labels in float64": labels.astype(np.float64)}
    arrays |= {f"real-valued labels, {kind}": array for kind, array in real_labels(labels).items()}
    calls = {name: functools.partial(ranked, array, offsets) for name, array in arrays.items()}
    first, *others = calls
    race(group, calls, [Goal(name, first, 1 / 1.5) for name in others], 7)


def in_fractions(results, weights):
    """Weighted means, exact, in Python."""
    total = sum(map(Fraction, weights))
    return [float(sum(map(operator.mul, map(Fraction, column), map(Fraction, weights))) / total) for column in results]


def test_weighted_means(race, quick):
    """Of a million queries; the loop in Python takes one in a hundred of them."""
    labels, offsets = short_lists(quick)
    weights = np.random.default_rng(SEED).integers(1, 9, len(offsets) - 1)
    n = len(weights) // 100
    few = ranked(labels[: offsets[n]], offsets[: n + 1]).T.tolist(), weights[:n].tolist()
    part = fastir.evaluate_ranked(labels[: offsets[n]], offsets[: n + 1], METRICS, weights=weights[:n])
    np.testing.assert_allclose(in_fractions(*few), list(dict(part).values()), rtol=1e-15)
    results = fastir.evaluate_ranked(labels, offsets, METRICS, weights=weights)
    plain = fastir.evaluate_ranked(labels, offsets, METRICS)
    calls = {
        "fastir, weighted": lambda: dict(pickled(results)),
        "fastir, not weighted": lambda: dict(pickled(plain)),
        "fractions in Python": lambda: in_fractions(*few),
    }
    goals = [Goal("fastir, weighted", "fastir, not weighted"), Goal("fastir, weighted", "fractions in Python", 20)]
    parts = {"fractions in Python": len(weights) / n}
    race("five means of a million queries", calls, goals, 3, parts=parts)


def test_means(race, quick):
    """Of a million queries: exact, and as NumPy rounds them on the way."""
    results = fastir.evaluate_ranked(*short_lists(quick), METRICS)
    calls = {
        "fastir": lambda: np.array(list(dict(pickled(results)).values())),
        "np.mean": lambda: results.values.mean(0),
    }
    race("five means of a million queries", calls, [Goal("fastir", "np.mean", 1)], 15, same=1e-9)


def pickled(results):
    """The same, which has computed no mean."""
    made, arguments, *_ = results.__reduce__()
    return made(*arguments)


def test_ranked_threads(race, quick):
    race.threads(SHORT, functools.partial(ranked, *short_lists(quick)), asked=2.5, rounds=7)


# ---- labels and scores -------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def learning_to_rank(quick):
    """The shape of MSLR-WEB30K: labels 0 to 4, float32 scores that are a little higher for better labels, and sizes."""
    queries = 310 if quick else 31_000
    rng = np.random.default_rng(SEED)
    sizes = np.clip(rng.gamma(4, 29.5, queries).astype(np.int64), 1, None)
    labels = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.int8)
    return labels, (rng.normal(size=len(labels)) + 0.3 * labels).astype(np.float32), sizes


def in_lightgbm(labels, scores, sizes, threads):
    """Its own metric: scores come in as those that boosting would begin from."""
    import lightgbm

    data = np.zeros((len(labels), 1))
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_threads": threads, "verbose": -1}
    train = lightgbm.Dataset(data[:1000], np.arange(1000) % 2, group=[1000], params=options)
    valid = lightgbm.Dataset(data, labels, group=sizes, init_score=scores.astype(np.float64), reference=train)
    booster = lightgbm.Booster(options, train)
    booster.add_valid(valid, "valid")
    return lambda: booster.eval_valid()[0][2]


def in_xgboost(labels, scores, sizes, threads):
    """Its own metric: scores come in as margins, with no tree to add to them."""
    import xgboost

    matrix = xgboost.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores, group=sizes, nthread=threads)
    options = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": threads, "base_score": 0}
    booster = xgboost.train(options, matrix, 0)
    return lambda: float(booster.eval_set([(matrix, "valid")]).rpartition(":")[2])


def numpy_loop(labels, scores, offsets):
    """Two sorts for each query, as in many a training script."""
    discounts = 1 / np.log2(np.arange(2, 12))
    values = []
    for start, stop in itertools.pairwise(offsets):
        gains = 2.0 ** labels[start:stop] - 1
        best = np.sort(gains)[::-1][:10]
        ranked = gains[np.argsort(-scores[start:stop], kind="stable")[:10]]
        ideal = best @ discounts[: len(best)]
        values.append(ranked @ discounts[: len(ranked)] / ideal if ideal > 0 else 0.0)
    return np.array(values)[:, None]


def sklearn_loop(labels, scores, offsets):
    """Exponential gains; it refuses queries with one document."""
    from sklearn.metrics import ndcg_score

    values = []
    for start, stop in itertools.pairwise(offsets):
        gains = 2.0 ** labels[start:stop] - 1
        alone = float(gains[0] > 0)
        values.append(alone if stop - start < 2 else ndcg_score([gains], [scores[start:stop]], k=10))
    return np.array(values)[:, None]


def scored(arrays, metrics=NDCG, n_threads=1, **options):
    labels, scores, sizes = arrays
    return fastir.evaluate_scores(labels, scores, metrics, group=sizes, n_threads=n_threads, **options)


SCORED = "31 000 queries of 118 documents, nDCG@10"
BOOSTING = {"LightGBM": (in_lightgbm, 1e-12), "XGBoost": (in_xgboost, 1e-6)}


@pytest.mark.parametrize("threads", [1, THREADS])
@pytest.mark.parametrize("peer", BOOSTING)
def test_scores_boosting(race, learning_to_rank, peer, threads):
    pytest.importorskip(peer.lower())
    make, tolerance = BOOSTING[peer]
    names = f"fastir, {plural(threads)}", f"{peer}, {plural(threads)}"
    calls = {
        names[0]: lambda: scored(learning_to_rank, n_threads=threads).values,
        names[1]: make(*learning_to_rank, threads),
    }
    mean, theirs = scored(learning_to_rank, convention="lightgbm")[NDCG], calls[names[1]]()
    assert abs(theirs - mean) <= tolerance, f"{theirs} is {mean} in fastir"
    race(SCORED, calls, [Goal(*names, 3, "cpu" if threads == 1 else "wall")], 7)


LOOPS = {"numpy": (numpy_loop, 20, 20), "sklearn": (sklearn_loop, 100, 300)}


@pytest.mark.parametrize("module", LOOPS)
def test_scores_loops(race, learning_to_rank, module):
    """The loops evaluate one query in `part`; their time is multiplied."""
    pytest.importorskip(module)
    loop, part, asked = LOOPS[module]
    peer = f"{module}, a loop"
    labels, scores, sizes = learning_to_rank
    offsets = np.concatenate([[0], sizes.cumsum()])
    fewer = offsets[: (len(sizes) // part) + 1]
    calls = {"fastir": lambda: scored(learning_to_rank).values, peer: lambda: loop(labels, scores, fewer)}
    difference = np.abs(calls[peer]() - calls["fastir"]()[: len(fewer) - 1]).max()
    assert difference <= 1e-12, f"{peer} differs by {difference}"
    parts = {peer: len(sizes) / (len(fewer) - 1)}
    race(SCORED, calls, [Goal("fastir", peer, asked)], 7, slow=["sklearn, a loop"], parts=parts)


def test_scores_more(race, learning_to_rank):
    """Other requests on the same labels and scores."""
    labels, scores, sizes = learning_to_rank
    wide = labels, scores.astype(np.float64), sizes
    calls = {
        "fastir, five metrics at full depth": lambda: scored(learning_to_rank, METRICS),
        "fastir": lambda: scored(learning_to_rank),
        "fastir, float64 scores": lambda: scored(wide),
        "fastir, expected values of ties": lambda: scored(learning_to_rank, ties="average"),
        "reading labels and scores": lambda: read(labels) + scores.sum(),
    }
    np.testing.assert_array_equal(calls["fastir, float64 scores"]().values, calls["fastir"]().values)
    most = 8 if CHOSEN == "portable" else 3
    goals = [
        Goal("fastir, five metrics at full depth", "fastir", 1 / most),
        Goal("fastir, expected values of ties", "fastir", 1 / 2.5),
    ]
    race(SCORED, calls, goals, 7)


def map_loop(labels, scores, offsets):
    """A stable sort for each query."""
    values = []
    for start, stop in itertools.pairwise(offsets):
        hits = labels[start:stop][np.argsort(-scores[start:stop], kind="stable")] > 0
        precisions = np.cumsum(hits) / np.arange(1, stop - start + 1)
        values.append((precisions * hits).sum() / max(1, hits.sum()))
    return np.array(values)[:, None]


@pytest.mark.parametrize("share", [1.0, 0.1], ids=["all relevant", "one in ten relevant"])
@pytest.mark.parametrize("depth", [1000, 4000])
def test_scores_tied(race, quick, depth, share):
    """Two distinct scores, and as many as there are rows."""
    n = depth * (20 if quick else 500)
    rng = np.random.default_rng(SEED)
    labels, offsets = (rng.random(n) < share).astype(np.int8), np.arange(0, n + 1, depth)
    scores = {"two scores": rng.integers(0, 2, n).astype(np.float32), "other scores": rng.random(n).astype(np.float32)}

    def call(kind, **options):
        return fastir.evaluate_scores(labels, scores[kind], "map", offsets=offsets, n_threads=1, **options).values

    calls = {f"fastir, {kind}": functools.partial(call, kind) for kind in scores}
    calls["fastir, two scores, expected values"] = functools.partial(call, "two scores", ties="average")
    peers = {f"NumPy, {kind}": functools.partial(map_loop, labels, scores[kind], offsets) for kind in scores}
    for kind in scores:
        np.testing.assert_allclose(peers[f"NumPy, {kind}"](), call(kind), rtol=0, atol=1e-12)
    goals = [
        Goal("fastir, two scores", "NumPy, two scores"),
        Goal("fastir, other scores", "NumPy, other scores"),
        Goal("fastir, two scores", "fastir, other scores", 1 / 4),
        Goal("fastir, two scores, expected values", "fastir, two scores", 1 / 2.5),
    ]
    title = f"map of {n // depth} queries of {depth}, {share:.0%} relevant"
    race(title, {**calls, **peers}, goals, 5)


def test_scores_real_labels(race, learning_to_rank):
    """Beside int8: whole labels and few distinct ones, of both floats, are codes of a byte; many are read by row."""
    labels, scores, sizes = learning_to_rank
    kinds = {"whole": labels, **real_labels(labels)}
    arrays = {f"{kind}, {dtype}": array.astype(dtype) for kind, array in kinds.items() for dtype in ("f4", "f8")}
    calls = {"int8": lambda: scored(learning_to_rank)}
    calls |= {name: functools.partial(scored, (array, scores, sizes)) for name, array in arrays.items()}
    goals = [Goal(name, "int8", 1 / (1.6 if name.startswith("distinct") else 1.3)) for name in arrays]
    race(SCORED, calls, goals, 7)


def test_scores_threads(race, learning_to_rank):
    race.threads(SCORED, functools.partial(scored, learning_to_rank, NDCG), rounds=7)
