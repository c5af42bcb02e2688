"""Files of other tools as judgments and runs, beside the loop that a caller would write to convert them first."""

import csv
import json

import numpy as np
import pytest
import workloads
from timing import Goal

import fastir

QUERIES, DEPTH, FEATURES, ROUNDS = 1000, 100, 46, 5
ASKED = 1 / 1.1  # a tenth is noise


@pytest.fixture(scope="module")
def labels(quick):
    """Labels of shape (n_queries, DEPTH)."""
    return np.random.default_rng(4).integers(0, 4, (20 if quick else QUERIES, DEPTH)).tolist()


def race_readers(race, title, calls, asked=ASKED):
    """Race fastir, which comes first, and the loop, once both are equal."""
    ours, loop = calls
    assert calls[ours]() == calls[loop]()
    race(title, calls, [Goal(ours, loop, asked)], ROUNDS)


def test_letor(race, labels, tmp_path):
    rng = np.random.default_rng(5)
    path, scores = tmp_path / "train.txt", tmp_path / "scores.txt"
    with path.open("w") as file:
        for query, row in enumerate(labels):
            for place, label in enumerate(row):
                features = " ".join(f"{number}:{value:.6f}" for number, value in enumerate(rng.random(FEATURES), 1))
                file.write(f"{label} qid:{query} {features} #docid = GX{query}-{place:05d} inc = 1 prob = 0.1\n")
    scores.write_text("".join(f"{score!r}\n" for score in rng.random(len(labels) * DEPTH).tolist()))

    def rows(numbers=None):
        data = {}
        with path.open() as file:
            for line in file:
                before, _, comment = line.partition("#")
                label, qid, _ = before.split(None, 2)
                number = int(label) if numbers is None else float(next(numbers))
                data.setdefault(qid[4:], {})[comment.split()[2]] = number
        return data

    def run():
        with scores.open() as file:
            return fastir.Run.from_dict(rows(file))

    calls = {
        "fastir, LETOR": lambda: fastir.Qrels.from_file(path),
        "a loop over the lines": lambda: fastir.Qrels.from_dict(rows()),
        "fastir, scores": lambda: fastir.Run.from_file(scores, rows=path),
        "a loop over both files": run,
    }
    ours, loop, scored, looped = calls
    assert calls[ours]() == calls[loop]() and calls[scored]() == calls[looped]()
    race("LETOR, 1000 x 100, 46 features", calls, [Goal(ours, loop, ASKED), Goal(scored, looped, ASKED)], ROUNDS)


def test_rre(race, labels, tmp_path):
    queries = []
    for query, row in enumerate(labels):
        grades = {}
        for place, label in enumerate(row):
            grades.setdefault(str(label), []).append(f"d{query}-{place}")
        queries.append({"placeholders": {"$query": f"q{query}"}, "relevant_documents": grades})
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps({"index": "i", "queries": queries}))

    def loop():
        data = json.loads(path.read_text())["queries"]
        return fastir.Qrels.from_dict({
            one["placeholders"]["$query"]: {
                doc: int(grade) for grade, docs in one["relevant_documents"].items() for doc in docs
            }
            for one in data
        })  # fmt: skip

    calls = {"fastir, RRE": lambda: fastir.Qrels.from_file(path), "json.loads, a loop": loop}
    race_readers(race, "RRE, 1000 x 100", calls, 1 / 2.5)  # which sees duplicate keys


def test_quepid(race, labels, tmp_path):
    path = tmp_path / "ratings.csv"
    rows = [f"words of {q},d{d},{label}\n" for q, row in enumerate(labels) for d, label in enumerate(row)]
    path.write_text("".join(["query,docid,rating\n", *rows]))

    def loop():
        data = {}
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                data.setdefault(row["query"], {})[row["docid"]] = float(row["rating"])
        return fastir.Qrels.from_dict(data)

    race_readers(
        race, "Quepid, 1000 x 100", {"fastir, Quepid": lambda: fastir.Qrels.from_file(path), "csv, a loop": loop}
    )


def test_means_of_raters(race, labels):
    polars = pytest.importorskip("polars")
    columns = {"query_id": [], "doc_id": [], "label": []}
    for query, row in enumerate(labels):
        columns["query_id"] += [f"q{query}"] * (3 * DEPTH)
        columns["doc_id"] += [f"d{place}" for place in range(DEPTH) for _ in range(3)]
        columns["label"] += [(label + rater) % 4 for label in row for rater in range(3)]
    table = polars.DataFrame(columns)

    def first():
        groups = table.group_by(["query_id", "doc_id"], maintain_order=True)
        return fastir.Qrels.from_table(groups.agg(polars.col("label").mean()))

    calls = {"fastir, means": lambda: fastir.Qrels.from_table(table, duplicates="mean"), "polars first": first}
    race_readers(race, "three raters, 1000 x 100", calls, 1 / 4)  # each pair of rows is looked at


CELLS = {
    "blanks": (" ".join, str.split),
    "commas": (",".join, lambda cell: cell.split(",")),
    "JSON": (json.dumps, json.loads),
}


@pytest.mark.parametrize("form", CELLS)
def test_lists_in_cells(race, labels, form):
    pandas = pytest.importorskip("pandas")
    write, split = CELLS[form]
    lists = [[f"d{query:04d}{place:06d}" for place in range(DEPTH)] for query in range(len(labels))]
    column, relevant = pandas.Series(list(map(write, lists))), [ids[3:5] for ids in lists]
    calls = {
        f"fastir, {form}": lambda: fastir.evaluate_lists(column, relevant, "mrr")["mrr"],
        "split first": lambda: fastir.evaluate_lists(list(map(split, column)), relevant, "mrr")["mrr"],
    }
    race_readers(race, f"cells of 100 ids with {form}, 1000", calls)


