"""Small p-values are powers of ten in LaTeX, not text with an e."""

import pytest

from fastir.rendering import Cell
from fastir.rendering.latex import latex_cell


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("4.1e-06", r"$4.1\times10^{-6}$"),
        ("≤1.0e-05", r"$\leq 1.0\times10^{-5}$"),
        ("2e-120", r"$2\times10^{-120}$"),
        ("-0.5", "$-$0.5"),
    ],
)
def test_a_small_p_value_is_a_power_of_ten(text, latex):
    assert list(latex_cell(Cell(text), "r", (False, False))) == [latex]
