"""States of parts as Arrow tables: a row for each query, lists aligned with its judgments, the rest in the metadata."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fastir.data.results.saved_files import KEY, arrow_modules, file_head, parse_head
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.errors import FormatError
from fastir.evaluation.partial.states import COUNT_NAMES, KINDS, State, check_version

KIND = "partial results"


def to_table(state: State | None, fields: dict[str, Any]) -> Any:
    """A pyarrow.Table of a state and of the other fields of its Partial."""
    pyarrow, _ = arrow_modules(KIND)
    columns: dict[str, Any] = {}
    if state is not None:
        small = state.compact()
        fields = {
            **fields,
            "state": small.kind,
            "unknown_queries": sorted(small.unknown_queries),
            "repairs": small.repairs,
            "counts": small.counts,
        }
        offsets = pyarrow.array(offsets_from_sizes(small.sizes))
        columns["query_id"] = pyarrow.array(small.query_ids, None if small.query_ids else pyarrow.string())
        columns["place"] = pyarrow.array(small.places)
        columns |= {name: pyarrow.array(small.arrays[name]) for name in small.query_arrays}
        for name in small.judgment_arrays:
            columns[name] = pyarrow.LargeListArray.from_arrays(offsets, pyarrow.array(small.arrays[name]))
    return pyarrow.table(columns).replace_schema_metadata({KEY: json.dumps(file_head(KIND, fields))})


def from_table(table: Any) -> tuple[State | None, dict[str, Any]]:
    """The state and the fields in a table of `to_table`."""
    pyarrow, _ = arrow_modules(KIND)
    table = pyarrow.table(table)
    head = parse_head(KIND, (table.schema.metadata or {}).get(KEY.encode(), b"null"))
    try:
        if head["kind"] != KIND:
            raise ValueError(f"it holds {head['kind']}")
        check_version(head["version"], "this table was made by")
        fields = {name: head[name] for name in ("digest", "first_pass")}
        if "state" not in head:
            return None, fields
        return read_state(table.combine_chunks(), head), fields
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"no {KIND}, or cut or changed: {error}", KIND) from None


def read_state(table: Any, head: dict[str, Any]) -> State:
    kind = KINDS[head["state"]]
    places = np.array(table.column("place").to_numpy(), np.int64)
    arrays: dict[str, np.ndarray]
    arrays = {name: np.array(table.column(name).to_numpy(), dtype) for name, (dtype, _) in kind.query_arrays.items()}
    sizes = None
    for name, (dtype, _) in kind.judgment_arrays.items():
        lists = table.column(name).combine_chunks()
        arrays[name] = np.array(lists.flatten().to_numpy(zero_copy_only=False), dtype)
        lengths = np.array(lists.value_lengths().to_numpy(zero_copy_only=False), np.int64)
        if sizes is not None and (lengths != sizes).any():
            raise ValueError(f"{name} has lists of another length")
        sizes = lengths
    if (np.diff(places) <= 0).any():
        raise ValueError("its rows are in another order")
    return kind(
        places,
        table.column("query_id").to_pylist(),
        np.zeros(0, np.int64) if sizes is None else sizes,
        arrays,
        set(head["unknown_queries"]),
        {name: (count, place) for name, (count, place) in head["repairs"].items()},
        {name: tuple(head["counts"][name]) for name in COUNT_NAMES},
    )
