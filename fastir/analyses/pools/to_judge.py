"""to_judge(): which unjudged documents could change the differences between runs most.

The influence of a document: how much the value of each run would change if it got the largest label, and how far these
changes are apart, added up over all pairs of runs. A document that all runs have at the same rank changes no
difference, and can wait.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.pools.changes import IN_POOL, UNJUDGED, Changes
from fastir.analyses.pools.contributions import JudgmentRanks, check_overlap, read_labels
from fastir.analyses.pools.pool import save_list
from fastir.checks import positive_integer, refuse_options
from fastir.data.qrels import Qrels
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.data.run import Run
from fastir.engine.columns.rows import occurrences
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.drivers.judged import single_order
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.rules import select_queries
from fastir.evaluation.run_collections import Rankings, check_depth, first_documents, read_runs
from fastir.rendering.text import counted
from fastir.request.names import metric_text, refuse_mapping
from fastir.request.options import MAX_DEPTH, OTHER_OPTIONS, label_above_0, query_rule
from fastir.request.plan import refuse_micro

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.keywords import ToJudgeOptions
    from fastir.evaluation.run_collections import RunNames
    from fastir.request.options import Duplicates


DEFAULT_ORDER = {"ties": "trec", "score_dtype": "float64"}
LABEL_TIES = ("optimistic", "pessimistic")


class Candidate(NamedTuple):
    """An unjudged document.

    Attributes
    ----------
    query_id, doc_id : ids
    influence : float
        By how much the differences of the means of all pairs of runs, added up, change if it gets the largest label.
    n_runs : int
        How many runs have it, to the depth.
    """

    query_id: Any
    doc_id: Any
    influence: float
    n_runs: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ToJudge(Exportable):
    """The documents to judge next, the most influential first; made by `to_judge`.

    Attributes
    ----------
    candidates : list of Candidate
        The documents to judge, as many as the budget allows.
    n_unjudged : int
        The number of unjudged documents in all.
    uncertainty : float
        The summed influence of all unjudged documents.
    covered : float
        The summed influence of `candidates`.
    metric : str
    """

    _printed_rows = 10

    candidates: list[Candidate]
    n_unjudged: int
    uncertainty: float
    covered: float
    metric: str

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def query_ids(self) -> list[Any]:
        """The queries of the candidates, as a new list."""
        return list(dict.fromkeys(candidate.query_id for candidate in self.candidates))

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Candidate._fields, self.candidates)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list in this order, for assessors to work through; formats and errors are as for `Pool.save`.

        A path that ends in .tsv gets query_id, doc_id, influence and n_runs, separated by tabs.
        """
        save_list(path, Candidate._fields, self.candidates)

    def _title(self) -> str:
        share = f", with {self.covered / self.uncertainty:.0%} of the influence" if self.uncertainty else ""
        documents = counted(self.n_unjudged, "unjudged document", "unjudged documents")
        return f"{len(self)} of {documents}{share} on {self.metric}"


