"""evaluate(), Evaluator and evaluate_ranked(): wire the steps together, compute nothing."""

import os

import numpy as np

from fastir import _columns, _dicts, _measure
from fastir.errors import NoOverlapError, quote
from fastir.inputs import dicts, ranked, trec
from fastir.many import evaluate_runs
from fastir.meeting import MISSING, Meeting
from fastir.plan import metric_tuple, settings
from fastir.qrels import Qrels
from fastir.results import Report, Results
from fastir.runs import Run
from fastir.threads import thread_count


class Evaluator:
    """Qrels and metrics prepared once, for any number of runs.

    Immutable, thread-safe and picklable. Parameters as for `evaluate`.
    """

    def __init__(self, qrels, metrics, *, rel_level=1, queries=None, ties="trec", judged_only=False, max_depth=None,
                 score_dtype="float64", n_threads=None, duplicates=None, **choices):
        self._asked = (metric_tuple(metrics), rel_level, queries, ties, judged_only, max_depth, score_dtype, n_threads,
                       duplicates, choices)
        self._settings = settings(*self._asked)
        if isinstance(qrels, (str, bytes, os.PathLike)):
            qrels = Qrels.from_file(qrels, duplicates=duplicates)
        elif not isinstance(qrels, Qrels):
            qrels = Qrels.from_dict(qrels)
        if len(qrels) == 0:
            raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
        self._qrels = qrels
        self._judged = qrels.prepared()
        self._status = self._judged.status(self._settings.level)
        if self._settings.label_limits:
            check_labels(self._settings.label_limits, self._judged)

    def __reduce__(self):
        metrics, *options, choices = self._asked
        return _rebuild, (self._qrels, metrics, dict(zip(OPTIONS, options, strict=True)), choices)

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
        results, meeting = self._evaluate(run, self._settings.n_threads)
        meeting.warn(self._settings.queries)
        return results

    def evaluate_many(self, runs):
        """Evaluate many runs; files and `Run` objects at the same time.

        Parameters
        ----------
        runs : mapping of name to run, or iterable of (name, run)
            Runs as for `evaluate`, names as you like. An iterable is read one pair at a time.

        Returns
        -------
        ResultsByRun
            A dict {name: Results} in the order of the runs; it prints as a table and has `to_pandas`.

        Raises
        ------
        FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
            As for `evaluate`, with the name of the run; then no results are returned.
        """
        return evaluate_runs(self, runs)

    def _evaluate(self, run, n_threads, watch=None):
        """The Results of a run and its Meeting, which has not warned yet; watch(position) is called at every block."""
        judged, settings = self._judged, self._settings
        values = np.empty((judged.n_queries, len(settings.names)))
        status = self._status.copy()
        if type(run) is not dict and isinstance(run, (str, bytes, os.PathLike)):
            meeting = self._from_file(run, values, status, n_threads, watch)
        elif isinstance(run, Run):
            meeting = self._from_columns(run, values, status, n_threads, watch)
        else:
            run = dicts.query_dict(run, "run")
            tally, uncounted = _dicts.judge_dict(judged, settings.plan, run, values, status, settings.ties, settings.single)
            meeting = Meeting(judged, settings.plan, status, tally, len(run), run, self._qrels.repairs, uncounted)
        found = meeting.tally[0]
        if not found == judged.n_queries == meeting.n_run:
            meeting.check(settings.queries)
        query_ids = judged.query_ids
        if settings.queries == "intersection" and found < judged.n_queries:
            kept = status != MISSING
            query_ids = [query_id for query_id, keep in zip(query_ids, kept.tolist(), strict=True) if keep]
            values, status = values[kept], status[kept]
        return Results(query_ids, settings.names, values, status, settings.aggregates, meeting), meeting

    def _from_file(self, path, values, status, n_threads, watch):
        judged, settings = self._judged, self._settings
        streamed = None
        if settings.duplicates is None:
            streamed = trec.evaluate(path, judged, settings, values, status, n_threads, watch)
        if streamed is None:
            run = Run(*trec.read(path, True, settings.duplicates, watch))
            return self._from_columns(run, values, status, n_threads, watch)
        tally, foreign, repairs = streamed
        return Meeting(judged, settings.plan, status, tally, tally[0] + len(foreign), foreign, self._repairs(repairs))

    def _from_columns(self, run, values, status, n_threads, watch):
        judged, settings = self._judged, self._settings
        find = run.find()
        places = np.array([find.get(query_id, -1) for query_id in judged.query_ids], np.int64)
        threads = thread_count(n_threads, run.n_rows)
        tally = _columns.judge_columns(judged, settings.plan, *run.columns(), places, values, status, settings.ties,
                                       settings.single, threads, watch)
        return Meeting(judged, settings.plan, status, tally, len(run), run, self._repairs(run.repairs))

    def _repairs(self, repairs):
        """The qrels' repairs and the run's, counted together."""
        both = dict(self._qrels.repairs)
        for kind, (count, place) in repairs.items():
            both[kind] = (count + both[kind][0], both[kind][1]) if kind in both else (count, place)
        return both


OPTIONS = ("rel_level", "queries", "ties", "judged_only", "max_depth", "score_dtype", "n_threads", "duplicates")


def _rebuild(qrels, metrics, options, choices):
    return Evaluator(qrels, metrics, **options, **choices)


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


def evaluate_many(qrels, runs, metrics, **options):
    """Evaluate many runs against the same qrels.

    Parameters
    ----------
    qrels, metrics, **options
        As for `evaluate`. n_threads counts the threads of all runs together; values never depend on it.
    runs : mapping of name to run, or iterable of (name, run)
        Runs as for `evaluate`, names as you like. Files and `Run` objects are evaluated at the same time, dicts one
        after the other. An iterable is read one pair at a time.

    Returns
    -------
    ResultsByRun
        A dict {name: Results} in the order of the runs; it prints as a table and has `to_pandas`.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As for `evaluate`, with the name of the run; then no results are returned.

    Examples
    --------
    >>> import fastir
    >>> runs = {"x": {"q": {"a": 2.0}}, "y": {"q": {"b": 2.0, "a": 1.0}}}
    >>> fastir.evaluate_many({"q": {"a": 1}}, runs, ["mrr", "p@1"])
    run     mrr     p@1
    x    1.0000  1.0000
    y    0.5000  0.0000
    """
    return Evaluator(qrels, metrics, **options).evaluate_many(runs)


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
    asked = settings(metric_tuple(metrics), rel_level, None, "trec", judged_only, max_depth, "float64", n_threads, None, choices)
    labels, offsets, ideal_labels, ideal_offsets = ranked.both(labels, offsets, ideal_labels, ideal_offsets)
    ranked.check_labels(asked.label_limits, labels, offsets)
    ranked.check_labels(asked.label_limits, ideal_labels, ideal_offsets)
    n = len(offsets) - 1
    values = np.empty((n, len(asked.names)))
    status = np.zeros(n, np.uint8)
    pad = np.zeros(1, np.int32)
    threads = thread_count(n_threads, len(labels))
    if n:
        _measure.measure_ranked(asked.plan, labels if labels.size else pad, offsets,
                                ideal_labels if ideal_labels.size else pad, ideal_offsets, values, status, asked.level,
                                threads)
    empty = int((status == 2).sum())
    report = Report(in_both=n, in_both_example="0" if n else None, no_relevant=empty,
                    no_relevant_example=str(int((status == 2).argmax())) if empty else None,
                    unjudged_share=float((labels < 0).mean()) if labels.size else None)
    return Results(list(range(n)), asked.names, values, status, asked.aggregates, report)
