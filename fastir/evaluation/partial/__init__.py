"""Evaluations in parts: each part is read into a state, states are merged anywhere, and one has the Results.

    rows of a part ─ PartReader ─▶ State ─┐
    rows of a part ─ PartReader ─▶ State ─┴ merge ─▶ State ─▶ ranks of judged documents ─▶ JudgedRankings ─▶ Results

A State is what moves: between threads (row_groups), between the two passes over rows in any order, between processes
(a pickle, an Arrow table) and in Spark.

In      a RunEvaluator; rows, rankings or files
Out     Partial, Results
Checks  whether the options permit parts; that merged parts have one digest of qrels, metrics and options
Memory  of the order of the judgments of a part's queries, and the ids of queries that are missing from the qrels
Raises  ValueError where parts do not fit together; DuplicateError; the errors of `drivers`

partial     Partial: an evaluation in parts, wherever they are; what options permit it, and the digest of a request
states      the states, and how they are merged
arrow       states as Arrow tables
grouped     whole queries, which are evaluated as a part is read
two_pass    rows in any order, in two passes
values      whole queries, measured where their rows are: values move
row_groups  Parquet files of rows in any order, in two passes in threads
"""
