"""Dicts, tables and files of other formats: their readers say what is wrong, and the rest is looked at here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.check.checked import Findings
from fastir.analyses.check.sides import Side
from fastir.data.qrels import GroupedQrels, Preferences, Qrels, as_qrels
from fastir.data.run import Run, as_run
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.rows import CONTRADICTED, CONTRADICTED_FIRST, LIKE_SCORES, UNLABELLED, offsets_from_sizes
from fastir.errors import DuplicateError, FastirError, FastirWarning
from fastir.inputs.misread import SAMPLE_ROWS, misread_labels
from fastir.inputs.places import is_place
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from fastir.request.options import Duplicates

MISREAD_KINDS = {  # the kinds of repairs that repair nothing, as kinds of faults
    CONTRADICTED: "ranks against scores",
    CONTRADICTED_FIRST: "ranks against scores",
    LIKE_SCORES: "scores as ranks",
}
REFUSALS = (FastirError, TypeError, ValueError, OverflowError)


class Held(Side):
    """A Qrels or a Run."""

    def __init__(self, rows: Qrels | Run, findings: Findings) -> None:
        super().__init__(isinstance(rows, Run), findings)
        rows = rows.columns.union if isinstance(rows, GroupedQrels) else rows
        documents = [rows[query_id] for query_id in rows]
        self.query_ids = list(map(str, rows))
        self.offsets = offsets_from_sizes(list(map(len, documents)))
        self.ids = Arena.of([str(doc_id) for ranking in documents for doc_id in ranking])
        self.numbers = np.array([number for ranking in documents for number in ranking.values()])


def read_data(
    data: Any, is_run: bool, format: str | None, columns: Mapping[str, str] | None, findings: Findings
) -> Side | None:
    """Read anything; None, and a fault, if its reader refuses it.

    The reader names the first duplicate document; the rest is checked with the first copy of each document.
    """

    def read(duplicates: Duplicates | None) -> Qrels | Run:
        if is_place(data) and not isinstance(data, (Qrels, Run)):
            return (Run if is_run else Qrels).from_file(data, format, duplicates, columns)
        return as_run(data, columns, duplicates) if is_run else as_qrels(data, columns, duplicates)

    rows = attempt(lambda: read(None), findings)
    if rows is None and findings.faults[-1].kind == "duplicate":
        rows = attempt(lambda: read("first"), findings)
    if rows is None:
        return None
    if not len(rows):
        findings.add("empty file", f"the {'run is empty: no results' if is_run else 'qrels are empty: no judgments'}")
        return None
    if isinstance(rows, Preferences):
        return PreferencesSide(rows, findings)
    note_misread(rows, findings)
    return Held(rows, findings)


def note_misread(rows: Qrels | Run, findings: Findings) -> None:
    """Note columns that look like something else than they are read as."""
    if isinstance(rows, Run):
        for repair, kind in MISREAD_KINDS.items():
            if repair in rows.columns.repairs:
                number, place = rows.columns.repairs[repair]
                findings.add(kind, f"{counted(number, 'query', 'queries')}{repair.removeprefix('queries')} ({place})")
        return
    if UNLABELLED in rows.columns.repairs:
        number, place = rows.columns.repairs[UNLABELLED]
        findings.add(UNLABELLED, f"all {counted(number, 'row is', 'rows are')} relevant ({place})")
    if problem := misread_labels(rows.columns.numbers[:SAMPLE_ROWS]):
        findings.add("other columns", problem)


class PreferencesSide(Held):
    """Preferences: their numbers are positions, not labels."""

    def __init__(self, rows: Preferences, findings: Findings) -> None:
        super().__init__(rows, findings)
        self.numbers = np.ones(len(self.numbers))


def attempt(call: Callable[[], Any], findings: Findings) -> Any:
    """What a call returns, or None, and a fault in the words of what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastirWarning)  # what they say is noted
            return call()
    except REFUSALS as error:
        message = error.args[0] if isinstance(error, FastirError) and error.args else str(error)
        kind = "duplicate" if isinstance(error, DuplicateError) else "refused input"
        findings.add(kind, str(message), getattr(error, "line", None))
        return None
