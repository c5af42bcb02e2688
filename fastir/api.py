"""evaluate(), Evaluator and evaluate_ranked(): wire the steps together, compute nothing."""

import os
import warnings

import numpy as np

from fastir import _judge, _measure
from fastir.errors import FastirWarning, NoOverlapError, quote
from fastir.inputs import dicts
from fastir.plan import compile_plan
from fastir.qrels import Qrels
from fastir.results import Report, Results
from fastir.runs import Run
from fastir.threads import thread_count

TIES = ("trec", "doc_id_asc", "input")
QUERIES = ("qrels", "intersection", "strict")
SCORES = ("float64", "float32")
DUPLICATES = (None, "first", "last", "max")


def one_of(name, value, choices):
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {quote(value)}")
    return value


class Evaluator:
    """Qrels and metrics prepared once, for any number of runs.

    Immutable, thread-safe and picklable. Parameters as for `evaluate`.
    """

    def __init__(self, qrels, metrics, *, rel_level=1, queries=None, ties="trec", judged_only=False, max_depth=None,
                 score_dtype="float64", n_threads=None, duplicates=None, **choices):
        self._options = dict(rel_level=rel_level, queries=queries, ties=ties, judged_only=judged_only,
                             max_depth=max_depth, score_dtype=score_dtype, n_threads=n_threads, duplicates=duplicates,
                             **choices)
        one_of("queries", queries, (None, *QUERIES))
        one_of("score_dtype", np.dtype(score_dtype).name if score_dtype not in SCORES else score_dtype, SCORES)
        one_of("duplicates", duplicates, DUPLICATES)
        self._ties = TIES.index(one_of("ties", ties, TIES))
        self._single = np.dtype(score_dtype) == np.float32
        self._queries = queries
        self._duplicates = duplicates
        self._n_threads = n_threads
        thread_count(n_threads, 0)
        self._compiled = compile_plan(metrics, rel_level, judged_only, max_depth, choices)
        if isinstance(qrels, (str, bytes, os.PathLike)):
            qrels = Qrels.from_file(qrels, duplicates=duplicates)
        elif not isinstance(qrels, Qrels):
            qrels = Qrels.from_dict(qrels)
        if len(qrels) == 0:
            raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
        self._qrels = qrels
        self._judged = qrels.prepared()
        check_labels(self._compiled.label_limits, self._judged)

    def __reduce__(self):
        return _rebuild, (self._qrels, self._compiled.names, self._options)

    def evaluate(self, run):
        """Evaluate one run.

        Parameters
        ----------
        run : dict of dict, path or Run
            ``{query_id: {doc_id: score}}``, a TREC run file, or a `Run`.

        Returns
        -------
        Results

        Raises
        ------
        FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        """
        judged, compiled = self._judged, self._compiled
        n = judged.n_queries
        values = np.empty((n, len(compiled.names)))
        status = np.zeros(n, np.uint8)
        judged.relevant_status(compiled.level, status)
        repairs = dict(self._qrels.repairs)
        if isinstance(run, (str, bytes, os.PathLike)):
            run = Run.from_file(run, duplicates=self._duplicates)
        if isinstance(run, Run):
            for kind, (count, place) in run.repairs.items():
                repairs[kind] = (count + repairs[kind][0], repairs[kind][1]) if kind in repairs else (count, place)
            find = run.find()
            places = np.array([find.get(query_id, -1) for query_id in judged.query_ids], np.int64)
            found = int((places >= 0).sum())
            self._meet(found, run)
            threads = thread_count(self._n_threads, len(run._scores))
            counts = _judge.judge_columns(judged, compiled.plan, *run.columns(), places, values, status, self._ties,
                                          self._single, threads)
        else:
            run = dicts.query_dict(run, "run")
            found = sum(query_id in run for query_id in judged.query_ids)
            self._meet(found, run)
            counts = _judge.judge_dict(judged, compiled.plan, run, values, status, self._ties, self._single)
        report = self._report(run, found, counts, status, repairs)
        self._warn(report)
        query_ids = judged.query_ids
        if self._queries == "intersection":
            kept = status != 1
            query_ids = [query_id for query_id, keep in zip(query_ids, kept.tolist(), strict=True) if keep]
            values, status = values[kept], status[kept]
        return Results(query_ids, compiled.names, values, status, compiled.aggregates, report)

    def _meet(self, found, run):
        """Refuse query sets that the options do not allow."""
        if len(run) == 0:
            raise NoOverlapError("the run is empty: no results, no queries")
        if found == 0:
            raise NoOverlapError(f"no query in common: the qrels have {quote(self._judged.query_ids[0])}, "
                                 f"the run has {quote(next(iter(run)))}")
        if self._queries == "strict" and not found == len(run) == self._judged.n_queries:
            missing = [query_id for query_id in self._judged.query_ids if query_id not in run]
            extra = set(run).difference(self._judged.query_ids)
            first, side = (missing[0], "run") if missing else (min(extra), "qrels")
            raise NoOverlapError(f"queries='strict', but query {quote(first)} is missing from the {side} "
                                 f"({len(missing)} missing from the run, {len(extra)} from the qrels)")

    def _report(self, run, found, counts, status, repairs):
        _, tied, tied_example, ranked, unjudged, nothing, nothing_example = counts
        ids = self._judged.query_ids
        only_in_run = len(run) - found
        missing, empty = status == 1, status == 2

        def example(mask):
            return ids[int(mask.argmax())] if mask.any() else None

        known = set(ids) if only_in_run else ()
        return Report(
            in_both=found, in_both_example=example(~missing),
            only_in_qrels=int(missing.sum()), only_in_qrels_example=example(missing),
            only_in_run=only_in_run, only_in_run_example=next((q for q in run if q not in known), None) if only_in_run else None,
            no_relevant=int(empty.sum()), no_relevant_example=example(empty),
            nothing_judged=nothing, nothing_judged_example=ids[nothing_example] if nothing else None,
            queries_with_ties=tied, queries_with_ties_example=ids[tied_example] if tied else None,
            unjudged_share=unjudged / ranked if ranked else None,
            repairs=repairs,
        )  # fmt: skip

    def _warn(self, report):
        told = []
        if self._queries is None:
            if report.only_in_qrels:
                told.append(f"{report.only_in_qrels} queries of the qrels are missing from the run and count as empty "
                            f"rankings (such as {quote(report.only_in_qrels_example)}; queries='qrels' accepts this, "
                            "'intersection' leaves them out)")
            if report.only_in_run:
                told.append(f"{report.only_in_run} queries of the run are not in the qrels and were ignored "
                            f"(such as {quote(report.only_in_run_example)})")
        if report.nothing_judged:
            told.append(f"{report.nothing_judged} rankings hold no judged document (such as that of query "
                        f"{quote(report.nothing_judged_example)})")
        if "duplicates" in report.repairs:
            told.append(f"{report.repairs['duplicates'][0]} duplicates were repaired ({report.repairs['duplicates'][1]})")
        if told:
            warnings.warn("; ".join(told), FastirWarning, stacklevel=4)


