"""scikit-learn's metrics of rankings: worked by hand, and compared with its own where it is installed."""

import math
import sys

import numpy as np
import pytest

import fastir.compat
from fastir.compat import sklearn as ours

D = 1 / np.log2([2, 3, 4, 5])
LABELS, SCORES = [[0, 2, 1, 0]], [[0.9, 0.8, 0.7, 0.1]]


# ---- by hand -----------------------------------------------------------------------------------------------------
def test_values_by_hand():
    dcg = 2 * D[1] + D[2]
    assert ours.dcg_score(LABELS, SCORES) == pytest.approx(dcg, abs=1e-15)
    assert ours.dcg_score(LABELS, SCORES, k=2) == pytest.approx(2 * D[1], abs=1e-15)
    assert ours.dcg_score(LABELS, SCORES, log_base=8) == pytest.approx(3 * dcg, abs=1e-14)
    assert ours.ndcg_score(LABELS, SCORES) == pytest.approx(dcg / (2 * D[0] + D[1]), abs=1e-15)
    assert ours.ndcg_score([[0, 0.5]], [[1, 0]]) == pytest.approx(D[1], abs=1e-15)
    assert ours.label_ranking_average_precision_score([[0, 1, 1, 0]], SCORES) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert type(ours.ndcg_score(LABELS, SCORES)) is float


def test_equal_scores():
    """Averaged, or as they came; in average precision all of one score are found at once."""
    assert ours.ndcg_score([[0, 1]], [[1, 1]]) == pytest.approx((D[0] + D[1]) / 2, abs=1e-15)
    assert ours.ndcg_score([[0, 1]], [[1, 1]], ignore_ties=True) == pytest.approx(D[1], abs=1e-15)
    assert ours.label_ranking_average_precision_score([[1, 1, 0, 1]], [[2, 2, 2, 1]]) == pytest.approx(
        (2 / 3 + 2 / 3 + 3 / 4) / 3
    )


def test_a_single_document():
    """Average precision takes it, as there; a discount needs another to compare with."""
    assert ours.label_ranking_average_precision_score([[1], [0]], [[0.5], [0.5]]) == 1.0
    for function in (ours.ndcg_score, ours.dcg_score):
        with pytest.raises(ValueError, match="y_true must have a row and 2 columns at least, got the shape"):
            function([[1]], [[1]])


def test_queries_without_relevant_documents_and_weights():
    labels, scores = [[0, 1], [0, 0]], [[0, 1], [0, 1]]
    assert ours.ndcg_score(labels, scores) == 0.5
    assert ours.label_ranking_average_precision_score(labels, scores) == 1.0
    assert ours.ndcg_score(labels, scores, sample_weight=[3, 1]) == 0.75
    with pytest.raises(ZeroDivisionError):
        ours.ndcg_score(labels, scores, sample_weight=[0, 0])


@pytest.mark.parametrize(("labels", "scores", "options", "message"), [
    ([[0, -1]], [[0, 1]], {}, "y_true holds -1 in row 0, column 1"),
    ([[]], [[]], {}, "y_true must have a row and [12] columns at least, got the shape"),
    ([1, 0], [1, 0], {}, "y_true must have 2 dimensions"),
    ([[1, 0]], [[1, 0, 2]], {}, "y_true has the shape"),
    ([[1, 0]], [[1, np.nan]], {}, "y_score: NaN in row 0, column 1"),
    ([[1, np.nan]], [[1, 1]], {}, "y_true: NaN in row 0, column 1"),
    ([[1, np.inf]], [[1, 1]], {}, "finite|only 0 and 1"),
    ([[1, 0]], [[1, 0]], {"k": 0}, "cutoff"),
    ([[1, 0]], [[1, 0]], {"sample_weight": [1, 2]}, "sample_weight has 2 entries but y_true 1 rows"),
])  # fmt: skip
def test_errors(labels, scores, options, message):
    for function in (ours.ndcg_score, ours.dcg_score):
        with pytest.raises(ValueError, match=message):
            function(labels, scores, **options)
    if "k" not in options:
        with pytest.raises(ValueError, match=message):
            ours.label_ranking_average_precision_score(labels, scores, **options)


def test_other_errors():
    with pytest.raises(ValueError, match="log_base must be above 0, got 0"):
        ours.dcg_score(LABELS, SCORES, log_base=0)
    with pytest.raises(ValueError, match="only 0 and 1"):
        ours.label_ranking_average_precision_score(LABELS, SCORES)


def test_scorer_without_an_estimator_of_scikit_learn():
    """`score` is what a scorer calls."""
    assert ours.score([0, 1, 1], [3, 2, 1], metric="mrr", qid=[7, 7, 8], convention="sklearn") == 0.75
    assert ours.score(LABELS, SCORES, metric="mrr", convention="sklearn") == 0.5
    assert ours.score([[0, 1], [1, 0]], [[1, 0], [1, 0]], metric="mrr", sample_weight=[1, 3]) == (0.5 + 3) / 4


# ---- scikit-learn itself -----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def metrics():
    return pytest.importorskip("sklearn.metrics")


