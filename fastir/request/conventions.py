"""Convention: the record of the choices that tools make differently, and all records by their names.

Imported when a caller names a convention or asks which one was followed; the rows are in `conventions_table`.

A convention is data. It sets options of evaluate() and parameters of metrics. The more specific choice wins: a
parameter in a metric's name over a keyword, a keyword over the convention's choice for that metric, and this one over
its choice for all metrics. Nothing else of a tool is imitated: not how it rounds the numbers that it prints, not its
errors and limits, and not what METRICS lists as its bugs.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from fastir._version import __version__
from fastir.checks import letters, suggest_choice
from fastir.request.conventions_table import ITEM_TOOLS, LIST_TOOLS, TOOLS, TREC_EVAL_11, VERSIONS


@dataclass(frozen=True, repr=False, slots=True)
class Convention:
    """The choices behind a number. The fields after `fractions` are options of `evaluate`; their defaults are fastir's.

    Attributes
    ----------
    name : str
    about : str
        The tool that it reproduces, and the remaining differences.
    tool, version : str
        The package or program with these numbers, and the newest release or commit that they were compared with.
    since, until : str
        The first and the last release with these numbers; empty if no record has other numbers of the tool.
    source : str
        Where the tool computes them: a repository, files in it, and threads about changes.
    pending : str
        An announced change of the tool that is not in a record yet; empty if none is known.
    fractions : {"taken", "gains", "linear", "ids", "cut", "refused", "integers"}
        What the tool does with real-valued labels: "gains" are taken by its graded metrics alone, "linear" by these
        with ``gain="linear"``, and "ids" are lists of relevant documents without labels. Labels that the tool does not
        take are refused under its convention; for metrics of relevance alone, those of "gains" and "ids" are taken with
        a ``rel_level`` of the caller.
    rel_level : int or float
        As for `evaluate`; a level given by the caller overrides it.
    queries, ties, score_dtype, duplicates, exclude : str, the last two also None
        As for `evaluate`; duplicates are for runs only, and exclude is "query_id" or None.
    empty to empty_ranking
        Parameters for all metrics that have them; `metric` says what they mean.
    of : tuple of (metric, tuple of (option, value))
        Options that single metrics have instead; ``metric@k`` stands for the metric with a cutoff. A metric that equals
        another one with some parameter (`Card.equals`) has the options of that one: ``ndcg(gain=exp2)`` is
        ``ndcg_burges``. A ``rel_level`` of 0 makes every judged document relevant; a level given by the caller
        overrides it. ``refused`` is the reason why a metric has no value under the convention.
    """

    by_name: ClassVar[dict[str, Convention]] = {}  # all tools' by their names, entered below

    name: str
    about: str = ""
    tool: str = ""
    version: str = ""
    since: str = ""
    until: str = ""
    source: str = ""
    pending: str = ""
    fractions: str = "taken"
    rel_level: float = 1
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
    average: Any = "macro"
    over_budget: Any = "stop"
    at_least_one: Any = "false"
    set_ranks: Any = "documents"
    of: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()

    @property
    def dialect(self) -> str:
        """The tool that decides how metric names are read if tools differ: the name without a version."""
        return re.sub(VERSION_SUFFIX, "", self.name)

    @property
    def release(self) -> str:
        """The tool and its version in words; empty for the caller's own record."""
        return f"{self.tool} {self.version}".strip()

    @property
    def span(self) -> str:
        """The known releases with these numbers, in words."""
        if self.since and self.until and self.since != self.until:
            return f"{self.since} to {self.until}"
        return f"since {self.since}" if self.since and not self.until else self.until and f"until {self.until}"

    @classmethod
    def choices(cls) -> list[str]:
        """The fields that say what is computed, without `of`."""
        return [
            field.name
            for field in dataclasses.fields(cls)
            if field.name not in (*DESCRIPTION_FIELDS, "fractions", "of")
        ]

    def choice(self, metric: str, cut: bool, option: str, default: Any = None) -> Any:
        """The convention's choice of an option for a metric, given by its canonical name, with or without a cutoff.

        Returns `default` if the convention has no choice.
        """
        special = dict(self.of)
        for name in ((f"{metric}@k",) if cut else ()) + (metric,):
            for named, value in special.get(name, ()):
                if named == option:
                    return value
        return getattr(self, option, default)

    def __repr__(self) -> str:
        """The call that makes it, except `about`: its name, its version, and the choices that are not fastir's."""
        usual = {field.name: field.default for field in dataclasses.fields(self)}
        pairs = [(name, getattr(self, name)) for name in ("tool", "version", *self.choices(), "of")]
        changed = "".join(f", {name}={value!r}" for name, value in pairs if value != usual[name])
        return f"Convention({self.name!r}{changed})"

    def __str__(self) -> str:
        """Its name, and the choices that differ from the convention of that name."""
        named = self.by_name.get(self.name, Convention("fastir"))
        pairs = ((name, getattr(self, name)) for name in self.choices())
        return ", ".join([self.name, *(f"{name}={value}" for name, value in pairs if value != getattr(named, name))])


