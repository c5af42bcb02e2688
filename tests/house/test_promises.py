"""What docs/promises.md says of calls is so: each is accepted as it is written there, whatever has come since."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
from pages import DOCS, NEEDS_PAGES

import fastir
from fastir import compat

pytestmark = NEEDS_PAGES
PAGE = DOCS / "promises.md"
SECTION = PAGE.read_text("utf-8").partition("\n## Calls that stay\n")[2] if PAGE.is_file() else ""
ROWS = re.findall(r"(?m)^\| `([\w.]+)` \| (.*?) ?\| (.*?) ?\|$", SECTION)


def called(name):
    """The function or class of this name, which may be in a module that needs its tool."""
    place = fastir
    for part in name.split("."):
        if not hasattr(place, part) and inspect.ismodule(place):
            importlib.import_module(f"{place.__name__}.{part}")
        place = getattr(place, part)
    return place


def signature(function):
    """Its signature; of a compiled method, which does not know it in a release, that of its stub."""
    try:
        return inspect.signature(function)
    except ValueError:
        each = importlib.import_module(function.__objclass__.__module__)
        stub = ast.parse(Path(each.__file__).with_name(f"{each.__name__.rpartition('.')[2]}.pyi").read_text("utf-8"))
        [method] = (
            node
            for kind in stub.body
            if isinstance(kind, ast.ClassDef) and kind.name == function.__objclass__.__name__
            for node in kind.body
            if isinstance(node, ast.FunctionDef) and node.name == function.__name__
        )
        names = {}
        exec(f"from __future__ import annotations\n{ast.unparse(method)}", names)
        return inspect.signature(names[method.name])


def as_written(parameter):
    """A parameter as in a call that gives its default."""
    open_ended = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    if open_ended or parameter.default is parameter.empty:
        return str(parameter.replace(annotation=parameter.empty))
    return f"{parameter.name}={parameter.default!r}"


def broken(promised_by_place, promised_by_name, function):
    """The promised parameters that a function does not have, or has elsewhere; and new ones that must be given."""
    by_place, by_name = [], []
    for parameter in signature(function).parameters.values():
        if parameter.name != "self":
            by = by_name if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) else by_place
            by.append(parameter)
    moved = [
        name
        for place, name in enumerate(promised_by_place)
        if [as_written(parameter) for parameter in by_place[place : place + 1]] != [name]
    ]
    gone = set(promised_by_name) - {as_written(parameter) for parameter in by_name}
    new = [*by_place[len(promised_by_place) :], *by_name]
    needed = [parameter.name for parameter in new if parameter.default is parameter.empty and "*" not in str(parameter)]
    return [*moved, *sorted(gone), *needed]


@pytest.mark.parametrize(("name", "by_place", "by_name"), ROWS, ids=[row[0] for row in ROWS])
def test_a_call_that_stays_is_accepted(name, by_place, by_name):
    assert broken(re.findall("`(.*?)`", by_place), re.findall("`(.*?)`", by_name), called(name)) == []


def test_what_breaks_a_promise_is_found():
    def function(a, b=1, *, c=2, d, **rest): ...

    assert broken(["a", "b=1"], ["c=2", "d", "**rest"], function) == ["d"]
    assert broken(["a"], ["c=2", "**rest"], function) == ["d"]
    assert broken(["b=1", "a"], ["c=3"], function) == ["b=1", "a", "c=3", "d"]


def test_the_calls_of_tools_are_among_them():
    names = {name for name, _, _ in ROWS}
    wanted = ("evaluate", "evaluate_lists", "evaluate_scores", "evaluate_ranked", "evaluate_matrix", "Evaluator")
    assert names.issuperset(wanted)
    assert {"Qrels", "Run", "Results", "compat"} <= {name.partition(".")[0] for name in names}


def test_attributes_and_names_that_stay_are_there():
    text = SECTION.partition("the attributes ")[2].partition(" of `Results`")[0]
    results = fastir.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map")
    attributes = re.findall(r"`(\w+)`", text)
    assert len(attributes) == 6 and all(hasattr(results, name) for name in attributes)
    tools = re.findall(r"`(\w+)`", SECTION.partition("`compat.install` keeps these names: ")[2].partition(".\n")[0])
    assert tools and set(tools) <= set(compat.PATCHES)