def test_json_lists(race, labels, tmp_path):
    path = tmp_path / "lists.json"
    path.write_text(json.dumps({f"q{q}": [f"d{q}-{place}" for place in range(DEPTH)] for q in range(len(labels))}))
    calls = {
        "fastir, lists": lambda: fastir.Qrels.from_file(path),
        "json.loads": lambda: fastir.Qrels.from_dict(json.loads(path.read_text())),
    }
    race_readers(race, "JSON lists, 1000 x 100", calls)


def pair_lists(labels):
    """{query: relevant ids}, and (query, document) rows of them."""
    lists = {f"q{query}": [f"d{query}-{place}" for place in range(DEPTH)] for query in range(len(labels))}
    return lists, [(query, doc) for query, docs in lists.items() for doc in docs]


def test_judgments_without_labels(race, labels, tmp_path):
    polars = pytest.importorskip("polars")
    _, rows = pair_lists(labels)
    table = polars.DataFrame(rows, schema=["query_id", "doc_id"], orient="row")
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{query}\t{doc}\n" for query, doc in rows))

    def loop():
        data = {}
        with path.open() as file:
            for line in file:
                query, doc = line.split()
                data.setdefault(query, []).append(doc)
        return fastir.Qrels.from_dict(data)

    calls = {
        "fastir, table": lambda: fastir.Qrels.from_table(table),
        "with labels first": lambda: fastir.Qrels.from_table(table.with_columns(label=polars.lit(1))),
        "fastir, text": lambda: fastir.Qrels.from_file(path),
        "a loop over the lines": loop,
    }
    ours, labelled, text, looped = calls
    assert calls[ours]() == calls[labelled]() == calls[text]() == calls[looped]()
    race("pairs, 1000 x 100", calls, [Goal(ours, labelled, ASKED), Goal(text, looped, ASKED)], ROUNDS)


def test_scored_pairs(race, labels):
    judged = {f"q{query}": [(f"d{query}-{n}", n % 7) for n in range(DEPTH)] for query in range(len(labels))}
    run = {query: [(doc, (n * 37 % 101) / 7) for n, (doc, _) in enumerate(pairs)] for query, pairs in judged.items()}
    qrels = fastir.Qrels.from_dict(judged)
    calls = {
        "fastir, pairs": lambda: fastir.evaluate(qrels, run, "map")["map"],
        "dicts first": lambda: fastir.evaluate(qrels, {q: dict(pairs) for q, pairs in run.items()}, "map")["map"],
    }
    race_readers(race, "pairs with scores, 1000 x 100", calls)


def test_objects_of_ranx(race, labels):
    ranx = pytest.importorskip("ranx")
    data = {f"q{q}": {f"d{n}": (n * 37 % 101) / 7 for n in range(DEPTH)} for q in range(len(labels))}
    qrels, run = fastir.Qrels.from_dict({query: {"d3": 1} for query in data}), ranx.Run(data)
    calls = {
        "fastir, ranx": lambda: fastir.evaluate(qrels, run, "map")["map"],
        "to_dict() first": lambda: fastir.evaluate(qrels, dict(run.to_dict()), "map")["map"],
    }
    race_readers(race, "ranx.Run, 1000 x 100", calls)


@pytest.mark.parametrize("form", ["object", "array", "escapes", "jsonl", "parquet"])
def test_files_of_lists(race, labels, form, tmp_path):
    lists, _ = pair_lists(labels)
    if form == "escapes":
        lists = {query: [f'"{doc}\u00e9' for doc in docs] for query, docs in lists.items()}
    records = [{"query_id": query, "retrieved": docs} for query, docs in lists.items()]
    path = tmp_path / f"lists.{form if form in ('jsonl', 'parquet') else 'json'}"
    if form == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(records), path)
    elif form == "jsonl":
        pytest.importorskip("pyarrow")
        path.write_text("".join(json.dumps(row) + "\n" for row in records))
    else:
        path.write_text(json.dumps(records if form == "array" else lists))
    qrels = fastir.Qrels.from_dict({query: docs[3:5] for query, docs in lists.items()})

    def read():
        if form == "parquet":
            rows = parquet.read_table(path).to_pylist()
        elif form == "jsonl":
            with path.open() as file:
                rows = list(map(json.loads, file))
        else:
            data = json.loads(path.read_text())
            if form != "array":
                return data
            rows = data
        return {row["query_id"]: row["retrieved"] for row in rows}

    calls = {
        f"fastir, {form}": lambda: fastir.evaluate(qrels, path, "map")["map"],
        "a dict of lists first": lambda: fastir.evaluate(qrels, read(), "map")["map"],
    }
    race_readers(race, f"lists in files, {form}, 1000 x 100", calls)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("order", ["grouped by query", "in no order"])
def test_files_of_rows(race, form, order, tmp_path):
    """The run, and the qrels too, as files of columns that polars reads first."""
    polars = pytest.importorskip("polars")
    qrels, run = map(polars.DataFrame, workloads.passage_columns(50, shuffle=order == "in no order"))
    paths = [tmp_path / f"{name}.{form}" for name in ("qrels", "run")]
    for path, rows in zip(paths, (qrels, run), strict=True):
        rows.write_csv(path) if form == "csv" else rows.write_parquet(path)
    read = polars.read_csv if form == "csv" else polars.read_parquet
    calls = {
        f"fastir, {form}": lambda: fastir.evaluate(*paths, "map")["map"],
        "polars first": lambda: fastir.evaluate(*map(read, paths), "map")["map"],
    }
    race_readers(race, f"rows in files, {form}, {order}, 50 x 1000", calls)
