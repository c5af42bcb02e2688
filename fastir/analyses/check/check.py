"""check(): all faults of qrels and runs, each with its line or query."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from fastir.analyses.check import lines
from fastir.analyses.check.checked import KINDS, Checked, Findings
from fastir.analyses.check.held import attempt, read_data
from fastir.analyses.check.rules import DOCUMENTS, FROM_QRELS, Rules, make_rules, read_ids
from fastir.analyses.check.sides import Side, compare, examine, note_unknown
from fastir.checks import whole_number
from fastir.data.qrels import Qrels
from fastir.data.run import Run
from fastir.engine.measure import NUM_Q
from fastir.errors import FormatError, NoOverlapError
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.rules import columns_by_side, columns_of_runs
from fastir.evaluation.run_collections import is_long, refusing_names, runs_by_name
from fastir.inputs import formats, places, roles
from fastir.inputs.library_tables import is_of_ranx, plain_dict
from fastir.inputs.scored_pairs import has_pairs
from fastir.inputs.shapes import DICTS, LISTS, OTHER_OBJECT, PATH, TABLE, input_shape
from fastir.rendering.look_alikes import quote_first

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike, RunsLike
    from fastir.evaluation.run_collections import RunNames
    from fastir.inputs.files import Path, Watch

MAPPING_SHAPES = (DICTS, OTHER_OBJECT, LISTS)  # shapes that can be read twice, with ids of one kind


def check(
    qrels: QrelsLike,
    runs: RunsLike | RunLike = (),
    *,
    names: RunNames = "stem",
    max_depth: SupportsIndex | None = None,
    exactly_queries: Path | Iterable[Any] = FROM_QRELS,
    tag: str | re.Pattern[str] | None = None,
    corpus: Path | Iterable[Any] | None = None,
    qrels_format: str | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    qrels_columns: Mapping[str, str] | None = None,
    run_columns: Mapping[str, str] | None = None,
    label: SupportsFloat | None = None,
    examples: SupportsIndex = 3,
    progress: Callable[[Hashable, int], object] | None = None,
) -> Checked:
    """List all faults of runs and qrels, each with its line or id; `evaluate` stops at the first.

    Parameters
    ----------
    qrels : as for `evaluate`
    runs : as for `evaluate_many`, or one run as for `evaluate`; without any the qrels alone are checked
        Files of the formats trec, trec_eval, beir and msmarco are scanned line by line. For other data, the first fault
        that their reader refuses is listed, and what is wrong with queries, documents and scores.
    names : as for `evaluate_many`
    max_depth : int or None
        How many documents a query may have in a run; None is any number.
    exactly_queries : "qrels", path or collection of query ids
        The queries that each run must have, and no other one. A file has an id at the start of each line, or holds
        topics of TREC (``<num>`` or ``<topic number="...">``) or JSON with an object on each line.
    tag : str, pattern or None
        A regular expression that the tags of a TREC run match as a whole.
    corpus : path, table, collection of document ids, or None
        The documents of the collection: a judged or retrieved document that it has not is a fault. A file has an id at
        the start of each line; JSON Lines, CSV and Parquet have it in a column _id, id, doc_id, docno or the like.
    qrels_format, run_format : str or None
        As for `Qrels.from_file` and `Run.from_file`; None is what name and header say.
    columns, qrels_columns, run_columns : dict or None
        As for `evaluate`.
    label : float or None
        As for `evaluate`.
    examples : int
        How many faults of each kind and file the table shows, from 0 up.
    progress : function of (name, position), or None
        Called repeatedly with the number of bytes read of a run's file.

    Returns
    -------
    Checked
        Prints as a table, iterates over its records; its attribute `ok` is False if there are faults. Ties, unjudged
        documents and the like are remarks. The page docs/check.md lists all kinds.

    Raises
    ------
    OSError
        A file cannot be read.
    FormatError
        A file cannot be unpacked, a folder has no file, or a file of queries has none.
    TypeError, ValueError
        A rule or another option has another type or value; two runs have one name.
    NoOverlapError
        The corpus has none of the judged and retrieved documents.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    >>> checked = fastir.check(qrels, {"bm25": {"q1": {"a": 2.0, "c": 2.0}}})
    >>> checked.ok
    False
    >>> [(fault.kind, fault.query_id) for fault in checked.of("fault")]
    [('missing query', 'q2')]
    >>> [fault.text for fault in checked.of("remark", kind="unjudged documents")]
    ['1 of 2 ranked documents (50.0%) are not in the qrels']
    """
    rules = make_rules(max_depth, exactly_queries, tag)
    shown = whole_number("examples", examples, 0)
    sides = columns_by_side(columns, qrels_columns, run_columns, label)
    of_qrels, of_runs = sides[0], columns_of_runs(qrels, sides)
    qrels = plain_dict(qrels)
    noted = [Findings(file_name(qrels, FROM_QRELS))]
    collection = Collection(*read_ids(corpus, DOCUMENTS)) if corpus is not None else None
    judged = read_side(qrels, False, qrels_format, of_qrels, noted[0], Rules())
    if collection is not None:
        collection.compare(judged)
    for name, run in refusing_names(iterate_runs(runs, of_runs, names), of_runs if run_format is None else None):
        findings = Findings(file_name(run, str(name)))
        noted.append(findings)
        watch = None if progress is None else functools.partial(progress, name)
        side = read_side(run, True, run_format, of_runs, findings, rules, watch)
        if collection is not None:
            collection.compare(side)
        if judged is not None and side is not None:
            if judged.is_run != side.is_run:
                compare(*((side, judged) if judged.is_run else (judged, side)), rules)
            refuse_kinds(qrels, run, of_qrels, of_runs, noted[0], findings)
    if collection is not None:
        collection.refuse_other()
    return Checked(
        [fault for findings in noted for fault in findings.sort()], [findings.file for findings in noted], shown
    )


class Collection:
    """The documents of a collection, which the sides are compared with.

    Parameters
    ----------
    doc_ids : dict of str to None
    name : str
        For messages.
    """

    def __init__(self, doc_ids: dict[str, None], name: str) -> None:
        self.doc_ids: dict[str, None] = doc_ids
        self.name: str = name
        self.has_one: bool = False
        self.unknown: str | None = None

    def compare(self, side: Side | None) -> None:
        """Note the documents of a side that the collection has not."""
        if side is not None:
            has_one, unknown = note_unknown(side, self.doc_ids, self.name)
            self.has_one |= has_one
            self.unknown = unknown if self.unknown is None else self.unknown

    def refuse_other(self) -> None:
        """Raise NoOverlapError if the collection has no document of any side."""
        if self.unknown is not None and not self.has_one:
            here, there = quote_first([self.unknown], self.doc_ids)
            raise NoOverlapError(f"corpus: no document in common: qrels and runs have {here}, {self.name} has {there}")


def file_name(data: Any, otherwise: str) -> str:
    """The name of the file that data are, or another one."""
    return places.place_name(data) if not isinstance(data, (Qrels, Run)) and is_file(data) else otherwise


def is_file(data: Any) -> bool:
    return type(data) is not dict and places.is_place(data)


def read_side(
    data: Any,
    is_run: bool,
    format: str | None,
    columns: Mapping[str, str] | None,
    findings: Findings,
    rules: Rules,
    watch: Watch | None = None,
) -> Side | None:
    """A run or qrels, with what is wrong in it alone; None if its reader refuses it."""
    shape = input_shape(data, Run if is_run else Qrels, columns)
    if shape == PATH:
        format = format or formats.file_format(data, is_run=is_run)
    if shape not in (PATH, TABLE) or format in lines.FORMATS:
        got = f"a {type(data).__name__}" if shape != PATH else f"a file in the format {format!r}"
        roles.refuse_label(columns, got)
        if not is_run:
            roles.refuse_names(columns, "qrels", got)
    if format in lines.FORMATS:
        side: Side | None = lines.scan_lines(data, is_run, format, findings, rules, watch)
    else:
        side = read_data(data, is_run, format, columns, findings)
    if side is not None:
        examine(side, rules)
    return side


def iterate_runs(runs: Any, columns: Mapping[str, str] | None, names: RunNames) -> Iterator[tuple[Hashable, Any]]:
    """(name, run) of several runs, or of one."""
    if isinstance(runs, Run) or is_of_ranx(runs):
        return iter([(runs.name or "run", plain_dict(runs))])
    if is_file(runs) and not places.is_many(runs) and not has_names(runs, columns):
        runs = [runs]
    elif is_one_table(runs, columns) or (
        isinstance(runs, Mapping) and not is_long(runs, columns) and is_ranking(next(iter(runs.values()), None))
    ):
        return iter([("run", runs)])
    return ((name, plain_dict(run)) for name, run in runs_by_name(runs, columns, None, names))


def is_one_table(runs: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether it is a table without a column of runs, or rows of one: the results of one run."""
    if isinstance(runs, (list, tuple)):
        first = runs[0] if runs else None
        is_record = isinstance(first, dict) and roles.is_header(list(first))
        return is_record or (isinstance(first, (tuple, list)) and len(first) > 2)
    if is_file(runs) or not is_long(runs, columns):
        return False
    from fastir.inputs.id_lists import schema_names

    names = list(runs) if isinstance(runs, Mapping) else schema_names(runs)
    return bool(names) and not any(name in names for name in roles.usual_names("runs", columns or {})["run"])


