"""The first documents of each run's rankings, in the order in which `evaluate` ranks them.

Ties stand as under trec_eval, the larger document id first; most rankings are in order already, and are only cut.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from fastir.checks import positive
from fastir.columns.ids import Arena
from fastir.errors import quote
from fastir.evaluation.many_runs import name_the_run
from fastir.evaluation.named_runs import named_runs
from fastir.request.options import WHOLE
from fastir.run import Run, as_run

Rankings = dict[Any, list[Any]]  # {query_id: document ids in rank order}


def read_runs(runs: Any) -> dict[Hashable, Run]:
    """The runs of a caller by name, each read once; their ids are of one kind.

    Raises
    ------
    ValueError
        There is none.
    TypeError
        The ids of two runs are of different kinds, and so never match.
    """
    found: dict[Hashable, Run] = {}
    for name, given in named_runs(runs, None, None):
        try:
            found[name] = as_run(given, None, None)
        except Exception as error:
            name_the_run(error, name)
            raise
    if not found:
        raise ValueError("there are no runs")
    kinds = {name: kinds_of(run) for name, run in found.items() if run.n_rows}
    for name, kind in kinds.items():
        first = next(iter(kinds))
        if kind != kinds[first]:
            raise TypeError(f"run {quote(name)} has ids of type {kind}, run {quote(first)} of {kinds[first]}")
    return found


def kinds_of(run: Run) -> str:
    return f"({type(next(iter(run))).__name__}, {'int' if run.columns()[0].integers else 'str'})"


def depth_of(depth: Any) -> int:
    """How many documents of a ranking count; None is all."""
    return WHOLE if depth is None else positive("depth", "the number of documents of a ranking", depth, WHOLE)


def rankings_of(run: Run, depth: int) -> Rankings:
    """The first `depth` documents of each ranking."""
    ids, offsets, scores = run.columns()
    falls = np.empty(len(scores) + 1, bool)  # whether a score is below the one before it
    np.less(scores[1:], scores[:-1], out=falls[1:-1])
    falls[offsets] = True  # at both ends, too
    broken = np.concatenate(([0], np.cumsum(~falls[:-1])))
    sizes = np.diff(offsets)
    in_order = broken[offsets[1:]] == broken[offsets[:-1]]
    taken = np.where(in_order, np.minimum(sizes, depth), sizes)
    ends = np.cumsum(taken)
    rows = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[:-1] - (ends - taken), taken)
    doc_ids = Arena(ids.text, ids.starts[rows], ids.lengths[rows], ids.integers)[:]
    found = {}
    for query_id, sorted_already, start, end, first in zip(
        run, in_order.tolist(), (ends - taken).tolist(), ends.tolist(), offsets.tolist(), strict=False
    ):
        own = doc_ids[start:end]
        if not sorted_already:
            ranking = zip(scores[first : first + len(own)].tolist(), map(text_of, own), strict=True)
            own = [doc_id for _, (_, doc_id) in sorted(ranking, reverse=True)[:depth]]
        found[query_id] = own
    return found


def text_of(doc_id: str | int) -> tuple[str, str | int]:
    """By what ties are ordered, and the id."""
    return str(doc_id), doc_id
