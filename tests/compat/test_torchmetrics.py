"""The retrieval metrics of torchmetrics: worked by hand, and compared with its own `compute`."""

import copy
import pickle
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torchmetrics.retrieval")
ours = pytest.importorskip("fastir.compat.torchmetrics")

# Two queries, the second with scores of 0 and less: in rank order [0, 1, 1] and [1, 0, 1].
INDEXES = torch.tensor([5, 5, 5, 2, 2, 2])
PREDS = torch.tensor([0.9, 0.7, 0.8, 0.0, 0.5, -1.0])
TARGET = torch.tensor([0, 1, 1, 0, 1, 1])
# And one without relevant documents.
EMPTY = (torch.tensor([0.3, 0.2]), torch.tensor([0, 0]), torch.tensor([7, 7]))


def told(metric, *updates):
    for update in updates or [(PREDS, TARGET, INDEXES)]:
        metric.update(*update)
    return metric.compute().item()


# ---- by hand -----------------------------------------------------------------------------------------------------
def test_values_by_hand():
    """The third document of the second query has a score below 0: it is not found, but by four metrics it is."""
    assert told(ours.RetrievalMAP()) == pytest.approx(((1 / 2 + 2 / 3) / 2 + 1) / 2)
    assert told(ours.RetrievalMAP(top_k=2)) == pytest.approx((1 / 2 + 1) / 2)
    assert told(ours.RetrievalMAP(top_k=0)) == told(ours.RetrievalMAP())
    assert told(ours.RetrievalMRR()) == 0.75
    assert told(ours.RetrievalMRR(top_k=1)) == 0.5
    assert told(ours.RetrievalPrecision(top_k=5)) == pytest.approx((2 / 5 + 1 / 5) / 2)
    assert told(ours.RetrievalPrecision(top_k=5, adaptive_k=True)) == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert told(ours.RetrievalRecall()) == pytest.approx((1 + 1 / 2) / 2)
    assert told(ours.RetrievalHitRate(top_k=1)) == 0.5
    assert told(ours.RetrievalRPrecision()) == 0.5
    assert told(ours.RetrievalFallOut(top_k=2)) == 1.0
    discounts = 1 / np.log2([2, 3, 4])
    first, second = discounts[1:].sum() / discounts[:2].sum(), discounts[[0, 2]].sum() / discounts[:2].sum()
    assert told(ours.RetrievalNormalizedDCG()) == pytest.approx((first + second) / 2, abs=1e-7)


def test_equal_scores_are_averaged_by_ndcg():
    tied = torch.tensor([0.5, 0.5]), torch.tensor([0, 3]), torch.tensor([0, 0])
    assert told(ours.RetrievalNormalizedDCG(), tied) == pytest.approx((1 + 1 / np.log2(3)) / 2, abs=1e-7)
    assert told(ours.RetrievalMRR(), (tied[0], tied[1] > 0, tied[2])) == 0.5


@pytest.mark.parametrize(("action", "mean"), [("neg", 0.5), ("pos", 2.5 / 3), ("skip", 0.75)])
def test_queries_without_relevant_documents(action, mean):
    assert told(ours.RetrievalMRR(action), (PREDS, TARGET, INDEXES), EMPTY) == pytest.approx(mean)
    assert told(ours.RetrievalMRR(action), EMPTY) == (action == "pos")
    flipped = EMPTY[0], 1 - EMPTY[1], EMPTY[2]
    assert told(ours.RetrievalFallOut(action), flipped) == (action == "pos")
    for metric, data, word in ((ours.RetrievalMRR, EMPTY, "positive"), (ours.RetrievalFallOut, flipped, "negative")):
        with pytest.raises(ValueError, match=f"a query with no {word} target"):
            told(metric("error"), data)


def test_aggregation_sees_the_queries_by_ascending_index():
    seen = []

    def last(values, dim=None):
        seen.append(values.tolist())
        return values[-1]

    assert told(ours.RetrievalMRR(aggregation=last)) == 0.5
    assert seen == [[1.0, 0.5]]


