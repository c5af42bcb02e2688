"""Haystack's evaluators of documents: worked by hand, in a pipeline, and compared with Haystack's own `run`."""

import random

import pytest

haystack = pytest.importorskip("haystack")
from haystack.components import evaluators as theirs  # noqa: E402

import fastir.compat  # noqa: E402
from fastir.compat import haystack as ours  # noqa: E402

NAMES = sorted(ours.__all__)
MODES = ("single_hit", "multi_hit")


def documents(*contents, **fields):
    return [haystack.Document(content=content, **fields) for content in contents]


def test_a_repeated_document_counts_once():
    found = ours.DocumentMAPEvaluator().run([documents("a", "b")], [documents("a", "a", "b")])
    assert found == {"score": (1 + 2 / 3) / 2, "individual_scores": [(1 + 2 / 3) / 2]}
    assert ours.DocumentNDCGEvaluator().run([documents("a")], [documents("a", "a")])["score"] == 1.0
    assert ours.DocumentRecallEvaluator("multi_hit").run([documents("a", "b")], [documents("a", "a")])["score"] == 0.5


def evaluators_of(module):
    classes = [(name, {}) for name in NAMES if "Recall" not in name]
    classes += [("DocumentRecallEvaluator", {"mode": mode}) for mode in MODES]
    fields = ("content", "id", "meta.page", "meta.no.such")
    return [getattr(module, n)(document_comparison_field=field, **more) for n, more in classes for field in fields]


def questions(rng):
    def some(n, scored):
        return [
            haystack.Document(
                content=rng.choice((None, "", *"abcdefgh")),
                meta={"page": rng.choice((1, 2, "1"))} if rng.random() < 0.8 else {},
                score=rng.choice((0.5, 1.0, 3.0)) if scored else None,
            )
            for _ in range(rng.randint(0, n))
        ]

    return [some(4, rng.random() < 0.5) for _ in range(20)], [some(9, False) for _ in range(20)]


@pytest.mark.parametrize("seed", range(5))
def test_haystack_itself(seed):
    truth, retrieved = questions(random.Random(seed))
    for own, their in zip(evaluators_of(ours), evaluators_of(theirs), strict=True):
        found, wanted = own.run(truth, retrieved), their.run(truth, retrieved)
        assert found.keys() == wanted.keys()
        assert found["individual_scores"] == pytest.approx(wanted["individual_scores"], abs=1e-15)
        assert found["score"] == pytest.approx(wanted["score"], abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_haystack_s(name):
    evaluator, their = getattr(ours, name)(), getattr(theirs, name)()
    for sides in (([], []), ([[]], [[], []])):
        with pytest.raises(ValueError) as wanted:
            their.run(*sides)
        with pytest.raises(ValueError, match=str(wanted.value)):
            evaluator.run(*sides)


def test_installed_they_run_in_a_pipeline():
    pipeline = haystack.Pipeline()
    with fastir.compat.patched("haystack"):
        assert theirs.DocumentNDCGEvaluator.run is ours.DocumentNDCGEvaluator.run
        pipeline.add_component("ndcg", theirs.DocumentNDCGEvaluator())
        pipeline.add_component("recall", ours.DocumentRecallEvaluator())
        sides = {"ground_truth_documents": [documents("a")], "retrieved_documents": [documents("b", "a")]}
        found = pipeline.run({"ndcg": sides, "recall": sides})
    assert found["ndcg"]["score"] == pytest.approx(0.6309297535714575)
    assert found["recall"]["score"] == 1.0
    assert theirs.DocumentNDCGEvaluator.run is not ours.DocumentNDCGEvaluator.run
