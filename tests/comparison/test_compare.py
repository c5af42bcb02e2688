"""Runs compared from qrels and runs, and how a Comparison is shown: tables, files, records, differences by query."""

import html.parser
import json
import math
import random
import re

import gen
import pytest
from common import UNEVEN
from sealed import sealed

import fastir
from fastir.comparison.tables import LETTERS, labels_of, marks, p_text
from fastir.rendering.cells import pointed

METRICS = ["ndcg@5", "map", "mrr"]


def collection(runs=3, queries=30, seed=7):
    """Qrels and runs, each better than the one before."""
    rng = random.Random(seed)
    qrels = {f"q{number}": {f"d{doc}": rng.choice((0, 0, 1, 2)) for doc in range(12)} for number in range(queries)}
    skill = {f"run_{number}": number / 2 for number in range(runs)}
    return qrels, {
        name: {
            query: {doc: level * label + rng.gauss(0, 1) for doc, label in docs.items()}
            for query, docs in qrels.items()
        }
        for name, level in skill.items()
    }


@pytest.fixture(scope="module")
def three():
    return fastir.compare(*collection(), METRICS)


def values(**runs):
    """Runs given as lists of values, for compare_scores."""
    return {name: {f"q{place}": value for place, value in enumerate(of_run)} for name, of_run in runs.items()}


def rows_of(table):
    """The cells of a text table above the notes."""
    return [re.split(r"  +", line.strip()) for line in table.partition("\n\n")[0].splitlines()]


# ---- from qrels and runs to values -----------------------------------------------------------------------------


def test_it_evaluates_and_compares_what_came_out(three):
    qrels, runs = collection()
    results = fastir.evaluate_many(qrels, runs, METRICS)
    assert three.pairs == fastir.compare_scores(results).pairs
    assert three.runs == list(runs) and three.metrics == METRICS
    for system in three.systems:
        assert math.isclose(system.mean, results[system.run][system.metric], rel_tol=1e-15)
    assert {run: {metric: results[run].per_query(metric) for metric in METRICS} for run in runs} == {
        run: {metric: {query: of_run[metric][query] for query in qrels} for metric in METRICS}
        for run, of_run in three.per_query.items()
    }


@UNEVEN
def test_files_pairs_and_runs_are_compared_alike(tmp_path):
    qrels, runs = collection(queries=8)
    paths = {name: gen.write_run(tmp_path / name, run) for name, run in runs.items()}
    expected = fastir.compare(qrels, runs, METRICS, test="randomization", n_resamples=999)
    others = (paths, list(runs.items()), {name: fastir.Run.from_dict(run) for name, run in runs.items()})
    for other in others:
        for threads in (1, 3):
            found = fastir.compare(
                gen.write_qrels(tmp_path / "qrels", qrels),
                other,
                METRICS,
                test="randomization",
                n_resamples=999,
                n_threads=threads,
            )
            assert found.pairs == expected.pairs and found.systems == expected.systems


def test_options_of_the_evaluation_are_passed_on():
    qrels, runs = collection(2)
    found = fastir.compare(qrels, runs, "ndcg@5", rel_level=2, convention="xgboost")
    results = fastir.evaluate_many(qrels, runs, "ndcg@5", rel_level=2, convention="xgboost")
    assert [system.mean for system in found.systems] == [of_run["ndcg@5"] for of_run in results.values()]
    with pytest.raises(TypeError, match="unknown option 'tie'"):
        fastir.compare(qrels, runs, "map", tie="trec")


QRELS = {"both": {"a": 1}, "one": {"a": 1}, "none": {"a": 1}, "also": {"a": 1}}
UNLIKE = {
    "x": {"both": {"a": 1.0}, "one": {"a": 1.0}, "also": {"a": 1.0}, "foreign": {"a": 1.0}},
    "y": {"both": {"b": 2.0, "a": 1.0}, "also": {"a": 1.0}},
}


