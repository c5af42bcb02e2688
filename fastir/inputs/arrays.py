"""Arrays from anywhere, as NumPy arrays of numbers that share their memory wherever that is possible.

Arrays are recognised by their methods, not by their types: objects in host memory with `__dlpack__` or `__array__`
(PyTorch, JAX, TensorFlow, CuPy, Arrow, data frames), and sequences of numbers. No such library is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.errors import quote, warn_caller

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# DLPack's devices with memory that the CPU reads: CPU, CUDA host, ROCm host, CUDA managed.
HOST_DEVICES = (1, 3, 11, 13)
INT64 = np.dtype(np.int64)
NATIVE = frozenset(map(np.dtype, "?bBhHiIlLqQfd"))  # what `numbers` takes as it is
BLOCK_ENTRIES = 1 << 16  # entries that are looked at together for NaN
MAX_EXACT_INTEGER = 2**53  # up to this one float64 has all of them


def numbers(data: ArrayLike, name: str, ndim: int = 1) -> np.ndarray:
    """An array of real numbers with `ndim` dimensions, of any strides, with the caller's memory where that is possible.

    Of bool, int8 to int64, uint8 to uint64, float32 or float64: half precision (float16, bfloat16) is widened to
    float32, and gradients are ignored. Messages call it `name`.
    """
    array = data if type(data) is np.ndarray else array_from_object(data, name)
    dtype = array.dtype
    if dtype in NATIVE and array.ndim == ndim and array.flags.aligned:
        return array
    is_half = dtype.itemsize == 2 and dtype.kind not in "biu" and dtype.name in ("float16", "bfloat16")
    if not is_half and (dtype.kind not in "biuf" or dtype.itemsize > 8):
        raise TypeError(f"{name} must hold numbers of at most 64 bits, got dtype {dtype}{first_object(array, name)}")
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension{'s'[: ndim > 1]}, got shape {array.shape}")
    if is_half:
        return array.astype(np.float32)
    if not dtype.isnative or not array.flags.aligned:
        return array.astype(dtype.newbyteorder("="))
    return array


def scores(data: ArrayLike, name: str, ndim: int = 1) -> np.ndarray:
    """Scores as float32 or float64, as `numbers` reads them; integers become a float that holds them, or float64.

    Warns of different integers in one row that are one float64.
    """
    array = numbers(data, name, ndim)
    if array.dtype.kind == "f":
        return array
    floats = array.astype(np.result_type(array, np.float32))
    if array.dtype.itemsize == 8 and is_wide(array):
        warn_of_ties(array, floats, name)
    return floats


def is_wide(array: np.ndarray) -> bool:
    """Whether a number is beyond the integers that float64 has all of; one pass where integers are from 0 up."""
    unsigned = array.dtype.str.replace("i", "u")  # negative numbers are the largest there
    if array.dtype.kind == "i" and array.size and array.view(unsigned).max() <= MAX_EXACT_INTEGER:
        return False
    return array.size > 0 and bool(array.max() > MAX_EXACT_INTEGER or array.min() < -MAX_EXACT_INTEGER)


def equal_float_rows(integers: np.ndarray, floats: np.ndarray) -> np.ndarray:
    """The rows with an integer that becomes the same float64 as another row's integer; `floats` are all numbers."""
    rows = np.flatnonzero(np.abs(floats) >= MAX_EXACT_INTEGER)
    if integers.dtype == object:
        rows = rows[[isinstance(number, (int, np.integer)) for number in integers[rows]]]
    rows = rows[np.argsort(integers[rows], kind="stable")]
    held, alike = integers[rows], floats[rows]
    equal = (alike[1:] == alike[:-1]) & (held[1:] != held[:-1]).astype(bool)
    return np.sort(rows[np.isin(alike, alike[1:][equal])])


def warn_of_ties(integers: np.ndarray, floats: np.ndarray, name: str) -> None:
    """Warn of the first different integers in one row of a matrix, or in a column, that are one float64."""
    for row, (held, alike) in enumerate(zip(np.atleast_2d(integers), np.atleast_2d(floats), strict=True)):
        places = equal_float_rows(held, alike)
        if places.size:
            first = places[0]
            other = next(place for place in places if alike[place] == alike[first] and held[place] != held[first])
            where = f"rows {first} and {other}" if integers.ndim == 1 else f"row {row}, columns {first} and {other}"
            warn_caller(f"{name}: {held[first]} and {held[other]} are one float64, so that they tie ({where})")
            return


