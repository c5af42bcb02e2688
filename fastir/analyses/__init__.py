"""Analyses of evaluations: a folder for each, with the name of its function, page, command and tests.

Analyses are siblings: none imports another, except the three that tests/house/test_layers.py lists.

compare    compare(), compare_scores(): which of several runs is better, with the tests of `stats`
explain    explain(): what each document of one ranking contributes; explain_conventions(), explain_ranked()
identify   identify(): which tools, with which options, give reported values
check      check(): all faults of a run's file, before it is evaluated
bounds     bounds(): how far unjudged documents could change a metric
pools      pool(), contributions(), leave_one_out(), to_judge(), merge_qrels(): which documents are judged
agreement  agreement(), judge_bias(), rank_correlation(), similarity(): two sets of judgments, leaderboards or runs
fusion     fuse(), tune(): several runs as one, and the weights for it
under_judge  evaluate_under_judge(), compare_under_judge(): metrics with a judge's errors in them
curves     precision_recall_curve(), roc_curve(), risk_coverage(): curves over ranks and certainties
"""
