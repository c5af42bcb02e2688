"""The front doors: from qrels, metrics and runs to Results; they wire the other boxes together, and compute nothing.

    qrels, metrics, options ─ rules ─▶ a PlainEvaluator (`drivers`), or what holds several of them (`composites`)
    run ─ its method `measure` ─▶ query ids, values, status, Coverage ─ rules ─▶ Results

In      the arguments of a public function
Out     Results, ResultsByRun, JudgedRankings, Partial (`partial`)
Checks  options; `qrels`, `inputs` and `request` check all else
Memory  Results; what the boxes below allocate
Raises  the errors of the boxes below; warns with one FastirWarning for a call

evaluate           evaluate(), evaluate_many(), judged_rankings(): an Evaluator for one call
evaluator          Evaluator: qrels and metrics for any number of runs, rankings with ids
rules              EvaluationRules: what an Evaluator holds, the inner evaluator, and how it evaluates a run
many               many runs, in threads
run_collections    several runs: what evaluate_many takes, the names of runs that are files, `read_runs` for analyses
id_lists           evaluate_lists(): lists of ids by query id or by position
labels             evaluate_ranked(), evaluate_scores(): labels without ids
matrix             evaluate_matrix(), evaluate_topk(): numbered items
array_call         what the calls on labels and items share: metrics, Results, custom metrics
items              how rows of numbered items, perhaps with weights, reach the kernels; the errors that kernels find
accumulator        Accumulator: exact means over batches
"""