def has_names(file: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether a file is a table with a column of runs; what cannot be read is one run, whose reader says why."""
    form = formats.file_format(file)
    if form not in formats.TABLE_FORMATS:
        return False
    from fastir.inputs import table_files

    try:
        with table_files.convert_errors(places.place_name(file)), table_files.FILES[form](file) as opened:
            opened.look()
            return any(name in opened.names for name in roles.usual_names("runs", columns or {})["run"])
    except FormatError:
        return False


def is_ranking(data: Any) -> bool:
    """Whether it is ``{doc_id: score}`` or a list of ids, and no run."""
    if isinstance(data, Mapping):
        return not isinstance(next(iter(data.values()), data), (Mapping, list, tuple))
    ids = all(isinstance(doc_id, (str, int)) for doc_id in data[:1]) if isinstance(data, (list, tuple)) else False
    return ids or has_pairs({None: data})


def refuse_kinds(
    qrels: Any, run: Any, of_qrels: Mapping[str, str] | None, of_runs: Mapping[str, str] | None, *noted: Findings
) -> None:
    """Note the error that `evaluate` raises for two mappings that are right alone, such as ids of two kinds."""
    if (
        input_shape(qrels, Qrels, of_qrels) not in MAPPING_SHAPES
        or input_shape(run, Run, of_runs) not in MAPPING_SHAPES
    ):
        return
    if not any(KINDS[fault.kind].refused for findings in noted for fault in findings.faults):
        attempt(lambda: Evaluator(qrels, NUM_Q).rules.evaluate_one(run, None), noted[-1])  # without its warnings
