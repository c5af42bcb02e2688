"""pool(): the documents that any run ranks near the top, which are those to be judged."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.pools.contributions import Masks, Names, bit_masks, names_of_bits, read_labels
from fastir.checks import check_choice
from fastir.data.qrels import GroupedQrels, Qrels, as_qrels, label_column
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.data.stacked import Stacked, row_ids, stack_judgments
from fastir.engine.columns._objects import pick
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.errors import DuplicateError, FastirWarning, quote
from fastir.evaluation.run_collections import check_depth, first_documents, read_runs
from fastir.inputs import writers
from fastir.rendering.text import counted, json_types, replacing, tsv_text

if TYPE_CHECKING:
    import os

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.run_collections import RunNames
    from fastir.request.options import Duplicates


class Pooled(NamedTuple):
    """A row of a pool: a document of a query, and the names of the runs that have it."""

    query_id: Any
    doc_id: Any
    runs: Names


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Pool(Exportable):
    """The documents of runs down to a depth; made by `pool`.

    Iteration gives a `Pooled` for each document, query by query. Within a query they are in the order of ids, which
    does not reveal ranks. len() is the number of documents.

    Attributes
    ----------
    masks : dict of query_id to dict of doc_id to int
        Which runs have each document: bit i is the i-th run's.
    runs : list
        The names of the runs.
    pool_depth : int or None
    """

    _printed_rows = 10

    masks: Masks
    runs: list[Any]
    pool_depth: int | None

    def __iter__(self) -> Iterator[Pooled]:
        for query_id, masks in self.masks.items():
            for doc_id in sorted(masks):
                yield Pooled(query_id, doc_id, names_of_bits(masks[doc_id], self.runs))

    def __len__(self) -> int:
        return sum(map(len, self.masks.values()))

    @property
    def query_ids(self) -> list[Any]:
        """The queries of all runs, as a new list."""
        return list(self.masks)

    def unjudged(self, qrels: QrelsLike) -> list[Pooled]:
        """The rows of documents without a label, or with a negative one.

        Raises
        ------
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
            As by `evaluate` for qrels.
        """
        labels = read_labels(qrels)
        return [row for row in self if labels.get(row.query_id, {}).get(row.doc_id, -1) < 0]

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Pooled._fields, self)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {"runs": self.runs, "pool_depth": self.pool_depth, "n_documents": len(self)}
        return json_types(
            {**data, "documents": [{**row._asdict(), "runs": list(row.runs)} for row in self]} if per_query else data
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list of documents (atomically).

        A path that ends in .tsv gets a line per document, with tabs between fields and commas between the names of its
        runs. A path that ends in .qrels or .txt gets TREC qrels, in which every label is -1 until an assessor sets it
        (see `merge_qrels`).

        Raises
        ------
        ValueError
            The path has another suffix, or an id cannot be a field of a line.
        OSError
            The file cannot be written; its old content stays.
        """
        save_list(path, Pooled._fields, ((q, doc_id, ",".join(map(str, names))) for q, doc_id, names in self))

    def _title(self) -> str:
        documents = counted(len(self), "document", "documents")
        queries = counted(len(self.masks), "query", "queries")
        to = "" if self.pool_depth is None else f" to depth {self.pool_depth}"
        return f"{documents} of {queries} from {counted(len(self.runs), 'run', 'runs')}{to}"


def pool(
    runs: RunsLike,
    pool_depth: SupportsIndex | None,
    *,
    names: RunNames = "stem",
    duplicates: Duplicates | None = None,
    min_score: SupportsFloat | None = None,
) -> Pool:
    """Collect the documents that any run has at the top of its rankings.

    Parameters
    ----------
    runs, names : as for `evaluate_many`
    pool_depth : int or None
        How many documents of each ranking; None: all. Ties are ordered as by ``ties="trec"``.
    duplicates, min_score
        As for `evaluate`.

    Returns
    -------
    Pool

    Raises
    ------
    FormatError, DuplicateError, TypeError, ValueError, OSError
        As by `evaluate_many`; the ids of two runs differ in type; the depth is not positive. The message names the run.

    Examples
    --------
    >>> import fastir
    >>> runs = {"bm25": {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "dense": {"q1": {"d": 0.9, "b": 0.8, "a": 0.7}}}
    >>> for row in fastir.pool(runs, 2):
    ...     print(*row)
    q1 a ('bm25',)
    q1 b ('bm25', 'dense')
    q1 d ('dense',)
    """
    depth = check_depth(pool_depth)
    by_name = read_runs(runs, None, duplicates, None, names, min_score=min_score)
    masks = bit_masks((place, first_documents(run, depth)) for place, run in enumerate(by_name.values()))
    return Pool(masks, list(by_name), None if pool_depth is None else depth)


# ---- judgments with more judgments added -----------------------------------------------------------------------------

RULES = (None, "first", "last", "max")


