"""Ids that look alike and differ: shown in one message so that the difference is seen.

An accent can be one character or two (Unicode's forms NFC and NFD; macOS once wrote the second one in names of files),
a character can have no width, a blank can be one that breaks no line, and letters of other alphabets look like Latin
ones. Whatever writes ids of two sides into one message takes them from `quote_ids`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from fastir.errors import quote

HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043"  # and minus; "-" replaces them
APOSTROPHES = "\u2018\u2019\u02bc\u2032\u00b4`"
NO_WIDTH = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0"  # they are printable, and show nothing
# Letters of Cyrillic, Greek and Armenian and phonetic signs, and the Latin letter that looks like each
HOMOGLYPHS = "АВЕЅІЈКМНОРСТУХаеорсуѕіјхһԛԝӏүΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναιϳՕօսքցհɑɡıǀ"
LATIN_ONES = "ABESIJKMHOPCTYXaeopcysijxhqwlyABEZHIKMNOPTYXovaijOoupghagil"
MAX_COMPARED_IDS = 1000  # ids of each side among which some that look alike are looked for
CONTEXT_LETTERS = 20  # characters that are shown before the first difference of two long ids
PLAIN = str.maketrans(HOMOGLYPHS + HYPHENS + APOSTROPHES, LATIN_ONES + "-" * len(HYPHENS) + "'" * len(APOSTROPHES))


def appearance(text: str) -> str:
    """What a reader sees of an id: two ids with one appearance look the same where they are printed."""
    if text.isascii():
        return text
    import unicodedata  # imported for ids beyond ASCII only

    parts = unicodedata.normalize("NFKD", text).translate(PLAIN)
    seen = []
    for char in unicodedata.normalize("NFKC", parts):
        category = unicodedata.category(char)
        is_unseen = category in ("Cf", "Cc") or char in NO_WIDTH or 0xFE00 <= ord(char) <= 0xFE0F
        seen.append("" if is_unseen else " " if category[0] == "Z" else char)
    return "".join(seen)


def look_alike(one: object, other: object) -> bool:
    """Whether two ids differ, and look the same where they are printed."""
    a, b = str(one), str(other)
    return a != b and not (a.isascii() and b.isascii()) and appearance(a) == appearance(b)


def first_look_alikes(ids: Iterable[Any], others: Iterable[Any]) -> tuple[Any, Any] | None:
    """The first id of each side that differ, but look the same."""
    ids, others = list(ids), list(others)
    if "".join(map(str, (*ids, *others))).isascii():
        return None  # all of them look as they are written
    id_by_look = {appearance(str(each)): each for each in ids}
    pairs = ((id_by_look.get(appearance(str(other))), other) for other in others)
    return next((pair for pair in pairs if pair[0] is not None and look_alike(*pair)), None)


def quote_ids(*ids: object) -> list[str]:
    """`quote` of the ids of one message, such that two that differ are seen to differ.

    Ids that look alike are written in ASCII, with escapes; long ids from shortly before their first difference on.
    """
    texts = [quote(each) for each in ids]
    for place, one in enumerate(ids):
        for other in ids:
            if (
                one != other
                and type(one) is type(other) is str
                and (look_alike(one, other) or quote(one) == quote(other))
            ):
                texts[place] = quote_apart(one, other)
    return texts


def quote_first(ids: Iterable[Any], others: Iterable[Any]) -> list[str]:
    """`quote_ids` of an id of each side: the first two that look alike, else the first ones."""
    some, some_others = (list(itertools.islice(side, MAX_COMPARED_IDS)) for side in (ids, others))
    if not some or not some_others:
        return [quote(side[0]) if side else "nothing" for side in (some, some_others)]
    return quote_ids(*(first_look_alikes(some, some_others) or (some[0], some_others[0])))


def quote_each(ids: Iterable[Any], others: Iterable[Any]) -> dict[Any, str]:
    """`quote_ids` of each id beside the other id that looks like it, if there is one."""
    twins = {appearance(str(other)): other for other in others}
    return {each: quote_ids(each, twins.get(appearance(str(each)), each))[0] for each in ids}


def quote_apart(one: str, other: str, limit: int = 80) -> str:
    """An id in ASCII, of which the part where it differs from another one is shown."""
    equal = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(other))
    start = 0 if equal < limit - CONTEXT_LETTERS else equal - CONTEXT_LETTERS
    return "..." * (start > 0) + ascii(one[start : start + limit]) + "..." * (start + limit < len(one))
