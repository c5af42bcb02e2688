"""What all parts of the oracle share."""

import math


def num_relevant(judged, level):
    return sum(label >= level for label in judged)


def gains(labels, gain="linear"):
    """What each code adds: its label, 2^label - 1 (Burges et al. 2005), or what a map {code: gain} says first."""
    own = gain if isinstance(gain, dict) else {}
    plain = (lambda label: 2 ** max(label, 0) - 1) if gain == "exp2" else lambda label: max(label, 0)
    return [own.get(max(label, -2), plain(label)) for label in labels]


def discounted(values, discount="log2"):
    """log2: value / log2(rank + 1). jk2 (Järvelin and Kekäläinen 2002, base 2): rank 1 whole, then / log2(rank)."""
    shift = 1 if discount == "log2" else 0
    return sum(value / (math.log2(rank + shift) if rank > 1 else 1) for rank, value in enumerate(values, 1))


def ideal_gains(labels, gain="linear"):
    """The positive gains of judged documents, best first."""
    return sorted((value for value in gains([v for v in labels if v >= 0], gain) if value > 0), reverse=True)


def best_first(best, x, k, ideal):
    """The first k of the ideal ranking: Elasticsearch has no more than are retrieved, RecTools k of the best."""
    if ideal == "uncut":
        return best
    if ideal == "full":
        return best[:1] * (k or len(x))
    return best[: min(k or len(x), len(x))] if ideal == "num_ret" else best[:k]
