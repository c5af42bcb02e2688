"""No message names an option that is not there: all that the package can say, in the words of the command."""

import ast
import re
from pathlib import Path

import pytest

import fastir
from fastir.cli.parser import parsers
from fastir.cli.terminal import keywords, near_option, option, replace_keywords
from fastir.request.option_rows import ROWS

PACKAGE = Path(fastir.__file__).parent
FOLDERS = ("engine/columns", "analyses/compare", "data", "data/results", "evaluation", "inputs", "request", "stats")
KEYWORD = re.compile(rf"(?<!columns )\b(?:format|metrics|{'|'.join(keywords())})=(?!=)")


def text_of(node):
    """A literal with an x in the place of every value, None for another expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "'x'" if part.conversion == ord("r") else "x"
            for part in node.values
        )
    return None


def messages():
    """(file, text) of all literals of the functions that a command calls, but for docstrings."""
    files = [*PACKAGE.glob("*.py"), *(path for folder in FOLDERS for path in (PACKAGE / folder).glob("*.py"))]
    for path in files:
        if path.name == "habits.py":  # of Python alone
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        apart |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            text = None if id(node) in apart else text_of(node)
            if text is not None and " " in text:
                yield path.name, text


def test_no_message_has_a_keyword_in_it():
    found = [(file, text) for file, text in messages() if KEYWORD.search(text) or "fastir.metrics()" in text]
    assert len(found) > 10, "the search finds the messages that there are"
    left = [(file, replace_keywords(text)) for file, text in found]
    assert [pair for pair in left if KEYWORD.search(pair[1]) or "metrics()" in pair[1]] == []


def test_every_option_that_is_named_is_there():
    commands = parsers()
    options = {flag for each in commands.values() for flag in each._option_string_actions}
    assert {option(keyword) for keyword in keywords()} <= options
    judging = [row.option() for title in ("input", "which queries and ranks") for row in ROWS[title]]
    shared = {flag for flag in judging if all(flag in commands[n]._option_string_actions for n in ("eval", "compare"))}
    assert shared - {"--pool-depth"} <= set(commands["diff"]._option_string_actions)


@pytest.mark.parametrize(("message", "expected"), [
    ("columns={'query_id': name} tells which it is", "--columns query_id=NAME tells which it is"),
    ("duplicates='first', 'last', 'max' or 'once' would repair it",
     "--duplicates first, last, max or once would repair it"),
    ("queries='qrels' accepts this, 'intersection' leaves such queries out",
     "--queries qrels accepts this, --queries intersection leaves such queries out"),
    ("for ratings Qrels.from_table and from_file have threshold=", "for ratings there is --threshold"),
    ("fastir.metrics() lists all 69", "fastir metrics lists all 69"),
    ("n_resamples must be at least 1, got 0", "--resamples must be at least 1, got 0"),
    ("run 'a' has no metric 'b'", "run 'a' has no metric 'b'"),
])  # fmt: skip
def test_messages(message, expected):
    assert replace_keywords(message) == expected


@pytest.mark.parametrize(("given", "known", "near"), [
    ("--verson", ["--version", "--help"], "--version"), ("--rel", ["--help", "--rel-level"], "--rel-level"),
    ("--help-me", ["--help", "--rel-level"], "--help"), ("--size=3", ["--max-depth"], None),
])  # fmt: skip
def test_what_was_meant(given, known, near):
    assert near_option(given, known) == (f"; did you mean {near!r}?" if near else "")