VERSION_SUFFIX = r"-(\d+(?:\.\w+)*)$"  # the end of a name that says of which version it is

# Fields that describe a record and change no number.
DESCRIPTION_FIELDS = ("name", "about", "tool", "version", "since", "until", "source", "pending")

# What people call the conventions, beside their names: packages, by their letters.
USUAL_CHOICES = {
    "pytreceval": "trec_eval-9",
    "pytrecevalterrier": "trec_eval-9",
    "scikitlearn": "sklearn",
    "tensorflowranking": "tf-ranking",
    "haystackai": "haystack",
    "trulensfeedback": "trulens",
    "pyspark": "spark",
    "pyndeval": "ndeval",
    "replayrec": "replay",
}

CONVENTIONS = Convention.by_name
CONVENTIONS["fastir"] = Convention("fastir", "the default", "fastir", __version__)
CONVENTIONS.update(
    (row["name"], Convention(**row, **VERSIONS[row["name"]]._asdict())) for row in (*TOOLS, *LIST_TOOLS, *ITEM_TOOLS)
)


def check_convention(convention: Any) -> str | Convention:
    """The name of a convention that exists, or a record; other names of a tool, or a version of it, are understood."""
    if isinstance(convention, Convention) or (isinstance(convention, str) and convention in CONVENTIONS):
        return convention
    if isinstance(convention, str) and (name := find_convention(convention)):
        return name
    names = ", ".join(map(repr, CONVENTIONS))
    raise ValueError(f"convention must be one of {names}, got {convention!r}{suggest_choice(convention, CONVENTIONS)}")


def find_convention(typed: str) -> str:
    """The convention that a name means: another name of a tool, perhaps with a version; empty if none."""
    found = re.search(VERSION_SUFFIX, typed)
    version, base = (found[1], typed[: found.start()]) if found else ("", typed)
    base = letters(USUAL_CHOICES.get(letters(base), base))
    versions = [each for each in CONVENTIONS.values() if base in (letters(each.name), letters(each.dialect))]
    if not versions:
        return ""
    if not version:
        if letters(versions[0].name) == base:
            return versions[0].name
        raise ValueError(
            f"convention {typed!r} has several versions: {names_with_releases(versions)}; which one is meant?"
        )
    fitting = [each for each in versions if covers_version(each, version)]
    if fitting:
        return fitting[0].name  # the newest is first
    if base.startswith("treceval") and version.startswith("11"):
        raise ValueError(
            f"convention {typed!r} has no record: {TREC_EVAL_11}; recorded are {names_with_releases(versions)}"
        )
    raise ValueError(f"convention {typed!r}: that version has no record; recorded are {names_with_releases(versions)}")


def names_with_releases(records: list[Convention]) -> str:
    """Records with the releases that they are of, for a message."""
    return ", ".join(f"{each.name!r} ({each.release}{each.span and f', {each.span}'})" for each in records)


def covers_version(record: Convention, version: str) -> bool:
    """Whether a record has the numbers of a release, or of a series such as 2.26."""
    wanted, newest = numbers(version), numbers(record.version)
    if wanted == newest[: len(wanted)]:
        return True
    first, last = numbers(record.since), numbers(record.until or record.version)
    return bool(first or record.until) and first[: len(wanted)] <= wanted <= last


def numbers(version: str) -> list[int]:
    """The numbers of a version; none for a commit."""
    found = re.match(r"\d+(?:\.\d+)*(?!\w)", version)
    return [int(word) for word in found[0].split(".")] if found else []


def resolved_convention(convention: str | Convention, options: dict[str, Any]) -> Convention:
    """The convention of a name, or a record itself, with the options that the caller gave.

    The caller's options also override the record's choices for single metrics.
    """
    convention = check_convention(convention)
    record = CONVENTIONS[convention] if isinstance(convention, str) else convention
    if options.get("queries") == "qrels" and record.unranked == "nan":
        options = {"unranked": "zero", **options}  # trec_eval -c prints 0 for a query that is missing from the run
    of = ((metric, tuple(pair for pair in pairs if pair[0] not in options)) for metric, pairs in record.of)
    return dataclasses.replace(record, of=tuple(pair for pair in of if pair[1]), **options)
