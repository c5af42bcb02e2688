"""Where each public call and each container that fastir reads is measured, or why it is not; a test holds it complete.

The names are looked up: of the package, its classes and drop-ins, the formats of files and the protocols of tables
(tests/house/test_bench_rows.py). Calls that `entries.ROWS` has are not listed again.
"""

CLASSES = ("Qrels", "Run", "Results", "JudgedRankings", "Evaluator", "Accumulator", "Partial")

# {file: the calls that it has a row for}
CALLS = {
    "bench_arrays": "evaluate_ranked evaluate_scores",
    "bench_calling": "rank_correlation compare_scores Qrels.from_table Run.from_dict Run.from_table",
    "bench_dicts": "Evaluator.evaluate",
    "bench_files": "check compare evaluate write_report Evaluator.explain Qrels.from_file",
    "bench_formats": "Run.from_file",
    "bench_fusion": "fuse tune",
    "bench_identify": "explain_conventions identify",
    "bench_judged": "JudgedRankings.evaluate JudgedRankings.load",
    "bench_judging": (
        "agreement bounds compare_under_judge evaluate_under_judge judge_bias leave_one_out pool similarity to_judge"
    ),
    "bench_lists": "evaluate_lists",
    "bench_matrix": "evaluate_matrix evaluate_topk",
    "bench_odd": "Run.to_arrow",
    "bench_options": "Results.ties",
    "bench_partial": "Evaluator.partial Partial.merge",
    "bench_saving": "load_results Results.load Results.save",
    "bench_single_queries": "Evaluator.evaluate_many Evaluator.judged_rankings",
    "bench_stats": "evaluate_many",
    "bench_weights": "custom_metric",
}
NO_CALLS = {  # {call: why it has no row}
    "explain": "`Evaluator.explain` and the time of making one",
    "Partial.add": "`Evaluator.partial(rows)` of bench_partial is an empty Partial and its `add`",
    "metrics": "names that are known when the package is imported",
    "show_config": "what the build can do; it reads no data",
    "Results.keys": "the names as they are held",
    "Results.convention_text": "a sentence",
    "JudgedRankings.from_arrays": "it keeps the caller's arrays, after the checks that every evaluation makes",
    "Accumulator.merge": "two sums of each metric",
    "Accumulator.result": "a quotient of each metric; `Accumulator.update` has the work",
    "Partial.from_arrow": "it keeps the columns; `Partial.to_arrow` has the work",
}

# {file: the containers that it reads: formats of files, protocols of tables, drop-in replacements}
CONTAINERS = {
    "bench_arrays": "ndarray",
    "bench_calling": "json jsonl Mapping Iterable Frame",
    "bench_columns": "ArrowStream",
    "bench_compat": "compat.beir compat.ir_measures compat.mteb compat.pytrec_eval compat.ranx",
    "bench_files": "trec",
    "bench_formats": "csv letor scores quepid pairs parquet",
    "bench_training": "compat.lightgbm compat.sentence_transformers compat.sklearn compat.torchmetrics compat.xgboost",
}
NO_CONTAINERS = {  # {container: why it has no row}
    **dict.fromkeys(["trec_eval", "beir", "msmarco", "tsv"], "the tokeniser of `trec` or `csv` with other columns"),
    **dict.fromkeys(["subtopic", "qrels_jg", "evidence", "hops", "prefs", "qrels_prefs", "strata", "prels"],
                    "read by that of `trec`"),
    "arrow": "its batches are those of ArrowStream",
    "ArrowArray": "one batch of an ArrowStream",
    "Scanner": "its batches are those of ArrowStream",
    "HuggingDataset": "its batches are those of ArrowStream",
    "compat.entry_points": "names for the plug-ins of other tools",
    "compat.trec_eval": "a command; bench_files measures `fastir eval`, which does the same",
    **dict.fromkeys(
        [f"compat.{tool}" for tool in ("haystack", "llama_index", "mlflow", "ptranking", "pyserini", "pyvespa", "ragas",
                                       "recbole")],
        "one call of evaluate or evaluate_lists; the tool's own loop takes the time",
    ),
}  # fmt: skip
