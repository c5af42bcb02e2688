"""The picture of one ranking: every number on it, and that the texts can be read with few and with many documents."""

import math
import random

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")

from matplotlib.patches import Rectangle  # noqa: E402
from pictures import all_texts, apart, drawn, texts  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402

RNG = random.Random(5)


def explanation(n, metrics=("ndcg@10", "map"), **options):
    qrels = {"q": {f"document-{j}": RNG.choice((0, 1, 2)) for j in range(1, n + 3) if j % 4}}
    run = {"q": {f"document-{j}": RNG.random() for j in range(n)}}
    return fastir.explain(qrels, run, "q", list(metrics), **options)


def frames(ax):
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def seen(ax):
    return texts(ax.texts)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("n", [1, 5, 20, 100])
def test_texts_can_be_read(n, style):
    with matplotlib.pyplot.style.context(style):
        ax = drawn(plots.ranking(explanation(n), k=100))
        assert len(frames(ax)) == n and apart(ax, all_texts(ax.figure))
        background = ax.figure.get_facecolor()
        assert all(text.get_color() != background for text in ax.texts)


def test_what_stands_in_the_boxes_and_below():
    qrels = {"q": {"a": 2, "b": 0, "d": 1, "e": 1}}
    ax = plots.ranking(fastir.explain(qrels, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}, "q", ["dcg", "map"]))
    places = [
        [text.get_text() for text in ax.texts if 4.4 * at < text.get_position()[0] < 4.4 * at + 4.4] for at in range(4)
    ]
    half = 2 + 1 / math.log2(5)
    assert places == [
        ["2", "1", "a", "1.00", "2.000"],
        ["0", "2", "b", "0.50", "2.000"],
        ["–", "3", "c", "0.33", "2.000"],
        ["1", "4", "d", "0.50", f"{half:.3f}"],
    ]
    assert [frame.get_linestyle() for frame in frames(ax)] == ["-", "-", "--", "-"]
    blue = [frame.get_facecolor()[3] for frame in frames(ax)]
    assert blue[0] > blue[3] > blue[1] == blue[2] == 0
    bold = [text.get_text() for text in ax.texts if text.get_weight() == "bold"]
    assert bold == ["1.00", "0.50"] and "1 relevant document is missing" in seen(ax)
    assert {"rank", "doc_id", "precision", "dcg"} <= set(seen(ax))
    strict = plots.ranking(fastir.explain(qrels, {"q": {"d": 1.0, "a": 0.5}}, "q", "map", rel_level=2), rel_level=2)
    assert [text.get_text() for text in strict.texts if text.get_weight() == "bold"] == ["0.50"]


def test_bare_lists_metrics_and_depths():
    ax = drawn(plots.ranking(fastir.explain_ranked([3, 2, 3, 0, 1, 2], "ndcg")))
    assert "doc_id" not in seen(ax) and seen(ax)[-1] == f"{fastir.explain_ranked([3, 2, 3, 0, 1, 2], 'ndcg').value:.3f}"
    found = explanation(30)
    ax = plots.ranking(found, "map")
    assert len(frames(ax)) == 20 and any("10 more below" in text for text in seen(ax))
    ax = plots.ranking(found, "map", k=30)
    assert seen(ax)[-2 if found.missing else -1].startswith(f"{found.values['map']:.3f}")
    given = matplotlib.pyplot.figure().add_subplot()
    assert plots.ranking(found, ax=given) is given


def test_what_cannot_be_drawn():
    with pytest.raises(KeyError, match="'mrr' was not evaluated"):
        plots.ranking(explanation(3), "mrr")
    with pytest.raises(KeyError, match="'mrr' was not evaluated"):
        plots.ranking(fastir.explain_ranked([1], "dcg"), "mrr")
    with pytest.raises(ValueError, match="k: the last rank must be positive"):
        plots.ranking(explanation(3), k=0)
    with pytest.raises(ValueError, match="its ranking is empty"):
        plots.ranking(fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", "map"))
