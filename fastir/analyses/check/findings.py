"""The faults of one file while they are found: listed one by one, or counted where each would say the same."""

from __future__ import annotations

from fastir.analyses.check.checked import Fault
from fastir.analyses.check.kinds import COUNTED, KINDS, ORDER
from fastir.errors import quote
from fastir.rendering.text import counted

MOST = 100_000  # faults of one kind that are listed; a file of another format has one in each line


class Findings:
    """What was found in one file.

    Parameters
    ----------
    file : str
        Its name, or a description of it.
    """

    def __init__(self, file: str) -> None:
        self.file: str = file
        self.faults: list[Fault] = []
        self.numbers: dict[str, int] = {}  # of each kind
        self.counted: dict[str, tuple[int | None, str]] = {}  # line and text of the first of each kind

    def add(
        self,
        kind: str,
        text: str,
        line: int | None = None,
        query_id: str | None = None,
        doc_id: str | None = None,
        occurrences: int = 1,
    ) -> None:
        """List a fault."""
        self.numbers[kind] = number = self.numbers.get(kind, 0) + 1
        if number <= MOST:
            self.faults.append(Fault(KINDS[kind].severity, kind, self.file, line, query_id, doc_id, text, occurrences))

    def count(self, kind: str, line: int | None, text: str = "") -> None:
        """Count one more of a kind of COUNTED."""
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        self.counted.setdefault(kind, (line, text))

    def sort(self) -> list[Fault]:
        """All faults, the worst kinds first, and each kind by its lines."""
        faults = list(self.faults)
        for kind, (line, text) in self.counted.items():
            number = self.numbers[kind]
            words = counted(number, *COUNTED[kind]) + (f", such as {quote(text)}" if text else "")
            faults.append(Fault(KINDS[kind].severity, kind, self.file, line, None, None, words, number))
        for kind, number in self.numbers.items():
            if kind not in COUNTED and number > MOST:
                more = number - MOST
                text = f"... and {more} more that are not listed"
                faults.append(Fault(KINDS[kind].severity, kind, self.file, None, None, None, text, more))
        unplaced = max((fault.line or 0 for fault in faults), default=0) + 1
        return sorted(faults, key=lambda fault: (ORDER[fault.kind], fault.line or unplaced))
