"""Values from files: tables in Markdown, LaTeX and CSV, the output of trec_eval, and JSON of MTEB."""

from __future__ import annotations

import csv
import json
import os
import re
from typing import Any

from fastir.analyses.identify.values import meanings_of
from fastir.errors import FormatError, UnknownMetricError
from fastir.request.names import COUNTS

Values = dict[str, dict[str, str]]  # {row: {metric: number as it stands there}}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
MARKUP = re.compile(r"\\(?:textbf|underline|emph|textit|mathbf|textsc)\b|[{}$*~]|\\[,;! ]")


def read_values(path: str | os.PathLike[str]) -> Values:
    """The values of a file, by rows.

    Raises
    ------
    OSError
        It cannot be read.
    FormatError
        It has no values that are known.
    """
    name = os.fspath(path)
    with open(name, encoding="utf-8", errors="replace") as file:
        text = file.read()
    found = values_of(text, name)
    if not any(found.values()):
        raise FormatError(
            "no values: expected a table in Markdown, LaTeX or CSV whose head names metrics, the output of trec_eval, "
            "or MTEB's JSON",
            name,
        )
    return {row: values for row, values in found.items() if values}


def values_of(text: str, name: str = "") -> Values:
    """The values of a text in any of the formats."""
    start = text.lstrip()[:1]
    if start in ("{", "["):
        return of_json(text, name)
    lines = text.splitlines()
    if output := of_trec_eval(lines):
        return output
    if any(re.match(r"\s*\|.*\|\s*$", line) for line in lines):
        return of_table([cells(line.strip().strip("|"), "|") for line in lines if "|" in line])
    if any("&" in line and "\\\\" in line for line in lines):
        return of_table([cells(line.split("\\\\")[0], "&") for line in lines if "&" in line])
    dialect = "\t" if "\t" in text else ";" if ";" in text and "," not in text.partition("\n")[0] else ","
    return of_table([[clean(cell) for cell in row] for row in csv.reader(lines, delimiter=dialect)])


def clean(cell: str) -> str:
    """A cell without what only makes it look otherwise."""
    return MARKUP.sub("", cell).replace("\\_", "_").strip()


def cells(line: str, separator: str) -> list[str]:
    return [clean(cell) for cell in re.split(rf"(?<!\\){re.escape(separator)}", line)]


def known(name: str) -> bool:
    try:
        return bool(meanings_of(name))
    except UnknownMetricError:
        return False


def of_table(rows: list[list[str]]) -> Values:
    """Rows below a head that names metrics; or a metric in each row, with its value in the last cell."""
    heads = ([column for column, cell in enumerate(head) if cell and known(cell)] for head in rows)
    place, columns = next(((place, some) for place, some in enumerate(heads) if some), (0, []))
    head = rows[place] if rows else []
    found: Values = {}
    for number, row in enumerate(rows[place + 1 :]):
        values = {
            head[column]: row[column] for column in columns if column < len(row) and NUMBER.fullmatch(row[column])
        }
        if values:
            label = next((cell for cell in row if cell and not NUMBER.fullmatch(cell)), f"row {number + 1}")
            found[label] = values
    if found:
        return found
    pairs = {row[0]: row[-1] for row in rows if len(row) > 1 and known(row[0]) and NUMBER.fullmatch(row[-1])}
    return {"values": pairs} if pairs else {}


def of_trec_eval(lines: list[str]) -> Values:
    """Lines of a metric, "all" and a value; the run is called as its line runid says."""
    words = [line.split() for line in lines if line.strip()]
    if not words or not all(len(each) == 3 for each in words):
        return {}
    of_all = {metric: value for metric, query, value in words if query == "all"}
    name = of_all.pop("runid", "run")
    counts = COUNTS.split()
    values = {metric: value for metric, value in of_all.items() if metric not in counts and known(metric)}
    return {name: values} if values else {}


def of_json(text: str, name: str) -> Values:
    """MTEB's results: scores by split, each a list with one dict for a subset; or a flat dict of metrics."""
    try:
        data = json.loads(text, parse_float=str)
    except ValueError as error:
        raise FormatError(f"not JSON: {error}", name) from None
    if isinstance(data, dict) and isinstance(data.get("scores"), dict):
        scores = [
            (f"{split} {each.get('hf_subset', place)}", each)
            for split, some in data["scores"].items()
            for place, each in enumerate(some if isinstance(some, list) else [some])
        ]
    else:
        scores = [("values", data)] if isinstance(data, dict) else []
    return {row: of_scores(each) for row, each in scores if isinstance(each, dict)}


def of_scores(scores: dict[str, Any]) -> dict[str, str]:
    """The metrics of a dict that fastir knows, with their digits."""
    return {
        name: value
        for name, value in scores.items()
        if isinstance(value, str) and NUMBER.fullmatch(value) and not name.startswith(("nauc", "main")) and known(name)
    }
