"""Messages in the command's own words: the functions name their keywords, a command line has options.

A table of replacements, applied to what leaves the command: an error where it ends, a warning where it is shown.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

from fastir.errors import FastirError


class UsageError(FastirError):
    """Arguments that mean nothing, whatever the files hold."""


# keywords that options set, where the option is not called as they are
OPTIONS = {"n_threads": "threads", "n_resamples": "resamples", "random_state": "seed"}
KEYWORDS = (
    *("columns", "qrels_columns", "run_columns", "rel_level", "queries", "ties", "judged_only", "max_depth"),
    *("duplicates", "parents", "aggregate", "score_dtype", "convention", "threshold", "baseline", "test"),
    *("correction", "family", "confidence", "interval", "effect", "segments", "exactly_queries", "query_ids", "tag"),
    *OPTIONS,
)
NAME = rf"\b(?P<name>{'|'.join(KEYWORDS)})"
VALUES = r"'[\w-]+'(?:(?:, | or )'[\w-]+')*"  # one, or some of which one is meant


def option(keyword: str) -> str:
    """The option that sets a keyword."""
    return "--" + OPTIONS.get(keyword, keyword).replace("_", "-")


TABLE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"fastir\.metrics\(\)", "fastir metrics"),
    (r"\bmetrics=(?!\w)", "-m"),
    (r"Qrels\.from_table and from_file have threshold=", "there is --threshold"),
    (r"\b(threshold|query_ids)=(?!\w)", lambda match: option(match[1])),
    (r"are read together only by evaluate_many, as a run each", "are a run each, without --parts"),
    (r", queries='zero' counts them as 0", ""),
    (r"(?<!=)'intersection' leaves", "--queries intersection leaves"),
    (r"correction must be None, got '\w+'", "it goes without --correction"),
    (NAME + r"=\{'(\w+)': (\w+)\}", lambda match: f"{option(match[1])} {match[2]}={match[3].upper()}"),
    (NAME + rf"=({VALUES})", lambda match: f"{option(match[1])} {match[2].replace(chr(39), '')}"),
    (NAME + r"=(?=[\w.])", lambda match: f"{option(match[1])} "),
    (rf"^{NAME}(?=:| must | is for )", lambda match: option(match[1])),
    (r"(?<=must be one of )None, ", ""),
)
FORMAT = r"\bformat='(\w+)'"


@functools.cache
def replacements() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """The table, compiled when there is a message."""
    return [(re.compile(pattern), replacement) for pattern, replacement in TABLE]


def worded(message: str, format_option: str = "--run-format") -> str:
    """A message with options instead of keywords; `format_option` is the option of the file in question."""
    message = re.sub(FORMAT, rf"{format_option} \1", message)
    for pattern, replacement in replacements():
        message = pattern.sub(replacement, message)
    return message


def meant(typed: str, choices: Iterable[str]) -> str:
    """The end of a message about a word that is none of those known: the one that was meant, if one is near.

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
