"""Preferences of several judges: how many of them a ranking fulfils, counted by the rules of measure/_preferences.

The rankings come as the ranks of the documents that any judge saw, so that all that is counted is pairs of positions:
documents that were retrieved in their order, and behind them the others. A judge's preferences are then a matrix, whose
upper triangle is what the ranking fulfils as far as it was retrieved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.coverage import without_missing
from fastir.evaluation.judging import keeper_of
from fastir.measure._codes import READ_CODES
from fastir.request.names import CARDS
from fastir.request.options import WHOLE
from fastir.request.plan import Settings, compile_settings

if TYPE_CHECKING:
    from fastir.evaluation.measuring import Measured, Measurer
    from fastir.evaluation.prepared import Prepared
    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents
    from fastir.inputs.preferences import Order
    from fastir.qrels import Preferences


class Preferring:
    """Evaluates runs by the preferences of judges.

    Parameters
    ----------
    prepare : function
        ``prepare(qrels, settings, columns, parents)`` returns a OneRuleSet, or what holds several.
    qrels : Preferences
    settings : Settings
        Metrics of pairs, and the options.
    columns : mapping or None
        The names of the columns of runs that are tables.
    parents : Parents or None
        The documents that the ids of runs stand for.
    """

    def __init__(
        self,
        prepare: Callable[..., Measurer],
        qrels: Preferences,
        settings: Settings,
        columns: Mapping[str, str] | None,
        parents: AnyParents | None,
    ) -> None:
        for request in settings.requests:
            if request.card.groups != "pairs" and request.card.name != "num_q":
                having = ", ".join(card.name for card in CARDS if card.groups == "pairs")
                raise UnknownMetricError(
                    f"metric {quote(request.text)} is not defined on preferences; those that are: {having}"
                )
        self.qrels = qrels
        self.settings = settings
        self.columns = columns
        self.parents = parents
        self.whole: Measurer = prepare(qrels._union, compile_settings(("num_q",), settings.options), columns, parents)

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> Measured:
        """Evaluate a run like `OneRuleSet.measure`, with the Coverage of all judges' documents together."""
        ranker = self.rankers()[0]
        ranks, labels = np.empty(ranker.qrels._n_rows, np.int64), np.empty(ranker.qrels._n_rows, np.int32)
        keeper = keeper_of(ranker, ranks, labels, READ_CODES["relevant"])
        query_ids, kept, status, coverage = keeper.measure(run, n_threads, watch)
        depth = self.settings.options.max_depth or WHOLE
        names = [request.card.name for request in self.settings.requests]
        values = np.zeros((len(query_ids), len(names)))
        first = 0
        for row, (orders, size) in enumerate(zip(self.qrels._orders, kept[:, 0].astype(int).tolist(), strict=True)):
            stop = first + size
            found = labels[first:stop][ranks[first:stop] <= depth] - 1  # a label is 1 more than a position
            first += len(self.qrels._documents[row])
            values[row] = shares(orders, found, len(self.qrels._documents[row]), names)
        if self.settings.queries == "intersection":
            query_ids, values, status = without_missing(query_ids, values, status)
        return query_ids, values, status, coverage

    def rankers(self) -> list[Prepared]:
        """The Prepared objects that decide the order of documents."""
        return self.whole.rankers()


class Pairs(NamedTuple):
    """How many pairs of documents there are, of which a judge prefers one."""

    both: int  # of two that were retrieved
    both_right: int  # and the better one above
    one: int  # of one that was retrieved and one that was not
    one_right: int
    all: int


def pairs_of(beats: np.ndarray, n_ret: int) -> Pairs:
    """The pairs of a matrix by positions, of which the first `n_ret` were retrieved."""
    both, over = beats[:n_ret, :n_ret], int(np.count_nonzero(beats[:n_ret, n_ret:]))
    under = int(np.count_nonzero(beats[n_ret:, :n_ret]))
    right = int(np.count_nonzero(np.triu(both, 1)))
    return Pairs(int(np.count_nonzero(both)), right, over + under, over, int(np.count_nonzero(beats)))


class Placed(NamedTuple):
    """One judge's preferences by position: `n_ret` of the documents were retrieved, and stand first."""

    levels: np.ndarray
    beats: np.ndarray
    n_ret: int
    ordered: bool  # whether levels say all


def placed(order: Order, places: np.ndarray, n_found: int) -> tuple[Placed, np.ndarray]:
    """An order by position, and the positions of its documents among those of the whole query."""
    own = places[order.docs]
    by_place = np.argsort(own)
    matrix = order.matrix()[np.ix_(by_place, by_place)]
    n_ret = int(np.count_nonzero(own < n_found))
    return Placed(order.levels[by_place], matrix, n_ret, order.beats is None), own[by_place]


