"""Lists of ids in rank order, without scores: as dicts by query and by position, with every kind of repeat.

Then sides that do not fit together, and what is no list.
"""

import numpy as np
import pytest
from common import UNEVEN
from id_lists_given import EXPECTED, FEW, IDS, QRELS, RELEVANT, RETRIEVED, RUN, same_bits

import fastir

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies
pytestmark = UNEVEN
CARDS = [card for card in fastir.metrics() if not card.sampled]
NAMES = [card.spelled() for card in CARDS] + [card.spelled(f"@{k}") for card in CARDS if card.cutoff for k in (1, 3)]
DOCS = st.integers(0, 12).map("d{}".format)
RANKINGS = st.lists(st.lists(DOCS, max_size=15), min_size=2, max_size=2)
JUDGMENTS = st.lists(st.dictionaries(DOCS, st.integers(-2, 4), max_size=8), min_size=2, max_size=2)


def scored(ranking, rule):
    """The textbook: a list as {doc_id: score}, its copies removed, or named like documents that nobody knows."""
    if rule == "once":
        ranking = [f"copy {i}" if doc in ranking[:i] else doc for i, doc in enumerate(ranking)]
    kept = [*dict.fromkeys(reversed(ranking))][::-1] if rule == "last" else [*dict.fromkeys(ranking)]
    return {doc: float(len(kept) - i) for i, doc in enumerate(kept)}


def bounds(name):
    """The least and the largest value of a metric, by its card; an empty ranking may be 0."""
    named, _, cutoff = name.partition("@")
    found = next(one for one in CARDS if one.spelled() == named)
    return min(0.0, found.low), float(cutoff or 15) if named == "hits" else found.high


@settings(max_examples=40, deadline=None)
@given(RANKINGS, JUDGMENTS, st.sampled_from(["first", "once", "last", "max"]))
def test_a_list_is_worth_what_its_textbook_scores_are_worth(rankings, judgments, rule):
    run = {query: scored(ranking, rule) for query, ranking in enumerate(rankings)}
    expected = fastir.evaluate(dict(enumerate(judgments)), run, NAMES)
    found = fastir.evaluate_lists(rankings, judgments, NAMES, duplicates=rule)
    assert same_bits(found, expected)
    assert found.status == expected.status
    for name in ("in_both", "no_relevant", "nothing_judged", "unjudged_share", "queries_with_ties"):
        assert getattr(found.report, name) == getattr(expected.report, name), name
    copies = sum(len(ranking) - len(set(ranking)) for ranking in rankings)
    assert found.report.repairs.get("duplicates", (0,))[0] == copies


@settings(max_examples=60, deadline=None)
@given(RANKINGS, JUDGMENTS, st.sampled_from(["first", "once"]))
def test_no_metric_of_a_list_leaves_its_range(rankings, judgments, rule):
    """Whatever repeats in it; every metric of the catalogue, at every cutoff."""
    results = fastir.evaluate_lists(rankings, judgments, NAMES, duplicates=rule)
    for name, values in zip(results.names, results.values.T, strict=True):
        low, high = bounds(name)
        assert ((values >= low) & (values <= high + 1e-12) | np.isnan(values)).all(), (name, values)


@pytest.mark.parametrize("metric", ["ndcg", "recall", "map", "P@3", "ndcg@10", "hit_rate", "f1"])
def test_a_relevant_chunk_that_comes_back_is_worth_nothing_more(metric):
    once, first = (
        fastir.evaluate_lists([["a", "a", "a"]], [["a"]], metric, duplicates=rule)[metric] for rule in ("once", "first")
    )
    assert once == fastir.evaluate_lists([["a", "x", "y"]], [["a"]], metric)[metric]
    assert first == fastir.evaluate_lists([["a"]], [["a"]], metric)[metric]
    assert 0 < once <= 1 and 0 < first <= 1


def test_ranks_close_up_below_a_copy_or_not():
    ranks = {
        rule: fastir.evaluate_lists([["x", "x", "d"]], [["d"]], "mrr", duplicates=rule)["mrr"]
        for rule in ("first", "max", "last", "once")
    }
    assert ranks == {"first": 1 / 2, "max": 1 / 2, "last": 1 / 2, "once": 1 / 3}
    assert fastir.evaluate_lists([["d", "x", "d"]], [["d"]], "mrr", duplicates="last")["mrr"] == 1 / 2


