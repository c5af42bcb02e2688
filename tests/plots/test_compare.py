"""Pictures of comparisons: what is drawn is what the comparison says."""

import random
import re

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")
from pictures import apart, drawn, texts  # noqa: E402
from plotted import NAMES, collection  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402
from fastir.plots import compare, style  # noqa: E402

MINUS = "\N{MINUS SIGN}"


def test_the_best_mean_and_gains_are_coloured_by_what_is_better():
    values = {"low": {f"q{i}": 2.0 + i % 3 for i in range(9)}, "high": {f"q{i}": 8.0 + i % 2 for i in range(9)}}
    for metric, best in (("ndcg", [False, True]), ("mean_rank", [True, False]), ("num_ret", [False, False])):
        comparison = fastir.compare_scores(values, metric)
        ax = drawn(plots.means(comparison))
        points = [line for line in ax.lines if line.get_marker() == "o"]
        assert [point.get_color() == style.BLUE for point in points] == best
        ax = drawn(plots.differences(comparison, "low", "high"))
        below = [patch for patch in ax.patches if patch.get_data().values.min() < 0]
        colours = {matplotlib.colors.to_hex(patch.get_facecolor()).upper() for patch in below}
        assert colours == {style.BLUE if metric == "mean_rank" else style.VERMILION}


def test_means_stand_between_the_ends_of_their_intervals(comparison):
    ax = drawn(plots.means(comparison, "map"))
    systems = [system for system in comparison.systems if system.metric == "map"]
    bars, dots = ax.lines[::2], ax.lines[1::2]
    assert [list(bar.get_xdata()) for bar in bars] == [[system.low, system.high] for system in systems]
    assert [dot.get_xdata()[0] for dot in dots] == [system.mean for system in systems]
    best = max(system.mean for system in systems)
    assert [dot.get_color() == style.BLUE for dot in dots] == [system.mean == best for system in systems]
    assert len(ax.get_yticklabels()) == len(comparison.runs) and ax.yaxis_inverted()
    assert apart(ax, ax.get_yticklabels())
    with pytest.raises(KeyError, match="'p@1' was not compared; there are 'ndcg@5', 'map'"):
        plots.means(comparison, "p@1")


