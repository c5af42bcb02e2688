"""Which run is better, by how much, and how sure that is.

runs         compare(): evaluates runs under one policy of queries
comparing    compare_scores(): checks what was asked, puts all together
scores       values per query from anywhere, aligned by id
pairwise     all pairs at once, with what fastir.stats has for plain arrays
records      what comes out, Comparison; knows nothing of how it was computed
tables       a Comparison as text, Markdown, HTML, LaTeX and files
"""
