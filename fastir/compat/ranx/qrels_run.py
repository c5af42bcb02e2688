"""ranx's Qrels and Run: made of dicts, files and frames, mutable, shown sorted.

Each holds its numbers as {query_id: {doc_id: number}}, as fastir's own object, or as both, which then agree:

    _rows       made when a caller reads or changes something; sorted when a caller reads
    _columns    made for an evaluation; every change drops it, and once a caller has the dict it is not kept any more

so that evaluating again converts nothing, and no change is missed.
"""

from __future__ import annotations

import importlib
import os
from collections import defaultdict
from operator import itemgetter
from typing import Any, Self

import numpy as np

from fastir.analyses.fusion.cards import NORMS, find_norm
from fastir.analyses.fusion.fuse import normalize_run
from fastir.data import qrels as fastir_qrels
from fastir.data import run as fastir_run
from fastir.engine.columns._dicts import plain_scores
from fastir.engine.columns.ids import plain_id
from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator
from fastir.inputs import dicts, files, formats
from fastir.inputs.writers import check_fields
from fastir.rendering.text import counted

FORMAT_BY_KIND = {"json": "json", "trec": "trec", "gz": "trec", "parquet": "parquet"}  # ranx's, and fastir's format
KIND_BY_ENDING = {"txt": "trec", "parq": "parquet"}


class Documents:
    """The base of Qrels and Run.

    `sorted` says whether queries are sorted by id and their documents by number, the largest first; `add_score` may
    undo it.
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

        TypeError or ValueError: an id is not a str, a number not one, or lists differ in length.
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
        """Per query a float64 array of shape (n_documents, 2): hash of the id, number; sorted first. A plain list."""
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

        `kind` is "json", "trec", "gz", "parquet" or, for a Run, "lz4"; None: what the name ends in, where .txt is
        "trec" and .parq "parquet". Only JSON and lz4 hold queries without documents. A run is sorted before.
        AssertionError: the kind does not exist. ValueError: it cannot hold an id or a number.
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

    def _hold_table(self, table: Any, columns: dict[str, str], number: str) -> Any:
        """Hold the rows of a table, of which the column `number` has the labels or scores; returns self."""
        raise NotImplementedError

    @classmethod
    def from_df(
        cls,
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Self:
        """Read a data frame; the last row of a duplicate document counts."""
        made: Self = cls(name=name)._hold_table(df, {"query_id": q_id_col, "doc_id": doc_id_col}, score_col)
        return made

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[Any, Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Read a Parquet file, by pandas with `pd_kwargs`."""
        frame = import_package("pandas").read_parquet(path, **(pd_kwargs or {}))
        return cls.from_df(frame, q_id_col, doc_id_col, score_col, name)


