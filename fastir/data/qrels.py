"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs.

QrelsColumns are the columns that fastir reads. The index of the joins is made on its first use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import IO, TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from fastir.checks import check_choice, number
from fastir.engine.columns._dicts import plain_judgments
from fastir.engine.columns.rows import Columns, Rows, restore_columns
from fastir.engine.join._judged import Judged
from fastir.engine.measure._grades import coded, has_fractions
from fastir.errors import FormatError
from fastir.inputs import dicts, files, places, roles
from fastir.inputs.files import Path
from fastir.inputs.roles import EVIDENCE_KINDS
from fastir.inputs.shapes import COLUMNS, HELD_OBJECT, LISTS, PATH, TABLE, input_shape
from fastir.inputs.source import as_source, data_of
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from fastir.engine.measure._grades import Grades
    from fastir.inputs.evidence import Evidence
    from fastir.inputs.preferences import PreferenceOrder
    from fastir.inputs.samples import Probabilities, Strata
    from fastir.inputs.shapes import Table
    from fastir.request.options import Duplicates

    Label = SupportsIndex | SupportsFloat
    Relevant = Mapping[Any, Label] | Sequence[Any] | AbstractSet[Any] | np.ndarray | str | int  # of one query
    Groups = Mapping[Any, Mapping[Any, Mapping[Any, Label]]]
    Preferred = Mapping[Any, Mapping[Any, Mapping[Any, Mapping[Any, Label]]]]
    JudgmentsLike = Mapping[Any, Relevant] | Groups | Preferred
    Alternatives = Mapping[Any, Iterable[Iterable[Any]]]  # documents by sets or hops
    QrelsLike: TypeAlias = JudgmentsLike | Path | IO[bytes] | "Qrels" | Table  # what runs are evaluated against


class QrelsColumns(Columns):
    """The columns of Qrels: the numbers are labels. The fields below `weights` are only of groups or preferences."""

    strata: np.ndarray | None = None  # parallel to the labels, of a sample
    probabilities: np.ndarray | None = None  # likewise
    sets: Evidence | None = None  # of evidence
    hops: Evidence | None = None  # likewise
    weights: np.ndarray | None = None  # of the documents, parallel to the labels
    keys: list[tuple[Any, Any]]  # (query_id, group_id)
    parts: Any  # Qrels with one query for each of the keys; not of preferences
    union: Any  # Qrels of all groups: each document has its largest label, or its position in `documents`, from 1 up
    documents: list[list[Any]]  # of preferences: the ids of each query
    orders: list[list[PreferenceOrder]]  # of preferences: what each query's judges prefer, by these positions
    _judged: Judged | None = None
    _codes: tuple[Grades | None, np.ndarray] | None = None

    @property
    def kinds(self) -> tuple[type[Any], type[Any]] | None:
        """The types of query ids and document ids, str or int; None for ids of a file, which also equal integers."""
        ids = self.ids
        if isinstance(ids, list):
            return (type(self.query_ids[0]), type(ids[0])) if ids else None
        return (type(self.query_ids[0]), int) if ids.integers and len(ids) else None

    @property
    def integers(self) -> bool:
        """Whether document ids are integers."""
        ids = self.ids[:1]
        return bool(ids) and type(ids[0]) is int

    def judged(self) -> Judged:
        """The qrels as the joins read them, indexed once."""
        if self._judged is None:  # of several threads that make it, all get the first one's
            judged = Judged(self.query_ids, self.ids, self.offsets, self.label_codes()[1])
            return self.__dict__.setdefault("_judged", judged)
        return self._judged

    def first_fraction(self) -> tuple[float, str]:
        """The first real-valued label, and its position in words."""
        place = int(np.argmax(self.numbers != np.trunc(self.numbers)))
        query_id = self.query_ids[int(np.searchsorted(self.offsets, place, "right")) - 1]
        return float(self.numbers[place]), f"query {query_id}, document {self.ids[place : place + 1][0]}"

    def label_codes(self) -> tuple[Grades | None, np.ndarray]:
        """The labels as kernels read them: real-valued labels are codes, with the `Grades` that decode them."""
        if self._codes is None:
            grades_and_codes: tuple[Grades | None, np.ndarray] = (None, self.numbers)
            if self.numbers.dtype != np.int32:
                grades, (codes,) = coded(self.numbers)
                grades_and_codes = grades, codes
            return self.__dict__.setdefault("_codes", grades_and_codes)
        return self._codes


