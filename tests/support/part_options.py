"""Every option of `evaluate` with a value, and a metric that reads it, for tests of parts and of Spark."""

import spark_rows

QRELS, ROWS = spark_rows.data()
QUERIES = list(QRELS)
LISTED = [(query, doc) for query, docs in QRELS.items() for doc, label in docs.items() if label > 0]
COSTS = {f"d{doc}": 1.0 + doc for doc in range(60)}
GROUPS = {f"d{doc}": {"ab"[doc % 2]: 1.0} for doc in range(60)}
TARGET = {"a": 0.25, "b": 0.75}
WITH = {  # other options, without which one says nothing
    "aggregate": {"parents": {"d1": "d2", "d3": "d2"}},
    "over_budget": {"doc_costs": COSTS},
    "at_least_one": {"doc_costs": COSTS},
    "doc_groups": {"target": TARGET},
    "target": {"doc_groups": GROUPS},
}
PLAIN = ("ndcg@10", "map", "num_ret")

# {option: (value, metrics)}
VALUES = {
    "convention": ("trec_eval-9", PLAIN),
    "columns": ({"score": "score"}, PLAIN),
    "qrels_columns": ({"label": "grade"}, PLAIN),
    "set_ranks": ("sets", PLAIN),
    "run_columns": ({"score": "score"}, PLAIN),
    "label": (2, PLAIN),
    "duplicates": ("max", PLAIN),
    "validate": ("judged", PLAIN),
    "parents": ({"d1": "d2", "d3": "d2"}, PLAIN),
    "aggregate": ("sum", PLAIN),
    "exclude": ({"q5": ["d1", "d2"]}, PLAIN),
    "ties": ("doc_id_asc", PLAIN),
    "min_score": (8.0, PLAIN),
    "score_dtype": ("float32", PLAIN),
    "n_threads": (1, PLAIN),
    "queries": ("intersection", PLAIN),
    "rel_level": (2, PLAIN),
    "judged_only": (True, PLAIN),
    "max_depth": (7, PLAIN),
    "weights": ({query: 1.0 + place for place, query in enumerate(QUERIES)}, PLAIN),
    "empty": ("skip", PLAIN),
    "short_rankings": ("clip", ("p@50",)),
    "empty_ranking": ("skip", ("p@5",)),
    "average": ("micro", ("recall@5",)),
    "over_budget": ("skip", ("recall(budget=300)",)),
    "at_least_one": (True, ("recall(budget=3)",)),
    "recall_norm": ("min_kR", ("recall@5",)),
    "f_weight": ("beta", ("f1@5",)),
    "ap_norm": ("hits", ("map@5",)),
    "no_hit": ("skip", ("mrr",)),
    "one_class": ("zero", ("auc",)),
    "rounding": ("v9", ("11pt_avg",)),
    "unranked": ("nan", ("auc",)),
    "bpref_norm": ("R", ("bpref",)),
    "negatives": ("skip", ("ndcg@5",)),
    "gain": ("exp2", ("ndcg@5",)),
    "discount": ("jk2", ("ndcg@5",)),
    "ideal": ("retrieved", ("ndcg@5",)),
    "rank_one": ("raw", ("ndcg@5",)),
    "gains": ({1: 3.0, 2: 9.0}, ("ndcg@5",)),
    "rbp_norm": ("cwl", ("rbp(p=0.8)",)),
    "tail": ("always", ("rbp(p=0.8)",)),
    "max_grade": (4, ("err@5",)),
    "depth": (5, ("ndcg@5",)),
    "normalize": (True, ("err@5",)),
    "missing_documents": ("zero", ("mean_rank",)),
    "wanted": ("nearest", ("p@5",)),
    "n_docs": (100, ("fallout@5",)),
    "self_normalized": (True, ("p@5",)),
    "forbidden": ({"q5": ["d59"]}, ("forbidden_rate@5", "map")),
    "forbidden_level": (0, ("forbidden_rate@5", "map")),
    "unanswerable": (["none of them"], PLAIN),
    "doc_groups": (GROUPS, ("awrf@10",)),
    "target": (TARGET, ("awrf@10",)),
    "doc_costs": (COSTS, ("recall(budget=300)", "cost_first_rel")),
    "doc_weights": (COSTS, PLAIN),
    "ties_report": (True, PLAIN),
}


def judgments(name):
    """The qrels, as a table where the option needs columns."""
    rows = [(query, doc, label) for query, docs in QRELS.items() for doc, label in docs.items()]
    if name == "label":
        return spark_rows.table([row[:2] for row in rows if row[2] > 0], ("query_id", "doc_id"))
    return spark_rows.table(rows, ("query_id", "doc_id", "grade")) if name == "qrels_columns" else QRELS


def request(name):
    """Qrels, metrics and options of a row."""
    value, metrics = VALUES[name]
    return judgments(name), metrics, {"queries": "qrels", **WITH.get(name, {}), name: value}