def merge_qrels(qrels: QrelsLike, *more: QrelsLike, duplicates: str | None = None) -> Qrels:
    """Add new judgments to old ones.

    Parameters
    ----------
    qrels, *more : as for `evaluate`
        Labels of documents, but not of groups of judges. A negative label in `more` is not a judgment and is left out;
        one in `qrels` stays until a judgment replaces it.
    duplicates : None, "first", "last" or "max"
        Which of two different labels of a document counts. None makes them an error; equal labels never are.

    Returns
    -------
    Qrels
        The queries and documents of `qrels` in their order, then the new ones.

    Raises
    ------
    DuplicateError
        A document has two labels.
    FormatError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate` for qrels; ids are of two kinds; judgments are by groups.

    Warns
    -----
    FastirWarning
        Labels of `more` are negative.

    Examples
    --------
    >>> import fastir
    >>> fastir.merge_qrels({"q1": {"a": 1, "b": -1}}, {"q1": {"b": 2}, "q2": {"c": 0}}).to_dict()
    {'q1': {'a': 1, 'b': 2}, 'q2': {'c': 0}}
    """
    check_choice("duplicates", duplicates, RULES)
    sides = [read(place, one) for place, one in enumerate((qrels, *more), 1)]
    check_kinds(sides)
    stacked = stack_judgments([side.columns for side in sides], keeps_open=True)
    if stacked.example is not None:
        what = counted(stacked.n_open, "document has", "documents have")
        query_id, doc_id = map(quote, stacked.example)
        warnings.warn(f"{what} no label yet, such as {doc_id} of query {query_id}", FastirWarning, stacklevel=2)
    labels = merge_labels(stacked, duplicates)
    return Qrels(stacked.query_ids, stacked.offsets, pick(stacked.doc_ids, stacked.rows), labels)


def read(place: int, judgments: Any) -> Qrels:
    qrels = as_qrels(judgments, None, None)
    if isinstance(qrels, GroupedQrels):
        raise TypeError(f"judgments {place}: expected a label for each document, got judgments by groups")
    return qrels


def check_kinds(sides: list[Qrels]) -> None:
    """Ids of two kinds never match."""
    kinds = {place: id_kinds(side) for place, side in enumerate(sides, 1) if side.columns.n_rows}
    first = next(iter(kinds), 1)
    for place, kind in kinds.items():
        if kind != kinds[first]:
            raise TypeError(f"judgments {place} have ids of type {kind}, judgments {first} of {kinds[first]}")


def id_kinds(qrels: Qrels) -> str:
    query_id, doc_id = row_ids(qrels.columns, 0)
    return f"({type(query_id).__name__}, {type(doc_id).__name__})"


def merge_labels(stacked: Stacked, rule: str | None) -> np.ndarray:
    """The labels of the first rows, each as later rows of its document leave it."""
    labels, firsts = np.concatenate(stacked.labels), stacked.firsts
    repeats = np.flatnonzero(firsts != np.arange(len(firsts)))
    stops = np.searchsorted(repeats, offsets_from_sizes(list(map(len, stacked.labels)))).tolist()
    for place, (start, stop) in enumerate(itertools.pairwise(stops), 1):
        rows = repeats[start:stop]  # of one side, in which no document is twice
        new, had = labels[rows], labels[firsts[rows]]
        taken = (had < 0) | (rule == "last") | ((rule == "max") & (new > had))
        refused = np.flatnonzero(~taken & (had != new))
        if rule is None and len(refused):
            i, row = refused[0], rows[refused[0]]
            label, old = (int(n) if n == int(n) else float(n) for n in (new[i], had[i]))
            query_id, doc_id = quote(stacked.query_ids[stacked.of_query[row]]), quote(stacked.doc_ids[row])
            raise DuplicateError(
                f"judgments {place}: query {query_id}, document {doc_id} has the label {label}, and had {old}; "
                "duplicates='first', 'last' or 'max' would say which counts"
            )
        labels[firsts[rows[taken]]] = new[taken]
    return label_column(labels[stacked.rows])


# ---- lists of documents as files -------------------------------------------------------------------------------------
NO_LABEL = -1
QRELS_SUFFIXES = (".qrels", ".txt")


def write_qrels(file: BinaryIO, rows: Iterable[Sequence[Any]]) -> None:
    """A TREC line for each row, which begins with query_id and doc_id, in the order of the rows."""
    for query_id, documents in itertools.groupby(rows, key=lambda row: row[0]):
        writers.trec(file, {query_id: dict.fromkeys((row[1] for row in documents), NO_LABEL)}, is_run=False)


def save_list(path: str | os.PathLike[str], head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows atomically: tab-separated below their head, or as qrels, by the suffix of the path."""
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix != ".tsv" and suffix not in QRELS_SUFFIXES:
        raise ValueError(f"the path must end in .tsv, {' or '.join(QRELS_SUFFIXES)}, got {quote(name)}")
    with replacing(name) as file:
        if suffix == ".tsv":
            file.write(tsv_text([list(map(str, row)) for row in (head, *rows)]).encode("utf-8", "surrogateescape"))
        else:
            write_qrels(file, rows)
