"""From qrels and metrics that are prepared, a run and a query to an Explanation.

The contribution of a document is the value of the ranking down to it less the value down to the document above it,
where the documents below are taken for unjudged ones. Each step is an evaluation, so this holds for every metric,
convention and kind of qrels, and no metric is implemented a second time here.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Hashable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.explain.records import Document, Explanation
from fastir.data.qrels import EvidenceQrels, GroupedQrels, Preferences, Qrels, evidence_of_query
from fastir.data.run import Run, as_run
from fastir.engine.columns._ids import encode
from fastir.engine.columns.rows import equal_offsets
from fastir.engine.measure._codes import READ_CODES
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.composites.per_metric import IdealByScore
from fastir.evaluation.drivers.prepared import PreparedQrels
from fastir.evaluation.labels import LabelLists
from fastir.inputs.query_groups import QueryGroups
from fastir.inputs.roles import EVIDENCE_KINDS
from fastir.inputs.shapes import DICTS, input_shape
from fastir.request import names
from fastir.request.options import TIES, TIES_BY_INPUT
from fastir.request.plan import BY_OPTION, BY_SCORE, FORBIDDEN, ID_PROPERTIES, SAMPLED, compile_settings, refuse_small

if TYPE_CHECKING:
    from fastir.data.run import RunLike
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator
    from fastir.evaluation.drivers.prepared import PreparedQrels
    from fastir.request.options import Duplicates


# ---- documents of an explanation -------------------------------------------------------------------------------------
class LaterCopy:
    """A later copy of a document, which counts as a document without a judgment."""

    __slots__ = ("doc_id",)

    def __init__(self, doc_id: str | int) -> None:
        self.doc_id: str | int = doc_id

    def __str__(self) -> str:
        return str(self.doc_id)


class Row(NamedTuple):
    """A document at its rank; `level` numbers the distinct scores from the top."""

    doc_id: str | int | LaterCopy
    score: float | None
    level: int
    tied: int


def id_text(row: Row) -> str | None:
    """The id by which a document's judgment is found; None for a later copy."""
    return None if isinstance(row.doc_id, LaterCopy) else str(row.doc_id)


class Terms(NamedTuple):
    """The contributions of a ranking's documents to the metrics."""

    names: list[str]  # of the metrics
    codes: dict[str, int]  # the labels of the query
    elsewhere: set[str]  # documents that are judged for another query, if a metric reads those
    by_label: bool  # whether documents with one label have one gain
    harms: dict[str, float] | None  # {forbidden document: its grade of harm}, where a metric reads them
    sets: dict[str, list[int]] | None  # {document: the numbers of its sets or hops}, where the qrels have some
    first: Callable[[str | None], list[float]]  # what gains are the terms of, with this document alone, at rank 1
    gained: dict[int | None, tuple[float, ...]]  # these terms, by position from 0; None: the empty ranking's terms
    contributions: dict[int | None, tuple[float, ...]]  # likewise


def make_documents(terms: Terms, rows: list[Row], absent: list[str | int]) -> tuple[list[Document], list[Document]]:
    """The documents of a ranking, and the missing ones."""
    gains: dict[Hashable, list[float]] = {}

    def document(row: Row, place: int | None, text: str | None) -> Document:
        label = None if text is None else terms.codes.get(text)
        harm = None if terms.harms is None else terms.harms.get(text or "", 0)
        sets = None if terms.sets is None else terms.sets.get(text or "", [])
        kind = (label, text in terms.elsewhere, harm, *(sets or ())) if terms.by_label else text
        if kind not in gains:
            gains[kind] = [value - base for value, base in zip(terms.first(text), terms.gained[None], strict=True)]
        gain = dict(zip(terms.names, gains[kind], strict=True))
        gained = None if place is None else terms.gained.get(place)
        if place is None or gained is None:
            discount: dict[str, float | None] = dict.fromkeys(gain)
            contribution = dict.fromkeys(gain, 0.0)
        else:
            shares = zip(gain, gained, gain.values(), strict=True)
            discount = {name: term / most if most else None for name, term, most in shares}
            contribution = dict(zip(gain, terms.contributions[place], strict=True))
        rank = None if place is None else place + 1
        shown = row.doc_id.doc_id if isinstance(row.doc_id, LaterCopy) else row.doc_id
        forbidden = None if harm is None else harm > 0
        return Document(shown, rank, row.score, row.tied, label, gain, discount, contribution, forbidden, sets)

    present = [document(row, place, id_text(row)) for place, row in enumerate(rows)]
    return present, [document(Row(doc_id, None, 0, 0), None, str(doc_id)) for doc_id in absent]


