"""Results into files, beside those who write the same numbers: pandas and polars tables, the standard library JSON.

Values are all different, the worst case for digits: those of a real run repeat. Nothing is timed before every file has
been read back to the same numbers. The disk makes all wait alike, so processor time is compared.
"""

import csv
import json

import numpy as np
import pytest
from timing import METRICS, Goal

import fastir
from fastir.data.results._fields import status_codes
from fastir.data.results.report import Report
from fastir.data.results.results import Results

ROUNDS = 5
SECONDS = {"tsv": 1.0, "json": 1.5, "parquet": 0.3}  # that saving may take


@pytest.fixture(scope="module", params=[0, 1 / 3], ids=["all relevant", "a third without relevant"])
def results(request, quick):
    n = 1000 if quick else 1_000_000
    rng = np.random.default_rng(20)
    query_ids = list(map(str, rng.permutation(10 * n)[:n].tolist()))
    values, status = rng.random((n, len(METRICS))), (rng.random(n) < request.param) * np.uint8(2)
    return Results(query_ids, METRICS, values, status, ["mean"] * len(METRICS), Report())


def read_tsv(path):
    with open(path, newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t")
    return [list(map(float, row[1:])) for row in rows]


def read_json(path):
    with open(path) as file:
        return [list(row.values()) for row in json.load(file).values()]


def read_parquet(path):
    from pyarrow import parquet

    return parquet.read_table(path, columns=METRICS).to_pandas().to_numpy()


def write_json(results, path):
    with open(path, "w") as file:
        json.dump(results.to_dict(), file)


def without(results):
    return ", a third without relevant documents" * (len(set(results.status.values())) > 1)


def raced(race, results, folder, suffix, read, writers):
    """Race `Results.save` and functions that write the same values to a path."""
    own, other = (str(folder / f"{name}.{suffix}") for name in ("own", "other"))
    results.save(own)
    assert fastir.Results.load(own) == results
    for name, write in writers.items():
        write(other)
        assert np.array_equal(read(other), results.values), name
    calls = {"fastir": lambda: results.save(own)}
    calls |= {name: lambda write=write: write(other) for name, write in writers.items()}
    goals = [Goal("fastir", name) for name in writers]
    costs = race(f"Results.save, 10^6 queries x 5 values{without(results)}, .{suffix}", calls, goals, ROUNDS)
    race.amount("processor time", costs["fastir"].cpu, "s", SECONDS[suffix])


def test_tsv(race, results, tmp_path):
    pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    writers = {
        "pandas": lambda path: results.to_pandas().to_csv(path, sep="\t"),
        "polars": lambda path: polars.DataFrame(results).write_csv(path, separator="\t"),
    }
    raced(race, results, tmp_path, "tsv", read_tsv, writers)


def test_json(race, results, tmp_path):
    writers = {"json.dump of to_dict()": lambda path: write_json(results, path)}
    raced(race, results, tmp_path, "json", read_json, writers)


def test_parquet(race, results, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    writers = {
        "pandas": lambda path: results.to_pandas().to_parquet(path),
        "polars": lambda path: polars.DataFrame(results).write_parquet(path),
    }
    raced(race, results, tmp_path, "parquet", read_parquet, writers)


@pytest.mark.parametrize(("suffix", "asked"), [("tsv", 0.7), ("parquet", 0.7)])
def test_loading(race, results, tmp_path, suffix, asked):
    """Beside reading the values and ids of the same file, without the checks, the head and ids as Python strings."""
    polars = pytest.importorskip("polars")
    path = str(tmp_path / f"saved.{suffix}")
    results.save(path)
    readers = {
        "tsv": lambda: polars.read_csv(path, separator="\t", skip_lines=1),
        "parquet": lambda: polars.read_parquet(path),
    }
    assert fastir.load_results(path) == results
    assert np.array_equal(readers[suffix]().select(METRICS).to_numpy(), results.values)
    calls = {"fastir, load_results": lambda: fastir.load_results(path), "polars, reading": readers[suffix]}
    race(f"load_results, 10^6 queries x 5 values{without(results)}, .{suffix}", calls, [Goal(*calls, asked)], ROUNDS)


def test_loading_json(race, quick, results, tmp_path):
    orjson = pytest.importorskip("orjson")
    path = str(tmp_path / "saved.json")
    n = 1000 if quick else 7000
    few = Results(
        results.query_ids[:n], METRICS, results.values[:n].copy(), status_codes(results)[:n], ["mean"] * len(METRICS),
        Report(),
    )  # fmt: skip
    few.save(path)
    assert fastir.load_results(path) == few
    content = (tmp_path / "saved.json").read_bytes()
    calls = {"fastir, load_results": lambda: fastir.load_results(path), "orjson": lambda: orjson.loads(content)}
    race(f"load_results, 7000 queries x 5 values{without(few)}, .json", calls, [Goal(*calls, 0.8)], ROUNDS)


@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "in no order"])
def test_saving_a_run(race, quick, tmp_path, in_order):
    """Beside a loop that writes the lines of rankings in the order in which they are held."""
    rng = np.random.default_rng(3)
    run = {}
    for query in range(5 if quick else 50):
        scores = rng.random(1000)
        scores = (np.sort(scores)[::-1] if in_order else scores).tolist()
        run[f"q{query}"] = {f"doc-{place}": score for place, score in enumerate(scores)}
    held, paths = fastir.Run.from_dict(run), [str(tmp_path / name) for name in ("own.run", "other.run")]

    def loop():
        with open(paths[1], "w") as file:
            for query, docs in run.items():
                for rank, (doc, score) in enumerate(docs.items(), 1):
                    file.write(f"{query} Q0 {doc} {rank} {score!r} fastir\n")

    held.save(paths[0])
    loop()
    if in_order:
        assert (tmp_path / "own.run").read_bytes() == (tmp_path / "other.run").read_bytes()
    calls = {"fastir, Run.save": lambda: held.save(paths[0]), "a loop": loop}
    race(f"Run.save, {len(run)} x 1000, in {'' if in_order else 'no '}order", calls, [Goal(*calls)], ROUNDS)
