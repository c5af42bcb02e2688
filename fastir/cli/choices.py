"""The words that options take, without an import; `docs/site/keywords.py` writes this file."""

WORDS = {
    "qrels_format": (
        "trec trec_eval beir msmarco pairs json quepid letor csv tsv jsonl parquet arrow subtopic qrels_jg evidence "
        "hops prefs qrels_prefs strata prels"
    ),
    "run_format": "trec trec_eval beir msmarco json quepid scores csv tsv jsonl parquet arrow",
    "names": "stem tag file",
    "duplicates": "first last max mean once",
    "validate": "full judged",
    "aggregate": "max sum mean",
    "queries": "qrels intersection strict",
    "ties": "trec doc_id_asc input input_reversed optimistic pessimistic average",
    "score_dtype": "float64 float32",
    "test": "t wilcoxon sign randomization bootstrap tukey randomized_tukey",
    "correction": "bonferroni sidak holm holm_sidak hochberg hommel bh by two_stage_bh max_t auto none",
    "family": "metric all",
    "interval": "t percentile bca",
    "effect": "d_z hedges_gz d_av hedges_g glass anova dominance rank_biserial",
    "kappa_weights": "linear quadratic",
    "scale": "nominal ordinal interval",
    "truth": "a b",
    "method": (
        "sum min max med anz mnz gmnz isr log_isr logn_isr rrf rbc wsum mixed wmnz bordafuse w_bordafuse condorcet "
        "w_condorcet mapfuse posfuse probfuse segfuse slidefuse bayesfuse"
    ),
    "norm": "none min-max min-max-inverted max sum zmuv rank borda",
    "missing": "error zero",
    "tunable": (
        "gmnz logn_isr rrf rbc wsum mixed wmnz w_bordafuse w_condorcet mapfuse posfuse probfuse segfuse slidefuse "
        "bayesfuse"
    ),
    "default_metrics": "ndcg@10 map mrr precision@10 recall@100",
}
CHOICES = {name: tuple(words.split()) for name, words in WORDS.items()}
