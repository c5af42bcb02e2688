"""What people write from memory of other tools, and what it is called here; read only after an error."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Iterable, Mapping

QRELS, RUN = "fastir.Qrels.from_file(path)", "fastir.Run.from_file(path)"
EVALUATOR = "fastir.Evaluator, or fastir.compat.pytrec_eval.RelevanceEvaluator"
SKLEARN = ("ndcg_score", "dcg_score", "label_ranking_average_precision_score")
T_TEST = "fastir.compare(qrels, runs, metrics, test='t')"
# Attributes of the package.
NAMES = {
    **dict.fromkeys(("read_qrels", "load_qrels", "parse_qrels", "qrels", "qrels_from_file", "from_qrels"), QRELS),
    **dict.fromkeys(("read_run", "load_run", "parse_run", "run", "read_trec_run", "runs", "run_from_file"), RUN),
    **{name: f"fastir.compat.sklearn.{name}" for name in SKLEARN},
    "average_precision_score": "fastir.evaluate_scores(labels, scores, 'map')",
    "roc_auc_score": "fastir.evaluate_scores(labels, scores, 'auc')",
    **dict.fromkeys(("label_ranking_loss", "top_k_accuracy_score"), "fastir.evaluate_scores(labels, scores, metrics)"),
    **dict.fromkeys(("optimize_fusion", "optimize", "tune_fusion", "grid_search"), "fastir.tune"),
    **dict.fromkeys(("fusion", "rrf", "combsum", "combmnz", "reciprocal_rank_fusion"), "fastir.fuse"),
    **dict.fromkeys(("RelevanceEvaluator", "TrecEval", "EvaluateRetrieval"), EVALUATOR),
    **dict.fromkeys(("calc_aggregate", "iter_calc", "calc", "Measure", "parse_measure"), "fastir.compat.ir_measures"),
    **dict.fromkeys(("report", "html_report", "make_report"), "fastir.write_report"),
    **dict.fromkeys(("plot", "plotting", "chart", "visualize"), "fastir.plots"),
    **dict.fromkeys(("bootstrap", "confidence_interval", "ci"), "Results.interval, or fastir.stats.bootstrap_interval"),
    **dict.fromkeys(("ttest", "t_test", "paired_ttest", "student"), T_TEST),
    **dict.fromkeys(("wilcoxon", "randomization_test", "permutation_test"), "fastir.compare, or fastir.stats"),
    **dict.fromkeys(("significance", "statistical_test", "compare_runs", "Comparator"), "fastir.compare"),
    **dict.fromkeys(
        ("kappa", "cohen_kappa", "krippendorff", "gwet_ac1", "inter_annotator_agreement"), "fastir.agreement"
    ),
    **dict.fromkeys(("judge_error_regression", "bias", "length_bias", "position_bias"), "fastir.judge_bias"),
    **dict.fromkeys(("rogan_gladen", "estimate_success_rate"), "fastir.stats.corrected_rate"),
    **dict.fromkeys(("kendalltau", "kendall_tau", "tau_ap", "spearmanr"), "fastir.rank_correlation"),
    **dict.fromkeys(("rbo", "jaccard", "overlap"), "fastir.similarity"),
    **dict.fromkeys(("score", "eval", "calculate", "compute", "evaluate_run", "run_eval"), "fastir.evaluate"),
    **dict.fromkeys(("evaluate_runs", "evaluate_all", "leaderboard", "benchmark"), "fastir.evaluate_many"),
    **dict.fromkeys(("evaluate_rankings", "evaluate_ids", "retrieval_metrics"), "fastir.evaluate_lists"),
    **dict.fromkeys(("validate", "lint", "check_run", "check_submission"), "fastir.check"),
    **dict.fromkeys(("pooling", "make_pool"), "fastir.pool"),
    **dict.fromkeys(("list_metrics", "measures", "supported_measures", "available_metrics"), "fastir.metrics()"),
    **dict.fromkeys(("load", "read_results", "from_json"), "fastir.load_results"),
    **dict.fromkeys(("pr_curve", "precision_recall"), "fastir.precision_recall_curve"),
    **dict.fromkeys(("Metrics", "Evaluation", "evaluator"), "fastir.Evaluator"),
    **dict.fromkeys(("lightgbm", "xgboost", "torchmetrics", "ranx", "pytrec_eval", "sklearn"), "fastir.compat"),
}
INTERVAL, WRITE_CUTOFF = "results.interval(metric) gives it", "write the cutoff in the metric's name, as 'ndcg@10'"
PER_QUERY = "results.per_query(metric) and results.to_pandas() give it"
# Keywords of calls that are no option of any call here; option_rows.py has those that are.
OPTIONS = {
    **dict.fromkeys(("k", "at", "cutoff", "cutoffs", "top_k", "topk", "k_values", "ks", "n"), WRITE_CUTOFF),
    **dict.fromkeys(("per_query", "return_per_query", "per_topic", "by_query", "detailed"), PER_QUERY),
    **dict.fromkeys(("ci", "bootstrap", "confidence_interval", "conf_int", "with_ci"), INTERVAL),
    **dict.fromkeys(("return_mean", "mean", "aggregated", "agg"), "results[metric] is the mean of a metric"),
    **dict.fromkeys(("verbose", "show_progress", "progress_bar"), "progress= takes a function in evaluate_many"),
    **dict.fromkeys(("make_comparable", "complete", "all_queries"), "queries= says which queries count"),
    **dict.fromkeys(("ignore_identical_ids", "exclude_self"), "exclude='query_id' leaves out the query's own document"),
    **dict.fromkeys(("save_results_in_run", "output", "output_path"), "results.save(path) writes them"),
    **dict.fromkeys(("gain_type", "exponential", "exp"), "gain='exp' or ndcg(gain=exp)"),
    **dict.fromkeys(("return_optimization_report", "return_report"), "the result of tune has all that was tried"),
    **dict.fromkeys(("params", "param"), "fuse has params=; parameters of metrics are options, or ndcg(gain=exp)"),
    "groups": "group= has the sizes of queries in evaluate_scores, segments= compares segments of queries",
    **dict.fromkeys(("query_id", "user_ids"), "qid= has the query of each row"),
    **dict.fromkeys(("as_dict", "return_dict", "return_type"), "dict(results) gives the means, to_dict() all values"),
}
ITEMS = "it does not depend on the ranks of relevant documents; RecTools and Recommenders have metrics of coverage, "
ITEMS += "novelty and diversity; alpha_ndcg and st_recall reward rankings that cover many subtopics"
JUDGE = (
    "it compares texts, as Ragas and DeepEval do; the labels of a judge are qrels, see rel_level= for those from 0 to 1"
)
FAIR = "awrf@k with doc_groups= and target=, and fastir.expected_exposure"
SILENCE = "surfaced, false_surface and false_abstention, with min_score=, and fastir.risk_coverage"
FORBIDDEN = "forbidden_hits, forbidden_rate and leak_recall take forbidden="
EVIDENCE = "evidence_recall@k and its kin, of Qrels.from_sets, or hop_recall@k, of Qrels.from_hops"
# Metrics that fastir does not have, and what comes near: names in lower case with underscores, without a cutoff.
METRICS = {
    **dict.fromkeys(("relstring", "runid"), "trec_eval has it"),
    **dict.fromkeys(("coverage", "catalog_coverage", "catalogue_coverage", "item_coverage", "user_coverage"), ITEMS),
    **dict.fromkeys(
        ("gini", "gini_index", "novelty", "diversity", "serendipity", "intra_list_diversity", "ild"), ITEMS
    ),
    **dict.fromkeys(("personalization", "popularity", "popularity_bias", "unexpectedness", "entropy"), ITEMS),
    **dict.fromkeys(("attention", "exposure", "fairness", "fair", "eed", "eer", "expected_exposure"), FAIR),
    **dict.fromkeys(("ee_d", "ee_r", "ee_l", "ee"), "fastir.expected_exposure has it"),
    **dict.fromkeys(("forbidden", "harm", "harmful", "leak", "leakage", "stale", "stale_hits", "toxic"), FORBIDDEN),
    "false_positive_rate": "false_surface, of queries without an answer, fallout@k, of documents, or forbidden_rate@k",
    **dict.fromkeys(("abstention", "refusal", "rejection", "abstain", "no_answer", "answerability"), SILENCE),
    **dict.fromkeys(("nauc", "aurc", "e_aurc", "risk_coverage", "selective_risk"), "fastir.risk_coverage has it"),
    **dict.fromkeys(("evidence", "chain", "chain_completeness", "answerable", "hop", "hops", "multi_hop"), EVIDENCE),
    **dict.fromkeys(
        (
            *("nugget", "nuggets", "nugget_recall", "nugget_recall_strict", "weighted_nugget_recall", "vital_recall"),
            *("vital_recall_strict", "vital", "strict_vital", "strict_all", "nugget_coverage", "nugget_f1"),
        ),
        "fastir.evaluate_nuggets has it",
    ),
    "nugget_precision": "fastir.evaluate_nuggets and fastir.evaluate_citations come near",
    **dict.fromkeys(
        (
            *("citation", "citations", "citation_precision", "citation_precision_strict", "citation_recall"),
            *("citation_recall_strict", "citation_f1", "sentence_citation_precision", "sentence_precision"),
            *("report_precision", "report_recall", "report_f1"),
        ),
        "fastir.evaluate_citations has it",
    ),
    **dict.fromkeys(("faithfulness", "groundedness", "hallucination", "answer_relevancy", "answer_relevance"), JUDGE),
    **dict.fromkeys(("answer_correctness", "answer_similarity", "context_relevance", "context_relevancy"), JUDGE),
    **dict.fromkeys(("bleu", "rouge", "meteor", "bertscore", "perplexity", "exact_match", "em", "bert_score"), JUDGE),
    "context_precision": "Ragas has it, of ids and of texts; precision@k, and map(ap_norm=hits)@k by rank, come near",
    "context_recall": "Ragas has it, of ids and of texts; recall@k comes near",
    **dict.fromkeys(
        ("rbo", "overlap", "jaccard", "spearman"), "of two runs, fastir.similarity(a, b, 'rbo') measures it"
    ),
    **dict.fromkeys(
        ("kendall_tau", "kendall", "tau", "tau_ap"), "fastir.similarity and fastir.rank_correlation have it"
    ),
    **dict.fromkeys(("kappa", "cohen_kappa", "agreement", "krippendorff_alpha", "ac1"), "fastir.agreement has it"),
    **dict.fromkeys(("rmse", "mae", "mse", "log_loss", "mcc"), "it compares predicted values; scikit-learn has it"),
    **dict.fromkeys(("pr_auc", "auprc"), "map is the area under precision and recall; precision_recall_curve draws it"),
    "f0": "it is f_beta(beta=0.5)",
    "specificity": "it is 1 - fallout; fastir.agreement has the specificity of a judge",
    "normalized_recall": "recall(recall_norm=min_kR)@k divides by the most that k documents can reach",
}
# Attributes of Results.
RESULTS = {
    **dict.fromkeys(("mean", "means", "aggregate", "summary", "scores", "average"), "dict(results) gives the means"),
    **dict.fromkeys(("ci", "confidence_interval", "bootstrap", "std", "stderr"), "results.interval(metric)"),
    **dict.fromkeys(("plot", "show", "hist", "boxplot"), "fastir.plots"),
    **dict.fromkeys(("to_df", "to_frame", "df", "as_dataframe", "to_dataframe", "dataframe", "pandas"), "to_pandas()"),
    **dict.fromkeys(("to_csv", "to_parquet", "write", "dump", "to_file", "export"), "results.save(path)"),
    **dict.fromkeys(("by_query", "per_topic", "queries", "detailed"), "per_query(metric), or query_ids"),
    **dict.fromkeys(("value", "score"), "results[metric]"),
    **dict.fromkeys(("compare", "significance", "ttest"), "fastir.compare(qrels, {name: results, ...})"),
}


def hint(word: str, table: Mapping[str, str], names: Iterable[str] = ()) -> str:
    """The end of a message about a word that does not exist: what it is here, or else the nearest of our names."""
    from fastir.checks import letters, suggest_choice

    for other, ours in table.items():
        if letters(other) == letters(word):
            return f"; {ours}"
    return suggest_choice(word, names)


def option_hint(word: str, known: Collection[str], table: Mapping[str, str] = OPTIONS) -> str:
    """The end of a message about an option that a call does not have; `known` are those that it has."""
    from fastir.request.option_rows import BY_NAME, suggestion

    elsewhere = "; it is an option of other calls, not of this one" if word in BY_NAME else ""
    return suggestion(word, known) or hint(word, table) or elsewhere or hint(word, {}, known)


def missing_error(package: str, name: str, message: Callable[[str], str]) -> Exception:
    """What the ``__getattr__`` of a package raises; message(name) is made only if it is shown.

    `from package import name` shows the message of an ImportError alone, and asks for modules of the package, too.
    """
    if sys._getframe(2).f_code.co_filename.startswith("<frozen importlib"):
        if importlib.util.find_spec(f"{package}.{name}") is not None:
            return AttributeError(name)
        return ImportError(message(name), name=name, path=sys.modules[package].__file__)
    return AttributeError(message(name), name=name, obj=sys.modules[package])
