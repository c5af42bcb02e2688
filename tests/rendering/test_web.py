"""Tables as HTML: what notebooks show."""

import html.parser
import re

import pytest

import fastir
from fastir.rendering import Cell, Table, render
from fastir.rendering.formats import figure_spaces

QRELS = {f"q{i}": {"d1": 1, "d2": 0, "d<3>": 2, "d4": 0} for i in range(7)}
RUN = {f"q{i}": {"d1": 3.0, "d2": 2.5, "d<3>": 2.0, "d5": 1.0} for i in range(7)}
OTHER = {f"q{i}": {"d2": 3.0, "d1": 2.5, "d<3>": i} for i in range(7)}


def shown():
    """One of every object that shows in a notebook, by name."""
    evaluator = fastir.Evaluator(QRELS, ["ndcg@10", "map", "num_ret"])
    first, second = evaluator.evaluate(RUN), evaluator.evaluate(OTHER)
    explained = evaluator.explain(RUN, "q1")
    return {
        "Results": first, "ResultsByRun": evaluator.evaluate_many({"a": RUN, "b": OTHER}),
        "ResultsBySegment": first.by_segment({query: query > "q3" for query in QRELS}),
        "ResultsDiff": first.diff(second, "map", top=1),
        "Comparison": fastir.compare(QRELS, {"a": RUN, "b": OTHER}, ["ndcg@10", "map"]),
        "Qrels": fastir.Qrels.from_dict(QRELS), "Run": fastir.Run.from_dict(RUN), "Explanation": explained,
        "RankingDiff": explained.diff(evaluator.explain(OTHER, "q1")),
        "RankedExplanation": fastir.explain_ranked([2, 0, 1], "dcg"), "Metrics": fastir.metrics(),
    }  # fmt: skip


class Tags(html.parser.HTMLParser):
    """The tags in their order; every one that is opened must be closed."""

    def __init__(self, text):
        super().__init__()
        self.opened, self.seen = [], []
        self.feed(text)
        assert self.opened == []

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag


NAMES = ["Results", "ResultsByRun", "ResultsBySegment", "ResultsDiff", "Comparison", "Qrels", "Run"]
NAMES += ["Explanation", "RankingDiff", "RankedExplanation", "Metrics"]


@pytest.mark.parametrize("name", NAMES)
def test_every_object_shows_as_a_table_above_its_notes_without_script_or_colours(name):
    text = shown()[name]._repr_html_()
    tags = Tags(text).seen
    assert tags.count("table") == 1 and not {"script", "style", "i"} & set(tags)
    assert "figcaption" not in tags or tags.index("figcaption") > max(i for i, tag in enumerate(tags) if tag == "td")
    assert not re.search(r"color|background|#[0-9a-f]{3}", text)
    assert "<d" not in re.sub(r"<div|<d<", "", text) and "d<3>" not in text


def test_long_lists_are_elided_with_a_count():
    text = fastir.Qrels.from_dict(QRELS)._repr_html_()
    assert ">... 2 more</td>" in text and ">d1: 1, d2: 0, d&lt;3&gt;: 2, ...</td>" in text
    many = {"q": {f"d{i}": 1 for i in range(50)}}
    explained = fastir.Evaluator(many, "map").explain({"q": {"d1": 1.0}}, "q")
    assert ">... 39 more</td>" in explained._repr_html_() and "... 39 more" in str(explained)


def test_a_label_is_the_id_of_the_figure():
    assert '<figure id="a&quot;b" ' in render(Table(["x"], [[Cell("1")]], 0, []), "html", label='a"b')


def test_marks_and_intervals_have_columns_of_their_own():
    row = [Cell("r"), Cell("0.5", "a-d", "[0.1, 0.9]", strong=True), Cell("1")]
    text = render(Table(["run", "map", "n"], [row], 1, []), "html")
    assert Tags(text).seen.count("td") == Tags(text).seen.count("th") == 5
    assert "<b>0.5</b></td>" in text and ">a–d</sup></td>" in text and "<small>[0.1, 0.9]</small></td>" in text


def test_points_stand_below_each_other():
    assert figure_spaces(["0.25", "0.5", "12", "-", ""]) == {
        "0.25": "", "0.5": "\u2007", "12": "\u2008\u2007\u2007", "-": "", "": ""
    }  # fmt: skip


def test_reprs_are_short():
    evaluator = fastir.Evaluator(QRELS, ["ndcg@10", "map"], ties="average")
    assert (
        repr(evaluator)
        == "<Evaluator of Qrels: 7 queries, 28 judgments: ndcg@10, map; convention fastir, ties=average>"
    )
    total = fastir.Accumulator("mrr", ties="average")
    assert repr(total) == "<Accumulator of 0 queries: mrr; ties='average'>"
    assert repr(fastir.metrics()[0]) == "<Card of ndcg: normalised discounted cumulative gain>"


@pytest.mark.parametrize("name", fastir.conventions.CONVENTIONS)
def test_the_repr_of_a_convention_makes_it_again(name):
    convention = fastir.conventions.CONVENTIONS[name]
    again = eval(repr(convention), {"Convention": fastir.Convention})
    assert repr(again) == repr(convention)
    assert [getattr(again, field) for field in ("queries", "ties", "gain", "of")] == [
        getattr(convention, field) for field in ("queries", "ties", "gain", "of")
    ]
