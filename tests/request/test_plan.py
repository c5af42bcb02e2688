"""Equal requests share one plan, and what equals a default is checked as what does not.

Also of: compiler.
"""

import re

import numpy as np
import pytest
from rankings_made import QRELS as FIXED_QRELS
from rankings_made import RUN as FIXED_RUN

import fastir
from fastir.declared import Param
from fastir.request.conventions import CONVENTIONS
from fastir.request.names import read
from fastir.request.options import check_options
from fastir.request.plan import compile_settings

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 1.0, "c": 0.5}}


@pytest.mark.parametrize(("given", "same"), [
    ({"rel_level": np.int8(2)}, {"rel_level": 2}),
    ({"max_depth": np.uint64(3), "n_threads": np.int64(1)}, {"max_depth": 3, "n_threads": 1}),
    ({"score_dtype": np.float32}, {"score_dtype": "float32"}),
    ({"judged_only": np.True_}, {"judged_only": True}),
    ({"choices": {"gain": {1: 2, 2: 3}}}, {"choices": {"gain": "{1:2, 2:3}"}}),
    ({"choices": {"empty": "SKIP"}}, {"choices": {"empty": "skip"}}),
    ({"convention": CONVENTIONS["ranx"]}, {"convention": CONVENTIONS["ranx"]}),
], ids=str)  # fmt: skip
def test_equal_requests_share_one_plan(given, same):
    first, second = (
        compile_settings(("ndcg",), check_options(**{"choices": {}, **options})) for options in (given, same)
    )
    assert first is second


def test_numbers_that_equal_a_default_are_still_checked():
    for level in ("1", None):
        with pytest.raises(TypeError, match="rel_level must be a number, got"):
            fastir.evaluate(QRELS, RUN, "mrr", rel_level=level)
    for level in (0.0, -0.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="rel_level"):
            fastir.evaluate(QRELS, RUN, "mrr", rel_level=level)


# ---- sizes of collections --------------------------------------------------------------------------------------------
SIZED_QRELS = {"q": {"a": 1, "b": 0, "c": 1}, "p": {"a": 1}}
SIZED_RUN = {"q": {"a": 3.0, "x": 2.0, "c": 1.0}, "p": {"a": 1.0}}
SIZED = [card for card in fastir.metrics() if any(param.required for param in card.params)]
NAMES = [card.name for card in SIZED]

# Each way to a value, as a function of the name: three documents of q are ranked.
WAYS = {
    "evaluate": lambda name: fastir.evaluate(SIZED_QRELS, SIZED_RUN, name),
    "evaluate_many": lambda name: fastir.evaluate_many(SIZED_QRELS, {"one": SIZED_RUN}, name),
    "evaluate_lists": lambda name: fastir.evaluate_lists([["a", "c"]], [["a", "x", "c"]], name),
    "evaluate_ranked": lambda name: fastir.evaluate_ranked([1, 0, 1], [0, 3], name),
    "evaluate_scores": lambda name: fastir.evaluate_scores([1, 0, 1], [3.0, 2.0, 1.0], name, group=[3]),
    "evaluate_topk": lambda name: fastir.evaluate_topk([[0, 1, 2]], [[0, 2]], name),
    "evaluate_matrix": lambda name: fastir.evaluate_matrix([[3.0, 2.0, 1.0]], [[0, 2]], name),
    "judged_rankings": lambda name: fastir.judged_rankings(SIZED_QRELS, SIZED_RUN).evaluate(name),
    "partial": lambda name: fastir.Evaluator(SIZED_QRELS, name, validate="judged").partial(SIZED_RUN).result(),
    "explain": lambda name: fastir.explain(SIZED_QRELS, SIZED_RUN, "q", [name]),
    "explain_ranked": lambda name: fastir.explain_ranked([1, 0, 1], name),
    "compare": lambda name: fastir.compare(SIZED_QRELS, {"one": SIZED_RUN, "two": SIZED_RUN}, name, n_resamples=100),
    "custom": lambda name: fastir.evaluate(
        SIZED_QRELS, SIZED_RUN, [name, fastir.custom_metric("own", lambda found: found.num_ret)]
    ),
    "bounds": lambda name: fastir.bounds(SIZED_QRELS, SIZED_RUN, name),
}


def test_these_metrics_need_it():
    assert NAMES == ["wss", "ncg_share", "hit_rate_share", "loss_er", "fallout"]
    assert [Param("p", default, "").required for default in (None, 0, "")] == [True, False, False]
    assert [card.spelled("@0.5") for card in SIZED[:1]] == ["wss(n_docs=100000)@0.5"]


