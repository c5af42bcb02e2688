"""Rankings that come as labels and offsets: checked, and laid out as the kernels read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastir.errors import quote

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def both(
    labels: ArrayLike, offsets: ArrayLike, ideal_labels: ArrayLike | None, ideal_offsets: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The four arrays of evaluate_ranked, checked; the ideal ones are the others where they are None."""
    labels, offsets = labels_of_queries(labels, offsets, "labels", "offsets")
    if (ideal_labels is None) != (ideal_offsets is None):
        raise ValueError("ideal_labels and ideal_offsets must be given together")
    if ideal_labels is None or ideal_offsets is None:
        return labels, offsets, labels, offsets
    ideal_labels, ideal_offsets = labels_of_queries(ideal_labels, ideal_offsets, "ideal_labels", "ideal_offsets")
    if len(ideal_offsets) != len(offsets):
        raise ValueError(f"ideal_offsets has {len(ideal_offsets)} entries but offsets {len(offsets)}; "
                         "lengths must match")
    return labels, offsets, ideal_labels, ideal_offsets


def check_labels(limits: list[tuple[int, str, str]], labels: np.ndarray, offsets: np.ndarray) -> None:
    """Refuse a label above a metric's limit."""
    for limit, text, why in limits:
        if labels.size and labels.max() > limit:
            place = int(labels.argmax())
            query = int(np.searchsorted(offsets, place, "right")) - 1
            raise OverflowError(f"metric {quote(text)}: label {labels[place]} is too large for {why} "
                                f"(query {query}, document {place - int(offsets[query])})")


def labels_of_queries(
    labels: ArrayLike, offsets: ArrayLike, name: str, offsets_name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and offsets, checked; the offsets first, which may spare the copy of many labels."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} must have 1 dimension, got shape {array.shape}")
    checked = offset_array(offsets, len(array), offsets_name, name)
    return label_array(array, name), checked


def label_array(array: np.ndarray, name: str) -> np.ndarray:
    """Labels as contiguous int32, every value checked."""
    if array.dtype.kind == "f":
        if array.size and not np.isfinite(array).all():
            raise ValueError(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not a finite number")
        whole = array == np.floor(array)
        if not whole.all():
            place = int(np.argmin(whole))
            raise ValueError(f"{name}[{place}] = {array[place]} is not a whole number; labels must be integers")
    elif array.dtype.kind not in "iub" and array.size:
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.size and (float(array.max()) > 2**31 - 1 or float(array.min()) < -(2**31)):
        raise OverflowError(f"{name} holds a label outside [-2^31, 2^31 - 1]; out of range")
    return np.ascontiguousarray(array, np.int32)


def offset_array(offsets: ArrayLike, n: int, name: str, what: str) -> np.ndarray:
    """Offsets as contiguous int64: from 0, never falling, up to n."""
    array = np.asarray(offsets)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must have 1 dimension and at least one entry, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    array = np.ascontiguousarray(array, np.int64)
    if array[0] != 0:
        raise ValueError(f"{name} must start at 0, got offset {array[0]}")
    falls = np.diff(array) < 0
    if falls.any():
        i = int(falls.argmax()) + 1
        raise ValueError(f"{name}[{i}] = {array[i]} < {name}[{i - 1}] = {array[i - 1]}; offsets must not fall")
    if array[-1] != n:
        raise ValueError(f"{what} has {n} entries but {name} ends at {array[-1]}")
    return array
