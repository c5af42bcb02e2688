"""The stand-in for ranx: its numbers and shapes, its Qrels and Run, and that no change in them goes unseen."""

import subprocess
import sys

import pytest
from ranx_data import NAMES

import fastir
import fastir.compat.ranx


def test_neither_ranx_nor_numba_nor_pandas_is_imported():
    code = (
        "import sys; from fastir.compat.ranx import Qrels, Run, evaluate; r = Run({'q': {'a': 1}}, 'n');"
        "print(evaluate(Qrels({'q': {'a': 1}}), r, 'ndcg@10'), *{'ranx', 'numba', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.0"]


NAMES += ["r-precision", "r-precision@5-l2", "rbp.95", "rbp@80-l2"]


@pytest.fixture(scope="module")
def ranx():
    return pytest.importorskip("ranx")


@pytest.mark.parametrize("name", ["normalization", "plot", "metrics"])
def test_what_is_not_offered_is_said_when_it_is_asked_for(name):
    with pytest.raises(ImportError, match=f"fastir.compat.ranx does not offer {name}: "):
        exec(f"from fastir.compat.ranx import {name}", {})
    with pytest.raises(ImportError, match=f"fastir.compat.ranx does not offer {name}: "):
        getattr(fastir.compat.ranx, name)


def test_a_name_that_ranx_has_not_either_is_an_attribute_that_is_missing():
    with pytest.raises(AttributeError, match=r"module 'fastir\.compat\.ranx' has no attribute 'fuze'"):
        fastir.compat.ranx.fuze()
    assert not hasattr(fastir.compat.ranx, "fuze")


def test_every_function_of_ranx_is_offered_or_said_not_to_be():
    ranx = pytest.importorskip("ranx")
    known = {name for name in dir(ranx) if callable(getattr(ranx, name))}
    assert known <= {*fastir.compat.ranx.__all__, *fastir.compat.ranx.NOT_OFFERED}
