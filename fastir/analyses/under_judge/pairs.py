"""The pairs of query and document that judge or humans judged, their ranks in the runs, the columns of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.under_judge.imputation import KnownPairs
from fastir.checks import mapping
from fastir.data.qrels import GroupedQrels, as_qrels
from fastir.data.stacked import stack_judgments
from fastir.engine.columns.rows import list_of_each, occurrences
from fastir.errors import NoOverlapError, quote
from fastir.rendering.look_alikes import quote_first

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsColumns, QrelsLike
    from fastir.data.rankings import JudgedRankings

    Strata = Mapping[Any, Mapping[Any, Any]] | str | None

NO_LABEL = -1
LEVELS_ONLY = "level"
MIN_PAIRS = 5  # that both judged, of each level of the judge and of each stratum
MAX_LEVELS = 32
KNOTS = (3, 10, 30, 100, 300)  # ranks at which the slope over the logarithm of the rank may change
EXACT_RANKS, GROWTH = 10, 1.1  # ranks beyond these are rounded to a geometric series, so that pairs share rows
# precisions of the normal priors: a column that is scaled to about 1 changes a log-odds by so much
INTERCEPT, SLOPE, BEND, INTERACTION = 1e-3, 1 / 2.5**2, 1.0, 1 / 0.5**2


class JudgedPairs(NamedTuple):
    """All pairs that someone judged, query after query. A label is NO_LABEL where one side has none."""

    query_ids: list[Any]
    offsets: np.ndarray  # int64 of shape (n_queries + 1,)
    doc_ids: list[Any]
    judge: np.ndarray  # int32 of shape (n_pairs,)
    human: np.ndarray

    @property
    def queries(self) -> np.ndarray:
        """The position of the query of each pair."""
        return list_of_each(self.offsets)

    @property
    def both(self) -> np.ndarray:
        return (self.judge != NO_LABEL) & (self.human != NO_LABEL)

    @property
    def open(self) -> np.ndarray:
        """The pairs that the judge alone judged."""
        return self.human == NO_LABEL


class Design(NamedTuple):
    """A row of columns for each pair with a label of the judge; pairs with equal rows share one, a cell."""

    cells: np.ndarray  # int64 of shape (n_pairs,): the row of `columns`; 0 for a pair without a label of the judge
    columns: np.ndarray  # float64 of shape (n_cells, n_columns)
    queries: np.ndarray  # int64 of shape (n_cells,)
    prior: np.ndarray  # float64 of shape (n_columns,): precisions


def read_pairs(judge_qrels: QrelsLike, human_qrels: QrelsLike) -> JudgedPairs:
    """The pairs of two sets of judgments, whose labels are whole numbers."""
    sides = qrels_columns(judge_qrels, "judge_qrels"), qrels_columns(human_qrels, "human_qrels")
    if not set(sides[0].query_ids) & set(sides[1].query_ids):
        one, other = quote_first(sides[0].query_ids, sides[1].query_ids)
        raise NoOverlapError(f"judge and humans have no query in common: the judge has {one}, the humans have {other}")
    stacked = stack_judgments(sides, keeps_open=False)
    n_judge, n_rows = len(stacked.labels[0]), len(stacked.doc_ids)
    pair_of_row = np.empty(n_rows, np.int64)
    pair_of_row[stacked.rows] = np.arange(len(stacked.rows))
    pair_of_row = pair_of_row[stacked.firsts]
    judge, human = np.full((2, len(stacked.rows)), NO_LABEL, np.int32)
    judge[pair_of_row[:n_judge]], human[pair_of_row[n_judge:]] = stacked.labels
    pairs = JudgedPairs(
        stacked.query_ids, stacked.offsets, [stacked.doc_ids[row] for row in stacked.rows], judge, human
    )
    if not pairs.both.any():
        raise NoOverlapError(
            f"no pair of query and document is judged by both; expected {MIN_PAIRS} or more for each level of the judge"
        )
    return pairs


def qrels_columns(qrels: QrelsLike, name: str) -> QrelsColumns:
    """The columns of a side, whose labels must be whole numbers."""
    held = as_qrels(qrels, None, None)
    if isinstance(held, GroupedQrels):
        raise TypeError(f"{name} has groups or preferences; expected one label for each document")
    if held.columns.numbers.dtype != np.int32:
        label, place = held.columns.first_fraction()
        raise ValueError(f"{name}: label {label} of {place} is no whole number; expected levels such as 0, 1, 2")
    return held.columns


def make_design(pairs: JudgedPairs, runs: list[JudgedRankings], strata: Strata) -> Design:
    """The columns of the model: the judge's level, the judge's mean label of the query, ranks in the runs, strata."""
    queries, known = pairs.queries, pairs.judge != NO_LABEL
    levels = np.unique(pairs.judge[known])
    if len(levels) > MAX_LEVELS:
        raise ValueError(f"the judge has {len(levels)} levels, expected grades, {MAX_LEVELS} at most")
    level = np.searchsorted(levels, pairs.judge).astype(np.int64)
    keys, groups = [level], {}
    by_rank = strata != LEVELS_ONLY
    ranks = [ranks_of_pairs(len(level), run) for run in runs] if by_rank else []
    keys += ranks
    if isinstance(strata, Mapping):
        stratum, names = strata_of_pairs(pairs, strata)
        keys.append(stratum)
        groups = {f"stratum {quote(name)}": stratum == place for place, name in enumerate(names)}
    elif strata not in (None, LEVELS_ONLY):
        raise ValueError(f"strata must be None, {LEVELS_ONLY!r} or {{query_id: {{doc_id: stratum}}}}, got {strata!r}")
    groups = {f"level {label} of the judge": pairs.judge == label for label in levels.tolist()} | groups
    check_numbers(pairs, groups)
    rows, cells = np.unique(np.stack([queries, *keys], axis=1)[known], axis=0, return_inverse=True)
    cell_of_pair = np.zeros(len(level), np.int64)
    cell_of_pair[known] = cells.reshape(-1)
    means = query_means(level, known, queries, len(pairs.query_ids), len(levels))
    is_level = one_hot(rows[:, 1], len(levels))
    columns, prior = (
        [np.ones((len(rows), 1)), is_level, means[rows[:, 0], None]],
        [INTERCEPT, *[SLOPE] * len(levels), SLOPE],
    )
    for place in range(len(ranks)):
        slopes = rank_columns(rows[:, 2 + place])
        crossed = is_level * slopes[:, :1]
        columns += [slopes, crossed]
        prior += [SLOPE] + [BEND] * (slopes.shape[1] - 1) + [INTERACTION] * crossed.shape[1]
    if isinstance(strata, Mapping):
        is_stratum = one_hot(rows[:, -1], len(names))
        crossed = (is_level[:, :, None] * is_stratum[:, None, :]).reshape(len(rows), -1)
        columns += [is_stratum, crossed]
        prior += [SLOPE] * is_stratum.shape[1] + [INTERACTION] * crossed.shape[1]
    return Design(cell_of_pair, np.concatenate(columns, axis=1), rows[:, 0], np.array(prior))


def check_numbers(pairs: JudgedPairs, groups: dict[str, np.ndarray]) -> None:
    """Refuse a level or a stratum with too few pairs that both judged."""
    both, judged_alone = pairs.both, pairs.open
    for name, rows in groups.items():
        n, example = int((rows & both).sum()), np.flatnonzero(rows & judged_alone)
        if n < MIN_PAIRS and len(example):
            first = int(example[0])
            where = f"query {quote(pairs.query_ids[int(pairs.queries[first])])}, document {quote(pairs.doc_ids[first])}"
            found = "no pair" if not n else f"only {n} pair{'s' if n > 1 else ''}"
            raise ValueError(
                f"{name}: humans judged {found} of it, and {len(example)} wait for an estimate, such as {where}; "
                f"expected human labels of at least {MIN_PAIRS}, so {MIN_PAIRS - n} more are needed"
            )


def strata_of_pairs(pairs: JudgedPairs, strata: Mapping[Any, Any]) -> tuple[np.ndarray, list[Any]]:
    """The position of each pair's stratum, and the strata; pairs without a label of the judge have the first."""
    strata = mapping("strata", strata, "map query ids to {doc_id: stratum}")
    places: dict[Any, int] = {}
    positions = np.zeros(len(pairs.doc_ids), np.int64)
    for pair, (query, doc_id) in enumerate(zip(pairs.queries.tolist(), pairs.doc_ids, strict=True)):
        if pairs.judge[pair] == NO_LABEL:
            continue
        query_id = pairs.query_ids[query]
        by_doc = strata.get(query_id)
        if not isinstance(by_doc, Mapping) or doc_id not in by_doc:
            raise ValueError(f"strata: query {quote(query_id)}, document {quote(doc_id)} has no stratum")
        positions[pair] = places.setdefault(by_doc[doc_id], len(places))
    return positions, list(places)


