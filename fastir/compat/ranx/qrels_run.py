"""Qrels and Run as in ranx: the numbers that they hold, and the sources that they are made from."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from fastir.analyses.fusion.cards import NORMS, find_norm
from fastir.analyses.fusion.fuse import normalize_run
from fastir.compat.ranx.documents import FORMAT_BY_KIND, Documents, import_package
from fastir.data import qrels as fastir_qrels
from fastir.data import run as fastir_run
from fastir.engine.columns._dicts import plain_scores
from fastir.engine.columns.ids import plain_id
from fastir.evaluation.evaluator import Evaluator
from fastir.inputs import dicts, files


class Qrels(Documents):
    """Relevance judgments.

    Parameters
    ----------
    qrels : dict or None
        ``{query_id: {doc_id: label}}``; labels are whole numbers of any type. It is copied.
    name : str or None

    Raises
    ------
    TypeError, ValueError, OverflowError
        An id is not a str, or a label not an integer in [-2^31, 2^31 - 1].
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

    @classmethod
    def from_df(cls, df: Any, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score") -> Qrels:
        """Read a data frame; the last row of a duplicate document counts."""
        names = {"query_id": q_id_col, "doc_id": doc_id_col, "label": score_col}
        return cls().hold(judgments(fastir_qrels.Qrels.from_table(df, names, "last").to_dict()))

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[Any, Any] | None = None,
    ) -> Qrels:
        """From a Parquet file, which pandas reads with `pd_kwargs`."""
        return cls._from_parquet(path, pd_kwargs, q_id_col, doc_id_col, score_col)

    @classmethod
    def from_ir_datasets(cls, dataset_id: str) -> Qrels:
        """The qrels of a data set of ir_datasets, which downloads it if necessary."""
        return cls(import_package("ir_datasets").load(dataset_id).qrels_dict(), dataset_id)


class Run(Documents):
    """The rankings of one system, and the values that `evaluate` found for them.

    Parameters
    ----------
    run : dict or None
        ``{query_id: {doc_id: score}}``; scores are numbers of any type. It is copied.
    name : str or None

    Attributes
    ----------
    scores : dict
        ``{metric: {query_id: value}}`` of the last evaluation by each metric; likewise `mean_scores` and `std_scores`,
        ``{metric: value}``.
    metadata : dict

    Raises
    ------
    TypeError, OverflowError
        An id is not a str, or a score not a number. (NaN is found by `evaluate`.)
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

        Raises
        ------
        ValueError
            There is no such norm, or it is of several runs ("borda").
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

    @classmethod
    def from_df(
        cls,
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Run:
        """Read a data frame; the last row of a duplicate document counts."""
        names = {"query_id": q_id_col, "doc_id": doc_id_col, "score": score_col}
        return cls(None, name).hold(fastir_run.Run.from_table(df, names, "last"))

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: dict[Any, Any] | None = None,
        name: str | None = None,
    ) -> Run:
        """From a Parquet file, which pandas reads with `pd_kwargs`."""
        return cls._from_parquet(path, pd_kwargs, q_id_col, doc_id_col, score_col, name)

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
