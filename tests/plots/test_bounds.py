"""The picture of bounds: a bar with the two ends, a line at the value and a circle without unjudged documents."""

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")

from common import EXAMPLES  # noqa: E402
from pictures import drawn, texts  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402
from fastir.plots.style import BLUE, GREY  # noqa: E402

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def ends(ax):
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]


def test_one_run_has_a_bar_for_each_metric():
    found = fastir.bounds(QRELS, BM25, ["ndcg@10", "map", "g"], max_label=1000)
    ax = drawn(plots.bounds(found))
    assert texts(ax.get_yticklabels()) == ["ndcg@10", "map", "g"]
    assert ends(ax) == [pytest.approx((found.lower[name], found.upper[name])) for name in found.value]
    colours = [matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colours == [BLUE, BLUE, GREY]
    line, circle = ax.lines[:2]
    assert list(line.get_xdata()) == [found.value["ndcg@10"]] * 2
    assert list(circle.get_xdata()) == [found.condensed["ndcg@10"]]
    assert len(drawn(plots.bounds(found, "map")).patches) == 1


def test_several_runs_have_a_bar_each_and_differences_a_line_at_0():
    found = {name: fastir.bounds(QRELS, run, ["ndcg@10", "map"]) for name, run in (("a", BM25), ("b", DENSE))}
    ax = drawn(plots.bounds(found, "map"))
    assert texts(ax.get_yticklabels()) == ["a", "b"] and ax.get_xlabel().startswith("map, ")
    assert ends(ax) == [pytest.approx((each.lower["map"], each.upper["map"])) for each in found.values()]
    other = fastir.bounds(QRELS, BM25, "ndcg@10", against=DENSE)
    assert list(drawn(plots.bounds(other)).lines[-1].get_xdata()) == [0, 0]
    assert len(ax.lines) == 4


def test_what_is_not_there_is_named():
    found = fastir.bounds(QRELS, BM25, "map")
    with pytest.raises(KeyError, match="mrr"):
        plots.bounds(found, "mrr")
    with pytest.raises(ValueError, match="bounds: the mapping is empty"):
        plots.bounds({})


@pytest.mark.parametrize("given", [
    fastir.evaluate(QRELS, BM25, "map"),
    fastir.evaluate_many(QRELS, {"a": BM25}, "map"),
    {"a": fastir.evaluate(QRELS, BM25, "map")},
])  # fmt: skip
def test_what_is_no_bounds_is_refused(given):
    with pytest.raises(TypeError, match=r"expected Bounds, which fastir\.bounds makes, got Results"):
        plots.bounds(given)
