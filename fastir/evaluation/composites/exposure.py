"""Exposure of groups of documents: how far what the ranks give to each group is from a target.

Only these metrics read unjudged documents, by their ids: the first k of each ranking. They are put in order
here, from a Run, and the groups of those that are known are summed with the weights of their ranks.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.checks import mapping
from fastir.data.qrels import Qrels
from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, stretches
from fastir.engine.join._judged import judgments, with_falls
from fastir.engine.measure import NDCG, NDCG_AWRF, NUM_REL_RET
from fastir.engine.measure._arithmetic import integer_logs, natural_logs
from fastir.errors import FormatError, UnknownMetricError, quote, warn_caller
from fastir.evaluation.composites.from_plain import FromPlain
from fastir.evaluation.composites.ranked_rows import Reading, keyed, ranked_rows, read_numbers
from fastir.evaluation.drivers.evaluate_one import Job, PlainEvaluator, RunValues
from fastir.evaluation.drivers.judged import with_plan
from fastir.evaluation.drivers.min_score import retrieved
from fastir.inputs.mappings import field_rows
from fastir.inputs.places import is_path, place_name
from fastir.request.compiler import compile_plan
from fastir.request.names import NAMES
from fastir.request.options import MAX_DEPTH, TIES, TIES_BY_ID, TIES_BY_INPUT
from fastir.request.plan import GROUPED, ID_PROPERTIES, Settings, compile_settings

if TYPE_CHECKING:
    pass

SHARE_ERROR = 1e-6  # by which shares may miss the sum of 1
UNKNOWN = -1  # the row of a document without groups


# ---- what callers bring ----------------------------------------------------------------------------------------------
class DocGroups(NamedTuple):
    """Documents with the shares that groups have of them, and the shares that groups should have of the exposure."""

    groups: dict[Any, int]  # {group: column}
    rows: dict[str, int]  # {document id as text: row}
    offsets: np.ndarray  # int64 of shape (n_documents + 1,): where the entries of each row begin
    columns: np.ndarray  # int64 of shape (n_entries,)
    shares: np.ndarray  # float64 of shape (n_entries,)
    targets: dict[str, np.ndarray]  # {query id as text: shares by column}; under "" that of all queries
    by_query: bool

    def target(self, query_ids: Iterable[Any]) -> np.ndarray:
        """The target of each query: float64 of shape (n_queries, n_groups)."""
        key: Callable[[Any], str] = str if self.by_query else lambda _: ""
        return np.array([self.targets[key(query_id)] for query_id in query_ids]).reshape(-1, len(self.groups))

    def exposure(self, rows: np.ndarray, weights: np.ndarray, queries: np.ndarray, n_queries: int) -> np.ndarray:
        """The sums of weight x share by query and group, of documents in rank order: shape (n_queries, n_groups)."""
        known = rows != UNKNOWN
        rows, weights, queries = rows[known], weights[known], queries[known]
        starts = self.offsets[rows]
        sizes = self.offsets[rows + 1] - starts
        entries, each = stretches(starts, sizes), list_of_each(offsets_from_sizes(sizes))
        places = queries[each] * len(self.groups) + self.columns[entries]
        size = n_queries * len(self.groups)
        added = occurrences(places, weights[each] * self.shares[entries], size) if len(rows) else np.zeros(size)
        return added.reshape(n_queries, len(self.groups))

    def rows_of(self, doc_ids: Iterable[Any]) -> np.ndarray:
        """The row of each document, UNKNOWN if it has none."""
        get = self.rows.get
        found = [get(doc_id if type(doc_id) is str else str(doc_id), UNKNOWN) for doc_id in doc_ids]
        return np.array(found, np.int64)


def read_doc_groups(doc_groups: Any, target: Any, query_ids: Iterable[Any]) -> DocGroups:
    """The groups of documents and their target, of any form; checked."""
    if isinstance(doc_groups, DocGroups):
        return doc_groups
    if doc_groups is None or target is None:
        given, absent = ("target", "doc_groups") if doc_groups is None else ("doc_groups", "target")
        raise ValueError(f"{given} needs {absent}: the groups of documents, and the shares that they should have")
    by_query = read_targets(target)
    groups = {group: column for column, group in enumerate(next(iter(by_query.values())))}
    targets = {}
    for query_id, wanted in by_query.items():
        where = "target" if query_id is None else f"target: query {quote(query_id)}"
        if wanted.keys() != groups.keys():
            group = next(iter(wanted.keys() ^ groups.keys()))
            raise ValueError(f"{where} and another query: only one of them has the group {quote(group)}")
        shares = checked_shares(where, wanted)
        targets["" if query_id is None else str(query_id)] = np.array([shares[group] for group in groups])
    is_by_query = None not in by_query
    if is_by_query and (lacking := [query_id for query_id in query_ids if str(query_id) not in targets]):
        raise ValueError(f"target: query {quote(lacking[0])} has none")
    rows: dict[str, int] = {}
    sizes: list[int] = []
    columns: list[int] = []
    numbers: list[float] = []
    for doc_id, shares in read_shares(doc_groups):
        where = f"doc_groups: document {quote(doc_id)}"
        if rows.setdefault(str(doc_id), len(rows)) != len(sizes):
            raise ValueError(f"{where} is there twice, as an integer and as text")
        shares = checked_shares(where, shares)
        for group in shares:
            if group not in groups:
                raise ValueError(f"{where} has the group {quote(group)}, which the target lacks; its share may be 0")
        sizes.append(len(shares))
        columns += [groups[group] for group in shares]
        numbers += shares.values()
    if not rows:
        raise ValueError("doc_groups are empty: no document has a group")
    offsets, shared = offsets_from_sizes(sizes), np.array(numbers, np.float64)
    return DocGroups(groups, rows, offsets, np.array(columns, np.int64), shared, targets, is_by_query)


def read_targets(target: Any) -> dict[Any, Mapping[Any, Any]]:
    """{query_id: {group: share}}; under None the target of all queries."""
    if is_path(target):
        found: dict[Any, dict[Any, Any]] = {}
        for number, (*query, group, share) in field_rows(
            target, {2: "a group and its share", 3: "a query before them"}
        ):
            of_query = found.setdefault(query[0] if query else None, {})
            add_share(of_query, group, share, target, number)
        target = found.get(None, found)
    target = mapping("target", target, "map groups to shares, or be a path")
    if not target:
        raise ValueError("target is empty: it has no share for any group")
    nested = [isinstance(shares, Mapping) for shares in target.values()]
    if any(nested) != all(nested):
        raise TypeError("target: some values are shares, others map groups to shares")
    for query_id, shares in target.items() if nested[0] else ():
        if not shares:
            raise ValueError(f"target: query {quote(query_id)}: it has no share for any group")
    return dict(target) if nested[0] else {None: target}


def read_shares(doc_groups: Any) -> Iterator[tuple[Any, Any]]:
    """(document id, {group: share}) of a mapping, a table, a matrix with names (a data frame) or a file."""
    if is_path(doc_groups):
        from fastir.inputs import formats

        if formats.file_format(doc_groups) not in formats.TABLE_FORMATS:
            found: dict[str, dict[str, Any]] = {}
            for number, (doc_id, group, share) in field_rows(doc_groups, {3: "a document, a group and its share"}):
                if number == 1 and share == "share":
                    continue
                add_share(found.setdefault(doc_id, {}), group, share, doc_groups, number)
            return iter(found.items())
        read: Callable[..., Run] = Run.from_file
    elif isinstance(doc_groups, Mapping) and not {"doc_id", "group", "share"} <= doc_groups.keys():
        return iter(doc_groups.items())
    elif hasattr(doc_groups, "iloc") and "group" not in doc_groups.columns:  # a row by document, a column by group
        return iter(doc_groups.to_dict("index").items())
    else:
        read = Run.from_table
    try:
        run = read(doc_groups, columns={"query_id": "doc_id", "doc_id": "group", "score": "share"})
    except (TypeError, ValueError) as error:
        if error.args:
            error.args = (f"doc_groups, as a table of doc_id, group and share: {error.args[0]}", *error.args[1:])
        raise
    return iter(run.to_dict().items())


def add_share(shares: dict[Any, Any], group: str, text: str, path: Any, number: int) -> None:
    """Add the share of a line."""
    try:
        share = float(text)
    except ValueError:
        raise FormatError(f"share {quote(text)} is not a number", place_name(path), number) from None
    if shares.setdefault(group, share) is not share:
        raise FormatError(f"group {quote(group)} is there twice", place_name(path), number)


def checked_shares(where: str, shares: Any) -> dict[Any, float]:
    """{group: share} as floats, from 0 up, with the sum 1."""
    if not isinstance(shares, Mapping):
        raise TypeError(f"{where} must map groups to shares, got {type(shares).__name__} {quote(shares)}")
    checked = {}
    for group, share in shares.items():
        try:
            number = float(share) if not isinstance(share, str) else math.nan
        except TypeError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise ValueError(f"{where}, group {quote(group)}: expected a share from 0 to 1, got {share!r}")
        checked[group] = number
    if abs((total := math.fsum(checked.values())) - 1) > SHARE_ERROR:
        raise ValueError(f"{where}: the sum of its shares is {total:.6g}, not 1")
    return checked


# ---- documents in rank order -----------------------------------------------------------------------------------------
class RankedDocuments(NamedTuple):
    """The first documents of each ranking, in rank order."""

    queries: np.ndarray  # int64: the position of each document's query
    ranks: np.ndarray  # int64, from 1
    doc_ids: list[Any]


def rank_documents(run: Run, ties: str, depth: int = MAX_DEPTH, single: bool = False) -> RankedDocuments:
    """The first `depth` documents of each ranking of a Run, which has the queries; with `single` scores are float32."""
    ids, offsets, _ = run.columns.arrays()
    sizes = np.minimum(np.diff(offsets), depth)
    queries = list_of_each(offsets_from_sizes(sizes))
    places = stretches(offsets[:-1], sizes)
    ranks = places - offsets[queries]
    return RankedDocuments(queries, ranks + 1, ids.take(ranked_rows(run, ties, single)[places])[:])


def rank_weights(longest: int) -> np.ndarray:
    """What each rank is worth, 1 / log2(max(rank, 2)), from position 1: float64 of shape (longest + 1,)."""
    return 1 / np.concatenate((np.ones(2), integer_logs(longest)[1:]))[: longest + 1]


# ---- the metrics -----------------------------------------------------------------------------------------------------
def fairness(exposure: np.ndarray, target: np.ndarray) -> np.ndarray:
    """1 - Jensen-Shannon divergence (natural logarithm) of exposure and target by row; NaN without exposure."""
    with np.errstate(invalid="ignore"):
        sides = [shares / shares.sum(axis=1, keepdims=True) for shares in (exposure, target)]
    middle = (sides[0] + sides[1]) / 2
    terms = []
    for side in sides:
        parts, shown = side.copy(), side > 0
        parts[shown] *= natural_logs(side[shown] / middle[shown])
        terms.append(parts.sum(axis=1))
    return 1 - np.maximum(terms[0] + terms[1], 0.0) / 2


class ExposureEvaluator(FromPlain):
    """Evaluates metrics of the exposure of groups alone, under one set of rules."""

    def __init__(
        self, prepare: Callable[..., PlainEvaluator], qrels: Qrels, settings: Settings, groups: DocGroups | None
    ) -> None:
        text = quote(settings.requests[0].text)
        if groups is None:
            raise UnknownMetricError(f"metric {text} needs {ID_PROPERTIES[GROUPED]}; none were given")
        self.ties: Any = TIES[settings.ties]
        if self.ties not in (*TIES_BY_ID, *TIES_BY_INPUT):
            raise ValueError(
                f"metric {text}: ties={self.ties!r} orders by labels, and exposure is not a matter of labels"
            )
        self.settings = settings
        self.groups = groups
        self.judged: dict[str, set[str]] | None = None
        if settings.options.judged_only:
            self.judged = {
                str(query_id): {str(doc_id) for doc_id, label in labels.items() if label >= 0}
                for query_id, labels in qrels.to_dict().items()
            }
        self.utilities: dict[int, str] = {}  # the metric by which a column's is multiplied
        for column, (request, values) in enumerate(zip(settings.requests, settings.values, strict=True)):
            if request.card.name == NDCG_AWRF:
                params = {**values, "gain": "binary", "discount": "jk2"}
                self.utilities[column] = str(request._replace(card=NAMES[NDCG], params=params))
        options = settings.options._replace(convention="fastir", choices=())
        metrics = tuple(dict.fromkeys(self.utilities.values())) or (NUM_REL_RET,)  # which looks for documents
        self.plain: PlainEvaluator = prepare(qrels, compile_settings(metrics, options))
        self.offsets: np.ndarray = judgments(self.plain.judged)[0]
        self.forms: dict[bool, dict[Any, int]] = {False: groups.rows}

    def begin(self) -> tuple[list[Job], Callable[..., RunValues]]:
        plain, falls = self.plain, np.zeros(self.plain.qrels.columns.n_rows, np.uint8)
        plan, _ = compile_plan(*plain.settings.compiled, plain.settings.grades)
        job = with_plan(plain, with_falls(plan, plain.judged, falls))
        return [(job, None)], functools.partial(self.measure_exposure, falls)

    def measure_exposure(
        self, falls: np.ndarray, run: Any, n_threads: SupportsIndex | None, plain: RunValues
    ) -> RunValues:
        """The result of `measure`, from the values of the job, which has told of rankings whose scores fall."""
        query_ids, found, status, coverage = plain
        places = {str(query_id): place for place, query_id in enumerate(query_ids)}
        cutoffs = [MAX_DEPTH if request.cutoff is None else request.cutoff for request in self.settings.requests]
        queries, ranks, rows = self.rank(run, places, max(cutoffs), falls)
        target, weights = self.groups.target(query_ids), rank_weights(int(ranks.max(initial=0)))
        values = np.empty((len(query_ids), len(cutoffs)))
        of_cutoffs: dict[int, np.ndarray] = {}
        for column, k in enumerate(cutoffs):
            if k not in of_cutoffs:
                top = ranks <= k
                exposure = self.groups.exposure(rows[top], weights[ranks[top]], queries[top], len(query_ids))
                fair = fairness(exposure, target)
                of_cutoffs[k] = np.where(occurrences(queries, minlength=len(query_ids)) > 0, fair, 0.0)
            values[:, column] = of_cutoffs[k]
            if column in self.utilities:
                values[:, column] *= found[:, self.plain.settings.names.index(self.utilities[column])]
        return query_ids, values, status, coverage

    def rank(
        self, run: Any, places: dict[str, int], k: int, falls: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The place of the query, the rank and the row in the groups of the first k documents of each ranking."""
        settings, run = self.settings, retrieved(run, self.settings)
        depth = settings.options.max_depth or MAX_DEPTH
        if self.judged is None:
            queries, ranks, rows = self.known_rows(run, places, min(k, depth), falls)
        else:
            queries, ranks, rows = self.judged_rows(run, places, depth, self.judged)
        if settings.options.duplicates == "once":  # the first in rank order is the document
            firsts = np.unique(queries * (len(self.groups.rows) + 1) + rows, return_index=True)[1]
            repeated = np.ones(len(rows), bool)
            repeated[firsts] = False
            rows = np.where(repeated, UNKNOWN, rows)
        kept = ranks <= k
        queries, ranks, rows = queries[kept], ranks[kept], rows[kept]
        if len(rows) and (rows == UNKNOWN).all():
            example = next(iter(self.groups.rows))
            warn_caller(f"no document at these ranks has groups; doc_groups have {quote(example)}, for example")
        return queries, ranks, rows

    def known_rows(
        self, run: Any, places: dict[str, int], k: int, falls: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What `rank` returns of the first k documents, looked up as they stand."""
        n = len(places)
        depths, of_query = np.full(n, k), np.zeros(n, np.uint8)
        if n == self.plain.judged.n_queries:
            some = np.diff(self.offsets) > 0
            of_query[some] = falls[self.offsets[:-1][some]]
        settings = self.settings
        rules = settings.ties, bool(settings.single), settings.options.duplicates
        reading = Reading(depths, depths, math.inf, UNKNOWN, *rules)
        read = read_numbers(run, places, lambda integers: [keyed(self.forms, integers)] * n, reading, of_query)
        queries = list_of_each(read.offsets)
        return queries, np.arange(len(queries)) - read.offsets[queries] + 1, read.numbers.astype(np.int64)

    def judged_rows(
        self, run: Any, places: dict[str, int], depth: int, judged: dict[str, set[str]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What `rank` returns of the judged ones of the first `depth` documents."""
        held = as_run(run, None, self.settings.options.duplicates)
        of_run, _, doc_ids = rank_documents(held, self.ties, depth, self.settings.single)
        queries = np.array([places.get(str(query_id), -1) for query_id in held.columns.query_ids], np.int64)[of_run]
        of_places = [judged.get(text, set()) for text in places] + [set()]
        pairs = zip(queries.tolist(), doc_ids, strict=True)
        kept = np.fromiter((str(doc_id) in of_places[query] for query, doc_id in pairs), bool, len(queries))
        queries, rows = queries[kept], self.groups.rows_of(doc_ids)[kept]
        first = np.append(True, queries[1:] != queries[:-1]) if len(queries) else np.zeros(0, bool)
        return queries, np.arange(len(queries)) - np.flatnonzero(first)[np.cumsum(first) - 1] + 1, rows
