"""Every example in a docstring prints what it shows, in every module of the package, used by another test or not."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import fastir

MODULES = ["fastir", *(module.name for module in pkgutil.walk_packages(fastir.__path__, "fastir."))]
# These may need the tool that they stand in for, matplotlib or PySpark.
NEEDY = [name for name in MODULES if name.startswith(("fastir.compat.", "fastir.plots", "fastir.spark."))]
LEAST_EXAMPLES = 140  # in all modules that need NumPy alone


def test_every_example_prints_what_it_shows():
    results = {
        name: doctest.testmod(importlib.import_module(name))
        for name in MODULES
        if name not in NEEDY and name != "fastir.__main__"
    }
    assert not [name for name, result in results.items() if result.failed]
    assert sum(result.attempted for result in results.values()) >= LEAST_EXAMPLES


@pytest.mark.parametrize("name", NEEDY)
def test_examples_that_need_a_package_print_what_they_show(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name}: {error}")
    assert doctest.testmod(module).failed == 0


def test_public_classes_describe_each_of_their_attributes():
    """A Convention's last fields are options and parameters, which its docstring names by the first and the last."""
    missing = {}
    for name in fastir.__all__:
        made = getattr(fastir, name)
        if not inspect.isclass(made) or issubclass(made, (Exception, fastir.Convention)):
            continue
        fields = {field.name for field in dataclasses.fields(made)} if dataclasses.is_dataclass(made) else set()
        names = made._fields if issubclass(made, tuple) and hasattr(made, "_fields") else fields
        lacking = [each for each in names if each[0] != "_" and not re.search(rf"\b{each}\b", made.__doc__)]
        if lacking:
            missing[name] = lacking
    assert missing == {}
