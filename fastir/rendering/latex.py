"""Tables as LaTeX: rules by booktabs, numbers aligned by siunitx.

A table is scaled down where it is wider than the text. One of more rows than a page has is a longtable, which cannot be
scaled: it gets a smaller type, or is turned.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from fastir.rendering.cells import Cell, Table, extras

LATEX = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "≤": "$\\le$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)
POWER = re.compile(r"(≤?)([0-9.]+)e([+-][0-9]+)")  # a small p-value
MINUS = re.compile(r"-(?=\d)")
NUMBER = re.compile(r"([+-]?)(\d++)\.?(\d*)")
PAGE_ROWS = 40  # of 10 point type, with some lines of a caption
A4 = {"": 345, "landscape": 598}  # points of text in the class article, upright and turned
SIZES = {"normalsize": 5.0, "small": 4.63, "footnotesize": 4.25, "scriptsize": 3.98}  # points of a digit
NARROW_LETTERS = ".,:;/()[] "
LONG_GAP = 3  # points at either side of a column of a longtable


def as_latex(table: Table, label: str | None = None) -> str:
    """A float, or a longtable if it has more rows than a page; the first line says which packages it needs."""
    shown = extras(table)
    kinds = [
        "l" if place < table.first else column_kind([row[place] for row in table.rows])
        for place in range(len(table.head))
    ]
    head = f"\\toprule\n{' & '.join(map(head_cell, table.head, kinds, shown))} \\\\\n\\midrule"
    rows = [" & ".join(itertools.chain(*map(latex_cell, row, kinds, shown))).rstrip() + r" \\" for row in table.rows]
    rows = ["{}" + row if row[0] in "[*" else row for row in rows]  # else they would be an option of the line above
    columns = column_spec(
        kind + "@{}l" * marks + "r" * interval for kind, (marks, interval) in zip(kinds, shown, strict=True)
    )
    caption = [f"\\caption{{{escape(' '.join(table.notes))}}}"] if table.notes else []
    if label:
        caption.append(f"\\label{{{label}}}")
    if len(rows) > PAGE_ROWS:
        return long(columns, caption, head, rows, *type_size(table))
    return "\n".join(
        [
            r"% needs \usepackage{adjustbox,booktabs,siunitx}",
            r"\begin{table}",
            r"\centering",
            *caption,
            r"\begin{adjustbox}{max width=\linewidth}",
            f"\\begin{{tabular}}{{{columns}}}",
            head,
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            r"\end{table}",
            "",
        ]
    )


def long(columns: str, caption: list[str], head: str, rows: list[str], page: str, size: str) -> str:
    """A table of several pages, the head on each."""
    return "\n".join(
        [
            f"% needs \\usepackage{{booktabs,longtable{',pdflscape' if page else ''},siunitx}}",
            f"\\begin{{{page}}}" if page else r"\begingroup",
            f"\\{size}\\setlength{{\\tabcolsep}}{{{LONG_GAP}pt}}",
            f"\\begin{{longtable}}{{{columns}}}",
            *([f"{''.join(caption)} \\\\"] if caption else []),
            head,
            r"\endfirsthead",
            head,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *rows,
            r"\end{longtable}",
            f"\\end{{{page}}}" if page else r"\endgroup",
            "",
        ]
    )


def type_size(table: Table) -> tuple[str, str]:
    """The page and the largest size in which the widest texts of all columns fit next to each other."""
    columns = zip([Cell(name) for name in table.head], *table.rows, strict=True)
    characters = sum(max(digits_in(cell.text + cell.beats + cell.interval) for cell in column) for column in columns)
    gaps = 2 * LONG_GAP * len(table.head)
    for page, width in A4.items():
        for size, digit in SIZES.items():
            if characters * digit + gaps <= width:
                return page, size
    return "landscape", "tiny"


def digits_in(text: str) -> float:
    """About how many digits are as wide as a text."""
    return len(text) - 0.45 * sum(mark in NARROW_LETTERS for mark in text) + 0.6 * sum(mark in "+-" for mark in text)


# ---- cells -----------------------------------------------------------------------------------------------------
def column_kind(column: list[Cell]) -> str:
    """The kind of a column: of siunitx if it has plain numbers and gaps only, else to the right."""
    numbers = [NUMBER.fullmatch(cell.text) for cell in column if is_number(cell.text)]
    if not numbers or not all(numbers):
        return "r"
    whole, decimals = (max(len(number[group]) for number in numbers if number) for group in (2, 3))
    signs = {number[1] for number in numbers if number}
    width = f"{'-' if signs != {''} else ''}{whole}" + (f".{decimals}" if decimals else "")
    plus = ",retain-explicit-plus" if "+" in signs else ""
    bold = ",detect-weight" if any(cell.strong for cell in column) else ""
    return f"S[table-format={width}{plus}{bold}]"


def column_spec(kinds: Iterable[str]) -> str:
    """The kinds of all columns side by side, neighbours of one kind together."""
    groups = ((kind, len(list(group))) for kind, group in itertools.groupby(kinds))
    return "".join(kind * n if len(kind) == 1 or n == 1 else f"*{{{n}}}{{{kind}}}" for kind, n in groups)


def is_number(text: str) -> bool:
    """Whether a text is no gap, as "-" and "nan" are."""
    return any(mark.isdigit() for mark in text)


def head_cell(name: str, kind: str, shown: tuple[bool, bool]) -> str:
    text = escape(name).replace(" - ", " $-$ ")
    if any(shown):
        return f"\\multicolumn{{{1 + sum(shown)}}}{{c}}{{{text}}}"
    return f"{{{text}}}" if kind[0] == "S" else text


def latex_cell(cell: Cell, kind: str, shown: tuple[bool, bool]) -> Iterator[str]:
    """A cell, and cells for its marks and its interval where the column has any."""
    text = escape(cell.text)
    power = POWER.fullmatch(cell.text)
    if power and kind != "S":
        bound = r"\leq " if power[1] else ""
        text = rf"${bound}{power[2]}\times10^{{{int(power[3])}}}$"
    elif kind == "r":
        text = MINUS.sub("$-$", text)
    elif kind != "l" and not is_number(text):
        text = f"{{{text}}}" if text else ""
    yield f"\\bfseries {text}" if cell.strong else text
    marks = f"\\textsuperscript{{{cell.beats.replace('-', '--')}}}" if cell.beats else ""
    yield from itertools.compress((marks, MINUS.sub("$-$", cell.interval).replace("±", "$\\pm$")), shown)


def escape(text: str) -> str:
    """Text without a meaning for LaTeX; two hyphens stay two."""
    return re.sub("-(?=-)", "-{}", text.translate(LATEX))