def label_column(numbers: np.ndarray) -> np.ndarray:
    """Labels as Qrels hold them: int32, or float64 if there are real-valued labels."""
    return numbers if has_fractions(numbers) else numbers.astype(np.int32)


class Qrels(Rows):
    """Relevance judgments.

    Made by `from_dict`, `from_sets`, `from_hops`, `from_file` or `from_table`; immutable. len() counts queries,
    iteration gives query ids in order of first appearance, ``qrels[query_id]`` is ``{doc_id: label}``.

    Attributes
    ----------
    query_ids : list of str or of int
    strata, probabilities : dict or None
        The columns of a sample of the pool; None for other judgments.
    sets, hops : dict or None
        The sets of evidence or the hops, ``{query_id: [[doc_id, ...], ...]}``; None for other judgments.

    Examples
    --------
    >>> import fastir
    >>> qrels = fastir.Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}})
    >>> qrels
    <Qrels: 2 queries, 3 judgments>
    >>> qrels.query_ids, qrels["q1"], "q3" in qrels
    (['q1', 'q2'], {'a': 1, 'b': 0}, False)
    >>> qrels.filter(queries=["q2"]).to_dict()
    {'q2': {'c': 2}}
    >>> fastir.Qrels.from_dict(qrels.to_dict()) == qrels
    True
    """

    _what = "qrels"
    _number = "label"
    _make_columns = QrelsColumns
    columns: QrelsColumns

    @classmethod
    def from_dict(
        cls, data: JudgmentsLike, *, strata: Strata | None = None, probabilities: Probabilities | None = None
    ) -> Qrels:
        """From ``{query_id: {doc_id: label}}``, or with groups ``{query_id: {group_id: {doc_id: label}}}``.

        Groups are the subtopics of a query, or groups of judges. Instead of ``{doc_id: label}`` you can give the ids
        of the relevant documents (a list, tuple, set or array), or one id. Their label is 1; an id given twice counts
        once, and the report of an evaluation counts this as a repair. Or a list of pairs ``(doc_id, label)``.

        Preferences are ``{query_id: {judge: {part: {doc_id: level}}}}``. Within a part, documents with a higher level,
        which is any number, are preferred. Preferences that follow from several parts of a judge count, too.

        Parameters
        ----------
        data : dict
        strata : dict or None
            For labels of a sample of the pool: ``{query_id: {doc_id: stratum}}``, an int for every document of the
            pool. A document without a label, or with a negative one, was not sampled.
        probabilities : dict or None
            ``{query_id: {doc_id: inclusion probability}}`` for the documents of a sample. Other documents with a label
            are judged, but not in the sample.

        Raises
        ------
        TypeError, ValueError, OverflowError
            An id is neither a str nor an int, or a label is not a number in [-2^31, 2^31 - 1]. A judge prefers each of
            two documents to the other, or gives a document the level 0 in one part and another level elsewhere. A
            judged document has no stratum. A probability is not above 0 and at most 1, or its document has no label.
        """
        if strata is not None or probabilities is not None:
            return as_sampled(data, strata, probabilities)
        columns = plain_judgments(data)
        if columns is not None:
            return Qrels(*columns)
        from fastir.inputs import preferences
        from fastir.inputs.scored_pairs import has_pairs

        if preferences.is_of_parts(data):
            return Preferences(data, {})
        if has_pairs(data):
            return qrels_of_pairs(data, None)
        keys, data = dicts.flatten_groups(data)
        qrels = Qrels(*dicts.judgments(data))
        return qrels if keys is None else GroupedQrels(keys, qrels)

    @classmethod
    def from_file(
        cls,
        path: Path | IO[bytes],
        format: str | None = None,
        duplicates: Duplicates | None = None,
        columns: Mapping[str, str] | None = None,
        threshold: SupportsFloat | None = None,
        label: SupportsFloat | None = None,
    ) -> Qrels:
        """From a file; gzip and zstd are decompressed.

        Parameters
        ----------
        path : str, path or file object
            As for `Run.from_file`.
        format : str or None
            "trec", "trec_eval" and "msmarco" alike: query, iteration, document, label. "beir": query, document, label,
            with tabs between them, below the header ``query-id corpus-id score``. "pairs": query and document, all of
            which are relevant. "json": ``{query_id: {doc_id:
            label}}``, ``{query_id: [doc_id, ...]}`` with label 1, or an array of objects. "quepid": Quepid's CSV of
            ratings, with the columns query, docid and rating; rows without a rating are left out. A book of judgments
            has a column for each rater: ``columns={"label": rater}`` takes one, ``duplicates="mean"`` all. "letor":
            label, qid:query, features and ``# document``; a line without one has its position in the query, from 0 up.
            LIBSVM files have no qid, but a file of group sizes beside them, of the same name and .query or .group.
            "csv" and "tsv" (with a header), "jsonl", "parquet" and "arrow" (IPC, Feather), which need pyarrow: tables
            with columns as for `from_table`, or a list of ids for each query. "subtopic" and "qrels_jg" alike: as
            "trec", but the iteration is a group (a subtopic, or judges); "evidence" and "hops": it is a set of
            evidence, or a hop, as for `from_sets` and `from_hops`, and members have labels from 1 up. Preferences as
            for `from_dict`: "prefs" (query, judge, part, document, level)
            and "qrels_prefs" (the same without part). Samples: "strata" (query, iteration, document, stratum, label)
            and "prels" (query, document, label, method, inclusion probability). None: by the suffix (.json, .csv,
            .jsonl, .ndjson, .parquet, .arrow or .feather, before any .gz or .zst); otherwise "beir", "quepid", "letor"
            or "tsv" if the first line tells it, "pairs" if the first lines have two fields, else "trec".
        duplicates : None, "first", "last", "max", "mean" or "once"
            None makes a duplicate document an error, "once" only if its labels differ. "mean": the mean of its labels,
            such as the ratings of several raters; negative ones, which are no judgments, are left out where there are
            others.
        columns : dict or None
            As for `from_table`; for formats of tables and "json".
        threshold : float or None
            As for `from_table`; for formats of tables.
        label : float or None
            As for `from_table`; for formats of tables and "pairs".

        Raises
        ------
        FormatError, DuplicateError, ValueError, OSError
        """
        from fastir.inputs import formats

        from_on = None if threshold is None else number("threshold", threshold)
        card, columns = formats.find_format(path, False, format), roles.label_all(columns, label)
        columns_read = formats.read(path, False, card.name, duplicates, columns, threshold=from_on)
        return FILE_READERS[card.holds](places.place_name(path), *columns_read)

    @classmethod
    def from_table(
        cls,
        data: Table,
        columns: Mapping[str, str] | None = None,
        duplicates: Duplicates | None = None,
        threshold: SupportsFloat | None = None,
        label: SupportsFloat | None = None,
    ) -> Qrels:
        """From a table: a data frame, Arrow data, a dict of arrays, or (query_id, doc_id, label) tuples.

        Parameters
        ----------
        data : table
            As for `Run.from_table`; a column of labels is found by label, relevance, rating, rel, grade or score. A
            column called set or evidence has the sets of `from_sets`, and one called hop has hops: each row is a
            document of one; members have labels from 1 up, and without a column of labels all are.
        columns : dict or None
            ``{"query_id": name, "doc_id": name, "label": name, "set": name}``, for columns with other names.
        duplicates : None, "first", "last", "max", "mean" or "once"
            None makes a duplicate document an error, "once" only if its labels differ. "mean": the mean of its labels,
            such as the ratings of several raters; negative ones, which are no judgments, are left out where there are
            others.
        threshold : float or None
            The labels are ratings, which may be fractions such as half stars. A rating of at least the threshold
            becomes the label 1, a lower one 0.
        label : float or None
            The label of all rows, above 0, of a table that has no column of labels, such as interactions of users. A
            table or tuples of a query and a document alone need no option: all that is listed is relevant, with the
            label 1. The report of an evaluation counts these rows as a repair.

        Raises
        ------
        TypeError, ValueError, OverflowError, DuplicateError
        """
        from fastir.inputs import table_rows

        from_on = None if threshold is None else number("threshold", threshold)
        columns_read = table_rows.read(data, "qrels", roles.label_all(columns, label), duplicates, from_on)
        return qrels_of_columns(*columns_read)

    @classmethod
    def from_sets(cls, data: Alternatives) -> Qrels:
        """From ``{query_id: [[doc_id, ...], ...]}``: sets of evidence, each of which is enough if it is complete.

        Metrics called evidence_* count complete sets. A set is complete at the rank of its last member, so at k if all
        its members are in the first k; every document has a rank of its own. (With ``set_ranks=sets``, as in KILT, the
        retrieved members of a set are one rank.) A set that a query has twice counts once. To other metrics a document
        of any set is relevant, with the label 1. A document may be in several sets.

        Raises
        ------
        TypeError, ValueError, DuplicateError
            A query has no sets, a set has no documents or one of them twice, or an id is neither a str nor an int.

        Examples
        --------
        >>> import fastir
        >>> qrels = fastir.Qrels.from_sets({"q": [["a", "b"], ["c"]]})
        >>> qrels
        <Qrels: 1 query, 2 sets, 3 judgments>
        >>> qrels["q"], qrels.sets
        ({'a': 1, 'b': 1, 'c': 1}, {'q': [['a', 'b'], ['c']]})
        >>> fastir.evaluate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, ["evidence_mrr", "evidence_chain@2"])
        evidence_mrr      0.3333
        evidence_chain@2  0.5000
        1 query
        """
        return listed_evidence(data, "sets")

    @classmethod
    def from_hops(cls, data: Alternatives) -> Qrels:
        """From ``{query_id: [[doc_id, ...], ...]}``: hops, each of which needs one of its documents.

        `hop_recall` counts the hops that have one in the first k, `all_hops` asks for all. Otherwise as `from_sets`.

        Examples
        --------
        >>> import fastir
        >>> qrels = fastir.Qrels.from_hops({"q": [["a", "b"], ["c"]]})
        >>> fastir.evaluate(qrels, {"q": {"b": 2.0, "a": 1.0}}, ["hop_recall@2", "all_hops@2"])
        hop_recall@2  0.5000
        all_hops@2    0.0000
        1 query
        """
        return listed_evidence(data, "hops")

    @property
    def strata(self) -> dict[Any, dict[Any, int]] | None:
        """``{query_id: {doc_id: stratum}}`` of a sample, else None."""
        return self._parallel(self.columns.strata)

    @property
    def probabilities(self) -> dict[Any, dict[Any, float]] | None:
        """``{query_id: {doc_id: inclusion probability}}`` of the documents in a sample, else None."""
        nested = self._parallel(self.columns.probabilities)
        return nested and {query: {doc: p for doc, p in docs.items() if p == p} for query, docs in nested.items()}

    @property
    def sets(self) -> dict[Any, list[list[Any]]] | None:
        """``{query_id: [[doc_id, ...], ...]}`` of sets of evidence, else None."""
        held = self.columns
        return held.sets and held.sets.nested(held.query_ids, held.ids)

    @property
    def hops(self) -> dict[Any, list[list[Any]]] | None:
        """``{query_id: [[doc_id, ...], ...]}`` of hops, else None."""
        held = self.columns
        return held.hops and held.hops.nested(held.query_ids, held.ids)

    def _parallel(self, column: np.ndarray | None) -> dict[Any, dict[Any, Any]] | None:
        query_ids, offsets, ids, _, _ = self.columns.fields()
        return None if column is None else Rows(query_ids, offsets, ids, column).to_dict()

    def save(self, path: Path, format: str | None = None) -> None:
        """Write (atomically) a file that reads back exactly; formats and errors are those of `Run.save`."""
        from fastir.inputs import formats

        formats.write(path, self, False, format)

    def __repr__(self) -> str:
        judgments = counted(self.columns.n_rows, "judgment", "judgments")
        return f"<Qrels: {counted(len(self), 'query', 'queries')}, {judgments}>"


