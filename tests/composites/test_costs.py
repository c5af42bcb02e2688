"""Costs of documents: a textbook twin, the same values from every entry point, borders, and what is refused."""

import itertools
import math
import pathlib
import pickle
import random
import re

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"x": 1}, "q3": {"z": 1}}
RUN = {"q1": {"c": 4.0, "a": 3.0, "d": 2.0, "b": 1.0}, "q2": {"y": 1.0}}
COSTS = {"a": 10, "b": 20.0, "c": 5, "d": 1, "y": 7}
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def ranking(scores, ties="trec"):
    """The documents in rank order."""
    if ties == "input_reversed":
        scores = dict(reversed(scores.items()))
    if ties.startswith("input"):
        return sorted(scores, key=lambda doc: -scores[doc])
    return sorted(sorted(scores, reverse=ties == "trec"), key=lambda doc: -scores[doc])


def fitting(ranked, costs, budget, over, at_least_one):
    """The documents that a user reads."""
    total, read = 0.0, []
    for doc in ranked:
        if total + costs[doc] <= budget:
            total += costs[doc]
            read.append(doc)
        elif over == "stop":
            break
    return read or ranked[:1] * at_least_one


def twin(labels, read, metric):
    """The value of a query."""
    relevant = [doc for doc, label in labels.items() if label >= 1]
    found = sum(doc in relevant for doc in read)
    if metric == "recall":
        return found / len(relevant) if relevant else 0.0
    if metric == "precision":
        return found / len(read) if read else 0.0
    dcg = sum(max(labels.get(doc, 0), 0) / math.log2(rank + 1) for rank, doc in enumerate(read, 1))
    ideal = sorted((label for label in labels.values() if label > 0), reverse=True)
    best = sum(label / math.log2(rank + 1) for rank, label in enumerate(ideal, 1))
    return dcg / best if best else 0.0


def rank_cost(labels, ranked, costs, how):
    """What the documents to the first or the last relevant one cost."""
    relevant = {doc for doc, label in labels.items() if label >= 1}
    places = [place for place, doc in enumerate(ranked) if doc in relevant]
    if not places or (how == "all" and len(places) < len(relevant)):
        return math.nan
    return sum(costs[doc] for doc in ranked[: (places[0] if how == "first" else places[-1]) + 1])


def within(budget, names):
    """The metrics with a budget."""
    return [re.sub(r"^\w+", rf"\g<0>(budget={budget})", name) for name in names]


def collection(seed):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    qrels = {f"q{i}": {doc: rng.randrange(-1, 3) for doc in rng.sample(docs, 4)} for i in range(30)}
    run = {f"q{i}": {doc: float(rng.randrange(5)) for doc in rng.sample(docs, rng.randrange(1, 12))} for i in range(28)}
    return qrels, run, {doc: rng.choice((0, 0.5, 1, 1, 2, 7)) for doc in docs}


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input", "input_reversed"])
@pytest.mark.parametrize(("over", "least"), [*itertools.product(["stop", "skip"], [False, True])])
@pytest.mark.parametrize("budget", [0, 0.5, 2, 3.5, 1000])
def test_values_are_those_of_the_twin(budget, over, least, ties):
    qrels, run, costs = collection(3)
    names = ["recall", "precision", "ndcg"]
    options = {"ties": ties, "over_budget": over, "at_least_one": least, "doc_costs": costs}
    results = fastir.evaluate(qrels, run, within(budget, names), **options)
    for name in names:
        for query, value in results.per_query(f"{name}(budget={budget})").items():
            read = fitting(ranking(run.get(query, {}), ties), costs, budget, over, least)
            assert value == pytest.approx(twin(qrels[query], read, name), abs=1e-14)