@UNEVEN
@pytest.mark.parametrize(
    ("queries", "compared", "differences"),
    [
        (None, ["also", "both", "none", "one"], [0, 0.5, 0, 1]),
        ("qrels", ["also", "both", "none", "one"], [0, 0.5, 0, 1]),
        ("intersection", ["also", "both"], [0, 0.5]),
        (["one", "both"], ["both", "one"], [0.5, 1]),
    ],
)
def test_one_rule_says_which_queries_count_for_all_runs(queries, compared, differences):
    found = fastir.compare(QRELS, UNLIKE, "mrr", queries=queries)
    assert found.query_ids == compared
    assert [x - y for x, y in found.values[0].tolist()] == differences


def test_rules_that_cannot_be_kept():
    with pytest.raises(fastir.NoOverlapError, match="run 'x': queries='strict', but query 'none' is missing"):
        fastir.compare(QRELS, UNLIKE, "mrr", queries="strict")
    with pytest.raises(fastir.NoOverlapError, match="query 'zz', which was asked for"):
        fastir.compare(QRELS, UNLIKE, "mrr", queries=["both", "zz"])
    with pytest.raises(ValueError, match="queries must be one of None, 'qrels', 'intersection', 'strict', got 'zero'"):
        fastir.compare(QRELS, UNLIKE, "mrr", queries="zero")
    with pytest.warns(fastir.FastirWarning, match="run 'y': 2 queries of the qrels are missing"):
        fastir.compare(QRELS, {"y": UNLIKE["y"], "z": {query: {"a": 1.0} for query in QRELS}}, "mrr")


@UNEVEN
def test_a_convention_that_leaves_queries_out_leaves_them_out_for_all_runs():
    found = fastir.compare(QRELS, UNLIKE, "mrr", convention="trec_eval-10")
    assert found.query_ids == ["also", "both"]
    assert fastir.compare(QRELS, UNLIKE, "mrr", convention="trec_eval-10", queries="qrels").query_ids == sorted(QRELS)


def test_wrong_options_are_told_before_any_run_is_read(tmp_path):
    for option, value in {"test": "u", "correction": "x", "n_resamples": 0, "interval": "z", "effect": "tau"}.items():
        with pytest.raises(ValueError, match=option):
            fastir.compare(QRELS, {"a": tmp_path / "absent"}, "mrr", **{option: value})
    with pytest.raises(FileNotFoundError):
        fastir.compare(QRELS, {"a": tmp_path / "absent"}, "mrr")


def test_seeds_are_runs_of_one_system():
    qrels, runs = collection(4)
    first, second, third, fourth = runs.values()
    found = fastir.compare(qrels, {"a": [first, second], "b": [third, fourth]}, "map", seeds="mean")
    results = fastir.evaluate_many(qrels, runs, "map")
    means = [(results[f"run_{first}"]["map"] + results[f"run_{first + 1}"]["map"]) / 2 for first in (0, 2)]
    assert [system.mean for system in found.systems] == pytest.approx(means, rel=1e-14)


def test_folds_are_put_together():
    qrels, runs = collection(2)
    half = list(qrels)[:15]

    def folds(run):
        return [{query: docs for query, docs in run.items() if (query in half) == first} for first in (True, False)]

    split = {name: folds(run) for name, run in runs.items()}
    whole = fastir.compare(qrels, runs, "map")
    for queries in (None, "qrels", "strict"):
        found = fastir.compare(qrels, split, "map", seeds="folds", queries=queries)
        assert found.pairs == whole.pairs
    lacking = {name: parts[:1] for name, parts in split.items()}
    assert fastir.compare(qrels, lacking, "map", seeds="folds").query_ids == sorted(half)
    with pytest.raises(fastir.NoOverlapError):
        fastir.compare(qrels, lacking, "map", seeds="folds", queries="qrels")


# ---- the table of the runs -------------------------------------------------------------------------------------


