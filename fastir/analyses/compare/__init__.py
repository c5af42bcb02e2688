"""Which run is better, by how much, and how sure that is.

In        runs to evaluate (compare), or values per query from anywhere (compare_scores)
Out       Comparison: a System per run and metric, a Pair per two runs and metric, the Method, and the aligned values
Validates options checks every option before a run is read; scores checks the values and aligns their queries
Allocates one float64 array of shape (n_metrics, n_columns, n_queries); tests work on a few pairs at a time
Raises    ValueError and TypeError for options and values, NoOverlapError for queries that do not overlap as
          demanded; FastirWarning. What cannot be computed is NaN, with the reason in `Pair.note`

compare         compare(): evaluates runs under one policy of queries; which differences unjudged documents could change
compare_scores  compare_scores(): corrects p-values
options         the options of a comparison as one record, which is checked once
keywords        the same as TypedDicts, which docs/site/keywords.py writes
segments        segments of the queries: which query is in which, means over them
run_tests       runs tested on one list of queries, and the records of it
scores          values per query from anywhere, aligned by id
run_pairs       all pairs at once, with the functions that fastir.stats has for plain arrays
comparison      Comparison, and its files
tables          records as text, Markdown, HTML, LaTeX and lines
records         the tests, each declared once; Pair, System, Method
"""
