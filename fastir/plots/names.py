"""Names on pictures: what all begin or end with is said once, and a name that is still long loses its middle."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

NAME_LETTERS = 36  # letters of a name, if that keeps the names distinct
LEFT_OUT = 8  # letters of a common beginning or end, from which on it is left out
MIN_LETTERS = 4  # letters that remain of each name at least
NOTE_LETTERS = 44  # letters of a line of the note
SEPARATOR = r"[-_/\\: ]"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def short_names(names: Iterable[object]) -> tuple[list[str], str]:
    """A text for each name, distinct where the names are, and a note that says what all names begin and end with.

    The note is "" if nothing common was left out.
    """
    texts = list(map(str, names))
    first = beginning(texts)
    rests = [text[len(first) :] for text in texts]
    last = beginning([rest[::-1] for rest in rests])[::-1]
    rests = [rest[: len(rest) - len(last)] for rest in rests]
    note = wrap_note(f"names: {first}{ELLIPSIS}{last}") if first or last else []
    return elide_all(rests), "\n".join(map(plain_text, note))


def beginning(texts: Sequence[str]) -> str:
    """What all texts begin with, up to a separator, so that no word or number is cut in two; "" if that is short."""
    letters = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    common = "".join(next(zip(*letters, strict=True), ""))
    last = min(map(len, texts), default=0) - MIN_LETTERS
    end = max((separator.end() for separator in re.finditer(SEPARATOR, common) if separator.end() <= last), default=0)
    return common[:end] if end >= LEFT_OUT and len(set(texts)) > 1 else ""


def wrap_note(text: str) -> list[str]:
    """Few lines, about as long as one another, that end with a separator where there is one."""

    def lines(longest: int) -> list[str]:
        return re.findall(f".{{1,{longest - 1}}}(?:{SEPARATOR}|$)|.{{1,{longest}}}", text)

    return next(
        folded for longest in range(2, NOTE_LETTERS + 1) if len(folded := lines(longest)) == len(lines(NOTE_LETTERS))
    )


def elide_all(texts: Sequence[str], longest: int = NAME_LETTERS) -> list[str]:
    """The texts, each without its middle if it is too long, and longer than that if two would be the same."""
    while len({elide(text, longest) for text in texts}) < len(set(texts)):
        longest += 4
    return [plain_text(elide(text, longest)) for text in texts]


def elide(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}{ELLIPSIS}{text[len(text) - tail :]}"


def plain_text(text: str) -> str:
    """Text that matplotlib shows unchanged: no mathematics, no leading underscore to hide a label, one line.

    Half a surrogate pair (a byte that is no UTF-8) is shown by its number.
    """
    text = " ".join(text.encode("utf-8", "backslashreplace").decode().split()).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


def minus(text: str) -> str:
    """A number with a true minus sign."""
    return text.replace("-", "\N{MINUS SIGN}", 1)