class GroupedQrels(Qrels):
    """Judgments of each query by subtopics or groups of judges: ``qrels[query_id]`` is ``{group_id: {doc_id: label}}``.

    Made by the methods of Qrels, from Qrels with one query for each of the keys (query_id, group_id).
    """

    def __init__(self, keys: list[tuple[Any, Any]], parts: Qrels) -> None:
        self._part_names: dict[Any, dict[Any, str]] = {}
        union: dict[Any, dict[Any, int]] = {}
        for part, (query_id, group_id) in zip(parts, keys, strict=True):
            self._part_names.setdefault(query_id, {})[group_id] = part
            labels = union.setdefault(query_id, {})
            for doc_id, label in parts[part].items():
                labels[doc_id] = max(label, labels.get(doc_id, label))
        _, offsets, ids, numbers, repairs = parts.columns.fields()
        super().__init__(list(union), offsets, ids, numbers, repairs)
        self.columns.keys, self.columns.parts, self.columns.union = keys, parts, Qrels.from_dict(union)
        self.columns.union.columns.repairs = repairs

    def __getitem__(self, query_id: Any) -> dict[Any, Any]:
        if query_id not in self._part_names:
            return super().__getitem__(query_id)
        return {group_id: self.columns.parts[part] for group_id, part in self._part_names[query_id].items()}

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> GroupedQrels:
        columns = self.columns
        query_ids = {columns.query_ids[place] for place in places}
        at = [place for place, (query_id, _) in enumerate(columns.keys) if query_id in query_ids]
        return GroupedQrels([columns.keys[place] for place in at], columns.parts._only(at, kept))

    def _table(self) -> dict[str, Any]:
        columns, sizes = self.columns.parts._table(), np.diff(self.columns.offsets).tolist()
        keys = [key for key, n in zip(self.columns.keys, sizes, strict=True) for _ in range(n)]
        ids = {name: [key[place] for key in keys] for place, name in enumerate(("query_id", "group_id"))}
        return {**ids, "doc_id": columns["doc_id"], "label": columns["label"]}

    def save(self, path: Path, format: str | None = None) -> None:
        """Write (atomically) a TREC qrels file with the groups as iterations, whatever the format; see `Qrels.save`."""
        from fastir.inputs import formats, writers

        check_choice("format", format, (None, *formats.written_formats("groups")))
        with files.create_file(os.fsdecode(path)) as file:
            writers.groups(file, self)

    def _repr_html_(self) -> str:
        return self.columns.union._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupedQrels, (self.columns.keys, self.columns.parts)

    def __repr__(self) -> str:
        groups = counted(len(self.columns.keys), "group", "groups")
        judgments = counted(self.columns.n_rows, "judgment", "judgments")
        return f"<Qrels: {counted(len(self), 'query', 'queries')}, {groups}, {judgments}>"


