"""Values from files: tables in Markdown, LaTeX and CSV, lists, the output of trec_eval, and JSON such as MTEB's."""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from fastir.analyses.identify.values import is_understood
from fastir.errors import FormatError, quote
from fastir.request.names import COUNTS

NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
# Markup beside a number or a name, which does not change it.
MARKUP = re.compile(
    r"\\(?:[a-zA-Z]+\*?|[,;! ])|[{}$*~†‡§¶△▲▽▼↑↓∗\u2002-\u200b\u00a0]|</?[a-z]+ ?/?>|\*\*|`", re.IGNORECASE
)
MARKS = re.compile(
    r"\\(?:text|cell|row)?color(?:\[[^\]]*\])?\{[^{}]*\}|\^(?:\{[^{}]*\}|\\?[^\s&{}]*)|<sup>[^<]*</sup>"
)  # footnotes and signs of significance
BRACES = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
MULTICOLUMN = re.compile(rf"\\multicolumn\s*{BRACES}\s*{BRACES}\s*{BRACES}")
MULTIROW = re.compile(rf"\\multirow\s*(?:\[[^\]]*\])?\s*{BRACES}\s*{BRACES}\s*{BRACES}")
RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|(?:cmidrule|cline)(?:\([a-z]*\))?\{[^{}]*\}|addlinespace)")
CUTOFF = re.compile(r"@ *[0-9]+")
ABSENT_VALUES = ("", "-", "–", "—", "--", "n/a", "na", "nan", "none", "null")  # cells of values that there are not
VALUE_HEADS = ("value", "score", "mean", "result", "all", "average")
MAX_SPAN, MAX_NAME, MAX_DEPTH = 64, 200, 8
Row = tuple[int, list[str]]  # the number of a line, and its cells


class SpanningText(str):
    """A text that was copied into a column because it spans several."""


