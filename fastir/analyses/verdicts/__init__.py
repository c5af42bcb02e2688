"""Verdicts on generated answers: rows of nuggets and of citations in, Results by run out.

In        tables, files or records with a verdict in each row, and what is expected of each answer
Out       ResultsByRun, as of `evaluate_many`: intervals, comparisons, segments and reports are theirs
Validates rows: every verdict that is missing, twice, unknown or not expected is named

rows        the columns of a table or file as numbers of their distinct texts
nuggets     recall of nuggets: vital ones, all of them, strict or with half of a partial support
citations   precision and recall of citations and sentences
"""
