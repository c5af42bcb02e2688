"""`queries` as a collection of ids: the results of qrels that have only these queries, wherever `evaluate` is meant."""

import gen
import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
QRELS, RUN = gen.collection(26, queries=12)
OTHER = {query_id: dict(zip(docs, reversed(docs.values()), strict=True)) for query_id, docs in RUN.items()}
RUNS = {"one": RUN, "other": OTHER}
CHOSEN = [query_id for query_id in QRELS if query_id in RUN][::-2]
ONLY = fastir.Qrels.from_dict(QRELS).filter(queries=CHOSEN)
METRICS = ["ndcg@10", "map", "mrr", "num_ret", "num_rel"]
NUMBERED = dict(enumerate(QRELS.values()))
NUMBERED_RUN = {number: RUN.get(query_id, {}) for number, query_id in enumerate(QRELS)}


def same(got, expected):
    assert got == expected
    assert list(got) == list(expected)


def series(ids):
    return pytest.importorskip("pandas").Series(ids, index=range(7, 7 + len(ids)))


def polars_series(ids):
    return pytest.importorskip("polars").Series(ids)


KINDS = [list, tuple, set, frozenset, dict.fromkeys, np.array, iter, series, polars_series, lambda ids: [*ids, *ids]]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_collection_of_ids_is_taken(kind):
    same(fastir.evaluate(QRELS, RUN, METRICS, queries=kind(CHOSEN)), fastir.evaluate(ONLY, RUN, METRICS))
    few = [7, 2, 3]
    expected = fastir.evaluate({number: NUMBERED[number] for number in sorted(few)}, NUMBERED_RUN, METRICS)
    same(fastir.evaluate(NUMBERED, NUMBERED_RUN, METRICS, queries=kind(few)), expected)


def test_qrels_and_a_run_are_collections_of_query_ids():
    for ids in (ONLY, fastir.Run.from_dict({query_id: {} for query_id in CHOSEN})):
        same(fastir.evaluate(QRELS, RUN, METRICS, queries=ids), fastir.evaluate(ONLY, RUN, METRICS))