def _rebuild(qrels, metrics, options):
    return Evaluator(qrels, metrics, **options)


def check_labels(limits, judged):
    if not limits:
        return
    limit, text, why = min(limits, key=lambda entry: entry[0])
    for label, query, doc_id in judged.top_labels():
        if label > limit:
            raise OverflowError(f"metric {quote(text)}: label {label} is too large for {why} "
                                f"(query {judged.query_ids[query]}, document {doc_id})")


def evaluate(qrels, run, metrics, *, rel_level=1, queries=None, ties="trec", judged_only=False, max_depth=None,
             score_dtype="float64", n_threads=None, duplicates=None, **choices):
    """Evaluate a run against qrels.

    Parameters
    ----------
    qrels : dict of dict, path or Qrels
        ``{query_id: {doc_id: label}}``; a negative label means in the pool, not judged.
    run : dict of dict, path or Run
        ``{query_id: {doc_id: score}}``.
    metrics : str or iterable of str
        Such as ``"ndcg@10"``; `metrics` lists them, `explain` says what one means.
    rel_level : int
        Documents with at least this label are relevant; gains do not change.
    queries : {None, "qrels", "intersection", "strict"}
        Which queries count. None is "qrels", where a query missing from the run is an empty ranking, with a warning.
    ties : {"trec", "doc_id_asc", "input"}
        Order of equal scores: id descending by bytes, ascending, or as they came.
    judged_only : bool
        Remove documents without a judgment from the rankings (after max_depth).
    max_depth : int or None
        Read only so many documents of each ranking.
    score_dtype : {"float64", "float32"}
        Precision in which scores are compared; "float32" gives the ties of trec_eval 9.
    n_threads : int or None
        None uses the processors there are if the work is worth it. Values never depend on it.
    duplicates : {None, "first", "last", "max"}
        What to do with a document that stands twice in a file; None is an error.
    **choices
        Parameters of the metrics, for all that have them: ap_norm, discount, empty, gain, gains, ideal, max_grade.

    Returns
    -------
    Results
        The mean of each metric by the name given, and all values per query.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError

    Examples
    --------
    >>> import fastir
    >>> fastir.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "mrr")["mrr"]
    0.5
    """
    return Evaluator(qrels, metrics, rel_level=rel_level, queries=queries, ties=ties, judged_only=judged_only,
                     max_depth=max_depth, score_dtype=score_dtype, n_threads=n_threads, duplicates=duplicates,
                     **choices).evaluate(run)


