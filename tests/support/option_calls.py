"""Every public function with a call on a small rich collection, and for each option values that must matter."""

import dataclasses
import importlib.util
import inspect
import itertools
import json
import pathlib
import re
import tempfile
import warnings
from typing import Any, NamedTuple

import numpy as np

import fastir
from fastir.analyses.compare import keywords as of_scores
from fastir.analyses.identify.search import READING_OPTIONS
from fastir.data.rankings import ranking_arrays
from fastir.evaluation import keywords as of_evaluate
from fastir.request import keywords as of_values
from fastir.request.options import choice_params

# ---- a collection: graded and negative labels, ties, unjudged documents, queries on one side only -------------------
QRELS = {
    "q1": {"a": 3, "b": 1, "c": 0, "d": -1, "e": 2, "f": 1}, "q2": {"g": 1, "h": 2, "i": 0, "q2": 1},
    "q3": {"j": 0, "k": 0}, "q4": {"l": 2, "m": 1}, "q5": {"n": 1, "o": 3, "p": 1, "w5": 1},
    "q6": {"s": 2, "t": 1, "v": 1}, "q7": {"w": 1}, "absent": {"r": 1},
}  # fmt: skip
RUN = {
    "q1": {"a1": 9.5, "u1": 9.1, "b": 9.0, "c": 7.0, "a": 7.0 - 1e-9, "e": 6.0, "e1": 5.9, "d": 5.0, "u2": 4.0},
    "q2": {"q2": 9.0, "i": 8.0, "h": 8.0, "u3": 8.0, "g": 3.0}, "q3": {"j": 2.0, "u4": 1.0},
    "q4": {"u5": 3.0, "m": 2.0, "aa": 2.0, "l": 2.0 - 1e-9},
    "q5": {"p": -1.0, "u6": -1.0, "n": -2.0, "o1": -2.5, "o": -3.0}, "q6": {"s": 1.0}, "q7": {},
    "elsewhere": {"x": 1.0},
}  # fmt: skip
OTHER = {
    "q1": {"a": 9.0, "e": 8.0, "u2": 7.0, "b": 6.0, "f": 6.0}, "q2": {"h": 5.0, "g": 4.0, "u3": 3.0},
    "q3": {"u4": 3.0, "k": 1.0}, "q4": {"l": 3.0, "u5": 2.0}, "q5": {"o": 4.0, "n": 3.5, "u7": 3.0},
    "q6": {"s": 2.0},
}  # fmt: skip
RUNS = {"run": RUN, "other": OTHER}
PARENTS = {"a1": "a", "e1": "e", "o1": "o"}
WEIGHTS = {"q1": 1.0, "q2": 5.0, "q3": 2.0, "q4": 1.0, "q5": 4.0, "q6": 3.0, "q7": 1.0, "absent": 1.0}
DOC_WEIGHTS = {doc_id: 1.0 + n % 3 for n, doc_id in enumerate([*"abcdefghijklmnoprstvw", "w5"])} | {"q2": 2.0}
DOC_COSTS = {doc_id: 1 for rankings in (RUN, OTHER) for docs in rankings.values() for doc_id in docs}
DOC_WEIGHTS_TOO = dict.fromkeys(DOC_WEIGHTS, 1.0)
SHARES = {doc_id: {"m": n % 3 / 2, "f": 1 - n % 3 / 2} for n, doc_id in enumerate(DOC_WEIGHTS)}
SEGMENTS = {"q1": "x", "q2": "x", "q3": "y", "q4": "y", "q5": "x", "q6": "y", "q7": "x", "absent": "y"}
SUBTOPICS = {q: {"1": docs, "2": dict.fromkeys(list(docs)[:2], 1)} for q, docs in QRELS.items()}


def columns(dicts, names):
    """Rankings or judgments as a table with columns of these names."""
    rows = [(q, doc_id, value) for q, docs in dicts.items() for doc_id, value in docs.items()]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


QRELS_TABLE = columns(QRELS, ("query_id", "doc_id", "label"))
RUN_TABLE = columns(RUN, ("query_id", "doc_id", "score"))
RUN_UNNAMED = columns(RUN, ("query_id", "number", "score"))
QRELS_UNNAMED = columns(QRELS, ("query_id", "number", "label"))
INTERACTIONS = columns(QRELS, ("query_id", "doc_id", "time"))


def repeated(table, doc_id, value):
    """A table in which a document of the first query has a second row."""
    last = list(table)[-1]
    at = table["query_id"].index("q2")
    copy = {name: list(column) for name, column in table.items()}
    for name, cell in zip(("query_id", "doc_id", last), ("q1", doc_id, value), strict=True):
        copy[name].insert(at, cell)
    return copy


REPEATED = repeated(RUN_TABLE, "a", 9.5)
UNJUDGED_REPEATED = repeated(RUN_TABLE, "u1", 1.0)

# ---- the same rankings as arrays --------------------------------------------------------------------------------
SHARED = [q for q in QRELS if q in RUN]
ITEMS = {doc_id: n for n, doc_id in enumerate(dict.fromkeys(d for q in QRELS for d in (*QRELS[q], *RUN.get(q, ()))))}
ranked_ids = [sorted(RUN[q], key=lambda doc_id, q=q: -RUN[q][doc_id]) for q in SHARED]
LABELS = np.array([QRELS[q].get(d, -1) for q, docs in zip(SHARED, ranked_ids, strict=True) for d in docs])
SCORES = np.array([RUN[q][d] for q, docs in zip(SHARED, ranked_ids, strict=True) for d in docs])
OFFSETS = np.cumsum([0, *map(len, ranked_ids)])
IDEALS = [sorted(QRELS[q].values(), reverse=True) for q in SHARED]
IDEAL_LABELS, IDEAL_OFFSETS = np.concatenate(IDEALS), np.cumsum([0, *map(len, IDEALS)])
WIDTH = max(map(len, ranked_ids))
INDICES = np.array([[ITEMS[d] for d in docs] + [-1] * (WIDTH - len(docs)) for docs in ranked_ids])
TOPK_SCORES = np.array(
    [[RUN[q][d] for d in docs] + [0.0] * (WIDTH - len(docs)) for q, docs in zip(SHARED, ranked_ids, strict=True)]
)
MATRIX = np.array([[RUN[q].get(d, -5.0) for d in ITEMS] for q in SHARED])
RELEVANT = [{ITEMS[d]: label for d, label in QRELS[q].items()} for q in SHARED]
RATINGS = [{item: label + 0.5 for item, label in row.items()} for row in RELEVANT]
ROW_WEIGHTS = np.arange(1.0, len(SHARED) + 1)
ITEM_WEIGHTS = 1.0 + np.arange(len(ITEMS)) % 3
BACKWARDS = np.concatenate([np.arange(*ends)[::-1] for ends in itertools.pairwise(OFFSETS)])
ACCUMULATED = {"labels": None, "scores": MATRIX, "relevant": RELEVANT, "offsets": None}
THIRD = {q: {doc_id: -score for doc_id, score in docs.items()} for q, docs in RUN.items()}
THREE = RUNS | {"third": THIRD}
REPEATS = {"run": [RUN, THIRD], "other": [OTHER, RUN]}
PER_QUERY = {
    "run": {"mrr": {q: n / 9 for n, q in enumerate(QRELS)}, "map": {q: n * n / 99 for n, q in enumerate(QRELS)}},
    "other": {"mrr": {q: 1 / (1 + n) for n, q in enumerate(QRELS)}, "map": {q: n % 3 / 5 for n, q in enumerate(QRELS)}},
    "third": {"mrr": {q: n % 2 / 2 for n, q in enumerate(QRELS)}, "map": {q: n % 4 / 7 for n, q in enumerate(QRELS)}},
}
EVALUATED = fastir.evaluate_many(QRELS, THREE, ["mrr", "map"], queries="qrels")
PARTLY = {**PER_QUERY, "other": {m: {q: v for q, v in by.items() if q != "q1"} for m, by in PER_QUERY["other"].items()}}
LEADERBOARD = {"run": 0.4, "other": 0.3, "third": 0.5}
NUGGETS = [
    {"query_id": "q", "run": run, "nugget": "n", "importance": "vital", "assignment": given}
    for run, given in (("run", "support"), ("other", None))
]
CITATIONS = [
    {"query_id": "q", "sentence": 1, "citation": cited, "support": given, "nugget": "n"}
    for cited, given in (("d", "FS"), ("e", None))
]
SECOND_OPINION = {q: {d: max(label - n % 2, 0) for n, (d, label) in enumerate(row.items())} for q, row in QRELS.items()}
FOLDER = pathlib.Path(tempfile.mkdtemp())
for file_name, rankings in (("first.run", RUN), ("second.run", OTHER)):
    full = {q: docs for q, docs in rankings.items() if docs}
    lines = [f"{q} Q0 {d} 0 {score!r} tag_{file_name[0]}" for q, docs in full.items() for d, score in docs.items()]
    (FOLDER / file_name).write_text("\n".join(lines))
