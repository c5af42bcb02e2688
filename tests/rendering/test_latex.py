"""Tables as LaTeX: what is written, and, where there is pdflatex, that it compiles and fits a page of A4."""

import random
import re
import shutil
import subprocess

import pytest
from processes import patient

import fastir
from fastir.rendering import Cell, Table, render
from fastir.rendering.latex import latex_cell

NEEDS = re.compile(r"% needs (\\usepackage\{\S+\})\n")
ODD = [
    "under_score", "50%", "a&b", "#1", "~home", "x^2", "back\\slash", "{brace}", "<tag>", "pi|pe", "$5",
    "two--dashes",
]  # fmt: skip
STARTS = ["[option]", "*star"]


def table(texts, first=1, notes=()):
    """A table of one column of labels and one of these texts, with the name of each row."""
    rows = [[Cell(f"r{place}"), Cell(text)] for place, text in enumerate(texts)]
    return render(Table(["name", "value"], rows, first, list(notes)), "latex")


def kind(texts):
    """The kind of the column of these texts."""
    return re.search(r"\\begin\{tabular\}\{l(.*)\}\n", table(texts))[1]


def runs(n, metrics=("ndcg@10", "map", "recip_rank", "rbp(p=0.95)", "P@10"), name="run_{}"):
    rng = random.Random(n)
    return fastir.compare_scores({
        name.format(place): {m: {f"q{q}": place / 40 + rng.random() / 9 for q in range(20)} for m in metrics}
        for place in range(n)
    }, correction="holm")  # fmt: skip


# ---- text ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("texts", "expected"), [
    (["0.5", "12.25"], "S[table-format=2.2]"), (["3", "12"], "S[table-format=2]"),
    (["-0.5", "1"], "S[table-format=-1.1]"),
    (["+0.5", "-0.25"], "S[table-format=-1.2,retain-explicit-plus]"),
    (["0.5", "-", "nan"], "S[table-format=1.1]"), (["0.5", "1e-05"], "r"), (["≤0.01"], "r"), (["-"], "r"),
])  # fmt: skip
def test_columns_of_plain_numbers_are_aligned_by_siunitx(texts, expected):
    assert kind(texts) == expected


def test_what_is_no_number_is_hidden_from_siunitx():
    lines = table(["0.5", "-", "nan", ""]).splitlines()
    assert r"r1 & {-} \\" in lines and r"r2 & {nan} \\" in lines and r"r3 & \\" in lines


def test_minus_signs_are_true_where_siunitx_does_not_see_them():
    assert r"[$-$0.1, 2.0]" in table(["[-0.1, 2.0]"]) and r"$1\times10^{-5}$" in table(["1e-05"])
    assert r"{a $-$ b}" in runs(3).to_table("latex", rows="pairs")


def test_the_best_are_bold_and_marks_stand_behind_the_numbers():
    text = runs(6).to_table("latex", alpha=1.0)
    assert r"& \bfseries " in text and r"\textsuperscript{a--e}" in text
    assert r"\begin{tabular}{ll*{5}{S[table-format=1.4,detect-weight]@{}l}}" in text


def test_the_first_line_names_the_packages():
    assert table(["1"]).startswith("% needs \\usepackage{adjustbox,booktabs,siunitx}\n\\begin{table}")
    assert table(["1"] * 41).startswith("% needs \\usepackage{booktabs,longtable,siunitx}\n")


def test_caption_and_label():
    results = fastir.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map")
    text = results.to_table("latex", caption="50 % of x_1", label="tab:x_1")
    assert "\\caption{50 \\% of x\\_1}\n\\label{tab:x_1}\n" in text
    assert "caption" not in results.to_table("latex", caption="")


def test_names_that_latex_would_read_as_options_of_the_line_before():
    lines = render(Table(["x", "y"], [[Cell(name), Cell("1")] for name in STARTS], 1, []), "latex").splitlines()
    assert [line for line in lines if line.endswith(r"1 \\")] == [r"{}[option] & 1 \\", r"{}*star & 1 \\"]


def test_more_rows_than_a_page_has_are_a_longtable_in_a_size_that_fits():
    text = runs(20, ["map"]).to_table("latex", rows="pairs", caption="Pairs", label="tab:p")
    assert "\\begin{longtable}" in text and "\\caption{Pairs}\\label{tab:p} \\\\\n" in text and "landscape" not in text
    assert text.count(r"\toprule") == 2 and r"\begin{table}" not in text
    assert r"\begin{landscape}" in runs(20, ["map"], "a_rather_long_name_{}").to_table("latex", rows="pairs")


# ---- compiled --------------------------------------------------------------------------------------------------
def tables():
    few, many = runs(4), runs(20)
    query = fastir.evaluate({f"q{i}": {"d": 1} for i in range(90)}, {f"q{i}": {"d": 1.0} for i in range(90)}, "map")
    odd = fastir.compare_scores({name: {"x_%": {"a": place / 9, "b": 0.5}} for place, name in enumerate(ODD + STARTS)})
    by_run = fastir.evaluate_many(
        {"q": {"d": 1}}, {f"run_{i}": {"q": {"d": 1.0}} for i in range(20)}, ["map", "num_ret"]
    )
    yield from (few.to_table("latex", rows=rows, intervals=True) for rows in ("runs", "pairs"))
    yield many.to_table("latex")
    yield from (runs(12, ["map"], name).to_table("latex", rows="pairs") for name in ("run_{}", "a_rather_long_name_{}"))
    yield runs(30, ["map"]).to_table("latex")
    yield from (odd.to_table("latex", rows=rows) for rows in ("runs", "pairs"))
    yield from (by_run.to_table("latex", transpose=transpose) for transpose in (False, True))
    yield from (query.to_table("latex", per_query=per_query) for per_query in (False, True))
    yield query.diff(query, "map").to_table("latex")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_every_table_compiles_with_the_packages_it_names_and_fits_a_page(tmp_path):
    written = list(tables())
    packages = dict.fromkeys(NEEDS.match(text)[1] for text in written)
    document = ["\\documentclass[a4paper]{article}", *packages, "\\begin{document}", *written, "\\end{document}"]
    (tmp_path / "x.tex").write_text("\n\\clearpage\n".join(document).replace("\\clearpage\n", "", len(packages) + 1))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    for _ in range(2):  # a longtable knows its widths in the second round
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, timeout=patient(120))
    log = (tmp_path / "x.log").read_text("latin-1")
    if "siunitx.sty' not found" in log or "adjustbox.sty' not found" in log:
        pytest.skip("needs siunitx and adjustbox")
    assert done.returncode == 0, log[-2000:]
    assert not re.findall(r"Overfull .*|.*Float too large.*", log)


# ---- small p-values are powers of ten in LaTeX, not text with an e ---------------------------------------------------
@pytest.mark.parametrize(("text", "latex"), [
    ("4.1e-06", r"$4.1\times10^{-6}$"), ("≤1.0e-05", r"$\leq 1.0\times10^{-5}$"), ("2e-120", r"$2\times10^{-120}$"),
    ("-0.5", "$-$0.5"),
])  # fmt: skip
def test_a_small_p_value_is_a_power_of_ten(text, latex):
    assert list(latex_cell(Cell(text), "r", (False, False))) == [latex]
