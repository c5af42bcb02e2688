"""Tables of labels in batches: as columns of a frame, with ranks or other names."""

import pytest

import fastir

pyarrow = pytest.importorskip("pyarrow")

METRICS = ["ndcg@10", "mrr"]
TABLE = {"qid": ["b", "b", "a", "a", "a"], "label": [0, 1, 2, 0, 1], "score": [0.5, 0.25, 0.1, 0.9, 0.4]}


def expected():
    return dict(fastir.evaluate_scores(TABLE["label"], TABLE["score"], METRICS, qid=TABLE["qid"]))


def total_of(*batches, **options):
    total = fastir.Accumulator(METRICS)
    for batch in batches:
        total.update(batch, **options)
    return total


@pytest.mark.parametrize("shape", ["dict", "arrow", "pandas", "polars", "reader", "dataset"])
def test_a_batch_may_be_a_table(shape):
    def made(table):
        if shape == "reader":
            return table.to_reader()
        if shape == "dataset":
            return pytest.importorskip("pyarrow.dataset").dataset(table)
        if shape == "polars":
            return pytest.importorskip("polars").DataFrame(table)
        return {"dict": table.to_pydict, "arrow": lambda: table, "pandas": table.to_pandas}[shape]()

    if shape == "pandas":
        pytest.importorskip("pandas")
    table = pyarrow.table(TABLE)
    total = total_of(made(table.slice(0, 2)), made(table.slice(2)))
    assert total.n_queries == 2 and total.result() == expected()
    assert total_of(made(table.take([4, 0, 2, 1, 3]))).result() == expected(), "in any order"


def test_ranks_and_other_names():
    ranked = {"query_id": TABLE["qid"], "relevance": TABLE["label"], "rank": [1, 2, 3, 1, 2]}
    assert total_of(ranked).result() == expected()
    named = {"q": TABLE["qid"], "y": TABLE["label"], "s": TABLE["score"]}
    assert total_of(named, columns={"query_id": "q", "label": "y", "score": "s"}).result() == expected()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ([{"qid": ["a"]}], {}, ValueError, "the table has no column 'label' or 'relevance' or 'rating'; it has 'qid'"),
        (
            [{"qid": ["a"], "label": [1]}],
            {},
            ValueError,
            "labels: the table has no column 'score' or 'prediction' or 'rank'",
        ),
        ([TABLE], {"columns": {"doc": "x"}}, ValueError, "columns: unknown role .doc.; expected query_id"),
        ([TABLE, [1.0]], {}, TypeError, "has queries and scores in its columns"),
        ([[1, 0]], {"columns": {}}, TypeError, "columns is for a table, but none was given"),
        ([], {"run": {"q": {"d": 1.0}}}, TypeError, "run and qrels belong together"),
    ],
)
def test_what_does_not_fit_together(arguments, options, error, message):
    total = fastir.Accumulator(METRICS)
    with pytest.raises(error, match=message):
        total.update(*arguments, **options)
    assert total.n_queries == 0
