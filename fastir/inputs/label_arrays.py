"""Labels of rows without ids: checked, and laid out as the kernels read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastir.errors import quote
from fastir.inputs import arrays
from fastir.rank._labels import KINDS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.request.plan import Settings


def column(data: ArrayLike, name: str) -> np.ndarray:
    """Labels of a dtype and a stride that the kernels read, as `arrays.numbers` reads them; values are unchecked."""
    labels = arrays.numbers(data, name)
    dtype = labels.dtype
    if dtype.kind == "b":
        labels = labels.view(np.int8)
    elif dtype.str[1:] not in KINDS:
        if dtype == np.uint64 and labels.size and labels.max() > 2**63 - 1:
            raise out_of_range(name)
        labels = labels.astype(np.int32 if dtype.itemsize < 4 else np.int64)
    return labels if labels.strides[0] % labels.itemsize == 0 else labels.copy()


def is_matrix(data: object) -> bool:
    """Whether an array or a sequence has two dimensions."""
    if isinstance(data, (list, tuple)):
        first = data[0] if data else None
        return isinstance(first, (list, tuple)) or len(getattr(first, "shape", ())) == 1
    return len(getattr(data, "shape", ())) == 2


def place_name(place: int, shape: tuple[int, ...]) -> str:
    """The indices of a position, as they are written between brackets."""
    return ", ".join(str(number) for number in np.unravel_index(place, shape))


def out_of_range(name: str) -> OverflowError:
    """The error for a label that does not fit int32."""
    return OverflowError(f"{name} holds a label outside [-2^31, 2^31 - 1]; out of range")


def fraction(labels: np.ndarray, name: str) -> int | None:
    """The position of the first label that is not a whole number, or None; raises where one is not finite.

    Positions in a matrix are counted row by row.
    """
    if labels.dtype.kind != "f" or not labels.size:
        return None
    finite = np.isfinite(labels)
    if not finite.all():
        raise ValueError(f"{name}[{place_name(int(finite.argmin()), labels.shape)}] is not a finite number")
    whole = labels == np.floor(labels)
    return None if whole.all() else int(whole.argmin())


def refuse_fraction(labels: np.ndarray, name: str, place: int, settings: Settings) -> None:
    """Raise ValueError if a label is a fraction and a metric needs more than its gain."""
    for request, values in zip(settings.requests, settings.values, strict=True):
        plain = values.get("gain", request.card.gain) == "linear" and request.level is None
        if not (request.card.fractional and plain):
            raise ValueError(
                f"{name}[{place_name(place, labels.shape)}] = {labels.flat[place]} is not a whole number; "
                f"labels must be integers for metric {quote(request.text)}"
            )


def refuse_labels(labels: np.ndarray, offsets: np.ndarray, name: str, settings: Settings) -> None:
    """Raise OverflowError for a label that is out of range, or above a metric's limit."""
    if labels.size and (labels.max() > 2**31 - 1 or labels.min() < -(2**31)):
        raise out_of_range(name)
    for limit, text, why in settings.label_limits:
        if labels.size and labels.max() > limit:
            place = int(labels.argmax())
            query = int(np.searchsorted(offsets, place, "right")) - 1
            raise OverflowError(
                f"metric {quote(text)}: label {labels[place]:.0f} is too large for {why} "
                f"(query {query}, document {place - int(offsets[query])})"
            )


def as_codes(*columns: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Fractional labels, which are gains, as codes in the same order: the gain of each code, and the codes.

    0 stays 0; negative labels become -1.
    """
    table = np.unique(np.concatenate([labels[labels > 0] for labels in columns])).astype(np.float64)
    table = np.concatenate(([0.0], table))
    codes = [np.where(labels < 0, -1, np.searchsorted(table, np.maximum(labels, 0))) for labels in columns]
    return table, [array.astype(np.int32) for array in codes]
