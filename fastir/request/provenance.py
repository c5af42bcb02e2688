"""Where numbers come from: the choices, the metrics as they were understood, and the files, as data that can be saved.

A record is made on its first use: Results keep the function `Settings.provenance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastir._version import __version__
from fastir.declared import Record

if TYPE_CHECKING:
    from fastir.request.conventions import Convention


def paths_of_inputs(provenance: Provenance | None) -> list[str]:
    """The paths of the files that were read in this process; none if the results were loaded."""
    inputs = () if provenance is None else provenance.inputs.values()
    return [path for each in inputs if (path := getattr(each, "path", None)) is not None]


class Provenance(Record):
    """The request of an evaluation.

    Attributes
    ----------
    convention : Convention
        Every choice behind the numbers.
    options : dict of str to object
        The options of `evaluate` that differ from their defaults, without those that the convention holds.
    metrics : dict of str to str
        {the name as it was typed: fastir's name with each parameter that differs from its default}.
    inputs : dict of str to dict
        Of the files that were read, ``{"qrels": {"name": file name, "bytes": size}, "run": ...}``. If a TREC run begins
        with `ir_metadata` in comments, its dict has a third key of this name: "lines" are the comments between start
        and end, "fields" are ``{key: text}`` of the keys at their outermost level that have a value in one line.
    version : str
        Of fastir.
    """

    convention: Convention
    options: dict[str, Any]
    metrics: dict[str, str]
    inputs: dict[str, dict[str, Any]]
    version: str = __version__


def differing_options(one: Provenance, other: Provenance) -> dict[str, tuple[Any, Any]]:
    """{option: its two values} of the options by which two evaluations differ."""
    alike = one.convention.name == other.convention.name

    def chosen(each: Provenance) -> dict[str, Any]:
        """The convention and the options; of equal conventions the choices, and a relevance level that is not 1."""
        record = each.convention
        if not alike:
            return {"convention": str(record), **each.options}
        names = ("name", "version", "fractions", *record.choices(), "of")
        fields = {name: getattr(record, name) for name in names if name != "rel_level" or record.rel_level != 1}
        return {**fields, **each.options}

    mine, theirs = chosen(one), chosen(other)
    return {
        name: (mine.get(name, "default"), theirs.get(name, "default"))
        for name in dict.fromkeys([*mine, *theirs])
        if name != "validate" and mine.get(name) != theirs.get(name)
    }