class Preferences(GroupedQrels):
    """Preferences of each query's judges: ``qrels[query_id]`` is ``{judge: {part: {doc_id: level}}}``.

    Made by the methods of Qrels; `repairs` are those of the file.
    """

    def __init__(self, data: Mapping[Any, Any], repairs: dict[str, tuple[int, str]]) -> None:
        from fastir.inputs import preferences

        self._data = preferences.convert_levels(data)
        documents = [preferences.documents(judges) for judges in self._data.values()]
        labels = {
            query_id: {doc_id: place for place, doc_id in enumerate(docs, 1)}
            for query_id, docs in zip(self._data, documents, strict=True)
        }
        union = Qrels.from_dict(labels)
        union.columns.repairs = repairs
        ids, offsets, numbers = union.columns.arrays()
        Rows.__init__(self, list(self._data), offsets, ids, numbers, repairs)
        columns = self.columns
        columns.documents, columns.union = documents, union
        columns.orders = [preferences.judge_orders(query_id, judges) for query_id, judges in self._data.items()]
        columns.keys = [(query_id, judge) for query_id, judges in self._data.items() for judge in judges]

    def __getitem__(self, query_id: Any) -> dict[Any, Any]:
        if query_id not in self._data:
            return super(GroupedQrels, self).__getitem__(query_id)
        judges = self._data[query_id].items()
        return {judge: {part: dict(docs) for part, docs in parts.items()} for judge, parts in judges}

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> Preferences:
        columns, ids = self.columns, self.columns.query_ids
        data = {ids[place]: self[ids[place]] for place in places}
        if kept is not None:
            for place in places:
                rows = slice(columns.offsets[place], columns.offsets[place + 1])
                gone = {doc_id for doc_id, keep in zip(columns.ids[rows], kept[rows].tolist(), strict=True) if not keep}
                for parts in data[ids[place]].values():
                    for part, docs in parts.items():
                        parts[part] = {doc_id: level for doc_id, level in docs.items() if doc_id not in gone}
        return Preferences(data, columns.repairs)

    def _table(self) -> dict[str, Any]:
        rows = [
            (query_id, judge, part, doc_id, level)
            for query_id, judges in self._data.items()
            for judge, parts in judges.items()
            for part, docs in parts.items()
            for doc_id, level in docs.items()
        ]
        names = ("query_id", "judge", "part", "doc_id", "level")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def save(self, path: Path, format: str | None = None) -> None:
        """Write (atomically) a file of the format "prefs"; see `Qrels.save`."""
        from fastir.inputs import formats, writers

        check_choice("format", format, (None, *formats.written_formats("preferences")))
        with files.create_file(os.fsdecode(path)) as file:
            writers.preferences(file, self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        return Preferences, (self._data, self.columns.repairs)

    def __repr__(self) -> str:
        judges = counted(len(self.columns.keys), "judge", "judges")
        documents = counted(self.columns.n_rows, "document", "documents")
        return f"<Qrels: {counted(len(self), 'query', 'queries')}, preferences of {judges}, {documents}>"


def preferences_of_file(
    name: str, keys: list[str], offsets: np.ndarray, ids: Any, levels: np.ndarray, repairs: dict[str, tuple[int, str]]
) -> Preferences:
    """Preferences from the columns of a file."""
    data: dict[str, Any] = {}
    for key, first, stop in zip(keys, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        query_id, judge, *part = key.split(" ")
        docs = dict(zip(ids[first:stop], levels[first:stop].tolist(), strict=True))
        data.setdefault(query_id, {}).setdefault(judge, {})["".join(part)] = docs
    try:
        return Preferences(data, repairs)
    except ValueError as error:
        raise FormatError(str(error).removeprefix("qrels: "), name) from None


class SampledQrels(Qrels):
    """Judgments of a sample of the pool; made by the methods of Qrels. A negative label: the document was not sampled.

    int64 strata and float64 probabilities are parallel to the labels; NaN for what is not in the sample.
    """

    def __init__(
        self,
        query_ids: list[Any],
        offsets: np.ndarray,
        ids: Any,
        labels: np.ndarray,
        strata: np.ndarray | None,
        probabilities: np.ndarray | None,
        repairs: dict[str, tuple[int, str]] | None = None,
    ) -> None:
        super().__init__(query_ids, offsets, ids, labels, repairs)
        self.columns.strata = strata
        self.columns.probabilities = probabilities

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> SampledQrels:
        columns, (rows, _) = self.columns, self.columns.rows(places, kept)
        *fields, repairs = Qrels(*columns.fields())._only(places, kept).columns.fields()
        sample = [None if column is None else column[rows] for column in (columns.strata, columns.probabilities)]
        return SampledQrels(*fields, *sample, repairs)  # type: ignore[call-arg]

    def _table(self) -> dict[str, Any]:
        columns = {"stratum": self.columns.strata, "probability": self.columns.probabilities}
        return {**super()._table(), **{name: column for name, column in columns.items() if column is not None}}

    def save(self, path: Path, format: str | None = None) -> None:
        """Write (atomically) a "strata" file, or a "prels" file if the qrels have no strata; see `Qrels.save`."""
        from fastir.inputs import writers

        having = {"strata": self.strata, "prels": self.probabilities}
        kinds = [kind for kind, numbers in having.items() if numbers is not None]
        check_choice("format", format, (None, *kinds))
        with files.create_file(os.fsdecode(path)) as file:
            writers.sample(file, self.to_dict(), having[format or kinds[0]] or {}, format or kinds[0])

    def __eq__(self, other: object) -> bool:
        if type(other) is not SampledQrels:
            return NotImplemented
        mine, theirs = ((qrels.to_dict(), qrels.strata, qrels.probabilities) for qrels in (self, other))
        return mine == theirs

    def __reduce__(self) -> tuple[Any, ...]:
        *fields, repairs = self.columns.fields()
        return restore_sample, (*fields, self.columns.strata, self.columns.probabilities, repairs)

    def __repr__(self) -> str:
        judged = counted(int((self.columns.numbers >= 0).sum()), "judgment", "judgments")
        pool = counted(self.columns.n_rows, "document", "documents")
        return f"<Qrels: {counted(len(self), 'query', 'queries')}, {judged} of a sample of {pool}>"


def restore_sample(
    query_ids: list[Any],
    offsets: np.ndarray,
    ids: Any,
    labels: np.ndarray,
    strata: np.ndarray | None,
    probabilities: np.ndarray | None,
    repairs: dict[Any, Any],
) -> SampledQrels:
    """SampledQrels from a pickle."""
    restore_columns(Qrels, query_ids, offsets, ids, labels, repairs)
    for column, kind in ((strata, np.int64), (probabilities, np.float64)):
        fits = type(column) is np.ndarray and column.shape == labels.shape and column.dtype == kind
        if column is not None and not fits:
            raise ValueError("the pickled qrels are damaged: strata or probabilities are not aligned with the labels")
    return SampledQrels(query_ids, offsets, ids, labels, strata, probabilities, repairs)


def as_sampled(data: Any, strata: Strata | None, probabilities: Probabilities | None) -> SampledQrels:
    """SampledQrels from labels with strata or probabilities."""
    from fastir.inputs import samples

    labels = Qrels.from_dict(data)
    if labels.columns.numbers.dtype != np.int32:
        label, place = labels.columns.first_fraction()
        raise ValueError(f"qrels: label {label!r} of a sample is not an integer ({place})")
    if type(labels) is not Qrels:
        raise TypeError("strata and probabilities go with labels {query_id: {doc_id: label}}, not with groups")
    if strata is not None:
        labels = Qrels.from_dict(samples.add_pool(labels.to_dict(), strata))
    rows = labels.to_dict()
    query_ids, offsets, ids, numbers, _ = labels.columns.fields()
    return SampledQrels(
        query_ids,
        offsets,
        ids,
        np.maximum(numbers, samples.NOT_SAMPLED),
        None if strata is None else samples.align_strata(rows, strata),
        None if probabilities is None else samples.align_probabilities(rows, probabilities),
    )


class EvidenceQrels(Qrels):
    """Judgments with sets of evidence or with hops; a document has its largest label, 1 unless a file has others."""

    def __init__(
        self,
        query_ids: list[Any],
        offsets: np.ndarray,
        ids: Any,
        labels: np.ndarray,
        repairs: dict[str, tuple[int, str]],
        evidence: Evidence,
    ) -> None:
        super().__init__(query_ids, offsets, ids, labels, repairs)
        setattr(self.columns, evidence.kind, evidence)

    @property
    def _evidence(self) -> Evidence:
        evidence: Any = self.columns.sets or self.columns.hops
        return evidence

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> EvidenceQrels:
        columns, (rows, _) = self.columns, self.columns.rows(places, kept)
        new_rows = np.full(columns.n_rows, -1, np.int64)
        new_rows[rows] = np.arange(len(rows))
        evidence = self._evidence.only(places, new_rows)
        if (evidence.rows < 0).any():
            raise ValueError(
                f"qrels with {evidence.kind} keep all their members; make other {evidence.kind} without them"
            )
        query_ids, offsets, ids, labels, repairs = Qrels(*columns.fields())._only(places, kept).columns.fields()
        return EvidenceQrels(query_ids, offsets, ids, labels, repairs, evidence)

    def _by_set(self) -> dict[Any, dict[str, dict[Any, float]]]:
        """The judgments by set, which are numbered from 1 up; what is in no set is in 0."""
        evidence = self._evidence
        nested, labels = evidence.nested(self.columns.query_ids, self.columns.ids), self.to_dict()
        by_set: dict[Any, dict[str, dict[Any, float]]] = {}
        for query_id, sets in nested.items():
            rest = labels[query_id].keys() - {doc_id for docs in sets for doc_id in docs}
            listed = [[doc_id for doc_id in labels[query_id] if doc_id in rest], *sets]
            by_set[query_id] = {
                str(number): {doc_id: labels[query_id][doc_id] for doc_id in docs} for number, docs in enumerate(listed)
            }
        return by_set

    def _table(self) -> dict[str, Any]:
        rows = [
            (query_id, number, doc_id, label)
            for query_id, sets in self._by_set().items()
            for number, docs in sets.items()
            for doc_id, label in docs.items()
        ]
        names = ("query_id", EVIDENCE_KINDS[self._evidence.kind], "doc_id", "label")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def save(self, path: Path, format: str | None = None) -> None:
        """Write (atomically) a file of the format "evidence" or "hops", whatever its name; see `Qrels.save`."""
        from fastir.inputs import formats, writers

        check_choice("format", format, (None, *formats.written_formats(self._evidence.kind)))
        with files.create_file(os.fsdecode(path)) as file:
            writers.groups(file, self._by_set())

    def __eq__(self, other: object) -> bool:
        if type(other) is not EvidenceQrels:
            return NotImplemented
        mine, theirs = ((qrels.to_dict(), qrels.sets, qrels.hops) for qrels in (self, other))
        return mine == theirs

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_evidence, (*self.columns.fields(), self._evidence)

    def __repr__(self) -> str:
        evidence = self._evidence
        sets = counted(len(evidence.offsets) - 1, EVIDENCE_KINDS[evidence.kind], evidence.kind)
        judgments = counted(self.columns.n_rows, "judgment", "judgments")
        return f"<Qrels: {counted(len(self), 'query', 'queries')}, {sets}, {judgments}>"


def restore_evidence(
    query_ids: list[Any],
    offsets: np.ndarray,
    ids: Any,
    labels: np.ndarray,
    repairs: dict[Any, Any],
    evidence: Evidence,
) -> EvidenceQrels:
    """EvidenceQrels from a pickle."""
    from fastir.inputs.evidence import damaged

    restore_columns(Qrels, query_ids, offsets, ids, labels, repairs)
    if damaged(evidence, len(query_ids), len(ids)):
        raise ValueError("the pickled qrels are damaged: sets or hops do not fit their documents")
    return EvidenceQrels(query_ids, offsets, ids, labels, repairs, evidence)


def qrels_of_columns(
    query_ids: list[Any],
    offsets: np.ndarray,
    ids: Any,
    labels: Any,
    repairs: dict[str, tuple[int, str]],
    evidence: Evidence | None = None,
) -> Qrels:
    """Qrels of the columns of a table or of a file, perhaps with sets or hops."""
    rows = query_ids, offsets, ids, label_column(labels), repairs
    return Qrels(*rows) if evidence is None else EvidenceQrels(*rows, evidence)


def refuse_without_labels(qrels: Qrels, option: str, *others: type[Qrels]) -> None:
    """Refuse an option beside judgments that are neither labels of documents, perhaps with weights, nor of `others`."""
    if type(qrels) not in (Qrels, *others) and qrels.columns.weights is None:
        raise TypeError(f"{option} go with labels {{query_id: {{doc_id: label}}}}, not with groups or samples")


def listed_evidence(data: Alternatives, kind: str) -> Qrels:
    """EvidenceQrels from the sets or hops of each query."""
    from fastir.inputs.evidence import columns_of_members, listed_members

    return EvidenceQrels(*columns_of_members(listed_members(data, kind), kind))


def evidence_of_query(qrels: EvidenceQrels, query_id: Any, elsewhere: Iterable[str] = ()) -> EvidenceQrels:
    """The evidence of one query, called "", with ids as text; documents judged `elsewhere` are of another query."""
    from fastir.inputs.evidence import columns_of_members

    of_query = qrels.filter(queries=[query_id])
    kind = of_query._evidence.kind
    [by_set] = of_query._by_set().values()
    members = {"": {name: {str(doc_id): label for doc_id, label in docs.items()} for name, docs in by_set.items()}}
    others = {"others": {"0": dict.fromkeys(elsewhere, 0)}} if elsewhere else {}
    return EvidenceQrels(*columns_of_members({**members, **others}, kind))


def evidence_reader(kind: str) -> Callable[..., Qrels]:
    """What makes qrels from the columns of a file with sets or hops."""

    def read(name: str, keys: list[str], *columns: Any) -> Qrels:
        from fastir.inputs.evidence import columns_of_members, keyed_members

        return EvidenceQrels(*columns_of_members(keyed_members(keys, *columns[:3]), kind, columns[3]))

    return read


FILE_READERS: dict[str, Callable[..., Qrels]] = {  # what a format holds: from the name and the columns of a file
    "labels": lambda name, *columns: qrels_of_columns(*columns),
    "groups": lambda name, keys, *columns: GroupedQrels(
        [tuple(key.split(" ")) for key in keys], qrels_of_columns(keys, *columns)
    ),
    "preferences": preferences_of_file,
    "sample": lambda name, *columns: SampledQrels(*columns),
    **{kind: evidence_reader(kind) for kind in EVIDENCE_KINDS},
}


def qrels_of_pairs(data: Mapping[Any, Any], duplicates: Duplicates | None) -> Qrels:
    from fastir.inputs.scored_pairs import naming_odd_pairs, plain_pairs, read_pairs

    if (plain := plain_pairs(data)) is not None:
        with naming_odd_pairs(data, "qrels"):
            return Qrels.from_dict(plain)
    query_ids, offsets, ids, labels, repairs = read_pairs(data, "qrels", duplicates)
    return Qrels(query_ids, offsets, ids, label_column(labels), repairs)


def as_qrels(data: Any, columns: Mapping[str, str] | None, duplicates: Duplicates | None) -> Qrels:
    """Qrels from a caller's judgments, of any shape."""
    if columns is None and isinstance(data, Qrels):
        return data
    source = as_source(data)
    shape, data = input_shape(source, Qrels, columns), data_of(source)
    if shape not in (PATH, TABLE):
        roles.refuse_label(columns, f"a {type(data).__name__}, which says what is relevant")
        roles.refuse_names(columns, "qrels", f"a {type(data).__name__}")
    if shape == HELD_OBJECT:
        return data
    if shape == PATH:
        return Qrels.from_file(data, duplicates=duplicates, columns=columns)
    if shape == COLUMNS:
        return Qrels(*data.qrels_columns())
    if shape == LISTS:
        from fastir.inputs.scored_pairs import has_pairs

        if has_pairs(data):
            return qrels_of_pairs(data, duplicates)
    return Qrels.from_table(source, columns, duplicates) if shape == TABLE else Qrels.from_dict(data)
