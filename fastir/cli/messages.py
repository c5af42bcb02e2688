"""Messages in the command's own words: the functions name their keywords, a command line has options.

A table of replacements, applied to what leaves the command: an error where it ends, a warning where it is shown.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable

from fastir.errors import FastirError


class UsageError(FastirError):
    """Arguments that mean nothing, whatever the files hold."""


NAME = r"\b(?P<name>NAMES)"
VALUES = r"'[\w-]+'(?:(?:, | or )'[\w-]+')*"  # one, or some of which one is meant


@functools.cache
def keywords() -> dict[str, str]:
    """Return {keyword: its option}, except `names`, which pandas has, too; read when there is a message."""
    from fastir.request.option_rows import NO_FLAG, every_row

    return {row.name: row.option() for row in every_row() if row.flag != NO_FLAG and row.name != "names"}


def option(keyword: str) -> str:
    """The option that sets a keyword."""
    return keywords().get(keyword) or "--" + keyword.replace("_", "-")


TABLE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"fastir\.metrics\(\)", "fastir metrics"),
    (r"\bmetrics=(?!\w)", "-m"),
    (r"fastir\.Run\.from_file\(path, rows=labels\)", "--rows LABELS"),
    (r"Qrels\.from_table and from_file have threshold=", "there is --threshold"),
    (r"\b(threshold|query_ids|rows)=(?!\w)", lambda match: option(match[1])),
    (r"are read together only by evaluate_many, as a run each", "are a run each, without --parts"),
    (r"(?<!=)'intersection' leaves", "--queries intersection leaves"),
    (r"correction must be None, got '\w+'", "it goes without --correction"),
    (NAME + r"=\{'(\w+)': (\w+)\}", lambda match: f"{option(match[1])} {match[2]}={match[3].upper()}"),
    (NAME + rf"=({VALUES})", lambda match: f"{option(match[1])} {match[2].replace(chr(39), '')}"),
    (r"(?<!columns )" + NAME + r"=(?=[\w.])", lambda match: f"{option(match[1])} "),
    (rf"^{NAME}(?=:| must | is for )", lambda match: option(match[1])),
    (r"(?<=must be one of )None, ", ""),
)
FORMAT = r"\bformat='(\w+)'"


@functools.cache
def replacements() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """The table, compiled when there is a message."""
    names = "|".join(keywords())
    return [(re.compile(pattern.replace("NAMES", names)), replacement) for pattern, replacement in TABLE]


def replace_keywords(message: str, format_option: str = "--run-format") -> str:
    """Replace keywords in a message by options; `format_option` is the option of the file in question."""
    message = re.sub(FORMAT, rf"{format_option} \1", message)
    for pattern, replacement in replacements():
        message = pattern.sub(replacement, message)
    return message


def near_option(typed: str, options: Collection[str]) -> str:
    """Return the end of a message about an unknown option: the option that is probably meant, if one is near."""
    from fastir.request.option_rows import every_row

    word = typed.partition("=")[0].lstrip("-").replace("-", "_")
    known = next((row.option() for row in every_row() if word in row.also and row.option() in options), None)
    return f"; did you mean {known!r}?" if known else suggestion(typed, options)


def suggestion(typed: str, choices: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the word that is probably meant, if one is near.

    A word that goes on as the typed one does is nearest; what all options begin with does not make them alike.
    """
    import difflib

    words = {word.lstrip("-"): word for word in choices}
    bare = typed.partition("=")[0].lstrip("-")
    near = [word for word in words if bare and word.startswith(bare)][:1] or [
        *difflib.get_close_matches(bare, words, 1)
    ]
    if not near and "-" not in typed[:1]:  # ttest is a t
        near = [word for word in words if word == bare[: len(word)]][:1]
    return f"; did you mean {words[near[0]]!r}?" if near else ""