def test_scikit_learn_says_the_same(metrics):
    for seed in range(80):
        rng = np.random.default_rng(seed)
        shape = rng.integers(1, 30), rng.integers(2, 40)
        labels = (rng.integers(0, 4, shape) if seed % 3 else rng.random(shape).round(1)) * (
            rng.random(shape) < rng.choice([0.1, 0.5, 1.0])
        )
        scores = rng.normal(size=shape).round(rng.integers(0, 4))
        scores = scores.astype((np.float64, np.float32, np.int64)[seed % 3])
        weight = rng.random(shape[0]) if seed % 2 else None
        for k in (None, 1, 5, 100):
            for name, options in (("ndcg_score", {}), ("dcg_score", {}), ("dcg_score", {"log_base": 0.5})):
                pair = [
                    getattr(module, name)(labels, scores, k=k, sample_weight=weight, **options)
                    for module in (metrics, ours)
                ]
                assert pair[1] == pytest.approx(pair[0], rel=1e-12, abs=1e-12), (seed, name, k)
        relevant = (labels > 0).astype(int)
        if 0 < relevant.sum() < relevant.size:
            pair = [
                module.label_ranking_average_precision_score(relevant, scores, sample_weight=weight)
                for module in (metrics, ours)
            ]
            assert pair[1] == pytest.approx(pair[0], rel=0, abs=1e-12), seed


def test_scores_without_ties_and_other_kinds_of_arrays(metrics):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, (20, 30)), rng.random((20, 30))
    assert ours.ndcg_score(labels, scores, ignore_ties=True) == pytest.approx(
        metrics.ndcg_score(labels, scores, ignore_ties=True), rel=0, abs=1e-12
    )
    for name in ("ndcg_score", "label_ranking_average_precision_score"):
        function = getattr(ours, name)
        assert function(labels.tolist(), scores.tolist()) == function(labels.astype(bool), np.asfortranarray(scores))
    assert ours.label_ranking_average_precision_score(sparse.csr_matrix(labels), scores) == pytest.approx(
        metrics.label_ranking_average_precision_score(sparse.csr_matrix(labels), scores), rel=0, abs=1e-12
    )


def test_large_tied_matrices_are_read_in_pieces(monkeypatch, metrics):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, (50, 20)), rng.integers(0, 5, (50, 20))
    whole = ours.label_ranking_average_precision_score(labels, scores)
    monkeypatch.setattr(ours, "BLOCK_ENTRIES", 70)
    assert ours.label_ranking_average_precision_score(labels, scores) == whole


def test_installed(metrics):
    before = metrics.ndcg_score
    with fastir.compat.patched("sklearn"):
        assert metrics.ndcg_score is ours.ndcg_score and metrics.dcg_score is ours.dcg_score
        assert metrics.label_ranking_average_precision_score is ours.label_ranking_average_precision_score
    assert metrics.ndcg_score is before


def test_scorers(metrics):
    """Both ways of having queries, through cross-validation."""
    sklearn = pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GroupKFold, cross_validate

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 3, (60, 8))
    told = cross_validate(LinearRegression(), X, y, scoring=ours.scorer("ndcg"), cv=3)["test_score"]
    said = cross_validate(LinearRegression(), X, y, scoring=metrics.make_scorer(metrics.ndcg_score), cv=3)["test_score"]
    assert told == pytest.approx(said, rel=0, abs=1e-12) and len(told) == 3
    qid = np.repeat(range(12), 5)
    with sklearn.config_context(enable_metadata_routing=True):
        told = cross_validate(
            LinearRegression(),
            X,
            y[:, 0],
            cv=GroupKFold(3),
            params={"qid": qid, "groups": qid},
            scoring=ours.scorer("ndcg@3", gain="exp2").set_score_request(qid=True),
        )["test_score"]
    folds = list(GroupKFold(3).split(X, groups=qid))
    assert told.tolist() == [
        fastir.evaluate_scores(
            y[test, 0],
            LinearRegression().fit(X[train], y[train, 0]).predict(X[test]),
            "ndcg@3",
            qid=qid[test],
            convention="sklearn",
            gain="exp2",
        )["ndcg@3"]
        for train, test in folds
    ]
    with pytest.raises(fastir.UnknownMetricError):
        ours.scorer("ndgc")


def test_a_scorer_turns_the_sign_where_less_is_better(metrics):
    from sklearn.linear_model import LinearRegression

    X, y = np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([3, 0, 2, 1])
    model = LinearRegression().fit(X, -X[:, 0])  # the relevant documents come last, 0 second
    assert ours.scorer("mean_rank")(model, X, y) == -(1 + 2 + 4) / 3
    assert ours.scorer("mrr")(model, X, y) == 1.0


def test_scorer_needs_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        ours.scorer("ndcg")
    assert ours.ndcg_score([[1, 0]], [[1, 0]]) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_float_relevance_is_that_of_scikit_learn(seed):
    """ndcg_score and dcg_score of fractions, with ties and without, as scikit-learn has them."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    labels, scores = rng.choice([0, 0.1, 0.25, 0.92, 1.75, 3.5], (20, 15)), rng.integers(0, 6 + seed, (20, 15))
    for k in (None, 1, 5, 15):
        for name in ("ndcg_score", "dcg_score"):
            for ignore_ties in (False, True):
                if ignore_ties:
                    scores = rng.permuted(np.tile(np.arange(15), (20, 1)), axis=1)
                found = getattr(ours, name)(labels, scores, k=k, ignore_ties=ignore_ties)
                wanted = getattr(metrics, name)(labels, scores, k=k, ignore_ties=ignore_ties)
                assert math.isclose(found, wanted, rel_tol=1e-12), (name, k, ignore_ties)
