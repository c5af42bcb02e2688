"""Where no convention fits by itself, identify says which number of queries or which other metric gives the values."""

import json

import pytest

import fastir

QRELS = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
RUN = {"1": ["a"], "2": ["x", "b"], "3": ["y", "z", "c"]}
MEANS = dict(fastir.evaluate(QRELS, RUN, ["mrr", "ndcg@3"]))


def values(means, digits=4):
    return {name: f"{value:.{digits}f}" for name, value in means.items()}


@pytest.mark.parametrize(("number", "words"), [(4, "one more"), (2, "one fewer")])
def test_one_query_more_or_fewer(number, words):
    found = fastir.identify(QRELS, RUN, values({name: value * 3 / number for name, value in MEANS.items()}))
    queries = f"over {number} queries instead of 3: {words} than there are"
    assert found.explanations[0].sentence == f"the means of fastir (0.6111, 0.7103) {queries}"
    assert found.explanations[0].sentence in repr(found) and not len(found)
    assert found.explanations[0].values == pytest.approx([value * 3 / number for value in MEANS.values()])


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize(("side", "words"), [("qrels", "the qrels' queries"), ("run", "the run's queries")])
def test_the_number_of_queries_of_one_side(side, words):
    qrels, run = dict(QRELS), dict(RUN)
    empty = {f"more{number}": {"x": 0} if side == "qrels" else ["x"] for number in range(4)}
    (qrels if side == "qrels" else run).update(empty)
    value = sum(fastir.evaluate(QRELS, RUN, "map", convention="trec_eval-9").values[:, 0]) / 7
    found = fastir.identify(qrels, run, {"map": f"{value:.6f}"})
    told = [each.sentence for each in found.explanations]
    assert any(len(each.options) == 0 for each in found) or any(words in each for each in told)


@pytest.mark.parametrize(("reported", "metric"), [
    ("map", "r_precision"), ("MAP", "r_precision"), ("recall@2", "hit_rate@2"), ("accuracy@2", "recall@2"),
])  # fmt: skip
def test_another_metric_under_the_name(reported, metric):
    qrels = {"q": {"a": 1, "b": 1, "c": 1}, "p": {"d": 1, "e": 1}}
    run = {"q": ["a", "x", "b", "c"], "p": ["y", "d", "e"]}
    value = fastir.evaluate(qrels, run, metric)[metric]
    found = fastir.identify(qrels, run, {reported: f"{value:.4f}"})
    assert found.explanations[0].metrics == [metric]
    assert found.explanations[0].sentence == f"{metric} has the value of {reported}, {value:.4f}, under fastir"
    assert json.loads(found.to_json())["explanations"][0]["metrics"] == [metric]


def test_equal_scores_in_the_reverse_of_the_input():
    qrels = {"q": {"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}}
    run = {"q": {"c": 0.0, "e": 0.0, "b": 0.0, "d": 0.0, "a": 1.0}}
    value = fastir.evaluate(qrels, {"q": dict(reversed(run["q"].items()))}, "ndcg(gain=exp2)@5", ties="input")
    found = fastir.identify(qrels, run, {"ndcg_burges@5": f"{value['ndcg(gain=exp2)@5']:.6f}"})
    assert (found[0].convention, found[0].options) == ("fastir", {"ties": "input_reversed"})
    assert found[0].values == pytest.approx([value["ndcg(gain=exp2)@5"]])


def test_a_convention_that_fits_needs_no_explanation():
    assert fastir.identify(QRELS, RUN, values(MEANS)).explanations == []


def test_a_value_that_nothing_explains():
    found = fastir.identify(QRELS, RUN, {"mrr": "0.1234"})
    assert found.explanations == [] and "no setting gives mrr 0.1234" in found.notes
    assert "* does not round to the reported value" in repr(found)


def test_digits_say_how_many_settings_fit_by_chance():
    few, many = (fastir.identify(QRELS, RUN, values(MEANS, digits)) for digits in (1, 6))
    assert many.by_chance < few.by_chance < few.n_settings
    assert f"values of so few digits would fit about {few.by_chance:.3g} of {few.n_settings} settings" in repr(few)
    assert "fit fewer than 0.01 of" in repr(many)


def test_a_run_cannot_have_values_deeper_than_itself():
    assert "recall@1000: the run has at most 3 documents for a query" in repr(
        fastir.identify(QRELS, RUN, {"recall@1000": "1.0"})
    )
    assert fastir.identify(QRELS, RUN, {"recall@3": "1.0"}).notes == []


def test_numbers_of_a_file_that_mean_nothing_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"run,MRR,params\nr,{MEANS['mrr']:.4f},110\n")
    found = fastir.identify(QRELS, RUN, path)
    assert found.not_understood == {"params": "110"} and "means no metric: params 110" in repr(found)
    assert fastir.identify(QRELS, RUN, path, ignore=["params"]).not_understood == {}
    assert fastir.identify(QRELS, RUN, {"mrr": "0.6111", "params": "1"}, ignore="params").names == ["mrr"]