def to_judge(
    qrels: QrelsLike,
    runs: RunsLike,
    metric: str,
    budget: SupportsIndex,
    *,
    names: RunNames = "stem",
    pool_depth: SupportsIndex | None = 100,
    max_label: SupportsIndex | SupportsFloat | None = None,
    duplicates: Duplicates | None = None,
    **options: Unpack[ToJudgeOptions],
) -> ToJudge:
    """List unjudged documents in the order of how much they could change the differences between runs.

    Parameters
    ----------
    qrels, runs, names : as for `evaluate_many`
        A negative label is no judgment: its document can be judged. Until then it counts as in `evaluate`. Queries
        without qrels are not considered.
    metric : str
    budget : int
        How many documents can be judged.
    pool_depth : int or None
        The last rank at which unjudged documents are considered; None is all.
    max_label : number or None
        The label that a document may get; None is the largest of the qrels, at least 1.
    duplicates : str or None
        As for `evaluate`.
    **options
        Options of `evaluate`: rel_level, queries, ties, score_dtype, judged_only, max_depth, min_score, n_threads,
        convention, and parameters of the metric, such as gain and empty.

    Returns
    -------
    ToJudge

    Raises
    ------
    NoOverlapError, UnknownMetricError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate_many`; there is only one run; the budget or the label is not positive; ``ties`` is "optimistic",
        "pessimistic" or "average", or so is the convention's rule for the metric.

    Notes
    -----
    Influence is exact for one document, under every convention that puts documents in one order. It is not a bound for
    several. After each batch call it again with the new judgments.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1, "b": 0}}
    >>> runs = {"bm25": {"q1": {"a": 3.0, "c": 2.0, "d": 1.0}}, "dense": {"q1": {"e": 3.0, "c": 2.0, "a": 1.0}}}
    >>> for candidate in fastir.to_judge(qrels, runs, "p@2", 2):
    ...     print(candidate)
    Candidate(query_id='q1', doc_id='e', influence=0.5, n_runs=1)
    Candidate(query_id='q1', doc_id='c', influence=0.0, n_runs=2)
    """
    refuse_mapping(metric)
    if not isinstance(metric, str):
        raise TypeError(f"metric must be the name of one metric, got {type(metric).__name__} {quote(metric)}")
    metric = metric_text(metric)
    budget = positive_integer("budget", "the number of documents to judge", budget, MAX_DEPTH)
    depth = check_depth(pool_depth)
    refuse_options(
        "to_judge",
        options,
        (*OTHER_OPTIONS, "validate", "ties_report"),
        "runs are read as they are, and queries count alike",
    )
    everything, rest = read_labels(qrels, duplicates), dict(options)
    rest["queries"], query_ids = query_rule(options.get("queries"))
    if query_ids is not None:
        everything = read_labels(select_queries(Qrels.from_dict(everything), query_ids))
    order, only_shared = metric_order(everything, metric, duplicates, rest)
    low = {"min_score": rest.pop("min_score", None), "single": order["score_dtype"] == "float32"}
    by_name = read_runs(runs, None, order["duplicates"], None, names, judgments=qrels, **low)
    if len(by_name) < 2:
        raise ValueError("to_judge needs two runs or more, got 1")
    check_overlap(everything, by_name)
    if rest["queries"] == "strict":
        check_strict(everything, by_name)
    labels = {q: {doc_id: n if n >= 0 else IN_POOL for doc_id, n in by_doc.items()} for q, by_doc in everything.items()}
    largest = max((label for by_doc in labels.values() for label in by_doc.values()), default=1)
    label = max(1, largest) if max_label is None else label_above_0("max_label", max_label)
    judgment_ranks = with_candidates(labels, by_name, depth, {name: order[name] for name in ("ties", "score_dtype")})
    metric_options = {name: value for name, value in rest.items() if name not in ("score_dtype", "queries")}
    changes = Changes(judgment_ranks, by_name, label, metric, metric_options, only_shared)
    queries = judgment_ranks.rows[judgment_ranks.labels < 0]
    n_runs = occurrences(changes.candidates[changes.ranks <= depth], minlength=len(queries))
    influences = candidate_influences(changes, queries)
    ids = (
        (q, doc_id) for q, by_doc in judgment_ranks.judgments.items() for doc_id, label in by_doc.items() if label < 0
    )
    candidates = [
        Candidate(*pair, influence, n)
        for pair, influence, n in zip(ids, influences.tolist(), n_runs.tolist(), strict=True)
        if n  # a negative label that no run has to the depth only counts
    ]
    candidates.sort(key=lambda candidate: (-candidate.influence, str(candidate.doc_id)))
    chosen = candidates[:budget]
    total, covered = (float(np.sum([c.influence for c in part])) for part in (candidates, chosen))
    return ToJudge(chosen, len(candidates), total, covered, metric)


