"""Names side by side, in tables, reports and plots: what all of them begin and end with is said once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

MIN_COMMON_LETTERS = 5  # letters of a common beginning or end, from which on it is left out
MIN_LETTERS = 3  # letters that remain of each name at least
SEPARATOR = r"[-_/\\: ]|(?<!\d)\.|\.(?!\d)"  # no point inside of a number
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def without_common(texts: Sequence[str]) -> tuple[list[str], str]:
    """The texts without what all of them begin and end with, and a note that says it: "names: core17.…"; "" for none.

    No word or number is cut in two, and names that differ stay different.
    """
    first = beginning(texts)
    rests = [text[len(first) :] for text in texts]
    last = beginning([rest[::-1] for rest in rests])[::-1]
    note = f"names: {first}{ELLIPSIS}{last}" if first or last else ""
    return [rest[: len(rest) - len(last)] for rest in rests], note


def beginning(texts: Sequence[str]) -> str:
    """What all texts begin with, up to a separator; "" if that is short."""
    letters = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    common = sum(1 for _ in letters)
    last = min(common, min(map(len, texts), default=0) - MIN_LETTERS)
    ends = (
        (separator.end() for separator in re.finditer(SEPARATOR, texts[0]) if separator.end() <= last) if texts else ()
    )
    end = max(ends, default=0)
    return texts[0][:end] if end >= MIN_COMMON_LETTERS and len(set(texts)) > 1 else ""
