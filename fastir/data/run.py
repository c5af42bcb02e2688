"""Run: the rankings of one system, held as columns: ids as bytes, scores as float64, rows grouped by query."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Self, SupportsFloat, SupportsIndex, TypeAlias, TypeVar

import numpy as np

from fastir.checks import check_choice, positive_integer
from fastir.engine.columns._dicts import has_integer_documents, is_plain, plain_scores
from fastir.engine.columns._entries import columns_from_rankings
from fastir.engine.columns._ids import encode, ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.rows import ROUNDED, Rows, rounded_place
from fastir.engine.join._contiguous import document_rows
from fastir.errors import quote
from fastir.inputs import dicts, places
from fastir.inputs.exclusions import Exclusion
from fastir.inputs.files import Path, Watch
from fastir.inputs.shapes import COLUMNS, HELD_OBJECT, LISTS, PATH, TABLE, input_shape
from fastir.inputs.source import as_source, data_of
from fastir.rendering.text import counted
from fastir.request.options import DUPLICATES, MAX_DEPTH, TIES_BY_ID

if TYPE_CHECKING:
    from fastir.engine.join._join import Parents
    from fastir.inputs.parents import AnyParents
    from fastir.inputs.shapes import Table
    from fastir.request.options import Duplicates, TiesById

    Ranked = Sequence[Any] | np.ndarray  # ids in rank order
    RankingsLike = Mapping[Any, Mapping[Any, SupportsFloat]] | Mapping[Any, Ranked]
    RunLike: TypeAlias = RankingsLike | Path | IO[bytes] | "Run" | Table  # what is evaluated
    RunsLike = Mapping[Any, RunLike] | Iterable[tuple[Any, RunLike]] | Iterable[Path] | Path | Table  # several of them


MERGED_CHUNKS = "parts of a document"  # what `parents` repair: rows that are not their document's first


class Run(Rows):
    """Scored documents per query.

    Made by `from_dict`, `from_file` or `from_table`; immutable. len() counts queries, iteration gives query ids in
    order of first appearance, ``run[query_id]`` is ``{doc_id: score}``.

    Attributes
    ----------
    query_ids : list of str or of int
    name : str or None
        The name of the system: as given, else the stem of the file it was read from.

    Examples
    --------
    >>> import fastir
    >>> run = fastir.Run.from_dict({"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 3.0}}, name="bm25")
    >>> run
    <Run 'bm25': 2 queries, 3 documents>
    >>> run.query_ids, run["q1"]
    (['q1', 'q2'], {'a': 2.0, 'b': 1.0})
    >>> run.top(1).to_dict()
    {'q1': {'a': 2.0}, 'q2': {'b': 3.0}}
    >>> run.filter(queries=["q1"], documents={"b", "c"}).to_dict()
    {'q1': {'b': 1.0}}
    """

    _what = "run"
    _number = "score"
    _name: str | None = None

    @classmethod
    def from_dict(cls, data: RankingsLike, duplicates: Duplicates | None = None, *, name: str | None = None) -> Self:
        """From ``{query_id: {doc_id: score}}``, or ``{query_id: [doc_id, ...]}`` in rank order.

        The scores of a list of n documents are n, n - 1, ..., 1. Pairs ``[(doc_id, score), ...]`` are ranked by their
        scores; the score may be the first of two where types tell them apart.

        Parameters
        ----------
        data : mapping
        duplicates : None, "first", "last", "max" or "once"
            None makes a duplicate document in a list an error; "max" is "first".
        name : str or None
            What the system is called.

        Raises
        ------
        TypeError, ValueError, OverflowError, DuplicateError
            An id is neither a str nor an int, or a score is NaN or not a number.
        """
        check_choice("duplicates", duplicates, DUPLICATES)
        duplicates = None if duplicates == "mean" else duplicates
        if input_shape(data, cls) == LISTS:
            from fastir.inputs.id_lists import columns_from_lists
            from fastir.inputs.scored_pairs import has_pairs, naming_odd_pairs, plain_pairs, read_pairs

            if has_pairs(data):
                if (plain := plain_pairs(data)) is not None:
                    with naming_odd_pairs(data, "run"):
                        return cls.from_dict(plain, name=name)
                return set_name(cls(*read_pairs(data, "run", duplicates)), name)
            return set_name(cls(*columns_from_lists(data, duplicates)), name)
        query_ids: list[Any] = []
        rounded: list[tuple[Any, Any]] = []
        sizes: list[int] = [0]
        ids: list[Any] = []
        scores: list[Any] = []
        data = dicts.query_dict(data, "run")
        usual = columns_from_rankings(data)
        integers = usual is None and bool(has_integer_documents(data))
        if usual is None and not integers and not all(is_plain(ranking, False) for ranking in list(data.values())):
            rankings = list(data.items())
            data = {query_id: plain_scores(query_id, ranking, False, rounded) for query_id, ranking in rankings}
            usual = columns_from_rankings(data)
        if usual is not None:
            found, offsets, *arena, numbers = usual
            return set_name(cls(found, offsets, Arena(*arena), numbers, rounded_repairs(rounded)), name)
        for query_id, ranking in list(data.items()):
            if type(ranking) is dict:
                ranking = ranking.copy()  # ids and scores of one moment, whatever other threads do
            if not is_plain(ranking, integers):
                ranking = plain_scores(query_id, ranking, integers, rounded)
            query_ids.append(query_id)
            ids.extend(ranking)
            scores.extend(ranking.values())
            sizes.append(len(ids))
        numbers, offsets = np.fromiter(scores, float, len(scores)), np.array(sizes, np.int64)
        missing = np.isnan(numbers)
        if missing.any():
            row = int(missing.argmax())
            query_id = query_ids[int(np.searchsorted(offsets, row, "right")) - 1]
            raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {ids[row]})")
        return set_name(cls(query_ids, offsets, Arena.of(ids), numbers, rounded_repairs(rounded)), name)

    @classmethod
    def from_file(
        cls,
        path: Path | IO[bytes],
        format: str | None = None,
        duplicates: Duplicates | None = None,
        columns: Mapping[str, str] | None = None,
        *,
        query_ids: Sequence[str] | Path | None = None,
        rows: Path | None = None,
        name: str | None = None,
    ) -> Self:
        """From a file, or from standard input if the path is ``-``; gzip and zstd are decompressed.

        Parameters
        ----------
        path : str, path or file object
            One file; a folder or pattern of Parquet or JSON files that together are one run; a URL; or a pair of a
            pyarrow or fsspec file system and a path in it. A file object is read from its beginning and stays open.
        format : None, "trec", "trec_eval", "beir", "msmarco", "json", "quepid", "scores", or one of tables
            "trec": query, Q0, document, rank, score, tag. The rank must be a number, but scores alone order the
            documents; the order of lines matters only for ``ties="input"``. "trec_eval": the same, but the rank may be
            anything, as in that program. "beir": query, document, score, with tabs between them, below the header
            ``query-id corpus-id score``. "msmarco": query, document, rank; the score is minus the rank. "json":
            ``{query_id: {doc_id: score}}``, ``{query_id: [doc_id, ...]}``, an array of objects, or the responses of
            Elasticsearch and OpenSearch to ``_search``, ``_msearch`` and ``_rank_eval``. "quepid": Quepid's CSV of a
            case or snapshot, with the columns query, docid and doc position. "scores": a score on each line, for the
            lines of `rows`. Tables are "csv" and "tsv" (with a header), "jsonl", "parquet" and "arrow" (IPC, Feather),
            which need pyarrow, with columns as for `from_table`, or a list of ids for each query. None: by the suffix
            (.json, .csv, .jsonl, .ndjson, .parquet, .arrow or .feather, before any .gz or .zst); otherwise "beir",
            "quepid" or "tsv" if the file begins with its header, else "trec".
        duplicates : None, "first", "last", "max" or "once"
            None makes a duplicate document an error. "once" keeps all its rows: the first in rank order is judged, the
            others are not. As a dict, the Run has the largest of their scores.
        columns : dict or None
            As for `from_table`; for formats of tables and "json".
        query_ids : list of str, path or None
            The query of each response of an ``_msearch``, in order: the ids themselves, a file with an id on each line,
            or the request, in which each query has a ``_name``. None: the keys of ``{query_id: response}``; for a
            single ``_search``, the stem of its file.
        rows : path or None
            For a file of scores: the file of rows (LETOR, SVMrank or LIBSVM, as for `Qrels.from_file`) that the scores
            belong to, in order. With it, the format is "scores".
        name : str or None
            The name of the system; None: the stem of the file, such as "bm25" for ``runs/bm25.trec.gz``.

        Raises
        ------
        FormatError, DuplicateError, ValueError, OSError
        """
        from fastir.inputs import formats

        run = cls(*formats.read(path, True, format, duplicates, columns, query_ids=query_ids, rows=rows))
        return set_name(run, places.stem(path) if name is None else name)

    @classmethod
    def from_table(
        cls,
        data: Table,
        columns: Mapping[str, str] | None = None,
        duplicates: Duplicates | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """From a table: a data frame, Arrow data, a dict of arrays, or (query_id, doc_id, score) tuples.

        Parameters
        ----------
        data : table
            A pandas or polars frame, a pyarrow table or reader, a DuckDB relation, any other object with
            ``__arrow_c_stream__`` or ``__arrow_c_array__``, a dict of arrays, or an iterable of tuples; it is copied. A
            column is found by its usual names, the first that the table has: query_id, qid, q_id, user_id, query-id,
            userId, topic_id, topic, query; doc_id, docno, docid, item_id, corpus-id, itemId, movieId, document_id,
            chunk_id, doc, document; score, prediction, similarity. Ids are strings or integers.
        columns : dict or None
            ``{"query_id": name, "doc_id": name, "score": name}``, for columns with other names.
        duplicates : None, "first", "last", "max" or "once"
            None makes a duplicate document an error. "once" keeps all its rows: the first in rank order is judged, the
            others are not. As a dict, the Run has the largest of their scores.
        name : str or None
            What the system is called.

        Raises
        ------
        TypeError, ValueError, DuplicateError
        """
        from fastir.inputs import table_rows

        return set_name(cls(*table_rows.read(data, "run", columns, duplicates)), name)

    @property
    def name(self) -> str | None:
        """The name of the system: as given, else the stem of the file it was read from; None if unknown."""
        return self._name

    def top(self, k: SupportsIndex, ties: TiesById = "trec") -> Self:
        """The k best documents of each query; the remaining rows keep their order.

        Parameters
        ----------
        k : int
            From 1 up; a shorter ranking stays unchanged.
        ties : {"trec", "doc_id_asc"}
            Which documents stay among those with the same score as the last: those with the largest or the smallest
            ids.

        Returns
        -------
        Run
            A run with the same queries; `evaluate` gives it the values of ``max_depth=k``.

        Raises
        ------
        TypeError, ValueError
            k is not a positive int, or the rule does not exist.
        """
        depth = positive_integer("k", "the number of documents", k, MAX_DEPTH)
        check_choice("ties", ties, TIES_BY_ID)
        kept = np.ones(self.columns.n_rows, bool)
        for first, stop in itertools.pairwise(self.columns.offsets.tolist()):
            if stop - first > depth:
                scores = self.columns.numbers[first:stop]
                last = np.partition(scores, stop - first - depth)[stop - first - depth]
                kept[first:stop] = scores > last
                tied = np.flatnonzero(scores == last).tolist()
                room = depth - int(kept[first:stop].sum())
                if len(tied) > room:
                    ids = self.columns.ids[first:stop]
                    tied.sort(key=lambda row, ids=ids: encode(str(ids[row])), reverse=ties == "trec")  # type: ignore
                kept[[first + row for row in tied[:room]]] = True
        return self._only(list(range(len(self))), kept)

    def save(self, path: Path, format: str | None = None) -> None:
        """Write (atomically) a file that reads back exactly; compressed if the name ends in .gz or .zst.

        Documents keep their order.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "json" or "parquet"
            "parquet" needs pyarrow and keeps integer ids. None: "json" if the name ends in .json (.json.gz, .json.zst),
            "parquet" if it ends in .parquet, else "trec".

        Raises
        ------
        ValueError
            The format cannot hold an id, a query without documents, or (JSON) an infinite score.
        OSError
            The file cannot be written. After this or any other error its old content stays.
        """
        from fastir.inputs import formats

        formats.write(path, self, True, format)

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> Self:
        return set_name(super()._only(places, kept), self._name)

    def __reduce__(self) -> tuple[Any, ...]:
        return (*super().__reduce__(), {"_name": self._name})

    def __repr__(self) -> str:
        name = "" if self._name is None else f" {quote(self._name)}"
        documents = counted(self.columns.n_rows, "document", "documents")
        return f"<Run{name}: {counted(len(self), 'query', 'queries')}, {documents}>"


AnyRun = TypeVar("AnyRun", bound=Run)


def set_name(run: AnyRun, name: str | None) -> AnyRun:
    """Name a new Run, which is returned."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str or None, got {type(name).__name__} {quote(name)}")
    run._name = name
    return run


def repeated_run(run: Run, names: Iterable[tuple[str, Hashable]]) -> Run:
    """A Run with the rankings of (new id, query_id) pairs under the new ids; absent queries are left out."""
    columns, places = run.columns, run.columns.places()
    pairs = [(name, places[query_id]) for name, query_id in names if query_id in places]
    rows, offsets = columns.rows([place for _, place in pairs])
    return Run([name for name, _ in pairs], offsets, columns.ids_at(rows), columns.numbers[rows])


def merged_documents(run: Run, parents: Parents) -> Run:
    """The Run with documents instead of their chunks; `parents` has the documents and merges the rows of each."""
    query_ids, offsets, ids, scores, repairs = run.columns.fields()
    offsets, texts, scores, merged, first = document_rows(parents, ids_from_arena(ids), offsets, scores, query_ids)
    repairs = {**repairs, MERGED_CHUNKS: (merged, f"query {query_ids[first]}")} if merged else repairs
    return Run(query_ids, offsets, Arena(*texts), scores, repairs)


def rounded_repairs(rounded: list[tuple[Any, Any]]) -> dict[str, tuple[int, str]]:
    """The repairs of rankings in which integer scores became equal: (query_id, two documents) of each."""
    return {ROUNDED: (len(rounded), rounded_place(*rounded[0]))} if rounded else {}


def as_run(
    data: Any,
    columns: Mapping[str, str] | None,
    duplicates: Duplicates | None,
    parents: AnyParents | None = None,
    lines: str = "trec",
    only: str | None = None,
    watch: Watch | None = None,
) -> Run:
    """A Run from a caller's rankings, of any shape; `parents` say which documents its ids are, or which of them leave.

    `lines` is the format of a file if its name says none. `only` is the one query that must be there; others may be
    missing. watch(position) is called at every block of a file.
    """
    if parents is not None:
        run = as_run(data, columns, duplicates, lines=lines, only=only)
        if isinstance(parents, Exclusion):
            run = parents.without(run)
        documents = parents.of(run)
        return run if documents is None else merged_documents(run, documents)
    source = as_source(data)
    shape, data = input_shape(source, Run, columns), data_of(source)
    if shape == HELD_OBJECT:
        return data
    if shape == PATH:
        from fastir.inputs import formats

        form = formats.file_format(data, lines)
        run = Run(*formats.read(data, True, form, duplicates, columns, watch, only=only))
        return set_name(run, places.stem(data))
    if shape == COLUMNS:
        return Run(*data.run_columns(duplicates))
    return Run.from_table(source, columns, duplicates) if shape == TABLE else Run.from_dict(data, duplicates)
