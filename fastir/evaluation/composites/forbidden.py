"""Forbidden documents: metrics of what must not come, such as stale, secret or harmful documents.

They are measured on other judgments, in which the forbidden documents are the relevant ones; leak_recall and
compat_help_harm also on the caller's, from which the others are subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex

import numpy as np

from fastir.checks import mapping
from fastir.data.qrels import EvidenceQrels, Qrels, as_qrels, refuse_without_labels
from fastir.engine.columns.rows import ELSEWHERE
from fastir.engine.measure import LESS_HARM, NUM_Q
from fastir.errors import NoOverlapError, UnknownMetricError, quote
from fastir.evaluation.composites.from_plain import FromPlain
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunValues
from fastir.inputs.exclusions import equal_ids
from fastir.inputs.places import is_path
from fastir.rendering.look_alikes import quote_first
from fastir.request.plan import FORBIDDEN, ID_PROPERTIES, Settings, compile_derived, compile_settings


def read_forbidden(forbidden: Any, level: float | None, qrels: Qrels, rel_level: float) -> Qrels:
    """Judgments of the caller's queries, with the forbidden documents as relevant ones.

    Labels at or below `level` forbid, too; a label below 0 is a grade of harm.
    """
    refuse_without_labels(qrels, "forbidden documents", EvidenceQrels)
    if level is not None and not level < rel_level:
        raise ValueError(f"forbidden_level must be below rel_level={rel_level:g}, got {level:g}")
    judged = qrels.to_dict()
    harmful: dict[Any, dict[Any, Any]] = {query_id: {} for query_id in judged}
    repairs: dict[str, tuple[int, str]] = {}
    if forbidden is not None:
        if isinstance(forbidden, Qrels) and ELSEWHERE in forbidden.columns.repairs:  # as this function returned it
            repairs[ELSEWHERE] = forbidden.columns.repairs[ELSEWHERE]
        given = nested(forbidden)
        by_text = {str(query_id): query_id for query_id in judged}
        if given and by_text.keys().isdisjoint(map(str, given)):
            here, there = quote_first(judged, given)
            raise NoOverlapError(f"no query in common: the qrels have {here}, forbidden has {there}")
        for query_id, documents in given.items():
            if str(query_id) in by_text:
                harmful[by_text[str(query_id)]] = {like(judged, doc_id): grade for doc_id, grade in documents.items()}
            elif documents:
                count, place = repairs.get(ELSEWHERE, (0, f"query {query_id}"))
                repairs[ELSEWHERE] = count + len(documents), place
    for query_id, labels in judged.items():
        if level is not None:
            harmful[query_id] |= {doc_id: max(1, -label) for doc_id, label in labels.items() if label <= level}
        texts = {str(doc_id): label for doc_id, label in labels.items()}
        for doc_id in harmful[query_id]:
            if texts.get(str(doc_id), -1) >= rel_level:
                raise ValueError(
                    f"query {quote(query_id)}: document {quote(doc_id)} is forbidden, and relevant with the label "
                    f"{texts[str(doc_id)]:g}"
                )
    found = Qrels.from_dict(harmful)
    found.columns.repairs = repairs
    return found


def like(judged: Mapping[Any, Mapping[Any, Any]], doc_id: Any) -> Any:
    """A document's id of the type that the ids of the judgments have: integers equal their decimal text."""
    integers = type(next((doc for docs in judged.values() for doc in docs), "")) is int
    if not integers:
        return str(doc_id)
    return next(form for form in reversed(equal_ids(str(doc_id))))


def nested(forbidden: Any) -> Mapping[Any, Mapping[Any, Any]]:
    """{query_id: {doc_id: grade of harm}} of ids by query, of judgments, or of a file."""
    if isinstance(forbidden, Qrels) or is_path(forbidden):
        return positive(as_qrels(forbidden, None, None).to_dict())
    by_query = mapping("forbidden", forbidden, "map query ids to documents, or be judgments or a path")
    if all(isinstance(documents, Mapping) for documents in by_query.values()):
        return positive(as_qrels(dict(by_query), None, None).to_dict()) if by_query else {}
    for query_id, documents in by_query.items():
        if isinstance(documents, (str, bytes, Mapping)):
            raise TypeError(
                f"forbidden: the documents of query {quote(query_id)} must be a collection of ids, got "
                f"{type(documents).__name__} {quote(documents)}"
            )
    return {query_id: dict.fromkeys(documents, 1) for query_id, documents in by_query.items()}


def positive(judged: Mapping[Any, Mapping[Any, Any]]) -> dict[Any, dict[Any, Any]]:
    return {query_id: {doc: label for doc, label in docs.items() if label > 0} for query_id, docs in judged.items()}


class ForbiddenEvaluator(FromPlain):
    """Evaluates metrics of forbidden documents alone, under one set of rules; `harmful` are the forbidden ones."""

    def __init__(
        self, prepare: Callable[..., PlainEvaluator], qrels: Qrels, settings: Settings, harmful: Qrels | None
    ) -> None:
        if harmful is None:
            text = quote(settings.requests[0].text)
            raise UnknownMetricError(
                f"metric {text} needs {ID_PROPERTIES[FORBIDDEN]}={{query_id: doc_ids}}; none were given"
            )
        self.settings = settings
        options = settings.options._replace(convention="fastir", choices=())
        derived = tuple(str(request._replace(level=None)) for request in settings.requests)
        helping = tuple(map(str, settings.requests))
        self.names: tuple[Any, Any] = derived, helping
        always = options.replace(rel_level=1, empty="zero")
        self.harm: PlainEvaluator = prepare(harmful, compile_derived(derived, always))
        subtracted = any(request.card.name in LESS_HARM for request in settings.requests)
        self.plain: PlainEvaluator = prepare(
            qrels, compile_derived(helping, settings.options) if subtracted else compile_settings((NUM_Q,), options)
        )

    def answer(self, run: Any, n_threads: SupportsIndex | None, plain: RunValues) -> RunValues:
        """The result of `measure`, from the values of the job."""
        query_ids, found, status, coverage = plain
        harmed = self.harm.measure(run, n_threads)[1]
        values = np.empty((len(query_ids), len(self.settings.requests)))
        derived, helping = self.names
        for column, request in enumerate(self.settings.requests):
            harm = harmed[:, self.harm.settings.names.index(derived[column])]
            if request.card.name in LESS_HARM:
                harm = np.maximum(found[:, self.plain.settings.names.index(helping[column])] - harm, request.card.low)
            values[:, column] = harm
        return query_ids, values, status, coverage
