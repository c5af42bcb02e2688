"""evaluate_lists(): for each query the ids that were retrieved, in rank order, and those that are relevant."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from fastir.data.qrels import Qrels
from fastir.evaluation.array_call import weights_by_query
from fastir.evaluation.evaluator import make_evaluator
from fastir.evaluation.rules import EvaluationRequest
from fastir.inputs import id_lists
from fastir.inputs.parents import read_as
from fastir.request.options import checked_options

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from fastir.data.results.results import Results
    from fastir.inputs.doc_weights import DocWeights
    from fastir.inputs.exclusions import ExcludeLike
    from fastir.inputs.parents import ParentsLike
    from fastir.request.conventions import Convention
    from fastir.request.keywords import MetricOptions
    from fastir.request.options import Aggregate, Duplicates


def evaluate_lists(
    retrieved: Any,
    relevant: Any,
    metrics: str | Iterable[str],
    *,
    query_ids: Sequence[Any] | None = None,
    columns: Mapping[str, str] | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    n_threads: SupportsIndex | None = None,
    duplicates: Duplicates | None = None,
    parents: ParentsLike | None = None,
    aggregate: Aggregate = "max",
    exclude: ExcludeLike | None = None,
    weights: Mapping[Any, float] | ArrayLike | None = None,
    doc_weights: DocWeights | os.PathLike[str] | None = None,
    convention: str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate lists of retrieved ids against the relevant ids of the same queries, by query id or by position.

    If both sides carry query ids, they are joined by id, in any order; queries that one side lacks are as in
    `evaluate`. Query ids are a column of a table, a file or records, the keys of a dict, and the index of a pandas
    object. If only one side carries ids, or neither, lists are paired by position, and the numbers of queries must be
    equal. A default RangeIndex, 0 to n - 1, carries no ids. Beside it, an index with the same integers in another order
    says the numbers of its rows, and a warning tells so; other integers, and a permutation beside lists without an
    index, are paired by position, with a warning. Two columns of one frame are never joined.

    Parameters
    ----------
    retrieved : sequence of shape (n_queries,), table, path or dict
        For each query the ids in rank order: a list, tuple or array; an empty one is an empty ranking. Or an array of
        shape (n_queries, n_retrieved), or an Arrow column of lists; integer arrays and Arrow columns are read in place.
        Or a table with a row for each query, in memory, as a list of records, or in a JSON Lines or Parquet file (which
        needs pyarrow). Or ``{query_id: ids}``, if `relevant` carries query ids, too.
        Where all metrics have cutoffs, a list is read down to the deepest one, unless an option below needs more, and
        duplicates behind it are not found.
    relevant : sequence of shape (n_queries,), table, path, dict or None
        For each query the relevant ids, as a list, set, tuple or array, one id, or ``{doc_id: label}``. An id listed
        twice counts once, as the report says. Or a column or table as for `retrieved`. None: another column of that
        table.
    metrics : str or iterable of str
        Such as ``"ndcg@10"``; `metrics` lists them.
    query_ids : sequence of shape (n_queries,), of str or int, or None
        For lists that are paired by position. Distinct; None: those that one side carries, else 0 to n_queries - 1.
    columns : dict or None
        For tables, ``{"query_id": name, "retrieved": name, "relevant": name}``, for columns that have other names than
        retrieved, retrieved_ids, retrieved_doc_ids or retrieved_context_ids, and relevant, relevant_ids,
        relevant_doc_ids, expected_ids or reference_context_ids.
    rel_level, judged_only, max_depth, n_threads, duplicates, parents, aggregate, exclude, convention, **choices
        As in `evaluate`.
    weights : array of shape (n_queries,), mapping of query_id to float, or None
        As in `evaluate`; an array is in the order of `relevant`.
    doc_weights : mapping, pathlib.Path or None
        As in `evaluate`.

    Returns
    -------
    Results
        As of `evaluate`.

    Raises
    ------
    TypeError
        One side is not a sequence, or a ranking is a set or a str, or holds something other than ids.
    ValueError
        Sides that are paired by position differ in length.
    DuplicateError
        A query id by which the sides are joined is there twice.
    UnknownMetricError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> results = fastir.evaluate_lists([["c2", "c7", "c1"], ["c4"]], [{"c1", "c7"}, "c4"], ["recall@2", "mrr"])
    >>> results.per_query("recall@2")
    {0: 0.5, 1: 1.0}
    """
    options = checked_options(
        rel_level=rel_level,
        judged_only=judged_only,
        max_depth=max_depth,
        n_threads=n_threads,
        duplicates=duplicates,
        convention=convention,
        choices=choices,
    )
    documents = read_as(parents, aggregate, duplicates, exclude, convention)
    run, judged = id_lists.pair_lists(retrieved, relevant, query_ids, columns)
    qrels = Qrels.from_dict(judged) if isinstance(judged, dict) else Qrels(*judged.judged())
    query_weights = weights_by_query(weights, qrels.query_ids)
    request = EvaluationRequest(
        qrels, metrics, options, weights=query_weights, parents=documents, doc_weights=doc_weights
    )
    evaluator = make_evaluator(request)
    evaluator.rules.warn_of_fractions()
    return evaluator.evaluate(run)
