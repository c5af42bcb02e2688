"""The picture of a tuning shows every setting, the chosen one, and what is within noise of it."""

import pytest

import fastir

pytest.importorskip("matplotlib")
from fastir import plots

QRELS = {f"q{i}": {"a": 1, "b": i % 2} for i in range(8)}
RUNS = {
    "lexical": {f"q{i}": {"a": 2.0, "b": 1.0 + i % 3} for i in range(8)},
    "dense": {f"q{i}": {"b": 0.4, "a": 0.3 - 0.1 * (i % 2), "c": 0.35} for i in range(8)},
    "late": {f"q{i}": {"c": 0.4, "a": 0.1 * i} for i in range(8)},
}


def two():
    return fastir.tune(QRELS, {name: RUNS[name] for name in ("lexical", "dense")}, "mrr", grid=0.1, folds=4)


def test_two_weights_are_a_curve():
    tuning = two()
    ax = tuning.plot()
    lines = ax.get_lines()
    assert list(lines[0].get_xdata()) == pytest.approx([i / 10 for i in range(11)])
    assert list(lines[0].get_ydata()) == [trial.value for trial in tuning.trials]
    assert lines[1].get_xdata()[0] == tuning.weights["lexical"]
    assert lines[2].get_ydata()[0] == tuning.value
    assert len(lines[3].get_xdata()) == 4
    assert ax.get_xlabel() == "weight of lexical"


def test_a_parameter_is_a_curve_and_axes_may_be_given():
    tuning = fastir.tune(QRELS, RUNS, "mrr", "rrf", folds=2)
    first = plots.tuning(tuning)
    assert first.get_xlabel() == "k"
    assert plots.tuning(tuning, first) is first


def test_three_weights_are_a_triangle():
    tuning = fastir.tune(QRELS, RUNS, "mrr", grid=0.25, folds=2)
    ax = plots.tuning(tuning)
    assert len(ax.collections[0].get_offsets()) == 15
    assert {text.get_text() for text in ax.texts} == set(RUNS)


def test_what_has_no_picture_is_said():
    with pytest.raises(TypeError, match="expected a Tuning"):
        plots.tuning([])
    learnt = fastir.tune(QRELS, RUNS, "mrr", "mapfuse", folds=2)
    with pytest.raises(ValueError, match="nothing was searched"):
        learnt.plot()
    four = fastir.tune(QRELS, {**RUNS, "more": RUNS["late"]}, "mrr", grid=0.5, folds=2)
    with pytest.raises(ValueError, match="weights of 4 runs"):
        four.plot()