# ---- the explanation of a query --------------------------------------------------------------------------------------
BLOCK_LABELS = 1 << 20  # that are evaluated


def explain_query(
    prepared: RunEvaluator, prepare: Callable[..., Any], run: RunLike, query_id: str | int
) -> Explanation:
    """The Explanation of one query, as `Evaluator.explain` says.

    `prepared` evaluates runs for the caller; ``prepare(qrels, settings)`` makes another object that does.
    """
    settings, qrels = prepared.settings, prepared.qrels
    if isinstance(qrels, Preferences):
        raise ValueError("explain: preferences are about pairs, so no single document has a contribution")
    for requests, _, read in settings.parts:
        if read in BY_OPTION.values() and read != FORBIDDEN:
            what = ID_PROPERTIES[read].partition(",")[0]
            raise ValueError(f"explain: metric {quote(requests[0].text)} reads {what}, which labels do not show")
        if read == FORBIDDEN and settings.options.judged_only:
            raise ValueError(f"explain: judged_only leaves metric {quote(requests[0].text)} another ranking")
    for request in settings.requests:
        if request.card.sampled and request.card.sampled not in (*EVIDENCE_KINDS, *BY_OPTION):
            raise ValueError(
                f"explain: metric {quote(request.text)} is estimated from a sample, in which a document "
                "stands for others; it has no contributions"
            )
    union = qrels.columns.union if isinstance(qrels, GroupedQrels) else qrels
    query_id = find_query(query_id, union)
    labels = union[query_id]
    codes = {str(doc_id): label for doc_id, label in labels.items()}
    forbidden = getattr(prepared, "forbidden", None)
    harms = None if forbidden is None else text_ids(forbidden[query_id])
    sets = set_numbers(union, query_id) if isinstance(union, EvidenceQrels) else None
    rankings = {}
    for evaluator in prepared.evaluators():
        rule = evaluator.settings.options.duplicates
        if rule not in rankings:
            rankings[rule] = query_ranking(prepared, run, query_id, rule)
    ranking = next(iter(rankings.values()))
    if ranking is None and settings.options.queries == "intersection":
        raise NoOverlapError(
            f"query {quote(query_id)} is missing from the run: by queries='intersection' it does not count"
        )
    pooled = any(request.card.pooled for request in settings.requests)
    elsewhere: set[str] = set()
    if pooled:  # documents that are judged for any query
        elsewhere.update(str(doc_id) for docs in union.to_dict().values() for doc_id in docs)
        elsewhere.intersection_update(map(str, ranking or {}))
    rows, standing = rank_documents(prepared, rankings, codes, elsewhere)
    ids = [id_text(row) for row in rows]
    requests = settings.requests[: settings.n_shown]
    inner = {request.text: unfiltered_name(request) for request in requests}
    sums = {
        request.text: name_in_quotient(request, values, DIVIDEND)
        for request, values in zip(requests, settings.values, strict=False)
        if request.card.quotient
    }
    elsewhere.intersection_update(filter(None, ids))
    tied = len(set(standing)) < len(standing)  # then all of these metrics are expected values over the orders of ties
    metrics = [*inner.values(), *sums.values()]
    prepared_values = functools.partial(
        partial_values, prepared, prepare, query_id, metrics, ids, codes, elsewhere, ranking or {}, tied
    )

    scores = [-float(level) for level in standing]
    known = codes.keys() | elsewhere | (harms or {}).keys()
    judged = [place for place, doc_id in enumerate(ids) if doc_id in known]
    places = [0, *(place + 1 for place in judged)]
    if settings.parts or settings.ties == TIES.index("average") or qrels is not union:
        measure_values = prepared_values()
        steps = [measure_values(ids[:place], scores) for place in places]
        values = {name: [step[name] for step in steps] for name in steps[0]}
    else:
        values = values_of_labels(prepared, metrics, ids, codes, places)
    refuse_small(settings.sizes, np.array([[values[name][-1] for name in inner.values()]]), [query_id])
    parts = {name: increments(column) for name, column in values.items()}
    relevant = any(label >= settings.options.rel_level for label in codes.values())

    def documents() -> tuple[list[Document], list[Document]]:
        gainers = [sums.get(metric, name) for metric, name in inner.items()]
        contributions, gained = (
            dict(zip([None, *judged], zip(*(parts[name] for name in of), strict=True), strict=True))
            for of in (inner.values(), gainers)
        )
        measure_values = prepared_values()

        def first(doc_id: str | None) -> list[float]:
            values = measure_values([doc_id], [-float(place) for place in range(len(rows) or 1)])
            return [values[name] for name in gainers]

        present = set(ids)
        absent = [
            doc_id
            for doc_id, label in labels.items()
            if label >= settings.options.rel_level and str(doc_id) not in present
        ]
        absent.sort(key=lambda doc_id: (-labels[doc_id], encode(str(doc_id))))
        by_label = qrels is union
        terms = Terms(list(inner), codes, elsewhere, by_label, harms, sets, first, gained, contributions)
        return make_documents(terms, rows, absent)

    return Explanation(
        query_id,
        "missing" if ranking is None else "evaluated" if relevant else "no_relevant",
        {metric: values[name][-1] for metric, name in inner.items()},
        {metric: parts[name][0] for metric, name in inner.items()},
        documents,
    )


