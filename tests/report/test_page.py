"""The page is one file with all data in it, exact, small, and harmless whatever names are in it."""

import html
import random
import re

import numpy as np
from pages_of_reports import EVIL, METRICS, collection, data_in

import fastir

MOST = 2_000_000  # bytes of 20 runs, 250 queries and 10 metrics


def test_values_are_exact(report):
    qrels, runs = collection()
    data = data_in(report.read_text("utf-8"))
    assert (data["runs"], data["metrics"], data["queries"]) == (list(runs), METRICS, sorted(qrels))
    for place, (run, result) in enumerate(fastir.evaluate_many(qrels, runs, METRICS).items()):
        assert data["runs"][place] == run
        for number, metric in enumerate(METRICS):
            assert data["values"][number][place] == [result.per_query(metric)[query] for query in data["queries"]]


def test_pairs_are_as_compare_prints_them(report):
    qrels, runs = collection()
    comparison = fastir.compare(qrels, runs, METRICS)
    pairs = data_in(report.read_text("utf-8"))["pairs"][0]
    assert [[METRICS[m], list(runs)[a], list(runs)[b]] for m, a, b in pairs["of"]] == [
        [pair.metric, pair.a, pair.b] for pair in comparison.pairs
    ]
    assert [text.split(", ")[0] for text in pairs["texts"]] == [f"{pair.difference:+.4f}" for pair in comparison.pairs]


def test_no_address_is_outside_and_no_name_is_a_tag(report):
    page = report.read_text("utf-8")
    assert EVIL not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert set(re.findall(r"https?://[^\"' ]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|href)=|@import|url\(", page)
    assert "default-src 'none'" in page
    assert EVIL in data_in(page)["rankings"][0]["docs"]
    assert "innerHTML" not in page


def test_segments_are_places_of_queries(report):
    data = data_in(report.read_text("utf-8"))
    assert [segment["name"] for segment in data["segments"]] == ["all queries", "even", "odd"]
    assert sorted(data["segments"][1]["queries"] + data["segments"][2]["queries"]) == list(range(8))


def test_an_undefined_value_is_null(tmp_path):
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {query: {"a": 1.0} for query in qrels}
    fastir.write_report(qrels, {"x": run, "y": run}, "map", tmp_path / "r.html", empty="skip")
    values = data_in((tmp_path / "r.html").read_text("utf-8"))["values"]
    assert np.array_equal(values, [[[1.0, None, 1.0]] * 2])


def test_a_report_of_twenty_runs_is_small(tmp_path):
    draw = random.Random(1)
    qrels = {f"q{q}": {f"doc{draw.randrange(10**6)}": draw.randrange(3) for _ in range(30)} for q in range(250)}
    runs = {
        f"run{number}": {
            query: {doc: draw.random() for doc in [*draw.sample(sorted(docs), 12), f"x{draw.randrange(10**6)}"]}
            for query, docs in qrels.items()
        }
        for number in range(20)
    }
    metrics = ["ndcg@10", "map", "mrr@10", "precision@10", "recall@10", "rbp", "err@10", "bpref", "ndcg", "hit_rate@5"]
    fastir.write_report(qrels, runs, metrics, tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < MOST


# ---- the tables of a report stand there without a script, and show what compare prints -------------------------------
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
    assert [row[1][0] for row in rows] == sorted(runs, key=lambda run: -results[run][METRICS[0]])
    for row in rows:
        means = results[row[1][0]]
        assert row[2:] == [(f"{means[metric]:.4f}", repr(means[metric])) for metric in METRICS]


def test_each_segment_has_a_leaderboard_and_names_are_text(report):
    page = report.read_text("utf-8")
    assert re.findall(r'<figure class="board"( hidden)? data-segment="(\d)">', page) == [
        ("", "0"), (" hidden", "1"), (" hidden", "2"),
    ]  # fmt: skip
    assert EVIL not in page
    assert html.escape(EVIL) in page


def test_judged_documents_are_counted(report):
    qrels, runs = collection()
    page = report.read_text("utf-8")
    results = fastir.evaluate_many(qrels, runs, "judged@3")
    part = page[page.index('<section id="judged">') :]
    for name in runs:
        assert re.search(f"<td>{re.escape(html.escape(name))}</td><td[^>]*>{results[name]['judged@3']:.4f}</td>", part)