(FOLDER / "qrels.txt").write_text("".join(f"{q} 0 {d} {n}\n" for q, docs in QRELS.items() for d, n in docs.items()))
FILES = [FOLDER / "first.run", FOLDER / "second.run"]


JUDGE = {q: {d: min(label, 1) for d, label in row.items()} for q, row in QRELS.items()}
HUMAN = {q: {d: label for d, label in row.items() if d not in "hmo"} for q, row in QRELS.items()}
UNDER_JUDGE = {"judge_qrels": JUDGE, "human_qrels": HUMAN, "metrics": ["ndcg@5", "map", "p@3"], "n_draws": 100}
REFUSED_UNDER_JUDGE = {
    "columns": {"doc_id": "number"}, "qrels_columns": {"doc_id": "number"}, "label": 2, "validate": "judged",
}  # fmt: skip
STRATA_OF_PAIRS = {q: dict.fromkeys(row, "all") for q, row in QRELS.items()}


# ---- values that must matter ------------------------------------------------------------------------------------
class Given(NamedTuple):
    """A value of an option, and arguments that the call has with and without it; `refused` is what an error says."""

    value: Any
    data: dict[str, Any] = {}
    refused: str | None = None


def given(value, **data):
    return Given(value, data)


def refused(value, message, **data):
    """A value that the call refuses, with an error that says this."""
    return Given(value, data, message)


def words(*values, **data):
    return [Given(value, data) for value in values]


EVIDENCE = fastir.Qrels.from_sets({"q1": [["a", "b"], ["e"]]})
QRELS_OF_SAMPLES = {"q1": {"a": 1, "b": 1, "c": 0}}
VALUES = {
    # metrics, by what they read
    "empty": words("one", "skip", "nan", metrics="ndcg"),
    "gain": [*words("exp2", "binary", metrics="dcg@5"), given({1: 5.0}, metrics="dcg@5")],
    "discount": words("jk2", metrics="dcg@5"),
    "ideal": words("retrieved", "num_ret", metrics="ndcg@9") + words("full", metrics="ideal_dcg@9"),
    "ap_norm": words("min_kR", "hits", "min_nkR", metrics="map@2"), "short_rankings": words("clip", metrics="p@9"),
    "rounding": words("v9", metrics="iprec_avg"), "unranked": words("nan", metrics="iprec@0.1"),
    "one_class": words("zero", metrics="auc"), "gains": words("scaled", "raw", metrics="rbp"),
    "rbp_norm": words("cwl", metrics="rbp(p=0.995)"), "bpref_norm": words("R", "min_nan", metrics="bpref"),
    "negatives": words("nonrel", metrics="bpref"), "f_weight": words("beta", metrics="set_f(x=3)"),
    "max_grade": words(7, "query", metrics="err"), "tail": words("always", metrics="rbp_resid@2"),
    "rank_one": words("raw", metrics="alpha_dcg@1", qrels=SUBTOPICS), "normalize": words("false", metrics="compat"),
    "missing_documents": words("zero", metrics="compat"), "depth": words(1, metrics="compat"),
    "metrics": words("map"),
    "average": words("micro", metrics="recall@2"),
    "recall_norm": words("min_kR", metrics="recall@2"), "no_hit": words("zero", metrics="first_rel"),
    "empty_ranking": words("skip", metrics="ndcg@5"), "wanted": words("nearest", metrics="wss(n_docs=20)@0.5"),
    "n_docs": words(20, metrics="fallout@3"),
    "self_normalized": words("false", metrics="weighted_precision@2", doc_weights=DOC_WEIGHTS),
    # evaluations
    "rel_level": words(2, 1.5, metrics="map"), "queries": [*words("intersection", "strict"), given(["q1", "q2"])],
    "ties": words("doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic", "average"),
    "judged_only": words(True), "max_depth": words(2), "score_dtype": words("float32"),
    "min_score": words(0.5),
    "duplicates": words("first", "last", "max", "once", run=REPEATED), "parents": words(PARENTS),
    "aggregate": words("sum", "mean", parents=PARENTS),
    "exclude": [*words("query_id"), given({"q1": ["b"], "q2": ["i"]})],
    "forbidden": words({"q1": ["u1"]}, metrics="forbidden_hits@3"),
    "doc_groups": words({"a": {"m": 1}}, target={"m": 0.5, "f": 0.5}, metrics="awrf@3"),
    "target": words({"m": 0.5, "f": 0.5}, doc_groups={"a": {"m": 1}}, metrics="awrf@3"),
    "forbidden_level": words(0, metrics="forbidden_hits@3"), "ties_report": words(True),
    "unanswerable": words(["elsewhere"]),
    "validate": words("judged", run=UNJUDGED_REPEATED), "columns": words({"doc_id": "number"}, run=RUN_UNNAMED),
    "qrels_columns": words({"doc_id": "number"}, qrels=QRELS_UNNAMED), "label": words(2, qrels=INTERACTIONS),
    "run_columns": words({"doc_id": "number"}, run=RUN_UNNAMED), "weights": words(WEIGHTS),
    "doc_costs": words(dict.fromkeys(DOC_COSTS, 2), metrics="recall(budget=3)", doc_costs=DOC_COSTS),
    "over_budget": words("skip", metrics="recall(budget=1)", doc_costs=DOC_COSTS | {"a1": 9, "u1": 9, "q2": 9}),
    "at_least_one": words("true", metrics="precision(budget=0.5)", doc_costs=DOC_COSTS),
    "set_ranks": words("sets", metrics="evidence_recall@4", qrels=EVIDENCE),
    "doc_weights": words(DOC_WEIGHTS_TOO, metrics="psp@3", doc_weights=DOC_WEIGHTS),
    "convention": words("ir_measures", "lightgbm"),
    # comparisons
    "names": [given(["x", "y"], runs=FILES), given("tag", runs=FILES), given("file", runs=FILES)],
    "baseline": words("other", runs=THREE),
    "test": words("wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized_tukey"),
    "n_resamples": words(7, test="bootstrap"), "correction": words(None, "bonferroni", runs=THREE),
    "family": words("all", runs=THREE), "confidence": words(0.5), "interval": words("percentile", "bca"),
    "effect": words("hedges_g"), "seeds": words("mean", "folds", runs=REPEATS), "segments": words(SEGMENTS),
    "clusters": words(SEGMENTS),
    "random_state": words(5, test="bootstrap", n_resamples=50), "bounds": words(True), "unseen": words(3),
    # pools and judgments
    "pool_depth": words(1), "teams": words({"run": "us", "other": "us"}), "max_label": words(7),
    "kappa_weights": words("linear", None), "scale": words("interval"),
    # curves
    "points": words((0.5,)),
}  # fmt: skip


