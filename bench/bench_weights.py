"""Weights of documents, documents that do not count, and custom metrics: beside the same call without them."""

import random

import numpy as np
import pytest
from timing import METRICS, Goal

import fastir

ROUNDS = 15
PLAIN = "fastir, the usual metrics"


def by_number(doc_id):
    """A weight for a document, any number above 0."""
    return 1.0 + sum(doc_id.encode()) % 7


@pytest.fixture(scope="module")
def passages(collection):
    qrels, run = collection("passages")
    return qrels, run, fastir.Run.from_dict(run)


@pytest.mark.parametrize("shape", ["dict", "Run"])
def test_weights(race, passages, shape):
    qrels, run, held = passages
    given = run if shape == "dict" else held
    weights = {doc_id: by_number(doc_id) for docs in qrels.values() for doc_id in docs}
    metrics = ["psp@10", "psndcg@10", "weighted_recall@100", "weighted_ndcg@10", "weighted_mrr"]
    weighted = fastir.Evaluator(qrels, metrics, doc_weights=weights, n_threads=1)
    plain = fastir.Evaluator(qrels, METRICS, n_threads=1)
    alike = fastir.evaluate(qrels, given, ["weighted_recall@100", "recall@100"], doc_weights=dict.fromkeys(weights, 1))
    assert alike.per_query("weighted_recall@100") == alike.per_query("recall@100")
    calls = {"fastir, five metrics of weights": lambda: weighted.evaluate(given), PLAIN: lambda: plain.evaluate(given)}
    race(f"weights of documents, 6980 x 1000, {shape}", calls, [Goal(*calls, 1 / 3)], ROUNDS)


COSTED = ["recall(budget=500)", "ndcg(budget=500)", "precision(budget=500)"]


@pytest.mark.parametrize("shape", ["dict", "Run", "TREC file"])
@pytest.mark.parametrize("what", ["costs", "groups"])
@pytest.mark.parametrize("name", ["passages", "judged"])
def test_costs_and_groups(race, collection, tmp_path, name, what, shape):
    """Numbers of the documents that are read: four or five of a thousand fit the budget, and exposure is of twenty.

    With few judgments, of passages, the usual metrics read one document of each ranking, and a look-up among a million
    waits for memory.
    """
    qrels, run = collection(name)
    held = fastir.Run.from_dict(run)
    given = {"dict": lambda: run, "Run": lambda: held, "TREC file": lambda: file_of(held, tmp_path)}[shape]()
    numbers = {doc_id: 20 * by_number(doc_id) for docs in (*qrels.values(), *run.values()) for doc_id in docs}
    groups = {doc_id: {"a": number / 140, "b": 1 - number / 140} for doc_id, number in numbers.items()}
    options = {"costs": {"doc_costs": numbers}, "groups": {"doc_groups": groups, "target": {"a": 0.3, "b": 0.7}}}
    metrics = {"costs": COSTED, "groups": ["awrf@20", "ndcg_awrf@20"]}
    ours = fastir.Evaluator(qrels, metrics[what], n_threads=1, **options[what])
    plain = fastir.Evaluator(qrels, METRICS, n_threads=1)
    assert np.array_equal(ours.evaluate(run).values, ours.evaluate(given).values, equal_nan=True)
    calls = {f"fastir, {what} of documents": lambda: ours.evaluate(given), PLAIN: lambda: plain.evaluate(given)}
    race(f"{what} of documents, {name}, {shape}", calls, [Goal(*calls, 2 / 3)], ROUNDS)


@pytest.mark.parametrize("what", ["nuggets", "citations"])
def test_a_million_verdicts(race, quick, what):
    """Rows of an Arrow table in any order, of seven runs."""
    pyarrow = pytest.importorskip("pyarrow")
    n = 1000 if quick else 1_000_000
    place = np.random.default_rng(1).permutation(n)
    columns = {
        "query_id": [f"q{i // 1000}" for i in place.tolist()], "run": [f"r{i % 7}" for i in place.tolist()],
        "nugget": place, "importance": ["vital"] * n, "assignment": ["support"] * n,
        "sentence": place // 4 % 250, "citation": [f"d{i % 977}" for i in place.tolist()],
        "support": ["full_support"] * n,
    }  # fmt: skip
    names = {"nuggets": list(columns)[:5], "citations": ["query_id", "run", "sentence", "citation", "support"]}[what]
    table = pyarrow.table({name: columns[name] for name in names})
    calls = {
        "nuggets": lambda: fastir.evaluate_nuggets(table, ["nugget_recall"], missing="zero"),
        "citations": lambda: fastir.evaluate_citations(
            table, ["citation_precision", "citation_recall"], missing="zero"
        ),
    }
    seen = race(f"a million rows of {what}", {f"fastir, {what}": calls[what]}, rounds=5)
    race.amount(f"rows of {what}", seen[f"fastir, {what}"].cpu, "s", 1)


