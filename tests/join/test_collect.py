"""A plan that collects hits, in place of computing metrics: it writes beside the qrels that it was made for."""

import numpy as np
import pytest

import fastir
from fastir.evaluation.drivers.judged import rank_collector

QRELS = {f"q{q}": {f"d{doc}": 1 for doc in range(50)} for q in range(200)}
ROWS = [(query, doc, 1.0) for query, docs in QRELS.items() for doc in docs]


def table(rows):
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


RUNS = {
    "dict": {query: dict.fromkeys(docs, 1.0) for query, docs in QRELS.items()},
    "lists": {query: list(docs) for query, docs in QRELS.items()},
    "grouped table": table(ROWS),
    "table in any order": table(ROWS[::2] + ROWS[1::2]),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_join_with_other_qrels_than_those_of_the_plan_is_refused(run):
    """The kernel would write outside the arrays."""
    prepared = fastir.Evaluator(QRELS, "map").rules.prepared
    n = prepared.qrels.columns.n_rows
    collector = rank_collector(prepared, np.empty(n, np.int64), np.empty(n, np.int32))
    values = collector.measure(run, 1)[1]
    assert values[:, 0].sum() == len(ROWS)
    collector.judged = fastir.Qrels.from_dict(QRELS).columns.judged()
    collector.list_rules = None
    with pytest.raises(RuntimeError, match=r"internal error.*not its own"):
        collector.measure(run, 1)
