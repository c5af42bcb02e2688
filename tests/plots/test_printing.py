"""Pictures can be printed: labels are read with 2, 8 and 20 runs, in any theme and size; PDF has TrueType fonts."""

import random
import re
import shutil
import subprocess
import zlib

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

from pictures import all_texts, apart, drawn  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402

SHAPES = {
    "fold": "msmarco-passage-dev-bm25-rm3-k1=0.9-b=0.4-fold-{:02}",
    "middle": "msmarco-passage-dev-bm25-k1=0.{}-monot5-base-rerank-top1000",
    "unlike": "{0}{0} nothing is shared by these names, not even {0} one word {0}",
}
THEMES = {
    "light": {},
    "dark": "dark_background",
    "a column of a paper": {"font.size": 7, "figure.figsize": (3.3, 2.5)},
    "slides": {"font.size": 16, "font.family": "serif"},
}


def scores(runs, shape, queries=100):
    """Values of runs with long names, of which some differ significantly."""
    rng = random.Random(runs)
    return {
        SHAPES[shape].format(place + 1): {
            f"topic-{query}": min(1.0, max(0.0, rng.gauss(0.3 + (7 * place % 20) / 80, 0.25)))
            for query in range(queries)
        }
        for place in range(runs)
    }


def pictures(runs, shape):
    """Every picture of runs, by name."""
    comparison = fastir.compare_scores(scores(runs, shape), "ndcg@10", correction="holm")
    qrels = {f"q{query}": {f"d{doc}": doc % 3 for doc in range(20)} for query in range(5)}
    rng = random.Random(1)
    rankings = {run: {q: {doc: rng.random() for doc in docs} for q, docs in qrels.items()} for run in comparison.runs}
    yield "means", plots.means(comparison, sort=True)
    yield "forest", plots.forest(comparison)
    yield "wins", plots.wins(comparison)
    yield "differences", plots.differences(comparison, *comparison.runs[:2])
    yield "cutoffs", plots.cutoffs(qrels, rankings, cutoffs=(1, 5, 20))
    yield "precision_recall", plots.precision_recall(qrels, rankings, sort=True)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.mark.parametrize(
    ("runs", "shape", "theme"),
    [
        *((runs, shape, "light") for runs in (2, 8, 20) for shape in SHAPES),
        *((runs, "fold", theme) for runs, theme in ((20, "dark"), (20, "a column of a paper"), (8, "slides"))),
    ],
)
def test_no_label_covers_another_or_is_cut(runs, shape, theme):
    with pyplot.style.context(THEMES[theme]):
        for name, ax in pictures(runs, shape):
            assert apart(drawn(ax), all_texts(ax.figure)), name


def test_twenty_runs_are_told_apart():
    for name, ax in pictures(20, "fold"):
        legend = ax.get_legend()
        labels = legend.get_texts() if legend else [] if name == "differences" else ax.get_yticklabels()
        shown = [label.get_text() for label in labels]
        assert len(set(shown)) == len(shown) == (0 if name == "differences" else 20), name
        assert all(re.match(r"fold-\d\d(  \w)?$", text) for text in shown), name
        assert "msmarco-passage-dev-" in ax.get_xlabel(), name


def test_legends_do_not_cover_the_data():
    for name, ax in pictures(8, "unlike"):
        drawn(ax)
        if ax.get_legend():
            assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1, name


@pytest.mark.parametrize("theme", ["dark", "a column of a paper"])
def test_rcparams_hold_and_stay(theme, tmp_path):
    with pyplot.style.context(THEMES[theme]):
        before = dict(matplotlib.rcParams)
        for name, ax in pictures(3, "fold"):
            ax.figure.savefig(tmp_path / f"{name}.pdf")
            if name != "wins":
                smallest = min(before["font.size"] * 0.8, 8)
                assert all(text.get_size() >= smallest for text in all_texts(ax.figure)), name
                assert {text.get_family()[0] for text in all_texts(ax.figure)} == {before["font.family"][0]}
                on = matplotlib.colors.to_rgb(before["text.color"])
                assert {matplotlib.colors.to_rgb(text.get_color()) for text in all_texts(ax.figure)} == {on}
        plots.overview(fastir.compare_scores(scores(3, "fold"))).savefig(tmp_path / "overview.pdf")
        assert dict(matplotlib.rcParams) == before


def test_the_zero_line_and_the_grid_are_seen_on_black():
    with pyplot.style.context("dark_background"):
        for name, ax in pictures(3, "fold"):
            lines = [*ax.lines, *(ax.xaxis.get_gridlines() if name != "wins" else [])]
            assert all(matplotlib.colors.to_hex(line.get_color()) != "#000000" for line in lines), name


def fonts(path):
    """The subtypes of the fonts in a PDF, its compressed objects included."""
    content = path.read_bytes()
    for packed in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            content += zlib.decompress(packed)
        except zlib.error:
            continue
    return {
        found.decode() for found in re.findall(rb"/Subtype\s*/(Type0|Type1|Type3|TrueType|CIDFontType\d)\b", content)
    }


def test_pdf_has_truetype_fonts(tmp_path):
    comparison = fastir.compare_scores(scores(3, "fold"))
    drawings = {
        "axes": plots.means(comparison).figure,
        "overview": plots.overview(comparison),
        "lines": plots.rank_weights(["mrr", "dcg"]).figure,
    }
    for name, figure in drawings.items():
        path = tmp_path / f"{name}.pdf"
        figure.savefig(path)
        assert fonts(path) == {"Type0", "CIDFontType2"}, name
        if shutil.which("pdffonts"):
            listed = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True).stdout
            rows = listed.splitlines()[2:]
            assert rows and all("TrueType" in row and "Type 3" not in row for row in rows)
    matplotlib.figure.Figure().savefig(tmp_path / "other.pdf")
    assert "Type3" not in fonts(tmp_path / "other.pdf")


def test_what_is_public_and_nothing_else():
    assert sorted({*plots.__all__, "__doc__"}) == dir(plots)
    assert all(getattr(plots, name).__module__.startswith("fastir.plots.") for name in plots.__all__)
