"""Numbers in files are read as float() reads them, to the bit, whichever of the two readers does it.

`fast_number` is the kernel's reader, None where it leaves a text to `slow_number`. The truth is Python's float().
"""

import contextlib
import ctypes
import ctypes.util
import json
import math
import platform
import random
import struct
from decimal import Decimal, localcontext

import gen
import numpy as np
import pytest

import fastir
from fastir.engine.columns._number import fast_number, rows_from_objects, rows_from_text, slow_number

LEAST = 5e-324


def double(rng):
    """Any finite double, each with the same chance."""
    while not math.isfinite(value := struct.unpack("d", rng.randbytes(8))[0]):
        pass
    return value


def halfway(value):
    """All the digits of the midpoint between a double and the one above."""
    above = math.nextafter(value, math.inf)
    return (Decimal(value) + (Decimal(above) if above != math.inf else Decimal(2) ** 1024)) / 2


def cut(number, digits):
    """A Decimal with so many digits; cut off, not rounded."""
    sign, all_digits, exponent = number.as_tuple()
    return Decimal((sign, all_digits[:digits], exponent + max(0, len(all_digits) - digits)))


def around_halves(rng, value):
    """Texts at, just below and just above the midpoint, of every number of digits that decides it or does not."""
    with localcontext(prec=1200):
        middle = halfway(value)
        numbers = [middle, middle.next_plus(), middle.next_minus()]
        for digits in (17, 18, 19, 20, rng.randint(21, 60)):
            short = cut(middle, digits)
            sign, _, exponent = short.as_tuple()
            numbers += [short, short + Decimal((sign, (1,), exponent))]
        return [f"{number:e}" for number in numbers]


