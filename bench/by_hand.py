"""Evaluation written by hand, as people who hold tables do it: SQL or data frames find the ranks, NumPy does the rest.

    join and count      hits = run join qrels; the rank of a hit is how many rows of its query are not behind it
    sort and number     all rows sorted, numbered within their query, joined with the qrels

Both give the order of trec_eval, equal scores by id from behind. The qrels are prepared outside of the timing.
"""

import duckdb
import numpy as np
import polars
import pyarrow

JOIN_AND_COUNT = """
WITH hits AS MATERIALIZED (
    SELECT query_id, doc_id, score, place, label FROM run JOIN qrels USING (query_id, doc_id) WHERE label > 0
)
SELECT any_value(hits.place) AS place, any_value(hits.label) AS label, count(*) AS rank
FROM hits JOIN run ON run.query_id = hits.query_id
    AND run.score >= hits.score AND (run.score > hits.score OR run.doc_id >= hits.doc_id)
GROUP BY hits.query_id, hits.doc_id
"""


class Qrels:
    """Judgments prepared: `table` has a column more, a query's place in the order of ids; the rest is per query."""

    def __init__(self, table):
        query_ids, places = np.unique(table["query_id"].to_numpy(zero_copy_only=False), return_inverse=True)
        labels = table["label"].to_numpy()
        self.table = table.append_column("place", pyarrow.array(places))
        self.n = len(query_ids)
        self.num_rel = np.bincount(places[labels > 0], minlength=self.n)
        best_first = np.lexsort((-labels, places))
        places, labels = places[best_first], labels[best_first]
        ranks = np.arange(len(places)) - np.searchsorted(places, places) + 1
        self.ideal = self.dcg(places, labels, ranks)

    def dcg(self, places, labels, ranks, k=10):
        gains = np.maximum(labels, 0) / np.log2(ranks + 1.0)
        return np.bincount(places, gains * (ranks <= k), self.n)

    def values(self, places, labels, ranks):
        """ndcg@10, map, mrr, P@10, recall@100 of every query from its relevant hits: shape (n_queries, 5)."""
        order = np.lexsort((ranks, places))
        places, labels, ranks = places[order], labels[order], ranks[order].astype(float)
        found = np.arange(len(places)) - np.searchsorted(places, places) + 1
        num_rel = np.maximum(self.num_rel, 1)
        return np.stack([
            self.dcg(places, labels, ranks) / np.maximum(self.ideal, 1e-300),
            np.bincount(places, found / ranks, self.n) / num_rel, np.bincount(places, (found == 1) / ranks, self.n),
            np.bincount(places, ranks <= 10, self.n) / 10, np.bincount(places, ranks <= 100, self.n) / num_rel,
        ], axis=1)  # fmt: skip


def in_duckdb(qrels, run):
    """A function of the number of threads; both tables stay where Arrow has them, which costs DuckDB nothing here."""
    connection = duckdb.connect()
    connection.register("qrels", qrels.table)
    connection.register("run", run)

    def call(threads):
        connection.execute(f"SET threads = {threads}")
        hits = connection.execute(JOIN_AND_COUNT).fetchnumpy()
        return qrels.values(hits["place"], hits["label"], hits["rank"])

    return call


def sorted_in_polars(qrels, run):
    """A call that sorts all rows."""
    frame, judged = polars.from_arrow(run), relevant(qrels)

    def call():
        ordered = frame.lazy().sort(["score", "doc_id"], descending=True)
        ranked = ordered.with_columns(rank=polars.int_range(1, polars.len() + 1).over("query_id"))
        return values_of(qrels, ranked.join(judged, on=["query_id", "doc_id"]))

    return call


def counted_in_polars(qrels, run):
    """A call that joins and counts."""
    frame, judged = polars.from_arrow(run), relevant(qrels)

    def call():
        score, doc_id = polars.col("score"), polars.col("doc_id")
        other_score, other_doc_id = polars.col("score_right"), polars.col("doc_id_right")
        hits = frame.lazy().join(judged, on=["query_id", "doc_id"])
        pairs = hits.join(frame.lazy(), on="query_id")
        before = pairs.filter((other_score > score) | ((other_score == score) & (other_doc_id >= doc_id)))
        counted = before.group_by("query_id", "doc_id").agg(polars.col("place", "label").first(), rank=polars.len())
        return values_of(qrels, counted)

    return call


def relevant(qrels):
    return polars.from_arrow(qrels.table).filter(polars.col("label") > 0).lazy()


def values_of(qrels, hits):
    return qrels.values(*(column.to_numpy() for column in hits.select("place", "label", "rank").collect()))
