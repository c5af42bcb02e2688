"""A small collection, and a folder of Parquet files of its run, for the tests of places and of Parquet."""

import fastir

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}, "007": {"d3": 1}}
RUN = {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d1": 0.5, "d9": 0.75}, "007": {"d3": 1.0, "d1": 2.0}}
METRICS = ["ndcg@10", "map", "num_ret"]


def table_of(nested, number="score"):
    import pyarrow

    rows = [(query, doc, value) for query, docs in nested.items() for doc, value in docs.items()]
    return pyarrow.table(dict(zip(("query_id", "doc_id", number), zip(*rows, strict=True), strict=True)))


def expected():
    return fastir.evaluate(QRELS, RUN, METRICS)


def written(folder):
    """A folder of Parquet files, with a file per query and what Spark leaves beside them."""
    from pyarrow import parquet

    folder.mkdir()
    for number, query in enumerate(RUN):
        parquet.write_table(table_of({query: RUN[query]}), folder / f"part-{number}.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"x")
    return folder
