"""A comparison that several files of tests look at."""

import compared_runs
import pytest

import fastir


@pytest.fixture(scope="module")
def three():
    return fastir.compare(*compared_runs.collection(), compared_runs.METRICS)
