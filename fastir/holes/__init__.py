"""Holes in the judgments: between which values a metric lies, whatever labels the unjudged documents have.

    qrels, run ─ evaluation ─▶ JudgedRankings ─ holed ─▶ known documents and holes ─┐
    metrics ─ request ─▶ Settings ─ responses ─▶ which labelings can be extreme ────┼─ extremes ─▶ Bounds
                                         families, fractions, steps ─▶ these ───────┘

A labeling gives every hole a label from 0 to the largest. Mostly there are too many to try; but for nearly all metrics
the extreme ones are known, and the kernels of `measure` evaluate these few, so that bounds are values of the metric
itself.

In       qrels, run, metrics and options, as for evaluate()
Out      Bounds
Checks   that the order of documents does not depend on labels, and that no label is above the largest
Memory   what is known of a block of queries at a time

    bounds.py      bounds(): the front door
    bounded.py     Bounds: what it returns
    holed.py       rankings with holes, as arrays
    responses.py   how each metric responds to labels, with the argument
    families.py    families of labelings, and the extremes among their values
    fractions.py   the best labelings for nDCG and for sums of precision, by running sums
    steps.py       the best labelings for nerr and bpm, hole by hole
    extremes.py    from a metric's response to the extremes of each query
    pairs.py       holes of two runs, of which one document is one
    differences.py the extremes of the difference of two runs
    asked.py       block by block to the Bounds
    means.py       the extreme means, where labels can leave a query out
    _labelings     measures labelings
"""
