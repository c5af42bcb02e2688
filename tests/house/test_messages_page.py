"""The page of messages names every error and warning class, and what it shows is what is printed."""

import contextlib
import inspect
import io
import pathlib
import re

import pytest

from fastir import errors
from fastir.cli.arguments import UsageError
from fastir.errors import FastirError

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "messages.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not beside an installed package")
CLASSES = [*(made for _, made in inspect.getmembers(errors, inspect.isclass) if made.__module__ == errors.__name__)]


def test_every_class_has_a_heading_and_an_example_below_it():
    """The base of all is in the text; the command prints its UsageError without the name of the class."""
    head, *sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert FastirError.__name__ in head
    for name in (made.__name__ for made in (*CLASSES, UsageError) if made is not FastirError):
        (section,) = (section for section in sections if re.search(rf"\b{name}\b", section.partition("\n")[0]))
        shown = "fastir: error: " if name == UsageError.__name__ else f"{name}: "
        assert re.search(rf"^{shown}", section.partition("```text\n")[2], re.MULTILINE), name


def test_every_example_prints_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code, shown in re.findall(
        r"```python\n(.*?)```\n+(?:```text\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.DOTALL
    ):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        assert printed.getvalue() == shown
