"""A report with names that attack."""

import pytest
from pages_of_reports import METRICS, collection

import fastir


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The path of a report."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    qrels, runs = collection()
    segments = {query: "odd" if number % 2 else "even" for number, query in enumerate(qrels)}
    fastir.write_report(qrels, runs, METRICS, path, segments=segments, k=3)
    return path
