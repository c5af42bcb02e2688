"""Every convention gives what its tool gave, in the records, and gives where the tool is installed."""

import json
import math
import pathlib
import sys

import numpy as np
import pytest

import fastir
from fastir.request.conventions import CONVENTIONS

# Random rankings hold no judged document now and then, which is what a warning would say.
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
HERE = pathlib.Path(__file__).parent
RECORDS = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "recorded").glob("*.json"))}


def evaluated(record, named, **options):
    """The results for a name in the record, a metric and its options, and their value for each query."""
    metric, *choices = named.split()
    convention = CONVENTIONS[record["convention"]]
    options |= {"convention": convention} | record["options"] | dict(choice.split("=") for choice in choices)
    places = range(len(record["queries"]))
    if "scores" in record["queries"][0]:
        qrels = {place: query["relevant"] for place, query in enumerate(record["queries"])}
        scored = [zip(query["retrieved"], query["scores"], strict=True) for query in record["queries"]]
        results = fastir.evaluate(qrels, dict(enumerate(map(dict, scored))), metric, **options)
        found = {int(query_id): value for query_id, value in results.per_query(metric).items()}
    else:
        copies = {} if convention.duplicates else {"duplicates": "once"}
        retrieved, relevant = ([query[side] for query in record["queries"]] for side in ("retrieved", "relevant"))
        results = fastir.evaluate_lists(retrieved, relevant, metric, **copies | options)
        found = results.per_query(metric)
    return results, [found.get(place, math.nan) for place in places]


def check(record, metric, theirs):
    _, ours = evaluated(record, metric)
    theirs = [math.nan if value is None else value for value in theirs]
    close = 10.0 ** -record["digits"]
    for query, our, their in zip(record["queries"], ours, theirs, strict=True):
        retrieved = query["retrieved"]
        if metric in record["copies"] and len(set(retrieved)) < len(retrieved):
            assert not our > 1, query
        else:
            assert our == pytest.approx(their, abs=close, rel=close, nan_ok=True), query


CASES = [(tool, metric) for tool, record in RECORDS.items() for metric in record["values"]]


@pytest.mark.parametrize("tool, metric", CASES)
def test_a_convention_gives_what_its_tool_gave(tool, metric):
    check(RECORDS[tool], metric, RECORDS[tool]["values"][metric])


WEIGHED = [(tool, metric) for tool, record in RECORDS.items() for metric in record.get("means", {})]


@pytest.mark.parametrize("tool, metric", WEIGHED)
def test_means_with_weights_are_those_of_the_tool(tool, metric):
    record = RECORDS[tool]
    weights, theirs = record["means"][metric]
    results, _ = evaluated(record, metric, weights=dict(enumerate(weights)))
    assert results[metric] == pytest.approx(theirs, abs=10.0 ** -record["digits"], rel=10.0 ** -record["digits"])


@pytest.mark.parametrize("tool", RECORDS)
def test_a_convention_gives_what_its_tool_gives(tool, monkeypatch):
    recorded = RECORDS[tool]
    if not recorded["modules"]:
        pytest.skip("a server, or too old to install: its values are computed from its source")
    for module in recorded["modules"]:
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.delitem(sys.modules, "make", raising=False)
    import make

    record = make.record(tool)
    for metric, column in record["values"].items():
        check(record, metric, column)


def test_every_maker_has_a_record_that_tells_queries_apart():
    assert {path.stem for path in (HERE / "makers").glob("*.py")} == RECORDS.keys()
    for tool, record in RECORDS.items():
        for metric, column in record["values"].items():
            assert len(np.unique([value for value in column if value is not None])) > 1, (tool, metric)
