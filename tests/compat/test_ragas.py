"""Ragas' metrics by ids compared with its own arithmetic."""

import asyncio
import math
import random

import pytest

theirs = pytest.importorskip("ragas.metrics")

import fastir.compat  # noqa: E402
from fastir.compat import ragas as ours  # noqa: E402

NAMES = ("IDBasedContextPrecision", "IDBasedContextRecall")


def score(module, name, retrieved, reference):
    from ragas.dataset_schema import SingleTurnSample

    sample = SingleTurnSample(retrieved_context_ids=retrieved, reference_context_ids=reference)
    return asyncio.run(getattr(module, name)()._single_turn_ascore(sample, None))


@pytest.mark.parametrize("name", NAMES)
def test_ragas_itself(name):
    rng = random.Random(1)
    for _ in range(60):
        retrieved, reference = rng.choices("0123456789", k=rng.randint(0, 6)), rng.sample(range(10), rng.randint(0, 3))
        found, wanted = (score(module, name, retrieved, reference) for module in (ours, theirs))
        assert found == wanted or (math.isnan(found) and math.isnan(wanted))


@pytest.mark.parametrize("name", NAMES)
def test_missing_ids_are_an_error(name):
    with pytest.raises(ValueError, match="lacks retrieved_context_ids or reference_context_ids"):
        score(ours, name, None, ["a"])


def test_installed():
    with fastir.compat.patched("ragas"):
        assert score(theirs, "IDBasedContextPrecision", ["a", "a", "b"], ["a"]) == 0.5