@pytest.mark.parametrize("how", ["first", "all"])
def test_costs_of_ranks_are_those_of_the_twin(how):
    qrels, run, costs = collection(5)
    found = fastir.evaluate(qrels, run, f"cost_{how}_rel", doc_costs=costs).per_query(f"cost_{how}_rel")
    expected = {query: rank_cost(qrels[query], ranking(run.get(query, {})), costs, how) for query in qrels}
    assert found == pytest.approx(expected, nan_ok=True)
    assert any(value == value for value in found.values())
    zero = fastir.evaluate(qrels, run, f"cost_{how}_rel(no_hit=zero)", doc_costs=costs).per_query(
        f"cost_{how}_rel(no_hit=zero)"
    )
    assert zero == pytest.approx({query: 0.0 if value != value else value for query, value in expected.items()})


def positioned(labels, ranked, costs, name, scale, max_rel=1, min_rel=0):
    """tbg and u_measure of a query, as their papers have them."""
    total = value = 0.0
    for doc in ranked:
        label = min(max(labels.get(doc, 0), 0), max_rel)
        gain = max(label - min_rel, 0) / (max_rel - min_rel) if labels.get(doc, 0) > 0 else 0.0
        weight = 2 ** (-total / scale) if name == "tbg" else max(0.0, 1 - (total + costs[doc]) / scale)
        value += gain * weight
        total += costs[doc]
    return value


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input", "input_reversed"])
@pytest.mark.parametrize(("name", "scale"), [("tbg(h={})", 3), ("tbg(h={})", 224.0), ("u_measure(L={})", 9.5)])
@pytest.mark.parametrize("max_rel", [1, 2])
def test_positions_are_sums_of_costs(name, scale, max_rel, ties):
    qrels, run, costs = collection(7)
    metric = name.format(scale).replace(")", f", max_rel={max_rel})")
    for form in (run, fastir.Run.from_dict(run)):
        found = fastir.evaluate(qrels, form, [metric, "map"], doc_costs=costs, ties=ties).per_query(metric)
        for query, value in found.items():
            ranked = ranking(run.get(query, {}), ties)
            expected = positioned(qrels[query], ranked, costs, name.partition("(")[0], scale, max_rel)
            assert value == pytest.approx(expected, abs=1e-14)


