"""identify() finds the setting behind a table of values, and says none where there is none.

`python tests/identify/hidden.py` tries 200 tables; here are a few of them.
"""
# Also of: columns, answers.

import json
import random

import numpy as np
import pytest
from hidden_settings import collection, place_of, table, wrong_table

import fastir
from fastir.analyses.identify.search import simplest
from fastir.analyses.identify.settings import Setting

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
QRELS, RUN = collection(random.Random(7), 12, 120)


def show(means, digits=4):
    return {name: f"{value:.{digits}f}" for name, value in means.items()}


@pytest.mark.parametrize("seed", range(5))
def test_a_hidden_setting_is_among_the_first_answers(seed):
    _, place, setting = table(seed)
    assert 1 <= place <= 3, setting


@pytest.mark.parametrize("seed", [1000, 1001])
def test_a_wrong_value_has_no_answer_but_nearest_settings(seed):
    found = wrong_table(seed)
    assert len(found) == 0 and list(found) == [] and len(found.nearest) == 3
    assert repr(found).startswith(f"none of {found.n_settings} settings; the nearest:")
    assert " *" in repr(found)


NAMES = ["ndcg@10", "map", "recall@100"]


@pytest.mark.parametrize(("convention", "options"), [
    ("beir", {}), ("mteb", {"gain": "exp2"}), ("trulens", {"rel_level": 2}), ("sklearn", {"queries": "intersection"}),
    ("lightgbm", {"ties": "average", "empty": "zero"}), ("trec_eval-9", {"max_depth": 20, "exclude": "query_id"}),
])  # fmt: skip
def test_every_setting_that_is_told_gives_the_values(convention, options):
    """Each convention with its options, handed to evaluate, has what the answer says, and what was asked for."""
    means = dict(fastir.evaluate(QRELS, RUN, NAMES, convention=convention, **options))
    found = fastir.identify(QRELS, RUN, show(means))
    assert place_of(found, means)
    for answer in found:
        for name, chosen in [(answer.convention, answer.options), *answer.equal]:
            again = dict(fastir.evaluate(QRELS, RUN, NAMES, convention=name, **chosen))
            np.testing.assert_allclose(list(again.values()), answer.values, rtol=0, atol=1e-12)
            assert show(again) == show(means)


def test_a_simple_setting_stands_before_those_that_depart_from_it():
    means = fastir.evaluate(QRELS, RUN, NAMES, convention="beir")
    found = fastir.identify(QRELS, RUN, show(means))
    costs = [len(answer.options) for answer in found]
    assert costs == sorted(costs)
    assert (found[0].convention, found[0].options) == ("beir", {})
    assert found[0].sentence.endswith("; unlike fastir's default: a document called like its query counts")


def test_definitions_of_papers_are_found_under_their_names():
    qrels = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"d": 1, "e": 2}, "q3": {"f": 0}}
    run = {
        "q1": {"x": 9.0, "a": 8.0, "y": 7.0, "b": 6.0, "z": 5.0, "c": 4.0},
        "q2": {"u": 9.0, "v": 8.0, "e": 7.0, "w": 6.0},
        "q3": {"f": 1.0, "g": 0.5},
    }
    ngcf = fastir.evaluate(qrels, run, ["ndcg@2", "ndcg@4"], gain="binary", ideal="retrieved", max_depth=4)
    names = [answer.name for answer in fastir.identify(qrels, run, show(ngcf, 6))]
    assert "NGCF" in names
    found = fastir.identify(qrels, run, show(ngcf, 6))
    assert "the first version of LightGCN's paper" in next(each.sentence for each in found if each.name == "NGCF")
    code = fastir.evaluate(qrels, run, "ndcg", gain="exp2", empty="skip", judged_only=True)
    assert fastir.identify(qrels, run, show(code, 6))[0].name == "CodeSearchNet"


