"""Ways of calling: every container that is read, beside converting it first, which must never be faster.

One run of 1000 x 300, grouped by query, in every form; the peer is what a caller would write who knows the quick form:
`.tolist()`, `.astype`, `pl.DataFrame`, `json.loads`, and then the same entry point. The entry points are those that
read for all others: runs and qrels, lists of ids, labels and scores, matrices, values. Beside these NumPy's ids in
dicts against exact ones, rank correlations against SciPy's three, and compare_scores against `ttest_rel`.
"""

import collections
import contextlib
import functools
import importlib
import json
from typing import NamedTuple

import numpy as np
import pytest
from entries import ROWS, SAME, Held
from timing import METRICS, Goal

import fastir

ROUNDS, QUERIES, DEPTH = 9, 1000, 300
ASKED = 1 / 1.1  # what is read where it lies and what is converted first often are the same work; a tenth is noise
COLUMNS = ["query_id", "doc_id", "score"]


class ScoredDoc(NamedTuple):
    """What ir_measures and ir_datasets have for a row."""

    query_id: str
    doc_id: str
    score: float


class Scalar:
    """A number of another library, such as a tensor without dimensions."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class Collected:
    """One run as columns of ids that are text, and of ids that are integers, with judgments."""

    def __init__(self, queries):
        rng = np.random.default_rng(3)
        self.numbers = [rng.choice(1_000_000, DEPTH, replace=False).tolist() for _ in range(queries)]
        self.scores = np.sort(rng.random((queries, DEPTH)), axis=1)[:, ::-1].tolist()
        relevant = [rng.choice(DEPTH, 5, replace=False).tolist() for _ in range(queries)]
        self.integer_qrels = {q: {self.numbers[q][j]: 1 for j in row} for q, row in enumerate(relevant)}
        self.qrels = {f"q{q}": {name(doc): 1 for doc in docs} for q, docs in self.integer_qrels.items()}
        self.integer_run = {
            q: dict(zip(*row, strict=True)) for q, row in enumerate(zip(self.numbers, self.scores, strict=True))
        }
        self.run = {f"q{q}": {name(doc): score for doc, score in docs.items()} for q, docs in self.integer_run.items()}

    def columns(self, run):
        """The three columns of a dict of dicts, as lists."""
        rows = ((query, doc, score) for query, docs in run.items() for doc, score in docs.items())
        return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))


def name(number):
    return f"doc-{number:07d}"


@pytest.fixture(scope="module")
def collected(quick):
    return Collected(20 if quick else QUERIES)


def nested(rows):
    run = {}
    for query, doc, score in rows:
        run.setdefault(query, {})[doc] = score
    return run


# ---- containers: what makes one of the run, and what its caller could make of it first -------------------------------
def lists(collected):
    polars = pytest.importorskip("polars")
    return collected.columns(collected.run), polars.DataFrame


def lists_of_integers(collected):
    polars = pytest.importorskip("polars")
    return collected.columns(collected.integer_run), polars.DataFrame


def text_arrays(collected):
    arrays = {column: np.array(values) for column, values in collected.columns(collected.run).items()}
    return arrays, lambda data: {column: values.tolist() for column, values in data.items()}


def tuples(collected):
    return list(zip(*collected.columns(collected.run).values(), strict=True)), nested


def rows_as_lists(collected):
    """As JSON has them."""
    return list(map(list, tuples(collected)[0])), nested


def user_dicts(collected):
    run = {query: collections.UserDict(docs) for query, docs in collected.run.items()}
    return run, lambda run: {query: dict(docs) for query, docs in run.items()}


def named_tuples(collected):
    return [ScoredDoc(*fields) for fields in tuples(collected)[0]], nested


def objects_of_integers(collected):
    pandas = pytest.importorskip("pandas")
    kinds = {"query_id": object, "doc_id": object}
    frame = pandas.DataFrame(collected.columns(collected.integer_run)).astype(kinds)
    return frame, lambda frame: frame.astype(dict.fromkeys(kinds, "int64"))


def objects_of_numpy_integers(collected):
    pandas = pytest.importorskip("pandas")
    columns = collected.columns(collected.integer_run)
    ids = {column: pandas.Series(list(map(np.int64, columns[column])), dtype=object) for column in COLUMNS[:2]}
    return pandas.DataFrame({**columns, **ids}), lambda frame: frame.astype(dict.fromkeys(ids, "int64"))


def object_scores(collected):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(collected.columns(collected.run)).astype({"score": object})
    return frame, lambda frame: frame.astype({"score": float})


def polars_categories(collected):
    polars = pytest.importorskip("polars")
    ids = [polars.col(column).cast(polars.Categorical) for column in COLUMNS[:2]]
    return polars.DataFrame(collected.columns(collected.run)).with_columns(ids), lambda frame: frame.cast(
        dict.fromkeys(COLUMNS[:2], polars.String)
    )


def pandas_categories(collected):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(collected.columns(collected.run)).astype(dict.fromkeys(COLUMNS[:2], "category"))
    return frame, lambda frame: frame.astype(dict.fromkeys(COLUMNS[:2], object))


def scalars(collected):
    run = {query: {doc: Scalar(score) for doc, score in docs.items()} for query, docs in collected.run.items()}
    return run, lambda run: {query: {doc: float(score) for doc, score in docs.items()} for query, docs in run.items()}


def tensors(collected):
    """Of no dimension, which take microseconds to read: fewer queries."""
    torch = pytest.importorskip("torch")
    run = {
        query: {doc: torch.tensor(score) for doc, score in docs.items()}
        for query, docs in list(collected.run.items())[:20]
    }
    return run, lambda run: {query: {doc: float(score) for doc, score in docs.items()} for query, docs in run.items()}


def numpy_scalars(collected):
    run = {
        query: dict(zip(map(np.int64, docs), map(np.float32, docs.values()), strict=True))
        for query, docs in collected.integer_run.items()
    }
    return run, lambda run: {
        query: {int(doc): float(score) for doc, score in docs.items()} for query, docs in run.items()
    }


CONTAINERS = [lists, lists_of_integers, text_arrays, tuples, rows_as_lists, user_dicts, named_tuples,
              objects_of_integers, objects_of_numpy_integers, object_scores, polars_categories, pandas_categories,
              scalars, tensors, numpy_scalars]  # fmt: skip
ENTRIES = {
    "Evaluator.evaluate": lambda evaluator, data: evaluator.evaluate(data),
    "Run": lambda _, data: (fastir.Run.from_dict if is_nested(data) else fastir.Run.from_table)(data),
    "Qrels": lambda _, data: (fastir.Qrels.from_dict if is_nested(data) else fastir.Qrels.from_table)(data),
}


def is_nested(data):
    return isinstance(data, dict) and isinstance(next(iter(data.values())), (dict, collections.UserDict))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("container", CONTAINERS, ids=lambda made: made.__name__)
def test_a_container_against_converting_it_first(race, collected, container, entry):
    data, convert = container(collected)
    integers = "integer" in container.__name__ or container is numpy_scalars
    qrels = collected.integer_qrels if integers else collected.qrels
    evaluator, call = fastir.Evaluator(qrels, METRICS, n_threads=1), ENTRIES[entry]
    assert call(evaluator, data) == call(evaluator, convert(data))
    ours, first = f"fastir, {container.__name__}", f"{container.__name__}, converted first"
    calls = {ours: lambda: call(evaluator, data), first: lambda: call(evaluator, convert(data))}
    race(f"{entry}, 1000 x 300", calls, [Goal(ours, first, ASKED)], ROUNDS)


# ---- lists of ids, by position ---------------------------------------------------------------------------------------
def python_ids(column):
    return column.tolist()


def lists_of_ids(ids):
    """{what holds them: (the lists, what makes lists of Python objects of them)} of lists of texts or integers."""
    made = {
        "tuples": (list(map(tuple, ids)), lambda data: list(map(list, data))),
        "an array": (np.array(ids), python_ids),
        "arrays": (list(map(np.array, ids)), lambda data: [row.tolist() for row in data]),
        "an array of objects": (np.array(ids, object), python_ids),
    }
    if isinstance(ids[0][0], int):
        made["NumPy's integers"] = (
            [list(map(np.int64, row)) for row in ids],
            lambda data: [list(map(int, row)) for row in data],
        )
    for name, column in (("pyarrow", "array"), ("polars", "Series")):
        with contextlib.suppress(ImportError):
            to_list = "to_pylist" if name == "pyarrow" else "to_list"
            data = getattr(importlib.import_module(name), column)(ids)
            made[f"a column of {name}"] = data, lambda data, to_list=to_list: getattr(data, to_list)()
    return made


@pytest.mark.parametrize("kind", ["text", "integers"])
def test_lists_of_ids_against_converting_them_first(race, collected, kind):
    run, qrels = (
        (collected.run, collected.qrels) if kind == "text" else (collected.integer_run, collected.integer_qrels)
    )
    ids, relevant = list(map(list, run.values())), list(map(list, qrels.values()))
    expected = fastir.evaluate_lists(ids, relevant, METRICS, n_threads=1)
    calls, goals = {}, []
    for name, (data, convert) in lists_of_ids(ids).items():
        ours, first = f"fastir, {name}", f"{name}, converted first"
        calls[ours] = functools.partial(fastir.evaluate_lists, data, relevant, METRICS, n_threads=1)
        calls[first] = lambda data=data, convert=convert: fastir.evaluate_lists(
            convert(data), relevant, METRICS, n_threads=1
        )
        assert calls[ours]() == calls[first]() == expected
        goals.append(Goal(ours, first, ASKED))
    race(f"evaluate_lists, {kind}, 1000 x 300", calls, goals, ROUNDS)


# ---- arrays ---------------------------------------------------------------------------------------------------------
def arrays(numbers):
    """{what holds them: (the numbers, what makes a NumPy array of them)} of an array of float32."""
    wide = np.zeros((*numbers.shape, 2), np.float32)
    wide[..., 0] = numbers
    made = {
        "lists": (numbers.tolist(), np.array),
        "float64": (numbers.astype(np.float64), lambda data: data.astype(np.float32)),
        "float16": (numbers.astype(np.float16), lambda data: data.astype(np.float32)),
        "strided": (wide[..., 0], np.ascontiguousarray),
    }
    with contextlib.suppress(ImportError):
        import torch

        made["torch"] = torch.from_numpy(numbers), lambda data: data.numpy()
        made["torch, bfloat16"] = torch.from_numpy(numbers).bfloat16(), lambda data: data.float().numpy()
    with contextlib.suppress(ImportError):
        import pandas

        made["a frame of pandas"] = pandas.DataFrame(numbers), lambda data: data.to_numpy()
    return made


OF_ARRAYS = {
    "evaluate_scores": lambda scores, labels, _: fastir.evaluate_scores(labels, scores, METRICS, n_threads=1),
    "evaluate_scores, labels": lambda scores, labels, _: fastir.evaluate_scores(scores, labels, METRICS, n_threads=1),
    "evaluate_matrix": lambda scores, _, items: fastir.evaluate_matrix(scores, items, METRICS, n_threads=1),
}


@pytest.mark.parametrize("entry", OF_ARRAYS)
def test_arrays_against_converting_them_first(race, quick, entry):
    rng, call = np.random.default_rng(7), OF_ARRAYS[entry]
    numbers = rng.integers(0, 5, (20 if quick else QUERIES, DEPTH)).astype(np.float32)
    labels, items = (rng.random(numbers.shape) < 0.02).astype(np.int8), rng.integers(0, DEPTH, (len(numbers), 3))
    items = [sorted(set(row)) for row in items.tolist()]
    expected, calls, goals = call(numbers, labels, items), {}, []
    for name, (data, convert) in arrays(numbers).items():
        ours, first = f"fastir, {name}", f"{name}, converted first"
        calls[ours] = functools.partial(call, data, labels, items)
        calls[first] = lambda data=data, convert=convert: call(convert(data), labels, items)
        assert calls[ours]() == calls[first]() == expected
        goals.append(Goal(ours, first, ASKED))
    race(f"{entry}, 1000 x 300", calls, goals, ROUNDS)


# ---- values that were computed elsewhere ----------------------------------------------------------------------------
def test_values_against_converting_them_first(race):
    values = np.random.default_rng(8).random((4, 10_000))
    exact = {f"r{r}": {f"q{q}": value for q, value in enumerate(row.tolist())} for r, row in enumerate(values)}
    made = {
        "NumPy's numbers": {
            run: dict(zip(row, map(np.float64, row.values()), strict=True)) for run, row in exact.items()
        }
    }
    with contextlib.suppress(ImportError):
        import pandas

        made["series of pandas"] = {run: pandas.Series(row) for run, row in exact.items()}
    converts = {"NumPy's numbers": lambda row: {q: float(value) for q, value in row.items()}, "series of pandas": dict}
    expected, calls, goals = fastir.compare_scores(exact).pairs, {}, []
    for name, data in made.items():
        ours, first, convert = f"fastir, {name}", f"{name}, converted first", converts[name]
        calls[ours] = functools.partial(fastir.compare_scores, data)
        calls[first] = lambda data=data, convert=convert: fastir.compare_scores(
            {run: convert(row) for run, row in data.items()}
        )
        assert calls[ours]().pairs == calls[first]().pairs == expected
        goals.append(Goal(ours, first, ASKED))
    race("compare_scores, 4 x 10 000", calls, goals, ROUNDS)


# ---- files that are parsed ------------------------------------------------------------------------------------------
def test_a_json_file_against_the_json_module(race, collected, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(collected.run))
    evaluator = fastir.Evaluator(collected.qrels, METRICS, n_threads=1)
    assert evaluator.evaluate(path).values.tobytes() == evaluator.evaluate(collected.run).values.tobytes()
    ours, first = "fastir, JSON file", "json.loads first"
    calls = {ours: lambda: evaluator.evaluate(path), first: lambda: evaluator.evaluate(json.loads(path.read_text()))}
    race("JSON, 1000 x 300", calls, [Goal(ours, first, 1)], 5)


def test_a_json_lines_file_against_polars(race, collected, tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "run.jsonl"
    polars.DataFrame(collected.columns(collected.run)).write_ndjson(path)
    evaluator = fastir.Evaluator(collected.qrels, METRICS, n_threads=1)
    assert evaluator.evaluate(path).values.tobytes() == evaluator.evaluate(collected.run).values.tobytes()
    ours, first = "fastir, JSON Lines file", "polars.read_ndjson first"
    calls = {ours: lambda: evaluator.evaluate(path), first: lambda: evaluator.evaluate(polars.read_ndjson(path))}
    race("JSON Lines, 1000 x 300", calls, [Goal(ours, first, 1)], 5)


# ---- ids of NumPy, and dicts of their own order, beside exact ones ---------------------------------------------------
@pytest.mark.parametrize(("kind", "asked"), [("np.int64", 2.5), ("np.str_", 2.5), ("OrderedDict", 4)])
def test_ids_of_numpy_and_ordered_dicts_against_exact_ones(race, collected, kind, asked):
    exact, qrels = collected.run, collected.qrels
    if kind == "np.int64":
        (odd, _), exact, qrels = numpy_scalars(collected), collected.integer_run, collected.integer_qrels
        exact = {query: {doc: float(np.float32(score)) for doc, score in docs.items()} for query, docs in exact.items()}
    elif kind == "np.str_":
        odd = {query: dict(zip(map(np.str_, docs), docs.values(), strict=True)) for query, docs in exact.items()}
    else:
        odd = {query: collections.OrderedDict(docs) for query, docs in exact.items()}
    evaluator = fastir.Evaluator(qrels, METRICS, n_threads=1)
    assert evaluator.evaluate(odd).values.tobytes() == evaluator.evaluate(exact).values.tobytes()
    ours, usual = f"fastir, {kind}", "fastir, exact objects"
    calls = {ours: lambda: evaluator.evaluate(odd), usual: lambda: evaluator.evaluate(exact)}
    race(f"dicts, {kind}, 1000 x 300", calls, [Goal(ours, usual, 1 / asked)], 15, 3)


# ---- leaderboards and values ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("systems", [50, 200, 1000, 10_000])
def test_rank_correlation_against_scipy(race, systems):
    stats = pytest.importorskip("scipy.stats")
    a, b = np.random.default_rng(5).random((2, systems))
    ours, theirs = "fastir, five coefficients", "SciPy, three"
    boards = [{f"s{place}": value for place, value in enumerate(values.tolist())} for values in (a, b)]
    found = fastir.rank_correlation(*boards)
    assert abs(found.tau_b - stats.kendalltau(a, b).statistic) < 1e-12
    assert abs(found.spearman - stats.spearmanr(a, b).statistic) < 1e-12
    calls = {
        ours: lambda: fastir.rank_correlation(*boards),
        theirs: lambda: (stats.kendalltau(a, b), stats.spearmanr(a, b), stats.pearsonr(a, b)),
    }
    race(f"rank correlation, {systems} systems", calls, [Goal(ours, theirs, 1)], 15, 10)


@pytest.mark.parametrize("queries", [50, 1000, 10_000])
def test_a_t_test_of_two_runs_against_scipy(race, queries):
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(6).random((2, queries))
    a, b = ({f"q{place}": value for place, value in enumerate(row.tolist())} for row in values)
    ours, theirs = "fastir.compare_scores, p-value read", "scipy.stats.ttest_rel"
    whole = "fastir.compare_scores, with wins, effect, intervals and detectable difference"
    [pair] = fastir.compare_scores({"a": a, "b": b}).pairs
    assert abs(pair.p_value - stats.ttest_rel(*values).pvalue) < 1e-12
    calls = {
        ours: lambda: fastir.compare_scores({"a": a, "b": b}).verdicts[0].adjusted_p,
        theirs: lambda: stats.ttest_rel([a[query] for query in a], [b[query] for query in a]).pvalue,
        whole: lambda: fastir.compare_scores({"a": a, "b": b}).pairs,
    }
    goals = [Goal(ours, theirs, 1 if queries >= 1000 else None), Goal(whole, theirs)]
    race(f"t test, {queries} queries", calls, goals, 15, 10)


# ---- every other call -----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def held(collection, tmp_path_factory, quick):
    for module in ("pandas", "polars", "pyarrow", "scipy.stats"):
        pytest.importorskip(module)
    return Held(collection, tmp_path_factory.mktemp("out"), quick)


@pytest.mark.parametrize("entry", ROWS)
def test_a_call_against_what_its_caller_would_write(race, held, entry):
    peer, asked, make = ROWS[entry]
    ours, theirs = make(held)
    assert entry not in SAME or SAME[entry](ours(), theirs())
    race(f"every call: {entry}", {f"fastir, {entry}": ours, peer: theirs}, [Goal(f"fastir, {entry}", peer, asked)], 9)