def test_positions_by_hand():
    qrels, run, costs = {"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"x": 224, "a": 112, "b": 64}
    found = fastir.evaluate(qrels, run, ["tbg", "u_measure(L=448)"], doc_costs=costs).to_dict()["q"]
    assert found["tbg"] == pytest.approx(2**-1 + 2**-1.5)
    assert found["u_measure(L=448)"] == (1 - 336 / 448) + (1 - 400 / 448)
    free = fastir.evaluate(qrels, run, ["tbg", "u_measure"], doc_costs=dict.fromkeys(costs, 0))
    assert set(free.to_dict()["q"].values()) == {2.0}, "it may be above 1"
    plain = fastir.evaluate(qrels, run, ["tbg", "u_measure"])
    assert (plain.values < 1).all() and not np.array_equal(plain.values, free.values)
    nothing = {**qrels, "none": {"a": 0}}, {**run, "none": {"a": 1.0}}
    for empty, value in (("zero", 0.0), ("one", 1.0), ("skip", math.nan)):
        found = fastir.evaluate(*nothing, "tbg", doc_costs=costs, empty=empty).per_query("tbg")["none"]
        assert found == value or (found != found and value != value)
    level = fastir.evaluate({"q": {"a": 1, "b": 2}}, run, "tbg(max_rel=2)-l2", doc_costs=costs)
    assert level["tbg(max_rel=2)-l2"] == pytest.approx(2**-1.5)
    real = fastir.evaluate({"q": {"a": 0.5}}, run, "tbg", doc_costs=costs)
    assert real["tbg"] == pytest.approx(0.25)
    with pytest.raises(ValueError, match="document 'x' of query 'q' has no cost"):
        fastir.evaluate(qrels, run, "tbg", doc_costs={"a": 1, "b": 1})
    with pytest.raises(ValueError, match="gives documents of equal scores no ranks"):
        fastir.evaluate(qrels, run, "tbg", doc_costs=costs, ties="average")


def test_borders():
    def values(budget, **options):
        names = within(budget, ["recall", "precision"])
        found = fastir.evaluate(QRELS, RUN, names, doc_costs=COSTS, **options).to_dict()["q1"]
        return {name.partition("(")[0]: value for name, value in found.items()}

    assert values(4.9) == {"recall": 0.0, "precision": 0.0}
    assert values(4.9, at_least_one=True) == {"recall": 0.0, "precision": 0.0}
    assert values(15) == {"recall": 0.5, "precision": 0.5}, "a sum that equals the budget fits"
    assert values(14.9) == {"recall": 0.0, "precision": 0.0}
    assert values(14.9, over_budget="skip") == {"recall": 0.0, "precision": 0.0}
    assert values(26, over_budget="skip") == {"recall": 0.5, "precision": 1 / 3}
    assert values(0, at_least_one=True, ties="input") == {"recall": 0.0, "precision": 0.0}
    dear_first = {"q1": {"a": 2.0, "c": 1.0}}
    found = fastir.evaluate(
        QRELS, dear_first, ["recall(budget=5)", "recall(budget=5, over_budget=skip)"], doc_costs=COSTS
    )
    assert set(found.to_dict()["q1"].values()) == {0.0}
    found = fastir.evaluate(QRELS, dear_first, ["recall(budget=4, at_least_one=true)"], doc_costs=COSTS)
    assert found.to_dict()["q1"] == {"recall(budget=4, at_least_one=true)": 0.5}
    free = dict.fromkeys(COSTS, 0)
    names = ["recall", "ndcg", "precision", "precision@2", "ndcg@3-l2"]
    plain = fastir.evaluate(QRELS, RUN, names).values
    assert fastir.evaluate(QRELS, RUN, within(0, names), doc_costs=free).values.tobytes() == plain.tobytes()
    assert fastir.evaluate(QRELS, RUN, within(1e300, names), doc_costs=COSTS).values.tobytes() == plain.tobytes()
    assert fastir.evaluate(QRELS, RUN, names, doc_costs=COSTS).values.tobytes() == plain.tobytes()
    cut = fastir.evaluate(QRELS, RUN, names, max_depth=2).values
    assert (
        fastir.evaluate(QRELS, RUN, within(99, names), max_depth=2, doc_costs=COSTS).values.tobytes() == cut.tobytes()
    )


def test_costs_by_hand():
    found = fastir.evaluate(QRELS, RUN, ["cost_first_rel", "cost_all_rel"], doc_costs=COSTS)
    assert found.to_dict()["q1"] == {"cost_first_rel": 5 + 10, "cost_all_rel": 5 + 10 + 1 + 20}
    assert np.isnan(found.values[1:]).all()


def test_every_entry_point_has_the_same_values(tmp_path):
    names = [
        "recall(budget=16)",
        "ndcg(budget=36)@3",
        "precision(budget=15, over_budget=skip)",
        "cost_first_rel",
        "map",
    ]
    expected = fastir.evaluate(QRELS, RUN, names, doc_costs=COSTS)
    table = {
        "query_id": [query for query, docs in RUN.items() for _ in docs],
        "doc_id": [doc for docs in RUN.values() for doc in docs],
        "score": [score for docs in RUN.values() for score in docs.values()],
        "tokens": [float(COSTS[doc]) for docs in RUN.values() for doc in docs],
    }
    path = tmp_path / "run.txt"
    fastir.Run.from_dict(RUN).save(path)
    lines = tmp_path / "costs.tsv"
    lines.write_text("".join(f"{doc}\t{cost}\n" for doc, cost in COSTS.items()))
    by_query = {query: {doc: COSTS[doc] for doc in docs} for query, docs in RUN.items()}
    evaluator = fastir.Evaluator(QRELS, names, doc_costs=COSTS)
    for results in (
        fastir.evaluate(fastir.Qrels.from_dict(QRELS), fastir.Run.from_dict(RUN), names, doc_costs=by_query),
        fastir.evaluate(QRELS, table, names, doc_costs="tokens"),
        fastir.evaluate(QRELS, table, names, doc_costs={doc: np.float32(cost) for doc, cost in COSTS.items()}),
        fastir.evaluate(QRELS, path, names, doc_costs=pathlib.Path(lines)),
        fastir.evaluate(QRELS, RUN, names, doc_costs=COSTS, n_threads=2, score_dtype="float32"),
        evaluator.evaluate(RUN),
        pickle.loads(pickle.dumps(evaluator)).evaluate(table),
        fastir.evaluate_many(QRELS, {"a": RUN}, names, doc_costs=COSTS)["a"],
    ):
        assert results.values.tobytes() == expected.values.tobytes()
    numbers = {1: {10: 1, 11: 2}}, {1: {11: 2.0, 12: 1.0, 10: 0.5}}, {"10": 5, "11": 1, "12": 3}
    assert fastir.evaluate(*numbers[:2], "recall(budget=4)", doc_costs=numbers[2])["recall(budget=4)"] == 0.5


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ({"a": 1}, ValueError, "document 'c' of query 'q1' has no cost"),
        ({**COSTS, "d": -1}, ValueError, r"from 0 up, got -1 \(query q1, document d\)"),
        ({**COSTS, "d": math.nan}, ValueError, r"got nan \(query q1, document d\)"),
        ({**COSTS, "d": math.inf}, ValueError, "got inf"),
        ({**COSTS, "d": "5"}, TypeError, "got str '5'"),
        ({**COSTS, "d": True}, TypeError, "got bool"),
        ({**COSTS, "d": np.ones(2)}, TypeError, r"got ndarray .* \(query q1, document d\)"),
        ({**COSTS, "d": 10**400}, OverflowError, "too large"),
        ({"q1": COSTS}, ValueError, "document 'y' of query 'q2' has no cost"),
        ({"q1": COSTS, "q2": 5}, TypeError, "query 'q2'"),
        ("tokens", TypeError, "names a column of a table; this run is a dict"),
        (5, TypeError, "doc_costs must map ids to costs"),
        (None, fastir.UnknownMetricError, "needs costs of documents, doc_costs="),
    ],
)
def test_costs_that_are_wrong_are_refused(costs, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(QRELS, RUN, "recall(budget=5)", doc_costs=costs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "average"}, "ties='average' gives documents of equal scores no ranks"),
        ({"ties": "optimistic"}, "ties='optimistic' gives"),
        ({"judged_only": True}, "judged_only drops documents"),
        ({"average": "micro"}, "average='micro' does not go with a budget"),
    ],
)
def test_options_without_a_meaning_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fastir.evaluate(QRELS, RUN, "recall(budget=5)", doc_costs=COSTS, **options)
    for budget in ("-1", "nan", "none"):
        with pytest.raises(fastir.UnknownMetricError, match="budget must be a number from 0"):
            fastir.evaluate(QRELS, RUN, f"recall(budget={budget})", doc_costs=COSTS)


def test_what_knows_no_costs_refuses_a_budget():
    name = "recall(budget=5)"
    with pytest.raises(ValueError, match="reads costs of documents, which labels do not show"):
        fastir.Evaluator(QRELS, name, doc_costs=COSTS).explain(RUN, "q1")
    with pytest.raises(fastir.UnknownMetricError, match="needs costs of documents"):
        fastir.Evaluator(QRELS, "map").judged_rankings(RUN).evaluate(name)
    with pytest.raises(fastir.UnknownMetricError, match="needs costs of documents"):
        fastir.evaluate_ranked([1, 0], [0, 2], name)
    with pytest.raises(fastir.UnknownMetricError, match="not put together for metrics of costed documents"):
        fastir.Evaluator(QRELS, name, doc_costs=COSTS).partial()
    with pytest.raises(ValueError, match="has bounds of one run alone"):
        fastir.bounds(QRELS, RUN, name, doc_costs=COSTS, against=RUN)
