"""Labels of rows without ids: checked, and laid out as the kernels read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastir.engine.rank._labels import KINDS
from fastir.errors import quote
from fastir.inputs import arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.request.plan import Settings


def column(data: ArrayLike, name: str) -> np.ndarray:
    """Labels of a dtype and a stride that the kernels read, as `arrays.numbers` reads them; values are unchecked."""
    labels = arrays.numbers(data, name)
    dtype = labels.dtype
    if dtype.kind == "b":
        labels = labels.view(np.int8)
    elif dtype.char not in KINDS:
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
