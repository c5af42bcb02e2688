"""Doubles are written as repr() writes them, to the last digit, and rows of them stand between their texts."""

import math
import struct

import numpy as np
import pytest
from fastir.engine.columns._number_text import rows_text

EVERY_POWER_OF_TWO = [math.ldexp(1.0, exponent) for exponent in range(-1074, 1024)]
EVERY_POWER_OF_TEN = [float(f"1e{exponent}") for exponent in range(-323, 309)]
# Most digits, least number, ends of the ranges without exponent, halves between two shortest texts.
HARD = """5e-324 2.2250738585072014e-308 1.7976931348623157e308 9007199254740993 9007199254740991 1e22 1e23 8.41e21
    2.0e-44 5e-5 0.0001 0.00012345678901234567 9.999999999999999e-05 9999999999999998 1e16 12345678901234567 4.35 0.3
    0.1 2.98023223876953125e-8 5.764607523034235e39 1.152921504606847e40 2.305843009213694e40 1e15 123456 100 1.5"""
rng = np.random.default_rng(20)
NUMBERS = {
    "powers of two": EVERY_POWER_OF_TWO,
    "powers of ten": EVERY_POWER_OF_TEN,
    "hard cases": list(map(float, HARD.split())),
    "any bits": rng.integers(0, 1 << 64, 200_000, dtype=np.uint64).view(np.float64).tolist(),
    "subnormals": rng.integers(1, 1 << 52, 20_000, dtype=np.uint64).view(np.float64).tolist(),
    "from 0 to 1": rng.random(100_000).tolist(),
    "fractions": [a / b for a in range(1, 120) for b in range(1, 120)],
    "decimals": [float(f"{a}e{b}") for a in rng.integers(1, 10**6, 2000).tolist() for b in range(-25, 25, 3)],
    "whole numbers": rng.integers(1, 1 << 60, 20_000).astype(np.float64).tolist(),
    "none": [],
}


def texts(numbers, *special):
    values = np.array(numbers, np.float64).reshape(-1, 1)
    return rows_text([""] * len(numbers), values, [b"", b"\n"], *special).tobytes().decode().split("\n")[:-1]


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_written_as_repr_writes_it(numbers):
    assert texts(numbers) == list(map(repr, numbers))


@pytest.mark.parametrize("numbers", [EVERY_POWER_OF_TWO, EVERY_POWER_OF_TEN, NUMBERS["hard cases"]])
@pytest.mark.parametrize("neighbour", [-math.inf, 0.0, math.inf])
def test_its_neighbours_are_written_as_repr_writes_them(numbers, neighbour):
    near = [math.nextafter(number, neighbour) for number in numbers] + [-number for number in numbers]
    assert texts(near) == list(map(repr, near))


def test_zeros_infinities_and_nan_are_words():
    negative_nan = struct.unpack("d", struct.pack("Q", 0xFFF8 << 48))[0]
    numbers = [0.0, -0.0, math.inf, -math.inf, math.nan, negative_nan]
    assert texts(numbers) == ["0.0", "-0.0", "inf", "-inf", "nan", "nan"]
    assert texts(numbers, b"null", b"Infinity") == ["0.0", "-0.0", "Infinity", "-Infinity", "null", "null"]


def test_rows_stand_between_their_texts():
    values = np.array([[1, 0.5], [-2, 1e-7], [3, 1e300]])
    found = rows_text(["a", "é\udc80", "long" * 100], values, [b":", b" and ", b";\n"])
    lines = b"a:1.0 and 0.5;\n", b"\xc3\xa9\x80:-2.0 and 1e-07;\n", b"long" * 100 + b":3.0 and 1e+300;\n"
    assert found.tobytes() == b"".join(lines)
    assert rows_text(["only", "heads"], np.empty((2, 0)), [b";"]).tobytes() == b"only;heads;"
    assert rows_text([], np.empty((0, 2)), [b"", b"", b""]).tobytes() == b""
    with pytest.raises(UnicodeEncodeError):
        rows_text(["\ud800"], np.empty((1, 0)), [b""])


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2, 3)])
def test_what_does_not_fit_is_refused(shape):
    with pytest.raises(ValueError, match="2 rows of 2 values expected"):
        rows_text(["", ""], np.zeros(shape), [b"", b"", b""])
