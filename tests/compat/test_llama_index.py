"""LlamaIndex's metrics of retrieval compared with its own `compute`."""

import random

import pytest

theirs = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")

import fastir.compat  # noqa: E402
from fastir.compat import llama_index as ours  # noqa: E402

NAMES = sorted(theirs.METRIC_REGISTRY.keys() - {"cohere_rerank_relevancy"})


def computed(module, name, retrieved, expected, **options):
    return module.METRIC_REGISTRY[name](**options).compute(retrieved_ids=retrieved, expected_ids=expected)


@pytest.mark.parametrize("name", NAMES)
def test_llama_index_itself(name):
    rng = random.Random(1)
    for _ in range(100):
        retrieved, expected = rng.sample("abcdefghij", rng.randint(1, 9)), rng.sample("abcdefghij", rng.randint(1, 4))
        if name in ("precision", "recall", "mrr", "hit_rate"):
            retrieved += rng.choices(retrieved, k=2)
        own, their = (computed(module, name, retrieved, expected) for module in (ours, theirs))
        assert type(own) is type(their)
        assert own.score == pytest.approx(their.score, abs=1e-15)
    assert own.metadata == their.metadata


@pytest.mark.parametrize("name", ["ap", "ndcg", "recall"])
def test_a_repeated_id_counts_once(name):
    assert computed(theirs, "ndcg", ["a", "a"], ["a"]).score > 1
    assert computed(ours, name, ["a", "a"], ["a", "a"]).score == 1.0
    assert computed(ours, "hit_rate", ["a", "a"], ["a", "b"], use_granular_hit_rate=True).score == 0.5


def test_the_granular_mrr_is_llama_index_s_when_installed_too():
    own = ours.MRR(use_granular_mrr=True)
    assert own.compute(retrieved_ids=["a", "b"], expected_ids=["a", "b"]).score == 0.75
    with fastir.compat.patched("llama_index"):
        assert theirs.MRR.compute is ours.MRR.compute
        assert theirs.MRR(use_granular_mrr=True).compute(retrieved_ids=["a", "b"], expected_ids=["b"]).score == 0.5


@pytest.mark.parametrize("name", NAMES)
def test_install_replaces_compute(name):
    """It is a method of the stand-in: as a field of pydantic's, LlamaIndex's own was put in its own place."""
    metric = theirs.METRIC_REGISTRY[name]
    original = metric.compute
    assert original.__module__ == theirs.__name__
    with fastir.compat.patched("llama_index"):
        assert metric.compute.__module__ == ours.__name__
    assert metric.compute is original


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sides", [([], ["a"]), (["a"], []), (None, ["a"]), (["a"], None)])
def test_missing_ids_are_an_error(name, sides):
    with pytest.raises(ValueError, match="Retrieved ids and expected ids must be provided"):
        computed(ours, name, *sides)


def test_names_are_resolved():
    assert ours.resolve_metrics(["mrr", "ap"]) == [ours.MRR, ours.AveragePrecision]
    assert all(issubclass(ours.METRIC_REGISTRY[name], theirs.METRIC_REGISTRY[name]) for name in NAMES)
    with pytest.raises(ValueError, match="Invalid metric name: no"):
        ours.resolve_metrics(["no"])
