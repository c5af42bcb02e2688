"""Runs that are lists of ids in rank order: a dict of them, or columns of lists.

A rule that such lists do not share with the join, and integers of more than 64 bits, take them as a Run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run
from fastir.engine.columns import id_lists
from fastir.engine.columns._dicts import has_plain_keys
from fastir.engine.join._contiguous import Columns
from fastir.engine.join._dicts import rows_if_few
from fastir.engine.join._id_lists import Lists, id_kinds, longest_list
from fastir.engine.join._join import JoinRules
from fastir.engine.threads import LONG_QUERY_ROWS, interruptible, longest_query, share_all, thread_count
from fastir.evaluation.drivers.coverage import Coverage
from fastir.evaluation.drivers.in_memory import STRETCH_ROWS, few_or_all, from_run
from fastir.inputs import dicts

if TYPE_CHECKING:
    from fastir.evaluation.drivers.prepared import PreparedQrels, Task
    from fastir.inputs.files import Repairs
    from fastir.inputs.id_lists import ListColumns

FIRST_COPY_RULES = ("first", "max")  # the rules that leave the first of a document's copies in a list


def join_rules(prepared: PreparedQrels) -> JoinRules:
    """The rules of a join of lists, which are the same for all runs."""
    if prepared.list_rules is None:
        rules = prepared.join_rules()
        rules.single = rules.only_judged = False
        rules.removes = prepared.settings.options.duplicates in FIRST_COPY_RULES
        prepared.list_rules = rules
    return prepared.list_rules


def needs_a_run(prepared: PreparedQrels, integers: Any) -> bool:
    """Whether the join of lists cannot follow the rules, and a Run must be made of them."""
    prepared.refuse_unscored("lists of ids have")
    parents = prepared.stand_for
    if parents is None:
        return prepared.settings.options.duplicates == "last"
    if parents.aggregate not in (None, "max"):
        raise ValueError(
            f"aggregate={parents.aggregate!r} needs scores, and the run is a list of document ids in rank order"
        )
    return prepared.settings.options.duplicates == "last" or bool(integers) or not parents.is_table


def from_lists(task: Task) -> Coverage:
    """Evaluate a dict of lists in rank order, in the caller's thread, like a dict of dicts."""
    prepared, run = task.prepared, task.run
    rule = prepared.settings.options.duplicates
    if type(run) is not dict or not has_plain_keys(run):
        run = dicts.query_dict(run, "run")
    kinds = id_kinds(run)
    repairs: Repairs = {}
    if kinds != prepared.kinds and prepared.stand_for is None:
        repairs = dicts.compare_id_types(run, kinds, prepared.kinds, repairs)
    integers = kinds[1] is int
    if needs_a_run(prepared, integers):
        return from_run(task.with_run(Run.from_dict(run, rule)))
    join = Lists(join_rules(prepared), task.values, task.status, 1, integers)
    integer_queries = kinds[0] is int
    rows = None if task.min_missing_queries is None else rows_if_few(prepared.judged, run, task.min_missing_queries)
    longest = longest_list(run)
    if longest <= LONG_QUERY_ROWS:
        whole = join.read(run, integer_queries, rows)
    else:
        join.releases_gil = True
        copied = {query_id: ids[:] if type(ids) is list else ids for query_id, ids in run.items()}
        whole = interruptible(lambda: join.read(copied, integer_queries, rows), longest)
    if not whole:
        return from_run(task.with_run(Run.from_dict(run, rule)))
    return few_or_all(task, join.finish(rows), len(run), run, repairs, rows)


def from_list_columns(task: Task) -> Coverage:
    """Evaluate columns of lists in segments that threads share; most often they have the queries of the qrels."""
    prepared = task.prepared
    run: ListColumns = task.run
    rule = prepared.settings.options.duplicates
    integers = run.integers
    if run.numbers is not None or needs_a_run(prepared, integers):
        return from_run(task.with_run(Run(*run.run_columns(rule))))
    n_queries = len(run)
    threads = thread_count(task.n_threads, run.n_rows)
    join = Columns(join_rules(prepared), task.values, task.status, threads, bool(integers))
    stretch = max(1, n_queries * STRETCH_ROWS // max(1, run.n_rows))
    first_query = 0
    rows = None  # of each query of the qrels the position of its list, or -1
    if run.query_ids != prepared.judged.query_ids:
        position = {str(query_id): place for place, query_id in enumerate(run.query_ids)}
        found = (position.get(str(query_id), -1) for query_id in prepared.judged.query_ids)
        rows = np.fromiter(found, np.int64, prepared.judged.n_queries)
    for offsets, docs in run.batches:
        n, n_judged = len(offsets) - 1, prepared.judged.n_queries
        if rows is None:
            begin, end = first_query, first_query + n
            places = np.full(n_judged, -1, np.int64)
            places[begin:end] = np.arange(n)
        else:
            begin, end = 0, n_judged
            places = np.where((rows >= first_query) & (rows < first_query + n), rows - first_query, -1)
        read_batch(join, docs, offsets, places, (begin, end), stretch, threads, prepared.judged.query_ids)
        first_query += n
    counts = join.finish()
    as_text = integers and not prepared.qrels.columns.integers
    repairs: Repairs = {"integer ids read as text": (counts.n_ranked_docs, "the run")} if as_text else {}
    return Coverage(prepared, task.status, counts, n_queries, run.query_ids, {**run.repairs, **repairs})


def read_batch(
    join: Columns,
    docs: Any,
    offsets: np.ndarray,
    places: np.ndarray,
    queries: tuple[int, int],
    stretch: int,
    threads: int,
    query_ids: list[Any],
) -> None:
    """Evaluate the lists of one batch; `queries` are the first and the end of its range of queries."""
    first_query, end = queries
    rows = longest_query(offsets)

    def work(t: int, begin: int, number: int) -> None:
        stop = min(begin + stretch, end)
        duplicate = interruptible(lambda: join.read_run(t, docs, None, offsets, places, begin, stop), rows)
        if duplicate is not None:
            query, first, later = duplicate
            doc_id = docs[int(offsets[places[query]]) + later]
            raise id_lists.duplicate_error(query_ids[query], doc_id, first + 1, later + 1)

    share_all(range(first_query, end, stretch), work, threads)