class FileValues(dict[str, dict[str, str]]):
    """``{row: {name: number as written}}`` of a file; some names may not be understood."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self._lines: dict[tuple[str, str], int | None] = {}
        self._understood: dict[str, bool] = {}

    def knows(self, name: str) -> bool:
        """Whether a name means a metric; each is looked at once."""
        if name not in self._understood:
            self._understood[name] = len(name) <= MAX_NAME and is_understood(name)
        return self._understood[name]

    def add(self, row: str, name: str, value: str, line: int | None) -> None:
        of_row = self.setdefault(row, {})
        if of_row.setdefault(name, value) != value:
            first = self._lines[row, name]
            where = f", first on line {first}" if first is not None else ""
            self.refuse(f"{quote(name)} of {quote(row)} occurs twice, as {of_row[name]} and {value}{where}", line)
        self._lines.setdefault((row, name), line)

    def refuse(self, message: str, line: int | None) -> NoReturn:
        raise FormatError(message, self.path or None, line)

    def select_rows(self, rows: Iterable[str]) -> FileValues:
        """These rows of it; all if it has none of them."""
        found = FileValues(self.path)
        found.update({row: self[row] for row in rows if row in self} or self)
        return found

    def has_metric(self) -> bool:
        """Whether there is a value of a metric that is understood."""
        return any(self.knows(name) for values in self.values() for name in values)


def read_values(path: str | os.PathLike[str]) -> FileValues:
    """The values of a file, by rows."""
    name = os.fspath(path)
    with open(name, "rb") as file:
        data = file.read()
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    found = parse_values(data.decode("utf-16" if wide else "utf-8-sig", "replace"), name)
    if not found.has_metric():
        raise FormatError(
            "no values: expected a table in Markdown, LaTeX or CSV with metrics in its head, the output of trec_eval, "
            "or JSON such as MTEB's",
            name,
        )
    return found


def parse_values(text: str, path: str = "") -> FileValues:
    """The values of a text in any of the formats."""
    found = FileValues(path)
    text = text.removeprefix("\ufeff")
    lines = text.splitlines()
    is_latex = "&" in text and "\\\\" in text and not any(line.lstrip().startswith("|") for line in lines)
    if text.lstrip()[:1] in ("{", "[") and not is_latex:
        add_json(found, text)
    elif not add_trec_eval(found, lines):
        lines = [line.translate({ord(bar): "|" for bar in "│┃║"}) for line in lines]
        bars = [number for number, line in enumerate(lines, 1) if "|" in line]
        if is_latex:
            add_table(found, latex_rows(text))
        elif bars:
            add_table(found, ((number, markdown_cells(lines[number - 1])) for number in bars))
        else:
            add_table(found, csv_rows(found, lines))
            if not found.has_metric():
                add_list(found, lines)
    return found


def clean_cell(cell: str) -> str:
    """A cell without what only makes it look otherwise; a decimal comma becomes a point."""
    text = MARKUP.sub("", MARKS.sub("", cell).replace("\\_", "_").replace("\\%", "%").replace("−", "-")).strip()
    return text.replace(",", ".") if re.fullmatch(r"-?0?,[0-9]+", text) else text


def markdown_cells(line: str) -> list[str]:
    line = line.strip()
    cells = re.split(r"(?<!\\)\|", line)
    return [clean_cell(cell) for cell in cells[line.startswith("|") : len(cells) - (len(cells) > 1 and not cells[-1])]]


def latex_rows(text: str) -> Iterator[Row]:
    """The rows of a table in LaTeX; a text over several columns is copied to each of them, a number to the first."""
    row, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(?<!\\)%.*", "", line)
        if re.search(r"\\(?:begin|end)\b", line):
            row = ""
            continue
        *ends, rest = line.split("\\\\")
        for end in ends:
            first = first if row.strip() else number
            yield first, latex_cells(row + end)
            row = ""
        first = first if row.strip() else number
        row += re.sub(r"^\[[^\]]*\]", "", rest) + " "


def latex_cells(row: str) -> list[str]:
    found = []
    for cell in re.split(r"(?<!\\)&", RULES.sub("", row)):
        span = MULTICOLUMN.search(cell)
        width = min(int(span[1]), MAX_SPAN) if span and span[1].isdigit() else 1
        text = clean_cell(MULTIROW.sub(r"\3", MULTICOLUMN.sub(r"\3", cell)).replace("\\&", "&"))
        found += [text] + [SpanningText("" if NUMBER.fullmatch(text) else text)] * (width - 1)
    return found


def csv_rows(found: FileValues, lines: list[str]) -> Iterator[Row]:
    """The rows of a table between commas, semicolons or tabs; or between two blanks and more."""
    head = lines[:20]
    separator = max("\t;,", key=lambda each: sum(each in line for line in head))
    if not any(separator in line for line in head):
        yield from (
            (number, list(map(clean_cell, re.split(r"\s{2,}", line.strip())))) for number, line in enumerate(lines, 1)
        )
        return
    reader = csv.reader(lines, delimiter=separator)
    try:
        for row in reader:
            yield reader.line_num, [clean_cell(cell) for cell in row]
    except csv.Error as error:
        found.refuse(f"not CSV: {error}", reader.line_num)


def add_table(found: FileValues, rows: Iterable[Row]) -> None:
    """Add rows below heads that name metrics; else metrics in the first column, with a run in each other column."""
    head: list[str] = []
    columns: list[int] = []
    titles: list[str] = []
    by_metric: list[Row] = []
    below: list[Row] = []
    for line, row in rows:
        if not any(row) or all(re.fullmatch(r"[-:=+ ]*", cell) for cell in row):
            continue
        numbers = [bool(NUMBER.fullmatch(cell)) for cell in row]
        names = [column for column, cell in enumerate(row) if cell and not numbers[column] and found.knows(cell)]
        if not any(numbers) and columns and not below and any(map(CUTOFF.fullmatch, row)) and len(row) == len(head):
            head = [name + cell if CUTOFF.fullmatch(cell) else name for name, cell in zip(head, row, strict=True)]
            columns = [column for column, name in enumerate(head) if found.knows(name)]
        elif names and not any(numbers):
            add_rows(found, head, columns, below)
            head, columns, below = row, names, []
        elif columns and len(row) == len(head):
            below.append((line, row))
        elif columns and (any(numbers) or len(row) > 1):
            found.refuse(f"a row of {len(row)} cells below a head of {len(head)}", line)
        elif any(numbers):
            by_metric.append((line, row))
        elif len(row) > 1:
            titles = row
    add_rows(found, head, columns, below)
    if not found:
        add_columns(found, titles, by_metric)


def add_rows(found: FileValues, head: list[str], columns: list[int], rows: list[Row]) -> None:
    """Add a row of values for each run; a run is named by its first text, or all if several begin alike."""
    twice = next((head[column] for column in columns if [head[each] for each in columns].count(head[column]) > 1), None)
    rows = [(line, row) for line, row in rows if any(re.search("[0-9]", row[column]) for column in columns)]
    if rows and twice is not None:
        found.refuse(f"the head above has the column {quote(twice)} twice", rows[0][0])
    others = [column for column in range(len(head)) if column not in columns]
    texts = {
        line: [row[each] for each in others if is_text(row[each])] or [row[each] for each in others[:1]]
        for line, row in rows
    }
    firsts = [text[0] for text in texts.values() if text]
    for number, (line, row) in enumerate(rows, 1):
        text = list(dict.fromkeys(filter(None, texts[line])))
        label = (text[0] if firsts.count(text[0]) == 1 else " ".join(text)) if text else f"row {number}"
        for column, cell in enumerate(row):
            if NUMBER.fullmatch(cell):
                if column in columns or (head[column] and cell != label):
                    found.add(label, head[column], cell, line)
            elif column in columns and is_text(cell) and not isinstance(cell, SpanningText):
                found.refuse(f"{quote(head[column])} of {quote(label)} is no number: {quote(cell)}", line)


def is_text(cell: str) -> bool:
    return cell.lower() not in ABSENT_VALUES and not NUMBER.fullmatch(cell)


def add_columns(found: FileValues, titles: list[str], rows: list[Row]) -> None:
    """Add a metric from each row: its value, or its values for the several runs of the head."""
    if not any(found.knows(row[0]) for _, row in rows):
        return
    width = max(len(row) for _, row in rows)
    values = [width - 1] if len(titles) != width or titles[-1].lower() in VALUE_HEADS else list(range(1, width))
    for line, row in rows:
        if len(row) != width:
            found.refuse(f"a row of {len(row)} cells in a table of {width}", line)
        for column in values:
            if NUMBER.fullmatch(row[column]):
                found.add("values" if len(values) == 1 else titles[column], row[0], row[column], line)
            elif row[column].lower() not in ABSENT_VALUES:
                found.refuse(f"{quote(row[0])} is no number: {quote(row[column])}", line)


def add_list(found: FileValues, lines: list[str]) -> None:
    """Add the values of lines such as ``NDCG@10: 0.3125`` and ``map = 0.25``."""
    for number, line in enumerate(lines, 1):
        name, value = line.rpartition(" ")[::2] if " " in line.strip() else re.split("[:=]", f"{line}: ", maxsplit=1)
        name = clean_cell(name.rstrip(" :=").rpartition(" - ")[2] if " - " in name else name.rstrip(" :="))
        value = clean_cell(value.strip(" :="))
        if name and NUMBER.fullmatch(value):
            found.add("values", name, value, number)


def add_trec_eval(found: FileValues, lines: list[str]) -> bool:
    """Add lines of a metric, "all" and a value; a run is called as its line runid says. False if there are none."""
    run = "run"
    words = ((number, line.split()) for number, line in enumerate(lines, 1))
    for number, (metric, _, value) in [(number, each) for number, each in words if len(each) == 3 and each[1] == "all"]:
        if metric == "runid":
            run = value
        elif metric not in COUNTS.split() and NUMBER.fullmatch(value):
            found.add(run, metric, value, number)
    return bool(found)


class Pairs(dict[str, Any]):
    """An object of JSON; `twice` is a key that it has twice with different values, or None."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.twice: str | None = None
        for name, value in pairs:
            if self.setdefault(name, value) != value:
                self.twice = name


