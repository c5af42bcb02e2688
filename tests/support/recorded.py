"""fastir's values for what a tool gave, as tests/conventions/recorded has it, and whether they are the same."""

import math

import pytest

import fastir
from fastir.conventions import CONVENTIONS


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
    """Fail if a value differs by more than the digits that the record has."""
    _, ours = evaluated(record, metric)
    theirs = [math.nan if value is None else value for value in theirs]
    close = 10.0 ** -record["digits"]
    for query, our, their in zip(record["queries"], ours, theirs, strict=True):
        retrieved = query["retrieved"]
        if metric in record["copies"] and len(set(retrieved)) < len(retrieved):
            assert not our > 1, query
        else:
            assert our == pytest.approx(their, abs=close, rel=close, nan_ok=True), query
