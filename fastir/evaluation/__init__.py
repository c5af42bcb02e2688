"""The front doors: from qrels, metrics and runs to Results; they wire the other boxes together, and compute nothing.

    qrels, metrics, options ─ rules ─▶ a PlainEvaluator (`drivers`), or what holds several of them (`composites`)
    run ─ its method `measure` ─▶ query ids, values, status, Coverage ─ rules ─▶ Results

In      the arguments of a public function
Out     Results, ResultsByRun, JudgedRankings, Partial (`partial`)
Checks  options; `qrels`, `inputs` and `request` check all else
Memory  Results; what the boxes below allocate
Raises  the errors of the boxes below; warns with one FastirWarning for a call

evaluate           evaluate(), evaluate_many(): an Evaluator for one call
evaluator          Evaluator: qrels and metrics for any number of runs, rankings with ids
rules              EvaluationRules: what an Evaluator holds, and how it evaluates a run
choose             the inner evaluator for qrels and metrics
judged_rankings    judged_rankings(): the ranks of the judged documents in a run
many               many runs, in threads
run_collections    what evaluate_many takes: mappings, pairs, files and tables of several runs
run_names          what runs are called that are files
id_lists           evaluate_lists(): lists of ids by query id or by position
labels             evaluate_ranked(), evaluate_scores(): labels without ids
matrix             evaluate_matrix(), evaluate_topk(): numbered items
array_call         what the calls on labels and items share: metrics, Results, custom metrics
items              how rows of numbered items reach the kernels, and the errors that kernels find in them
read_runs          several runs, read for analyses of documents
accumulator        Accumulator: exact means over batches
"""