WAYS = {
    "Evaluator": lambda qrels, **options: fastir.Evaluator(qrels, METRICS, **options).evaluate(RUN),
    "evaluate_many": lambda qrels, **options: fastir.evaluate_many(qrels, RUNS, METRICS, **options),
    "judged_rankings": lambda qrels, **options: fastir.judged_rankings(qrels, RUN, **options).evaluate(METRICS),
    "bounds": lambda qrels, **options: fastir.bounds(qrels, RUN, METRICS[:3], max_label=4, **options),
    "difference": lambda qrels, **options: fastir.bounds(qrels, RUN, "mrr", against=OTHER, max_label=4, **options),
    "curve": lambda qrels, **options: fastir.precision_recall_curve(qrels, RUN, **options),
    "leave_one_out": lambda qrels, **options: fastir.leave_one_out(qrels, RUNS, METRICS[:3], **options),
    "hole": lambda qrels, **options: fastir.leave_one_out(qrels, RUNS, ["hole@5", "mrr"], **options),
    "ties": lambda qrels, **options: fastir.leave_one_out(qrels, RUNS, "mrr", ties="optimistic", **options),
    "partial": lambda qrels, **options: (
        fastir.Evaluator(qrels, METRICS, **options)
        .partial([(q, doc, score) for q, docs in RUN.items() for doc, score in docs.items()])
        .result()
    ),
    "weights": lambda qrels, **options: fastir.evaluate(
        qrels, RUN, METRICS, weights={query_id: 1 + place / 3 for place, query_id in enumerate(QRELS)}, **options
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_chosen_queries_are_those_of_filtered_qrels(way):
    assert way(QRELS, queries=CHOSEN) == way(ONLY, queries="qrels")


@pytest.mark.parametrize("way", [way for name, way in WAYS.items() if name != "weights"])
def test_ids_that_are_not_in_the_qrels_are_named(way):
    with pytest.raises(fastir.NoOverlapError, match="queries: query 'nowhere' is not in the qrels"):
        way(QRELS, queries=[*CHOSEN, "nowhere"])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_ids_are_refused(way):
    with pytest.raises(fastir.NoOverlapError, match="queries: the collection of query ids is empty"):
        way(QRELS, queries=[])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_str_is_a_rule(way):
    with pytest.raises(ValueError, match="queries"):
        way(QRELS, queries=CHOSEN[0])


@pytest.mark.parametrize("queries", [7, 1.5, max, [["q1"]], [{}]], ids=repr)
def test_what_is_no_collection_of_ids_is_a_type_error(queries):
    with pytest.raises(TypeError, match=r"queries must be one of .*, or a collection of query ids"):
        fastir.evaluate(QRELS, RUN, "mrr", queries=queries)


def test_ids_of_another_type_are_unknown():
    with pytest.raises(fastir.NoOverlapError, match="query 7 is not in the qrels, which have 'first'"):
        fastir.evaluate(QRELS, RUN, "mrr", queries=[7])


def test_judged_rankings_of_all_queries_can_be_evaluated_on_some():
    judged = fastir.judged_rankings(QRELS, RUN, queries="qrels")
    expected = fastir.evaluate(ONLY, RUN, METRICS)
    got = judged.evaluate(METRICS, queries=set(CHOSEN))
    assert got.to_dict() == expected.to_dict() and dict(got) == dict(expected)
    assert got.query_ids == expected.query_ids and got.status == expected.status
    with pytest.raises(fastir.NoOverlapError, match="queries: query 'nowhere' is not in the qrels"):
        judged.evaluate(METRICS, queries=["nowhere"])


def test_a_chosen_query_that_the_run_lacks_counts():
    results = fastir.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, "mrr", queries=["q2", "q1"])
    assert results["mrr"] == 0.5 and results.query_ids == ["q1", "q2"]
    assert results.status == {"q1": "evaluated", "q2": "missing"}


def test_judgments_of_other_queries_are_not_counted_as_removed():
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    runs = {"x": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}, "y": {"q1": {"b": 1.0}, "q2": {}}}
    assert fastir.leave_one_out(qrels, runs, "mrr").removed == {"x": 2, "y": 1}
    assert fastir.leave_one_out(qrels, runs, "mrr", queries=["q1"]).removed == {"x": 1, "y": 1}


def test_groups_and_samples_can_be_chosen_from():
    groups = {query_id: {"s1": docs, "s2": dict(list(docs.items())[::2])} for query_id, docs in QRELS.items()}
    only = {query_id: docs for query_id, docs in groups.items() if query_id in CHOSEN}
    metrics = ["alpha_ndcg@5", "st_recall@5"]
    same(fastir.evaluate(groups, RUN, metrics, queries=CHOSEN), fastir.evaluate(only, RUN, metrics))
    strata = {query_id: {doc: len(doc) % 2 for doc in docs} for query_id, docs in QRELS.items()}
    sample = fastir.Qrels.from_dict(QRELS, strata=strata)
    expected = fastir.evaluate(sample.filter(queries=CHOSEN), RUN, ["xinfap"])
    same(fastir.evaluate(sample, RUN, ["xinfap"], queries=CHOSEN), expected)
    preferences = {query_id: {"judge": {"part": {"a": 2, "b": 1}}} for query_id in QRELS}
    only = {query_id: judges for query_id, judges in preferences.items() if query_id in CHOSEN}
    expected = fastir.evaluate(only, RUN, "prefs_pair")
    same(fastir.evaluate(preferences, RUN, "prefs_pair", queries=CHOSEN), expected)


def test_a_pickled_evaluator_has_its_queries():
    import pickle

    evaluator = pickle.loads(pickle.dumps(fastir.Evaluator(QRELS, METRICS, queries=CHOSEN)))
    same(evaluator.evaluate(RUN), fastir.evaluate(ONLY, RUN, METRICS))
