"""The picture of all runs on all topics."""

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")
from pictures import apart, drawn, texts  # noqa: E402
from plotted import collection  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402


@pytest.fixture(params=[2, 20])
def comparison(request):
    return fastir.compare(*collection(request.param), ["ndcg@5", "map"], correction=None)


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_topics_stand_group_by_group_from_the_easiest():
    qrels, runs = collection(4, 30)
    groups = {query: ("odd", "a group with a long name")[int(query[1:]) % 10 == 0] for query in qrels}
    comparison = fastir.compare(qrels, runs, ["ndcg@5", "map"], segments=groups)
    ax = drawn(plots.topics(comparison, "map", sort=True))
    values = ax.images[0].get_array()
    assert values.shape == (4, 30) and ax.images[0].get_clim() == (0, 1)
    order = sorted(comparison.runs, key=lambda run: -sum(comparison.per_query[run]["map"].values()))
    place = 0
    for part in comparison.segments.values():
        means = {query: sum(part.per_query[run]["map"][query] for run in order) for query in part.query_ids}
        for query in sorted(means, key=lambda query: -means[query]):
            assert values[:, place].tolist() == [part.per_query[run]["map"][query] for run in order]
            place += 1
    notes = [child for child in ax.get_children() if isinstance(child, matplotlib.text.Annotation)]
    assert set(texts(notes)) == {"a group wi\N{HORIZONTAL ELLIPSIS}long name", "odd"}
    assert [note.get_rotation() for note in notes if note.get_text() == "odd"] == [0]
    assert apart(ax, notes)


def test_topics_without_groups_and_with_undefined_values():
    values = {"a": {"q1": 0.5, "q2": float("nan"), "q3": -2.0}, "b": {"q1": 3.0, "q2": 0.1, "q3": 0.5}}
    ax = drawn(plots.topics(fastir.compare_scores(values)))
    assert ax.images[0].get_array().tolist() == [[0.5, None, -2.0], [3.0, 0.1, 0.5]]
    assert texts(ax.get_xticklabels()) == ["q1", "q2", "q3"] and ax.images[0].get_clim() == (-2, 3)
    ax = drawn(plots.topics(fastir.compare_scores(values, "mean_rank"), sort=True))  # of which less is better
    assert texts(ax.get_xticklabels()) == ["q3", "q2", "q1"]
    assert texts(ax.get_yticklabels()) == ["a", "b"]
    with pytest.raises(KeyError, match="'map' was not compared"):
        plots.topics(fastir.compare_scores(values), "map")
