"""Every option that the command takes or that several calls share: one row each.

From these rows come the arguments of the command (cli/arguments.py) and their headings, the words of its messages, and
the TypedDicts of ``**options`` (`docs/site/keywords.py` writes them); tests compare signatures and docstrings with
them. Nothing imports this file when a call is right: an error about an unknown option reads `Row.also`.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from typing import Any

from fastir.declared import Record, Table

NO_FLAG = "-"


class Row(Record):
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
OF_FORBIDDEN = "BoundsOptions", "CompareOptions", "EvaluateOptions", "ExplainOptions"
ROWS: dict[str, tuple[Row, ...]] = {  # by the heading of the command's help
    "metrics": (
        Row("metrics", flag="-m", also=("measure", "measures")),
        Row("rel_level", LABEL, 1, "the lowest relevant label (default %(default)s)", "X", "label",
            also=("relevance_level", "relevant_from", "min_rel"), of=("LevelOptions",)),
        Row("convention", "ConventionName | str | Convention", "fastir",
            "the tool to agree with, see `fastir conventions`", "TOOL", "convention", also=("conventions", "preset"),
            of=(*READING, "ValueOptions")),
    ),
    "input": (
        Row("qrels_format", "str | None", None,
            "the format of judgments: %(choices)s (default: by name or header, else trec)",
            choices="fastir.inputs.formats:QRELS_FORMATS"),
        Row("run_format", "str | None", None, "the format of runs: %(choices)s (default: by name or header, else trec)",
            choices="fastir.inputs.formats:RUN_FORMATS"),
        Row("query_ids", "Sequence[Any] | None", None,
            "the queries of _msearch responses: the request with a _name in each query, or an id on each line", "FILE",
            also=("qids",)),
        Row("rows", "Path | None", None,
            "the LETOR, SVMrank or LIBSVM file whose lines the runs score: a run has a score on each line", "FILE",
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
        Row("forbidden", "ForbiddenLike | None", None,
            "documents that must not come, for forbidden_*, leak_recall and compat_help_harm: a query and a document "
            "on each line, or qrels", "FILE", of=OF_FORBIDDEN),
        Row("forbidden_level", "SupportsFloat | None", None,
            "documents with labels up to this one are forbidden, too", "X", "float",
            of=OF_FORBIDDEN),
        Row("unanswerable", "UnanswerableLike | None", None,
            "the queries whose right answer is nothing, for false_surface: an id on each line (default: judged queries "
            "without a relevant document)", "FILE", also=("no_answer", "unanswerable_queries"),
            of=("CompareOptions", "EvaluateOptions")),
        Row("doc_groups", "DocGroupsLike | None", None,
            "the groups of documents, for awrf and ndcg_awrf: a document, a group and its share on each line, or a "
            "table", "FILE", of=("BoundsOptions", "CompareOptions", "EvaluateOptions")),
        Row("target", "TargetLike | None", None,
            "the share of the exposure that each group should have: a group and a number on each line, or a query "
            "before them", "FILE", of=("BoundsOptions", "CompareOptions", "EvaluateOptions")),
        Row("doc_costs", "DocWeights | str | os.PathLike[str] | None", None,
            "the costs of documents for a budget and cost_*: a file with a document and a number on each line, or a "
            "query before them", "FILE", of=("BoundsOptions", "CompareOptions", "EvaluateOptions")),
        Row("doc_weights", "DocWeights | str | os.PathLike[str] | None", None,
            "the weights of judged documents in psp, psndcg and weighted_*: a file with a document and a number on "
            "each line, or a query before them", "FILE", of=("CompareOptions", "EvaluateOptions", "BatchOptions")),

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
        Row("ties_report", "bool", False, "print what the order of equal scores could change, instead of the means",
            of=("EvaluateOptions",)),
        Row("judged_only", "bool", False, "drop unjudged documents from the rankings", of=("LevelOptions",)),
        Row("max_depth", "SupportsIndex | None", None, "cut every ranking after N documents", "N", "count",
            also=("top", "cut", "rank_cutoff"), of=("LevelOptions",)),
        Row("min_score", "SupportsFloat | None", None, "rows with scores below it are not retrieved", "X", "float",
            also=("score_threshold", "score_cutoff", "similarity_cutoff", "min_relevance"),
            of=(*READING, "ToJudgeOptions", "ArrayOptions")),
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
            "retrieved document that is missing from it is a fault", "FILE", also=("collection", "docs")),
    ),
    "statistics": (
        Row("baseline", "Hashable | list[Hashable]", None,
            "compare every run with this one only (default: all pairs)", "RUN", of=SCORES),
        Row("test", "Test", "t", "the significance test: %(choices)s (default %(default)s)", "NAME",
            choices="fastir.analyses.compare.records:TESTS", also=("stat_test", "statistical_test"), of=SCORES),
        Row("n_resamples", INTEGER, 10_000, "the number of resamples (default %(default)s)", "N", "count",
            flag="--resamples",
            also=("n_bootstrap", "n_permutations", "resamples", "samples"), of=SCORES),
        Row("correction", "CorrectionOfPairs | None", "auto",
            "the correction for several tests: %(choices)s (default %(default)s: holm, or none for the Tukey tests)",
            "NAME", choices=f"{TESTS}:CORRECTIONS", of=SCORES),
        Row("family", "Family", "metric", "p-values that are corrected together: %(choices)s (default %(default)s)",
            choices=f"{TESTS}:FAMILIES", of=SCORES),
        Row("confidence", "float", 0.95, "the confidence level of the intervals (default %(default)s)", "LEVEL",
            "float",
            also=("confidence_level", "level"), of=SCORES),
        Row("interval", "IntervalMethod", "t", "the kind of intervals: %(choices)s (default %(default)s)", "NAME",
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
        Row("random_state", INTEGER, 0, "the random seed (default %(default)s)", "N", "int",
            also=("rng", "seed", "random_seed"), of=SCORES),
        Row("kappa_weights", "KappaWeights", "quadratic",
            "what a difference of labels costs in weighted_kappa: %(choices)s (default %(default)s)",
            choices="fastir.analyses.agreement.judgments:KAPPA_WEIGHTS"),
        Row("scale", "Scale", "ordinal", "the scale of the labels in alpha: %(choices)s (default %(default)s)",
            choices="fastir.analyses.agreement.judgments:SCALES"),
        Row("truth", "Truth", "a",
            "the side that is the truth in sensitivity and specificity: %(choices)s (default %(default)s)",
            choices="fastir.analyses.agreement.judgments:TRUTHS", also=("reference", "gold", "y_true")),
        Row("used_judge", "Iterable[Hashable] | None", None,
            "a run that used the judge of QRELS_B, such as one that its model reranked: show the correlation without "
            "such runs, too; may be given several times", "RUN", "list"),
        Row("max_label", "SupportsIndex | SupportsFloat | None", None,
            "the largest label that a document may get (default: that of the qrels)", "X", "label"),
        Row("unseen", INTEGER, 0, "documents outside each ranking that can have labels (default: none)", "N", "int"),
    ),
    "gates": (),
    "fusion": (
        Row("run_weights", metavar="W,...",
            help="the weights of runs: in their order, or as RUN=W, with commas, such as 0.3,0.7"),
    ),
    "output": (
        Row("k", INTEGER, 20, "how many ranks are shown (default %(default)s)", "K", "count"),
        Row("title", "str | None", None, "the title of the page (default: Report)", "TEXT"),
        Row("topics", "TextsLike | None", None,
            "the texts of queries: TREC topics, JSON Lines, or a query, a tab and its text on each line", "FILE"),
        Row("doc_titles", "TextsLike | None", None,
            "the titles of documents: JSON Lines, or a document, a tab and its title on each line", "FILE",
            flag="--titles"),
        Row("examples", INTEGER, 3, "how many faults of each kind the table shows (default %(default)s); json has all",
            "N", "int"),
        Row("sort", "bool", False),
    ),
}  # fmt: skip
TITLES: dict[str, str] = {row.name: title for title, rows in ROWS.items() for row in rows}
BY_NAME: dict[str, Row] = {row.name: row for rows in ROWS.values() for row in rows}


def every_row() -> Iterator[Row]:
    return iter(BY_NAME.values())


def suggestion(word: str, known: Collection[str] | None = None) -> str:
    """The end of a message about an option that no call has: its name here, and whether this call may lack it."""
    name = next((row.name for row in every_row() if word in row.also), None)
    if name is None:
        return ""
    return f"; did you mean {name!r}?" if known is None or name in known else f"; it is {name!r} in calls that have it"