def test_names_of_papers_stand_for_all_that_they_may_mean():
    means = fastir.evaluate(QRELS, RUN, ["ndcg@20", "hit_rate@5"])
    found = fastir.identify(QRELS, RUN, {"NDCG": f"{means['ndcg@20']:.6f}", "Recall@5": f"{means['hit_rate@5']:.6f}"})
    assert found[0].convention == "fastir" and found[0].options == {}
    assert found.names == ["NDCG", "Recall@5"]


def test_several_runs_narrow_it():
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    runs = {"a": RUN, "b": other}
    means = {name: dict(fastir.evaluate(QRELS, run, "ndcg@5", convention="beir")) for name, run in runs.items()}
    values = {name: show(each) for name, each in means.items()}
    both, one = fastir.identify(QRELS, runs, values), fastir.identify(QRELS, RUN, values["a"])
    assert 1 <= len(both) <= len(one)
    assert place_of(both, {"a": means["a"]["ndcg@5"], "b": means["b"]["ndcg@5"]})


def test_duplicates_are_a_departure_where_there_are_some():
    qrels = {"q": {"a": 1, "b": 2}}
    rows = {"query_id": ["q"] * 4, "doc_id": ["x", "a", "a", "b"], "score": [4.0, 3.0, 2.0, 1.0]}
    value = fastir.evaluate(qrels, rows, "map", duplicates="last")["map"]
    found = fastir.identify(qrels, rows, {"map": f"{value:.6f}"})
    told = [options for each in found for options in (each.options, *(options for _, options in each.equal))]
    assert {"duplicates": "last"} in told


@pytest.mark.parametrize(("values", "options", "error", "said"), [
    ({"ndcg@10": "23.41"}, {}, ValueError, r"outside of the range of ndcg@10, 0 to 1; .*then give 0.2341"),
    ({"ndgc@10": "0.2"}, {}, fastir.UnknownMetricError, "did you mean 'ndcg@10'"),
    ({"map": "0.23"}, {"digits": 3}, ValueError, "shows 2 decimals, and digits=3"),
    ({"map": 0.2345}, {"digits": 2}, ValueError, "has 4 decimals, more than digits=2"),
    ({"map": float("nan")}, {}, ValueError, "not a finite number"), ({}, {}, ValueError, "values must be a dict"),
    ({"map": None}, {}, TypeError, "must be a number or text"),
    ({"map": "high"}, {}, ValueError, "'high' is not a number"),
    ([0.2], {}, TypeError, "values must be a dict such as .* or a path, got list"),
    ({"map": "0.2"}, {"ties": "trec"}, TypeError, "identify has no option 'ties'"),
    ({"x": {"map": "0.2"}, "y": {"map": "0.2"}}, {}, ValueError, r"give the runs as a dict, or one row="),
    ({"x": {"map": "0.2"}}, {"row": "z"}, ValueError, "row 'z' is not among the rows 'x'"),
])  # fmt: skip
def test_what_means_nothing_is_an_error(values, options, error, said):
    with pytest.raises(error, match=said):
        fastir.identify(QRELS, RUN, values, **options)


def test_a_run_that_matches_nothing_is_an_error():
    with pytest.raises(fastir.NoOverlapError):
        fastir.identify(QRELS, {"other": {"d": 1.0}}, {"map": "0.2"})


def test_it_says_how_far_it_is():
    seen = []
    fastir.identify(QRELS, RUN, {"map": "0.2"}, progress=lambda done, number: seen.append((done, number)))
    assert seen[-1][0] == seen[-1][1] == len(seen)


def test_answers_leave_as_tables_and_json():
    found = fastir.identify(QRELS, RUN, show(fastir.evaluate(QRELS, RUN, "map")))
    assert "reported" in found.to_table("markdown") and '"answers"' in found.to_json()
    assert found == fastir.identify(QRELS, RUN, show(fastir.evaluate(QRELS, RUN, "map")))
    assert repr(found[0]).startswith("<Answer: fastir")


