"""What an evaluation returns: one matrix of values, queries x metrics, read as means, per query, or as a file.

In        query ids, names, one float64 array of shape (n_queries, n_names), a status per query, how each metric is
          averaged, and a Report or a function that makes it
Out       Results: {metric: mean} with the values, statuses and conversions behind it
Validates nothing: values and ids come from kernels and readers, which have checked them
Allocates a Results keeps the arrays that it is given and makes `values` read-only; every reading returns a new object
Raises    KeyError for a metric that was not evaluated, ValueError and TypeError for groups that do not fit, OSError by
          `save`, FormatError by `load_results` for a file that was cut or changed

results   Results; _fields holds what it is made from
report    Report: how the queries of qrels and run overlap, and what was repaired
by_run    ResultsByRun, the Results of many runs, and ResultsByConvention, of a run under many conventions
tables    ResultsTable and ResultsBySegment: several Results, printed as one table of means
exportable  Exportable: the ways out that all results share, and tables of records
saved     Results in files that read back to an equal object, in the formats of saved_files
means     exact sums, weighted and geometric means
statistics  intervals of means, medians and the like
changes   the queries that gain and lose between two sets of values
"""
