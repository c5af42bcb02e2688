"""The first documents of each run's rankings, in the order in which `evaluate` ranks them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.checks import positive_integer
from fastir.data.run import Run, as_run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.rows import repeat
from fastir.engine.rank._order import in_rank_order
from fastir.errors import quote
from fastir.evaluation.many import name_the_run
from fastir.evaluation.run_collections import runs_by_name
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.evaluation.run_names import RunNames
    from fastir.inputs.parents import AnyParents
    from fastir.request.options import Duplicates

Rankings = dict[Any, list[Any]]  # {query_id: document ids in rank order}


def read_runs(
    runs: Any,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
    parents: AnyParents | None = None,
    names: RunNames = "stem",
    lines: str = "trec",
    judgments: Any = None,
) -> dict[Hashable, Run]:
    """The runs of a caller by name, each read once, with the options of `evaluate`; their ids are of one kind.

    A file of `judgments`, as the caller gave them, is no run where it lies in a folder of them.
    """
    read: dict[Hashable, Run] = {}
    for name, rankings in runs_by_name(runs, columns, duplicates, names, [judgments]):
        try:
            read[name] = as_run(rankings, columns, duplicates, parents, lines)
        except Exception as error:
            name_the_run(error, name)
            raise
    if not read:
        raise ValueError("there are no runs")
    kinds = {name: id_kinds(run) for name, run in read.items() if run.columns.n_rows}
    for name, kind in kinds.items():
        first = next(iter(kinds))
        if kind != kinds[first]:
            raise TypeError(f"run {quote(name)} has ids of type {kind}, run {quote(first)} of {kinds[first]}")
    return read


def id_kinds(run: Run) -> str:
    return f"({type(next(iter(run))).__name__}, {'int' if run.columns.ids.integers else 'str'})"


def check_depth(pool_depth: Any) -> int:
    """How many documents of a ranking count; None is all."""
    if pool_depth is None:
        return MAX_DEPTH
    return positive_integer("pool_depth", "the number of documents of a ranking", pool_depth, MAX_DEPTH)


def first_documents(run: Run, depth: int, without: JudgedRankings | None = None) -> Rankings:
    """Return the first `depth` documents of each ranking, except the judged ones."""
    ids, offsets, scores = run.columns.arrays()
    wanted = np.arange(len(ids)) - repeat(offsets[:-1], np.diff(offsets)) < depth
    if without is not None:
        places = run.columns.places()
        starts = offsets[[places.get(query_id, 0) for query_id in without.query_ids]]
        wanted[repeat(starts, np.diff(without.offsets)) + without.ranks - 1] = False
    rows = in_rank_order(ids_from_arena(ids), offsets, scores)[wanted]
    doc_ids = ids.take(rows)[:]
    ends = np.append(0, np.cumsum(wanted))[offsets].tolist()
    return {query_id: doc_ids[start:end] for query_id, (start, end) in zip(run, itertools.pairwise(ends), strict=True)}
