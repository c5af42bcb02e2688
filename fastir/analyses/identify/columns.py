"""Means of states: the run is judged once for each order of documents, each metric computed once for all queries.

If a rule decides nothing on these data, its order equals another one and shares that order's values.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.identify.settings import ORDER_RULES, DataProperties, State
from fastir.data.qrels import Qrels, as_qrels
from fastir.data.rankings import JudgedRankings
from fastir.data.results.results import denominators_of
from fastir.data.run import Run
from fastir.engine.measure import CARDS, NUM_Q
from fastir.errors import DuplicateError, FastirError, FastirWarning
from fastir.evaluation.evaluate import evaluate
from fastir.evaluation.evaluator import Evaluator
from fastir.request.conventions import CONVENTIONS, Convention

REFUSED = (FastirError, ValueError, TypeError, OverflowError)


class Mean(NamedTuple):
    """A mean, and the number of queries that it is over."""

    value: float
    number: int


class Judge:
    """Qrels and one run, judged in each requested order."""

    qrels: Any
    run: Any
    options: dict[str, Any]
    facts: DataProperties

    def __init__(self, qrels: Any, run: Any, options: dict[str, Any]) -> None:
        self.qrels, self.run, self.options = qrels, run, options
        self._judged: dict[tuple[Any, ...], JudgedRankings] = {}
        self._means: dict[Any, dict[State, Mean]] = {}  # of an order, level and depth, by the state without its order
        self.facts = self._facts()

    def judge_order(self, order: tuple[Any, ...]) -> JudgedRankings:
        """The rankings in an order; equal orders share one object."""
        if order not in self._judged:
            chosen = dict(zip(ORDER_RULES, order, strict=True))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FastirWarning)
                evaluator = Evaluator(self.qrels, NUM_Q, queries="qrels", **chosen, **self.options)
                made = evaluator.judged_rankings(self.run)
            self._judged[order] = next((each for each in self._judged.values() if equal_labels(each, made)), made)
        return self._judged[order]

    def _facts(self) -> DataProperties:
        """What the run is like; the warnings of its evaluation are shown once, here."""
        duplicates = None
        try:
            evaluator = Evaluator(
                self.qrels, NUM_Q, queries="qrels", ties="trec", score_dtype="float64", **self.options
            )
            plain = evaluator.judged_rankings(self.run)
        except DuplicateError:
            duplicates = "first"
            plain = self.judge_order(("trec", "float64", duplicates, None))
        self._judged["trec", "float64", duplicates, None] = plain
        single = self.judge_order(("trec", "float32", duplicates, None)) if more_ties_as_single(self.run) else plain
        without = self.judge_order(("trec", "float64", duplicates, "query_id"))
        report = plain.report
        ties = {"float64"} if report.queries_with_ties else set()
        if single is not plain and single.report.queries_with_ties:
            ties.add("float32")
        return DataProperties(
            shared=not plain.missing.any() and not report.only_in_run,
            duplicates=duplicates is not None,
            own_ids=without is not plain,
            fractions=bool(report.fractions),
            top=int(plain.ideal_labels.max()) if len(plain.ideal_labels) else 0,
            longest=int(plain.num_ret.max()) if len(plain.num_ret) else 0,
            ties=frozenset(ties),
            n_qrels=len(plain.missing),
            n_run=int((~plain.missing).sum()) + report.only_in_run,
        )

    # ---- values ----------------------------------------------------------------------------------------------------
    def means(self, states: Iterable[State], progress: Callable[[int, int], object] | None) -> dict[State, Mean]:
        """The mean of each state; NaN where there is none."""
        groups: dict[tuple[Any, ...], list[State]] = {}
        for state in states:
            groups.setdefault((state.order, state.level, state.depth, state.judged_only), []).append(state)
        found: dict[State, Mean] = {}
        for number, ((order, *chosen), group) in enumerate(groups.items()):
            missing = [state for state in group if state not in found]
            key = (order if order[0] == "average" else id(self.judge_order(order)), *chosen)
            known = self._means.setdefault(key, {})
            again = [state for state in missing if state._replace(order=()) not in known]
            known.update(self._group(order, again))
            found.update({state: known[state._replace(order=())] for state in missing})
            if progress is not None:
                progress(number + 1, len(groups))
        return found

    def _group(self, order: tuple[Any, ...], states: list[State]) -> dict[State, Mean]:
        """The means of states of one order, level and depth, by the state without its order."""
        if not states:
            return {}
        names = list(dict.fromkeys(state.metric for state in states))
        columns, missing = self._columns(order, states[0], names)
        here = {"qrels": np.ones(len(missing), bool), "intersection": ~missing, "strict": np.ones(len(missing), bool)}
        return {
            state._replace(order=()): mean_of_values(columns[state.metric][:, here[state.queries]], state.how)
            for state in states
        }

    def _columns(
        self, order: tuple[Any, ...], state: State, names: list[str]
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """{metric: two rows, its values of all queries and their denominators}, and which queries the run lacks."""
        chosen: dict[str, Any] = {"max_depth": state.depth, "judged_only": state.judged_only}
        chosen |= {"convention": any_label(order)} if state.level == 0 else {"rel_level": state.level}
        average = order[0] == "average"
        judged = self.judge_order(("trec", *order[1:]) if average else order)

        def values(some: list[str]) -> dict[str, np.ndarray]:
            rules = dict(zip(ORDER_RULES, order, strict=True))
            if average:
                results = evaluate(self.qrels, self.run, some, queries="qrels", **rules, **chosen, **self.options)
            else:
                results = judged.evaluate(some, **chosen)
            ones, denominators = np.ones(len(results.values)), denominators_of(results)
            columns = zip(results.names, results.values.T, strict=True)
            return {name: np.array([column, denominators.get(name, ones)]) for name, column in columns}

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastirWarning)
            try:
                return values(names), judged.missing
            except REFUSED:
                return {name: self._alone(name, values, len(judged)) for name in names}, judged.missing

    @staticmethod
    def _alone(name: str, values: Callable[[list[str]], dict[str, np.ndarray]], size: int) -> np.ndarray:
        """The values of one metric; NaN if it has none under these rules."""
        try:
            return values([name])[name]
        except REFUSED:
            return np.full((2, size), np.nan)


def any_label(order: tuple[Any, ...]) -> Convention:
    """The default with this order; to its metrics every judged document is relevant."""
    of = tuple((card.name, (("rel_level", 0),)) for card in CARDS)
    rules = {name: value for name, value in zip(ORDER_RULES, order, strict=True) if name != "exclude"}
    return dataclasses.replace(CONVENTIONS["fastir"], of=of, **rules)


def read_qrels(qrels: Any, columns: Mapping[str, str] | None) -> Any:
    """Qrels that are read once."""
    if isinstance(qrels, Qrels):
        return as_qrels(qrels, columns, None)
    return Evaluator(qrels, NUM_Q, columns=columns).rules.qrels


def more_ties_as_single(run: Any) -> bool:
    """Whether scores of a query that differ are equal as float32, as far as a Run tells it; True for other shapes."""
    if not isinstance(run, Run):
        return True
    for first, stop in itertools.pairwise(run.columns.offsets.tolist()):
        scores = np.sort(run.columns.numbers[first:stop])
        single = scores.astype(np.float32)
        if np.any((single[1:] == single[:-1]) & (scores[1:] != scores[:-1])):
            return True
    return False


def equal_labels(one: JudgedRankings, other: JudgedRankings) -> bool:
    """Whether the same labels are at the same ranks."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("num_ret", "ranks", "labels"))


def mean_of_values(column: np.ndarray, how: str) -> Mean:
    """The mean that `Results` has, except for the last bit; the column has values and their denominators."""
    word, _, stays = how.partition("_or_")
    values, denominators = column
    known = values[~np.isnan(values)]
    if not len(values) or (stays and len(known) < len(values)):
        return Mean(math.nan, len(values))
    if word in ("sum", "count"):
        return Mean(float(known.sum()), len(known))
    if not len(known):
        return Mean(math.nan, 0)
    if word == "micro":
        total = float(denominators.sum())
        return Mean(float(np.nansum(values * denominators)) / total if total else 0.0, len(known))
    mean = float(np.exp(np.log(known).mean())) if word == "geometric" else float(known.mean())
    return Mean(mean, len(known))
