"""The ways in which fastir is given a collection: each returns Results, or None where it cannot be given so."""

import tempfile
from pathlib import Path

import gen
import numpy as np

import fastir

FOLDER = tempfile.TemporaryDirectory(prefix="parity-")


def as_dicts(case, metrics, **options):
    return fastir.evaluate(case.qrels, case.run, metrics, **options)


def as_objects(case, metrics, **options):
    return fastir.evaluate(fastir.Qrels.from_dict(case.qrels), fastir.Run.from_dict(case.run), metrics, **options)


def as_files(case, metrics, **options):
    """TREC files, which cannot hold a query without documents."""
    if not (flat(case) and full(case)):
        return None
    qrels = gen.write_qrels(Path(FOLDER.name, "qrels.txt"), case.qrels)
    run = gen.write_run(Path(FOLDER.name, "run.txt"), case.run)
    return fastir.evaluate(qrels, run, metrics, **options)


def as_frames(case, metrics, **options):
    return in_tables("pandas", "DataFrame", case, metrics, options)


def as_arrow(case, metrics, **options):
    return in_tables("pyarrow", "table", case, metrics, options)


def in_tables(library, kind, case, metrics, options):
    """Tables of a library, if it is installed."""
    if not (flat(case) and full(case)):
        return None
    try:
        table = getattr(__import__(library), kind)
    except ImportError:
        return None
    return fastir.evaluate(
        table(columns(case.qrels, "label", int)), table(columns(case.run, "score", float)), metrics, **options
    )


def columns(mapping, name, kind):
    rows = [(query, doc, kind(number)) for query, docs in mapping.items() for doc, number in docs.items()]
    queries, docs, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return {"query_id": list(queries), "doc_id": list(docs), name: list(numbers)}


def as_arrays(case, metrics, **options):
    """Labels and scores with the sizes of the queries, where the judged documents are those of the rankings."""
    if not flat(case) or case.qrels.keys() != case.run.keys():
        return None
    if any(case.qrels[query].keys() != docs.keys() for query, docs in case.run.items()):
        return None
    labels, scores, sizes = rows_of(case)
    return fastir.evaluate_scores(labels, scores, metrics, qid=np.repeat(list(case.qrels), sizes), **options)


def rows_of(case):
    """Labels, scores and the sizes of the queries, in the order of the qrels; documents in that of the run."""
    pairs = [(query, doc) for query in case.qrels for doc in case.run[query]]
    return (
        np.array([case.qrels[query][doc] for query, doc in pairs], np.int64),
        np.array([case.run[query][doc] for query, doc in pairs]),
        np.array([len(case.run[query]) for query in case.qrels]),
    )


def flat(case):
    """Whether the judgments have no subtopics."""
    return not any(isinstance(label, dict) for docs in case.qrels.values() for label in docs.values())


def full(case):
    return all(case.qrels.values()) and all(case.run.values()) and case.run


WAYS = {
    "dict": as_dicts, "objects": as_objects, "file": as_files, "pandas": as_frames, "arrow": as_arrow,
    "arrays": as_arrays,
}  # fmt: skip
