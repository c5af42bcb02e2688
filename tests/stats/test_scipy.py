"""SciPy is imported when a test takes it, and where it is not installed one sentence says what to install."""

import importlib.util
import sys

import pytest

from fastir.stats import _scipy


@pytest.fixture
def absent(monkeypatch):
    """No SciPy can be imported, and none was asked for before."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    _scipy.special.cache_clear()
    yield
    _scipy.special.cache_clear()


@pytest.mark.parametrize("call", [_scipy.special, _scipy.check_scipy])
def test_what_to_install_is_said(absent, call):
    with pytest.raises(ImportError, match=r"^fastir\.stats needs SciPy: pip install 'fastir\[stats\]'$"):
        call()


def test_it_is_scipy_s_own_module():
    special = pytest.importorskip("scipy.special")
    _scipy.check_scipy()
    assert _scipy.special() is special
