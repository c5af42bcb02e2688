"""Types of Arrow columns: in words, and the numbers of decimals, which NumPy does not have.

A decimal is an integer of 4 to 32 bytes and a scale, one for the column: its value is integer / 10**scale. A
score or a label is the float64 nearest to it, as if it had been written in a file; an id must be whole.
"""

from __future__ import annotations

import re

import numpy as np

# The letters of a type, and its word.
TYPES = """
n null, b bool, c int8, C uint8, s int16, S uint16, i int32, I uint32, l int64, L uint64, e float16, f float32,
g float64, u string, U large string, vu string view, z binary, Z large binary, vz binary view,
w binary of fixed size, tdD date, tdm date, tt time, ts timestamp, tD duration, ti interval, +l list,
+L large list, +vl list view, +vL large list view, +w list of fixed size, +s struct, +m map, +u union,
+r run-end encoded
"""
WORDS = dict(pair.strip().split(" ", 1) for pair in TYPES.split(","))
DECIMAL = r"d:(\d+),(-?\d+)(?:,(32|64|128|256))?"
# Up to these a float64 is the very number, and the quotient of two the nearest one.
EXACT_INTEGERS, EXACT_POWERS = 1 << 53, 22


def in_words(name: str) -> str:
    """A type that Arrow writes in few letters, such as "tdD", as a word."""
    if match := re.fullmatch(DECIMAL, name):
        return f"decimal({match[1]}, {match[2]})"
    parameterless = name.partition(":")[0]
    prefixes = (parameterless[:length] for length in (3, 2, 1))
    return next((WORDS[start] for start in prefixes if start in WORDS), name)


def decimal_layout(name: str) -> tuple[int, int] | None:
    """(bytes of a number, scale) of a type of decimals, else None."""
    match = re.fullmatch(DECIMAL, name) if name.startswith("d:") else None
    return None if match is None else (int(match[3] or 128) // 8, int(match[2]))


def low_words(data: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The integers in some bytes, `width` each, as int64, and which of them fit."""
    if width < 8:
        return data.view(f"<i{width}").astype(np.int64), np.ones(len(data) // width, bool)
    words = data.view("<i8").reshape(-1, width // 8)
    low = words[:, 0].astype(np.int64)
    return low, (words[:, 1:] == (low >> 63)[:, None]).all(1)


def integer(data: np.ndarray, width: int, place: int) -> int:
    return int.from_bytes(data[place * width : (place + 1) * width].tobytes(), "little", signed=True)


def decimal_numbers(data: np.ndarray, width: int, scale: int) -> np.ndarray:
    """The float64 nearest to each decimal in an array of bytes."""
    low, fits = low_words(data, width)
    numbers = low / 10.0 ** min(max(scale, 0), EXACT_POWERS)
    exact = fits & (low <= EXACT_INTEGERS) & (low >= -EXACT_INTEGERS) & (0 <= scale <= EXACT_POWERS)
    for place in np.flatnonzero(~exact).tolist():
        number = integer(data, width, place)
        numbers[place] = number / 10**scale if scale >= 0 else float(number * 10**-scale)
    return numbers


def decimal_integers(data: np.ndarray, width: int) -> np.ndarray:
    """The integers as int64; as an array of str if one of them does not fit."""
    low, fits = low_words(data, width)
    if fits.all():
        return low
    return np.array([str(integer(data, width, place)) for place in range(len(low))], object)