def test_wins_are_those_of_the_pairs(comparison):
    ax = drawn(plots.wins(comparison))
    shares = ax.images[0].get_array()
    few = len(comparison.runs) <= compare.MAX_WRITTEN_RUNS
    written = {text.get_position(): text.get_text() for text in ax.texts}
    for pair in comparison.pairs[: len(comparison.pairs) // 2]:
        row, column = comparison.runs.index(pair.a), comparison.runs.index(pair.b)
        assert shares[row, column] == -shares[column, row] == (pair.wins - pair.losses) / pair.n_queries
        for place, won, lost in (((column, row), pair.wins, pair.losses), ((row, column), pair.losses, pair.wins)):
            assert written[place] == (f"{won}/{pair.ties}/{lost}" if few else f"{won - lost:+d}".replace("-", MINUS))
    assert len(written) == len(comparison.runs) * (len(comparison.runs) - 1)
    assert apart(ax, [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts, ax.title])


def test_wins_of_many_queries_fit_their_cells():
    rng = random.Random(1)
    scores = {f"run {run}": {query: rng.random() for query in range(7000)} for run in range(compare.MAX_WRITTEN_RUNS)}
    ax = drawn(plots.wins(fastir.compare_scores(scores)))
    assert apart(ax, ax.texts)


def test_wins_against_a_baseline_fill_its_column():
    ax = drawn(plots.wins(fastir.compare(*collection(4), "map", baseline="_hidden")))
    assert {position for text in ax.texts for position in [text.get_position()]} == {
        (1, 0), (1, 2), (1, 3), (0, 1), (2, 1), (3, 1),
    }  # fmt: skip


def test_it_draws_where_it_is_told(comparison):
    figure, axes = matplotlib.pyplot.subplots(1, 5)
    qrels, runs = collection(2)
    assert [
        plots.differences(comparison, *comparison.runs[:2], ax=axes[0]),
        plots.means(comparison, ax=axes[1]),
        plots.wins(comparison, ax=axes[2]),
        plots.precision_recall(qrels, runs, ax=axes[3]),
        plots.cutoffs(qrels, runs, ax=axes[4]),
    ] == list(axes)
    assert all(ax.figure is figure for ax in axes)


def test_names_are_shown_as_they_are():
    ax = drawn(plots.means(fastir.compare(*collection(4), "map")))
    shown = [text.split("  ")[0] for text in texts(ax.get_yticklabels())]
    assert shown[0] == "bm25" and shown[1].endswith("_hidden") and shown[2] == r"50\$ or \$60"
    assert shown[3] == "a name that is muc… beside a picture"
    lines = drawn(plots.precision_recall(*collection(4)))
    assert len(lines.get_legend().get_texts()) == 4


def test_an_overview_has_a_row_for_each_metric(comparison):
    figure = plots.overview(comparison)
    figure.canvas.draw()
    titled = [ax for ax in figure.axes if ax.get_title()]
    assert len(titled) == 2
    assert all(("gained, " in ax.get_title()) == (len(comparison.runs) == 2) for ax in titled)


def test_results_are_compared_first():
    results = fastir.evaluate_many(*collection(3), ["ndcg@5", "map"])
    comparison = fastir.compare_scores(results)
    for draw in (
        plots.means, plots.wins, plots.forest, lambda runs, metric: plots.differences(runs, *NAMES[:2], metric),
    ):  # fmt: skip
        one, other = (drawn(draw(runs, "map")) for runs in (results, comparison))
        assert texts(one.texts) == texts(other.texts) and one.get_title() == other.get_title()
        assert [list(line.get_xdata()) for line in one.lines] == [list(line.get_xdata()) for line in other.lines]
    assert len(plots.overview({**results}).axes) == len(plots.overview(comparison).axes)


def graded(runs, queries=40):
    """Runs of which each is better than the one before, some significantly."""
    rng = random.Random(7)
    noise = {query: rng.random() for query in range(queries)}
    return {
        f"run {place}": {query: level + place / 20 + rng.random() / 5 for query, level in noise.items()}
        for place in range(runs)
    }


@pytest.mark.parametrize("runs", [5, 30])
def test_the_letters_beside_the_means_are_those_of_the_table(runs):
    comparison = fastir.compare_scores(graded(runs), correction="holm")
    ax = drawn(plots.means(comparison, sort=True))
    keys = dict(reversed(label.split("  ")) for label in texts(ax.get_yticklabels()))
    assert list(keys.values()) == [f"run {place}" for place in reversed(range(runs))]
    *beaten, head = ax.texts
    assert head.get_text() == "better than\n(p ≤ 0.05, corrected)"
    table = comparison.to_table("html")
    shown = {run: text.get_text() for run, text in zip(keys.values(), beaten, strict=True)}
    rows = re.findall(r"<tr><td.*?>(\w+)</td><td.*?>(run \d+)</td>.*?(?:<sup[^>]*>(.*?)</sup>)?</td></tr>", table)
    assert [(key, run, shown[run]) for key, run in sorted(keys.items(), key=lambda item: int(item[1][4:]))] == rows


def test_no_letters_where_nothing_is_significant():
    values = {name: {query: (query * step) % 7 for query in range(12)} for name, step in (("a", 2), ("b", 3))}
    ax = drawn(plots.means(fastir.compare_scores(values)))
    assert texts(ax.get_yticklabels()) == ["a", "b"] and texts(ax.texts) == []


@pytest.mark.parametrize("metric", ["ndcg", "mean_rank", "num_ret"])
def test_a_forest_has_the_differences_to_a_run(metric):
    values = graded(4)
    comparison = fastir.compare_scores(values, metric, correction=None)
    best = {"ndcg": "run 3", "mean_rank": "run 0", "num_ret": "run 3"}[metric]
    for baseline in (None, "run 1"):
        ax = drawn(plots.forest(comparison, baseline=baseline, sort=True))
        against = baseline or best
        rows = texts(ax.get_yticklabels())
        assert rows == sorted(values, reverse=best == "run 3")
        _, *marks = ax.lines
        for run, p in zip(rows, ax.texts, strict=False):
            if run == against:
                assert (marks.pop(0).get_xdata()[0], p.get_text()) == (0, "baseline")
                continue
            bar, dot = marks.pop(0), marks.pop(0)
            [alone] = fastir.compare_scores({run: values[run], against: values[against]}, metric).pairs
            assert dot.get_xdata()[0] == pytest.approx(alone.difference, abs=1e-15)
            assert list(bar.get_xdata()) == pytest.approx([alone.low, alone.high], abs=1e-15)
            significant = alone.p_value <= 0.05 and metric != "num_ret"
            better = (alone.difference > 0) == (metric == "ndcg")
            assert dot.get_color() == ((style.BLUE if better else style.VERMILION) if significant else style.GREY)
            assert (dot.get_markerfacecolor() == dot.get_color()) == significant
            assert float(p.get_text()) == pytest.approx(alone.p_value, rel=0.1, abs=6e-5)
        assert not marks


def test_a_forest_stands_on_the_baseline_of_the_comparison():
    comparison = fastir.compare_scores(graded(4), baseline="run 2")
    ax = drawn(plots.forest(comparison))
    assert texts(ax.get_yticklabels()) == ["run 0", "run 1", "run 2", "run 3"]
    assert ax.texts[2].get_text() == "baseline"
    with pytest.raises(KeyError, match="'x' was not compared; there are 'run 0', 'run 1', 'run 2', 'run 3'"):
        plots.forest(comparison, baseline="x")
    with pytest.raises(ValueError, match="no run was compared with 'run 0'"):
        plots.forest(fastir.compare_scores({"run 0": {"q": 1.0}}))


def test_what_is_undefined_is_drawn_without_an_interval():
    comparison = fastir.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.7}})
    for draw in (plots.means, plots.forest, plots.wins):
        ax = drawn(draw(comparison, sort=True))
        assert apart(ax, [*ax.texts, *ax.get_yticklabels()])
    assert texts(drawn(plots.forest(comparison)).texts)[:2] == ["-", "baseline"]
    assert "p = -" not in plots.differences(comparison, "a", "b").get_title()


