"""How rows are divided among queries: by offsets, by group sizes, by an id in each row, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.engine.columns.rows import occurrences, offsets_from_sizes, repeat
from fastir.engine.rank._labels import add_up, find_fall
from fastir.inputs import arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class QueryGroups(NamedTuple):
    """Rows grouped by query: in the caller's order, or once they are put into `order`."""

    query_ids: Sequence[Any]
    offsets: np.ndarray  # int64, of shape (n_queries + 1,)
    order: np.ndarray | None = None


def query_groups(n: int, group: ArrayLike | None, qid: ArrayLike | None, offsets: ArrayLike | None) -> QueryGroups:
    """The QueryGroups of n rows, of which at most one description is given; without any the rows are one query."""
    if (group is not None) + (qid is not None) + (offsets is not None) > 1:
        descriptions = {"group": group, "qid": qid, "offsets": offsets}
        names = [name for name, array in descriptions.items() if array is not None]
        raise ValueError(f"{' and '.join(names)} must not be given together: they say the same in different ways")
    if qid is not None:
        return groups_from_ids(qid, n)
    if offsets is not None:
        bounds = offset_array(offsets, n, "offsets", "labels")
    else:
        bounds = np.array((0, n), np.int64) if group is None else groups_from_sizes(group, n)
    return QueryGroups(range(len(bounds) - 1), bounds)


def refuse_tables(data: Any, name: str) -> None:
    """Raise ValueError for a data frame with a column of queries, which is not a matrix with a query in each row."""
    columns = getattr(data, "columns", None)
    if columns is None:
        return
    from fastir.inputs.roles import QUERY  # imported for data frames only

    named = [column for column in columns if isinstance(column, str) and column in QUERY]
    if named:
        raise ValueError(
            f"{name}: a table, with the queries in its column {named[0]!r}; expected its columns one by one: labels, "
            f"scores, and qid={name}[{named[0]!r}]"
        )


def refuse_undivided(data: Any, name: str) -> None:
    """Raise ValueError if the index of a pandas column names several queries, which the caller did not pass."""
    index: Any = getattr(data, "index", None)
    for level in getattr(index, "names", ()):
        if isinstance(level, str):
            from fastir.inputs.roles import QUERY  # imported for callers with such an index only

            n = index.get_level_values(level).nunique() if level in QUERY else 0
            if n > 1:
                raise ValueError(
                    f"{name}: the index {level!r} names {n} queries, but there is no group, qid or offsets; expected "
                    f"qid={name}.index.get_level_values({level!r})"
                )


def groups_from_sizes(group: ArrayLike, n: int) -> np.ndarray:
    """Offsets from group sizes."""
    sizes = arrays.integers(group, "group")
    offsets, wrong = add_up(sizes, n)
    if 0 <= wrong < len(sizes) and sizes[wrong] < 0:
        raise ValueError(f"group[{wrong}] = {sizes[wrong]}; a group size must be 0 or more")
    if wrong >= 0:
        raise ValueError(f"group sizes sum to {sum(sizes.tolist())} but labels has {n} entries")
    return offsets


def groups_from_ids(qid: Any, n: int) -> QueryGroups:
    """The QueryGroups from an id in each row; queries are in the order in which they first appear."""
    ids = arrays.array_from_object(qid, "qid")
    if ids.ndim != 1 or len(ids) != n:
        raise ValueError(f"qid has shape {ids.shape} but labels has {n} entries; expected an id for each")
    if ids.dtype.kind not in "iuUSO" and n:
        raise TypeError(f"qid must hold integers or strings, got dtype {ids.dtype}")
    try:
        begins = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))[:n])  # of stretches of one id
        keys = id_keys(ids[begins])
    except TypeError as error:
        raise TypeError(f"qid must hold integers or strings, of one kind: {error}") from None
    order = stable_order(keys)
    new = np.concatenate(([True], keys[order][1:] != keys[order][:-1]))[: len(keys)]
    if new.all():
        return QueryGroups(ids[begins].tolist(), np.append(begins, n).astype(np.int64, copy=False))
    firsts = order[new]  # the first stretch of each query
    place = np.empty(len(firsts), np.int64)
    place[np.argsort(firsts)] = np.arange(len(firsts))
    codes = np.empty(len(begins), np.int64)
    codes[order] = place[np.cumsum(new) - 1]
    codes = repeat(codes, np.diff(begins, append=n))
    offsets = offsets_from_sizes(occurrences(codes))
    return QueryGroups(ids[begins[np.sort(firsts)]].tolist(), offsets, stable_order(codes))


def id_keys(ids: np.ndarray) -> np.ndarray:
    """Numbers from 0 up that are equal where ids are."""
    if ids.dtype.kind in "iu" and ids.size:
        return ids.astype(np.uint64) - np.array(ids.min()).astype(np.uint64)
    return np.unique(ids, return_inverse=True)[1].astype(np.uint64)


def stable_order(codes: np.ndarray) -> np.ndarray:
    """A stable order that sorts numbers from 0 up; by 16 bits at a time, which NumPy sorts by radix."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    while codes.size and codes.max() > 0xFFFF:
        codes = codes >> codes.dtype.type(16)
        order = order[np.argsort(codes.astype(np.uint16)[order], kind="stable")]
    return order


def offset_array(offsets: ArrayLike, n: int, name: str, what: str) -> np.ndarray:
    """Offsets as contiguous int64: from 0, never falling, up to n."""
    array = arrays.integers(offsets, name)
    if array.size == 0:
        raise ValueError(f"{name} must have 1 dimension and at least one entry, got shape {array.shape}")
    if array.strides[0] != array.itemsize:
        array = array.copy()
    fall = find_fall(array, n)
    if fall == 0:
        raise ValueError(f"{name} must start at 0, got offset {array[0]}")
    if 0 < fall < len(array):
        raise ValueError(
            f"{name}[{fall}] = {array[fall]} < {name}[{fall - 1}] = {array[fall - 1]}; offsets must not fall"
        )
    if fall > 0:
        raise ValueError(f"{what} has {n} entries but {name} ends at {array[-1]}")
    return array
