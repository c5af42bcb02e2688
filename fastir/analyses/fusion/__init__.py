"""Several runs as one: fusion of rankings, and its weights, chosen on some queries and measured on others.

    runs ─ run_set ─ _fusion ──▶ one list of documents per query, what each counts in each run
                         │                    │
                         │ _recipe: scores    └─ layout ─ _trials: many settings, ranks, values ──▶ tune ─▶ Tuning
                         ▼
                     fuse ─▶ Run

In      runs as `evaluate_many` takes them, or a list of them; a method, a norm, weights and parameters; for tune qrels,
        a metric and the settings to be tried
Out     a Run; Tuning: values that are cross-validated, and what was chosen
Checks  names, weights, parameters, grids and folds before rows are read; scores that cannot be computed with; documents
        that come twice, kinds of ids and all else by `pools.ranked.read_runs`
Memory  the runs; ids and scores of the fused run. tune holds numbers of the size of the runs' scores, a value for
        each query and setting, and the ids of a million rows at a time
Raises  ValueError, TypeError, OverflowError and NoOverlapError, which name the run, query, document or option

cards      the methods and the norms, each declared once
settings   the caller's weights and parameters of a method, checked, and as arrays; the settings that are tried
fuse       fuse(), and runs side by side
layout     what documents count, laid out once for all settings, and judged; what methods learn from judgments
tune       tune()
tuning     Tuning, Trial, Fold
_sorting   documents in the order of scores, or of ids
_recipe    what a document counts by score or by rank, and how that is put together
_fusion    the kernel of fuse() and of the layout: queries in blocks
_trials    the kernel of tune(): a query in a setting, measured
"""