def test_letters_name_the_runs_that_a_run_is_better_than(three):
    rows = rows_of(str(three))
    assert rows[0] == ["#", "run", *METRICS]
    significant = {(pair.b, pair.a, pair.metric) for pair in three.pairs if pair.adjusted_p <= 0.05}
    assert significant and all(pair.difference < 0 for pair in three.pairs)
    raised = dict(zip("abc", "ᵃᵇᶜ", strict=True))
    for row, run in zip(rows[1:], three.runs, strict=True):
        for cell, metric in zip(row[2:], METRICS, strict=True):
            [mean] = [system.mean for system in three.systems if (system.run, system.metric) == (run, metric)]
            beaten = "".join(
                raised[letter]
                for letter, other in zip("abc", three.runs, strict=True)
                if (run, other, metric) in significant
            )
            assert cell == ("*" if run == "run_2" else "") + f"{mean:.4f}" + beaten
    notes = str(three).partition("\n\n")[2]
    head = "Best with a star; letters name the runs that a run is better than (p ≤ 0.05, corrected)."
    assert notes.startswith(f"{head}\n")
    assert notes.endswith(str(three.method)[-12:]) and max(map(len, notes.splitlines())) <= 100
    assert " ".join(notes.splitlines()[1:]) == str(three.method)


def test_all_that_are_best_stand_out():
    scores = values(a=[0.1, 0.2, 0.6], b=[0.6, 0.2, 0.1], c=[0.3, 0.3, 0.0])
    lines = fastir.compare_scores(scores).to_table(digits=2).splitlines()
    assert lines[:4] == ["#  run  score", "a  a    *0.30", "b  b    *0.30", "c  c     0.20"]
    assert "*" not in fastir.compare_scores({"a": scores["a"]}).to_table().partition("\n\n")[0]


def test_a_baseline_has_the_only_letter():
    found = fastir.compare(*collection(4), "map", baseline="run_1")
    cells = [row[2] for row in rows_of(str(found))[1:]]
    assert [re.sub(r"[*0-9.]", "", cell) for cell in cells] == ["", "ᵃ", "ᵇ", "ᵇ"]


def test_alpha_says_what_is_significant(three):
    assert "ᵃ" not in three.to_table(alpha=0.0) and "(p ≤ 0, corrected)" in three.to_table(alpha=0.0)
    assert rows_of(three.to_table(alpha=1.0))[3][2].endswith("ᵃᵇ")


