"""Ranking metrics with a judge's errors in them: what they would be if humans had judged what the judge judged.

    judge and human labels ─ pairs ─▶ pairs that both judged ─ imputation ─▶ a model of human labels ─ draws ─┐
    runs ─ evaluation ─▶ ranks of all pairs ──────────────────────────────────────────────────────────────────┴▶ values
    values of each draw and query ─ estimate ─▶ means, differences and their intervals ─▶ result

In       judge's qrels, human qrels, runs, metrics and options
Out      UnderJudge, ComparisonUnderJudge
Checks   that each level of the judge and each stratum has pairs that both judged
Memory   a block of draws at a time, and the values of all draws and queries

    under_judge.py  evaluate_under_judge(), compare_under_judge(): runs are ranked once
    pairs.py        who judged which pair, and the columns of the model
    imputation.py   the model: the human label, given the judge's, by regression
    draws.py        labels drawn from it, and the kernels' values of them
    estimate.py     the mean over queries and draws, and its standard error
    result.py       what the functions return
"""
