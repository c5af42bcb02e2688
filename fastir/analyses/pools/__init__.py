"""Is the pool good enough: which documents were judged because of which run, and which should be judged next?

In        runs with their names, as `evaluate_many` takes them; qrels; which team each run is of
Out       Pool, Contributions, LeftOut, ToJudge: records with tables; values equal `evaluate`'s
Validates that runs and qrels have ids of one kind, that every run has a team, depths and budgets
Allocates the runs; a dict of documents per query (pool, to_judge), numbers per judgment that a run has (the others)
Raises    TypeError and ValueError, which name the run or team; NoOverlapError

pool           pool(): the documents to be judged; their lists as files, and merge_qrels(): judgments with their labels
contributions  contributions(): judged documents by the runs that have them, and the teams of runs
leave_one_out  leave_one_out(): the leaderboard on the judgments without one team's own
to_judge       to_judge(): unjudged documents, those first that could change most
changes        how a value changes with one more judgment
"""
