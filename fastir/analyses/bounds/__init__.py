"""Unjudged documents: between which values a metric lies, whatever labels they have.

    qrels, run ─ evaluation ─▶ JudgedRankings ─ unjudged_ranks ─▶ all documents retrieved ────┐
    metrics ─ request ─▶ Settings ─ candidates ─▶ which labelings can be extreme ─────────────┼─ extremes ─▶ Bounds
                                    families, fractions, reader_models ─▶ these ──────────────┘

A labeling gives every unjudged document a label from 0 to the largest. Mostly there are too many to try; but a card
says how its metric responds to labels, so that for nearly all metrics the extreme ones are known. The kernels of
`measure` evaluate these few: bounds are values of the metric itself. If a card says nothing, the bounds are the
metric's range.

In       qrels, run, metrics and options, as for evaluate()
Out      Bounds
Checks   that the order of documents does not depend on labels, and that no label is above the largest
Memory   the rankings and unjudged documents of a block of queries at a time

    bounds.py          bounds(): a request, block by block; extreme means if labels can leave a query out
    result.py          Bounds: what it returns
    unjudged_ranks.py  rankings of one or two runs with their unjudged documents, as arrays
    candidates.py      the labels that unjudged documents can have in an extreme labeling, with the argument
    families.py        families of labelings, and the smallest and largest of their values
    fractions.py       the best labelings for nDCG and for sums of precision, by running sums
    reader_models.py   the best labelings for nerr and bpm, document by document
    extremes.py        from candidates to the extremes of each query
    differences.py     the extremes of the difference of two runs
    _segments          running sums of each query, and where its values are extreme
    _labelings         measures labelings
"""