@pytest.mark.parametrize(
    "convention", ["ir_measures", "ranx", "trec_eval-9", "beir", "sentence-transformers", "sklearn"]
)
def test_every_convention_takes_lists(convention):
    names = ["ndcg@10", "map"]
    run = {query: scored(ranking, "first") for query, ranking in RUN.items()}
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in QRELS.items()}
    expected = fastir.evaluate(qrels, run, names, convention=convention)
    assert same_bits(fastir.evaluate(QRELS, RUN, names, convention=convention), expected)


def test_depth_is_counted_after_copies_are_removed():
    options = {"max_depth": 2, "duplicates": "first"}
    assert fastir.evaluate_lists([["a", "a", "d"]], [["d"]], "num_rel_ret", **options)["num_rel_ret"] == 1


def test_chunks_of_documents_are_judged_as_these():
    parents = {"D#1": "D", "D#2": "D", "E#1": "E"}
    ranking = ["x", "D#2", "D#1", "E#1"]
    results = fastir.evaluate_lists([ranking], [["D", "E"]], ["map", "num_ret"], parents=parents)
    assert results.values.tolist() == [[(1 / 2 + 2 / 3) / 2, 3.0]]
    results = fastir.evaluate_lists([ranking], [["D", "E"]], ["map", "num_ret"], parents=parents, duplicates="once")
    assert results.values.tolist() == [[(1 / 2 + 2 / 4) / 2, 4.0]]
    numbered = {1: 10, 2: 10, 3: 30}
    assert fastir.evaluate_lists([[5, 2, 1, 3]], [[10, 30]], "mrr", parents=numbered)["mrr"] == 1 / 2


@pytest.mark.parametrize("aggregate", ["sum", "mean"])
def test_what_needs_scores_is_refused(aggregate):
    with pytest.raises(ValueError, match=f"aggregate='{aggregate}' needs scores, and the run is a list"):
        fastir.evaluate({"q": ["D"]}, {"q": ["D#1", "D#2"]}, "map", parents={"D#1": "D"}, aggregate=aggregate)


@pytest.mark.parametrize("aggregate", ["max", "sum", "mean", "median"])
@pytest.mark.parametrize("duplicates", [None, "first", "once"])
@pytest.mark.parametrize("parents", [None, {"d1": "D", "d3": "D"}, lambda ids: np.array([doc[0] for doc in ids])])
def test_aggregate_is_that_of_evaluate(aggregate, duplicates, parents):
    options = {"aggregate": aggregate, "duplicates": duplicates, "parents": parents}
    outcomes = []
    for call in (
        lambda: fastir.evaluate_lists(RETRIEVED, RELEVANT, FEW, query_ids=IDS, **options),
        lambda: fastir.evaluate(QRELS, RUN, FEW, **options),
    ):
        try:
            results = call()
        except ValueError as error:
            outcomes.append((type(error), str(error)))
        else:
            outcomes.append((results.values.tobytes(), results.report, results.status))
    assert outcomes[0] == outcomes[1]
    assert (outcomes[0][0] is ValueError) == (aggregate != "max")


def test_two_dicts_are_paired_by_query_id():
    relevant = {"q2": "d9", "q1": {"d1", "d3"}}
    retrieved = {"q1": ["d2", "d1"], "q2": ("d9",)}
    results = fastir.evaluate_lists(retrieved, relevant, FEW, weights={"q1": 3.0, "q2": 1.0})
    assert results == fastir.evaluate(relevant, retrieved, FEW, weights={"q1": 3.0, "q2": 1.0})
    assert fastir.evaluate_lists({1: [7]}, {1: [7]}, "mrr").per_query("mrr") == {1: 1.0}
    assert fastir.evaluate_lists({"retrieved": [["a"]], "relevant": [["a"]]}, None, "mrr")["mrr"] == 1.0
    with pytest.warns(fastir.FastirWarning, match="1 query of the qrels is missing from the run"):
        fastir.evaluate_lists({"q1": ["d1"]}, relevant, "mrr")
    with pytest.raises(ValueError, match=r"query_ids: .* whose keys are the query ids"):
        fastir.evaluate_lists(retrieved, relevant, "mrr", query_ids=["q1", "q2"])
    with pytest.raises(ValueError, match="no column 'mine'"):
        fastir.evaluate_lists(retrieved, relevant, "mrr", columns={"retrieved": "mine"})