def test_nothing_but_compute_is_new():
    metric = ours.RetrievalMAP(top_k=3)
    assert isinstance(metric, theirs.RetrievalMAP)
    assert metric(PREDS, TARGET, INDEXES).item() == told(ours.RetrievalMAP(top_k=3))
    assert pickle.loads(pickle.dumps(metric)).compute() == copy.deepcopy(metric).compute() == metric.compute()
    metric.reset()
    with warnings.catch_warnings(), pytest.raises(ValueError, match="No samples"):
        warnings.simplefilter("ignore")
        metric.compute()
    with pytest.raises(ValueError, match="binary"):
        metric.update(PREDS, TARGET * 2, INDEXES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ours.__all__:
            torch.jit.script(getattr(ours, name)())


def test_the_type_is_that_of_the_predictions():
    metric = ours.RetrievalMAP().set_dtype(torch.bfloat16)
    metric.update(PREDS, TARGET, INDEXES)
    assert metric.compute().dtype == torch.float32 and metric.compute().shape == ()


def test_what_is_refused():
    with pytest.raises(ValueError, match="NaN in row 0"):
        told(ours.RetrievalMAP(), (PREDS * np.nan, TARGET, INDEXES))
    with pytest.raises(ValueError, match="whole"):
        told(ours.RetrievalMAP(), (PREDS, TARGET * 0.5, INDEXES))
    for name in set(ours.__all__) - {"RetrievalNormalizedDCG"}:
        with pytest.raises(ValueError, match="target must be whole"):
            told(getattr(ours, name)(), (PREDS, TARGET * 0.5, INDEXES))
    assert told(ours.RetrievalNormalizedDCG(), (PREDS, TARGET * 0.5, INDEXES)) == pytest.approx(
        told(ours.RetrievalNormalizedDCG())
    )


def test_ndcg_of_real_targets_is_that_of_torchmetrics():
    rng = np.random.default_rng(3)
    given = torch.from_numpy(rng.random(60)), torch.from_numpy(rng.random(60).round(2)), torch.arange(60) % 4
    for k in (None, 5):
        said = told(theirs.RetrievalNormalizedDCG(top_k=k), given)
        assert told(ours.RetrievalNormalizedDCG(top_k=k), given) == pytest.approx(said, abs=1e-6)


# ---- torchmetrics' own compute -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ours.__all__)
def test_torchmetrics_says_the_same(name):
    graded = name == "RetrievalNormalizedDCG"
    asked = [{}] if name == "RetrievalRPrecision" else [{"top_k": k} for k in (None, 1, 3, 50)]
    if name == "RetrievalPrecision":
        asked += [{"top_k": 10, "adaptive_k": True}]
    for seed in range(25):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 25, rng.integers(1, 12))
        n = sizes.sum()
        indexes = np.repeat(rng.choice([50, 90_000]) * rng.permutation(len(sizes)), sizes)[rng.permutation(n)]
        preds = rng.normal(size=n) if seed % 2 else rng.random(n)
        target = rng.integers(1, 4 if graded else 2, n) * (rng.random(n) < rng.choice([0.1, 0.5, 0.9]))
        data = (
            torch.from_numpy(preds.round(1) if graded else preds),
            torch.from_numpy(target),
            torch.from_numpy(indexes),
        )
        for options in asked:
            options = {
                "empty_target_action": ("neg", "pos", "skip")[seed % 3],
                "ignore_index": (None, -1)[seed % 2],
                "aggregation": ("mean", "median", "max", "min")[seed % 4],
                **options,
            }
            pair = [
                told(
                    getattr(module, name)(**options),
                    *([part[half] for part in data] for half in (slice(None, n // 2 + 1), slice(n // 2, None))),
                )
                for module in (theirs, ours)
            ]
            assert pair[1] == pytest.approx(pair[0], rel=0, abs=1e-6), (seed, options)
