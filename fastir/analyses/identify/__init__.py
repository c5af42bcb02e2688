"""What number is this: which tools, and which of their options, give the values that were reported.

    values, tables ─▶ Target ─┐
    conventions ── settings ──┴─▶ states ── columns ─▶ means ── search ─▶ Identified

A setting is a convention with at most two options that depart from it. Most settings share what they compute: a state
is all that one metric's mean depends on, and each state is computed once, from rankings that are judged once for each
order of documents.

In        qrels and a run of any shape, or several runs, and values by the names of metrics, or a file with them
Out       Identified: answers, the simplest first, each with the settings that give the same values on these data
Validates names, digits and ranges of the values; qrels and runs are validated as in any evaluation
Allocates a float64 column of all queries for each state of one order at a time
Raises    ValueError and UnknownMetricError for values, FormatError for a file without any, and what judging raises

values    Target: a number, its interval, and the metrics that papers may mean by its name
tables    values from tables in Markdown, LaTeX and CSV, lists, trec_eval's output and JSON
settings  conventions, published definitions and departures from them, and the states of metrics under each
trials    other numbers of queries and other metrics, where no convention fits by itself
columns   means of states, judging a run once for each order of documents
search    identify(), and what one option changes
answers   Answer, Identified, and the sentences
"""
