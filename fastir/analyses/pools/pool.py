"""pool(): the documents that any run ranks near the top, which are those to be judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from fastir.analyses.pools.members import Masks, Names, bit_masks, names_of_bits, read_labels
from fastir.analyses.pools.merge_qrels import save_list
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.evaluation.run_collections import check_depth, first_documents, read_runs
from fastir.rendering.text import counted, json_types

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
) -> Pool:
    """Collect the documents that any run has at the top of its rankings.

    Parameters
    ----------
    runs, names : as for `evaluate_many`
    pool_depth : int or None
        How many documents of each ranking; None: all. Ties are ordered as by ``ties="trec"``.
    duplicates : str or None
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
    by_name = read_runs(runs, None, duplicates, None, names)
    masks = bit_masks((place, first_documents(run, depth)) for place, run in enumerate(by_name.values()))
    return Pool(masks, list(by_name), None if pool_depth is None else depth)
