"""A run of any shape and qrels in; values, status codes and Coverage out: one evaluation under one set of rules.

    PreparedQrels, run ─ PlainEvaluator.measure ─▶ Task ─ by its shape ─▶ a driver ─▶ a kernel of `join`
                                                                                       │
                                 query ids, values, status, Coverage ◀─────────────────┘

In      Qrels without groups, Settings without parts, and a run of any shape
Out     RunValues: query ids, values of shape (n_queries, n_metrics), status codes and the Coverage, which counts how
        the queries of both overlap and makes the Report when it is first read; or the ranks of judged documents
Checks  how the query sets fit together (NoOverlapError); labels against limits of metrics; `inputs` and `join` the rest
Memory  the values and the status codes of one run; each driver's module says how much of the run it holds
Raises  NoOverlapError, OverflowError, and the errors of `inputs` and `join`

A PreparedQrels is never changed after it was made, and any number of threads may use it.

evaluate_one  PlainEvaluator: evaluates a run with the driver for its shape; RunEvaluator, what `composites` share
prepared      PreparedQrels: qrels and a Plan, for any number of runs; Task: the argument of a driver
in_memory     the driver of dicts of dicts, Run objects, and files that are read as a whole
id_lists      the driver of ids in rank order, without scores
trec          the driver of TREC files, evaluated while they are read
tables        the driver of tables and files of tables, evaluated while they are read
coverage      Coverage: how the queries of qrels and run overlap; _coverage has its fields
min_score     runs without the rows below a threshold, for what reads all documents of a run
suspect_runs  qrels and a run that look swapped; ids that never match, with a guess at why
judged        the ranks of the judged documents, as JudgedRankings
"""
