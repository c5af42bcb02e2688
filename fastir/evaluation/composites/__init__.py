"""RunEvaluators that hold several PlainEvaluators: metrics with different rules, and judgments of other kinds.

In      Qrels, GroupedQrels or Preferences, Settings, and a function that makes the evaluator of other qrels or settings
Out     RunValues, as a PlainEvaluator returns them
Checks  whether each metric is defined on such judgments
Memory  the values of each set of rules, and the values of the result
Raises  UnknownMetricError, ValueError; and the errors of `drivers`

per_metric   metrics with different rules, and metrics that read the judgments of all queries
subtopics    qrels with groups: subtopics, or groups of judges; preferences of judges
samples      samples of a pool, and what is estimated from them
ties         the least, the largest and the expected value over the orders of equal scores
"""
