"""MLflow's metrics of retrievers compared with its own, and metrics of fastir as MLflow's."""

import random

import pytest

pandas = pytest.importorskip("pandas")
theirs = pytest.importorskip("mlflow.metrics")

import fastir.compat  # noqa: E402
from fastir.compat import mlflow as ours  # noqa: E402

NAMES = ("precision_at_k", "recall_at_k", "ndcg_at_k")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def rows(*lists):
    return pandas.Series(list(lists))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 3, 9])
def test_mlflow_itself(name, k):
    rng = random.Random(k)
    retrieved = rows(*(rng.sample("abcdefghij", rng.randint(0, 7)) for _ in range(60)))
    relevant = rows(*(rng.sample("abcdefghij", rng.randint(0, 4)) for _ in range(60)))
    own, their = getattr(ours, name)(k), getattr(theirs, name)(k)
    assert (own.name, own.greater_is_better) == (their.name, their.greater_is_better)
    found, wanted = own.eval_fn(retrieved, relevant), their.eval_fn(retrieved, relevant)
    assert found.scores == pytest.approx(wanted.scores, abs=1e-6 if "ndcg" in name else 1e-15)
    assert found.aggregate_results == pytest.approx(wanted.aggregate_results, abs=1e-6)


def test_a_repeated_document_counts_once():
    sides = rows(["a", "a", "b"]), rows(["a"])
    assert ours.precision_at_k(3).eval_fn(*sides).scores == [1 / 3]
    assert ours.ndcg_at_k(3).eval_fn(*sides).scores == [1.0]


def test_rows_that_are_no_lists_are_skipped_as_there():
    assert ours.ndcg_at_k(3).eval_fn(rows("ab"), rows(["a"])) is None


def test_any_metric():
    metric = ours.make_metric("mrr@5")
    assert metric.name == "mrr_at_5"
    assert metric.eval_fn(rows(["b", "a"], ["a"]), rows(["a"], ["a"])).scores == [0.5, 1.0]


def test_a_scorer():
    scorer = ours.scorer("recall@2", expected="chunks")
    assert scorer.name == "recall_at_2"
    assert scorer(outputs=["a", "b"], expectations={"chunks": ["b", "c"]}) == 0.5


def test_mlflow_evaluate_takes_them():
    from mlflow.models.evaluation.evaluators import default

    with fastir.compat.patched("mlflow"):
        assert default.ndcg_at_k is ours.ndcg_at_k
        assert theirs.precision_at_k is ours.precision_at_k
    assert default.ndcg_at_k is not ours.ndcg_at_k
