"""From qrels, metrics and runs to Results: wires the other boxes together, and computes nothing itself.

    qrels, metrics, options ─ evaluator ─▶ PlainEvaluator, or Groups or PerMetricRules, which hold several of these
    run ─ PlainEvaluator.measure ─ by its shape ─▶ held_runs, trec_runs or table_runs ─▶ a kernel of `join`
                                                                                       │
    Results ◀─ evaluator ◀─ query ids, values, status, Coverage ◀──────────────────────┘

In come the arguments of a public function; out go Results. The front doors (`evaluator`, `label_lists`, `matrix`) have
the options checked, make Qrels of the caller's judgments, and compile the Settings; the other modules take Qrels and
Settings. `PlainEvaluator.measure` allocates the values and the status codes of one run and hands them to the driver for the
shape of the run, which fills them and returns a Coverage: the counts that it made. The Coverage raises where the query
sets do not fit together (NoOverlapError), warns if the front door asks it to (one FastirWarning), and makes the Report
when it is first read. Errors in the data are raised by `inputs` and `join`. A PreparedQrels is never changed after it was
made, and any number of threads may use it.

    evaluator.py      evaluate(), evaluate_many(), Evaluator: the front door for rankings with ids
    measuring.py      PlainEvaluator: measures a run of any shape under one set of rules, with the driver for that shape
    prepared.py       PreparedQrels: qrels and a Plan, for any number of runs; what all drivers read
    held_runs.py      runs in memory: dicts of dicts and Run objects; files that are read as a whole
    list_runs.py      lists of ids in rank order
    trec_runs.py      TREC files, evaluated while they are read
    table_runs.py     tables and files of tables, evaluated while they are read
    two_passes.py     files of rows in any order, read twice and not kept
    coverage.py       Coverage: how the queries of qrels and run overlap; _overlap has its fields
    groups.py         qrels with groups: subtopics, or groups of judges
    preferring.py     preferences of judges
    sampling.py       samples of a pool, and what is estimated from them
    rule_sets.py      metrics whose rules differ, and metrics that read the judgments of all queries
    named_runs.py     what evaluate_many takes: mappings, pairs, folders and tables of several runs
    many_runs.py      many runs, in threads
    id_lists.py       evaluate_lists(): lists of ids by position
    label_lists.py    evaluate_ranked(), evaluate_scores(): labels without ids
    matrix.py         evaluate_matrix(), evaluate_topk(): numbered items
    item_rankings.py  how rows of numbered items reach the kernels, and the errors that kernels find in them
    partial.py        Partial: an evaluation in parts, wherever they are
    part_rows.py      how whole queries come into the states of parts
    part_passes.py    how rows in any order do, in two passes
    part_rules.py     what options permit parts
    part_states.py    these states, and how they are merged
    part_tables.py    these states as Arrow tables
    accumulator.py    Accumulator: exact means over batches
"""