@pytest.mark.parametrize("shape", ["dict", "Run", "TREC file", "rows in any order"])
def test_exclude(race, passages, tmp_path, shape):
    """A document in ten leaves; the peer is what callers write, a comprehension over a dict of dicts."""
    qrels, run, held = passages
    gone = {query: set(list(docs)[::10]) for query, docs in run.items()}

    def by_hand():
        return {q: {doc: s for doc, s in docs.items() if doc not in gone[q]} for q, docs in run.items()}

    given = {"dict": lambda: run, "Run": lambda: held, "TREC file": file_of, "rows in any order": rows_of}[shape]
    given = given(held, tmp_path) if shape in ("TREC file", "rows in any order") else given()
    without = fastir.Evaluator(qrels, METRICS, n_threads=1, exclude=gone)
    plain = fastir.Evaluator(qrels, METRICS, n_threads=1)
    assert without.evaluate(given).values.tobytes() == plain.evaluate(by_hand()).values.tobytes()
    calls = {"fastir, exclude=": lambda: without.evaluate(given), PLAIN: lambda: plain.evaluate(given)}
    goals = [Goal(*calls, 1 / 2)]
    if shape == "dict":
        calls["a comprehension, then fastir"] = lambda: plain.evaluate(by_hand())
        goals = [Goal("fastir, exclude=", PLAIN), Goal("fastir, exclude=", "a comprehension, then fastir", 1)]
    race(f"excluded documents, 6980 x 1000, {shape}", calls, goals, ROUNDS)


def test_parents(race, quick):
    """A dict of a million chunks and a run of as many rows, no two objects side by side; by hand the best chunk stays.

    Asked 8 times by hand, seen 16 to 18; and 4 times the run without, seen 6.8 (4.2 from a Run): that looks up the
    judged documents alone. Here each row's string is read and its document found, and no cache holds either.
    """
    rng, n = random.Random(1), 1000 if quick else 1_000_000
    parents = {f"doc{i // 10:06d}#{i % 10}": f"doc{i // 10:06d}" for i in range(n)}
    chunks = list(parents)
    run = {
        f"q{q}": {chunks[i]: float(1000 - rank) for rank, i in enumerate(rng.sample(range(n), min(n, 1000)))}
        for q in range(5 if quick else 1000)
    }
    of_chunks = {query: dict.fromkeys(list(docs)[5:50:9], 1) for query, docs in run.items()}
    qrels = {query: dict.fromkeys(map(parents.get, docs), 1) for query, docs in of_chunks.items()}
    ours = fastir.Evaluator(qrels, METRICS, parents=parents, n_threads=1)
    documents = fastir.Evaluator(qrels, METRICS, n_threads=1)
    plain = fastir.Evaluator(of_chunks, METRICS, n_threads=1)

    def by_hand():
        best = {}
        for query, docs in run.items():
            kept = best[query] = {}
            for chunk, score in docs.items():
                document = parents[chunk]
                if document not in kept or score > kept[document]:
                    kept[document] = score
        return documents.evaluate(best)

    assert ours.evaluate(run).values.tobytes() == by_hand().values.tobytes()
    calls = {
        "fastir, parents=": lambda: ours.evaluate(run),
        "by hand, then fastir": by_hand,
        "fastir, without": lambda: plain.evaluate(run),
    }
    goals = [Goal("fastir, parents=", "by hand, then fastir", 8), Goal("fastir, parents=", "fastir, without", 1 / 4)]
    race("parents of 10^6 chunks, 1000 x 1000", calls, goals, 5)


def file_of(held, folder):
    held.save(folder / "run.txt")
    return folder / "run.txt"


def rows_of(held, folder):
    """Columns of the rows, in an order in which those of a query do not stand together."""
    rows = [(query, doc, score) for query, docs in held.to_dict().items() for doc, score in docs.items()]
    order = np.random.default_rng(1).permutation(len(rows))
    names = "query_id", "doc_id", "score"
    return {name: np.array(column)[order] for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def own_precision(judged):
    """P@10 from judged rankings."""
    hit = (judged.ranks <= 10) & (judged.labels >= 1)
    rows = np.repeat(np.arange(len(judged)), np.diff(judged.offsets))
    return np.bincount(rows[hit], minlength=len(judged)) / 10


@pytest.mark.parametrize("shape", ["dict", "Run"])
def test_a_metric_of_ones_own(race, passages, shape):
    qrels, run, held = passages
    given = run if shape == "dict" else held
    own = fastir.custom_metric("own@10", own_precision)
    both = fastir.Evaluator(qrels, [*METRICS, own], n_threads=1)
    plain = fastir.Evaluator(qrels, METRICS, n_threads=1)
    found, expected = both.evaluate(given), plain.evaluate(given)
    assert found.per_query("own@10") == expected.per_query("P@10")
    assert np.array_equal(found.values[:, : len(METRICS)], expected.values)

    def twice():
        return plain.evaluate(given), own.values(plain.judged_rankings(given))

    calls = {
        "fastir, with a custom metric": lambda: both.evaluate(given),
        PLAIN: lambda: plain.evaluate(given),
        "fastir, judged once more": twice,
    }
    first, _, again = calls
    race(f"a custom metric, 6980 x 1000, {shape}", calls, [Goal(first, PLAIN), Goal(first, again, 1)], ROUNDS)
