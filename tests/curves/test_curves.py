"""The precision-recall curve: its points are the metrics at every rank, its area is average precision to the bit."""

import math
import random
import warnings

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN


def collection(seed=1, queries=40):
    rng = random.Random(seed)
    sizes = {f"q{i}": rng.randrange(1, 20) for i in range(queries)}
    qrels = {query: {f"d{j}": rng.choice((-1, 0, 0, 1, 2)) for j in range(size)} for query, size in sizes.items()}
    run = {
        query: {doc: float(rng.randrange(9)) for doc in [*docs, "x", "y", "z"] if rng.random() < 0.8}
        for query, docs in qrels.items()
    }
    return {**qrels, "none": {"a": 0}, "missing": {"a": 1}, "empty": {"a": 1}}, {**run, "none": {"a": 1.0}, "empty": {}}


@pytest.mark.parametrize("options", [
    {}, {"rel_level": 2}, {"ties": "doc_id_asc", "max_depth": 5}, {"judged_only": True},
    {"queries": "intersection", "convention": "trec_eval-9"},
], ids=str)  # fmt: skip
def test_its_area_is_average_precision_to_the_bit(options):
    qrels, run = collection()
    curve = fastir.precision_recall_curve(qrels, run, **options)
    results = fastir.evaluate(qrels, run, ["map"], **options)
    assert {query: curve.area(query) for query in curve.query_ids} == results.per_query("map")
    assert curve.area() == math.fsum(results.per_query("map").values()) / len(curve.query_ids)
    assert len(set(results.per_query("map").values())) > 10


def test_the_raw_curve_has_a_point_where_the_recall_changes():
    qrels = {"q": {"a": 1, "b": 0, "c": 2, "e": 1, "f": 1}}
    run = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}}
    curve = fastir.precision_recall_curve(qrels, run)
    recall, precision, rank = curve.raw("q")
    assert (recall.tolist(), precision.tolist(), rank.tolist()) == ([0.25, 0.5, 0.75], [1, 2 / 3, 3 / 5], [1, 3, 5])
    recall, precision, rank = curve.at_ranks("q")
    assert recall.tolist() == [0.25, 0.25, 0.5, 0.5, 0.75]
    assert precision.tolist() == [1, 1 / 2, 2 / 3, 2 / 4, 3 / 5] and rank.tolist() == [1, 2, 3, 4, 5]
    assert curve.area("q") == curve.area() == (1 + 2 / 3 + 3 / 5) / 4


def test_the_average_is_that_of_the_metrics_at_each_rank():
    qrels, run = collection(2)
    curve = fastir.precision_recall_curve(qrels, run)
    recall, precision, rank = curve.at_ranks()
    assert rank.tolist() == list(range(1, max(map(len, run.values())) + 1))
    names = [f"{metric}@{k}" for metric in ("recall", "precision") for k in rank]
    assert [*recall, *precision] == list(dict(fastir.evaluate(qrels, run, names)).values())
    assert (np.diff(curve.raw().recall) > 0).all()


def test_it_is_interpolated_at_any_points():
    qrels, run = collection(3)
    points = (1, 0, 0.05, 1 / 3, 1e-7, 0.5, 0.5)
    curve = fastir.precision_recall_curve(qrels, run, points)
    names = ["iprec@1", "iprec@0", "iprec@0.05", f"iprec@{1 / 3!r}", "iprec@1e-07", "iprec@0.5", "iprec@0.5"]
    results = fastir.evaluate(qrels, run, names)
    assert curve.interpolated().precision.tolist() == [results[name] for name in names]
    assert curve.interpolated("q3").precision.tolist() == [results.per_query(name)["q3"] for name in names]
    assert curve.interpolated("q3").recall.tolist() == list(points) and curve.interpolated().rank is None
    eleven = fastir.precision_recall_curve(qrels, run)
    assert eleven.interpolated().precision.mean() == pytest.approx(fastir.evaluate(qrels, run, "11pt_avg")["11pt_avg"])
    assert fastir.precision_recall_curve(qrels, run, ()).interpolated().recall.size == 0


def test_queries_without_a_curve():
    curve = fastir.precision_recall_curve(*collection())
    assert [curve.at_ranks(query).rank.tolist() for query in ("none", "missing", "empty")] == [[1], [], []]
    assert [curve.raw(query).rank.size for query in ("none", "missing", "empty")] == [0, 0, 0]
    assert [curve.area(query) for query in ("none", "missing", "empty")] == [0, 0, 0]
    with pytest.raises(KeyError, match="query 'q99' was not evaluated"):
        curve.raw("q99")
    nothing = fastir.precision_recall_curve({"q": {"a": 1}}, {"q": {}}, queries="qrels")
    assert nothing.at_ranks().rank.size == 0 and nothing.area() == 0


def test_missing_queries_are_told_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fastir.precision_recall_curve({"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 1.0}})
    assert [str(warning.message)[:43] for warning in caught] == ["1 query of the qrels is missing from the ru"]


@pytest.mark.parametrize("point", [2, -0.1, "x", float("nan")])
def test_points_are_checked(point):
    with pytest.raises(fastir.UnknownMetricError, match="recall must be a number from 0 to 1"):
        fastir.precision_recall_curve({"q": {"a": 1}}, {"q": {"a": 1.0}}, [point])


def test_it_is_a_data_frame():
    pytest.importorskip("pandas")
    curve = fastir.precision_recall_curve(*collection())
    frame = curve.to_pandas()
    assert list(frame.columns) == ["query_id", "rank", "recall", "precision"]
    for query in ("q0", "q7", "none"):
        own = frame[frame["query_id"] == query]
        assert own["precision"].tolist() == curve.raw(query).precision.tolist()
    assert repr(curve).startswith("area 0.")


# ---- both curves read a run once, and their points are the values of metrics at every rank, to the bit ---------------
RNG = random.Random(5)
QRELS = {f"q{i}": {f"d{RNG.randrange(15)}": RNG.choice((-1, 0, 1, 2)) for _ in range(9)} for i in range(25)}
RUN = {
    query: {f"d{n}": float(RNG.randrange(5)) for n in RNG.sample(range(20), RNG.randrange(1, 20))} for query in QRELS
}


@pytest.mark.parametrize("options", [
    {"judged_only": True, "rel_level": 2},
    {"max_depth": 3, "short_rankings": "clip"},
    {"ties": "average", "empty": "skip"},
    {"ties": "optimistic", "weights": {query: 1.0 + (query < "q2") for query in QRELS}},
    {"convention": "trec_eval-9"},
    {"convention": "ranx", "empty": "one", "queries": list(QRELS)[:7]},
], ids=str)  # fmt: skip
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