def exact_halves(rng):
    """Midpoints of at most 19 digits: an odd number of 54 bits, or such a number over 16, or times a power of ten."""
    odd = rng.getrandbits(53) | 1 << 53 | 1
    over = rng.randint(0, 4)
    yield f"{odd * 5**over}e-{over}"
    yield str(Decimal(odd * 5**over).scaleb(-over))
    power = rng.randint(0, 23)
    factor = -(-(1 << 53) // 5**power) | 1
    limit = ((1 << 54) - 1) // 5**power
    if factor <= limit:
        yield f"{rng.randrange(factor, limit + 1, 2)}e{power}"


TEXTS = {
    "shortest": lambda rng: [repr(double(rng))],
    "exponents": lambda rng: [f"{double(rng):.{rng.randint(0, 24)}{rng.choice('eE')}}"],
    "scores": lambda rng: [f"{rng.gauss(0, 30):.{rng.randint(0, 20)}f}", repr(rng.gauss(0, 1)), repr(rng.random())],
    "float32": lambda rng: [repr(ctypes.c_float(rng.gauss(0, 30)).value)],
    "integers": lambda rng: [str(rng.getrandbits(rng.randint(1, 80)))],
    "nineteen digits": lambda rng: [f"{rng.randrange(10**18, 10**19)}e{rng.randint(-110, 110)}"],
    "near 2^64": lambda rng: [f"{2**64 + rng.randint(-3000, 3000)}e{rng.randint(-90, 90)}"],
    "halves": lambda rng: around_halves(rng, double(rng)),
    "halves of scores": lambda rng: around_halves(rng, rng.gauss(0, 30)),
    "exact halves": exact_halves,
    "subnormals": lambda rng: [repr(rng.getrandbits(rng.randint(1, 53)) * LEAST)],
    "halves of subnormals": lambda rng: around_halves(rng, rng.getrandbits(rng.randint(1, 52)) * LEAST),
    "both ends": lambda rng: [f"{rng.uniform(1, 10)!r}e{rng.choice((-325, -324, -323, -308, -307, 307, 308, 309))}"],
    "zeros in front": lambda rng: [f"{'0' * rng.randint(0, 40)}{abs(rng.gauss(0, 9))!r}",
                                   f"0.{'0' * rng.randint(0, 400)}{rng.getrandbits(60)}e{rng.randint(-5, 405)}"],
    "zeros behind": lambda rng: [f"{rng.getrandbits(40)}{'0' * rng.randint(0, 300)}.{'0' * rng.randint(0, 30)}",
                                 f"{rng.getrandbits(20)}.{rng.getrandbits(20)}{'0' * rng.randint(0, 30)}"],
}  # fmt: skip


def read(text):
    """What a file's reader makes of a text: fast, and where that gives up, slow."""
    token = text.encode("utf-8", "surrogateescape")
    value = fast_number(token)
    return slow_number(token) if value is None else value


def same(value, text):
    """Whether a value is float(text) to the bit, or says that no double holds it."""
    expected = float(text)
    return value == "overflow" if math.isinf(expected) else type(value) is float and value.hex() == expected.hex()


@pytest.mark.parametrize("kind", TEXTS)
def test_every_text_is_the_double_that_python_reads(kind):
    rng = random.Random(kind)
    for _ in range(2000):
        for text in TEXTS[kind](rng):
            for signed in (text.lstrip("-"), "-" + text.lstrip("-"), "+" + text.lstrip("-")):
                assert same(read(signed), signed), signed


@pytest.mark.parametrize("text", [
    "0", "-0", "+0", "0.", ".0", "-.0", "00", "0e0", "0e99999", "-0e-99999", "0e123456789012345678901234567890",
    "1.", ".5", "-.5", "1.e5", ".5e1", "1E5", "1e+5", "1e-05", "1e0000000000005", "5e-00000000000324",
    "1e22", "1e23", "1e-22", "1e-23", "9007199254740991e22", "9007199254740993e22", "9007199254740993",
    "1e80", "1e81", "1e-80", "1e-81", "123456789e80", "123456789e-80", "18446744073709551615", "18446744073709551616",
    "9223372036854775807.5e1", "0.000000000000000000000000000000000000000000000000001", "1" + "0" * 400 + "e-400",
    "2.2250738585072011e-308", "2.2250738585072012e-308", "2.2250738585072014e-308", "4.9406564584124654e-324",
    "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-324", "1e-400", "-1e-99999", "1e-123456789012345678901",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "-1.7976931348623159e308", "1e308",
    "1e18446744073709551616", "1e-18446744073709551617", "1e4294967297", "1e-65537",
    "1e309", "-1e309", "1e99999", "1e123456789012345678901", "17976931348623157" + "0" * 292, "1" + "0" * 309,
    "6929495644600919.5", "3.7455744005952583e15", "7.2057594037927933e16", "1.00000005960464477550", "0.1", "0.3",
])  # fmt: skip
def test_texts_that_other_readers_got_wrong(text):
    assert same(read(text), text)


@pytest.mark.parametrize("text", ["inf", "-inf", "+inf", "Infinity", "-INFINITY", "iNf"])
def test_an_infinity_that_is_written_out_is_one(text):
    assert fast_number(text.encode()) is None
    assert slow_number(text.encode()) == float(text)


@pytest.mark.parametrize("text", [
    "", "+", "-", ".", "-.", "e5", ".e5", "1e", "1e+", "1e-", "1e+-5", "1e5.0", "1e5e5", "--1", "+-1", "-+1", "1-",
    "1+1", "1..2", "1,5", "1_000", "1_0.5", "1e1_0", "0x10", "0x1p3", "0b1", "1d5", "1D5", "1f", "1.0f", "1L",
    "1j", "1%", "$1", "1.2.3",
    "nan", "NaN", "-nan", "+nan", "nan(1)", "snan", "infinit", "infinityy", "in", "--inf", "+-inf", "i", "inf1", "1inf",
    "None", "null", "true", "1e5\0", "\0", "1\x001", "1 2", "\u0661\u0662", "\uff11", "\u00bd", "1\u00a0", "\u22121",
    "\udcff1",
])  # fmt: skip
def test_what_is_no_number_is_refused(text):
    assert read(text) is None


def test_no_byte_but_those_of_numbers_is_let_through():
    """Each byte at each place of a number: float() decides about ASCII signs, digits and exponents, all others fail."""
    for place in range(8):
        for byte in range(256):
            token = b"-12.5e+3"[:place] + bytes([byte]) + b"-12.5e+3"[place + 1 :]
            text = token.decode("latin-1")
            try:
                expected = float(text) if chr(byte) in "0123456789.eE+-" else None
            except ValueError:
                expected = None
            assert read(token.decode("utf-8", "surrogateescape")) == expected, token


def test_random_strings_of_the_alphabet_are_numbers_where_float_says_so():
    rng = random.Random(5)
    numbers = 0
    for _ in range(60_000):
        text = "".join(rng.choices("0123456789.eE+-", (2,) * 10 + (3, 2, 1, 1, 1), k=rng.randint(1, 9)))
        try:
            float(text)
        except ValueError:
            assert read(text) is None, text
        else:
            numbers += 1
            assert same(read(text), text), text
    assert 10_000 < numbers < 50_000


def test_usual_scores_are_read_without_python():
    """What search engines and rerankers write never takes the slow way; else a file would be read at its speed."""
    rng = random.Random(6)
    for _ in range(5000):
        score = rng.choice((rng.gauss(0, 20), rng.gauss(0, 1e6), rng.random(), rng.random() ** 9))
        for text in (repr(score), f"{score:.6f}", f"{score:g}", f"{score:.17g}", repr(ctypes.c_float(score).value)):
            assert fast_number(text.encode()) == float(text), text


# ---- through a file --------------------------------------------------------------------------------------------
def every_kind(seed, each=60):
    """Texts of finite numbers of every kind, with and without signs."""
    rng = random.Random(seed)
    bare = [text.lstrip("-") for make in TEXTS.values() for _ in range(each) for text in make(rng)]
    return [rng.choice(("", "-", "+")) + text for text in bare if math.isfinite(float(text))]


def run_file(path, texts):
    path.write_text("".join(f"q Q0 d{number} 0 {text} tag\n" for number, text in enumerate(texts)))
    return path


def test_a_run_file_holds_the_doubles_that_python_reads(tmp_path):
    texts = every_kind(7)
    scores = fastir.Run.from_file(run_file(tmp_path / "run", texts))["q"]
    assert [score.hex() for score in scores.values()] == [float(text).hex() for text in texts]


ROUNDING = {
    "x86_64": {"down": 0x400, "up": 0x800, "to zero": 0xC00},
    "aarch64": {"up": 0x400000, "down": 0x800000, "to zero": 0xC00000},
}.get(platform.machine(), {})


@contextlib.contextmanager
def rounding(direction):
    """The floating-point unit of this thread rounds in a direction; whoever is called must leave it so."""
    unit = ctypes.CDLL(ctypes.util.find_library("m"))
    assert unit.fesetround(ROUNDING[direction]) == 0
    try:
        yield
        left = unit.fegetround()
    finally:
        unit.fesetround(0)
    assert left == ROUNDING[direction]


@pytest.mark.skipif(not ROUNDING or platform.system() != "Linux", reason="the codes are known for Linux only")
@pytest.mark.parametrize("direction", ["up", "down", "to zero"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_callers_rounding_does_not_change_what_is_read(direction, n_threads, tmp_path):
    """As a Run, and as the ranking, where a double read wrongly by one place ties with its neighbour or passes it."""
    texts = every_kind(8, each=20)
    near = [repr(math.nextafter(float(text), way)) for text in texts for way in (-math.inf, math.inf)]
    texts += [text for text in near if math.isfinite(float(text))]
    path = run_file(tmp_path / "run", texts)
    scores = {f"d{number}": float(text) for number, text in enumerate(texts)}
    qrels = {"q": {doc: number % 3 for number, doc in enumerate(gen.shuffled(random.Random(9), scores))}}
    expected = fastir.evaluate(qrels, {"q": scores}, ["ndcg", "map", "bpref"])
    with rounding(direction):
        run = fastir.Run.from_file(path)
        results = fastir.evaluate(qrels, path, ["ndcg", "map", "bpref"], n_threads=n_threads)
    assert [score.hex() for score in run["q"].values()] == [score.hex() for score in scores.values()]
    assert results.values.tobytes() == expected.values.tobytes()


def test_labels_are_whole_numbers_however_they_are_written(tmp_path):
    labels = {
        "1": 1, "+2": 2, "-0": 0, "3.0": 3, "4e0": 4, "0.5e1": 5, "60e-1": 6, "-2147483648": -(2**31), "1e-400": 0,
        "2147483647": 2**31 - 1, "2147483647.000": 2**31 - 1, "0" * 30 + "7": 7, "8." + "0" * 40: 8,
    }  # fmt: skip
    path = tmp_path / "qrels"
    path.write_text("".join(f"q 0 {text} {text}\n" for text in labels))
    assert fastir.Qrels.from_file(path)["q"] == labels


@pytest.mark.parametrize("text", [
    "2147483648", "-2147483649", "9223372036854775808", "1e300", "-1e300", "inf", "-inf", "1e999", "nan",
    "1_0", "0x1",
])  # fmt: skip
def test_a_label_that_is_none_is_refused(text, tmp_path):
    path = tmp_path / "qrels"
    path.write_text(f"q 0 a {text}\n")
    with pytest.raises(fastir.FormatError, match=r"^[^ ]*:1: label .* \(query q, document a\)$"):
        fastir.Qrels.from_file(path)


CELLS = [
    "0", "1.5", "-0.0", "1e-3", "0.1234567890123456789", "nan", "inf", "-inf", " 1", "1 ", "1_0", "1e999", "",
    "x", "1\r",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(200))
def test_rows_of_ids_and_numbers_are_those_of_split_and_float(seed):
    rng = random.Random(seed)
    n_columns, n_rows = rng.choice([1, 2, 5]), rng.choice([0, 1, 2, 63, 64, 65])
    cells = CELLS if seed % 4 == 0 else CELLS[:11]
    rows = [
        [rng.choice(["q1", "", "é", "a b", "x" * 70]), *(rng.choice(cells) for _ in range(n_columns))]
        for _ in range(n_rows)
    ]
    if rows and seed % 5 == 0:
        rng.choice(rows)[-1:] = rng.choice([[], ["1", "2"]])
    head = rng.choice([b"", b"head\n"])
    text = "\n".join(map("\t".join, rows)).encode() + rng.choice([b"", b"\n", b"\r\n", b"\n\n"])
    ids, values = rows_from_text(head + text, len(head), n_columns)
    lines = text.rstrip(b"\r\n").decode()
    expected = [line.split("\t") for line in lines.split("\n")] if lines else []
    try:
        numbers = [list(map(float, row[1:])) for row in expected]
    except ValueError:
        numbers = None
    if numbers is None or any(len(row) != n_columns + 1 for row in expected):
        assert ids is None
    else:
        assert ids == [row[0] for row in expected]
        assert repr(values.tolist()) == repr(numbers)


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
def test_rows_of_objects_are_those_of_json(indent):
    rng = random.Random(f"{indent}")
    numbers = [0.0, -0.0, 0.1 + 0.2, 1e300, LEAST, 12, -3, 2.5e-9, 1 / 3, math.nan, math.inf]
    for n_rows in (1, 2, 63, 64, 65, 129):
        for n_names in (1, 2, 5):
            names = rng.sample(["map", 'a"b', "é", "P@10", "x" * 70, "\\"], n_names)
            ids = [f"{rng.choice(['q', 'é', 'quoted', ''])}{row}" for row in range(n_rows)]
            data = {each: {name: rng.choice(numbers) for name in names} for each in ids}
            text = json.dumps(data, indent=indent).replace("NaN", "null").encode()
            found, keys, values, end = rows_from_objects(b"before " + text + b", behind", 7)
            assert end == 7 + len(text)
            assert [json.loads(b'"%b"' % each) for each in found] == ids
            assert [json.loads(b'"%b"' % each) for each in keys] == names
            expected = [list(row.values()) for row in data.values()]
            assert values.tobytes() == np.array(expected).tobytes()


def test_rows_of_objects_that_are_odd_are_left_to_json():
    whole = b'{"q": {"map": 1.5, "P": null}, "r": {"map": 2, "P": 1e3}}'
    assert rows_from_objects(whole, 0) is not None
    rng = random.Random(4)
    for end in range(len(whole)):
        assert rows_from_objects(whole[:end], 0) is None
    for _ in range(3000):
        changed = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2])):
            changed[rng.randrange(len(whole))] = rng.choice(b'{}":,. \\\n0a\xff')
        found = rows_from_objects(bytes(changed), 0)
        try:
            data = json.loads(bytes(changed[: found[-1]]), object_pairs_hook=list) if found else None
        except ValueError:  # text that JSON refuses, as numbers with leading zeros, is read if it has one meaning
            continue
        if found:
            values = [[float("nan" if value is None else value) for _, value in row] for _, row in data]
            assert repr(found[2].tolist()) == repr(values)
            assert len(found[0]) == len(data) and all(len(row) == len(found[1]) for _, row in data)
