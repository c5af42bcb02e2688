"""The tables of a report stand there without a script, and show what compare prints."""

import html
import re

from pages_of_reports import EVIL, METRICS, collection

import fastir


def cells_of(page):
    """[row: [(text, exact)]] of the first leaderboard."""
    body = re.search(r"<figure.*?<tbody>(.*?)</tbody>", page, re.DOTALL)[1]
    return [
        [
            (html.unescape(re.sub("<(sup|small)>.*?</\\1>|</?b>", "", text)), exact)
            for exact, text in re.findall(r'<td[^>]*?(?: data-exact="([^"]*)")?>(.*?)</td>', row)
        ]
        for row in re.findall("<tr>(.*?)</tr>", body)
    ]


def test_the_leaderboard_has_the_numbers_of_results(report):
    qrels, runs = collection()
    results = fastir.evaluate_many(qrels, runs, METRICS)
    rows = cells_of(report.read_text("utf-8"))
    assert [row[1][0] for row in rows] == list(runs)
    for row in rows:
        means = results[row[1][0]]
        assert row[2:] == [(f"{means[metric]:.4f}", repr(means[metric])) for metric in METRICS]


def test_each_segment_has_a_leaderboard_and_names_are_text(report):
    page = report.read_text("utf-8")
    assert re.findall(r'<figure class="board"( hidden)? data-segment="(\d)">', page) == [
        ("", "0"),
        (" hidden", "1"),
        (" hidden", "2"),
    ]
    assert EVIL not in page
    assert html.escape(EVIL) in page


def test_judged_documents_are_counted(report):
    qrels, runs = collection()
    page = report.read_text("utf-8")
    results = fastir.evaluate_many(qrels, runs, "judged@3")
    part = page[page.index('<section id="judged">') :]
    for name in runs:
        assert re.search(f"<td>{re.escape(html.escape(name))}</td><td[^>]*>{results[name]['judged@3']:.4f}</td>", part)
