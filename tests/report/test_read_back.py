"""Every number, name and note of a page is read back, and is what Results, Comparison, Report and explain say."""

import html.parser
import importlib.resources
import math
import os
import re
import string
import warnings

import pytest
from common import EXAMPLES
from pages_of_reports import data_in

import fastir
from fastir.rendering.text import build_day, distinct_texts
from fastir.request.names import read

HEADS = [
    ("queries missing", "only_in_qrels"),
    ("nothing judged", "nothing_judged"),
    ("ties could matter", "queries_with_ties"),
]
MISSING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Page(html.parser.HTMLParser):
    """The texts of a page in order, and its cells: (text, marks, interval, exact, whether it is bold)."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.tables, self.open = [], [], []
        self.feed(text)
        self.tables = [table for table in self.tables if table and table[0]]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append({"exact": values.get("data-exact"), "strong": False})

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not data.strip() or {"script", "style"} & set(self.open):
            return
        self.texts.append(data.strip())
        if "tr" in self.open:
            cell = self.tables[-1][-1][-1]
            cell["strong"] |= "b" in self.open
            cell[next((tag for tag in ("sup", "small") if tag in self.open), "text")] = data


def with_prose(parts):
    """All texts of a page: those of the template, and in their places the parts that a program writes."""
    template = importlib.resources.files("fastir.report").joinpath("page.txt").read_text("utf-8")
    marks = {name: f"<p>@{name}</p>" for name in ("title", "summary", "warnings", "boards", "judged", "sources")}
    marks |= {
        "title": "@title",
        "head": "Report",
        "summary": "@summary",
        "style": "",
        "script": "",
        "data": "",
        "depth": "",
    }
    texts = Page(string.Template(template).substitute(marks)).texts
    return [text for each in texts for text in (parts[each[1:]] if each[:1] == "@" else [each])]


# ---- collections -----------------------------------------------------------------------------------------------------
QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0, "d": 1, "e": -1} for number in range(8)}


def rank(step, docs="abcdxyze", lost=()):
    """A run in which each query has another order of these documents, or only unknown ones, or is missing."""
    run = {}
    for number, query in enumerate(QRELS):
        if (number, "missing") in lost:
            continue
        scores = {doc: float((5 * place + 3 * number + step) % 13) for place, doc in enumerate(docs)}
        run[query] = {"u": 2.0, "v": 1.0} if number in lost else scores
    return run


def tied(run, queries):
    return {query: dict.fromkeys(scores, 1.0) if query in queries else scores for query, scores in run.items()}


RUNS = {
    "whole": rank(0), "lost": rank(4, lost=(1, 3, 4)),
    "missing": rank(7, lost=((0, "missing"), (5, "missing"))), "tied": tied(rank(2), ("q2", "q3", "q6", "q7")),
}  # fmt: skip
ODD = {
    1: rank(0), "1": rank(3), "a\x1b[2J": rank(1), "a\\x1b[2J": rank(5), "\u202eb\x00": rank(2),
    "'1'": rank(4),
}  # fmt: skip
SEGMENTS = ("all queries", 1, "1", "\x1b<b>")
REAL = {query: {"a": 0.9, "b": 0.5, "c": 1.0, "d": 1e-05, "e": 2.0} for query in QRELS}
SCORED = {"q": {"<i>": 3.0, "\x1b": 2.0, "\u202e": 1.0}, "\x00": {"<i>": 1.0, "\x1b": 2.0}}
CASES = {
    "four runs": (QRELS, RUNS, ["ndcg@3", "map", "mrr", "num_rel_ret"], {}),
    "the first two": (QRELS, RUNS, ["map"], {"k": 2, "baseline": "lost"}),
    "judged only": (QRELS, RUNS, ["ndcg@3", "map"], {"judged_only": True}),
    "cut": (QRELS, RUNS, ["map", "precision@5"], {"max_depth": 2}),
    "level": (QRELS, RUNS, ["map", "ndcg@3"], {"rel_level": 2}),
    "what all have": (QRELS, RUNS, ["map", "mrr"], {"queries": "intersection"}),
    "some queries": (QRELS, RUNS, ["map"], {"queries": ["q1", "q5", "q6"]}),
    "less is better": (QRELS, {name: RUNS[name] for name in ("whole", "tied")}, ["mean_rank", "map"], {}),
    "undefined": ({**QRELS, "q7": {"a": 0}}, RUNS, ["map", "recall@5"], {"empty": "skip"}),
    "trec_eval": (QRELS, RUNS, ["map", "ndcg_cut_5"], {"convention": "trec_eval-10"}),
    "odd names": (QRELS, ODD, ["map", "ndcg@5"], {"segments": {q: SEGMENTS[n // 2] for n, q in enumerate(QRELS)}}),
    "segments": (QRELS, RUNS, ["map"], {"segments": {q: n % 2 for n, q in enumerate(QRELS)}, "test": "randomization"}),
    "one correction": (QRELS, RUNS, ["map", "mrr"], {"correction": "bh", "family": "all", "effect": "rank_biserial"}),
    "none": (QRELS, RUNS, ["map"], {"correction": None, "confidence": 0.8, "interval": "bca"}),
    "tukey": (QRELS, RUNS, ["map"], {"test": "randomized_tukey", "n_resamples": 999}),
    "real labels": (REAL, RUNS, ["ndcg@5", "map"], {"rel_level": 0.5}),
    "odd ids": (
        {query: dict.fromkeys(docs, 1) for query, docs in SCORED.items()}, dict.fromkeys("xy", SCORED), ["map"], {},
    ),
    "files": (EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"], ["ndcg@10", "map"], {}),
    "one query": (
        {"q0": QRELS["q0"]}, {name: {"q0": run["q0"]} for name, run in RUNS.items() if "q0" in run}, ["map"], {},
    ),
}  # fmt: skip


class Case:
    """A page that was read, and what the public functions say of the same arguments."""

    def __init__(self, name, folder):
        self.qrels, runs, self.metrics, options = CASES[name]
        self.options = options
        self.runs = runs if isinstance(runs, dict) else {path.stem: path for path in runs}
        self.depth = options.get("k", 10)
        compared = {key: value for key, value in options.items() if key != "k"}
        statistics = ("baseline", "test", "correction", "family", "confidence", "interval", "effect", "segments")
        judging = {key: value for key, value in compared.items() if key not in (*statistics, "n_resamples")}
        whole = {**judging, "queries": "qrels"} if judging.get("queries", "intersection") == "intersection" else judging
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fastir.FastirWarning)
            fastir.write_report(self.qrels, runs, self.metrics, folder / "page.html", **options)
        self.warnings = [str(warning.message) for warning in caught]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastir.FastirWarning)
            self.comparison = fastir.compare(self.qrels, runs, self.metrics, **compared)
            self.drawn = fastir.compare(self.qrels, runs, self.metrics, **{"interval": "percentile", **compared})
            if name == "trec_eval":
                whole = judging
            self.results = fastir.evaluate_many(self.qrels, self.runs, self.metrics, **whole)
            judged = {key: value for key, value in whole.items() if key != "empty"}
            self.judged = fastir.evaluate_many(self.qrels, self.runs, f"judged@{self.depth}", **judged)
            first = next(iter(self.runs.values()))
            self.provenance = fastir.evaluate(self.qrels, first, self.metrics, **judging).provenance
            explainer = fastir.Evaluator(self.qrels, self.metrics, **{**judging, "queries": "qrels"})
            self.explained = {
                run: {query: explainer.explain(ranking, query) for query in self.comparison.query_ids}
                for run, ranking in self.runs.items()
            }
        self.text = (folder / "page.html").read_text("utf-8")
        self.page, self.data = Page(self.text), data_in(self.text)
        self.names = distinct_texts(
            self.comparison.runs, shown=lambda text: repr(text)[1:-1] if MISSING.search(text) else text
        )
        self.intervals = [self.drawn, *self.drawn.segments.values()]
        self.parts = [self.comparison, *self.comparison.segments.values()]


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    return Case(request.param, tmp_path_factory.mktemp("page"))


# ---- the tables that stand there -------------------------------------------------------------------------------------
def number(value, digits=4):
    return f"{value:.{digits}f}" if value == value else "-"


def labels(n):
    return list("abcdefgh"[:n])


def expected_board(case, part, intervals):
    """The rows of a leaderboard: cells as Page has them."""
    runs, marks = part.runs, labels(len(part.runs))
    means = {(each.run, each.metric): each for each in intervals.systems}
    better = {}
    for pair in part.pairs:
        sign = {True: 1, False: -1}.get(part.higher_is_better[pair.metric], 0) * pair.difference
        if pair.adjusted_p <= round(1 - part.method.confidence, 12) and sign:
            winner, loser = (pair.a, pair.b) if sign > 0 else (pair.b, pair.a)
            better.setdefault((winner, pair.metric), []).append(marks[runs.index(loser)])
    rows = []
    for mark, run in zip(marks, runs, strict=True):
        row = [{"text": mark}, {"text": case.names[run]}]
        for metric in part.metrics:
            system = means[run, metric]
            every = [means[other, metric].mean for other in runs]
            best = {True: max, False: min}.get(part.higher_is_better[metric])
            beaten = sorted(better.get((run, metric), []))
            row.append({
                "text": number(system.mean),
                "exact": repr(system.mean),
                "sup": f"{beaten[0]}-{beaten[-1]}" if len(beaten) > 3 else "".join(beaten),
                "small": f"[{number(system.low)}, {number(system.high)}]",
                "strong": best is not None and math.isclose(system.mean, best(every), rel_tol=1e-12),
            })  # fmt: skip
        rows.append(row)
    sign = {False: 1}.get(part.higher_is_better[part.metrics[0]], -1)
    return sorted(rows, key=lambda row: sign * float(row[2]["exact"]))


def same_cells(found, expected):
    for row, wanted in zip(found, expected, strict=True):
        for cell, values in zip(row, wanted, strict=True):
            for key, value in values.items():
                assert (cell.get(key) or "") == (value or ""), (key, cell, values)


def test_leaderboards(case):
    for place, part in enumerate(case.parts):
        head, *rows = case.page.tables[place]
        assert [cell["text"] for cell in head] == ["#", "run", *map(str, part.metrics)]
        same_cells(rows, expected_board(case, part, case.intervals[place]))
        for run in case.runs:  # the means are those of Results, too
            per_query = {metric: case.results[run].per_query(metric) for metric in part.metrics}
            for metric, values in per_query.items():
                kept = [values.get(query, math.nan) for query in part.query_ids]
                row = next(row for row in rows if row[0]["text"] == labels(len(part.runs))[part.runs.index(run)])
                exact = float(row[2 + part.metrics.index(metric)]["exact"])
                if not any(value != value for value in kept):
                    assert exact == pytest.approx(math.fsum(kept) / len(kept), rel=1e-15)


def test_intervals_of_means_lie_within_the_values_of_the_metric(case):
    for place, part in enumerate(case.parts):
        for row in case.page.tables[place][1:]:
            for metric, cell in zip(part.metrics, row[2:], strict=True):
                low, high = cell["small"].strip("[]").split(", ")
                card = read(metric)[0].card
                if low != "-":
                    assert card.low <= float(low) <= float(cell["exact"]) + 5e-5 and float(cell["text"]) <= float(high)
                    assert float(high) <= card.high


def test_judged_documents_and_queries(case):
    head, *rows = case.page.tables[len(case.parts)]
    share = f"judged@{case.depth}"
    wanted = ["run", share, f"unjudged in the first {case.depth}", *(title for title, _ in HEADS)]
    assert [cell["text"] for cell in head] == wanted
    expected = []
    for run in case.comparison.runs:
        shares = case.judged[run].per_query(share)
        kept = [shares[query] for query in case.comparison.query_ids]
        mean = math.fsum(kept) / len(kept)
        unjudged = sum(
            each.label is None or each.label < 0
            for explanation in case.explained[run].values()
            for each in explanation.documents[: case.depth]
        )
        report = case.results[run].report
        counts = [unjudged, *(getattr(report, field) for _, field in HEADS)]
        cells = [{"text": case.names[run]}, {"text": number(mean), "exact": repr(mean)}]
        expected.append([*cells, *({"text": str(count)} for count in counts)])
    same_cells(rows, expected)


def test_a_column_is_not_another_one(tmp_path):
    """The counts of a small collection, worked out by hand."""
    case = Case("four runs", tmp_path)
    rows = case.page.tables[1][1:]
    assert [[cell["text"] for cell in row[3:]] for row in rows] == [
        ["0", "0", "0"], ["0", "3", "0"], ["2", "0", "0"], ["0", "0", "4"],
    ]  # fmt: skip


def test_where_the_numbers_come_from(case):
    head, *rows = case.page.tables[len(case.parts) + 1]
    found = [(row[0]["text"], row[1].get("text", "")) for row in rows]
    assert [cell["text"] for cell in head] == ["what", "value"] and len(dict(found)) == len(found)
    provenance = case.provenance
    convention = provenance.convention
    rest = dict(found)
    assert rest.pop("statistics") == str(case.comparison.method)
    assert rest.pop("fastir") == fastir.__version__
    assert rest.pop("convention").startswith(convention.name)
    for what, values in (("option", provenance.options), ("metric", provenance.metrics)):
        said = {key.removeprefix(f"{what} "): rest.pop(key) for key in list(rest) if key.startswith(f"{what} ")}
        assert said == {key: str(value) for key, value in values.items() if key != "queries"} | (
            {"queries": said["queries"]} if "queries" in said else {}
        )
    for key in [key for key in rest if key.startswith("convention: ")]:
        value, field = rest.pop(key), key.removeprefix("convention: ")
        if field != "unranked":  # compare evaluates all queries, and then leaves out those that a run lacks
            assert value == str(getattr(convention, field))
    files = {} if isinstance(case.qrels, dict) else {"judgments": case.qrels}
    files |= {f"run {name}": path for name, path in case.runs.items() if not isinstance(path, dict)}
    assert rest == {what: f"{path.name}, {path.stat().st_size} bytes" for what, path in files.items()}


def test_nothing_else_is_said(case):
    """The texts of the page in order: those of the template, and between them what the tests above look at."""
    n_runs, n_queries, n_metrics = (
        len(case.comparison.runs), len(case.comparison.query_ids), len(case.comparison.metrics),
    )  # fmt: skip
    words = (("run", n_runs), ("query", n_queries), ("metric", n_metrics))
    run, query, metric = (
        f"{n} {'queries' if (word, n > 1) == ('query', True) else word + 's' * (n != 1)}" for word, n in words
    )
    summary = f"{run} on {query}, {metric}"
    said = [f"{len(case.warnings)} warning{'s' * (len(case.warnings) > 1)}", *case.warnings] if case.warnings else []
    boards = []
    for place, part in enumerate(case.parts):
        boards += cell_texts(case.page.tables[place])
        level = round(1 - part.method.confidence, 12)
        corrected = ", corrected" if part.method.correction else ""
        boards += [
            f"Best in bold; letters name the runs that a run is better than (p ≤ {level:g}{corrected}).",
            f"{part.method.confidence:.0%} bootstrap intervals of the means in brackets.",
            str(part.method),
        ]
    judged, sources, *rules = map(cell_texts, case.page.tables[len(case.parts) :])
    for each in rules:
        sources += ["The rules of the convention", *each]
    facts = f"{'qrels · ' * isinstance(case.qrels, (str, os.PathLike))}{build_day()} · {summary}"
    parts = {"title": [f"fastir report: {summary}"], "summary": [facts], "warnings": said, "boards": boards}
    assert case.page.texts == with_prose({**parts, "judged": judged, "sources": sources})


def cell_texts(table):
    return [
        cell[key].strip()
        for row in table
        for cell in row
        for key in ("text", "sup", "small")
        if cell.get(key, "").strip()
    ]


# ---- what the script shows -------------------------------------------------------------------------------------------
def test_names(case):
    data = case.data
    assert data["runs"] == [case.names[run] for run in case.comparison.runs]
    assert data["labels"] == labels(len(data["runs"])) and data["metrics"] == case.comparison.metrics
    assert data["higher_is_better"] == [case.comparison.higher_is_better[metric] for metric in case.comparison.metrics]
    assert (
        data["depth"] == case.depth and data["why_not"] == "" and data["rel_level"] == case.options.get("rel_level", 1)
    )
    for named in (data["runs"], data["queries"], [each["name"] for each in data["segments"]]):
        assert len(set(named)) == len(named)
    queries = case.comparison.query_ids
    assert data["queries"] == [repr(query)[1:-1] if MISSING.search(query) else query for query in queries]
    assert data["segments"][0] == {"name": "all queries", "queries": None}
    for segment, (name, part) in zip(data["segments"][1:], case.comparison.segments.items(), strict=True):
        assert [queries[place] for place in segment["queries"]] == part.query_ids
        assert segment["name"] in (str(name), repr(name), repr(name)[1:-1])


def test_no_character_steers_the_page(case):
    names = str([*case.data["runs"], *case.data["queries"], case.data["segments"], case.data["rankings"]])
    for text in (case.text, names):
        assert not MISSING.search(text)


def test_values(case):
    for run, values in zip(case.comparison.runs, case.data["values"][0], strict=True):
        assert len(values) == len(case.comparison.query_ids) and run in case.results
    for place, metric in enumerate(case.comparison.metrics):
        for run, values in zip(case.comparison.runs, case.data["values"][place], strict=True):
            per_query = case.results[run].per_query(metric)
            expected = [per_query[query] for query in case.comparison.query_ids]
            assert values == [None if value != value else value for value in expected]
    share = f"judged@{case.depth}"
    assert case.data["judged"] == [
        [case.judged[run].per_query(share)[query] for query in case.comparison.query_ids]
        for run in case.comparison.runs
    ]


def p_texts(p, bound):
    """The text of a p-value, which may be a bound where a test is resampled."""
    text = "-" if p != p else f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
    return (text, f"≤{text}") if bound else (text,)


def test_pairs(case):
    for part, pairs in zip(case.parts, case.data["pairs"], strict=True):
        resampled = part.method.test in ("randomization", "randomized_tukey", "bootstrap")
        for pair, (metric, a, b), text in zip(part.pairs, pairs["of"], pairs["texts"], strict=True):
            assert (part.metrics[metric], part.runs[a], part.runs[b]) == (pair.metric, pair.a, pair.b)
            corrected = part.method.correction is not None
            said = re.fullmatch(
                r"(?P<difference>\S+), (?P<level>\d+%) interval (?P<interval>\[.*?\]), p (?P<p>\S+), "
                + r"corrected p (?P<adjusted>\S+), " * corrected
                + r"effect (?P<effect>\S+), w/t/l (?P<counts>\d+/\d+/\d+)(, (?P<note>.+))?",
                text,
            )
            assert said, text
            assert said["difference"] == f"{pair.difference:+.4f}" and said["level"] == f"{part.method.confidence:.0%}"
            assert said["interval"] == f"[{number(pair.low)}, {number(pair.high)}]"
            assert said["p"] in p_texts(pair.p_value, resampled)
            assert not corrected or said["adjusted"] in p_texts(pair.adjusted_p, resampled)
            assert said["effect"] == number(pair.effect, 3)
            assert said["counts"] == f"{pair.wins}/{pair.ties}/{pair.losses}"
            assert (said["note"] or "") == pair.note


def test_rankings(case):
    for query_id, query in zip(case.comparison.query_ids, case.data["rankings"], strict=True):
        for place, run in enumerate(case.comparison.runs):
            explanation = case.explained[run][query_id]
            shown = explanation.documents[: case.depth]
            docs = query["runs"][place]
            names = [repr(each.doc_id)[1:-1] if MISSING.search(each.doc_id) else each.doc_id for each in shown]
            assert [query["docs"][doc] for doc in docs] == names
            assert [query["labels"][doc] for doc in docs] == [each.label for each in shown]
            for metric in case.comparison.metrics:
                units = query["parts"][place].get(metric, [])
                units = units + [0] * (len(shown) - len(units))
                assert units == [round(10_000 * float(f"{each.contribution[metric]:.4f}")) for each in shown]
                gains = [(label, gain) for label, gain in query["gains"].get(metric, [])]
                assert len(dict(gains)) == len(gains)
                for each in shown:
                    if each.label is not None and metric in each.gain:
                        assert dict(gains)[each.label] == f"{each.gain[metric]:.4f}"
            level = case.options.get("rel_level", 1)
            below = [each.label for each in explanation.documents[case.depth :] if each.label is not None]
            assert query["below"][place] == [sum(label >= level for label in below), len(explanation.missing)]
