"""Every convention gives what its tool gave, in the records, and gives where the tool is installed."""

import json
import pathlib
import sys

import numpy as np
import pytest
from recorded import check, evaluated

from fastir.request.conventions import CONVENTIONS

# Random rankings hold no judged document now and then, which is what a warning would say.
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
HERE = pathlib.Path(__file__).parent
RECORDS = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "recorded").glob("*.json"))}
CASES = [(tool, metric) for tool, record in RECORDS.items() for metric in record["values"]]


@pytest.mark.parametrize("tool, metric", CASES)
def test_a_convention_gives_what_its_tool_gave(tool, metric):
    check(RECORDS[tool], metric, RECORDS[tool]["values"][metric])


WEIGHED = [(tool, metric) for tool, record in RECORDS.items() for metric in record.get("means", {})]


@pytest.mark.parametrize("tool, metric", WEIGHED)
def test_means_with_weights_are_those_of_the_tool(tool, metric):
    record = RECORDS[tool]
    weights, theirs = record["means"][metric]
    results, _ = evaluated(record, metric, weights=weights and dict(enumerate(weights)))
    assert results[metric] == pytest.approx(theirs, abs=10.0 ** -record["digits"], rel=10.0 ** -record["digits"])


@pytest.mark.parametrize("tool", RECORDS)
def test_a_convention_gives_what_its_tool_gives(tool, monkeypatch):
    recorded = RECORDS[tool]
    if not recorded["modules"]:
        pytest.skip("no release of today: a server, or too old, whose values were computed once")
    for module in recorded["modules"]:
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.delitem(sys.modules, "make", raising=False)
    import make

    record = make.record(tool)
    for metric, column in record["values"].items():
        check(record, metric, column)


def test_a_record_is_of_the_version_that_its_convention_names():
    """Commits stand there by their first seven digits. A tool whose numbers are fastir's own has no convention."""
    for record in RECORDS.values():
        convention = CONVENTIONS[record["convention"]]
        assert convention.name == "fastir" or convention.version in record["tool"].replace("_", "-"), convention.name


def test_every_maker_has_a_record_that_tells_queries_apart():
    assert {path.stem for path in (HERE / "makers").glob("*.py")} == RECORDS.keys()
    for tool, record in RECORDS.items():
        for metric, column in record["values"].items():
            assert len(np.unique([value for value in column if value is not None])) > 1, (tool, metric)
