"""What the tests of pictures share."""

import sys

import pytest

import fastir


@pytest.fixture(autouse=True)
def close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(params=[2, 20])
def comparison(request):
    from plotted import collection

    return fastir.compare(*collection(request.param), ["ndcg@5", "map"], correction=None)