@pytest.mark.parametrize("name", ["wss", "wss@0.5", "ncg_share@0.2-l2", "loss_er(b=5)@3", "fallout@2"])
def test_without_it_the_metric_is_an_error_that_says_what_to_write(name):
    with pytest.raises(fastir.UnknownMetricError, match=re.escape(f"metric '{name}' needs n_docs, ")) as caught:
        fastir.Evaluator(SIZED_QRELS, ["map", name])
    written = re.search(r"pass it as in '(.*)'$", str(caught.value))[1]
    assert fastir.Evaluator(SIZED_QRELS, written).evaluate(SIZED_RUN)[written] is not None
    [before], [after] = read(name), read(written)
    assert after == before._replace(text=written, params=before.params | {"n_docs": 100_000})


def test_a_name_says_what_it_needs_before_it_is_given():
    told = fastir.metric("wss@0.5")
    assert told.parameters["n_docs"] is None and re.search(r"\n  n_docs +must be given  ", str(told))
    assert fastir.metric("wss(n_docs=7)").parameters["n_docs"] == 7


def test_the_keyword_gives_it_to_all_of_them_and_a_parameter_wins():
    names = [*NAMES, "fallout(n_docs=50)"]
    found = fastir.evaluate(SIZED_QRELS, SIZED_RUN, names, n_docs=20)
    written = [*(f"{name}(n_docs=20)" for name in NAMES), "fallout(n_docs=50)"]
    assert list(dict(found).values()) == list(dict(fastir.evaluate(SIZED_QRELS, SIZED_RUN, written)).values())
    assert (
        fastir.evaluate(SIZED_QRELS, SIZED_RUN, "fallout", n_docs=20, convention="trec_eval-10")["fallout"]
        == found["fallout"]
    )
    assert fastir.evaluate(SIZED_QRELS, SIZED_RUN, "utility", convention="trec_eval-10")["utility"] == 1.0
    assert "n_docs=20" in str(fastir.evaluate(SIZED_QRELS, SIZED_RUN, names, n_docs=20).provenance)


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
        fastir.evaluate(SIZED_QRELS, run, "fallout(n_docs=3)")
    assert fastir.evaluate(SIZED_QRELS, run, "fallout(n_docs=4)").per_query("fallout(n_docs=4)")["q"] == 1.0


def test_queries_without_relevant_documents_leave_the_mean_as_they_do_elsewhere():
    qrels, run = {**SIZED_QRELS, "none": {"z": 0}}, {**SIZED_RUN, "none": {"z": 1.0}}
    kept = fastir.evaluate(SIZED_QRELS, SIZED_RUN, "wss(n_docs=9)@0.5")
    assert fastir.evaluate(qrels, run, "wss(n_docs=9,empty=skip)@0.5").values[:2].tolist() == kept.values.tolist()
    assert fastir.evaluate(qrels, run, "wss(n_docs=9)@0.5").per_query("wss(n_docs=9)@0.5")["none"] == 0.0


def test_the_reading_that_does_not_reach_the_recall_is_that_of_all_documents():
    """So no ranking gains by leaving out its last relevant document."""
    without = fastir.evaluate(SIZED_QRELS, {"q": {"a": 1.0}, "p": {"a": 1.0}}, "wss(n_docs=10)@1.0")
    late = {"q": {"a": 9.0, **{f"x{i}": 8.0 - i / 10 for i in range(8)}, "c": 1.0}, "p": {"a": 1.0}}
    assert without.to_dict()["q"] == fastir.evaluate(SIZED_QRELS, late, "wss(n_docs=10)@1.0").to_dict()["q"]


# ---- rankings with a fixed order -------------------------------------------------------------------------------------
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_another_order_is_an_error_that_says_so():
    judged = fastir.judged_rankings(FIXED_QRELS, FIXED_RUN)
    for ties in ("input", "average"):
        with pytest.raises(ValueError, match=rf"ties='{ties}', but these rankings were judged with ties='trec'"):
            judged.evaluate("map", ties=ties)
    with pytest.raises(ValueError, match=r"convention ranx: ties='input', but these rankings were judged with"):
        judged.evaluate("map", convention="ranx")
    with pytest.raises(ValueError, match=r"score_dtype='float32', but"):
        judged.evaluate("map", convention="trec_eval-9")
    with pytest.raises(ValueError, match="ties='average' has no single order"):
        fastir.judged_rankings(FIXED_QRELS, FIXED_RUN, ties="average")
    with pytest.raises(fastir.UnknownMetricError, match="'hole' needs the ids"):
        judged.evaluate(["map", "hole"])
    with pytest.raises(ValueError, match="the qrels have groups"):
        fastir.judged_rankings({"q": {"1": {"a": 1}}}, {"q": {"a": 1.0}})
