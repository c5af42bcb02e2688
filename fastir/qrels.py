"""Qrels: the judgments of every query, held as columns and prepared once for any number of runs."""

import os

import numpy as np

from fastir._judged import Judged
from fastir.inputs import dicts, tables, trec
from fastir.rows import Arena, Rows


WITH_GROUPS = ("subtopic", "qrels_jg")


class Qrels(Rows):
    """Relevance judgments.

    Made by `from_dict` or `from_file`; immutable. len() counts queries, iteration gives query ids in order of first
    appearance, ``qrels[query_id]`` is ``{doc_id: label}``.
    """

    what = "qrels"
    _judged = None

    @classmethod
    def from_dict(cls, data):
        """From ``{query_id: {doc_id: label}}``, or with groups ``{query_id: {group_id: {doc_id: label}}}``.

        Groups are the subtopics of a query, or groups of judges.

        Raises
        ------
        TypeError, ValueError, OverflowError
            An id is not a str, or a label not an integer in [-2^31, 2^31 - 1].
        """
        keys, data = dicts.without_groups(data)
        query_ids, offsets, doc_ids, labels = dicts.judgments(data)
        rows = query_ids, np.array(offsets, np.int64), doc_ids, np.array(labels, np.int32)
        return Qrels(*rows) if keys is None else GroupedQrels(keys, Qrels(*rows))

    @classmethod
    def from_file(cls, path, format=None, duplicates=None):
        """From a TREC qrels file: query, iteration, document, label; gzip is unpacked.

        Parameters
        ----------
        path : str or path
        format : None, "trec", "subtopic" or "qrels_jg"
            The latter two, which are the same, take the iteration for a group: a subtopic, or a group of judges.
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        FormatError, DuplicateError, OSError
        """
        check_format(format, *WITH_GROUPS)
        grouped = format in WITH_GROUPS
        query_ids, offsets, arena, starts, lengths, numbers, repairs = trec.read(path, False, duplicates, grouped)
        qrels = Qrels(query_ids, offsets, Arena(arena, starts, lengths), numbers.astype(np.int32), repairs)
        return GroupedQrels([tuple(pair.split(" ")) for pair in query_ids], qrels) if grouped else qrels

    @classmethod
    def from_table(cls, data, columns=None, duplicates=None):
        """From a table: a data frame, Arrow data, a dict of arrays, or (query_id, doc_id, label) tuples.

        Parameters
        ----------
        data : table
            As for `fastir.evaluate`.
        columns : dict or None
            ``{"query_id": name, "doc_id": name, "label": name}``, for columns that are not called as usual.
        duplicates : None, "first", "last" or "max"
            None makes a document that stands twice an error.

        Raises
        ------
        TypeError, ValueError, OverflowError, DuplicateError
        """
        query_ids, offsets, ids, numbers, repairs = tables.read(data, False, columns, duplicates)
        return cls(query_ids, offsets, ids, numbers.astype(np.int32), repairs)

    @property
    def kinds(self) -> tuple[type, type] | None:
        """The types of query ids and document ids, str or int; None for a file's, which equal an int that they spell."""
        if isinstance(self._ids, Arena) and not self._ids.integers or not self.n_rows:
            return None
        return type(self._query_ids[0]), int if self.integers else str

    @property
    def integers(self) -> bool:
        """Whether document ids are integers."""
        ids = self._ids[:1]
        return bool(ids) and type(ids[0]) is int

    def prepared(self):
        """The C-level form, made once."""
        if self._judged is None:
            self._judged = Judged(self._query_ids, self._ids, self._offsets, self._numbers)
        return self._judged

    def save(self, path):
        """Write a TREC qrels file, in one step; ``.gz`` is compressed."""
        write(path, (f"{query} 0 {doc} {label}" for query in self for doc, label in self[query].items()))

    def __repr__(self):
        return f"<Qrels: {len(self)} queries, {self.n_rows} judgments>"


class GroupedQrels(Qrels):
    """Judgments of each query by subtopics or by groups of judges; made by the methods of Qrels.

    As Qrels, but ``qrels[query_id]`` is ``{group_id: {doc_id: label}}``.

    Parameters
    ----------
    keys : list of (query_id, group_id)
    parts : Qrels
        A query for each of the keys.
    """

    def __init__(self, keys, parts):
        self.keys = keys
        self.parts = parts
        self._rows_of = {}
        for part, (query_id, group_id) in zip(parts, keys, strict=True):
            self._rows_of.setdefault(query_id, {})[group_id] = part
        union = {}
        for part, (query_id, _) in zip(parts, keys, strict=True):
            labels = union.setdefault(query_id, {})
            for doc_id, label in parts[part].items():
                labels[doc_id] = max(label, labels.get(doc_id, label))
        #: The judgments of all groups together, a plain Qrels: each document has its largest label.
        self.union = Qrels.from_dict(union)
        self.union.repairs = parts.repairs
        super().__init__(list(union), parts._offsets, parts._ids, parts._numbers, parts.repairs)

    def __getitem__(self, query_id):
        if query_id not in self._rows_of:
            return super().__getitem__(query_id)
        return {group_id: self.parts[part] for group_id, part in self._rows_of[query_id].items()}

    def save(self, path):
        """Write a TREC qrels file with the groups as iterations, in one step; ``.gz`` is compressed."""
        rows = ((query, group, docs) for query in self for group, docs in self[query].items())
        write(path, (f"{query} {group} {doc} {label}" for query, group, docs in rows for doc, label in docs.items()))

    def __reduce__(self):
        return GroupedQrels, (self.keys, self.parts)

    def __repr__(self):
        return f"<Qrels: {len(self)} queries, {len(self.keys)} groups, {self.n_rows} judgments>"


def check_format(format, *others):
    known = (None, "trec", *others)
    if format not in known:
        raise ValueError(f"format {format!r} is not supported; expected {' or '.join(map(repr, known))}")


def write(path, lines):
    """Write lines to a file in one step."""
    import gzip

    path = os.fsdecode(path)
    target = os.path.realpath(path)
    draft = f"{target}.{os.getpid()}.tmp"
    try:
        with (gzip.open if path.endswith(".gz") else open)(draft, "wb") as file:
            for line in lines:
                if len(line.split()) not in (4, 6) or "\0" in line:
                    raise ValueError(f"cannot write {path}: an id is empty or holds white space or NUL: {line[:80]!r}")
                file.write(line.encode("utf-8", "surrogateescape") + b"\n")
        os.replace(draft, target)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)