def shares(orders: list[Order], found: np.ndarray, n_docs: int, names: list[str]) -> list[float]:
    """The values of one query, of which `found` were retrieved, by rank, of documents 0 to n_docs - 1."""
    places = np.empty(n_docs, np.int64)
    rest = np.ones(n_docs, bool)
    rest[found] = False
    places[found] = np.arange(len(found))
    places[rest] = np.arange(len(found), n_docs)
    judges, pairs = [], []
    agreeing = np.zeros((n_docs, n_docs), np.int64) if any("_pair" in name for name in names) else None
    for order in orders:
        judge, own = placed(order, places, len(found))
        judges.append(judge)
        pairs.append(pairs_of(judge.beats, judge.n_ret))
        if agreeing is not None:
            agreeing[np.ix_(own, own)] += judge.beats
    return [share(name, judges, pairs, agreeing, len(found)) for name in names]


def share(name: str, judges: list[Placed], pairs: list[Pairs], agreeing: Any, n_found: int) -> float:
    """The value of one metric, by its name."""
    if name == "num_q":
        return 1.0
    kind, _, end = name.removeprefix("prefs_").removesuffix("_ret").removesuffix("_imp").partition("_")
    which = next((which for which in ("ret", "imp") if name.endswith(f"_{which}")), "all")
    if kind == "pair":
        return by_pair(agreeing, n_found, which)
    if end == "Rnonrel":
        return mean_or_zero([with_as_many(judge, which == "ret") for judge in judges])
    counted = [part_of(of_judge, which) for of_judge in pairs]
    right, possible = sum(part[0] for part in counted), sum(part[1] for part in counted)
    if kind == "num":
        return float(possible if end.endswith("poss") else right)
    if kind == "simp":
        return right / possible if possible else 0.0
    return mean_or_zero([right / possible if possible else 0.0 for right, possible in counted])


def part_of(pairs: Pairs, which: str) -> tuple[int, int]:
    """How many pairs are fulfilled, and how many there are: retrieved ("ret"), implied ("imp") or "all" of them."""
    if which == "ret":
        return pairs.both_right, pairs.both
    return pairs.both_right + pairs.one_right, pairs.all if which == "all" else pairs.both + pairs.one


def mean_or_zero(values: list[float]) -> float:
    """The mean, 0 if a value is undefined."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if total > 0.0 else 0.0


def by_pair(agreeing: np.ndarray, n_found: int, which: str) -> float:
    """The mean over pairs of the judges that agree with the ranking; summed row by row, retrieved pairs first."""
    either = agreeing + agreeing.T
    shown = np.triu(either > 0, 1)
    parts = []
    for columns in (slice(None, n_found), slice(n_found, None))[: 1 if which == "ret" else 2]:
        chosen = shown[:n_found, columns]
        parts.append(agreeing[:n_found, columns][chosen] / either[:n_found, columns][chosen])
    values = np.concatenate(parts)
    n_pairs = int(np.count_nonzero(shown)) if which == "all" else len(values)
    return float(np.cumsum(values)[-1]) / n_pairs if len(values) else 0.0


def with_as_many(judge: Placed, retrieved: bool) -> float:
    """Fulfilled / possible with as many nonrelevant documents as relevant ones; NaN without a pair."""
    levels, beats, n_ret = judge.levels, judge.beats, judge.n_ret
    n_rel = int(np.count_nonzero(levels > 0))
    rel_ret = int(np.count_nonzero(levels[:n_ret] > 0))
    low = levels <= 0 if judge.ordered else levels == 0
    relevant, nonrelevant = (rel_ret, low[:n_ret].sum()) if retrieved else (n_rel, low.sum())
    lacking, which = int(relevant - nonrelevant), "ret" if retrieved else "all"
    if lacking >= 0:
        right, possible = part_of(pairs_of(beats, n_ret), which)
        return quotient(right + rel_ret * lacking, possible + n_rel * lacking)
    if not judge.ordered:
        low[np.flatnonzero(low)[:n_rel]] = False  # the first ones stay
        kept = ~low
        return quotient(*part_of(pairs_of(beats[np.ix_(kept, kept)], int(kept[:n_ret].sum())), which))
    lowest = levels == levels.min()
    right, possible = part_of(pairs_of(beats & ~lowest, n_ret), which)
    first = np.flatnonzero(lowest)[:relevant]
    if retrieved:
        first = first[first < n_ret]
    return quotient(
        right + int(np.minimum(first, n_ret).sum()), possible + (n_ret if retrieved else len(levels)) * len(first)
    )


def quotient(a: int, b: int) -> float:
    return a / b if b else float("nan")