@pytest.mark.parametrize("n", [25, 26, 40])
def test_any_number_of_runs(n):
    rng = random.Random(n)
    scores = {f"r{place}": {f"q{query}": place / 99 + rng.random() / 999 for query in range(5)} for place in range(n)}
    rows = rows_of(fastir.compare_scores(scores).to_table())[1:]
    assert len({row[0] for row in rows}) == n
    last = rows[-1][2].lstrip("*0.123456789")
    if n == 25:
        assert "".join(row[0] for row in rows) == LETTERS and last == "ᵃ⁻ʸ"
    else:
        assert [row[0] for row in rows] == [str(place + 1) for place in range(n)]
        assert last == "¹⁻" + str(n - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def test_marks_of_many_runs_are_short():
    numbers = labels_of(30)
    assert marks([0, 1, 2, 4, 6, 7, 29], numbers) == "1-3,5,7,8,30"
    assert marks([], numbers) == ""
    assert marks([2, 0], labels_of(5)) == "ac" and marks([0, 1, 2], labels_of(5)) == "abc"
    assert marks([4, 0, 1, 2, 3, 6], labels_of(9)) == "a-eg"


def test_intervals_stand_beside_the_means(three):
    rows = rows_of(three.to_table(intervals=True, digits=3))
    for row, run in zip(rows[1:], three.runs, strict=True):
        [system] = [system for system in three.systems if (system.run, system.metric) == (run, "ndcg@5")]
        assert row[3] == f"[{system.low:.3f}, {system.high:.3f}]"
    assert "95% intervals of the means in brackets." in three.to_table(intervals=True)


# ---- the table of the pairs ------------------------------------------------------------------------------------


def test_pairs_show_what_their_records_hold(three):
    rows = rows_of(fastir.compare(*collection(3), METRICS, correction=None).to_table(rows="pairs"))
    assert rows[0] == ["metric", "a", "b", "a - b", "95% interval", "p", "effect", "w/t/l"]
    for row, pair in zip(rows[1:], three.pairs, strict=True):
        assert row[:3] == [pair.metric, pair.a, pair.b]
        assert row[3] == ("*" if pair.adjusted_p <= 0.05 else "") + f"{pair.difference:+.4f}"
        assert row[4] == f"[{pair.low:.4f}, {pair.high:.4f}]"
        assert float(row[5]) == pytest.approx(pair.p_value, rel=0.05, abs=5e-5)
        assert row[7] == f"{pair.wins}/{pair.ties}/{pair.losses}"


def test_a_correction_has_its_own_column():
    found = fastir.compare(*collection(), "map", correction="holm")
    rows = rows_of(found.to_table(rows="pairs"))
    assert rows[0][5:7] == ["p", "corrected p"]
    adjusted = [pair.adjusted_p for pair in found.pairs]
    assert [float(row[6]) for row in rows[1:]] == pytest.approx(adjusted, rel=0.05, abs=5e-5)
    assert "(p ≤ 0.05, corrected)" in str(found)


def test_a_p_value_is_never_shown_as_0():
    exact = fastir.compare_scores(values(a=[1.0] * 9 + [0.9], b=[0.1] * 9 + [0.2])).pairs[0]
    assert p_text(exact, 1e-30, 0) == "1.0e-30"
    assert p_text(exact, math.nan, 0) == "-"
    sampled = exact._replace(exact=False, p_value=1 / 1000)
    assert p_text(sampled, 1 / 1000, 999) == "≤0.0010"
    assert p_text(sampled._replace(p_value=2 / 1000), 2 / 1000, 999) == "0.0020"


def test_only_p_values_that_are_resampled_are_shown_as_bounds():
    runs = {"a": {f"q{i}": i / 7 for i in range(60)}, "b": {f"q{i}": i / 9 + 0.01 for i in range(60)}}
    for test in ("t", "wilcoxon", "tukey"):
        found = fastir.compare_scores(runs, test=test, interval="percentile", n_resamples=500)
        assert not found.pairs[0].exact and found.pairs[0].p_value < 1e-6
        assert "≤" not in rows_of(found.to_table(rows="pairs"))[1][5], test
    found = fastir.compare_scores(runs, test="bootstrap", n_resamples=500)
    assert rows_of(found.to_table(rows="pairs"))[1][5].startswith("≤")


def test_an_exact_p_value_is_no_bound_however_small():
    runs = values(a=[1.0 + i / 64 for i in range(30)], b=[0.5 * (i % 2) for i in range(30)])
    found = fastir.compare_scores(runs, test="randomization", n_resamples=99)
    assert found.pairs[0].exact and found.pairs[0].p_value == 2**-29
    assert rows_of(found.to_table(rows="pairs"))[1][5] == "1.9e-09"
    assert p_text(found.pairs[0], 2**-29, 99) == "1.9e-09"  # where the test of other pairs is drawn


def test_a_p_value_that_is_alpha_counts_as_below():
    found = fastir.compare_scores(values(a=[1.0] * 5, b=[0.25, 0.5, 0.25, 0.5, 0.25]), test="sign")
    assert found.pairs[0].adjusted_p == 2**-4
    for alpha, beaten in ((2**-4, True), (2**-5, False)):
        assert ("ᵇ" in found.to_table(alpha=alpha).partition("\n\n")[0]) == beaten
        assert rows_of(found.to_table(rows="pairs", alpha=alpha))[1][3].startswith("*") == beaten


def test_what_is_degenerate_is_noted():
    found = fastir.compare_scores(values(a=[0.5, 0.5, 0.5], b=[0.25, 0.25, 0.25], c=[0.5, 0.5, 0.5]))
    rows = rows_of(found.to_table(rows="pairs"))
    assert rows[0][-1] == "note"
    assert rows[1][5] == "-" and rows[1][-1] == found.pairs[0].note != ""
    assert "ᵇ" not in str(found)


# ---- formats ---------------------------------------------------------------------------------------------------

AWKWARD = {r"a_b|c*<i>&\`": [0.1, 0.2, 0.3, 0.5], "50% $x$ {~^#}": [0.4, 0.6, 0.61, 0.9]}


def test_markdown():
    lines = fastir.compare_scores(values(**AWKWARD)).to_table("markdown", intervals=True, digits=2).splitlines()
    assert lines[:2] == ["| # | run | score |", "| :--- | :--- | ---: |"]
    assert lines[2].startswith(r"| a | a\_b\|c\*\<i>&\\\` | 0.28 [")
    assert lines[3].startswith(r"| b | 50% \$x\$ {\~^#} | **0.63**ᵃ [")
    assert "Best in bold; letters name" in lines[5]


def test_html():
    text = fastir.compare_scores(values(**AWKWARD)).to_table("html", intervals=True, digits=2)
    assert ">a_b|c*&lt;i&gt;&amp;\\`</td>" in text and "><b>0.63</b></td>" in text and ">a</sup></td>" in text
    opened = []

    class Checker(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Checker().feed(text)
    assert opened == []
    found = fastir.compare_scores(values(**AWKWARD))
    assert found._repr_html_() == found.to_table("html")


def test_names_of_metrics_are_text_in_html():
    runs = {run: {"a<b>&": {f"q{i}": i / 4 + place for i in range(3)}} for place, run in enumerate("xy")}
    assert ">a&lt;b&gt;&amp;</th>" in fastir.compare_scores(runs, "a<b>&").to_table("html")


def test_points_of_a_column_stand_below_each_other():
    assert pointed(["0.5", "12", "3.25", "-"]) == ["0.5 ", "12   ", "3.25", "-   "]
    assert pointed(["3", "12"]) == ["3", "12"]


def test_latex():
    text = fastir.compare_scores(values(**AWKWARD)).to_table("latex", digits=2)
    assert r"a & a\_b\textbar{}c*\textless{}i\textgreater{}\&\textbackslash{}` & 0.28 & \\" in text
    assert r"b & 50\% \$x\$ \{\textasciitilde{}\textasciicircum{}\#\} & \bfseries 0.63 & \textsuperscript{a} \\" in text
    assert (
        text.count("{") == text.count("}") and r"{llS[table-format=1.2,detect-weight]@{}l}" in text and r"$\le$" in text
    )
    rng = random.Random(0)
    many = {f"r{place}": [place + rng.random() for query in range(4)] for place in range(30)}
    assert r"\textsuperscript{1--29}" in fastir.compare_scores(values(**many), correction=None).to_table("latex")


@pytest.mark.parametrize("options", [{"format": "word"}, {"rows": "queries"}, {"digits": 0}])
def test_unknown_options_of_tables(three, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        three.to_table(**options)


# ---- records and files -----------------------------------------------------------------------------------------


def test_json_holds_everything_in_its_types():
    found = fastir.compare_scores(values(a=[0.5, 0.5], b=[0.25, 0.25]))
    data = json.loads(found.to_json(per_query=True))
    assert data["runs"] == ["a", "b"] and data["metrics"] == ["score"]
    assert data["pairs"][0]["p_value"] is None and data["pairs"][0]["difference"] == 0.25
    assert data["systems"][0] == {
        "run": "a",
        "metric": "score",
        "mean": 0.5,
        "low": data["systems"][0]["low"],
        "high": data["systems"][0]["high"],
        "n_queries": 2,
    }
    assert data["method"]["test"] == "t" and data["per_query"]["a"]["score"] == {"q0": 0.5, "q1": 0.5}
    assert "per_query" not in json.loads(found.to_json(per_query=False))
    named_by_tuples = fastir.compare_scores({(1, 2): {"q": 0.5, "r": 1.0}, "b": {"q": 0.0, "r": 0.0}})
    assert json.loads(named_by_tuples.to_json())["runs"] == ["(1, 2)", "b"]


def test_frames(three):
    pytest.importorskip("pandas")
    pairs, systems = three.to_pandas(), three.to_pandas(rows="runs")
    assert list(pairs.columns) == list(three.pairs[0]._fields) and len(pairs) == len(three.pairs)
    assert pairs["p_value"].tolist() == [pair.p_value for pair in three.pairs]
    assert systems["mean"].tolist() == [system.mean for system in three.systems]
    with pytest.raises(ValueError, match="rows must be one of 'runs', 'pairs', got 'all'"):
        three.to_pandas("all")


def test_files_hold_what_is_shown(three, tmp_path):
    for suffix, text in (
        (".txt", three.to_table()),
        (".md", three.to_table("markdown")),
        (".html", three.to_table("html")),
        (".tex", three.to_table("latex")),
    ):
        three.save(tmp_path / f"table{suffix}")
        assert (tmp_path / f"table{suffix}").read_text("utf-8") == text
    three.save(str(tmp_path / "all.json"))
    data = json.loads((tmp_path / "all.json").read_text())
    assert data.pop("fastir")["kind"] == "comparison" and data == json.loads(three.to_json(per_query=True))
    three.save(tmp_path / "pairs.tsv")
    _, head, *lines = (line.split("\t") for line in (tmp_path / "pairs.tsv").read_text().splitlines())
    assert head == list(three.pairs[0]._fields)
    assert [float(line[head.index("p_value")]) for line in lines] == [pair.p_value for pair in three.pairs]


def test_a_file_is_written_whole_or_not_at_all(three, tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(ValueError, match="digits"):
        three.save(path, digits=0)
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["old.txt"]
    with pytest.raises(ValueError, match=r"the name must end in \.tsv, \.json, \.parquet, \.txt, \.md, \.html, \.tex"):
        three.save(tmp_path / "x.docx")


@pytest.mark.parametrize("format", ["json", "tsv", "parquet"])
@pytest.mark.parametrize(
    ("scores", "options"),
    [
        ({"a": [0.1, 0.5, math.nan], "b": [0.3, 0.2, 0.0], "c": [1.0, 0.0, 1 / 3]}, {"correction": "holm"}),
        ({"a": [0.5, 0.5], "b": [0.25, 0.25]}, {"test": "sign", "baseline": "b"}),  # NaN and infinity
        ({"a": [0.5], "b": [0.25]}, {}),
        ({"only": [0.5, 0.25]}, {}),
    ],
)
def test_a_saved_comparison_reads_back_to_an_equal_one(scores, options, format, tmp_path):
    path = tmp_path / f"comparison.{format}"
    comparison = fastir.compare_scores(values(**scores), **options)
    comparison.save(path)
    found = fastir.Comparison.load(path)
    assert found == comparison
    assert found.method == comparison.method and str(found.pairs) == str(comparison.pairs)
    assert str(found.systems) == str(comparison.systems)
    assert found.values.tobytes() == comparison.values.tobytes()
    assert found.to_table("latex", rows="pairs") == comparison.to_table("latex", rows="pairs")
    with pytest.raises(fastir.FormatError, match="saved comparison, expected results"):
        fastir.load_results(path)


@pytest.mark.parametrize("key", ["runs", "metrics", "systems", "pairs", "method", "query_ids", "per_query"])
def test_a_changed_comparison_is_refused(key, three, tmp_path):
    three.save(tmp_path / "x.json")
    data = json.loads((tmp_path / "x.json").read_text())
    del data[key]
    (tmp_path / "x.json").write_text(json.dumps(data, indent=2))
    with pytest.raises(fastir.FormatError, match=r"x\.json: a saved comparison that was cut or changed: the checksum"):
        fastir.Comparison.load(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(sealed((tmp_path / "x.json").read_bytes()))
    with pytest.raises(fastir.FormatError, match=rf"x\.json: a saved comparison that was cut or changed: .*{key}"):
        fastir.Comparison.load(tmp_path / "x.json")


# ---- differences by query --------------------------------------------------------------------------------------


def test_a_comparison_says_which_queries_gain_and_lose(three):
    qrels, runs = collection()
    results = fastir.evaluate_many(qrels, runs, METRICS)
    expected = results["run_2"].diff(results["run_0"], "map", top=5)
    found = three.diff("run_2", "run_0", "map", top=5)
    assert (found.gains, found.losses) == (expected.gains, expected.losses)
    assert math.isclose(found.mean, expected.mean, rel_tol=1e-15)
    [pair] = [pair for pair in three.pairs if (pair.a, pair.b, pair.metric) == ("run_0", "run_2", "map")]
    assert (found.n_gains, found.n_equal, found.n_losses) == (pair.losses, pair.ties, pair.wins)
    for arguments in (("run_9", "run_0", "map"), ("run_0", "run_9", "map"), ("run_0", "run_1", "p@9")):
        with pytest.raises(KeyError, match="was not compared; there are "):
            three.diff(*arguments)