# ---- calls ------------------------------------------------------------------------------------------------------
class Call(NamedTuple):
    """A public function with the arguments of a call, and `read`, which makes of what it returns what is compared."""

    function: Any
    base: dict[str, Any]
    read: Any = None
    more: tuple[str, ...] = ()  # options that no signature shows

    def __call__(self, **options):
        result = self.function(**self.base | options)
        return result if self.read is None else self.read(result)


METRICS = ["ndcg@5", "map", "p@3"]
ONE = {"qrels": QRELS, "run": RUN, "metrics": METRICS}
MANY = {"qrels": QRELS, "runs": RUNS, "metrics": METRICS}
RELATED = {"scores": MATRIX, "relevant": RELEVANT, "metrics": METRICS}
LISTED = {"indices": INDICES, "relevant": RELEVANT, "metrics": METRICS}


def batch(**options):
    """An Accumulator with a batch of labels and scores."""
    total = fastir.Accumulator(options.pop("metrics"), **{k: options.pop(k) for k in list(options) if k not in BATCH})
    total.update(**{name: value for name, value in options.items() if value is not None})
    return total.result(), total.n_queries


BATCH = ("labels", "scores", "offsets", "relevant")


def merged(**options):
    more = repeated(QRELS_TABLE, "a", 1)
    return fastir.merge_qrels({"q1": {"new": 1}}, more, **options).to_dict()


def customized(**options):
    metric = fastir.custom_metric(**options)
    boards = [fastir.evaluate_many(QRELS, RUNS, [metric]).to_table("markdown")]
    results = fastir.evaluate(QRELS, RUN, [metric])
    return results.provenance.metrics, boards, results


def page(_):
    """The page of a report, without the record of the options."""
    return (FOLDER / "report.html").read_text("utf-8")


def checked(**options):
    """What check says, and which runs its progress names."""
    seen = {}
    return fastir.check(**{"progress": lambda name, _: seen.setdefault(name)} | options), list(seen)


def explained(**options):
    return [fastir.explain(query_id=query_id, **options) for query_id in QRELS]


def evaluator(**options):
    run = options.pop("run")
    return fastir.Evaluator(**options).evaluate(run)


def judged_values(**options):
    qrels, run = options.pop("qrels"), options.pop("run")
    return fastir.judged_rankings(qrels, run).evaluate(**options)


def with_ties(results):
    return results, [getattr(each, "_ties", None) for each in results.values()]


