"""Both curves read a run once, and their points are the values of metrics at every rank, to the bit."""

import random

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN
RNG = random.Random(5)
QRELS = {f"q{i}": {f"d{RNG.randrange(15)}": RNG.choice((-1, 0, 1, 2)) for _ in range(9)} for i in range(25)}
RUN = {
    query: {f"d{n}": float(RNG.randrange(5)) for n in RNG.sample(range(20), RNG.randrange(1, 20))} for query in QRELS
}


@pytest.mark.parametrize(
    "options",
    [
        {"judged_only": True, "rel_level": 2},
        {"max_depth": 3, "short_rankings": "clip"},
        {"ties": "average", "empty": "skip"},
        {"ties": "optimistic", "weights": {query: 1.0 + (query < "q2") for query in QRELS}},
        {"convention": "trec_eval-9"},
        {"convention": "ranx", "empty": "one", "queries": list(QRELS)[:7]},
    ],
    ids=str,
)
def test_points_are_the_metrics_evaluated_one_by_one(options):
    """A slow twin: a call of `evaluate` for each rank."""
    recall_points = () if options.get("ties") == "average" else (0.5,)
    curve = fastir.precision_recall_curve(QRELS, RUN, recall_points, **options)
    roc = fastir.roc_curve(QRELS, RUN, **options)
    for rank in range(1, 1 + int(curve.num_ret.max())):
        results = fastir.evaluate(QRELS, RUN, [f"precision@{rank}", f"recall@{rank}"], **options)
        found = np.stack([curve.precision[:, rank - 1], curve.recall[:, rank - 1]], axis=1)
        assert found.tobytes() == results.values.tobytes()
        means = [curve.at_ranks().precision[rank - 1], curve.at_ranks().recall[rank - 1]]
        assert means == list(dict(results).values())
        assert roc.hits[:, rank - 1] == pytest.approx(results.values[:, 0] * rank, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("ties", ["trec", "average"])
def test_a_run_that_can_be_read_only_once(ties):
    pyarrow = pytest.importorskip("pyarrow")
    rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    table = pyarrow.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)))
    stream = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert fastir.roc_curve(QRELS, stream, ties=ties) == fastir.roc_curve(QRELS, RUN, ties=ties)
