"""fastir's values for what a tool gave, as tests/conventions/recorded has it, and whether they are the same."""

import math

import pytest

import fastir
from fastir.conventions import CONVENTIONS


def evaluated(record, metric):
    retrieved, relevant = ([query[side] for query in record["queries"]] for side in ("retrieved", "relevant"))
    convention = CONVENTIONS[record["convention"]]
    copies = {} if convention.duplicates else {"duplicates": "once"}
    results = fastir.evaluate_lists(retrieved, relevant, metric, convention=convention, **copies | record["options"])
    found = results.per_query(metric)
    return [found.get(place, math.nan) for place in range(len(retrieved))]


def check(record, metric, theirs):
    """Fail if a value differs by more than the digits that the record has."""
    ours = evaluated(record, metric)
    theirs = [math.nan if value is None else value for value in theirs]
    close = 10.0 ** -record["digits"]
    for query, our, their in zip(record["queries"], ours, theirs, strict=True):
        retrieved = query["retrieved"]
        if metric in record["copies"] and len(set(retrieved)) < len(retrieved):
            assert not our > 1, query
        else:
            assert our == pytest.approx(their, abs=close, rel=close, nan_ok=True), query