def integers(data: ArrayLike, name: str, ndim: int = 1) -> np.ndarray:
    """Integers as int64, as `numbers` reads them; an empty array may have any dtype."""
    array = numbers(data, name, ndim)
    if array.dtype is INT64:
        return array
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    if array.dtype == np.uint64 and array.size and array.max() > np.uint64(2**63 - 1):
        raise OverflowError(f"{name} holds {array.max()}; out of range, expected at most 2^63 - 1")
    return array.astype(np.int64, copy=False)


def refuse_nan(array: np.ndarray, name: str) -> None:
    """Raise ValueError for the first NaN of an array; a kernel that saw one calls this to name its position."""
    if array.dtype.kind != "f":
        return
    step = max(1, BLOCK_ENTRIES // max(1, array[:1].size))
    for start in range(0, len(array), step):
        is_nan = np.isnan(array[start : start + step])
        if is_nan.any():
            row, *column = (int(place[0]) for place in np.nonzero(is_nan))
            place = f"row {start + row}" + "".join(f", column {number}" for number in column)
            raise ValueError(f"{name}: NaN in {place}")


def first_object(array: np.ndarray, name: str) -> str:
    """The end of a message that shows the first entry of an array of objects that is no number, such as None."""
    if array.dtype.kind != "O" or array.ndim == 0:
        return ""
    for place in np.ndindex(array.shape):
        entry = array[place]
        if isinstance(entry, (str, bytes)) or not (hasattr(entry, "__float__") or hasattr(entry, "__len__")):
            indices = ", ".join(map(str, place))
            return f": {name}[{indices}] is {quote(entry)}"
    return ""


def is_masked_array(data: Any) -> bool:
    """Whether it is one of numpy.ma, which NumPy imports by the first use of it, and for long."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(data, masked.MaskedArray)


def array_from_object(data: Any, name: str) -> np.ndarray:
    """Any other object as a plain NumPy array, without a copy if possible."""
    if type(data) in (list, tuple):  # which has none of the methods below
        return convert_with(np.asarray, data, name)
    if is_masked_array(data) and data.mask.any():
        raise ValueError(f"{name} has masked entries; expected a number in every row")
    if hasattr(data, "tocsr"):
        raise TypeError(
            f"{name} is a sparse matrix, in which an empty cell may be a zero or nothing; expected an array, such as "
            f"{name}.toarray() makes, or the items that have a score in rank order, for fastir.evaluate_topk"
        )
    refuse_device(data, name)
    if callable(getattr(data, "detach", None)):
        data = data.detach()
    if str(getattr(data, "dtype", "")).endswith("bfloat16") and callable(getattr(data, "float", None)):
        data = data.float()  # bfloat16 of PyTorch, for which NumPy has no dtype
    if hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray):
        try:
            return np.from_dlpack(data)
        except MemoryError:
            raise
        except Exception:  # each library has its own error for what it does not export so
            pass
    to_numpy = getattr(data, "to_numpy", None) if hasattr(data, "iloc") else None  # what __array__ of pandas calls late
    return convert_with((lambda data: np.asarray(to_numpy())) if to_numpy else np.asarray, data, name)


def convert_with(convert: Callable[[Any], np.ndarray], data: Any, name: str) -> np.ndarray:
    """The array that a function makes of an object; an error says what it was."""
    try:
        return convert(data)
    except MemoryError:
        raise
    except Exception as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} must be an array of numbers, got {type(data).__name__}: {quote(str(error))}") from error


def refuse_device(data: Any, name: str) -> None:
    """Raise TypeError for a tensor on a GPU: copying it is slow, and is left to the caller."""
    try:
        on_host = data.__dlpack_device__()[0] in HOST_DEVICES
    except Exception:  # no device is named, or several are: the conversion will show whether it is possible
        on_host = not hasattr(data, "__cuda_array_interface__")
    if not on_host:
        place = getattr(data, "device", None)
        place = place() if callable(place) else place
        raise TypeError(
            f"{name} is on the device {place or 'GPU'} but must be in host memory: pass a copy that the "
            f"CPU can read, such as .cpu() or .get() make"
        )
