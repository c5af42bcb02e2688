"""Tables of a comparison: letters, intervals, notes and p-values, in every format."""

import csv
import html.parser
import io
import itertools
import math
import random
import re

import pytest
from compared_runs import METRICS, collection, values

import fastir
from fastir.analyses.compare.tables import LETTERS, mark_labels, marks_text, p_text, pair_lines
from fastir.rendering.cells import align_points


def rows_of(table):
    """The cells of a text table above the notes; a metric that is not repeated is put in."""
    rows = [re.split(r"  +", line.rstrip()) for line in table.partition("\n\n")[0].splitlines()]
    for above, row in itertools.pairwise(rows):
        row[0] = row[0] or above[0]
    return rows


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
    numbers = mark_labels(30)
    assert marks_text([0, 1, 2, 4, 6, 7, 29], numbers) == "1-3,5,7,8,30"
    assert marks_text([], numbers) == ""
    assert marks_text([2, 0], mark_labels(5)) == "ac" and marks_text([0, 1, 2], mark_labels(5)) == "abc"
    assert marks_text([4, 0, 1, 2, 3, 6], mark_labels(9)) == "a-eg"


def test_intervals_stand_beside_the_means(three):
    rows = rows_of(three.to_table(intervals=True, digits=3))
    for row, run in zip(rows[1:], three.runs, strict=True):
        [system] = [system for system in three.systems if (system.run, system.metric) == (run, "ndcg@5")]
        assert row[3] == f"[{system.low:.3f}, {system.high:.3f}]"
    assert "95% bootstrap intervals of the means in brackets." in three.to_table(intervals=True)


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
    assert rows[1][5] == "-" and f"{rows[1][-1]}: {found.pairs[0].note}" in found.to_table(rows="pairs")
    assert "ᵇ" not in str(found)


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
    assert align_points(["0.5", "12", "3.25", "-"]) == ["0.5 ", "12   ", "3.25", "-   "]
    assert align_points(["3", "12"]) == ["3", "12"]


def test_latex():
    tex = fastir.compare_scores(values(**AWKWARD)).to_table("latex", digits=2)
    assert r"a & a\_b\textbar{}c*\textless{}i\textgreater{}\&\textbackslash{}` & 0.28 & \\" in tex
    assert r"b & 50\% \$x\$ \{\textasciitilde{}\textasciicircum{}\#\} & \bfseries 0.63 & \textsuperscript{a} \\" in tex
    assert tex.count("{") == tex.count("}") and r"{llS[table-format=1.2,detect-weight]@{}l}" in tex and r"$\le$" in tex
    rng = random.Random(0)
    many = {f"r{place}": [place + rng.random() for query in range(4)] for place in range(30)}
    assert r"\textsuperscript{1--29}" in fastir.compare_scores(values(**many), correction=None).to_table("latex")


@pytest.mark.parametrize("options", [{"format": "word"}, {"rows": "queries"}, {"digits": 0}])
def test_unknown_options_of_tables(three, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        three.to_table(**options)


def test_runs_and_segments_of_one_text_are_told_apart():
    """1 and "1", and a segment that is called like the rows below the segments."""
    first = {f"q{number}": number % 3 / 2 for number in range(8)}
    runs = {1: first, "1": {query: 1 - value for query, value in first.items()}, "'1'": dict.fromkeys(first, 0.25)}
    segments = {query: ("all", 2, "2", "macro")[number // 2] for number, query in enumerate(first)}
    comparison = fastir.compare_scores(runs, segments=segments, test="randomization")
    rows = list(csv.DictReader(io.StringIO(comparison.to_table("csv"))))
    names = ["1", "'1'", "'1' (2)"]
    places = ["'all'", "2", "'2'", "'macro'", "all", "macro"]
    assert [(row["segment"], row["run"]) for row in rows] == [(place, name) for place in places for name in names]
    pairs = list(csv.DictReader(io.StringIO(comparison.to_table("csv", rows="pairs"))))
    assert [(row["a"], row["b"]) for row in pairs[:3]] == [
        (names[0], names[1]), (names[0], names[2]), (names[1], names[2]),
    ]  # fmt: skip
    lines = pair_lines(comparison.pairs, {segment: part.pairs for segment, part in comparison.segments.items()})
    assert list(dict.fromkeys(line.split("\t")[0] for line in lines.splitlines()[1:])) == [*places[:3], "macro", "all"]
