"""Names that go to a terminal, a page or a spreadsheet: none steers it; files for programs have them exactly."""
# Also of: text.

import csv
import io
import json
import re

import pytest

import fastir
from fastir.rendering import Cell, Table, render
from fastir.rendering.names import without_common
from fastir.rendering.text import UNPRINTABLE, printable

ODD = "\x1b[31mred\x07\r\n\t\x7f\x9b0m\u202etxt\udc9b"
SHOWN = r"\x1b[31mred\x07\r\n\t\x7f\x9b0m\u202etxt\udc9b"
PLAIN = ["a", "é", "文", "\udcff", "a b", "-", "\u200f"]
FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "-x", "\t=1", "\r=1", "--", "+a"]
NUMBERS = ["-0.5", "+1e-07", "-inf", "1", "nan", "-.5"]


def make(name):
    """Everything that is shown by the name of a run, a query or a segment."""
    results = fastir.evaluate({name: {"d": 1}}, {name: {"d": 1.0}}, "map")
    runs = fastir.evaluate_many({name: {"d": 1}, "q": {"d": 1}}, {name: {name: {"d": 1.0}, "q": {"d": 1.0}}, "b": {
        name: {"x": 2.0, "d": 1.0}, "q": {"d": 1.0}}}, "map")  # fmt: skip
    compared = fastir.compare_scores(runs, segments={name: name, "q": "other"})
    return [results, runs, compared, results.by_segment({name: name}), runs[name].diff(runs["b"], "map")]


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_nothing_that_is_shown_steers_a_terminal():
    for one in make(ODD):
        texts = [repr(one), *(one.to_table(format) for format in ("text", "markdown", "html", "latex"))]
        if isinstance(one, fastir.Comparison):
            texts.append(one.to_table(rows="pairs"))
        if isinstance(one, fastir.Results):
            texts += [one.to_table(per_query=True), repr(one.report)]
        assert not re.search(UNPRINTABLE, re.sub("[\t\r\n]", "", one.to_table("csv"))), one
        for text in texts:
            assert not re.search(UNPRINTABLE, text.replace("\n", "")), text
            assert "0m" not in text or r"\x9b0m" in text or r"\textbackslash" in text or r"\\x9b" in text
    assert SHOWN in repr(make(ODD)[1])


@pytest.mark.parametrize("char", ["\u200b", "\u2060", "\u2063", "\u2064", "\ufeff"])
def test_characters_without_width_are_seen_in_whatever_is_shown(char):
    shown = repr(f"run{char}")[1:-1]
    for one in make(f"run{char}"):
        assert not any(char in text for text in (repr(one), one.to_table("text"), one.to_table("html")))
    assert shown in repr(make(f"run{char}")[1])
    runs = {name: {"q": {"d": 1.0}} for name in ("run", f"run{char}")}
    assert shown in repr(fastir.evaluate_many({"q": {"d": 1}}, runs, "map"))


@pytest.mark.parametrize("name", [*PLAIN, "می\u200cخواهم", "क्\u200dष"])
def test_other_names_are_shown_as_they_are(name):
    assert printable(name) == name
    assert render(Table(["run"], [[Cell(name)]], 1, []), "text") == f"run\n{name}\n".rstrip(" ")


def test_the_command_shows_no_name_that_steers_a_terminal(call, tmp_path):
    """Neither in its table nor in its messages; TSV and JSON have the bytes."""
    name = "q\x1b[2J"
    (tmp_path / "qrels").write_text(f"{name} 0 d 1\n")
    (tmp_path / "run\x1b").write_text(f"{name} Q0 d 1 2 t\n")
    command = ("eval", tmp_path / "qrels", tmp_path / "run\x1b", "-m", "map", "-q")
    for more in ((), ("--format", "markdown"), ("--format", "html"), ("--fail-under", "map=2")):
        _, out, err = call(*command, *more)
        assert "\x1b" not in out + err and r"\x1b" in out
    assert r"run run\x1b: map is 1, under 2" in err
    assert call(*command, "--format", "tsv")[1].splitlines()[1] == f"{name}\t1.0"
    assert list(json.loads(call(*command, "--format", "json")[1])["per_query"]) == [name]
    assert call("eval", tmp_path / "\x1b", tmp_path / "none")[2].count("\x1b") == 0
    assert call("eval", "--\x1b")[2].count("\x1b") == 0


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("format", ["tsv", "json", "parquet"])
def test_files_for_programs_have_the_names_exactly(format, tmp_path):
    names = [ODD.replace("\udc9b", ""), *FORMULAS, "<b>"]
    results = fastir.evaluate({name: {"d": 1} for name in names}, {name: {"d": 1.0} for name in names}, "map")
    results.save(tmp_path / f"x.{format}")
    assert fastir.load_results(tmp_path / f"x.{format}").query_ids == names


def cells_of(text):
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]


