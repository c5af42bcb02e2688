"""JSON files: ``{query_id: {doc_id: number}}``, as ranx, BEIR and pytrec_eval's users write them.

Objects come from the parser as tuples of pairs, so that a key that stands twice is seen.
"""

import numpy as np

from fastir._judged import encode
from fastir.errors import FormatError, quote
from fastir.inputs.dicts import LABELS
from fastir.inputs.files import Source
from fastir.inputs.rows import gather

NUMBERS = {int, float, bool}


def read(path, is_run, duplicates):
    """Read a JSON file as columns; see `formats`."""
    with Source(path) as source:
        text = source.read_all()
    path = source.path
    if not text.strip():
        raise FormatError(f"the {'run' if is_run else 'qrels'} file is empty", path)
    if b"\0" in text:
        raise FormatError("the file holds a NUL byte; it looks truncated, binary or UTF-16", path)
    text = text.decode("utf-8", "surrogateescape")
    queries = objects(parsed(text, path), is_run, path)
    if not queries:
        raise FormatError(f"the {'run is' if is_run else 'qrels are'} empty: no query", path)
    rows = [row for _, documents in queries for row in documents]
    numbers = number_array([number for _, number in rows], is_run)
    if numbers is None:
        # read again, because only the text tells a number that no float holds from an infinity
        check(objects(parsed(text, path, parse_float=text_if_too_large), is_run, path), is_run, path)
        numbers = np.array([number for _, number in rows], float)
    ids = [encode(doc_id) for doc_id, _ in rows]
    lengths = np.array([len(i) for i in ids], np.int64)
    ends = np.cumsum(lengths)
    sizes = [len(documents) for _, documents in queries]
    first_rows = np.cumsum([0, *sizes[:-1]])
    arena = np.frombuffer(b"".join(ids) + b"\n", np.uint8)
    *columns, repairs = gather([query for query, _ in queries], first_rows, arena, ends - lengths, lengths, numbers,
                               duplicates, path)
    return *columns, {**source.repairs, **repairs}


def parsed(text, path, **hooks):
    import json

    try:
        return json.loads(text, object_pairs_hook=tuple, **hooks)
    except json.JSONDecodeError as error:
        message = f"malformed JSON at character {error.colno}: {error.msg}"
        raise FormatError(message, path, error.lineno, None, text[error.pos:error.pos + 80]) from None
    except RecursionError:
        raise FormatError("malformed JSON: nested too deeply", path) from None
    except ValueError as error:     # Python's limit on the digits of an integer
        raise FormatError(f"a number is out of range: {error}", path) from None


def objects(data, is_run, path):
    """The pairs of the outer object, whose values are objects, too."""
    expected = "{query_id: {doc_id: " + ("score" if is_run else "label") + "}}"
    if type(data) is not tuple:
        raise FormatError(f"the JSON is {kind(data)}, expected an object {expected}", path)
    for query_id, documents in data:
        if type(documents) is not tuple:
            raise FormatError(f"query {quote(query_id)} has {kind(documents)}, expected an object as in {expected}", path)
    return data


def kind(value):
    """What JSON calls a value."""
    names = {tuple: "an object", list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def number_array(numbers, is_run):
    """The numbers as float64, or None if some are not finite scores or no labels."""
    if not set(map(type, numbers)) <= NUMBERS:
        return None
    try:
        array = np.array(numbers, float)
    except OverflowError:
        return None
    least, most = LABELS
    fine = np.isfinite(array) if is_run else (array == np.floor(array)) & (array >= least) & (array <= most)
    return array if fine.all() else None


def check(queries, is_run, path):
    """Raise the error that names the first number that is none."""
    what, wrong = ("score", wrong_score) if is_run else ("label", wrong_label)
    for query_id, documents in queries:
        for doc_id, number in documents:
            problem = "is too large for a float" if type(number) is TooLarge else (
                "is not a number" if type(number) not in NUMBERS else wrong(number))
            if problem:
                shown = kind(number) if type(number) in (tuple, list, type(None)) else quote(number)
                raise FormatError(f"{what} {shown} {problem} (query {query_id}, document {doc_id})", path)


def wrong_score(number):
    try:
        return "is not a number: NaN cannot be ranked" if float(number) != float(number) else None
    except OverflowError:
        return "is too large for a float"


def wrong_label(number):
    if not LABELS[0] <= number <= LABELS[1]:
        return "is not a number" if number != number else "is out of range; expected an integer from -2^31 to 2^31 - 1"
    return None if number == int(number) else "is not an integer number"


class TooLarge(str):
    """A number as it is written, that no float holds."""


def text_if_too_large(text):
    number = float(text)
    return TooLarge(text) if number in (float("inf"), float("-inf")) else number
