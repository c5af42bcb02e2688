"""Do two sets of judgments agree, two leaderboards, two runs?

In        two of a kind: qrels, the values of systems, or runs, in any form that `evaluate` takes
Out       Agreement, JudgeBias, RankCorrelation; Results for the similarity of runs, query by query
Validates options, that both sides share queries, documents or systems, and that values are numbers
Allocates a table of counts per query (judgments), matrices of systems × systems, the ranks of one query at a time
Raises    TypeError and ValueError, NoOverlapError where nothing is shared. What is undefined is NaN

judgments     agreement(): labels of the same documents, as tables of counts; kappa, alpha and overlap of these
judge_bias    judge_bias(): the errors of one of them by rank, length, group and run
correlation   rank_correlation(): systems by two sets of values, and the pairs that they order differently
similarity    similarity(): the rankings of two runs
measures      what their likeness is measured by, for one query
_rankings     the rankings of a run, one at a time
_ranking_pair two of them side by side: what they have in common
_rbo          rank-biased overlap at all depths
"""
