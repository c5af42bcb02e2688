"""Costs and groups are looked up as far as a ranking is read: the same values of all forms, and what is needed."""

import random

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
METRICS = ["recall(budget=6)", "ndcg(budget=9, over_budget=skip)", "precision(budget=0, at_least_one=true)"]
COSTS = ["cost_first_rel", "cost_all_rel"]


def collection(seed, integers=False, levels=4, longest=90):
    """Judgments, a run that is in no order, in falling order or has ties, and costs of all documents."""
    rng = random.Random(seed)
    docs = [i if integers else f"d{i}é" if i % 9 == 0 else f"d{i}" for i in range(120)]
    qrels = {f"q{i}": {doc: rng.randrange(3) for doc in rng.sample(docs, 9)} for i in range(40)}
    run = {}
    for i in range(2, 45):
        ranking = {doc: float(rng.randrange(levels)) for doc in rng.sample(docs, rng.randrange(longest))}
        falling = dict(sorted(ranking.items(), key=lambda pair: -pair[1]))
        run[f"q{i}"] = falling if i % 3 else ranking
    return qrels, run, {doc: rng.choice((0, 0.5, 1, 2.25)) for doc in docs}


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input", "input_reversed"])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("levels", [2, 9, 10**6])
def test_every_form_of_ids_scores_and_costs_has_the_same_values(levels, integers, ties):
    qrels, run, costs = collection(levels, integers, levels)
    groups = {doc: {"a": cost % 1, "b": 1 - cost % 1} for doc, cost in list(costs.items())[::2]}
    options = {"ties": ties, "doc_costs": costs, "doc_groups": groups, "target": {"a": 0.25, "b": 0.75}}
    metrics = [*METRICS, *COSTS, "awrf@5", "awrf", "ndcg_awrf@30"]
    expected = fastir.evaluate(qrels, fastir.Run.from_dict(run), metrics, **options).values.tobytes()
    by_text = {str(doc): np.float32(cost) for doc, cost in costs.items()}
    whole_scores = {query: {doc: int(score) for doc, score in docs.items()} for query, docs in run.items()}
    for form, more in (
        (run, {}),
        (whole_scores, {}),
        (run, {"doc_costs": by_text}),
        (run, {"doc_costs": dict.fromkeys((*qrels, *run), costs)}),
        (run, {"score_dtype": "float32"}),
        ({query: dict(docs) for query, docs in reversed(run.items())}, {}),
    ):
        assert fastir.evaluate(qrels, form, metrics, **options | more).values.tobytes() == expected
    kept = [query for query in qrels if query in run]
    both = fastir.evaluate(qrels, run, metrics, queries="intersection", **options)
    assert both.query_ids == kept
    assert (
        both.values.tobytes() == fastir.evaluate({q: qrels[q] for q in kept}, run, metrics, **options).values.tobytes()
    )


@pytest.mark.parametrize("kind", [dict, fastir.Run.from_dict])
def test_documents_below_the_one_that_does_not_fit_need_no_cost(kind):
    qrels, run = {"q": {"a": 1, "z": 0}}, kind({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    results = fastir.evaluate(qrels, run, ["precision(budget=5)", "cost_first_rel"], doc_costs={"a": 2, "b": 4})
    assert results.to_dict()["q"] == {"precision(budget=5)": 1.0, "cost_first_rel": 2.0}
    assert fastir.evaluate(qrels, run, "cost_first_rel", doc_costs={"a": 2})["cost_first_rel"] == 2
    for metric in ("precision(budget=6)", "precision(budget=5, over_budget=skip)"):
        with pytest.raises(ValueError, match="doc_costs: document 'c' of query 'q' has no cost"):
            fastir.evaluate(qrels, run, metric, doc_costs={"a": 2, "b": 4})
    with pytest.raises(ValueError, match=r"from 0 up, got -1 \(query q, document c\)"):
        fastir.evaluate(qrels, run, "precision(budget=5)", doc_costs={"a": 2, "b": 4, "c": -1})


def test_ties_decide_which_documents_are_read():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert fastir.evaluate(qrels, run, "recall(budget=1)", doc_costs={"a": 1, "b": 1})["recall(budget=1)"] == 0
    costs = {"a": 1}
    assert fastir.evaluate(qrels, run, "recall(budget=0)", ties="input", doc_costs=costs)["recall(budget=0)"] == 0
    with pytest.raises(ValueError, match="document 'b' of query 'q' has no cost"):
        fastir.evaluate(qrels, run, "recall(budget=0)", doc_costs=costs)


def test_metrics_of_exposure_have_directions():
    from fastir.request.directions import higher_is_better

    assert [higher_is_better(name) for name in ("ee_d", "ee_r", "ee_l")] == [False, True, False]