def label_array(labels, name):
    """Labels as contiguous int32, every value checked."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} must have 1 dimension, got shape {array.shape}")
    if array.dtype.kind == "f":
        if array.size and not np.isfinite(array).all():
            raise ValueError(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not a finite number")
        whole = array == np.floor(array)
        if not whole.all():
            place = int(np.argmin(whole))
            raise ValueError(f"{name}[{place}] = {array[place]} is not a whole number; labels must be integers")
    elif array.dtype.kind not in "iub" and array.size:
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
        raise OverflowError(f"{name} holds a label outside [-2^31, 2^31 - 1]; out of range")
    return np.ascontiguousarray(array, np.int32)


def offset_array(offsets, n, name, what):
    """Offsets as contiguous int64: from 0, never falling, up to n."""
    array = np.asarray(offsets)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must have 1 dimension and at least one entry, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    array = np.ascontiguousarray(array, np.int64)
    if array[0] != 0:
        raise ValueError(f"{name} must start at 0, got offset {array[0]}")
    falls = np.diff(array) < 0
    if falls.any():
        i = int(falls.argmax()) + 1
        raise ValueError(f"{name}[{i}] = {array[i]} < {name}[{i - 1}] = {array[i - 1]}; offsets must not fall")
    if array[-1] != n:
        raise ValueError(f"{what} has {n} entries but {name} ends at {array[-1]}")
    return array


def evaluate_ranked(labels, offsets, metrics, *, ideal_labels=None, ideal_offsets=None, rel_level=1, judged_only=False,
                    max_depth=None, n_threads=None, **choices):
    """Evaluate rankings given as labels in rank order, without ids.

    Parameters
    ----------
    labels : array of shape (n_documents,), integers of any dtype and stride, or whole floats
        The label at each rank, query after query. -1: not in the qrels; below: in the pool without a judgment.
    offsets : integer array of shape (n_queries + 1,)
        Where each query begins; from 0 to n_documents.
    metrics : str or iterable of str
    ideal_labels, ideal_offsets : arrays or None
        All judged labels of each query, in any order; without them the list itself is all that was judged.
    rel_level, judged_only, max_depth, n_threads, **choices
        As in `evaluate`.

    Returns
    -------
    Results
        query_ids are 0 to n_queries - 1.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError, OverflowError
    """
    compiled = compile_plan(metrics, rel_level, judged_only, max_depth, choices)
    labels = label_array(labels, "labels")
    offsets = offset_array(offsets, len(labels), "offsets", "labels")
    if (ideal_labels is None) != (ideal_offsets is None):
        raise ValueError("ideal_labels and ideal_offsets must be given together")
    if ideal_labels is None:
        ideal_labels, ideal_offsets = labels, offsets
    else:
        ideal_labels = label_array(ideal_labels, "ideal_labels")
        ideal_offsets = offset_array(ideal_offsets, len(ideal_labels), "ideal_offsets", "ideal_labels")
        if len(ideal_offsets) != len(offsets):
            raise ValueError(f"ideal_offsets has {len(ideal_offsets)} entries but offsets {len(offsets)}; lengths must match")
    for limit, text, why in compiled.label_limits:
        for array, bounds in ((labels, offsets), (ideal_labels, ideal_offsets)):
            if array.size and array.max() > limit:
                place = int(array.argmax())
                query = int(np.searchsorted(bounds, place, "right")) - 1
                raise OverflowError(f"metric {quote(text)}: label {array[place]} is too large for {why} "
                                    f"(query {query}, document {place - int(bounds[query])})")
    n = len(offsets) - 1
    values = np.empty((n, len(compiled.names)))
    status = np.zeros(n, np.uint8)
    pad = np.zeros(1, np.int32)
    threads = thread_count(n_threads, len(labels))
    if n:
        _measure.measure_ranked(compiled.plan, labels if labels.size else pad, offsets,
                                ideal_labels if ideal_labels.size else pad, ideal_offsets, values, status, compiled.level,
                                threads)
    empty = int((status == 2).sum())
    report = Report(in_both=n, in_both_example="0" if n else None, no_relevant=empty,
                    no_relevant_example=str(int((status == 2).argmax())) if empty else None,
                    unjudged_share=float((labels < 0).mean()) if labels.size else None)
    return Results(list(range(n)), compiled.names, values, status, compiled.aggregates, report)
