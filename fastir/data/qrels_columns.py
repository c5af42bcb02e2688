"""QrelsColumns: what fastir reads of qrels; the joins' index of the judged documents is made at the first reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns.rows import Columns
from fastir.engine.join._judged import Judged
from fastir.engine.measure._grades import coded

if TYPE_CHECKING:
    from fastir.engine.measure._grades import Grades
    from fastir.inputs.preferences import PreferenceOrder


class QrelsColumns(Columns):
    """The columns of Qrels: the numbers are labels.

    Attributes
    ----------
    strata, probabilities, weights : array parallel to the labels, or None
        The columns of a sample, and the weights of documents.
    keys : list of (query_id, group_id)
        Only where judgments are in groups or preferences, as all below.
    parts : Qrels
        With one query for each of the keys; not of preferences.
    union : Qrels
        The judgments of all groups together: each document has its largest label. For preferences, the labels are the
        positions of the documents in `documents`, from 1 up.
    documents : list of list
        Only of preferences: the documents of each query, by their ids.
    orders : list of list of Order
        Only of preferences: what each query's judges prefer, by these positions.
    """

    strata: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    weights: np.ndarray | None = None
    keys: list[tuple[Any, Any]]
    parts: Any
    union: Any
    documents: list[list[Any]]
    orders: list[list[PreferenceOrder]]
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
            judged = Judged(self.query_ids, self.ids, self.offsets, self.coded()[1])
            return self.__dict__.setdefault("_judged", judged)
        return self._judged

    def first_fraction(self) -> tuple[float, str]:
        """The first real-valued label, and its position in words."""
        place = int(np.argmax(self.numbers != np.trunc(self.numbers)))
        query_id = self.query_ids[int(np.searchsorted(self.offsets, place, "right")) - 1]
        return float(self.numbers[place]), f"query {query_id}, document {self.ids[place : place + 1][0]}"

    def coded(self) -> tuple[Grades | None, np.ndarray]:
        """The labels as kernels read them: real-valued labels are codes, with the `Grades` that decode them."""
        if self._codes is None:
            grades_and_codes: tuple[Grades | None, np.ndarray] = (None, self.numbers)
            if self.numbers.dtype != np.int32:
                grades, (codes,) = coded(self.numbers)
                grades_and_codes = grades, codes
            return self.__dict__.setdefault("_codes", grades_and_codes)
        return self._codes
