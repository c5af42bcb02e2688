"""A report that people look at: runs compared, down to the rankings of each query, as one file for any browser.

    qrels, runs ─▶ gather ─▶ ReportData ─▶ write ─▶ report.html

In        qrels and runs as for `compare`, and how many ranks are shown
Out       a file of HTML with its style, script and data, which asks no other address for anything
Validates depth; the rest is refused by `compare` and `Evaluator`
Allocates the values of all queries, the Run and the first ranks of one run after the other, and the text of the page
Raises    as `compare`, and OSError for the file

gather    everything that is computed: the comparison, the results, the warnings, the first documents of each query
write     write_report(): the tables that need no script, and the document, of page.txt, page.css and page.js

All numbers are texts or exact values that other boxes made; the script shows them, and subtracts.
"""
