"""Values agree with LightGBM, XGBoost, CatBoost, scikit-learn and torchmetrics under their conventions.

To 1e-12, and to 1e-6 where the peer computes in float32; on real data with real scores, and on random data with ties,
queries without documents or relevant ones, and single documents. A peer that is not installed is skipped.
"""

import csv
import json

import numpy as np
import pytest
from common import ABSENT, SHARED

import fastir

DATA = SHARED / "data" / "lightgbm_rank"
KINDS = ("graded, ties", "graded", "binary, ties", "binary", "full", "tied")
EXACT, SINGLE = 1e-12, 1e-6


def real(column):
    """Labels, scores and group sizes of the examples of LightGBM."""
    if not DATA.is_dir():
        pytest.skip(ABSENT)
    with (DATA / "labels_scores.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    queries = [row["qid"] for row in rows]
    sizes = [queries.count(query) for query in dict.fromkeys(queries)]
    return (
        np.array([int(row["label"]) for row in rows]),
        np.array([float(row[f"score_{column}"]) for row in rows], np.float32).astype(np.float64),
        np.array(sizes),
    )


@pytest.fixture(params=KINDS)
def rows(request):
    """Labels, scores and group sizes; scores are floats of 32 bits, so that no peer rounds them."""
    if request.param in ("full", "tied"):
        return real(request.param)
    rng = np.random.default_rng(len(request.param))
    sizes = np.concatenate([[1, 1, 1], rng.integers(1, 40, 40)])
    n = sizes.sum()
    graded = "graded" in request.param
    labels = rng.choice(5, n, p=[0.6, 0.2, 0.1, 0.05, 0.05]) if graded else (rng.random(n) < 0.25).astype(int)
    starts = np.cumsum(sizes) - sizes
    for query, label in ((0, 0), (1, 1), (7, 0), (11, 0), (12, 1)):
        labels[starts[query] : starts[query] + sizes[query]] = label
    return labels, rng.integers(-5, 6, n) / 4 if "ties" in request.param else rng.permutation(n) / 64 - 3, sizes


def is_graded(rows):
    return rows[0].max() > 1


def has_ties(rows):
    return any(len(set(scores.tolist())) < len(scores) for scores in np.split(rows[1], np.cumsum(rows[2])[:-1]))


def weights_of(rows):
    """Weights of queries; 1 for those without relevant documents, for which some peers' ndcg forgets it."""
    labels, _, sizes = rows
    some = np.array([part.max() > 0 for part in np.split(labels, np.cumsum(sizes)[:-1])])
    return np.where(some, np.random.default_rng(1).integers(1, 9, len(sizes)), 1)


def ours(rows, name, convention, **options):
    labels, scores, sizes = rows
    return fastir.evaluate_scores(labels, scores, name, group=sizes, convention=convention, **options)[name]


# ---- gradient boosting -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("column", ["full", "tied"])
def test_values_that_lightgbm_printed(column):
    rows = real(column)
    expected = json.loads((DATA / "expected" / "lightgbm_ndcg.json").read_text(encoding="utf-8"))[column]
    for name, value in expected.items():
        assert ours(rows, name, "lightgbm") == pytest.approx(value, abs=EXACT), name


def test_lightgbm(rows):
    lightgbm = pytest.importorskip("lightgbm")
    labels, scores, sizes = rows
    options = {
        "objective": "lambdarank", "metric": "ndcg,map", "eval_at": [1, 3, 5, 10, 50], "verbose": -1,
        "num_threads": 1,
    }  # fmt: skip
    for by_query in (None, weights_of(rows)):
        train = lightgbm.Dataset(np.zeros((4, 1)), [0, 1, 0, 1], group=[4], params=options)
        valid = lightgbm.Dataset(
            np.zeros((len(labels), 1)),
            labels,
            group=sizes,
            init_score=scores,
            reference=train,
            weight=None if by_query is None else np.repeat(by_query, sizes),
        )
        booster = lightgbm.Booster(options, train)  # no trees: what it scores is what boosting would begin from
        booster.add_valid(valid, "valid")
        values = {name: value for _, name, value, _ in booster.eval_valid()}
        assert len(values) == 10
        for name, value in values.items():
            assert ours(rows, name, "lightgbm", weights=by_query) == pytest.approx(value, abs=EXACT), name


def test_xgboost(rows):
    xgboost = pytest.importorskip("xgboost")
    labels, scores, sizes = rows

    def theirs(metric, by_query=None, **options):
        matrix = xgboost.DMatrix(
            np.zeros((len(labels), 1)), labels, base_margin=scores, group=sizes, nthread=1, weight=by_query
        )
        options.update(objective="rank:ndcg", eval_metric=metric, nthread=1, base_score=0)
        booster = xgboost.train(options, matrix, 0)
        return float(booster.eval_set([(matrix, "valid")]).rpartition(":")[2])

    names = ["ndcg@1", "ndcg@5", "ndcg@10", "ndcg@50"]
    if not is_graded(rows):
        names += ["map@1", "map@5", "map@50", "pre@1", "pre@5", "pre@50"]
    for name in names:
        for by_query in (None, weights_of(rows)):
            value = theirs(name, by_query)
            assert ours(rows, name, "xgboost", weights=by_query) == pytest.approx(value, abs=SINGLE), name
    assert ours(rows, "ndcg@10", "xgboost", empty="zero") == pytest.approx(theirs("ndcg@10-"), abs=SINGLE)
    linear = theirs("ndcg@10", ndcg_exp_gain=False)
    assert ours(rows, "ndcg@10", "xgboost", gain="linear") == pytest.approx(linear, abs=SINGLE)
    assert ours(rows, "ndcg@32", "xgboost") == pytest.approx(theirs("ndcg"), abs=SINGLE)


CATBOOST = {    # its spelling, ours, and what is not the convention
    "NDCG": ("ndcg", {}), "NDCG:top=3": ("ndcg@3", {}), "NDCG:top=10;type=Exp": ("ndcg@10", {"gain": "exp2"}),
    "DCG:top=10": ("dcg@10", {}), "DCG:top=10;type=Exp": ("dcg@10", {"gain": "exp2"}),
    "MAP:border=0.5": ("map", {}), "MAP:top=5;border=0.5": ("map@5", {}),
    "PrecisionAt:border=0.5": ("precision", {}), "PrecisionAt:top=5;border=0.5": ("precision@5", {}),
    "RecallAt:border=0.5": ("recall", {}), "RecallAt:top=5;border=0.5": ("recall@5", {}),
    "MRR:border=0.5": ("mrr", {}), "MRR:top=5;border=0.5": ("mrr@5", {}),
}  # fmt: skip


def test_catboost(rows):
    eval_metric = pytest.importorskip("catboost.utils").eval_metric
    labels, scores, sizes = rows
    queries = np.repeat(np.arange(len(sizes)), sizes)
    for theirs, (name, options) in CATBOOST.items():
        [value] = eval_metric(labels.astype(float), scores, theirs, group_id=queries)
        assert ours(rows, name, "catboost", **options) == pytest.approx(value, abs=EXACT), theirs


# ---- scikit-learn and torchmetrics -------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [None, 1, 5, 10])
def test_sklearn(rows, k):
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores, sizes = rows
    at = "" if k is None else f"@{k}"
    results = fastir.evaluate_scores(labels, scores, [f"ndcg{at}", f"dcg{at}"], group=sizes, convention="sklearn")
    in_order = fastir.evaluate_scores(
        labels, scores, [f"ndcg{at}", f"dcg{at}"], group=sizes, convention="sklearn", ties="input"
    )
    parts = zip(*(np.split(array, np.cumsum(sizes)[:-1]) for array in (labels, scores)), strict=True)
    for query, (label, score) in enumerate(parts):
        if len(label) < 2:
            continue  # which it refuses
        calls = metrics.ndcg_score, metrics.dcg_score
        values = [call([label], [score], k=k) for call in calls]
        assert results.values[query].tolist() == pytest.approx(values, abs=EXACT)
        if len(set(score.tolist())) == len(score):
            values = [call([label], [score], k=k, ignore_ties=True) for call in calls]
            assert in_order.values[query].tolist() == pytest.approx(values, abs=EXACT)


TORCHMETRICS = {    # its class and arguments; ours, and what is not the convention
    "ndcg": ("RetrievalNormalizedDCG", {}, {}), "ndcg@5": ("RetrievalNormalizedDCG", {"top_k": 5}, {}),
    "map": ("RetrievalMAP", {}, {}), "map@5": ("RetrievalMAP", {"top_k": 5}, {}),
    "mrr": ("RetrievalMRR", {}, {}), "mrr@3": ("RetrievalMRR", {"top_k": 3}, {}),
    "precision": ("RetrievalPrecision", {}, {}), "precision@5": ("RetrievalPrecision", {"top_k": 5}, {}),
    "precision@20": ("RetrievalPrecision", {"top_k": 20, "adaptive_k": True}, {"short_rankings": "clip"}),
    "recall@5": ("RetrievalRecall", {"top_k": 5}, {}), "hit_rate@5": ("RetrievalHitRate", {"top_k": 5}, {}),
    "r_precision": ("RetrievalRPrecision", {}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", TORCHMETRICS)
def test_torchmetrics(rows, name):
    torch, retrieval = pytest.importorskip("torch"), pytest.importorskip("torchmetrics.retrieval")
    kind, arguments, options = TORCHMETRICS[name]
    if not name.startswith("ndcg") and (is_graded(rows) or has_ties(rows)):
        pytest.skip("it takes labels 0 and 1 only, and orders equal scores by chance")
    labels, scores, sizes = rows
    positive = (scores - scores.min() + 1).astype(np.float32)  # lower ones it takes for not retrieved
    queries = torch.tensor(np.repeat(np.arange(len(sizes)), sizes))
    for empty, action in (("zero", "neg"), ("one", "pos"), ("skip", "skip")):
        metric = getattr(retrieval, kind)(empty_target_action=action, **arguments)
        value = float(metric(torch.tensor(positive), torch.tensor(labels), indexes=queries))
        assert ours((labels, positive, sizes), name, "torchmetrics", empty=empty, **options) == pytest.approx(
            value, abs=SINGLE
        )