CALLS = {
    "evaluate": Call(fastir.evaluate, ONE), "Evaluator": Call(evaluator, ONE),
    "evaluate_many": Call(fastir.evaluate_many, MANY, with_ties),
    "evaluate_lists": Call(
        fastir.evaluate_lists, {"retrieved": ranked_ids, "relevant": [QRELS[q] for q in SHARED], "metrics": METRICS}
    ),
    "evaluate_matrix": Call(fastir.evaluate_matrix, RELATED),
    "evaluate_topk": Call(fastir.evaluate_topk, LISTED),
    "evaluate_topk with scores": Call(fastir.evaluate_topk, LISTED | {"scores": TOPK_SCORES}),
    "evaluate_ranked": Call(fastir.evaluate_ranked, {"labels": LABELS, "offsets": OFFSETS, "metrics": METRICS}),
    "evaluate_scores": Call(
        fastir.evaluate_scores,
        {"labels": LABELS[BACKWARDS], "scores": SCORES[BACKWARDS], "offsets": OFFSETS, "metrics": METRICS},
    ),
    "Accumulator": Call(
        batch, {"metrics": METRICS, "labels": LABELS[BACKWARDS], "scores": SCORES[BACKWARDS], "offsets": OFFSETS}
    ),
    "bounds": Call(fastir.bounds, ONE), "bounds against": Call(fastir.bounds, ONE | {"against": OTHER}),
    "check": Call(checked, {"qrels": QRELS, "runs": RUNS}), "compare": Call(fastir.compare, MANY),
    "explain": Call(explained, ONE),
    "explain_conventions": Call(
        fastir.explain_conventions,
        {"qrels": QRELS, "run": RUN, "query_id": "q1", "metric": "ndcg@5", "pair": ("trec_eval-10", "lightgbm")},
    ),
    "explain_ranked": Call(fastir.explain_ranked, {"labels": [3, 0, -1, 1, 2], "metric": "ndcg@5"}),
    "identify": Call(fastir.identify, {"qrels": QRELS, "run": RUN, "values": {"p@3": "0.33"}}, None, READING_OPTIONS),
    "judged_rankings": Call(fastir.judged_rankings, {"qrels": QRELS, "run": RUN}),
    "JudgedRankings.evaluate": Call(judged_values, ONE),
    "evaluate_under_judge": Call(fastir.evaluate_under_judge, UNDER_JUDGE | {"run": RUN}),
    "compare_under_judge": Call(fastir.compare_under_judge, UNDER_JUDGE | {"runs": RUNS}),
    "leave_one_out": Call(fastir.leave_one_out, MANY),
    "contributions": Call(fastir.contributions, {"qrels": QRELS, "runs": RUNS}),
    "pool": Call(fastir.pool, {"runs": RUNS, "pool_depth": 2}),
    "precision_recall_curve": Call(fastir.precision_recall_curve, {"qrels": QRELS, "run": RUN}),
    "roc_curve": Call(fastir.roc_curve, {"qrels": QRELS, "run": RUN}),
    "fuse": Call(fastir.fuse, {"runs": RUNS}, None, ("k",)),
    "tune": Call(fastir.tune, {"qrels": QRELS, "runs": RUNS, "metric": "ndcg@5", "folds": 2}),
    "to_judge": Call(fastir.to_judge, {"qrels": QRELS, "runs": RUNS, "metric": "ndcg@5", "budget": 3}),
    "compare_scores": Call(fastir.compare_scores, {"runs": PER_QUERY}),
    "evaluate_nuggets": Call(fastir.evaluate_nuggets, {"rows": NUGGETS, "metrics": "nugget_recall"}),
    "evaluate_citations": Call(fastir.evaluate_citations, {"rows": CITATIONS, "metrics": "citation_recall"}),
    "expected_exposure": Call(
        fastir.expected_exposure,
        {"qrels": QRELS, "runs": [RUN, OTHER], "doc_groups": SHARES, "target": {"m": 0.5, "f": 0.5}},
    ),
    "agreement": Call(fastir.agreement, {"a": QRELS, "b": SECOND_OPINION, "n_resamples": 50}),
    "judge_bias": Call(fastir.judge_bias, {"judge": SECOND_OPINION, "human": QRELS}),
    "rank_correlation": Call(fastir.rank_correlation, {"a": EVALUATED, "b": LEADERBOARD, "metric": "mrr"}),
    "similarity": Call(fastir.similarity, {"a": RUN, "b": OTHER}),
    "merge_qrels": Call(merged, {}),
    "custom_metric": Call(customized, {"name": "mine", "function": lambda judged: judged.num_ret / 10}),
    "write_report": Call(fastir.write_report, {"path": FOLDER / "report.html", "n_resamples": 99, **MANY}, page),
}  # fmt: skip
A, B = np.array([0.1, 0.5, 0.4, 0.9, 0.3, 0.7, 0.7]), np.array([0.2, 0.3, 0.4, 0.6, 0.5, 0.1, 0.7])
GRID = {"scores": np.stack([A, B, np.sqrt(A * B)], axis=1)}
PAIRED = {"a": A, "b": B}
MODEL = {"y": A, "y_model": B, "y_model_unlabelled": np.concatenate([B, A])}
MODELS = {"a": A, "b": B, "a_model": A * B, "b_model": B, "a_model_unlabelled": B, "b_model_unlabelled": A}
LONG = np.random.default_rng(3).normal(size=(60, 3))
STRATA = {
    "ppi_mean": ([0, 0, 0, 1, 1, 1, 1], [0, 1] * 7),
    "ppi_difference": ([0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]),
}
ARGUMENTS = {
    "confidence_sequence": {"values": A, "low": 0.0, "high": 1.0},
    "adjust": {"p_values": [0.01, 0.04, 0.03], "method": "holm"},
    "corrected_rate": {"y": [1, 1, 1, 0, 0, 0], "y_model": [1, 1, 0, 0, 0, 1], "y_model_unlabelled": [1, 0, 0] * 5},
    "labels_needed": {"half_width": 0.1, "y": A},
    "bootstrap_interval": PAIRED | {"n_resamples": 99}, "bootstrap_test": PAIRED | {"n_resamples": 99},
    "detectable": {"n_queries": 50}, "effect_size": PAIRED,
    "equivalence_test": PAIRED | {"low": -0.1, "high": 0.1}, "max_t": {"d": LONG[:, :3], "n_resamples": 99},
    "power": {"effect_size": 0.3, "n_queries": 50}, "ppi_difference": MODELS, "ppi_mean": MODEL,
    "randomization_test": {"a": LONG[:, 0], "b": LONG[:, 1], "n_resamples": 99},
    "randomized_tukey_test": GRID | {"n_resamples": 99}, "sample_size": {"effect_size": 0.3},
    "sign_test": PAIRED, "t_interval": PAIRED, "t_test": PAIRED, "tukey_test": GRID, "wilcoxon": PAIRED,
}  # fmt: skip
CALLS |= {f"stats.{name}": Call(getattr(fastir.stats, name), given) for name, given in ARGUMENTS.items()}
RESULTS = fastir.evaluate(QRELS, RUN, METRICS, queries="qrels")
COMPARED = fastir.compare(QRELS, THREE, METRICS, queries="qrels", test="bootstrap", n_resamples=99)
METHODS = {
    "Results.interval": (RESULTS.interval, {"metric": "map", "n_resamples": 99}),
    "Results.diff": (RESULTS.diff, {"other": EVALUATED["other"], "metric": "map"}),
    "Results.to_json": (RESULTS.to_json, {}), "Results.to_table": (RESULTS.to_table, {}),
    "ResultsByRun.to_json": (EVALUATED.to_json, {}), "ResultsByRun.to_table": (EVALUATED.to_table, {}),
    "Comparison.to_json": (COMPARED.to_json, {}), "Comparison.to_table": (COMPARED.to_table, {}),
    "Comparison.diff": (COMPARED.diff, {"a": "run", "b": "other", "metric": "map"}),
}  # fmt: skip
CALLS |= {name: Call(method, arguments) for name, (method, arguments) in METHODS.items()}


def board(metric, runs=("run", "other", "third")):
    return {name: EVALUATED[name][metric] for name in runs}


def qrels_read(qrels):
    return type(qrels).__name__, qrels.to_dict(), getattr(qrels, "strata", None), getattr(qrels, "probabilities", None)


def run_read(run):
    return run, run.name


def saved(data):
    """A function that returns the bytes of a file to which qrels or a run were saved."""

    def save(path, **options):
        data.save(path, **options)
        return path.read_bytes()

    return save


def picture(drawn):
    """What a picture shows: the texts, and the numbers of lines, areas and points."""
    figure = getattr(drawn, "figure", drawn)
    artists = figure.findobj()
    texts = [artist.get_text() for artist in artists if hasattr(artist, "get_text")]
    numbers = [np.ma.filled(a.get_xydata(), np.nan).tolist() for a in artists if hasattr(a, "get_xydata")]
    areas = [a.get_path().vertices.tolist() for a in artists if hasattr(a, "get_facecolor") and hasattr(a, "get_path")]
    points = [np.ma.filled(a.get_offsets(), np.nan).tolist() for a in artists if hasattr(a, "get_offsets")]
    return repr((texts, numbers, areas, points, figure.get_size_inches().tolist()))


QRELS_READ, RUN_READ = fastir.Qrels.from_dict(QRELS), fastir.Run.from_dict(OTHER)
TABLES = {"qrels": repeated(QRELS_TABLE, "b", 3), "run": REPEATED}
(FOLDER / "repeated.run").write_text(
    "".join(f"{q} Q0 {d} 0 {n!r} x\n" for q, d, n in zip(*REPEATED.values(), strict=True))
)
(FOLDER / "repeated.qrels").write_text(
    "".join(f"{q} 0 {d} {n}\n" for q, d, n in zip(*TABLES["qrels"].values(), strict=True))
)
for kind, last, dicts in (("qrels", "label", QRELS), ("run", "score", RUN)):
    rows = [f"{q},{d},{n!r}" for q, docs in dicts.items() for d, n in docs.items()]
    (FOLDER / f"unnamed.{kind}.csv").write_text("\n".join([f"query_id,number,{last}", *rows]))
    (FOLDER / "interactions.csv").write_text("\n".join(["query_id,doc_id,time", *rows]))
