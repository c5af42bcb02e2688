"""The option `unanswerable`: queries whose right answer is nothing, which the qrels may lack.

The metric false_surface is a mean over these. Without the option they are the judged queries without a relevant
document; with it the others of these are neither answerable nor unanswerable, and have no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fastir.data.qrels import Qrels, refuse_without_labels
from fastir.engine.measure import FALSE_SURFACE
from fastir.errors import quote
from fastir.inputs.exclusions import equal_ids, id_text
from fastir.inputs.mappings import field_rows
from fastir.inputs.places import is_path


def read_unanswerable(unanswerable: Any, qrels: Qrels, rel_level: float) -> tuple[frozenset[str], Qrels]:
    """The queries' ids as text, and qrels that have all of them: those that are missing there have no documents."""
    if is_path(unanswerable):
        listed: list[Any] = [fields[0] for _, fields in field_rows(unanswerable, {1: "a query"})]
    elif isinstance(unanswerable, (str, bytes)) or not isinstance(unanswerable, Iterable):
        got = f"{type(unanswerable).__name__} {quote(unanswerable)}"
        raise TypeError(f"unanswerable must be a collection of query ids or a path, got {got}")
    else:
        listed = list(unanswerable)
    texts = dict.fromkeys(id_text(query_id, "unanswerable: a query id") for query_id in listed)
    known = {str(query_id): place for place, query_id in enumerate(qrels)}
    offsets, labels = qrels.columns.offsets, qrels.columns.numbers
    for text in texts.keys() & known.keys():
        first, stop = offsets[known[text] : known[text] + 2].tolist()
        relevant = np.flatnonzero(labels[first:stop] >= rel_level)
        if len(relevant):
            row = first + int(relevant[0])
            raise ValueError(
                f"query {quote(text)} is unanswerable, and document {quote(qrels.columns.ids[row])} is relevant to it "
                f"with the label {labels[row]:g}"
            )
    missing = [text for text in texts if text not in known]
    if missing:
        refuse_without_labels(qrels, "unanswerable queries")
        integers = type(next(iter(qrels))) is int
        added = [equal_ids(text)[-1] if integers else text for text in missing]
        query_ids, offsets, ids, numbers, repairs = qrels.columns.fields()
        offsets = np.append(offsets, np.full(len(added), offsets[-1]))
        qrels = Qrels([*query_ids, *added], offsets, ids, numbers, repairs)
    return frozenset(texts), qrels


def without_others(
    values: np.ndarray, query_ids: Sequence[Any], names: Sequence[str], unanswerable: frozenset[str]
) -> np.ndarray:
    """The values, NaN for queries that are not unanswerable in the columns of metrics that read the option."""
    columns = [column for column, name in enumerate(names) if name == FALSE_SURFACE]
    others = [row for row, query_id in enumerate(query_ids) if str(query_id) not in unanswerable]
    values = values.copy()
    values[np.ix_(others, columns)] = np.nan
    return values
