"""Why a value is what it is, and why two differ.

explaining   one ranking, document by document: what each contributes to a metric
records      what comes out, Explanation, and how it is shown
changes      which queries gain and lose between two results
"""
