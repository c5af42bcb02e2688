"""Metrics that cannot do without the size of the collection: it must be given, and hold what is ranked and relevant."""

import re

import pytest

import fastir
from fastir.declared import Param
from fastir.request.names import read

QRELS = {"q": {"a": 1, "b": 0, "c": 1}, "p": {"a": 1}}
RUN = {"q": {"a": 3.0, "x": 2.0, "c": 1.0}, "p": {"a": 1.0}}
SIZED = [card for card in fastir.metrics() if any(param.required for param in card.params)]
NAMES = [card.name for card in SIZED]

# Each way to a value, as a function of the name: three documents of q are ranked.
WAYS = {
    "evaluate": lambda name: fastir.evaluate(QRELS, RUN, name),
    "evaluate_many": lambda name: fastir.evaluate_many(QRELS, {"one": RUN}, name),
    "evaluate_lists": lambda name: fastir.evaluate_lists([["a", "c"]], [["a", "x", "c"]], name),
    "evaluate_ranked": lambda name: fastir.evaluate_ranked([1, 0, 1], [0, 3], name),
    "evaluate_scores": lambda name: fastir.evaluate_scores([1, 0, 1], [3.0, 2.0, 1.0], name, group=[3]),
    "evaluate_topk": lambda name: fastir.evaluate_topk([[0, 1, 2]], [[0, 2]], name),
    "evaluate_matrix": lambda name: fastir.evaluate_matrix([[3.0, 2.0, 1.0]], [[0, 2]], name),
    "judged_rankings": lambda name: fastir.judged_rankings(QRELS, RUN).evaluate(name),
    "partial": lambda name: fastir.Evaluator(QRELS, name, validate="judged").partial(RUN).result(),
    "explain": lambda name: fastir.explain(QRELS, RUN, "q", [name]),
    "explain_ranked": lambda name: fastir.explain_ranked([1, 0, 1], name),
    "compare": lambda name: fastir.compare(QRELS, {"one": RUN, "two": RUN}, name, n_resamples=100),
    "custom": lambda name: fastir.evaluate(
        QRELS, RUN, [name, fastir.custom_metric("own", lambda found: found.num_ret)]
    ),
    "bounds": lambda name: fastir.bounds(QRELS, RUN, name),
}


def test_these_metrics_need_it():
    assert NAMES == ["wss", "ncg_share", "hit_rate_share", "loss_er", "fallout"]
    assert [Param("p", default, "").required for default in (None, 0, "")] == [True, False, False]
    assert [card.spelled("@0.5") for card in SIZED[:1]] == ["wss(n_docs=100000)@0.5"]


@pytest.mark.parametrize("name", ["wss", "wss@0.5", "ncg_share@0.2-l2", "loss_er(b=5)@3", "fallout@2"])
def test_without_it_the_metric_is_an_error_that_says_what_to_write(name):
    with pytest.raises(fastir.UnknownMetricError, match=re.escape(f"metric '{name}' needs n_docs, ")) as caught:
        fastir.Evaluator(QRELS, ["map", name])
    written = re.search(r"pass it as in '(.*)'$", str(caught.value))[1]
    assert fastir.Evaluator(QRELS, written).evaluate(RUN)[written] is not None
    [before], [after] = read(name), read(written)
    assert after == before._replace(text=written, params=before.params | {"n_docs": 100_000})


def test_a_name_says_what_it_needs_before_it_is_given():
    told = fastir.metric("wss@0.5")
    assert told.parameters["n_docs"] is None and re.search(r"\n  n_docs +must be given  ", str(told))
    assert fastir.metric("wss(n_docs=7)").parameters["n_docs"] == 7


def test_the_keyword_gives_it_to_all_of_them_and_a_parameter_wins():
    names = [*NAMES, "fallout(n_docs=50)"]
    found = fastir.evaluate(QRELS, RUN, names, n_docs=20)
    written = [*(f"{name}(n_docs=20)" for name in NAMES), "fallout(n_docs=50)"]
    assert list(dict(found).values()) == list(dict(fastir.evaluate(QRELS, RUN, written)).values())
    assert fastir.evaluate(QRELS, RUN, "fallout", n_docs=20, convention="trec_eval-10")["fallout"] == found["fallout"]
    assert fastir.evaluate(QRELS, RUN, "utility", convention="trec_eval-10")["utility"] == 1.0
    assert "n_docs=20" in str(fastir.evaluate(QRELS, RUN, names, n_docs=20).provenance)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_a_collection_that_is_too_small_is_an_error_that_names_the_query(way, name):
    small = f"{name}(n_docs=2)"
    with pytest.raises(ValueError, match=rf"metric '{re.escape(small)}': n_docs=2 is less than .* \(query [q0]\)$"):
        WAYS[way](small)
    WAYS[way](f"{name}(n_docs=9)")


def test_a_collection_of_what_was_judged_lacks_what_is_ranked_besides():
    """Two documents of p are ranked, and one was judged."""
    judged = {"q": {"a": 1, "b": 0, "c": 1}}
    run = {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}
    found = fastir.evaluate(judged, run, ["wss@1.0", "fallout@1"], n_docs="judged")
    assert [found["wss@1.0"], found["fallout@1"]] == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"n_docs=judged is less than .* \(query p\)"):
        fastir.evaluate({**judged, "p": {"a": 1}}, {**run, "p": {"a": 1.0, "b": 0.5}}, "loss_er", n_docs="judged")


def test_documents_that_are_not_relevant_must_have_room_beside_the_relevant_ones():
    """Three documents, two of them relevant, of which one is ranked with two others: there must be four."""
    run = {"q": {"a": 3.0, "x": 2.0, "y": 1.0}, "p": {}}
    with pytest.raises(ValueError, match=r"'fallout\(n_docs=3\)': n_docs=3 is less than .* \(query q\)"):
        fastir.evaluate(QRELS, run, "fallout(n_docs=3)")
    assert fastir.evaluate(QRELS, run, "fallout(n_docs=4)").per_query("fallout(n_docs=4)")["q"] == 1.0


def test_queries_without_relevant_documents_leave_the_mean_as_they_do_elsewhere():
    qrels, run = {**QRELS, "none": {"z": 0}}, {**RUN, "none": {"z": 1.0}}
    kept = fastir.evaluate(QRELS, RUN, "wss(n_docs=9)@0.5")
    assert fastir.evaluate(qrels, run, "wss(n_docs=9,empty=skip)@0.5").values[:2].tolist() == kept.values.tolist()
    assert fastir.evaluate(qrels, run, "wss(n_docs=9)@0.5").per_query("wss(n_docs=9)@0.5")["none"] == 0.0


def test_the_reading_that_does_not_reach_the_recall_is_that_of_all_documents():
    """So no ranking gains by leaving out its last relevant document."""
    without = fastir.evaluate(QRELS, {"q": {"a": 1.0}, "p": {"a": 1.0}}, "wss(n_docs=10)@1.0")
    late = {"q": {"a": 9.0, **{f"x{i}": 8.0 - i / 10 for i in range(8)}, "c": 1.0}, "p": {"a": 1.0}}
    assert without.to_dict()["q"] == fastir.evaluate(QRELS, late, "wss(n_docs=10)@1.0").to_dict()["q"]