def test_qrels_take_lists_sets_dicts_and_single_ids_side_by_side():
    mixed = {"q1": {"d1", "d3"}, "q2": ("d9", "d2", "d9"), "q3": "d7", "q4": {"é": 1, "d5": 1}}
    assert same_bits(fastir.evaluate(mixed, RUN, FEW), EXPECTED)
    assert fastir.Qrels.from_dict(mixed)["q2"] == {"d9": 1, "d2": 1}
    assert fastir.Qrels.from_dict({"q": frozenset("ba")})["q"] == {"a": 1, "b": 1}
    assert fastir.Qrels.from_dict({"q": np.array([3, 1, 3]), "r": 7}).to_dict() == {"q": {3: 1, 1: 1}, "r": {7: 1}}


def test_a_dict_is_a_table_where_it_has_columns_else_its_keys_are_queries():
    table = {"qid": ["q1", "q1"], "docno": ["x", "d1"], "score": [2.0, 1.0]}
    assert fastir.evaluate({"q1": ["d1"]}, table, "mrr")["mrr"] == 1 / 2
    named = {"Q": ["q1"], "D": ["d1"], "S": [2.0]}
    assert (
        fastir.evaluate({"q1": ["d1"]}, named, "mrr", columns={"query_id": "Q", "doc_id": "D", "score": "S"})["mrr"]
        == 1
    )
    assert fastir.evaluate({"score": ["d1"]}, {"score": ["d1"]}, "mrr")["mrr"] == 1
    with pytest.raises(ValueError, match="no column 'score' or 'prediction' or 'similarity' or 'rank'"):
        fastir.evaluate({"q1": ["d1"]}, {"qid": ["q1"], "docno": ["d1"]}, "mrr")
    with pytest.raises(fastir.NoOverlapError, match="the qrels have 'q1', the run has 'Q'"):
        fastir.evaluate({"q1": ["d1"]}, named, "mrr")


def test_integers_of_any_size_are_ids():
    assert fastir.evaluate_lists([[3, 2**70, 2**71]], [[2**70, 3]], "map")["map"] == 1
    numbers = np.array([[5, 4, 3], [2, 1, 0]])
    expected = fastir.evaluate_lists(numbers.tolist(), [[4], [0, 9]], FEW)
    assert same_bits(fastir.evaluate_lists(numbers, [[4], [0, 9]], FEW), expected)
    assert same_bits(fastir.evaluate_lists(numbers[:, ::-1][:, ::-1].astype(np.uint8), [4, [0, 9]], FEW), expected)
    assert same_bits(fastir.evaluate_lists(numbers.astype(str), ["4", ["0", "9"]], FEW), expected)


def test_ids_with_surrogates_and_subclasses_of_str():
    class Id(str):
        pass

    odd = "caf\udce9"
    assert fastir.evaluate_lists([["x", odd, Id("d")]], [[Id(odd), "d"]], "num_rel_ret")["num_rel_ret"] == 2


def test_the_caller_s_lists_are_as_they_were():
    run, qrels = {"q": ["a", "b", "a"]}, {"q": ["b", "b"]}
    fastir.evaluate(qrels, run, FEW, duplicates="first")
    assert (run, qrels) == ({"q": ["a", "b", "a"]}, {"q": ["b", "b"]})


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda ids: np.array(ids, object)])
def test_any_ordered_sequence_is_a_ranking(kind):
    assert same_bits(fastir.evaluate(QRELS, {query: kind(ids) for query, ids in RUN.items()}, FEW), EXPECTED)


def test_weights_and_query_ids_by_position():
    results = fastir.evaluate_lists(RETRIEVED, RELEVANT, FEW, query_ids=IDS, weights=[1, 0, 0, 0])
    assert results.per_query("mrr") == dict(zip(IDS, [1.0, 0.5, 0.0, 1.0], strict=True))
    assert list(results.query_ids) == IDS
    assert results["mrr"] == 1.0