def test_texts_that_a_spreadsheet_would_compute_stand_behind_an_apostrophe(call, tmp_path):
    names = [*FORMULAS, *NUMBERS, *PLAIN[:3], "a=1", ODD.replace("\udc9b", "")]
    table = Table(["=1", "x"], [[Cell(name), Cell("0.5", exact="-0.5")] for name in names], 1, [])
    text = render(table, "csv")
    assert text.splitlines()[0] == "'=1,x"
    odd = r"\x1b[31mred\x07" + "\r\n\t" + r"\x7f\x9b0m\u202etxt"
    assert cells_of(text) == [f"'{name}" for name in FORMULAS] + names[len(FORMULAS) : -1] + [odd]
    assert cells_of(render(table, "csv", formulas=True)) == names
    assert {row[1] for row in csv.reader(io.StringIO(text, newline=""))} == {"x", "-0.5"}
    results = fastir.evaluate({"=1+1": {"d": 1}}, {"=1+1": {"d": 1.0}}, "map")
    results.save(tmp_path / "x.csv", per_query=True)
    assert (tmp_path / "x.csv").read_text() == "query_id,map\n'=1+1,1.0\nmean,1.0\n"
    results.save(tmp_path / "x.csv", per_query=True, formulas=True)
    assert (tmp_path / "x.csv").read_text() == "query_id,map\n=1+1,1.0\nmean,1.0\n"
    with pytest.raises(TypeError, match="formulas"):
        results.to_table("csv", formulas="yes")
    (tmp_path / "qrels").write_text("=1 0 d 1\n")
    (tmp_path / "run").write_text("=1 Q0 d 1 2 t\n")
    command = ("eval", tmp_path / "qrels", tmp_path / "run", "-m", "map", "-q", "--format", "csv")
    assert "'=1,1.0" in call(*command)[1]
    assert "\n=1,1.0" in call(*command, "--formulas")[1]


def test_markdown_shows_names_as_they_are():
    """As a program that knows Markdown sees it: the only tags are those of the table."""
    markdown_it = pytest.importorskip("markdown_it")
    names = [
        "<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](http://a/b.png)", "[a][b]", "**bold**", "_it_",
        "`code`", "~~gone~~", "&lt;b&gt;", "a|b", "a\nb", "a\r\n| c |", "\\", "\\|", "https://example.org", "$x$",
    ]  # fmt: skip
    text = render(Table(["run", "<i>"], [[Cell(name), Cell("1")] for name in names], 1, ["<b> [x](y)"]), "markdown")
    page = markdown_it.MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
    tags = {part.split(">")[0].split(" ")[0].strip("/") for part in page.split("<")[1:]}
    assert tags == {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert page.count("<tr>") == 1 + len(names)


@pytest.mark.parametrize(("name", "written"), [
    ("<script>", r"\<script>"), ("[x](javascript:1)", r"[x\](javascript:1)"), ("[a][b]", r"[a\][b]"),
    ("a|b*c_d`e~f&g&lt;$h\\", r"a\|b\*c\_d\`e\~f&g\&lt;\$h" + "\\" * 2), ("a\nb\r", r"a\\nb\\r"),
    ("https://x", r"https:\//x"), ("[0.1, 0.2] a.b-c", "[0.1, 0.2] a.b-c"),
])  # fmt: skip
def test_what_would_be_markup_in_markdown_is_escaped(name, written):
    assert render(Table(["x"], [[Cell(name)]], 1, []), "markdown") == f"| x |\n| :--- |\n| {written} |\n"


def test_a_common_beginning_of_runs_is_said_once_for_people_and_never_cut_for_programs():
    runs = {f"core17.{name}": {"q": {"a": score, "b": 1.0}} for name, score in (("bm25", 2.0), ("dense", 0.0))}
    results = fastir.evaluate_many({"q": {"a": 1}}, runs, "mrr")
    for format in ("text", "markdown", "html", "latex"):
        table = results.to_table(format)
        assert table.count("core17.") == 1 and "names: core17." in table
        assert results.to_table(format, caption="mine").count("core17.") == 2
    assert results.to_table("csv").count("core17.") == results.to_json().count('"core17.') == 2
    pairs = fastir.compare({"q1": {"a": 1}, "q2": {"a": 1}}, {n: {"q1": r["q"], "q2": r["q"]} for n, r in runs.items()})
    assert pairs.to_table(rows="pairs").count("core17.") == 2  # once for each letter


@pytest.mark.parametrize(("given", "short", "note"), [
    (["core17.pisa.bm25", "core17.jass"], ["pisa.bm25", "jass"], "names: core17.…"),
    (["bm25.k1=0.9123", "bm25.k1=0.9456"], ["k1=0.9123", "k1=0.9456"], "names: bm25.…"),
    (["dl19.BM25", "dl19.DPH"], ["BM25", "DPH"], "names: dl19.…"), (["run-1a", "run-2a"], ["run-1a", "run-2a"], ""),
    (["alone.and.long"], ["alone.and.long"], ""),
    ([], [], ""),
])  # fmt: skip
def test_names_are_cut_at_separators_and_not_inside_of_numbers(given, short, note):
    assert without_common(given) == (short, note)
