"""The page of messages names every error and warning class, and what it shows is what is printed."""

import contextlib
import inspect
import io
import pathlib
import re

import pytest

from fastir import errors
from fastir.cli.arguments import UsageError

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "messages.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not beside an installed package")
CLASSES = [*(made for _, made in inspect.getmembers(errors, inspect.isclass) if made.__module__ == errors.__name__)]


def test_every_class_stands_there():
    text = PAGE.read_text(encoding="utf-8")
    assert [made.__name__ for made in (*CLASSES, UsageError) if not re.search(rf"\b{made.__name__}\b", text)] == []


def test_every_example_prints_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code, shown in re.findall(
        r"```python\n(.*?)```\n+(?:```text\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.DOTALL
    ):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        assert printed.getvalue() == shown
