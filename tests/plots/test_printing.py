"""Pictures can be printed: labels are read with 2, 8 and 20 runs, in any theme and size; PDF has TrueType fonts."""

import re

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
from pictures import all_texts, apart, drawn  # noqa: E402
from printed import pictures, scores  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402

THEMES = {
    "light": {},
    "dark": "dark_background",
    "a column of a paper": {"font.size": 7, "figure.figsize": (3.3, 2.5)},
    "slides": {"font.size": 16, "font.family": "serif"},
}


@pytest.mark.parametrize(("runs", "shape", "theme"), [
    *((2, "fold", "light"), (8, "middle", "light"), (20, "fold", "light")),
    *((20, "middle", "light"), (20, "unlike", "light")),
    *((runs, "fold", theme) for runs, theme in ((20, "a column of a paper"), (8, "slides"))),
])  # fmt: skip
def test_no_label_covers_another_or_is_cut(runs, shape, theme):
    with pyplot.style.context(THEMES[theme]):
        for name, ax in pictures(runs, shape):
            assert apart(drawn(ax), all_texts(ax.figure)), name


def test_twenty_runs_are_told_apart():
    for name, ax in pictures(20, "fold"):
        legend = ax.get_legend()
        labels = legend.get_texts() if legend else [] if name == "differences" else ax.get_yticklabels()
        shown = [label.get_text() for label in labels]
        assert len(set(shown)) == len(shown) == (0 if name == "differences" else 20), name
        assert all(re.match(r"fold-\d\d(  \w)?$", text) for text in shown), name
        assert "msmarco-passage-dev-" in ax.get_xlabel(), name


def test_legends_do_not_cover_the_data():
    for name, ax in pictures(8, "unlike"):
        drawn(ax)
        if ax.get_legend():
            assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1, name


@pytest.mark.parametrize("theme", ["dark", "a column of a paper"])
def test_rcparams_hold_and_stay(theme, tmp_path):
    with pyplot.style.context(THEMES[theme]):
        before = dict(matplotlib.rcParams)
        for name, ax in pictures(3, "fold"):
            ax.figure.savefig(tmp_path / f"{name}.pdf")
            if name != "wins":
                smallest = min(before["font.size"] * 0.8, 8)
                assert all(text.get_size() >= smallest for text in all_texts(ax.figure)), name
                assert {text.get_family()[0] for text in all_texts(ax.figure)} == {before["font.family"][0]}
                on = matplotlib.colors.to_rgb(before["text.color"])
                assert {matplotlib.colors.to_rgb(text.get_color()) for text in all_texts(ax.figure)} == {on}
        plots.overview(fastir.compare_scores(scores(3, "fold"))).savefig(tmp_path / "overview.pdf")
        assert dict(matplotlib.rcParams) == before


def test_what_is_public_and_nothing_else():
    assert sorted({*plots.__all__, "__doc__"}) == dir(plots)
    assert all(getattr(plots, name).__module__.startswith("fastir.plots.") for name in plots.__all__)
