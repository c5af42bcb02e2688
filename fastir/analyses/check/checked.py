"""Checked: what `check` returns, a record for each fault, which prints as a table with a few examples of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastir.analyses.check.kinds import FAULT, REMARK
from fastir.data.results.columns import columns_from_records
from fastir.data.results.exportable import Exportable
from fastir.rendering import Cell, Table
from fastir.rendering.text import counted, json_types


class Fault(NamedTuple):
    """A fault or a remark: something that is wrong, or worth knowing.

    Attributes
    ----------
    severity : {"fault", "remark"}
    kind : str
        One of the kinds listed in docs/check.md.
    file : str
        The file; for other data the name of the run, or "qrels".
    line : int or None
        From 1; the first line if `number` is more than 1.
    query_id, doc_id : str or None
    text : str
        What is wrong, in words.
    number : int
        How often the fault occurs, if each occurrence would read the same, as blank lines do; otherwise 1.
    """

    severity: str
    kind: str
    file: str
    line: int | None
    query_id: str | None
    doc_id: str | None
    text: str
    number: int = 1

    def where(self) -> str:
        """The line, or else the query, in words."""
        if self.line is not None:
            return f"line {self.line}"
        return "" if self.query_id is None else f"query {self.query_id}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Checked(Exportable):
    """All faults of qrels and runs; made by `check`. Iteration gives each fault; prints as a table.

    Attributes
    ----------
    faults : list of Fault
        Faults and remarks: first the qrels, then each run. Within a file the worst kinds come first, and
        each kind is in the order of lines.
    files : list of str
        The checked files, the qrels first.
    examples : int
        How many faults of each kind and file the table shows.
    """

    faults: list[Fault]
    files: list[str]
    examples: int = 3

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)

    @property
    def ok(self) -> bool:
        """Whether there are no faults; remarks do not count."""
        return not any(fault.severity == FAULT for fault in self.faults)

    def of(self, severity: str | None = None, kind: str | None = None, file: str | None = None) -> list[Fault]:
        """The faults of one severity, kind and file, as a new list; None means any."""
        filters = {"severity": severity, "kind": kind, "file": file}
        chosen = {name: value for name, value in filters.items() if value is not None}
        return [fault for fault in self.faults if all(getattr(fault, name) == value for name, value in chosen.items())]

    def counts(self) -> dict[str, dict[str, int]]:
        """{file: {kind: number of faults}} of all checked files."""
        by_file: dict[str, dict[str, int]] = {file: {} for file in self.files}
        for fault in self.faults:
            kinds = by_file.setdefault(fault.file, {})
            kinds[fault.kind] = kinds.get(fault.kind, 0) + fault.number
        return by_file

    def summary(self) -> str:
        """The number of faults and remarks, in words."""
        n_faults = sum(fault.number for fault in self.of(FAULT))
        said = counted(n_faults, "fault", "faults") + f", {counted(len(self.of(REMARK)), 'remark', 'remarks')}"
        return f"{said} in {counted(len(self.files), 'file', 'files')}"

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Fault._fields, self.faults)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data = {"ok": self.ok, "files": self.files, "counts": self.counts()}
        if per_query:
            data["faults"] = [fault._asdict() for fault in self.faults]
        return json_types(data)

    def _table(self, digits: int = 4) -> Table:
        counts, shown = self.counts(), dict[tuple[str, str], int]()
        rows = []
        for fault in self.faults:
            group = fault.file, fault.kind
            shown[group] = shown.get(group, 0) + 1
            number = counts[fault.file][fault.kind]
            if shown[group] <= self.examples:
                texts = fault.severity, fault.kind, str(number), fault.where(), fault.text
                rows.append([Cell(fault.file), *map(Cell, texts)])
        hidden = len(self.faults) - len(rows)
        more = f"; the table leaves out {hidden} of them" if hidden else ""
        return Table(["file", "severity", "kind", "count", "where", "what"], rows, 6, [f"{self.summary()}{more}."])
