"""Every example in a docstring prints what it shows, in every module of the package, used by another test or not."""

import doctest
import importlib
import pkgutil

import pytest

import fastir

MODULES = ["fastir", *(module.name for module in pkgutil.walk_packages(fastir.__path__, "fastir."))]
# These may need the tool that they stand in for, matplotlib or PySpark.
NEEDY = ("fastir.compat.", "fastir.plots", "fastir.spark.")
AT_LEAST = {"fastir.evaluation.evaluator": 10, "fastir.results.results": 1}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "fastir.__main__"])
def test_every_example_prints_what_it_shows(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if not name.startswith(NEEDY):
            raise
        pytest.skip(f"{name}: {error}")
    failed, attempted = doctest.testmod(module)
    assert failed == 0 and attempted >= AT_LEAST.get(name, 0)