def test_significant_wins_are_framed():
    comparison = fastir.compare_scores(graded(4))
    ax = drawn(plots.wins(comparison, sort=True))
    assert texts(ax.get_xticklabels()) == ["d", "c", "b", "a"]
    found = {(patch.get_x() + 0.45, patch.get_y() + 0.45) for patch in ax.patches}
    bold = {text.get_position() for text in ax.texts if text.get_weight() == "bold"}
    expected = {
        place
        for pair in comparison.pairs
        if pair.p_value <= 0.05
        for a, b in [(3 - comparison.runs.index(pair.a), 3 - comparison.runs.index(pair.b))]
        for place in ((a, b), (b, a))
    }
    assert found == bold == expected and len(expected) > 4


# ---- leaderboards ----------------------------------------------------------------------------------------------------
A = {"bm25": 0.42, "dense": 0.45, "hybrid": 0.51, "random": 0.05}
B = {"bm25": 0.47, "dense": 0.46, "hybrid": 0.62, "random": 0.11}


def test_each_system_goes_from_its_place_to_its_place():
    ax = drawn(plots.leaderboards(A, B, "map", titles=("human", "model")))
    assert texts(ax.get_yticklabels()) == ["hybrid", "dense", "bm25", "random"]
    assert texts(ax.child_axes[0].get_yticklabels()) == ["hybrid", "bm25", "dense", "random"]
    assert [tuple(line.get_ydata()) for line in ax.lines] == [(0, 0), (1, 2), (2, 1), (3, 3)]
    assert [line.get_color() for line in ax.lines] == [style.GREY, style.VERMILION, style.BLUE, style.GREY]
    assert texts(ax.get_xticklabels()) == ["human", "model"] and ax.get_xlabel() == "map"


def test_less_is_better_where_the_metric_says_so():
    ax = drawn(plots.leaderboards(A, B, "mean_rank"))
    assert texts(ax.get_yticklabels()) == ["random", "bm25", "dense", "hybrid"]


@pytest.mark.parametrize(("a", "b"), [({}, {}), (A, {"bm25": 0.1})])
def test_other_systems_are_refused(a, b):
    with pytest.raises(ValueError, match="expected the same systems on both sides"):
        plots.leaderboards(a, b)
