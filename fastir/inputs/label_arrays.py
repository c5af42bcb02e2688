"""Labels of rows without ids, and the arrays of judged rankings: checked and converted to what kernels read.

The checks guarantee that no offset or rank leads out of an array.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns.rows import list_of_each
from fastir.engine.measure._grades import coded, has_fractions
from fastir.engine.rank._labels import KINDS
from fastir.errors import quote
from fastir.inputs import arrays
from fastir.inputs.arrays import integers, numbers
from fastir.request.options import MAX_LABEL

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.request.plan import Settings


def column(data: ArrayLike, name: str) -> np.ndarray:
    """Labels of a dtype and a stride that the kernels read, as `arrays.numbers` reads them; values are unchecked."""
    labels = arrays.numbers(data, name)
    dtype = labels.dtype
    if dtype.kind == "b":
        labels = labels.view(np.int8)
    elif dtype.char not in KINDS:  # uint8
        small = not labels.size or labels.view(np.int8).min() >= 0
        labels = labels.view(np.int8) if small else labels.astype(np.int16)
    return labels if labels.strides[0] % labels.itemsize == 0 else labels.copy()


def is_matrix(data: object) -> bool:
    """Whether an array or a sequence has two dimensions."""
    if type(data) is np.ndarray:
        return data.ndim == 2
    if isinstance(data, (list, tuple)):
        first = data[0] if data else None
        return isinstance(first, (list, tuple)) or len(getattr(first, "shape", ())) == 1
    return len(getattr(data, "shape", ())) == 2


def index_text(place: int, shape: tuple[int, ...]) -> str:
    """The indices of a position, as text for brackets."""
    return ", ".join(str(number) for number in np.unravel_index(place, shape))


def out_of_range(name: str) -> OverflowError:
    """The error for a label that does not fit int32."""
    return OverflowError(f"{name} holds a label outside [-2^31, 2^31 - 1]; out of range")


def refuse_infinite(labels: np.ndarray, name: str) -> None:
    """Raise ValueError for a label that is infinite or NaN; positions in a matrix are counted row by row."""
    if labels.dtype.kind == "f" and labels.size:
        finite = np.isfinite(labels)
        if not finite.all():
            raise ValueError(f"{name}[{index_text(int(finite.argmin()), labels.shape)}] is not a finite number")


Fraction = tuple[float, str]  # a label, and its position in words


def refuse_labels(labels: np.ndarray, offsets: np.ndarray, name: str, settings: Settings) -> None:
    """Raise OverflowError for a label that is out of range, or above a metric's limit."""
    if labels.size and (labels.max() > 2**31 - 1 or labels.min() < -(2**31)):
        raise out_of_range(name)
    for limit, text, why in settings.label_limits:
        if labels.size and labels.max() > limit:
            place = int(labels.argmax())
            query = int(np.searchsorted(offsets, place, "right")) - 1
            raise OverflowError(
                f"metric {quote(text)}: label {labels[place]:.12g} is too large for {why} "
                f"(query {query}, document {place - int(offsets[query])})"
            )


def first_fraction(labels: np.ndarray, offsets: np.ndarray, ideal: tuple[np.ndarray, np.ndarray] | None) -> Fraction:
    """The first real-valued label and its position in words; the ideal labels are looked at last."""
    for what, column, ends in (("document", labels, offsets), *([("ideal label", *ideal)] if ideal else [])):
        place = int(np.argmax(column != np.trunc(column))) if len(column) else 0
        if len(column) and column[place] != np.trunc(column[place]):
            query = int(np.searchsorted(ends, place, "right")) - 1
            return float(column[place]), f"query {query}, {what} {place - int(ends[query])}"
    raise ValueError("all labels are whole")


# ---- judged rankings as arrays ---------------------------------------------------------------------------------------
COLUMNS: dict[str, Any] = {  # in the order in which the kernel takes them
    "offsets": np.int64,
    "ranks": np.int64,
    "labels": np.int32,
    "num_ret": np.int64,
    "ideal_offsets": np.int64,
    "ideal_labels": np.int32,
    "missing": np.bool_,
}
LABEL_COLUMNS = ("labels", "ideal_labels")  # float64, both, where one label is real-valued
MAX_RANKING_DOCUMENTS = 1 << 40  # documents of a ranking