def ranks_of_pairs(n_pairs: int, run: JudgedRankings) -> np.ndarray:
    """The rounded rank of each pair in a run, whose labels are the positions of the pairs; 0 if not retrieved."""
    ranks = np.zeros(n_pairs, np.int64)
    ranks[run.labels] = run.ranks
    far = ranks > EXACT_RANKS
    steps = np.round(np.log(ranks[far] / EXACT_RANKS) / np.log(GROWTH))
    ranks[far] = np.round(EXACT_RANKS * GROWTH**steps)
    return ranks


def query_means(level: np.ndarray, known: np.ndarray, queries: np.ndarray, n_queries: int, n_levels: int) -> np.ndarray:
    """The judge's mean label of each query as a log-odds, with mean 0 and deviation 1."""
    n = occurrences(queries[known], minlength=n_queries)
    total = np.bincount(queries[known], level[known], n_queries) / max(n_levels - 1, 1)
    log_odds = np.log((total + 0.5) / (n - total + 0.5))
    spread = log_odds.std()
    return (log_odds - log_odds.mean()) / (spread if spread > 0 else 1.0)


def rank_columns(ranks: np.ndarray) -> np.ndarray:
    """The logarithm of the rank, its excess above each knot, and whether the document was retrieved."""
    found = ranks > 0
    logs = np.log(np.maximum(ranks, 1))
    centre = logs[found].mean() if found.any() else 0.0
    knots = [knot for knot in KNOTS if knot < ranks.max(initial=0)]
    columns = [logs - centre, *(np.maximum(logs - np.log(knot), 0) for knot in knots)]
    if not found.all():
        columns.append(np.ones(len(ranks)))
    return np.stack(columns, axis=1) * found[:, None]


def one_hot(codes: np.ndarray, n: int) -> np.ndarray:
    return np.eye(n)[codes]


def known_pairs(pairs: JudgedPairs, design: Design) -> tuple[KnownPairs, np.ndarray]:
    """What the model learns from: the pairs that both judged, and their human labels."""
    rows = np.flatnonzero(pairs.both)
    known = KnownPairs(design.columns[design.cells[rows]], pairs.queries[rows], len(pairs.query_ids))
    return known, pairs.human[rows]