(FOLDER / "lines.letor").write_text("1 qid:q1 1:0 # a\n")
(FOLDER / "lines.scores").write_text("0.5\n")
(FOLDER / "responses.json").write_text(json.dumps({"responses": [{"hits": {"hits": [{"_id": "a", "_score": 1.0}]}}]}))
READ = {
    "Qrels.from_dict": (fastir.Qrels.from_dict, {"data": QRELS_OF_SAMPLES}, qrels_read),
    "Qrels.from_sets": (fastir.Qrels.from_sets, {"data": {"q1": [["a", "c"], ["b"]]}}, lambda qrels: qrels.sets),
    "Qrels.from_hops": (fastir.Qrels.from_hops, {"data": {"q1": [["a", "c"], ["b"]]}}, lambda qrels: qrels.hops),
    "Qrels.from_file": (fastir.Qrels.from_file, {"path": FOLDER / "qrels.txt"}, qrels_read),
    "Qrels.from_table": (fastir.Qrels.from_table, {"data": QRELS_TABLE}, qrels_read),
    "Run.from_dict": (fastir.Run.from_dict, {"data": RUN}, run_read),
    "Run.from_file": (fastir.Run.from_file, {"path": FILES[0]}, run_read),
    "Run.from_table": (fastir.Run.from_table, {"data": RUN_TABLE}, run_read),
    "Run.top": (RUN_READ.top, {"k": 3}, run_read),
    "Qrels.save": (saved(QRELS_READ), {"path": FOLDER / "saved.qrels"}, None),
    "Run.save": (saved(RUN_READ), {"path": FOLDER / "saved.run"}, None),
}
OWN_AXES: Any = None
if importlib.util.find_spec("matplotlib"):
    DRAWN = {
        "bounds": {"bounds": {n: fastir.bounds(QRELS, r, METRICS, queries="qrels") for n, r in RUNS.items()}},
        "cutoffs": {"qrels": QRELS, "runs": RUNS, "metric": "ndcg"},
        "differences": {"comparison": COMPARED, "a": "run", "b": "other", "metric": "map"},
        "forest": {"comparison": COMPARED, "metric": "map"},
        "leaderboards": {"a": board("mrr"), "b": board("map")},
        "means": {"comparison": COMPARED, "metric": "map"},
        "overview": {"comparison": COMPARED},
        "precision_recall": {"qrels": QRELS, "runs": RUNS},
        "rank_weights": {"metrics": ["mrr", "dcg"]},
        "ranked_cutoffs": {"lists": {"y": [0, -1, 1, 0], "x": [1, 0, 2]}, "metric": "ndcg"},
        "ranking": {"explanation": fastir.explain(QRELS, RUN, "q1", METRICS), "metric": "map"},
        "roc": {"qrels": QRELS, "runs": RUNS},
        "topics": {"comparison": COMPARED, "metric": "map"},
        "tuning": {"tuning": fastir.tune(QRELS, RUNS, "map", grid=0.5)},
        "wins": {"comparison": COMPARED, "metric": "map"},
    }
    from matplotlib.figure import Figure

    OWN_AXES = Figure(figsize=(3, 9)).subplots()
    READ |= {f"plots.{name}": (getattr(fastir.plots, name), arguments, picture) for name, arguments in DRAWN.items()}
CALLS |= {name: Call(function, arguments, read) for name, (function, arguments, read) in READ.items()}
SIGNATURES = {
    "Qrels.save": QRELS_READ.save, "Run.save": RUN_READ.save, "check": fastir.check,
    "merge_qrels": fastir.merge_qrels, "custom_metric": fastir.custom_metric, "explain": fastir.explain,
    "Evaluator": fastir.Evaluator, "Accumulator": fastir.Accumulator,
    "JudgedRankings.evaluate": fastir.JudgedRankings.evaluate,
}  # fmt: skip
HINTS = {
    name: hint
    for module in (of_values, of_evaluate, of_scores)
    for name, hint in vars(module).items()
    if hasattr(hint, "__total__")
}


def taken(name):
    """The options that the signature of a call shows, with those of the TypedDict of its **options."""
    function = SIGNATURES.get(name, CALLS[name].function)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            hints = re.findall(r"\w+", str(parameter.annotation))
            found += [option for hint in hints if hint in HINTS for option in every_key(HINTS[hint])]
        elif parameter.default is not parameter.empty:
            found.append(parameter.name)
    found += CALLS[name].more
    return list(dict.fromkeys(found))


def every_key(hint):
    return hint.__annotations__


EVERY = [*inspect.signature(fastir.Evaluator).parameters][2:-1]


def also(name):
    """The options of `evaluate` and of metrics that a call with **options lacks, and must refuse."""
    function = SIGNATURES.get(name, CALLS[name].function)
    open_ended = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
    known = [*inspect.signature(function).parameters, *taken(name)]
    return [option for option in (*EVERY, *choice_params()) if option not in known] if open_ended else []


def arguments(name, data):
    """What a call gets of `data`, by the names of its own parameters."""
    base, own = CALLS[name].base, {}
    for key, value in data.items():
        if key == "metrics" and "metric" in base:
            own["metric"] = value.partition("@")[0] if name.endswith("cutoffs") else value
        elif key == "run" and "runs" in base:
            own["runs"] = {"run": value, "other": OTHER}
        elif key in ("metrics", "qrels", "run") and key not in base:
            continue
        else:
            own[key] = value
    return own


UNCOUNTED = "a label below 0 is no judgment here"
ONE_SUBTOPIC = "labels without groups are one subtopic, by whose number nothing is divided"
NO_COSTS = "there are no costs, so no budget"
HELD = "rankings are held here, and checked in full: more is refused, nothing ignored"
# {(call, option): why it changes nothing}
EXCEPTED = {
    **{
        (name, "rank_one"): ONE_SUBTOPIC
        for name in (
            "evaluate_lists", "evaluate_matrix", "evaluate_topk", "evaluate_topk with scores",
            "evaluate_ranked", "evaluate_scores", "Accumulator", "explain_ranked", "to_judge",
        )
    },
    **{
        (name, "negatives"): UNCOUNTED
        for name in ("evaluate_ranked", "evaluate_scores", "Accumulator", "explain_ranked")
    },
    **{
        (name, option): NO_COSTS
        for name in CALLS
        for option in ("over_budget", "at_least_one")
        if "doc_costs" not in taken(name)
    },
    ("write_report", "path"): "the page is the same in every file",
    ("evaluate_matrix", "short_rankings"): "a row of a matrix ranks all items",
    ("evaluate_matrix", "unranked"): "a row of a matrix ranks all items",
    ("evaluate_matrix", "empty_ranking"): "a row of a matrix ranks all items",
    ("explain_ranked", "unranked"): "a query without documents has no rows to explain",
    ("explain_ranked", "empty_ranking"): "a query without documents has no rows to explain",
    **{
        (name, "validate"): HELD
        for name in ("bounds against", "explain", "explain_conventions", "leave_one_out", "write_report")
    },
    **{
        (name, "formulas"): "no text there begins as a formula"
        for name in ("Results.to_table", "ResultsByRun.to_table", "Comparison.to_table")
    },
    ("plots.ranked_cutoffs", "rank_one"): ONE_SUBTOPIC,
    **dict.fromkeys([(name, "average") for name in ("explain", "explain_ranked", "plots.ranked_cutoffs")],
                    "of one query both averages are its value"),
    **{
        ("plots.roc", option): "the curve of a query does not depend on it"
        for option in ("empty", "short_rankings", "empty_ranking")
    },
    ("to_judge", "names"): "the list names no run; errors do",
    ("evaluate_lists", "missing_documents"): "a list has no scores",
    **{
        (name, option): why
        for name in ("evaluate_under_judge", "compare_under_judge")
        for option, why in (("rank_one", ONE_SUBTOPIC), ("missing_documents", "draws of labels have no scores"))
    },
}  # fmt: skip


