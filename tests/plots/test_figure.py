"""Figures that are printed: PDF has TrueType fonts."""

import re
import shutil
import subprocess
import zlib

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
from printed import scores  # noqa: E402

import fastir  # noqa: E402
from fastir import plots  # noqa: E402


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


def test_a_figure_shows_itself_in_a_notebook_without_pyplot():
    from fastir.plots.figure import Figure

    assert Figure()._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
