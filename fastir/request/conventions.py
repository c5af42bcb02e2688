"""Whose numbers: the conventions by their names; imported when a caller names one or asks which one was followed."""

from __future__ import annotations

import dataclasses
from typing import Any

from fastir.request.convention import Convention
from fastir.request.item_tools import ITEM_TOOLS
from fastir.request.list_tools import LIST_TOOLS
from fastir.request.tools import TOOLS

CONVENTIONS = Convention.known
CONVENTIONS.update((convention.name, convention) for convention in (*TOOLS, *LIST_TOOLS, *ITEM_TOOLS))


def checked(convention: Any) -> str | Convention:
    """The name of a convention that exists, or a record."""
    if isinstance(convention, Convention) or (isinstance(convention, str) and convention in CONVENTIONS):
        return convention
    raise ValueError(f"convention must be one of {', '.join(map(repr, CONVENTIONS))}, got {convention!r}")


def record_of(convention: str | Convention, given: dict[str, Any]) -> Convention:
    """The convention of a name, or a record itself, with the options that the caller gave.

    The caller's options also override the record's choices for single metrics.
    """
    convention = checked(convention)
    record = CONVENTIONS[convention] if isinstance(convention, str) else convention
    if given.get("queries") == "qrels" and record.unranked == "nan":
        given = {"unranked": "zero", **given}  # it is 0 that trec_eval -c prints for a query that the run lacks
    of = ((metric, tuple(pair for pair in pairs if pair[0] not in given)) for metric, pairs in record.of)
    return dataclasses.replace(record, of=tuple(pair for pair in of if pair[1]), **given)
