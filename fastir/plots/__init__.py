"""Pictures of comparisons, runs and metrics, by matplotlib (the extra ``plot``).

Each function draws on one Axes and returns it; with None as `ax` it makes a new figure of pyplot, large enough for its
labels. The colours, by Okabe and Ito, are distinct for colour-blind readers; many lines differ in dashes, too.

    of a Comparison     differences  means  wins  overview
    of runs             precision_recall  cutoffs
    of lists of labels  ranked_cutoffs
    of metrics          rank_weights

In        what the functions that compute take: a Comparison, qrels and runs, labels, names of metrics
Out       matplotlib.axes.Axes; `overview` a Figure
Validates nothing of its own beyond names of metrics and empty lists
Allocates a figure, unless it is given axes
Raises    ImportError where matplotlib is not installed, when a picture is asked for; else what computing raises

comparisons    pictures of a Comparison
curves         the others
style          colours, dashes and axes that all share
"""

from fastir.plots.comparisons import differences, means, overview, wins
from fastir.plots.curves import cutoffs, precision_recall, rank_weights, ranked_cutoffs

__all__ = [
    "cutoffs",
    "differences",
    "means",
    "overview",
    "precision_recall",
    "rank_weights",
    "ranked_cutoffs",
    "wins",
]