# What an option takes in one call, where it is not what it takes in others.
OVERRIDES = {
    **{
        (name, option): given
        for name in ("evaluate_under_judge", "compare_under_judge")
        for option, given in {
            "strata": words("level", STRATA_OF_PAIRS), "n_draws": words(101), "random_state": words(5),
            "ties": [*words("doc_id_asc", "input", "input_reversed"), refused("optimistic", "orders equal scores")],
            **{option: [refused(value, option)] for option, value in REFUSED_UNDER_JUDGE.items()},
        }.items()
    },
    **{(f"stats.{name}", "b"): words(B[::-1]) for name in ARGUMENTS},
    **{(f"stats.{name}", "n_resamples"): words(8) for name in ARGUMENTS},
    **{(f"stats.{name}", "random_state"): words(8) for name in ARGUMENTS},
    **{
        (f"stats.{name}", option): words(value, strata=STRATA[name], shares={0: 0.5, 1: 0.5})
        for name, strata in STRATA.items()
        for option, value in (("strata", (strata[0][::-1], strata[1])), ("shares", {0: 0.9, 1: 0.1}))
    },
    **{(f"stats.{name}", "lam"): words(0.3) for name in ARGUMENTS},
    **{(f"stats.{name}", "alternative"): words("greater", "less") for name in ARGUMENTS},
    **{(f"stats.{name}", "alpha"): words(0.2) for name in ARGUMENTS},
    **{(f"stats.{name}", "power"): words(0.5) for name in ARGUMENTS},
    ("stats.randomization_test", "b"): words(LONG[:, 2]),
    ("stats.randomization_test", "random_state"): words(8, n_resamples=9999),
    ("stats.adjust", "alpha"): words(0.02, method="two_stage_bh", p_values=[0.01, 0.015, 0.2, 0.9]),
    ("stats.bootstrap_interval", "method"): words("bca"),
    ("stats.bootstrap_test", "studentized"): words(False),
    ("stats.effect_size", "kind"): words("glass", "dominance"),
    ("stats.wilcoxon", "zeros"): words("pratt", "zsplit"),
    ("stats.wilcoxon", "exact"): words(False),
    ("stats.wilcoxon", "continuity"): words(True, exact=False),
    ("Results.interval", "method"): words("bca", "t"),
    ("Results.interval", "n_resamples"): words(8),
    ("Results.interval", "random_state"): words(8),
    **{(name, "top"): words(1) for name in ("Results.diff", "Comparison.diff")},
    **{(name, "interval"): words("t") for name in METHODS},
    **{(name, "confidence"): words(0.5, interval="t") for name in METHODS if name != "Results.interval"},
    **{(name, "per_query"): words("to_table" in name) for name in METHODS},
    **{(name, "digits"): words(2) for name in METHODS},
    **{(name, "transpose"): words(True) for name in METHODS},
    **{(name, "format"): words("markdown", "latex", "html", "csv") for name in METHODS},
    **{(name, option): words("text", format="latex") for name in METHODS for option in ("caption", "label")},
    ("Comparison.to_table", "rows"): words("pairs"),
    ("Comparison.to_table", "intervals"): words(True),
    ("Comparison.to_table", "alpha"): words(0.9),
    **{
        (name, "ties"): [*words("optimistic", "pessimistic", "average"), refused("doc_id_asc", "ties")]
        for name in ("evaluate_matrix", "evaluate_topk", "evaluate_topk with scores", "evaluate_scores", "Accumulator")
    },
    **{(name, "ties"): words("doc_id_asc", "input") for name in ("fuse", "tune")},
    **{
        (name, "weights"): words(ROW_WEIGHTS)
        for name in (
            "evaluate_lists", "evaluate_matrix", "evaluate_topk", "evaluate_topk with scores",
            "evaluate_ranked", "evaluate_scores",
        )
    },
    **{
        (name, option): words(value, metrics=metrics, doc_weights=ITEM_WEIGHTS)
        for name in ("evaluate_matrix", "evaluate_topk", "evaluate_topk with scores")
        for option, value, metrics in (
            ("doc_weights", np.ones(len(ITEMS)), "psp@3"),
            ("self_normalized", "false", "weighted_precision@2"),
        )
    },
    **{
        (name, "exclude"): words({0: [ITEMS["b"]], 1: [ITEMS["i"]]})
        for name in ("evaluate_matrix", "evaluate_topk", "evaluate_topk with scores")
    },
    **{
        (name, "threshold"): words(2.0, relevant=RATINGS)
        for name in ("evaluate_matrix", "evaluate_topk", "evaluate_topk with scores")
    },
    ("evaluate_topk", "ties"): [refused("average", "needs scores")],
    ("evaluate_topk", "score_dtype"): [refused("float32", "needs scores")],
    ("evaluate_topk", "scores"): words(TOPK_SCORES[:, ::-1]),
    ("evaluate_topk with scores", "scores"): words(TOPK_SCORES[:, ::-1]),
    ("evaluate_matrix", "wanted"): words("nearest", metrics="wss(n_docs=99)@0.5"),
    ("evaluate_matrix", "n_docs"): words(99, metrics="fallout@3"),
    ("evaluate_lists", "query_ids"): words(SHARED),
    ("evaluate_lists", "columns"): words(
        {"retrieved": "got"},
        retrieved={"got": ranked_ids, "query_id": SHARED, "relevant": [[*QRELS[q]] for q in SHARED]},
        relevant=None,
    ),
    ("evaluate_lists", "duplicates"): words("first", "last", "once", retrieved=[["a", "b", "a", "e"], *ranked_ids[1:]]),
    ("evaluate_lists", "exclude"): [given("query_id", query_ids=SHARED),
                                    given({"q1": ["b"], "q2": ["i"]}, query_ids=SHARED)],
    ("evaluate_lists", "aggregate"): [refused("sum", "aggregate='sum' needs scores", parents=PARENTS)],
    ("evaluate_ranked", "offsets"): words([0, len(LABELS)]),
    ("evaluate_ranked", "metrics"): words("ndcg@3"),
    ("evaluate_ranked", "ideal_labels"): words(IDEAL_LABELS, ideal_offsets=IDEAL_OFFSETS),
    ("evaluate_ranked", "ideal_offsets"): words(IDEAL_OFFSETS, ideal_labels=IDEAL_LABELS),
    ("evaluate_scores", "group"): words(np.diff(OFFSETS), offsets=None),
    ("evaluate_scores", "qid"): words(np.repeat(np.arange(len(SHARED)), np.diff(OFFSETS)), offsets=None),
    ("evaluate_scores", "offsets"): words([0, len(LABELS)], offsets=OFFSETS),
    ("Accumulator", "doc_weights"): words(
        np.ones(len(ITEMS)), metrics="psp@3", doc_weights=ITEM_WEIGHTS, **ACCUMULATED
    ),
    ("Accumulator", "self_normalized"): words(
        "false", metrics="weighted_precision@2", doc_weights=ITEM_WEIGHTS, **ACCUMULATED
    ),
    ("bounds", "against"): words(OTHER), ("bounds against", "against"): words(THIRD),
    ("bounds", "pool_depth"): words(2), ("bounds against", "pool_depth"): words(2), ("bounds", "unseen"): words(2),
    ("bounds against", "unseen"): [refused(2, "unseen")],
    **{
        ("bounds against", option): [
            refused(given.value, "has bounds of one run alone", **given.data) for given in VALUES[option]
        ]
        for option in (
            *("forbidden", "forbidden_level", "doc_groups", "target", "doc_costs", "over_budget", "at_least_one"),
            "set_ranks",
        )
    },
    ("bounds against", "duplicates"): words("first", "last", "max", run=REPEATED), ("write_report", "k"): words(1),
    ("write_report", "title"): words("Mine"),
    ("write_report", "topics"): words({"q1": "words of q1"}),
    ("write_report", "doc_titles"): words({"a": "words of a"}),
    ("explain_ranked", "ideal_labels"): words([3, 3, 2]), ("identify", "digits"): words(2, values={"p@3": 0.3}),
    ("identify", "ignore"): words("x", values={"p@3": "0.33", "x": "0.1"}),
    ("identify", "parents"): words(PARENTS, values={"map": "0.5"}),
    ("identify", "aggregate"): words("sum", "mean", values={"map": "0.5"}, parents=PARENTS),
    ("identify", "row"): words("x", values={"x": {"p@3": "0.33"}, "y": {"p@3": "0.25"}}),
    ("compare_scores", "queries"): [given("intersection", runs=PARTLY), given("qrels", runs=PARTLY),
                                    given(["q1", "q2", "q4"])],
    **{
        ("compare_scores", option): words(*values, runs=PER_QUERY)
        for option, values in (("correction", (None, "bonferroni")), ("family", ("all",)), ("baseline", ("other",)))
    },
    ("compare_scores", "metrics"): words("mrr"),
    ("evaluate_nuggets", "missing"): words("zero"), ("evaluate_citations", "missing"): words("zero"),
    ("evaluate_nuggets", "expected"): words({"q": {"n": "vital", "m": "okay"}}, missing="zero"),
    ("evaluate_citations", "expected"): words({"q": ["n"], "p": ["m"]}, missing="zero"),
    ("expected_exposure", "depth"): words(1), ("expected_exposure", "rel_level"): words(2),
    ("compare_scores", "seeds"): words("mean", "folds", runs={n: [PER_QUERY[n], PER_QUERY["third"]] for n in RUNS}),
    ("fuse", "method"): words("sum", "condorcet"), ("fuse", "norm"): words("min-max", "zmuv", method="sum"),
    ("fuse", "run_weights"): words([1, 5], method="wsum"), ("fuse", "max_depth"): words(1),
    ("fuse", "name"): words("mine"), ("fuse", "duplicates"): words("first", "last", "max", run=REPEATED),
    ("fuse", "columns"): words({"doc_id": "number"}, run=RUN_UNNAMED), ("tune", "method"): words("rrf", norm=None),
    ("tune", "norm"): words("zmuv", None), ("tune", "grid"): words(0.5), ("tune", "n_trials"): words(3),
    ("tune", "folds"): words(3), ("tune", "random_state"): words(7),
    ("tune", "score_dtype"): words("float32", norm=None, runs={"run": RUN, "other": RUN}),
    ("tune", "segments"): words(SEGMENTS), ("tune", "params"): words({"n_segments": 2}, method="probfuse", norm=None),
    ("tune", "duplicates"): words("first", "last", "max", run=REPEATED), ("tune", "convention"): words("gdeval"),
    ("fuse", "k"): words(1),
    ("fuse", "names"): [given(["x", "y"], runs=FILES, run_weights={"x": 1.0, "y": 2.0}, method="wsum")],
    **{
        (name, "convention"): words("lightgbm")
        for name in ("evaluate_lists", "evaluate_topk", "evaluate_ranked", "explain_ranked")
    },
    ("explain", "queries"): [*words("intersection", "strict"), refused(["q1"], "'q2' is not in the qrels")],
    ("bounds against", "ideal"): words("full", metrics="ndcg@2"),
    ("to_judge", "ideal"): words("full", metrics="ndcg@2"),
    ("to_judge", "empty"): words("skip", "nan", metrics="ndcg"),
    ("explain_ranked", "wanted"): words("nearest", metrics="wss(n_docs=20)@0.4", labels=[1, 0, 0, 1, 1]),
    **{
        (name, "missing_documents"): [refused("zero", "needs the ids or the scores", metrics="compat")]
        for name in ("bounds", "bounds against", "JudgedRankings.evaluate", "tune", "to_judge")
    },
    ("explain_ranked", "no_hit"): words("zero", metrics="first_rel", labels=[0, 0]),
    ("bounds against", "empty"): words("one", metrics="ndcg", against={"q1": RUN["q1"]}, queries="qrels"),
    ("explain_ranked", "empty"): words("one", labels=[0, 0], metrics="ndcg"),
    ("explain_ranked", "one_class"): words("zero", labels=[1, 1], metrics="auc"),
    ("explain_ranked", "ideal"): words(
        "retrieved", "num_ret", ideal_labels=[3, 3, 2, 2], labels=[1, 2], metrics="ndcg"
    ),
    ("explain_ranked", "bpref_norm"): words("R", metrics="bpref"),
    **{
        (name, "ideal"): words("full", metrics="ideal_dcg@9")
        for name in ("evaluate_matrix", "evaluate_ranked", "evaluate_scores", "Accumulator")
    },
    ("merge_qrels", "duplicates"): words("first", "last", "max"),
    ("custom_metric", "higher_is_better"): words(False),
    ("custom_metric", "low"): [refused(0.9, "is not from 0.9 to inf")],
    ("custom_metric", "high"): [refused(0.2, "is not from -inf to 0.2")],
    ("custom_metric", "about"): words("how much there is"),
    ("similarity", "b"): words(RUN),
    ("similarity", "metrics"): words("tau"),
    ("rank_correlation", "metric"): words("map", metric="mrr"),
    ("rank_correlation", "test"): words("wilcoxon"),
    ("rank_correlation", "correction"): words(None),
    ("rank_correlation", "used_judge"): words(["other"]),
    ("judge_bias", "by"): words({"side": {"a": "x", "b": "y"}}),
    ("judge_bias", "runs"): words(RUNS),
    ("agreement", "random_state"): words(7),
    ("agreement", "n_resamples"): words(20),
    ("agreement", "truth"): words("b"),
    ("stats.labels_needed", "y_model"): words(B, n_model=90),
    ("stats.labels_needed", "n_model"): words(50, y_model=B),
    ("check", "max_depth"): words(3),
    ("check", "exactly_queries"): words(["q1"]),
    ("check", "tag"): words("mine", runs=FILES),
    ("check", "corpus"): words(["a"]),
    ("check", "runs"): words({}),
    ("check", "qrels_format"): words("json", qrels=FOLDER / "qrels.txt"),
    ("check", "run_format"): words("json", runs=FILES),
    ("check", "columns"): words({"doc_id": "number"}, run=RUN_UNNAMED),
    ("check", "examples"): words(1),
    ("Qrels.from_dict", "strata"): words({"q1": {"a": 1, "b": 2, "c": 1}}),
    ("Qrels.from_dict", "probabilities"): words({"q1": {"a": 0.5, "b": 1.0, "c": 1.0}}),
    ("Qrels.from_file", "format"): [refused("json", "qrels.txt")],
    ("Run.from_file", "format"): [refused("json", "first.run")],
    ("Qrels.from_file", "duplicates"): words("first", "last", "max", "mean", path=FOLDER / "repeated.qrels"),
    ("Run.from_file", "duplicates"): words("first", "last", "max", "once", path=FOLDER / "repeated.run"),
    ("Qrels.from_table", "duplicates"): words("first", "last", "max", "mean", data=TABLES["qrels"]),
    ("Run.from_table", "duplicates"): words("first", "last", "max", "once", data=REPEATED),
    ("Run.from_dict", "duplicates"): words("first", "last", "max", "once", data={"q": ["a", "b", "a"]}),
    ("Qrels.from_file", "columns"): words({"doc_id": "number"}, path=FOLDER / "unnamed.qrels.csv"),
    ("Run.from_file", "columns"): words({"doc_id": "number"}, path=FOLDER / "unnamed.run.csv"),
    ("Qrels.from_table", "columns"): words({"doc_id": "number"}, data=QRELS_UNNAMED),
    ("Run.from_table", "columns"): words({"doc_id": "number"}, data=RUN_UNNAMED),
    ("Qrels.from_file", "label"): words(2, path=FOLDER / "interactions.csv"),
    ("Qrels.from_table", "label"): words(2, data=INTERACTIONS),
    **{(f"Qrels.{name}", "threshold"): words(2) for name in ("from_file", "from_table")},
    **{(f"Run.{name}", "name"): words("mine") for name in ("from_dict", "from_file", "from_table")},
    ("Run.from_file", "query_ids"): words(["q1"], path=FOLDER / "responses.json"),
    ("Run.from_file", "rows"): words(FOLDER / "lines.letor", path=FOLDER / "lines.scores"),
    ("Run.top", "ties"): words("doc_id_asc", k=4),
    **{(f"{kind}.save", "format"): words("json") for kind in ("Qrels", "Run")},
    **{(f"plots.{name}", "metric"): words("p@3") for name in ("bounds", "differences", "forest", "means")},
    **{(f"plots.{name}", "metric"): words("ndcg@5") for name in ("ranking", "topics", "wins")},
    **{(f"plots.{name}", "metric"): words("map") for name in ("cutoffs", "ranked_cutoffs", "leaderboards")},
    ("plots.cutoffs", "cutoffs"): words((1, 3)),
    ("plots.ranked_cutoffs", "ideal_labels"): words([3, 2, 2, 1]),
    ("plots.forest", "baseline"): words("third"),
    ("plots.leaderboards", "titles"): words(("x", "y")),
    ("plots.precision_recall", "raw"): words(True),
    ("plots.precision_recall", "ties"): words(
        "doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic", raw=True
    ),
    ("plots.ranked_cutoffs", "empty"): words("one", lists={"x": [0, 0], "y": [1, 0]}),
    ("plots.ranked_cutoffs", "short_rankings"): words("clip", metric="p", lists={"x": [1], "y": [1, 0]}),
    ("plots.ranked_cutoffs", "empty_ranking"): words("skip", lists={"x": [], "y": [1, 0]}, ideal_labels=[1]),
    ("plots.ranked_cutoffs", "ideal"): words("retrieved", "num_ret", ideal_labels=[3, 2, 2, 1, 1]),
    ("plots.ranked_cutoffs", "convention"): words("lightgbm"),
    **{(f"plots.{name}", "k"): words(3) for name in ("rank_weights", "ranking")},
    ("plots.ranking", "rel_level"): words(2),
    **{
        (f"plots.{name}", "sort"): words(True)
        for name in (
            "cutoffs", "ranked_cutoffs", "precision_recall", "roc", "forest", "means", "overview", "topics",
            "wins",
        )
    },
    **{(name, "ax"): [Given(OWN_AXES)] for name in CALLS if name.startswith("plots.")},
}  # fmt: skip


