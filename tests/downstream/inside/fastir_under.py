"""Puts fastir under a project, and counts what calls it: a plugin of pytest, loaded inside the project's environment.

In        FASTIR_PROJECT, a folder with a project.toml; FASTIR_WAY, "without" or a key of its `under`; FASTIR_OUTCOMES
Out       at that path a JSON object: "outcomes", {test: passed, failed, skipped ...}, and "calls", {function: calls}

A call counts if it comes from outside fastir: what fastir's own functions call of each other does not. Only the classes
and functions of the stand-ins that are put under the project, and what `fastir` itself offers, are watched.
"""

import collections
import functools
import importlib
import importlib.abc
import inspect
import json
import os
import sys
import threading
import tomllib
from pathlib import Path

CALLS = collections.Counter()
OUTCOMES = {}
RANKS = ("passed", "skipped", "xfailed", "xpassed", "failed", "error")  # the worst of a test's phases is its outcome
inside = threading.local()


def put_under(project, way):
    """Replace what the project calls by fastir, in this process; without fastir nothing happens."""
    if way == "without":
        return
    under = read_project(project)["under"][way]
    sys.meta_path.insert(0, Gone(under.get("gone", ())))
    for module in under["watch"]:
        watch(importlib.import_module(module))
    if tools := under.get("install"):
        importlib.import_module("fastir.compat").install(*tools)
    if code := under.get("code"):
        execute(project, code)


def read_project(project):
    """What the file of a project says."""
    return tomllib.loads((Path(project) / "project.toml").read_text("utf-8"))


def execute(project, code):
    """Run a file of the project's folder."""
    exec(compile((Path(project) / code).read_text("utf-8"), code, "exec"), {"__name__": "fastir_code"})


class Gone(importlib.abc.MetaPathFinder):
    """Packages that must do without: importing them fails as if they were not installed."""

    def __init__(self, modules):
        self.modules = set(modules)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.modules:
            raise ModuleNotFoundError(
                f"No module named {name!r}: it is taken away, to show that fastir does", name=name
            )


def watch(module):
    """Have the functions of a module of fastir, and the methods of its classes, counted."""
    for name, value in list(vars(module).items()):
        if name.startswith("__") or not (getattr(value, "__module__", None) or "").startswith(module.__name__):
            continue
        if inspect.isfunction(value):
            setattr(module, name, count(value))
        elif inspect.isclass(value) and not issubclass(value, BaseException):
            for inner, method in list(vars(value).items()):
                if inner.startswith("__") and inner != "__init__":
                    continue
                if isinstance(method, (staticmethod, classmethod)):
                    setattr(value, inner, type(method)(count(method.__func__)))
                elif inspect.isfunction(method):
                    setattr(value, inner, count(method))


def count(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if getattr(inside, "fastir", False):
            return function(*args, **kwargs)
        CALLS[function.__qualname__] += 1
        inside.fastir = True
        try:
            return function(*args, **kwargs)
        finally:
            inside.fastir = False

    return call


def pytest_configure(config):
    project = os.environ["FASTIR_PROJECT"]
    put_under(project, os.environ["FASTIR_WAY"])
    if before := read_project(project)["tests"].get("before"):  # without fastir, too
        execute(project, before)


def pytest_runtest_logreport(report):
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
    elif report.when != "call" and outcome == "failed":
        outcome = "error"
    elif report.when != "call" and outcome == "passed":
        return
    OUTCOMES[report.nodeid] = max(outcome, OUTCOMES.get(report.nodeid, outcome), key=RANKS.index)


def pytest_collectreport(report):
    if report.failed:
        OUTCOMES[report.nodeid] = "error"


def pytest_sessionfinish(session):
    Path(os.environ["FASTIR_OUTCOMES"]).write_text(json.dumps({"outcomes": OUTCOMES, "calls": CALLS}), "utf-8")
