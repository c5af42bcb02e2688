"""Whose numbers: the record of all the choices that respected tools make differently, and all records by their names.

Imported when a caller names a convention or asks which one was followed; the rows are in `conventions_table`.

A convention is data. It sets options of evaluate() and parameters of metrics. The more specific choice wins: a
parameter in a metric's name over a keyword, a keyword over the convention's choice for that metric, and this one over
its choice for all metrics. Nothing else of a tool is imitated: not how it rounds the numbers that it prints, not its
errors and limits, and not what METRICS lists as its bugs.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from fastir.checks import letters, meant
from fastir.request.conventions_table import ITEM_TOOLS, LIST_TOOLS, SPELLINGS, TOOLS


@dataclass(frozen=True, repr=False, slots=True)
class Convention:
    """The choices behind a number; the fields after `fractions` are options of `evaluate`, and the defaults fastir's.

    Attributes
    ----------
    name : str
    about : str
        The tool that it stands for, and the remaining differences.
    fractions : {"taken", "cut", "refused", "integers"}
        What the tool does with labels that are not whole. fastir refuses them in its name unless it takes them.
    queries, ties, score_dtype, duplicates, exclude : str, the last two also None
        As for `evaluate`; duplicates are those of runs, and exclude is "query_id" or None.
    empty to empty_ranking
        Parameters of metrics, for all that have them; `metric` says what they mean.
    of : tuple of (metric, tuple of (option, value))
        What single metrics have instead; ``metric@k`` is a metric with a cutoff. A metric that is another one with
        some parameter (`Card.equals`) has what that one has: ``ndcg(gain=exp2)`` is ``ndcg_burges``. A ``rel_level`` of
        0 makes every judged document relevant; the caller's level wins.
    """

    by_name: ClassVar[dict[str, Convention]] = {}  # all tools' by their names, entered below

    name: str
    about: str = ""
    fractions: str = "taken"
    queries: str = "qrels"
    ties: str = "trec"
    score_dtype: str = "float64"
    duplicates: str | None = None
    exclude: str | None = None
    empty: Any = "zero"
    gain: Any = "linear"
    discount: Any = "log2"
    ideal: Any = "judged"
    ap_norm: Any = "R"
    short_rankings: Any = "pad"
    rounding: Any = "v10"
    unranked: Any = "zero"
    one_class: Any = "skip"
    gains: Any = "binary"
    rbp_norm: Any = "infinite"
    bpref_norm: Any = "min"
    negatives: Any = "skip"
    f_weight: Any = "x"
    max_grade: Any = 4
    tail: Any = "unjudged"
    rank_one: Any = "normalised"
    depth: Any = "max"
    normalize: Any = "true"
    missing_documents: Any = "last"
    recall_norm: Any = "R"
    no_hit: Any = "skip"
    empty_ranking: Any = "zero"
    wanted: Any = "up"
    n_docs: Any = None
    self_normalized: Any = "true"
    of: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()

    @property
    def dialect(self) -> str:
        """The tool whose names of metrics are read where tools differ."""
        return "trec_eval" if self.name.startswith("trec_eval") else self.name

    def choice(self, metric: str, cut: bool, option: str, default: Any = None) -> Any:
        """Its choice of an option for a metric, which is given by its canonical name, with or without a cutoff.

        Returns `default` if it has no choice.
        """
        special = dict(self.of)
        for name in ((f"{metric}@k",) if cut else ()) + (metric,):
            for named, value in special.get(name, ()):
                if named == option:
                    return value
        return getattr(self, option, default)

    def __repr__(self) -> str:
        """The call that makes it, but for `about`: its name, and the choices that are not fastir's."""
        pairs = ((field.name, getattr(self, field.name), field.default) for field in dataclasses.fields(self)[3:])
        changed = "".join(f", {name}={value!r}" for name, value, default in pairs if value != default)
        return f"Convention({self.name!r}{changed})"

    def __str__(self) -> str:
        """Its name, and the choices that differ from the convention of that name."""
        named = self.by_name.get(self.name, Convention("fastir"))
        pairs = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self)[3:-1])
        return ", ".join([self.name, *(f"{name}={value}" for name, value in pairs if value != getattr(named, name))])


# The conventions whose version a tool's name leaves open.
USUAL = {"pytrec_eval": "trec_eval-9", "trec_eval": "trec_eval-10"}

CONVENTIONS = Convention.by_name
CONVENTIONS.update((row["name"], Convention(**row)) for row in (*TOOLS, *LIST_TOOLS, *ITEM_TOOLS))


def checked(convention: Any) -> str | Convention:
    """The name of a convention that exists, also with other hyphens, underscores or capitals; or a record."""
    if isinstance(convention, Convention) or (isinstance(convention, str) and convention in CONVENTIONS):
        return convention
    if isinstance(convention, str) and letters(convention) in SPELLINGS:
        return SPELLINGS[letters(convention)]
    alias = USUAL.get(convention) if isinstance(convention, str) else None
    guess = f"; did you mean {alias!r}?" if alias else meant(convention, CONVENTIONS)
    raise ValueError(f"convention must be one of {', '.join(map(repr, CONVENTIONS))}, got {convention!r}{guess}")


def resolved_convention(convention: str | Convention, options: dict[str, Any]) -> Convention:
    """The convention of a name, or a record itself, with the options that the caller gave.

    The caller's options also override the record's choices for single metrics.
    """
    convention = checked(convention)
    record = CONVENTIONS[convention] if isinstance(convention, str) else convention
    if options.get("queries") == "qrels" and record.unranked == "nan":
        options = {"unranked": "zero", **options}  # it is 0 that trec_eval -c prints for a query that the run lacks
    of = ((metric, tuple(pair for pair in pairs if pair[0] not in options)) for metric, pairs in record.of)
    return dataclasses.replace(record, of=tuple(pair for pair in of if pair[1]), **options)