# ---- what a call gives ------------------------------------------------------------------------------------------
def outcome(call, options):
    """What a call gives, in full: its values and what it prints, without a word about its options; or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = flat(call(**options))
        except (TypeError, ValueError, OverflowError, KeyError, AttributeError, RuntimeError, ImportError) as error:
            return error
    return result, sorted(str(each.message) for each in caught)


def flat(value):
    """A value as tuples, texts and numbers, all that it holds; records of options are left out."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype.kind != "O" else flat(value.tolist())
    if isinstance(value, dict) and type(value) is dict:
        return tuple((flat(key), flat(each)) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(flat, value))
    if value is None or isinstance(value, (str, int, float, bool, np.generic)):
        return repr(value)
    kind = type(value).__name__
    if isinstance(value, fastir.Run):
        return kind, flat(value.to_dict()), value.name
    if isinstance(value, dict):
        return kind, flat(dict(value)), printed(value)
    if isinstance(value, fastir.Results):
        report = {name: getattr(value.report, name) for name in dir(value.report) if not name.startswith("_")}
        report = {name: each for name, each in report.items() if not callable(each)}
        return kind, list(value.query_ids), value.values.tobytes(), flat(dict(value)), flat(report), (
            flat(value.status), flat(getattr(value, "_ties", None)),
        )  # fmt: skip
    if isinstance(value, fastir.JudgedRankings):
        return (
            kind, flat(list(value.query_ids)), flat(ranking_arrays(value)), printed(value),
            flat(value.report.repairs),
        )  # fmt: skip
    if dataclasses.is_dataclass(value):
        return kind, tuple(flat(getattr(value, field.name)) for field in dataclasses.fields(value)), printed(value)
    if callable(value):
        return kind
    names = [name for name in dir(value) if not name.startswith("_") and not callable(getattr(value, name, None))]
    return kind, tuple((name, flat(getattr(value, name))) for name in names if name != "provenance"), printed(value)


