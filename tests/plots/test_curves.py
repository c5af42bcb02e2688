"""Pictures of curves: each line is what was computed, lines on one another can be told apart, labels are readable."""

import random

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")

from pictures import all_texts, apart, drawn, texts  # noqa: E402
from plotted import collection  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402
from fastir.analyses.explain.ranked import rank_weights  # noqa: E402
from fastir.plots import style  # noqa: E402

RNG = random.Random(4)
QRELS = {f"q{number}": {f"d{doc}": RNG.choice((0, 0, 1, 2)) for doc in range(20)} for number in range(15)}
RUNS = {name: {q: {doc: RNG.random() for doc in docs} for q, docs in QRELS.items()} for name in ("bm25", "dense")}
METRICS = ["mrr", "dcg", "rbp.8", "err"]


def legend(ax):
    return texts(ax.get_legend().get_texts())


def test_the_raw_curve_has_a_point_for_every_rank():
    ax = drawn(plots.precision_recall(QRELS, RUNS, raw=True))
    for line, run in zip(ax.lines, RUNS.values(), strict=True):
        points = fastir.precision_recall_curve(QRELS, run).at_ranks()
        assert list(line.get_xdata()) == points.recall.tolist() and list(line.get_ydata()) == points.precision.tolist()
        assert len(points.rank) == 20
    assert (ax.get_xlabel(), ax.get_ylabel(), legend(ax)) == ("recall", "precision", list(RUNS))
    deeper = drawn(plots.precision_recall(QRELS, iter(RUNS.items()), raw=True, max_depth=5))
    assert [len(line.get_xdata()) for line in deeper.lines] == [5, 5]


def test_the_worth_of_ranks():
    ax = drawn(plots.rank_weights(METRICS, k=20))
    weights = rank_weights(METRICS, 20)
    assert [list(line.get_ydata()) for line in ax.lines] == [column.tolist() for column in weights.values()]
    assert list(ax.lines[0].get_ydata()) == [1 / rank for rank in range(1, 21)]
    assert legend(ax) == METRICS and list(ax.lines[0].get_xdata()) == list(range(1, 21))
    for shown in (ax.lines, ax.get_legend().get_lines()):
        assert len({line._unscaled_dash_pattern for line in shown}) == 4, "mrr and err lie on one another"
    solid, *others = sorted(ax.lines, key=lambda line: line.get_zorder())
    assert solid.get_color() == ax.lines[0].get_color(), "a line without gaps would cover the others"
    assert all(line.get_zorder() > solid.get_zorder() for line in others)
    assert all(float(tick).is_integer() for tick in ax.get_xticks())
    few = drawn(plots.rank_weights("rbp", k=5))
    assert texts(few.get_xticklabels()) == ["1", "2", "3", "4", "5"] and legend(few) == ["rbp"]


def test_a_metric_of_lists_against_its_cutoff():
    lists = {"A": [5, 2, 4, 0, 1], "B": [2, 0, 5, 1, 4], "short": [4, 5]}
    ax = drawn(plots.ranked_cutoffs(lists, "dcg"))
    for line, labels in zip(ax.lines, lists.values(), strict=True):
        values = [fastir.evaluate_ranked(labels, [0, len(labels)], "dcg", max_depth=k)["dcg"] for k in range(1, 6)]
        assert list(line.get_ydata()) == values
    assert (legend(ax), ax.get_ylabel()) == (list(lists), "dcg@k") and texts(ax.get_xticklabels()) == list("12345")
    judged = drawn(plots.ranked_cutoffs({"A": [3, 2, 3, 0, 1, 2]}, "ndcg", ideal_labels=[3, 2, 3, 0, 1, 2, 3, 2]))
    assert judged.lines[0].get_ydata()[5] == 0.785002371969948


def test_the_legend_is_sorted_by_value_on_request_and_colours_stay():
    lists = {"low": [0, 0, 1], "high": [1, 0, 0], "mid": [0, 1, 0]}
    plain, by_value = (drawn(plots.ranked_cutoffs(lists, sort=sort)) for sort in (False, True))
    assert (legend(plain), legend(by_value)) == (["low", "high", "mid"], ["high", "mid", "low"])
    for ax in (plain, by_value):
        assert [line.get_color() for line in ax.lines] == list(style.COLOURS[:3])
    shown = dict(zip(legend(by_value), by_value.get_legend().get_lines(), strict=True))
    assert shown["low"].get_color() == style.COLOURS[0]
    last = {run: result["ndcg@100"] for run, result in fastir.evaluate_many(QRELS, RUNS, "ndcg@100").items()}
    assert legend(drawn(plots.cutoffs(QRELS, RUNS, sort=True))) == sorted(last, key=last.get, reverse=True)
    points = {run: fastir.precision_recall_curve(QRELS, RUNS[run]).at_ranks().precision.mean() for run in RUNS}
    by_area = drawn(plots.precision_recall(QRELS, RUNS, raw=True, sort=True))
    assert legend(by_area) == sorted(points, key=points.get, reverse=True)


