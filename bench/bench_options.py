"""The options min_score and ties_report: beside the same call without them, which may take 1.5 times as long with them.

Half of each ranking is below the threshold. Scores are different, of half precision, or all equal.
"""

import numpy as np
import pytest
from timing import METRICS, Goal

import fastir

ROUNDS = 15
PLAIN = "fastir, the usual metrics"
ASKED = 1 / 1.5


@pytest.fixture(scope="module")
def passages(collection):
    qrels, run = collection("passages")
    return qrels, run, float(np.median([score for docs in run.values() for score in docs.values()]))


def rows_of(run):
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    names = "query_id", "doc_id", "score"
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def shuffled(run):
    columns = rows_of(run)
    order = np.random.default_rng(1).permutation(len(columns["score"]))
    return {name: column[order] for name, column in columns.items()}


SHAPES = {
    "dict": lambda run: run,
    "Run": fastir.Run.from_dict,
    "columns": rows_of,
    "rows in any order": shuffled,
    "lists of pairs": lambda run: {query: list(docs.items()) for query, docs in run.items()},
}


@pytest.mark.parametrize("shape", [*SHAPES, "TREC file"])
def test_min_score(race, passages, tmp_path, shape):
    qrels, run, least = passages
    if shape == "TREC file":
        given = tmp_path / "run.txt"
        fastir.Run.from_dict(run).save(given)
    else:
        given = SHAPES[shape](run)
    low, plain = (
        fastir.Evaluator(qrels, METRICS, n_threads=1, min_score=least),
        fastir.Evaluator(qrels, METRICS, n_threads=1),
    )
    kept = {query: {doc: score for doc, score in docs.items() if score >= least} for query, docs in run.items()}
    assert low.evaluate(given).values.tobytes() == plain.evaluate(kept).values.tobytes()
    calls = {"fastir, min_score=": lambda: low.evaluate(given), PLAIN: lambda: plain.evaluate(given)}
    race(f"min_score, 6980 x 1000, {shape}", calls, [Goal(*calls, ASKED)], ROUNDS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("call", ["evaluate_matrix", "evaluate_topk", "evaluate_scores"])
def test_min_score_of_arrays(race, quick, call, dtype):
    rng = np.random.default_rng(20)
    n, width = (20, 1000) if quick else (1000, 20_000) if call == "evaluate_matrix" else (5000, 1000)
    scores, items = rng.random((n, width), dtype), rng.integers(0, width, (n, 10))
    if call == "evaluate_topk":
        scores = -np.sort(-scores, axis=1)
        items = [np.unique(row) for row in items]
        arguments = np.argsort(rng.random((n, width)), axis=1), items, METRICS
    elif call == "evaluate_matrix":
        arguments = scores, [np.unique(row) for row in items], METRICS
    else:
        labels = np.zeros((n, width), np.int32)
        np.put_along_axis(labels, items, 1, axis=1)
        arguments = labels, scores, METRICS
    options = {"n_threads": 1, **({"scores": scores} if call == "evaluate_topk" else {})}
    function = getattr(fastir, call)
    calls = {
        "fastir, min_score=": lambda: function(*arguments, min_score=0.5, **options),
        PLAIN: lambda: function(*arguments, **options),
    }
    race(f"min_score, {call}, {np.dtype(dtype)}", calls, [Goal(*calls, ASKED)], ROUNDS)


@pytest.mark.parametrize("shape", ["dict", "Run"])
@pytest.mark.parametrize("scores", ["different", "half precision", "equal"])
def test_ties_report(race, passages, scores, shape):
    qrels, run, _ = passages
    numbers = {
        "different": lambda i, _: -i,
        "half precision": lambda _, s: float(np.float16(s)),
        "equal": lambda *_: 1.0,
    }
    of = numbers[scores]
    run = {q: {doc: of(i, score) for i, (doc, score) in enumerate(docs.items())} for q, docs in run.items()}
    given = SHAPES[shape](run)
    ties, plain = (fastir.Evaluator(qrels, METRICS, n_threads=1, ties_report=report) for report in (True, False))
    assert ties.evaluate(given).values.tobytes() == plain.evaluate(given).values.tobytes()
    calls = {"fastir, ties_report=": lambda: ties.evaluate(given).ties(), PLAIN: lambda: plain.evaluate(given)}
    race(f"ties_report, 6980 x 1000, {scores} scores, {shape}", calls, [Goal(*calls, ASKED)], ROUNDS)
