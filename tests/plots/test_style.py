"""Colours and sizes that all pictures share."""

import io
import sys

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("scipy")
from printed import pictures  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402
from fastir.plots import style  # noqa: E402


def test_colours_are_told_apart_by_colour_blind_readers():
    """Okabe and Ito's, without their yellow, too light for a line; in place of their black, the colour of text."""
    assert set(style.COLOURS) == {"#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"}


def test_the_zero_line_and_the_grid_are_seen_on_black():
    with matplotlib.pyplot.style.context("dark_background"):
        for name, ax in pictures(3, "fold"):
            lines = [*ax.lines, *(ax.xaxis.get_gridlines() if name != "wins" else [])]
            assert all(matplotlib.colors.to_hex(line.get_color()) != "#000000" for line in lines), name


def two_runs(*names):
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    return {name: fastir.evaluate(qrels, {"q": {"a": 1.0}}, "map", queries="qrels") for name in names}


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"fastir\.plots needs matplotlib: pip install 'fastir\[plot\]'"):
        plots.rank_weights(["ndcg@10"])
    results = two_runs("a", "b")
    for picture in (plots.means, plots.forest, plots.overview, plots.topics, plots.wins):
        with pytest.raises(ImportError, match=r"fastir\.plots needs matplotlib"):
            picture(results)


def test_names_that_are_no_utf_8_are_drawn():
    results = two_runs("\udcff", "b")
    for picture in (plots.means, plots.forest, plots.overview, plots.topics, plots.wins):
        figure = picture(results).figure
        figure.savefig(io.BytesIO())
