"""The picture of two leaderboards: a line from place to place for each system, in the colour of its fate."""

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")

from pictures import drawn, texts  # noqa: E402

from fastir import plots  # noqa: E402
from fastir.plots.style import BLUE, GREY, VERMILION  # noqa: E402

A = {"bm25": 0.42, "dense": 0.45, "hybrid": 0.51, "random": 0.05}
B = {"bm25": 0.47, "dense": 0.46, "hybrid": 0.62, "random": 0.11}


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_each_system_goes_from_its_place_to_its_place():
    ax = drawn(plots.leaderboards(A, B, "map", titles=("human", "model")))
    assert texts(ax.get_yticklabels()) == ["hybrid", "dense", "bm25", "random"]
    assert texts(ax.child_axes[0].get_yticklabels()) == ["hybrid", "bm25", "dense", "random"]
    assert [tuple(line.get_ydata()) for line in ax.lines] == [(0, 0), (1, 2), (2, 1), (3, 3)]
    assert [line.get_color() for line in ax.lines] == [GREY, VERMILION, BLUE, GREY]
    assert texts(ax.get_xticklabels()) == ["human", "model"] and ax.get_xlabel() == "map"


def test_less_is_better_where_the_metric_says_so():
    ax = drawn(plots.leaderboards(A, B, "mean_rank"))
    assert texts(ax.get_yticklabels()) == ["random", "bm25", "dense", "hybrid"]


@pytest.mark.parametrize(("a", "b"), [({}, {}), (A, {"bm25": 0.1})])
def test_other_systems_are_refused(a, b):
    with pytest.raises(ValueError, match="expected the same systems on both sides"):
        plots.leaderboards(a, b)
