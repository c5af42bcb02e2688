"""Every option that the command takes or that several calls share: one row each.

From these rows come the arguments of the command (cli/arguments.py) and their headings, the words of its messages, and
the TypedDicts of ``**options`` (`docs/site/keywords.py` writes them); tests compare signatures and docstrings with
them. Nothing imports this file when a call is right: an error about an unknown option reads `Row.also`.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from fastir.declared import Table

NO_FLAG = "-"


class Row(NamedTuple):
    """An option. A count is an int from 1 up, a label a number above 0."""

    name: str  # the keyword
    type: str = ""  # its annotation in signatures; none for an option of the command alone
    default: Any = None  # of every call that has it
    help: str = ""  # of the command, with %(choices)s and %(default)s
    metavar: str = ""  # none for a flag, or for choices
    parse: str = "str"  # what the command reads: str, int, count, float or label
    choices: str = ""  # "module:NAME" of the words, which are imported on their first use
    flag: str = ""  # the option of the command, if it is not called as the keyword
    also: tuple[str, ...] = ()  # what others call it: an error suggests the name, and no parameter is called so
    of: tuple[str, ...] = ()  # the TypedDicts that list it

    def option(self) -> str:
        """The option of the command."""
        return self.flag or "--" + self.name.replace("_", "-")

    def words(self) -> Collection[str]:
        """The words that the command takes, which may be a table; None is "none" where it is not the default."""
        module, _, name = self.choices.partition(":")
        words = getattr(importlib.import_module(module), name)
        if isinstance(words, Table):
            return words
        none = ("none",) * (self.type.endswith("None") and self.default is not None)
        return (*(word for word in words if word is not None), *none)


INTEGER, LABEL, TABLE = "SupportsIndex", "SupportsIndex | SupportsFloat", "Mapping[str, str] | None"
REQUEST, TESTS = "fastir.request.options", "fastir.analyses.compare.options"
READING, SCORES = ("ReadingOptions",), ("StatisticsOptions",)
ROWS = {  # by the heading of the command's help
    "metrics": (
        Row("metrics", flag="-m", also=("measure", "measures")),
        Row("rel_level", LABEL, 1, "the lowest relevant label (default %(default)s)", "X", "label",
            also=("relevance_level", "relevant_from", "min_rel"), of=("LevelOptions",)),
        Row("convention", "str | Convention", "fastir", metavar="TOOL", also=("conventions", "preset"),
            of=(*READING, "ValueOptions")),
    ),
    "input": (
        Row("qrels_format", "str | None", None, "%(choices)s (default: by its name or header, else trec)",
            choices="fastir.inputs.formats:QRELS_FORMATS"),
        Row("run_format", "str | None", None, "of all runs: %(choices)s (default: by name or header, else trec)",
            choices="fastir.inputs.formats:RUN_FORMATS"),
        Row("query_ids", "Sequence[Any] | None", None,
            "the queries of _msearch responses: the request with a _name in each query, or an id on each line", "FILE",
            also=("qids", "topics")),
        Row("rows", "Path | None", None,
            "the file whose lines the runs, files of a score on each line, are for: LETOR, SVMrank or LIBSVM", "FILE",
            also=("letor",)),
        Row("names", "RunNames", "stem",
            "name runs by the file without endings, the tag in the file, or the file (default %(default)s)",
            choices="fastir.evaluation.run_collections:NAMES_OF_FILES", of=("CollectionOptions",)),
        Row("columns", TABLE, None, "unusual names of a table's columns, such as query_id=qid,score=sim",
            "FIELD=NAME,...", of=READING),
        Row("qrels_columns", TABLE, None, "the same for the qrels alone", "FIELD=NAME,...", of=READING),
        Row("run_columns", TABLE, None, "the same for the runs alone", "FIELD=NAME,...", of=READING),
        Row("label", "SupportsFloat | None", None,
            "the label of all rows of a table of judgments that has no column of labels, such as interactions", "X",
            "label", also=("all_relevant",), of=READING),
        Row("threshold", "SupportsFloat | None", None,
            "the lowest relevant rating of a table that has ratings instead of labels", "X", "float"),
        Row("duplicates", "Duplicates | None", None,
            "which line of a duplicate document counts: %(choices)s (default: refuse duplicates); mean is for qrels",
            choices=f"{REQUEST}:DUPLICATES", of=READING),
        Row("validate", "Validate", "full",
            "which documents are checked for duplicates: all, or only judged ones, so that rows in no order need not "
            "be kept: %(choices)s (default full; judged with --parts)", choices=f"{REQUEST}:VALIDATE", of=READING),
        Row("parents", "ParentsLike | None", None,
            "the document of each id of the runs: two columns, an id and its document", "FILE", of=READING),
        Row("aggregate", "Aggregate", "max",
            "how the scores of a document's parts are combined: %(choices)s (default %(default)s)",
            choices=f"{REQUEST}:AGGREGATES", of=READING),
        Row("exclude", "ExcludeLike | None", None,
            "documents that take no rank: a file with a query and a document on each line, or query_id for the "
            "document of the query's own id", "FILE|query_id", of=READING),
        Row("doc_weights", "DocWeights | str | os.PathLike[str] | None", None,
            "the weights of judged documents in psp, psndcg and weighted_*: a file with a document and a number on "
            "each line, or a query before them", "FILE", of=("CompareOptions", "EvaluateOptions", "BatchOptions")),
        Row("run_weights", help="one for each run in their order, or RUN=W for each, with commas, such as 0.3,0.7",
            metavar="W,..."),
        Row("weights", "Mapping[Any, float] | None", flag=NO_FLAG, also=("query_weights", "sample_weight"),
            of=("WeightsOptions",)),
        Row("teams", "TeamsLike | None"),
        Row("n_threads", "SupportsIndex | None", None, "number of threads (default: by the amount of work)", "N",
            "int", flag="--threads", also=("n_jobs", "num_threads", "threads", "workers"),
            of=("RankingOptions", "ValueOptions", *SCORES)),
        Row("progress", "Callable[[Hashable, int], object] | None", flag=NO_FLAG, also=("notice", "callback"),
            of=("CollectionOptions",)),
    ),
    "which queries and ranks": (
        Row("queries", "Queries | None", None, "which queries count: %(choices)s (default qrels)",
            choices=f"{REQUEST}:QUERIES", of=("RankingOptions", "ToJudgeOptions", *SCORES)),
        Row("ties", "Ties | None", None, "order of equal scores: %(choices)s (default trec)",
            choices=f"{REQUEST}:TIES", of=(*READING, "ToJudgeOptions", "ArrayOptions")),
        Row("judged_only", "bool", False, "drop unjudged documents from the rankings", of=("LevelOptions",)),
        Row("max_depth", "SupportsIndex | None", None, "cut every ranking after N documents", "N", "count",
            also=("top", "cut", "rank_cutoff"), of=("LevelOptions",)),
        Row("score_dtype", "DTypeLike | None", None,
            "precision in which scores are compared: %(choices)s (default float64)", choices=f"{REQUEST}:SCORE_DTYPES",
            of=(*READING, "ToJudgeOptions", "ArrayOptions")),
        Row("pool_depth", "SupportsIndex | None", None, "how many documents of each ranking are judged (default: all)",
            "K", "count", also=("judged_depth",)),
        Row("exactly_queries", "Path | Iterable[Any]", "qrels",
            "the queries that each run must have, and no other one: ids or topics (default: those of the qrels)",
            "FILE"),
        Row("tag", "str | re.Pattern[str] | None", None,
            "a regular expression that tags must match, such as 'team[0-9]+'", "PATTERN"),
        Row("corpus", "Path | Iterable[Any] | None", None,
            "the ids of the collection, one at the start of each line, or a table with a column of ids: a judged or "
            "retrieved document that it has not is a fault", "FILE", also=("collection", "docs")),
    ),
    "statistics": (
        Row("baseline", "Hashable | list[Hashable]", None,
            "compare every run with this one only (default: all pairs)", "RUN", of=SCORES),
        Row("test", "Test", "t", "%(choices)s (default %(default)s)", "NAME",
            choices="fastir.analyses.compare.records:TESTS", also=("stat_test", "statistical_test"), of=SCORES),
        Row("n_resamples", INTEGER, 10_000, "default %(default)s", "N", "count", flag="--resamples",
            also=("n_bootstrap", "n_permutations", "resamples", "samples"), of=SCORES),
        Row("correction", "CorrectionOfPairs | None", "auto",
            "%(choices)s (default %(default)s: holm, or none for the Tukey tests)", "NAME",
            choices=f"{TESTS}:CORRECTIONS", of=SCORES),
        Row("family", "Family", "metric", "p-values that are corrected together: %(choices)s (default %(default)s)",
            choices=f"{TESTS}:FAMILIES", of=SCORES),
        Row("confidence", "float", 0.95, "of the intervals (default %(default)s)", "SHARE", "float",
            also=("confidence_level", "level"), of=SCORES),
        Row("interval", "IntervalMethod", "t", "%(choices)s (default %(default)s)", "NAME",
            choices=f"{TESTS}:INTERVALS", of=SCORES),
        Row("effect", "Effect", "d_z", "the effect size: %(choices)s (default %(default)s)", "NAME",
            choices=f"{TESTS}:EFFECTS", of=SCORES),
        Row("seeds", "Seeds | None", flag=NO_FLAG, of=("ScoresOptions",)),
        Row("segments", "SegmentsLike | None", None,
            "compare segments of the queries, too; a line has a query and its segment", "FILE",
            also=("strata_of",), of=SCORES),
        Row("clusters", "SegmentsLike | None", None,
            "queries that are not independent, such as repeats of a question; a line has a query and its cluster",
            "FILE", of=SCORES),
        Row("random_state", INTEGER, 0, "of what is random (default %(default)s)", "N", "int", also=("rng", "seed"),
            of=SCORES),
        Row("kappa_weights", "KappaWeights", "quadratic",
            "what a difference of labels costs in weighted_kappa: %(choices)s (default %(default)s)",
            choices="fastir.analyses.agreement.judgments:KAPPA_WEIGHTS"),
        Row("scale", "Scale", "ordinal", "what labels are to alpha: %(choices)s (default %(default)s)",
            choices="fastir.analyses.agreement.judgments:SCALES"),
        Row("max_label", "SupportsIndex | SupportsFloat | None", None,
            "the largest label that a document may get (default: that of the qrels)", "X", "label"),
        Row("unseen", INTEGER, 0, "documents outside each ranking that can have labels (default: none)", "N", "int"),
    ),
    "gates": (),
    "output": (
        Row("k", INTEGER, 20, "how many ranks are shown (default %(default)s)", "K", "count"),
        Row("examples", INTEGER, 3, "how many faults of each kind the table shows (default %(default)s); json has all",
            "N", "int"),
        Row("sort", "bool", False),
    ),
}  # fmt: skip
TITLES = {row.name: title for title, rows in ROWS.items() for row in rows}
BY_NAME = {row.name: row for rows in ROWS.values() for row in rows}


def every_row() -> Iterator[Row]:
    return iter(BY_NAME.values())


def suggestion(word: str, known: Collection[str] | None = None) -> str:
    """The end of a message about an option that no call has: its name here, and whether this call may lack it."""
    name = next((row.name for row in every_row() if word in row.also), None)
    if name is None:
        return ""
    return f"; did you mean {name!r}?" if known is None or name in known else f"; it is {name!r} in calls that have it"