def add_json(found: FileValues, text: str) -> None:
    """Add MTEB's results, a flat object of metrics, an object for each run, or a list of objects."""
    try:
        data = json.loads(text, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=Pairs)
    except RecursionError:
        found.refuse("not JSON: it is nested too deeply", None)
    except ValueError as error:
        found.refuse(f"not JSON: {error}", getattr(error, "lineno", None))
    splits = data.get("scores") if isinstance(data, Pairs) else None
    if isinstance(splits, Pairs) and not all(isinstance(each, str) for each in splits.values()):
        for split, some in splits.items():
            for place, each in enumerate(some if isinstance(some, list) else [some]):
                if not isinstance(each, Pairs):
                    found.refuse(f"the scores of {quote(split)} must be an object of metrics", find_line(text, split))
                subset = each.get("hf_subset", place)
                scores = [(name, each[name]) for name in each if not name.startswith(("nauc", "main_"))]
                add_object(found, f"{split} {subset}", scores, text, each.twice)
    else:
        add_nested(found, [], data, text)


def add_nested(found: FileValues, path: list[str], data: Any, text: str) -> None:
    """Add the objects in JSON, each a row that is called as the keys that lead to it."""
    if isinstance(data, list):
        for place, each in enumerate(data):
            words = (word for word in each.values() if isinstance(word, str)) if isinstance(each, dict) else ()
            label = next((word for word in words if not NUMBER.fullmatch(word)), f"row {place + 1}")
            add_nested(found, [*path, label], each, text)
    elif isinstance(data, Pairs) and len(path) < MAX_DEPTH:
        cutoffs = bool(path) and bool(data) and all(key.isdecimal() for key in data) and found.knows(path[-1])
        where = path[:-1] if cutoffs else path
        scores = [(f"{path[-1]}@{key}" if cutoffs else key, value) for key, value in data.items()]
        add_object(found, " ".join(where) or "values", scores, text, data.twice)
        for key, value in data.items():
            if isinstance(value, (dict, list)):
                add_nested(found, [*path, key], value, text)


def add_object(found: FileValues, row: str, scores: list[tuple[str, Any]], text: str, twice: str | None) -> None:
    """Add the numbers of an object; a metric that has something else is an error."""
    if twice is not None:
        found.refuse(f"the key {quote(twice)} occurs twice with different values", find_line(text, twice, 1))
    for name, value in scores:
        if isinstance(value, str) and NUMBER.fullmatch(value):
            if found.get(row, {}).get(name, value) != value:
                found.refuse(f"{quote(name)} of {quote(row)} occurs twice", find_line(text, name, 1))
            found.add(row, name, value, None)
        elif isinstance(value, (str, bool)) and found.knows(name):
            found.refuse(f"{quote(name)} is no number: {quote(value)}", find_line(text, name))


def find_line(text: str, key: str, occurrence: int = 0) -> int | None:
    """The line of a key in JSON: of its first occurrence, or the one after it."""
    at = -1
    for _ in range(occurrence + 1):
        at = text.find(json.dumps(key, ensure_ascii=False), at + 1)
    return text.count("\n", 0, at) + 1 if at >= 0 else None
