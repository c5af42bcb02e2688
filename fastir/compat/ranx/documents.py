"""The base of ranx's Qrels and Run: made of dicts, files and frames, mutable, shown sorted.

Each holds its numbers as {query_id: {doc_id: number}}, as fastir's own object, or as both, which then agree:

    _rows       made when a caller reads or changes something; sorted when a caller reads
    _columns    made for an evaluation; every change drops it, and once a caller has the dict it is not kept any more

so that evaluating again converts nothing, and no change is missed.
"""

from __future__ import annotations

import importlib
import os
from operator import itemgetter
from typing import Any

import numpy as np

from fastir.engine.columns.ids import plain_id
from fastir.errors import quote
from fastir.inputs import files, formats
from fastir.inputs.writers import check_fields
from fastir.rendering.text import counted

FORMAT_BY_KIND = {"json": "json", "trec": "trec", "gz": "trec", "parquet": "parquet"}  # ranx's, and fastir's format
KIND_BY_ENDING = {"txt": "trec", "parq": "parquet"}


class Documents:
    """The base of Qrels and Run.

    Attributes
    ----------
    name : str or None
    sorted : bool
        Whether queries are sorted by id and their documents by number, the largest first; `add_score` may undo it.
    """

    is_run: bool
    kinds: tuple[str, ...] = tuple(FORMAT_BY_KIND)

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.sorted: bool = False
        self._rows: dict[Any, dict[str, Any]] | None = {}
        self._columns: Any = None
        self._arranged = False  # whether _rows are sorted already, if they should be
        self._lent = False  # whether a caller has _rows, and may change them

    # ---- the two forms ---------------------------------------------------------------------------------------------

    def _plain(self, query_id: Any, numbers: Any) -> dict[str, Any]:
        """{doc_id: number} of a query as a new dict, checked."""
        raise NotImplementedError

    def hold(self, columns: Any) -> Any:
        """Hold fastir's own object instead; returns self."""
        for first in (*list(columns)[:1], *columns.columns.ids[:1]):
            plain_id(first, False, f"{'run' if self.is_run else 'qrels'}: an id")
        self._rows, self._columns, self.sorted = None, columns, True
        return self

    def _in_rows(self) -> dict[str, dict[str, Any]]:
        """The rows, in any order."""
        if self._rows is None:
            self._rows, self._arranged = self._columns.to_dict(), False
        return self._rows

    def ordered_rows(self) -> dict[str, dict[str, Any]]:
        """The rows, in order if they should be."""
        rows = self._in_rows()
        if self.sorted and not self._arranged:
            rows = self._rows = {
                query_id: dict(sorted(rows[query_id].items(), key=itemgetter(1), reverse=True))
                for query_id in sorted(rows)
            }
            self._arranged = True
        return rows

    def _changing(self) -> dict[Any, dict[str, Any]]:
        """The rows, for a method that is about to change them."""
        rows = self.ordered_rows()
        self._columns = None
        return rows

    def _lend(self) -> dict[str, dict[str, Any]]:
        """The rows, for a caller who may keep and change them."""
        self._lent = True
        return self._changing()

    def query_ids(self) -> Any:
        """The set of query ids, in any order."""
        return (self._columns.columns.places() if self._rows is None else self._rows).keys()

    # ---- adding ----------------------------------------------------------------------------------------------------

    def add_score(self, q_id: str, doc_id: str, score: Any) -> None:
        """Add a document to a query, or change its number."""
        plain = self._plain(q_id, {doc_id: score})
        self._changing().setdefault(plain_id(q_id, False, "q_id"), {}).update(plain)
        self.sorted = False

    def add(self, q_id: str, doc_ids: Any, scores: Any) -> None:
        """Add a query with its documents; one that is there already is replaced."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(self, q_ids: Any, doc_ids: Any, scores: Any) -> None:
        """Add queries, each with a list of documents and a list of their numbers; all or, in an error, none.

        Raises
        ------
        TypeError, ValueError
            An id is not a str, a number not one; lists differ in length.
        """
        added: dict[Any, Any] = {}
        if not len(q_ids) == len(doc_ids) == len(scores):
            raise ValueError(f"{len(q_ids)} queries, but {len(doc_ids)} lists of documents and {len(scores)} of scores")
        for query_id, docs, numbers in zip(q_ids, doc_ids, scores, strict=True):
            if len(docs) != len(numbers):
                raise ValueError(
                    f"query {quote(query_id)} has {counted(len(docs), 'document', 'documents')} but "
                    f"{counted(len(numbers), 'score', 'scores')}"
                )
            added[plain_id(query_id, False, "q_ids: a query id")] = self._plain(
                query_id, dict(zip(docs, numbers, strict=True))
            )
        self._changing().update(added)
        self.sort()

    def sort(self) -> None:
        """Sort queries by id, documents by number, the largest first; equal numbers keep their order."""
        self.sorted, self._arranged = True, False

    # ---- reading ---------------------------------------------------------------------------------------------------

    def keys(self) -> Any:
        """The query ids."""
        return dict.fromkeys(sorted(self._columns)).keys() if self._rows is None else self.ordered_rows().keys()

    def get_query_ids(self) -> list[str]:
        """The query ids as a list."""
        return list(self.keys())

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        """{doc_id: number} of each query, as new dicts."""
        return list(self.to_dict().values())

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """{query_id: {doc_id: number}} as new dicts."""
        return {query_id: dict(docs) for query_id, docs in self.ordered_rows().items()}

    def to_dataframe(self) -> Any:
        """A pandas frame with the columns q_id, doc_id and score."""
        rows = [
            (query_id, doc_id, number)
            for query_id, docs in self.ordered_rows().items()
            for doc_id, number in docs.items()
        ]
        q_ids, doc_ids, numbers = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        return import_package("pandas").DataFrame({"q_id": q_ids, "doc_id": doc_ids, "score": numbers})

    def to_typed_list(self) -> list[np.ndarray]:
        """Per query a float64 array of shape (n_documents, 2): hash of the id, number; a plain list, not numba's.

        Queries and documents are sorted first.
        """
        if not self.sorted:
            self.sort()
        return [
            np.array([(hash(doc_id), number) for doc_id, number in docs.items()], float).reshape(-1, 2)
            for docs in self.ordered_rows().values()
        ]

    @property
    def size(self) -> int:
        """How many queries."""
        return len(self)

    def __len__(self) -> int:
        return len(self.query_ids())

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        return dict(self.ordered_rows()[q_id])

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"<{type(self).__name__}{name}: {counted(len(self), 'query', 'queries')}>"

    # ---- files and tables ------------------------------------------------------------------------------------------

    @classmethod
    def file_kind(cls, path: Any, kind: str | None = None) -> str:
        """The kind of a file, by its ending if it is not given."""
        ending = os.path.splitext(os.fsdecode(path))[1][1:]
        kind = KIND_BY_ENDING.get(ending, ending) if kind is None else kind
        if kind not in cls.kinds:
            raise AssertionError(
                f"kind must be one of {', '.join(map(repr, cls.kinds))}, got {quote(kind)} "
                f"for {quote(os.fsdecode(path))}"
            )
        return kind

    def save(self, path: Any, kind: str | None = None) -> None:
        """Write a file atomically: an error leaves its old content untouched.

        Parameters
        ----------
        path : str or path
        kind : None, "json", "trec", "gz", "parquet" or, of a Run, "lz4"
            None: what the name ends in; .txt is "trec", .parq "parquet". Only JSON and lz4 hold queries without
            documents. A run is sorted before.

        Raises
        ------
        AssertionError
            The kind does not exist.
        ValueError
            The kind cannot hold an id or a number.
        """
        kind = self.file_kind(path, kind)
        if self.is_run and not self.sorted:
            self.sort()
        if kind == "json":
            formats.write(path, self.ordered_rows(), self.is_run, "json")
            return
        with files.create_file(os.fsdecode(path)) as file:
            if kind == "parquet":
                self.to_dataframe().to_parquet(file, index=False)
            elif kind == "lz4":
                frame = import_package("lz4.frame", "lz4")
                content = import_package("cbor2").dumps(self.ordered_rows())
                file.write(frame.compress(frame.compress(content)))  # as ranx: compressed twice
            else:
                file.write("\n".join(self._lines()).encode("utf-8", "surrogateescape"))

    def _lines(self) -> list[str]:
        """The lines of a TREC file."""
        lines: list[str] = []
        if self.is_run and len(str(self.name).split()) != 1:
            raise ValueError(f"the run is called {quote(self.name)}; a TREC file cannot hold a name with white space")
        for query_id, docs in self.ordered_rows().items():
            check_fields([query_id], "query")
            check_fields(list(docs), "document")
            if self.is_run:
                lines += [
                    f"{query_id} Q0 {doc_id} {rank} {score} {self.name}"
                    for rank, (doc_id, score) in enumerate(docs.items(), 1)
                ]
            else:
                lines += [f"{query_id} 0 {doc_id} {label}" for doc_id, label in docs.items()]
        return lines

    @classmethod
    def _from_parquet(cls: Any, path: Any, pd_kwargs: dict[Any, Any] | None, *columns: Any) -> Any:
        return cls.from_df(import_package("pandas").read_parquet(path, **(pd_kwargs or {})), *columns)


def import_package(module: str, package: str | None = None) -> Any:
    """A module of another package, or the error that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"fastir.compat.ranx: this needs {module} ({error}); pip install {package or module}"
        ) from error
