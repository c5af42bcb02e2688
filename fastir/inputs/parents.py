"""The option `parents`: the document of each id (chunk) of a run, in any form that `evaluate` takes.

A mapping, two columns and a file become a table at once, and later changes in them have no effect. A function is asked
for the ids of each run when the run is known. Ids that are integers equal their decimal text, as in all columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastir.checks import check_choice
from fastir.engine.columns.ids import Arena
from fastir.engine.join._join import Parents
from fastir.errors import FormatError
from fastir.inputs.exclusions import Exclusion, read_exclude
from fastir.inputs.places import is_path
from fastir.request.options import AGGREGATES

if TYPE_CHECKING:
    from fastir.engine.columns.rows import Rows
    from fastir.inputs.exclusions import ExcludeLike
    from fastir.inputs.files import Path
    from fastir.inputs.shapes import ArrowArray, ArrowStream, Frame
    from fastir.request.conventions import Convention
    from fastir.request.options import Aggregate, Duplicates

    ParentsLike: TypeAlias = (
        Mapping[Any, Any] | Callable[[Any], Any] | tuple[Any, Any] | ArrowStream | ArrowArray | Frame | Path
    )


class ParentFunction:
    """The documents that a caller's function finds for the ids of a run; beside Parents."""

    is_table = False

    def __init__(self, function: Callable[[Any], Any], aggregate: str | None) -> None:
        self.function: Callable[[Any], Any] = function
        self.aggregate: str | None = aggregate

    def of(self, run: Rows) -> Parents:
        """The documents of the ids of a run."""
        from fastir.inputs.column_readers import as_objects
        from fastir.inputs.parent_columns import id_column, ids_arena

        ids = run.columns.ids
        distinct = list(dict.fromkeys(ids[:]))
        try:
            returned = self.function(np.array(distinct) if ids.integers else as_objects(distinct))
        except (AttributeError, TypeError) as error:  # perhaps it is a function of one id
            returned = self.one_by_one(distinct, error)
        documents = id_column(returned, "what the function returned")
        if len(documents) != len(distinct):
            raise ValueError(f"parents: the function returned {len(documents)} documents for {len(distinct)} ids")
        return Parents(Arena.of(distinct), ids_arena(documents), self.aggregate)

    def one_by_one(self, distinct: list[Any], array_error: Exception) -> list[Any]:
        """The function's values for single ids, if it takes no array of ids."""
        try:
            return [self.function(doc_id) for doc_id in distinct]
        except (AttributeError, TypeError) as error:
            raise TypeError(
                f"parents: the function must take an array of ids, or one id; for an array it raised "
                f"{type(array_error).__name__}: {array_error}, and for one id {type(error).__name__}: {error}"
            ) from array_error


AnyParents: TypeAlias = Parents | ParentFunction | Exclusion


def read_as(
    parents: ParentsLike | AnyParents | None,
    aggregate: Aggregate,
    duplicates: Duplicates | None,
    exclude: ExcludeLike | None,
    convention: str | Convention,
) -> AnyParents | None:
    """What is done to the ids of runs before they are judged, from the options of a call; None: nothing."""
    stand_for = read_parents(parents, aggregate, duplicates)
    if exclude is None and not isinstance(convention, str):
        exclude = convention.exclude
    elif exclude is None and convention != "fastir":
        from fastir.request.conventions import check_convention, resolved_convention

        exclude = resolved_convention(check_convention(convention), {}).exclude
    if exclude is None or isinstance(stand_for, Exclusion):
        return stand_for
    return Exclusion(read_exclude(exclude), stand_for)


def read_parents(
    parents: ParentsLike | AnyParents | None, aggregate: Aggregate, duplicates: Duplicates | None
) -> AnyParents | None:
    """The documents of chunks, from the options of a call, checked."""
    if parents is None and aggregate == "max":
        return None
    check_aggregate(parents, aggregate, duplicates)
    rule = None if duplicates == "once" else aggregate
    if parents is None or isinstance(parents, (Parents, ParentFunction, Exclusion)):
        return parents
    if callable(parents):
        return ParentFunction(parents, rule)
    from fastir.inputs.parent_columns import id_columns, ids_arena

    chunks, documents = map(ids_arena, id_columns(parents))
    try:
        return Parents(chunks, documents, rule)
    except ValueError as error:
        if is_path(parents):
            raise FormatError(str(error), os.fsdecode(parents)) from None
        raise


def check_aggregate(parents: object, aggregate: str, duplicates: str | None) -> None:
    """Refuse scores that are to be put together where none are."""
    check_choice("aggregate", aggregate, AGGREGATES)
    if aggregate != "max" and parents is None:
        raise ValueError(f"aggregate={aggregate!r} needs parents: it makes the scores of these documents")
    if aggregate != "max" and duplicates == "once":
        raise ValueError(
            f"aggregate={aggregate!r} merges the rows of a document, but duplicates='once' keeps all of them"
        )
