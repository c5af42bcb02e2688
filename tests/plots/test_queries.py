"""The pictures of two runs and of all runs, query by query."""

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("matplotlib.pyplot")
from pictures import apart, drawn, texts  # noqa: E402
from plotted import collection  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402

MINUS = "\N{MINUS SIGN}"


def test_differences_are_sorted_and_add_up(comparison):
    a, b, *_ = comparison.runs
    ax = drawn(plots.differences(comparison, a, b, "map"))
    gains, losses = (patch.get_data().values for patch in ax.patches)
    both = (gains + losses).tolist()
    x = comparison.values[1]
    assert both == sorted((x[:, 0] - x[:, 1]).tolist(), reverse=True)
    assert (gains >= 0).all() and (losses <= 0).all()
    queries = texts(ax.get_xticklabels())
    rows = x[[comparison.query_ids.index(query) for query in queries]]
    assert (rows[:, 0] - rows[:, 1]).tolist() == both
    told = comparison.diff(a, b, "map")
    [pair] = [pair for pair in comparison.pairs if (pair.a, pair.b, pair.metric) == (a, b, "map")]
    assert ax.get_title().endswith(
        f"{told.n_gains} gained, {told.n_equal} equal, {told.n_losses} lost\n"
        f"mean {told.mean - told.other_mean:+.4f} (dashed), p = {pair.p_value:.4f}".replace("-", MINUS)
    )
    assert apart(ax, ax.get_xticklabels())
    with pytest.raises(KeyError, match="'x' was not compared"):
        plots.differences(comparison, "x", b)


def test_of_many_queries_those_at_the_ends_are_named():
    comparison = fastir.compare(*collection(2, 60), "map")
    ax = drawn(plots.differences(comparison, "bm25", "_hidden"))
    assert texts(ax.get_xticklabels()) == [] and ax.get_xlabel() == "60 queries"
    changes = comparison.diff("bm25", "_hidden", "map", top=5)
    named = [(text.get_text(), text.xy[0]) for text in ax.texts]
    assert named[:5] == [(change.query_id, place) for place, change in enumerate(changes.gains)]
    assert named[5:] == [(change.query_id, 59 - place) for place, change in enumerate(changes.losses)]
    assert apart(ax, [*ax.texts, ax.xaxis.label]), "ids that would cover one another are spread out"


# ---- all runs --------------------------------------------------------------------------------------------------------
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