def check_arrays(query_ids: list[Any], raw: dict[str, Any]) -> dict[str, np.ndarray]:
    """New arrays of the dtypes of COLUMNS."""
    check_queries(query_ids)
    n = len(query_ids)
    arrays = {name: integers(raw[name], name) for name in COLUMNS if name not in ("missing", *LABEL_COLUMNS)}
    arrays |= {name: label_array(raw[name], name) for name in LABEL_COLUMNS}
    missing = numbers(raw["missing"], "missing")
    if missing.dtype != np.bool_ and len(missing):
        raise TypeError(f"missing must be bools, got dtype {missing.dtype}")
    for name, array in (("num_ret", arrays["num_ret"]), ("missing", missing)):
        if len(array) != n:
            raise ValueError(f"{name} has {len(array)} entries but there are {n} query_ids; lengths must match")
    for offsets, name in (("offsets", "ranks"), ("offsets", "labels"), ("ideal_offsets", "ideal_labels")):
        check_offsets(arrays[offsets], offsets, n, len(arrays[name]), name)
    for name in LABEL_COLUMNS:
        array = arrays[name]
        if len(array) and not -1 <= array.min() <= array.max() <= MAX_LABEL:
            place = int(np.flatnonzero((array < -1) | (array > MAX_LABEL))[0])
            raise OverflowError(f"{name}[{place}] is {array[place]}; expected -1 to 2^31 - 1")
    check_ranks(query_ids, arrays)
    check_labels(query_ids, arrays)
    if ((arrays["num_ret"] > 0) & missing).any():
        query = query_ids[int(np.flatnonzero((arrays["num_ret"] > 0) & missing)[0])]
        raise ValueError(f"query {quote(query)} is missing, but num_ret is not 0")
    dtypes = dict(COLUMNS)
    if any(has_fractions(arrays[name]) for name in LABEL_COLUMNS):
        dtypes |= dict.fromkeys(LABEL_COLUMNS, np.float64)
    return {name: np.array({**arrays, "missing": missing}[name], dtype) for name, dtype in dtypes.items()}


def label_array(labels: Any, name: str) -> np.ndarray:
    """Labels as an array, int64 where all are whole."""
    array = numbers(labels, name)
    if array.dtype.kind != "f":
        return integers(labels, name)
    refuse_infinite(array, name)
    return array if has_fractions(array) else array.astype(np.int64)


def check_queries(query_ids: list[Any]) -> None:
    """Refuse ids that are neither str nor int, or of both kinds, or that occur twice."""
    kinds = set(map(type, query_ids))
    if not kinds <= {str} and not kinds <= {int}:
        other = next((kind for kind in kinds if kind not in (str, int)), None)
        what = "str and int" if other is None else other.__name__
        raise TypeError(f"query_ids must be all str or all int, got {what}")
    if len(set(query_ids)) != len(query_ids):
        twice = next(query_id for query_id, count in Counter(query_ids).items() if count > 1)
        raise ValueError(f"duplicate query {quote(twice)} in query_ids")


def check_offsets(offsets: np.ndarray, name: str, n: int, size: int, what: str) -> None:
    if len(offsets) != n + 1:
        raise ValueError(f"{name} has {len(offsets)} entries, expected {n + 1} for {n} query_ids")
    if offsets[0] != 0 or offsets[-1] != size:
        raise ValueError(f"{name} goes from {offsets[0]} to {offsets[-1]}, expected 0 to the {size} entries of {what}")
    falls = np.flatnonzero(np.diff(offsets) < 0)
    if len(falls):
        raise ValueError(f"{name} must not fall, but {name}[{falls[0] + 1}] is less than the one before")


def check_ranks(query_ids: list[Any], arrays: dict[str, np.ndarray]) -> None:
    """Ranks rise within a query, from 1 to its num_ret."""
    offsets, ranks, num_ret = arrays["offsets"], arrays["ranks"], arrays["num_ret"]
    long = np.flatnonzero((num_ret < 0) | (num_ret > MAX_RANKING_DOCUMENTS))
    if len(long):
        raise ValueError(f"num_ret of query {quote(query_ids[long[0]])} is {num_ret[long[0]]}; expected 0 to 2^40")
    rows = list_of_each(offsets)
    before = np.concatenate([[0], ranks[:-1]])[: len(ranks)]
    before[np.concatenate([[True], rows[1:] != rows[:-1]])[: len(ranks)]] = 0
    wrong = np.flatnonzero((ranks <= before) | (ranks > num_ret[rows]))
    if len(wrong):
        place, query = wrong[0], query_ids[rows[wrong[0]]]
        why = (
            f"more than its num_ret {num_ret[rows[place]]}"
            if ranks[place] > before[place]
            else "not above the one before"
        )
        raise ValueError(f"ranks: rank {ranks[place]} of query {quote(query)} is {why}")


def check_labels(query_ids: list[Any], arrays: dict[str, np.ndarray]) -> None:
    """Refuse labels that are not among the ideal labels of their query."""
    offsets, labels, ideal_offsets, ideal = (
        arrays[name] for name in ("offsets", "labels", "ideal_offsets", "ideal_labels")
    )
    rows, ideal_rows = (list_of_each(of) for of in (offsets, ideal_offsets))
    rises = np.flatnonzero((np.diff(ideal) > 0) & (np.diff(ideal_rows) == 0))
    if len(rises):
        raise ValueError(
            f"ideal_labels must fall, but label {ideal[rises[0] + 1]} of query "
            f"{quote(query_ids[ideal_rows[rises[0]]])} follows {ideal[rises[0]]}"
        )
    _, (codes, ideal_codes) = coded(labels, ideal)
    pairs, counts = np.unique(rows << 32 | codes + 2, return_counts=True)
    ideal_pairs, most = np.unique(ideal_rows << 32 | ideal_codes + 2, return_counts=True)
    places = np.searchsorted(ideal_pairs, pairs)
    more = np.flatnonzero(counts > np.append(most, 0)[places] * (np.append(ideal_pairs, -1)[places] == pairs))
    if len(more):
        query, code = divmod(int(pairs[more[0]]), 1 << 32)
        label = labels[(rows == query) & (codes == code - 2)][0]
        raise ValueError(f"labels: query {quote(query_ids[query])} has the label {label} more often than ideal_labels")
