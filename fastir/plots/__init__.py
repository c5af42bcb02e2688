"""Plots of comparisons, runs and metrics, with matplotlib (the extra ``plot``).

Each function draws on one Axes and returns it. With None as `ax` it makes a new pyplot figure, which leaves room for
its labels (``layout="constrained"``) and saves PDF with TrueType fonts. Fonts, sizes and text colours come from the
rcParams, which do not change. The colours, by Okabe and Ito, are distinct for colour-blind readers; if there are many
lines, they also differ in dashes and markers. A common beginning or end of all names is written once; long names lose
their middle.

    of a Comparison, or the results of runs    means  forest  differences  wins  topics  overview
    of runs                                    precision_recall  roc  cutoffs
    of Bounds                                  bounds
    of two leaderboards                        leaderboards
    of lists of labels                         ranked_cutoffs
    of metrics                                 rank_weights
    of an Explanation                          ranking
    of a Tuning                                tuning

In        what the functions that compute take: a Comparison or Results, qrels and runs, labels, names of metrics;
          an Explanation
Out       matplotlib.axes.Axes; `overview` a Figure
Validates nothing of its own beyond names of metrics and runs, and empty lists
Allocates a figure, unless it is given axes
Raises    ImportError where matplotlib is not installed, when a picture is drawn; else what computing raises

compare    pictures of a Comparison, and of two leaderboards
curves     pictures of runs, lists and metrics
figure     the figure, and what it saves
queries    a comparison on one metric, and the pictures of its queries
results    the pictures of one ranking, of bounds and of a Tuning
style      names, colours, dashes, axes and sizes that all share
"""

from fastir.plots.compare import forest, leaderboards, means, overview, wins
from fastir.plots.curves import cutoffs, precision_recall, rank_weights, ranked_cutoffs, roc
from fastir.plots.queries import differences, topics
from fastir.plots.results import bounds, ranking, tuning

__all__ = [
    "bounds",
    "cutoffs",
    "differences",
    "forest",
    "leaderboards",
    "means",
    "overview",
    "precision_recall",
    "rank_weights",
    "ranked_cutoffs",
    "ranking",
    "roc",
    "topics",
    "tuning",
    "wins",
]


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__"})
