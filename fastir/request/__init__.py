"""From metrics' names and the options of a call to a Plan, before any data are read.

    "ndcg@10" ─ names ─▶ requests ──┐
    convention ─ conventions ───────┼─ plan, compiler ─▶ Settings, with the Plan that kernels read
    keywords ─ options ─▶ Options ──┘

In come names and keywords as a caller gave them. `options.check_options` checks the keywords and makes one record of
them, at the front door and nowhere else; behind it options travel as that record. `plan.compile_settings` turns names
and record into Settings, which are shared: equal requests get the same immutable object. `names.read` raises
UnknownMetricError for a name that does not exist, `check_options` TypeError and ValueError for an invalid option.
Nothing here warns, and nothing here knows about qrels, runs or results. The only memory that is kept is the cache of
Settings.

    options.py      the vocabulary of the options, the record Options, and their checks
    option_rows.py  a row for each option: for the command, TypedDicts (keywords.py), errors and tests
    names.py        a metric's name, in any tool's dialect, as a Request: card, cutoff, level, parameters
    suggest.py      the error for a name that does not exist, with similar names that do
    conventions.py  the record of the choices that tools make differently, and all records by their names
    conventions_table.py  a row and the releases of each tool, from which the records are made
    plan.py         Settings: requests under options and a convention, and the sets of rules among them
    compiler.py     the Plan: metrics that can share a scan of the ranking are put together
    provenance.py   the metrics, options and inputs of an evaluation
    directions.py   which way a metric's values are better
    metric.py       fastir.metric(): the meaning of one name; fastir.metrics(): all cards, as a table
"""
