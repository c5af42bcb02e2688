"""How the queries of qrels and run overlap: an evaluation's counts, as errors, as one warning, and as the Report."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import MERGED_CHUNKS
from fastir.engine.columns.rows import (
    CONTRADICTED,
    CONTRADICTED_FIRST,
    EXCLUDED,
    INCOMPLETE,
    LIKE_SCORES,
    LOW,
    ROUNDED,
    rounded_place,
)
from fastir.engine.join._dicts import count_rest
from fastir.engine.measure._codes import STATUS_CODES
from fastir.engine.measure._grades import count_fractions
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.evaluation.drivers._coverage import Overlap
from fastir.rendering.text import counted
from fastir.request.options import TIES, TIES_BY_ID

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from fastir.data.results.report import Report

Repairs = dict[str, tuple[int, str]]
SWAPPED_TEXT = "the labels look like scores and the scores like labels: are qrels and run swapped?"
SCORE_DIRECTION_TEXT = " scores, by which fastir ranks ({}): distances, or ranks as scores?"
# Of each kind of repair that a warning names: the text before and after its number, in the singular and the plural
REPAIR_TEXTS = {
    "duplicates": ("", "duplicate was", "duplicates were", " repaired ({})"),
    CONTRADICTED: ("the ranks of ", "query contradict its", "queries contradict their", SCORE_DIRECTION_TEXT),
    CONTRADICTED_FIRST: ("the ranks of ", "query contradict its", "queries contradict their", SCORE_DIRECTION_TEXT),
    ROUNDED: (
        "",
        "ranking has different integers",
        "rankings have different integers",
        " as scores that are one float64, so that documents tie ({})",
    ),
    LIKE_SCORES: (
        "the ranks of ",
        "query",
        "queries",
        " look like scores ({}): they do not ascend, or have gaps and begin neither at 0 nor at 1; fastir puts the "
        "smallest first",
    ),
    INCOMPLETE: (
        "",
        "search response is incomplete",
        "search responses are incomplete",
        ", as a search timed out or shards failed ({})",
    ),
}
MIN_DOCUMENTS = 3  # documents: two that share their score say nothing of a run
MIN_FLAT_PER_VARIED = 9  # so many times as many rankings of one score as of several are warned of
MISSING, NO_RELEVANT = STATUS_CODES["missing"], STATUS_CODES["no_relevant"]


class Coverage(Overlap):
    """The counts of one evaluation, and how the queries of qrels and run overlap; calling it makes the Report.

    `status` is as long as `rows`, the positions of the queries that have one: all others are missing from the run; None
    for all queries. `run_ids` has at least the ids that the qrels do not have, in their order, and is copied if need
    be, so that the caller's run is not held. `is_complete` says that there is nothing to check or to warn of: both have
    the same queries, each ranking holds a judged document, and nothing was repaired.
    """

    __slots__ = ("sides", "swapped")
    run_repairs: Repairs
    swapped: bool  # whether suspect_runs.note_swap noted that
    sides: str | None  # an id of each side, in words, where suspect_runs.compare_ids noted it

    def all_repairs(self, run_repairs: Repairs) -> Repairs:
        """The repairs of the run, and what was counted of them."""
        counts, ids = self.counts, self.prepared.judged.query_ids
        if counts.n_repeated_rows:
            kind = "duplicates" if self.prepared.stand_for is None else MERGED_CHUNKS
            run_repairs = {**run_repairs, kind: (counts.n_repeated_rows, f"query {ids[counts.repeated_rows_example]}")}
        if counts.n_excluded_rows:
            first = ids[counts.excluded_rows_example]
            run_repairs = {**run_repairs, EXCLUDED: (counts.n_excluded_rows, f"query {first}")}
        if counts.n_low_rows:
            run_repairs = {**run_repairs, LOW: (counts.n_low_rows, f"query {ids[counts.low_rows_example]}")}
        if counts.n_rounded_queries:
            place = rounded_place(ids[counts.rounded_queries_example], counts.rounded_docs or ())
            run_repairs = {**run_repairs, ROUNDED: (counts.n_rounded_queries, place)}
        return run_repairs

    def add_repairs(self, more: Repairs) -> None:
        """Add repairs that were made to the run before it was evaluated."""
        if more:
            self.run_repairs = {**self.run_repairs, **more}
            self.is_complete = False

    @property
    def repairs(self) -> Repairs:
        """The repairs of the qrels and of the run, counted together."""
        both = dict(self.prepared.qrels.columns.repairs)
        for kind, (count, place) in self.run_repairs.items():
            both[kind] = (count + both[kind][0], both[kind][1]) if kind in both else (count, place)
        return both

    def unjudged(self) -> int:
        """How many of the documents that were ranked for queries of the qrels are not in the qrels."""
        counts = self.counts
        if counts.uncounted is None:
            return counts.n_unjudged_docs
        return counts.n_unjudged_docs - count_rest(self.prepared.judged, self.prepared.settings.plan, counts.uncounted)

    def only_in_run(self) -> list[str | int]:
        """The run's query ids that the qrels do not have."""
        rows_by_query = self.prepared.judged.rows_by_query()
        unknown_queries = [query_id for query_id in self.run_ids if str(query_id) not in rows_by_query]
        if not unknown_queries and self.n_run != self.counts.n_matched_queries:
            raise RuntimeError("run: its queries changed while it was read")
        return unknown_queries

    def only_in_qrels(self) -> list[str | int]:
        return [self.prepared.judged.query_ids[row] for row in np.flatnonzero(self.status == MISSING).tolist()]

    def first_only_in_qrels(self) -> str | int:
        """Return the first query that is missing from the run, if there is one."""
        if self.rows is not None:  # rising
            row = next((row for row, held in enumerate(self.rows) if row != held), len(self.rows))
        else:
            row = int((self.status == MISSING).argmax())
        return self.prepared.judged.query_ids[row]

    def first_unmatched(self) -> list[str]:
        """Return one unmatched query of each side for a message, if both sides have one."""
        from fastir.rendering.look_alikes import MAX_COMPARED_IDS, quote_first

        rows, ids = np.flatnonzero(self.status == MISSING)[:MAX_COMPARED_IDS], self.prepared.judged.query_ids
        return quote_first((ids[row] for row in rows.tolist()), self.only_in_run())

    def check(self, queries: str | None) -> None:
        """Raise NoOverlapError for query sets that cannot be evaluated or that the option `queries` refuses."""
        in_both, n_run = self.counts.n_matched_queries, self.n_run
        if n_run == 0:
            raise NoOverlapError("the run is empty: no results, no queries")
        if in_both == 0:
            of_qrels, of_run = self.first_unmatched()
            raise NoOverlapError(f"no query in common: the qrels have {of_qrels}, the run has {of_run}")
        if queries == "strict" and not in_both == n_run == self.prepared.judged.n_queries:
            missing, extra = self.prepared.judged.n_queries - in_both, n_run - in_both
            first, side = (self.first_only_in_qrels(), "run") if missing else (self.only_in_run()[0], "qrels")
            raise NoOverlapError(
                f"queries='strict', but query {quote(first)} is missing from the {side} "
                f"({missing} missing from the run, {extra} from the qrels)"
            )

    def is_flat(self) -> bool:
        """Whether document ids order nearly all rankings although no option requests it."""
        settings, counts = self.prepared.settings, self.counts
        if counts.n_flat_queries <= MIN_FLAT_PER_VARIED * counts.n_varied_queries or counts.n_flat_docs < MIN_DOCUMENTS:
            return False
        return settings.options.ties is None and TIES[settings.ties] in TIES_BY_ID

    def where_nothing(self) -> str:
        """An example of a ranking without a judged document."""
        query = f"query {quote(self.prepared.judged.query_ids[self.counts.unjudged_queries_example])}"
        sides = getattr(self, "sides", None)
        return f"such as the ranking of {query}" if sides is None else f"in {sides}"

    def warn(self, queries: str | None, *run: Hashable) -> None:
        """Say in one FastirWarning what a caller ought to know, beginning with the name of the run if it is given."""
        in_both, nothing = self.counts.n_matched_queries, self.counts.n_unjudged_queries
        n_queries = self.prepared.judged.n_queries
        parts = []
        missing, ignored = queries is None and in_both < n_queries, queries is None and in_both < self.n_run
        if missing and ignored:
            first_lacking, first_ignored = self.first_unmatched()
        else:
            first_lacking = quote(self.first_only_in_qrels()) if missing else ""
            first_ignored = quote(self.only_in_run()[0]) if ignored else ""
        if missing:
            parts.append(missing_text(n_queries - in_both, first_lacking))
        if ignored:
            parts.append(
                counted(
                    self.n_run - in_both,
                    "query of the run is not in the qrels and was ignored",
                    "queries of the run are not in the qrels and were ignored",
                )
                + f" (such as {first_ignored})"
            )
        if nothing:
            parts.append(
                counted(nothing, "ranking holds no judged document", "rankings hold no judged document")
                + f" ({self.where_nothing()})"
            )
        if getattr(self, "swapped", False):
            parts.append(SWAPPED_TEXT)
        if self.is_flat():
            first = quote(self.prepared.judged.query_ids[self.counts.flat_queries_example])
            parts.append(
                f"all scores of {counted(self.counts.n_flat_queries, 'query', 'queries')} are equal (such as {first}): "
                "ids decide the order; ties='input' keeps the file's order"
            )
        if (self.run_repairs or self.prepared.qrels.columns.repairs) and (repairs := self.repairs):
            parts += repair_texts(repairs, self.n_run)
        if parts:
            warn_caller("".join(f"run {quote(name)}: " for name in run) + "; ".join(parts))

    def __call__(self) -> Report:
        from fastir.data.results.report import Report

        counts, in_both = self.counts, self.counts.n_matched_queries
        ids = self.prepared.judged.query_ids
        missing, no_relevant = self.status == MISSING, self.status == NO_RELEVANT

        def example(mask: np.ndarray) -> str | int | None:
            return ids[int(mask.argmax())] if mask.any() else None

        qrels = self.prepared.qrels
        fractions, first = count_fractions(qrels.columns.numbers, qrels.columns.offsets)
        return Report(
            in_both=in_both,
            in_both_example=example(~missing),
            only_in_qrels=len(ids) - in_both,
            only_in_qrels_example=example(missing),
            only_in_run=self.n_run - in_both,
            only_in_run_example=self.only_in_run()[0] if self.n_run > in_both else None,
            no_relevant=int(no_relevant.sum()),
            no_relevant_example=example(no_relevant),
            nothing_judged=counts.n_unjudged_queries,
            nothing_judged_example=ids[counts.unjudged_queries_example] if counts.n_unjudged_queries else None,
            queries_with_ties=counts.n_tied_queries,
            queries_with_ties_example=ids[counts.tied_queries_example] if counts.n_tied_queries else None,
            unjudged_share=self.unjudged() / counts.n_ranked_docs if counts.n_ranked_docs else None,
            fractions=fractions,
            fractions_example=ids[first] if fractions else None,
            repairs=self.repairs,
        )


@functools.lru_cache(64)
def missing_text(number: int, first: str) -> str:
    """The warning's text for queries that are missing from a run; a service meets the same ones again and again."""
    what = counted(
        number,
        "query of the qrels is missing from the run and counts as an empty ranking",
        "queries of the qrels are missing from the run and count as empty rankings",
    )
    return f"{what} (such as {first}; queries='qrels' accepts this, 'intersection' leaves such queries out)"


def repair_texts(repairs: Repairs, n_run: int) -> Iterator[str]:
    """Yield the warning's text for each kind of repair of a run with n_run queries."""
    for kind, (before, one, more, after) in REPAIR_TEXTS.items():
        number, place = repairs.get(kind, (0, ""))
        if number and (kind != CONTRADICTED or 2 * number > n_run):
            yield before + counted(number, one, more) + after.format(place)


def without_missing(
    query_ids: list[Any], values: np.ndarray, status: np.ndarray
) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The rows of the queries that the run has."""
    rows = np.flatnonzero(status != MISSING)
    return [query_ids[row] for row in rows.tolist()], values[rows], status[rows]