def set_numbers(qrels: EvidenceQrels, query_id: Any) -> dict[str, list[int]]:
    """{document: the numbers of the sets of evidence, or the hops, of a query to which it belongs, from 1}."""
    alone, numbers = evidence_of_query(qrels, query_id), dict[str, list[int]]()
    for number, members in enumerate((alone.sets or alone.hops or {})[""], 1):
        for doc_id in members:
            numbers.setdefault(doc_id, []).append(number)
    return numbers


def label_type(labels: Collection[float]) -> type[np.generic]:
    """The narrowest type that holds some labels."""
    if any(label != int(label) for label in labels):
        return np.float64
    return np.int8 if max(labels, default=0) <= np.iinfo(np.int8).max else np.int32


def values_of_labels(
    prepared: RunEvaluator, metrics: list[str], ids: list[str | None], codes: dict[str, float], places: list[int]
) -> dict[str, list[float]]:
    """{metric: values of the documents up to each position}, where labels in rank order decide alone."""
    options = prepared.settings.options.replace(max_depth=None, judged_only=False, n_threads=1)
    settings = compile_settings(tuple(metrics), options)
    # -1 is a document that is not in the qrels, -2 one in the pool without a judgment
    coded = {doc_id: label if label >= 0 else -2 for doc_id, label in codes.items()}
    narrow = label_type(coded.values())
    ideal = np.fromiter(coded.values(), narrow, len(coded))
    labels: np.ndarray = np.fromiter(
        (-1 if doc_id is None else coded.get(doc_id, -1) for doc_id in ids), narrow, len(ids)
    )
    # no metric reads the label: the values stay as they were above it
    is_read = np.ones(len(places), bool)
    if settings.plan.reads == READ_CODES["relevant"]:
        is_read[1:] = labels[np.array(places[1:], np.int64) - 1] > 0
    all_stops, parts = np.array(places)[is_read], []
    at_once = max(1, BLOCK_LABELS // (len(ids) + len(codes) + 1))
    for stops in np.split(all_stops, range(at_once, len(all_stops), at_once)):
        n = len(stops)
        beginnings = np.full((n, len(ids)), narrow(-1))
        np.copyto(beginnings, labels, where=np.arange(len(ids)) < stops[:, None])
        rows = QueryGroups(range(n), equal_offsets(n, len(ids)))
        judged = np.tile(ideal, n), equal_offsets(n, len(ideal))
        parts.append(LabelLists(beginnings.ravel(), None, rows, judged).measure(settings)[0])
    values = np.concatenate(parts)[np.cumsum(is_read) - 1]
    return dict(zip(settings.names, values.T.tolist(), strict=True))


def partial_values(
    prepared: RunEvaluator,
    prepare: Callable[..., Any],
    query_id: str | int,
    metrics: list[str],
    ids: list[str | None],
    codes: dict[str, float],
    elsewhere: set[str],
    ranking: Mapping[Any, float],
    tied: bool,
) -> Callable[[list[str | None], list[float]], dict[str, float]]:
    """A function of (documents, scores) that gives the values of the ranking that begins with these documents.

    All others in it, and those that are None, are taken for unknown ones; it is as long as `scores`. Where the ideal
    ranking goes by the scores of a run, these are the scores of the whole `ranking`.
    """
    judgments: Any = prepared.qrels[query_id]
    forbidden = getattr(prepared, "forbidden", None)
    grouped = isinstance(prepared.qrels, GroupedQrels)
    judgments = {group: text_ids(docs) for group, docs in judgments.items()} if grouped else text_ids(judgments)
    others = {"others": dict.fromkeys(elsewhere, 0)} if elsewhere else {}
    options = prepared.settings.options
    # the ranking comes cut and without unjudged documents; these differ between groups
    options = options.replace(max_depth=None, judged_only=grouped and options.judged_only, n_threads=1)
    # the query is there, whatever the rule; "qrels" is kept where the caller chose it, as that is trec_eval's -c
    options = options.replace(queries="qrels" if options.queries == "qrels" else "intersection")
    if tied:  # the sums that are no metrics of the caller have the rule of those that are
        options = options.replace(ties="average")
    settings = compile_settings(tuple(metrics), options)
    judged: Qrels = (
        evidence_of_query(prepared.qrels, query_id, elsewhere)
        if isinstance(prepared.qrels, EvidenceQrels)
        else Qrels.from_dict({"": judgments, **others})
    )
    harms = {} if forbidden is None else text_ids(forbidden[query_id])
    harmful = None if forbidden is None else Qrels.from_dict({"": harms, **{key: {} for key in others}})
    union = judged.columns.union if isinstance(judged, GroupedQrels) else judged
    measure = prepare(judged, settings, forbidden=harmful).measure
    first_copies = {"": {doc_id: score for doc_id, score in ranking.items() if not isinstance(doc_id, LaterCopy)}}
    by_score = [
        (requests, IdealByScore(prepare, union, requests, options.replace(**rules)).rank_ideal_by(first_copies))
        for requests, rules, read in settings.parts
        if read == BY_SCORE
    ]
    mark = "?"
    while any(doc_id.startswith(mark) for doc_id in [*filter(None, ids), *codes, *harms]):
        mark += "?"
    unknown = [f"{mark}{place}" for place in range(len(ids) or 1)]

    def measure_values(documents: list[str | None], scores: list[float]) -> dict[str, float]:
        begin = [unknown[place] if doc_id is None else doc_id for place, doc_id in enumerate(documents)]
        run = {"": dict(zip(begin + unknown[len(begin) :], scores, strict=False))}
        values = dict(zip(settings.names, measure(run, 1)[1][0].tolist(), strict=True))
        for requests, ordered in by_score:
            values.update(zip((request.text for request in requests), ordered(run, 1)[0].tolist(), strict=True))
        return values

    return measure_values


def query_ranking(
    prepared: RunEvaluator, run: Any, query_id: str | int, duplicates: Duplicates | None
) -> dict[Any, float] | None:
    """{doc_id: score} of a query, in the run's order; None if the run does not have the query."""
    if input_shape(run, Run) == DICTS:
        run = {other: run[other] for other in run if str(other) == str(query_id)}
        if not run:
            return None
    run = as_run(run, prepared.columns, duplicates, prepared.parents, prepared.settings.lines, str(query_id))
    run_key = next((other for other in run if str(other) == str(query_id)), None)
    if run_key is None:
        return None
    ids, offsets, scores = run.columns.arrays()
    place = run.columns.places()[run_key]
    rows = slice(offsets[place], offsets[place + 1])
    best = run[run_key]
    if len(best) == len(scores[rows]):
        return best
    ranking: dict[Any, float] = {}
    for doc_id, score in zip(ids[rows], scores[rows].tolist(), strict=True):
        ranking[doc_id if doc_id not in ranking and score == best[doc_id] else LaterCopy(doc_id)] = score
    return ranking


def rank_documents(
    prepared: RunEvaluator, rankings: dict[Any, dict[Any, float] | None], codes: dict[str, float], elsewhere: set[str]
) -> tuple[list[Row], list[int]]:
    """The documents in the order in which they are evaluated, and the position of each, from 0.

    Equal scores share a position if all metrics are expected values over their orders. `rankings` are by the rule for
    duplicates.
    """
    orders, standings = [], []
    for evaluator in prepared.evaluators():
        rows = order_ranking(rankings[evaluator.settings.options.duplicates] or {}, codes, elsewhere, evaluator)
        average = evaluator.settings.ties == TIES.index("average")
        starts = (not average or place == 0 or row.level != rows[place - 1].level for place, row in enumerate(rows))
        orders.append(rows)
        standings.append([number - 1 for number in itertools.accumulate(starts)])
    by_label = prepared.settings.ties in (TIES.index("optimistic"), TIES.index("pessimistic"))
    tied = any(row.tied > 1 for row in orders[0])
    alike = all([id_text(row) for row in order] == [id_text(row) for row in orders[0]] for order in orders[1:])
    alike &= all(standing == standings[0] for standing in standings)
    other_labels = any(read in (FORBIDDEN, SAMPLED) for _, _, read in prepared.settings.parts)
    if not alike or (tied and by_label and (isinstance(prepared.qrels, GroupedQrels) or other_labels)):
        raise ValueError(
            "explain: this ranking is not the same for all of these metrics or groups, by their rules for "
            "equal scores, duplicates or judged_only; explain the metrics one by one, or set ties"
        )
    return orders[0], standings[0]


def order_ranking(
    ranking: dict[Any, float], codes: dict[str, float], elsewhere: set[str], evaluator: PreparedQrels
) -> list[Row]:
    """The documents of a ranking that are evaluated, the first rank first."""
    settings, options = evaluator.settings, evaluator.settings.options
    ties = TIES[settings.ties]
    scores = ranking
    if settings.single:
        with np.errstate(over="ignore"):
            scores = {doc_id: float(np.float32(score)) for doc_id, score in ranking.items()}
    key: Callable[[Any], Any] | None = None
    if ties in ("optimistic", "pessimistic"):
        # Judged documents, then documents in the pool without a judgment, whatever their label, then unknown ones. If a
        # metric reads documents judged elsewhere, these are the first unknown ones: this is its order, too.
        order = {**dict.fromkeys(elsewhere, (-3, True)), **{id_: (max(n, -2), True) for id_, n in codes.items()}}
        key, falling = (
            lambda doc_id: order.get("" if isinstance(doc_id, LaterCopy) else str(doc_id), (-3, False)),
            ties == "optimistic",
        )
    elif ties not in TIES_BY_INPUT:
        key, falling = lambda doc_id: encode(str(doc_id)), ties != "doc_id_asc"
    rows: list[Row] = []
    doc_ids = sorted(scores, key=scores.__getitem__, reverse=True)
    for level, (score, tied) in enumerate(itertools.groupby(doc_ids, scores.__getitem__)):
        group = list(tied)
        if ties == "input_reversed":
            group.reverse()
        if len(group) > 1 and key is not None:
            group.sort(key=key, reverse=falling)
        rows += [Row(doc_id, score, level, len(group)) for doc_id in group]
    rows = rows[: options.max_depth]
    if options.judged_only:
        return [row for row in rows if not isinstance(row.doc_id, LaterCopy) and codes.get(str(row.doc_id), -1) >= 0]
    return rows


DIVIDEND, DIVISOR = 0, 1  # positions in the quotient of a card: the sum over ranks, and the ideal ranking's sum


def name_in_quotient(request: names.Request, values: dict[str, Any], place: int) -> str:
    """The name of a metric of which another one is the quotient, with the same parameters."""
    card = names.NAMES[(request.card.quotient or ())[place]]
    values = {"gain": request.card.gain, **values}
    params = {param.name: values[param.name] for param in card.params if param.name in values}
    return str(request._replace(card=card, params=params))


def unfiltered_name(request: names.Request) -> str:
    """The name of the same metric for a ranking from which the documents that it does not count were removed."""
    params = {name: value for name, value in request.params.items() if name != "judged_only"}
    return request.text if params == request.params else str(request._replace(params=params))


def increments(values: list[float]) -> list[float]:
    """The differences of successive values; their math.fsum is the last value, because rounding is carried along.

    An undefined value adds nothing.
    """
    total: Fraction | None = None  # the sum, if it is not `last`
    last, added = 0.0, []
    for value in values:
        step = value - last + 0.0
        if total is None and value - step == last and last + step == value:  # nothing was rounded
            added.append(step)
            last = value
            continue
        total = Fraction(last) if total is None else total
        added.append(float(Fraction(value) - total) if math.isfinite(value) else 0.0)
        total += Fraction(added[-1])
        if total == value:
            total, last = None, value
    return added


def text_ids(docs: dict[Any, Any]) -> dict[str, Any]:
    return {str(doc_id): label for doc_id, label in docs.items()}


def find_query(query_id: str | int, qrels: Qrels) -> Any:
    """The query id as the qrels have it."""
    for other in (query_id,) if query_id in qrels else qrels:
        if str(other) == str(query_id):
            return other
    raise KeyError(f"query {quote(query_id)} is not in the qrels")