class Qrels(Documents):
    """Relevance judgments, ``{query_id: {doc_id: label}}``; labels are whole numbers of any type. The dict is copied.

    TypeError, ValueError or OverflowError: an id is not a str, or a label not an integer in [-2^31, 2^31 - 1].
    """

    is_run = False

    def __init__(self, qrels: Any = None, name: str | None = None) -> None:
        super().__init__(name)
        self._last: Any = None  # the options of the last evaluation, and what it was prepared with
        if qrels is not None:
            self.hold(judgments(qrels))

    def _plain(self, query_id: Any, numbers: Any) -> dict[Any, int]:
        return {
            plain_id(doc_id, False, "doc_ids: a document id"): int_label(label, query_id, doc_id)
            for doc_id, label in numbers.items()
        }

    def as_fastir(self) -> fastir_qrels.Qrels:
        """fastir's Qrels for the evaluation, in the order of the query ids."""
        columns = judgments(self._rows) if self._columns is None else self._columns
        if not self._lent:
            self._columns = columns
        return columns

    def evaluator(self, **options: Any) -> Evaluator:
        """An Evaluator of these judgments: the last one, if neither they nor the options have changed."""
        columns, last = self.as_fastir(), self._last
        if last is None or last[0] is not columns or last[1] != options:
            last = self._last = columns, options, Evaluator(columns, queries="qrels", **options)
        return last[2]

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """``{query_id: {doc_id: label}}`` itself; changes in it count until the next `add`, `add_multi` or `sort`."""
        return self._lend()

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Lower all labels by ``rel_lvl - 1``, so that documents of that label and above are the relevant ones."""
        for docs in self._changing().values():
            for doc_id in docs:
                docs[doc_id] -= rel_lvl - 1

    @classmethod
    def from_dict(cls, d: Any) -> Qrels:
        """Make it from a dict, by the rules of the constructor."""
        return cls(d)

    @classmethod
    def from_file(cls, path: Any, kind: str | None = None) -> Qrels:
        """Read a file of a kind as for `save`; the last line of a duplicate document counts."""
        columns = fastir_qrels.Qrels.from_file(path, FORMAT_BY_KIND[cls.file_kind(path, kind)], "last")
        return cls().hold(judgments(columns.to_dict()))

    def _hold_table(self, table: Any, columns: dict[str, str], number: str) -> Any:
        labels = fastir_qrels.Qrels.from_table(table, {**columns, "label": number}, "last")
        return self.hold(judgments(labels.to_dict()))

    @classmethod
    def from_ir_datasets(cls, dataset_id: str) -> Qrels:
        """The qrels of a data set of ir_datasets, which downloads it if necessary."""
        return cls(import_package("ir_datasets").load(dataset_id).qrels_dict(), dataset_id)


class Run(Documents):
    """The rankings of one system, ``{query_id: {doc_id: score}}``, and the values that `evaluate` found for them.

    Scores are numbers of any type, and the dict is copied. `scores` has ``{metric: {query_id: value}}`` of the last
    evaluation by each metric, `mean_scores` and `std_scores` ``{metric: value}``. TypeError or OverflowError: an id is
    not a str, or a score not a number. (NaN is found by `evaluate`.)
    """

    is_run = True
    kinds: tuple[str, ...] = (*Documents.kinds, "lz4")

    def __init__(self, run: Any = None, name: str | None = None) -> None:
        super().__init__(name)
        self.metadata: dict[Any, Any] = {}
        self.scores: dict[str, dict[str, np.float64]] = defaultdict(dict)
        self.mean_scores: dict[str, np.float64] = {}
        self.std_scores: dict[str, np.float64] = {}
        if run is not None:
            self._rows = {
                plain_id(query_id, False, "run: a query id"): self._plain(query_id, docs)
                for query_id, docs in dicts.query_dict(run, "run").items()
            }
            self.sort()

    def _plain(self, query_id: Any, numbers: Any) -> Any:
        if type(numbers) is dict and {str} >= set(map(type, numbers)) and {float} >= set(map(type, numbers.values())):
            return numbers.copy()
        return plain_scores(query_id, numbers, False)

    def as_fastir(self) -> Any:
        """fastir's Run for the evaluation."""
        return self._rows if self._columns is None else self._columns

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """``{query_id: {doc_id: score}}`` itself; changes in it count until the next `add`, `add_multi`, `sort` or
        `make_comparable`.
        """
        return self._lend()

    def make_comparable(self, qrels: Qrels) -> Run:
        """Give the run the queries of the qrels, missing ones as empty rankings, and no others; returns the run."""
        wanted = set(qrels.keys())
        if self.query_ids() != wanted:
            rows = self._in_rows()
            self._rows, self._columns = {query_id: rows.get(query_id, {}) for query_id in wanted}, None
        self.sort()
        return self

    def normalize(self, norm: str = "min-max") -> Run:
        """A run with the scores of each query normalised; in ranx 0.3.21 the function of this name does it.

        ValueError: there is no such norm, or it is of several runs ("borda").
        """
        if NORMS.canonical(norm) not in NORMS.keys() - {"borda"}:
            raise ValueError(f"Normalization method {norm} not supported.")
        return Run(None, getattr(self, "name", None)).hold(normalize_run(in_ranx_order(self), find_norm(norm)))

    @classmethod
    def from_dict(cls, d: Any, name: str | None = None) -> Run:
        """Make it from a dict, by the rules of the constructor."""
        return cls(d, name)

    @classmethod
    def from_file(cls, path: Any, kind: str | None = None, name: str | None = None) -> Run:
        """Read a file of a kind as for `save`; the last line of a duplicate document counts.

        Without a name, the run has the name in the first line of a TREC file.
        """
        kind = cls.file_kind(path, kind)
        if kind == "lz4":
            frame = import_package("lz4.frame", "lz4")
            with open(path, "rb") as file:
                return cls(import_package("cbor2").loads(frame.decompress(frame.decompress(file.read()))), name)
        is_trec = FORMAT_BY_KIND[kind] == "trec"
        run = cls(None, first_tag(path) if name is None and is_trec else name)
        return run.hold(fastir_run.Run.from_file(path, "trec_eval" if is_trec else FORMAT_BY_KIND[kind], "last"))

    def _hold_table(self, table: Any, columns: dict[str, str], number: str) -> Any:
        return self.hold(fastir_run.Run.from_table(table, {**columns, "score": number}, "last"))

    @classmethod
    def from_ranxhub(cls, id: str) -> Run:
        """A run of ranxhub, which ranx downloads if necessary."""
        content = import_package("ranx.io", "ranx").download(id)
        run = cls(content["run"], content["metadata"]["run"]["name"])
        run.metadata = content["metadata"]
        return run


def in_ranx_order(run: Any) -> fastir_run.Run:
    """A run of ranx or of this module as fastir reads it: ranx's order of equal scores, and queries by id."""
    plain = run.ordered_rows if isinstance(run, Documents) else getattr(run, "to_dict", None)
    rows = run if plain is None else plain()
    return fastir_run.Run.from_dict({query_id: rows[query_id] for query_id in sorted(rows)})


def judgments(data: Any) -> fastir_qrels.Qrels:
    """{query_id: {doc_id: label}} as fastir's Qrels, the queries by id."""
    data = dicts.query_dict(data, "qrels")
    qrels = fastir_qrels.Qrels(*dicts.judgments({query_id: data[query_id] for query_id in sorted(data)}))
    if qrels.columns.numbers.dtype != np.int32:
        raise TypeError(
            "qrels: label {} is not an integer; a float must be whole ({})".format(*qrels.columns.first_fraction())
        )
    return qrels


def int_label(label: Any, query_id: Any, doc_id: Any) -> int:
    """A label as an int."""
    number = dicts.read_label(label, query_id, doc_id)
    if not isinstance(number, int):
        raise TypeError(
            f"qrels: label {number} is not an integer; a float must be whole (query {query_id}, document {doc_id})"
        )
    return number


def first_tag(path: Any) -> str | None:
    """The name of a TREC run, from its first line."""
    with files.ByteReader(path) as source:
        lines = source.read(1 << 16).splitlines()
    rows = (line.split() for line in lines if not line.startswith(b"#"))
    return next((row[5].decode("utf-8", "surrogateescape") for row in rows if len(row) > 5), None)


def import_package(module: str, package: str | None = None) -> Any:
    """A module of another package, or the error that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"fastir.compat.ranx: this needs {module} ({error}); pip install {package or module}"
        ) from error
