"""The same data in every container of memory give the same bits."""

import numpy as np
import pytest

import fastir
import fastir.compat.ranx

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
NAMES = ("query_id", "doc_id")
QRELS = {f"q{query}": {f"d{doc}": (doc * query) % 3 for doc in range(1, 9)} for query in range(1, 6)}
RUN = {f"q{query}": {f"d{doc}": 1 / (1 + (doc * 7 + query) % 11) for doc in range(2, 12)} for query in range(1, 6)}
METRICS = ["map", "ndcg@5", "mrr", "p@3"]


def rows(data):
    """(query, document, number) of all."""
    return [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]


def frame(data, number):
    """A pandas frame."""
    return pandas.DataFrame(rows(data), columns=[*NAMES, number])


CONTAINERS = {
    "tuples": lambda data, number: rows(data), "iterator": lambda data, number: iter(rows(data)),
    "records": lambda data, number: frame(data, number).to_dict("records"),
    "dict of lists": lambda data, number: frame(data, number).to_dict("list"), "frame": frame,
    "series": lambda data, number: frame(data, number).set_index([*NAMES])[number],
    "series without names": lambda data, _: (
        frame(data, "x").set_index([*NAMES])["x"].rename_axis([None] * 2).rename(None)
    ),
    "polars": lambda data, number: polars.from_pandas(frame(data, number)),
    "lazy frame": lambda data, number: polars.from_pandas(frame(data, number)).lazy(),
    "arrow": lambda data, number: pyarrow.Table.from_pandas(frame(data, number)),
    "structured array": lambda data, number: np.array(rows(data), [*((name, "U4") for name in NAMES), (number, "f8")]),
    "record array": lambda data, number: frame(data, number).to_records(index=False),
}  # fmt: skip


NESTED = {  # no tables
    "pairs": lambda data, _: {query: list(docs.items()) for query, docs in data.items()},
    "pairs, number first": lambda data, _: {
        query: [(n, doc) for doc, n in docs.items()] for query, docs in data.items()
    },
    "ranx": lambda data, number: (fastir.compat.ranx.Qrels if number == "label" else fastir.compat.ranx.Run)(data),
}


@pytest.mark.parametrize("make", (CONTAINERS | NESTED).values(), ids=CONTAINERS | NESTED)
def test_every_container_gives_the_same_bits(make):
    expected = fastir.evaluate(QRELS, RUN, METRICS).values.tobytes()
    assert fastir.evaluate(make(QRELS, "label"), RUN, METRICS).values.tobytes() == expected
    assert fastir.evaluate(QRELS, make(RUN, "score"), METRICS).values.tobytes() == expected
    if make not in NESTED.values():
        assert fastir.Qrels.from_table(make(QRELS, "label")).to_dict() == QRELS