def test_nearest_settings_say_what_moves_them():
    """Each change of one option has the values that evaluate gives under it; those that come nearest stand first."""
    found = fastir.identify(QRELS, RUN, {"ndcg@5": "0.1234", "map": "0.2345"})
    assert not len(found) and found.nearest[0].moves and not found.nearest[1].moves
    nearest = found.nearest[0]
    for move in nearest.moves:
        options = {**nearest.options, move.option: move.value}
        means = dict(fastir.evaluate(QRELS, RUN, ["ndcg@5", "map"], convention=nearest.convention, **options))
        assert move.values == pytest.approx(list(means.values()), abs=1e-10), move
        assert move.values != pytest.approx(nearest.values, abs=1e-12)
    off = [abs(move.values[0] - 0.1234) + abs(move.values[1] - 0.2345) for move in nearest.moves]
    assert off == sorted(off)
    assert f"{nearest.moves[0].option}={nearest.moves[0].value} would change row 1: " in repr(found)
    assert json.loads(found.to_json())["nearest"][0]["moves"][0]["option"] == nearest.moves[0].option


def test_a_sentence_names_what_differs_on_these_data_alone():
    """LightGBM has ties, gain, ideal, empty and more of its own: here only gains change a value."""
    qrels, run = {"q": {"a": 2, "b": 1}, "r": {"c": 1}}, {"q": {"b": 2.0, "a": 1.0}, "r": {"c": 1.0}}
    value = fastir.evaluate(qrels, run, "ndcg", convention="lightgbm")["ndcg"]
    found = fastir.identify(qrels, run, {"ndcg": f"{value:.6f}"})
    assert all(each.sentence.endswith("; unlike fastir's default: a label gains itself") for each in found)
    same = fastir.identify(qrels, run, {"ndcg": f"{fastir.evaluate(qrels, run, 'ndcg')['ndcg']:.6f}"})
    assert "yours differs" not in same[0].sentence


def test_libraries_read_the_answers_as_a_table():
    pyarrow = pytest.importorskip("pyarrow")
    found = fastir.identify(QRELS, RUN, show(fastir.evaluate(QRELS, RUN, "map")))
    assert pyarrow.table(found).column_names == ["setting", "map"]
    assert list(found) == [found[0], *found[1:]]


def test_of_several_runs_the_queries_are_shared_only_if_all_share_them():
    """The second run lacks a query, so that a mean over its own queries is another one."""
    whole = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}}
    runs = {"whole": whole, "part": {"q2": {"b": 1.0}}}
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    found = fastir.identify(qrels, runs, {"whole": {"mrr": "0.7500"}, "part": {"mrr": "1.0000"}})
    told = [options for each in found for options in (each.options, *(options for _, options in each.equal))]
    assert {"queries": "intersection"} in told
    values = {"whole": {"mrr": "0.7500"}, "part": {"mrr": "0.5000"}}
    for each in fastir.identify(qrels, runs, values):
        for name, chosen in [(each.convention, each.options), *each.equal]:
            means = fastir.evaluate_many(qrels, runs, "mrr", convention=name, **chosen)
            assert [means["whole"]["mrr"], means["part"]["mrr"]] == [0.75, 0.5]


def test_of_each_convention_only_the_simplest_settings_are_told():
    plain, deep = Setting("beir", ()), Setting("beir", (("max_depth", 10),))
    two = [Setting("mteb", (("max_depth", depth),)) for depth in (10, 20)]
    far = Setting("mteb", (("max_depth", 10), ("rel_level", 2)))
    named = Setting("fastir", (("gain", "exp2"), ("ideal", "full")), "a paper")
    assert simplest([plain, deep, *two, far, named]) == [plain, *two, named]


def test_a_value_of_deeper_rankings_is_said_to_be_impossible_where_nothing_fits():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}
    text = "map: the run has at most 1 documents for a query; a value of rankings of 1000 documents cannot come out"
    assert text in " ".join(repr(fastir.identify(qrels, run, {"map": "0.777"})).split())
    assert "cannot come out" not in " ".join(repr(fastir.identify(qrels, run, {"map": "0.500"})).split())