def printed(value):
    """What it prints, without the line that repeats the options."""
    return [line for line in repr(value).splitlines() if not line.startswith("convention ")]


WITHOUT = {}  # {(call, data): the outcome without an option}, which many options share; the data live as this module


def problem(name, option, given, takes):
    """What is wrong with an option of a call, in words; empty if it has an effect, or is refused by its name."""
    call = CALLS[name]
    if not takes:
        error = outcome(call, {option: given.value})
        said = isinstance(error, TypeError) and repr(option) in str(error)
        return "" if said else f"it is no option, and gives {str(error)[:200]}"
    data = arguments(name, given.data)
    key = name, *((each, id(value)) for each, value in given.data.items())
    if key not in WITHOUT:
        WITHOUT[key] = outcome(call, data)
    before, after = WITHOUT[key], outcome(call, data | {option: given.value})
    if isinstance(after, Exception):
        if isinstance(before, Exception) and str(before) == str(after) and option in choice_params():
            return ""  # no metric that reads it can be asked for
        words = given.refused or option
        return "" if words in str(after) else f"it is refused without its name: {after!r}"
    if given.refused is not None:
        return "it was to be refused"
    return "" if isinstance(before, Exception) or before != after else "it changes nothing"


NOTICED = {"identify": {}}  # what a call is given, in place of files, where its progress is called