@pytest.mark.parametrize(("ranking", "error", "message"), [
    ("abc", TypeError, "query 'q' must map to .* in rank order, got str 'abc'"),
    ({"a", "b"}, TypeError, "query 'q' .* got a set, which has no order"),
    ((doc for doc in "ab"), TypeError, "query 'q' .* got a generator, which can be read only once"),
    (5, TypeError, "query 'q' must map to .* in rank order, got int 5"),
    (["a", None], TypeError, "at rank 2 of query 'q' must be a str, got NoneType None"),
    ([float("nan")], TypeError, "at rank 1 of query 'q' must be a str, got float nan"),
    ([["a"]], TypeError, r"at rank 1 of query 'q' must be a str, got list \['a'\]"),
    ([("a", "b")], TypeError, r"of query 'q' holds \('a', 'b'\), expected ids in rank order; with scores it is"),
    ([{"id": "a"}], TypeError, r"of query 'q' holds {'id': 'a'}, expected ids in rank order"),
    (["a", 1], TypeError, "at rank 2 of query 'q' must be a str, got int 1"),
    ([1, "a"], TypeError, "never match|at rank 2 of query 'q' must be an int like those before it, got str 'a'"),
    ([True], TypeError, "at rank 1 of query 'q' must be a str, got bool True"),
    ([b"a"], TypeError, "at rank 1 of query 'q' must be a str, got bytes"),
    (np.array([1.0]), TypeError, "at rank 1 of query 'q' must be a str, got float 1.0"),
    (np.array([["a"]]), TypeError, "at rank 1 of query 'q' must be a str, got list"),
    (["b", "a", "c", "a"], fastir.DuplicateError, "duplicate document 'a' in query 'q', at ranks 2 and 4"),
    ([1, 2], TypeError, "document ids are int such as 1, but those of the qrels are str"),
])  # fmt: skip
def test_what_is_no_ranking_is_named(ranking, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate({"q": ["a"]}, {"q": ranking}, "mrr")


@pytest.mark.parametrize(("judged", "message"), [
    (None, "query 'q' must map to a dict .* or to a list or set of the relevant ids, got NoneType None"),
    ((doc for doc in "ab"), "query 'q' must map to .* got generator"),
    (["a", None], "document id 2 of query 'q' must be a str, got NoneType None"),
    ([["a"]], "document id 1 of query 'q' must be a str, got list"),
    (["a", 1], "document id 2 of query 'q' must be a str, got int 1"),
    ({"a", 1}, "document id .* of query 'q' must be"),
    (0.5, "query 'q' must map to .* got float 0.5"),
])  # fmt: skip
def test_what_is_no_judgment_is_named(judged, message):
    with pytest.raises(TypeError, match=message):
        fastir.evaluate({"q": judged}, {"q": ["a"]}, "mrr")


@pytest.mark.parametrize(("retrieved", "relevant", "options", "error", "message"), [
    ([["a"]], [["a"], ["b"]], {}, ValueError, "retrieved has 1 query but relevant has 2"),
    ((x for x in [["a"]]), [["a"]], {}, TypeError, "retrieved must be a sequence .* can be read only once"),
    (["a"], [["a"]], {}, TypeError, "query 0 must map to .* in rank order, got str 'a'"),
    ([["a"]], {("a",)}, {}, TypeError, "relevant must be a sequence .* got a set, which has no order"),
    ([["a"]], {"q": ["a"]}, {}, TypeError, "relevant must be a sequence .* evaluate.. takes lists by query id"),
    ([["a"], ["b"]], [["a"], ["b"]], {"query_ids": ["x", "x"]}, ValueError, "duplicate 'x', as entries 1 and 2"),
    ([["a"]], [["a"]], {"query_ids": ["x", "y"]}, ValueError, "query_ids has 2 entries, retrieved 1"),
    ([["a"]], [["a"]], {"query_ids": 3}, TypeError, "query_ids must be a sequence"),
    ([["a"], {"b": 1.0}], [["a"], ["b"]], {}, TypeError, "query 1 .* got a dict, where the first"),
    ([], [], {}, fastir.NoOverlapError, "the qrels are empty"),
])  # fmt: skip
def test_sides_that_do_not_fit_together(retrieved, relevant, options, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate_lists(retrieved, relevant, "mrr", **options)