def check_strict(labels: Collection[Any], runs: Mapping[Hashable, Run]) -> None:
    """Raise NoOverlapError for a query that is missing from one of the runs or from the judgments."""
    for name, run in runs.items():
        for query_ids, others, side in ((labels, run, "run"), (run, labels, "qrels")):
            missing = [query_id for query_id in query_ids if query_id not in others]
            if missing:
                raise NoOverlapError(
                    f"run {quote(name)}: queries='strict', but query {quote(missing[0])} is missing from the {side}"
                )


def metric_order(
    qrels: QrelsLike, metric: str, duplicates: Duplicates | None, options: Mapping[str, Any]
) -> tuple[dict[str, Any], bool]:
    """The rules for the order of documents under the metric, and whether only queries of a run count in its mean."""
    prepared = Evaluator(qrels, metric, duplicates=duplicates, **options).rules.prepared
    refuse_micro(prepared.settings, "what a document changes there is not known")
    if len(prepared.settings.names) > 1:
        raise ValueError(f"metric {quote(metric)} means several, {', '.join(prepared.settings.names)}; give one")
    order = single_order(prepared)
    if order["ties"] in LABEL_TIES:
        raise ValueError(
            f"to_judge: with ties={order['ties']!r} a label changes the order of documents, so that no document can be "
            "judged alone; give ties='trec', 'doc_id_asc' or 'input'"
        )
    settings = prepared.evaluators()[0].settings
    return order, settings.queries == "intersection"


def with_candidates(
    labels: dict[Any, dict[Any, float]], runs: Mapping[Hashable, Run], depth: int, order: dict[str, Any]
) -> JudgmentRanks:
    """The judgments, and below each query's judgments the other documents of its rankings, with the label UNJUDGED."""
    judged = JudgmentRanks(labels, runs, **order)
    if order == DEFAULT_ORDER:
        rankings = [first_documents(run, depth, judged.ranked.get(name)) for name, run in runs.items()]
        return JudgmentRanks(add_unjudged(labels, rankings), runs)
    everything = JudgmentRanks(
        add_unjudged(labels, [first_documents(run, MAX_DEPTH) for run in runs.values()]), runs, **order
    )
    near = everything.labels != UNJUDGED
    for ranked in everything.ranked.values():
        near[ranked.labels[ranked.ranks <= depth]] = True
    flags = iter(near.tolist())
    kept = {q: {doc_id: n for doc_id, n in by_doc.items() if next(flags)} for q, by_doc in everything.judgments.items()}
    return JudgmentRanks(kept, runs, **order)


def add_unjudged(labels: dict[Any, dict[Any, float]], rankings: list[Rankings]) -> dict[Any, dict[Any, float]]:
    """The judgments of each query and the documents of its rankings, in this order."""
    documents = {}
    for query_id, by_doc in labels.items():
        pooled = itertools.chain.from_iterable(of_run.get(query_id, ()) for of_run in rankings)
        documents[query_id] = {**by_doc, **dict.fromkeys(pooled, UNJUDGED), **by_doc}  # each with its own label
    return documents


def candidate_influences(changes: Changes, queries: np.ndarray) -> np.ndarray:
    """By how much each candidate changes the differences of its query; `queries` has their positions, rising."""
    _, n_queries, n_runs = changes.outside.shape
    starts = np.searchsorted(queries, np.arange(n_queries + 1)).tolist()
    rows = np.searchsorted(changes.rankings, np.arange(n_queries + 1) * n_runs).tolist()
    influences = np.empty(len(queries))
    kinds = changes.in_pool.astype(int)
    for query in range(n_queries):
        first, end = starts[query : query + 2]
        part = slice(*rows[query : query + 2])
        columns = np.ascontiguousarray(changes.outside[kinds[first:end], query].T)
        columns[changes.rankings[part] % n_runs, changes.candidates[part] - first] = changes.inside[part]
        influences[first:end] = spreads(columns)
    return influences


def spreads(columns: np.ndarray) -> np.ndarray:
    """For each column the differences of all pairs of rows, added up without their signs."""
    n = len(columns)
    return np.maximum(np.arange(1 - n, n, 2) @ np.sort(columns, axis=0), 0.0)
