"""The slow truth, continued: preferences of one judge, the labels, by visiting every pair of judged documents.

`x`, `judged` and `level` are those of oracle.py; the level says nothing here.
"""

import itertools
from collections import Counter
from fractions import Fraction


def documents(x, judged):
    """(place, label, whether it was retrieved) of each judged document; what was not retrieved comes last."""
    found = [code for code in x if code >= 0]
    rest = Counter(label for label in judged if label >= 0) - Counter(found)
    labels = [*found, *sorted(rest.elements(), reverse=True)]
    return [(place, label, place < len(found)) for place, label in enumerate(labels)]


def is_right(better, worse):
    return better[2] and better[0] < worse[0]


def pairs(docs):
    """(better, worse) of documents with different labels."""
    return [pair for pair in itertools.permutations(docs, 2) if pair[0][1] > pair[1][1]]


def share(chosen):
    return float(Fraction(sum(is_right(*pair) for pair in chosen), len(chosen))) if chosen else 0.0


def poss(x, judged, level):
    return len(pairs(documents(x, judged)))


def ful(x, judged, level):
    return sum(is_right(*pair) for pair in pairs(documents(x, judged)))


def ful_ret(x, judged, level):
    return sum(is_right(*pair) for pair in pairs(documents(x, judged)) if pair[0][2] and pair[1][2])


def of_all(x, judged, level):
    return share(pairs(documents(x, judged)))


def of_retrieved(x, judged, level):
    return share([(a, b) for a, b in pairs(documents(x, judged)) if a[2] and b[2]])


def of_implied(x, judged, level):
    return share([(a, b) for a, b in pairs(documents(x, judged)) if a[2] or b[2]])


def as_many(x, judged, level, retrieved=False):
    """With N documents of label 0 and R others: R - N of label 0 more, or only the first R of them.

    In the second case trec_eval pairs these with every document, also with others of label 0 and with themselves.
    """
    everything = documents(x, judged)
    docs = [doc for doc in everything if doc[2] or not retrieved]
    relevant, low = [doc for doc in docs if doc[1]], [doc for doc in docs if not doc[1]]
    more = len(relevant) - len(low)
    if more >= 0:
        added = sum(doc[1] > 0 for doc in everything) * more
        right = sum(is_right(*pair) for pair in pairs(docs)) + sum(doc[2] for doc in relevant) * more
        possible = len(pairs(docs)) + added
    else:
        visited = [*pairs(relevant), *itertools.product(docs, low[: len(relevant)])]
        right, possible = sum(is_right(*pair) for pair in visited), len(visited)
    return right / possible if possible else 0.0


METRICS = {
    "prefs_num_prefs_poss": poss, "prefs_num_prefs_ful": ful, "prefs_num_prefs_ful_ret": ful_ret,
    **{f"prefs_{how}{end}": metric
       for how in ("simp", "pair", "avgjg")
       for end, metric in {"": of_all, "_ret": of_retrieved, "_imp": of_implied}.items()},
    "prefs_avgjg_Rnonrel": as_many,
    "prefs_avgjg_Rnonrel_ret": lambda x, judged, level: as_many(x, judged, level, True),
}  # fmt: skip
COUNTS = tuple(name for name in METRICS if "_num_" in name)
