"""Tables as text, Markdown and CSV: by hand, with marks, intervals, notes and names that mean something there.

Also of: cells, formats.
"""

import csv
import io

import pytest

from fastir.rendering import Cell, Table, render
from fastir.rendering.cells import align_points, number_cell, swap_axes

TABLE = Table(["run", "map"], [
    [Cell("bm_25|a"), Cell("0.5", beats="b", interval="[0.4, 0.6]", strong=True, exact="0.5000000000000001")],
    [Cell("dense"), Cell("0.25", exact="0.25")],
], 1, ["The best mean is in bold."], "Two runs")  # fmt: skip


def test_text_stars_the_best_and_puts_points_below_each_other():
    assert render(TABLE, "text").splitlines() == [
        "Two runs", "run        map", "bm_25|a  *0.5 ᵇ  [0.4, 0.6]", "dense     0.25", "",
        "The best mean is with a star.",
    ]  # fmt: skip


def test_markdown_escapes_names_and_has_the_title_among_the_notes():
    assert render(TABLE, "markdown").splitlines() == [
        "| run | map |", "| :--- | ---: |", r"| bm\_25\|a | **0.5**ᵇ [0.4, 0.6] |", "| dense | 0.25 |", "",
        "Two runs", "The best mean is in bold.",
    ]  # fmt: skip


def test_csv_has_exact_values_and_no_notes():
    assert list(csv.reader(io.StringIO(render(TABLE, "csv")))) == [
        ["run", "map"],
        ["bm_25|a", "0.5000000000000001"],
        ["dense", "0.25"],
    ]


@pytest.mark.parametrize("format", ["text", "markdown", "html", "latex"])
def test_a_caption_stands_in_place_of_title_and_notes(format):
    written = render(TABLE, format, caption="My own words")
    assert "My own words" in written
    assert "Two runs" not in written and "best mean" not in written
    assert "My own words" not in render(TABLE, format, caption="")


def test_a_format_that_does_not_exist_is_named():
    with pytest.raises(
        ValueError, match="format must be one of 'text', 'markdown', 'html', 'latex', 'csv', got 'word'"
    ):
        render(TABLE, "word")


def test_cells_of_numbers_and_of_none():
    assert number_cell(1 / 3, 3) == Cell("0.333", exact="0.3333333333333333")
    assert number_cell(None, 3).text == "-" and number_cell(None, 3).exact == ""


def test_columns_become_rows_below_the_labels_of_the_rows():
    turned = swap_axes(TABLE)
    assert turned.head == ["run", "bm_25|a", "dense"]
    assert [[cell.text for cell in row] for row in turned.rows] == [["map", "0.5", "0.25"]]
    assert turned.first == 1


@pytest.mark.parametrize(("texts", "padded"), [
    (["1.5", "10", "0.125"], ["1.5  ", "10    ", "0.125"]),
    (["1", "10"], ["1", "10"]),
    (["1.5", "3/4"], ["1.5", "3/4"]),
    (["1.5", "1e-05"], ["1.5", "1e-05"]),
])  # fmt: skip
def test_only_columns_of_plain_numbers_are_pointed(texts, padded):
    assert align_points(texts) == padded


def test_a_long_name_of_digits_is_told_from_a_number_in_linear_time():
    """The name is so long that a step for each pair of its digits would not end."""
    names = ["+" + "1" * (1 << 17) + end for end in ("x", "e", "", ".")]
    table = Table(["run"], [[Cell(name)] for name in names], 1, [])
    rows = render(table, "csv").splitlines()[1:]
    assert [row.startswith("'") for row in rows] == [True, True, False, False]
    assert render(table, "latex")