def test_a_line_without_values_is_the_last():
    assert style.highest_first([0.1, float("nan"), 0.3, 0.1]) == [2, 0, 3, 1]


def test_they_draw_where_they_are_told():
    figure, axes = matplotlib.pyplot.subplots(1, 3)
    assert [
        plots.precision_recall(QRELS, RUNS, axes[0], raw=True),
        plots.rank_weights(METRICS, ax=axes[1]),
        plots.ranked_cutoffs({"A": [1, 0]}, ax=axes[2]),
    ] == list(axes)
    assert all(ax.figure is figure for ax in axes)
    plots.rank_weights(["map", "recall"], axes[1], k=9)
    assert len(axes[1].lines) == 6


def test_labels_of_lines_do_not_cover_one_another():
    for ax in (
        drawn(plots.rank_weights([f"rbp(p=0.{tenths})" for tenths in range(1, 10)])),
        drawn(plots.ranked_cutoffs({number: [1] * 30 for number in range(20)})),
    ):
        assert apart(ax, ax.get_legend().get_texts())


@pytest.mark.parametrize(("draw", "error", "message"), [
    (lambda: plots.rank_weights("mrr", k=0), ValueError, "k: the last rank must be positive"),
    (lambda: plots.rank_weights("mrr", k=2.5), TypeError, "k must be an int, got float 2.5"),
    (lambda: plots.rank_weights("rbp_resid"), ValueError, "metric 'rbp_resid': a list with one relevant"),
    (lambda: plots.ranked_cutoffs({}), ValueError, "lists holds no label"),
    (lambda: plots.ranked_cutoffs({"A": [1]}, "bpref"), fastir.UnknownMetricError, "bpref takes no cutoff"),
    (lambda: plots.precision_recall(QRELS, 2 * [*RUNS.items()], raw=True), ValueError, "two runs are named 'bm25'"),
])  # fmt: skip
def test_bad_input_is_named(draw, error, message):
    with pytest.raises(error, match=message):
        draw()


@pytest.mark.parametrize("n", [2, 20])
def test_precision_and_recall(n):
    qrels, runs = collection(n)
    ax = drawn(plots.precision_recall(qrels, runs))
    results = fastir.evaluate_many(qrels, runs, [f"iprec@{level / 10}" for level in range(11)])
    assert [list(line.get_ydata()) for line in ax.lines] == [list(dict(means).values()) for means in results.values()]
    assert list(ax.lines[0].get_xdata()) == [level / 10 for level in range(11)]
    styles = {(line.get_color(), line._unscaled_dash_pattern, line.get_marker()) for line in ax.lines}
    assert len(styles) == n, "each line differs from the others"
    legend = texts(ax.get_legend().get_texts())
    assert len(legend) == n and legend[0] == "bm25" and apart(ax, ax.get_legend().get_texts())


@pytest.mark.parametrize("n", [2, 20])
def test_a_metric_against_its_cutoff(n):
    qrels, runs = collection(n)
    ax = drawn(plots.cutoffs(qrels, runs, "recall", (5, 1, 2, 5), rel_level=2))
    results = fastir.evaluate_many(qrels, runs, ["recall@1", "recall@2", "recall@5"], rel_level=2)
    assert [list(line.get_ydata()) for line in ax.lines] == [list(dict(means).values()) for means in results.values()]
    assert texts(ax.get_xticklabels()) == ["1", "2", "5"]
    assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "recall@k")
    assert apart(ax, ax.get_xticklabels()) and apart(ax, ax.get_legend().get_texts())
    by_default = drawn(plots.cutoffs(qrels, runs))
    assert apart(by_default, by_default.get_xticklabels())
    assert len(drawn(plots.cutoffs(qrels, runs, cutoffs=range(1, 101))).lines[0].get_xdata()) == 100
    with pytest.raises(fastir.UnknownMetricError, match="bpref takes no cutoff"):
        plots.cutoffs(qrels, runs, "bpref")
    with pytest.raises(ValueError, match="no cutoff given"):
        plots.cutoffs(qrels, runs, cutoffs=())


def test_roc_curves_are_those_of_every_run():
    ax = drawn(plots.roc(QRELS, RUNS))
    for line, run in zip(ax.lines, RUNS.values(), strict=False):
        points = fastir.roc_curve(QRELS, run, [step / 100 for step in range(101)]).interpolated()
        assert list(line.get_ydata())[1:] == points.true_positive_rate.tolist()
        assert list(line.get_xdata())[1:] == points.false_positive_rate.tolist()
        assert line.get_xdata()[0] == line.get_ydata()[0] == 0 and line.get_marker() in ("", "None")
    diagonal = ax.lines[-1]
    assert len(ax.lines) == 3 and list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 1]
    areas = [fastir.evaluate(QRELS, run, "auc")["auc"] for run in RUNS.values()]
    assert [text.split() for text in legend(ax)] == [[n, f"{a:.3f}"] for n, a in zip(RUNS, areas, strict=True)]
    assert apart(ax, all_texts(ax.figure))
