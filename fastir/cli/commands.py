"""The commands and their arguments, as data: parser, helps, completion and the manual page read them.

An option that calls share is a row of request/option_rows.py, an option of the command alone a row here. A command
names its arguments, first those that its short help shows, and says what is otherwise there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fastir.cli.choices import CHOICES
from fastir.request import option_rows
from fastir.request.option_rows import Row

PEOPLE_FORMATS = ("table", "markdown", "latex", "html")
FORMATS = (*PEOPLE_FORMATS, "csv", "tsv", "json", "parquet")  # of results
TEXT_FORMATS = FORMATS[:-1]
QRELS_FORMAT = "qrels"  # the format of documents that are to be judged
LIST_FORMATS = (*TEXT_FORMATS, QRELS_FORMAT)  # of documents
SHELLS = ("bash", "zsh", "fish")
SHORT_FLAGS = {"metrics": "-m", "per_query": "-q", "output": "-o"}

# ---- arguments -------------------------------------------------------------------------------------------------------
DEFAULT_METRICS = " ".join(CHOICES["default_metrics"])
SEVERAL = "may be given several times"
POSITIONALS = {
    row.name: row
    for row in (
        Row("qrels", help="judgments (TREC: query, iteration, document, label)", metavar="QRELS"),
        Row("runs", metavar="RUN", help="rankings (TREC: query, Q0, document, rank, score, tag). Every file "
            "in a folder or a pattern such as 'runs/*' is a run, except the judgments. A folder of hive partitions has "
            "a run for each run=... or system=..., a table one for each name in its column run or system; without "
            "these it is one run. - is standard input. Files may be compressed (.gz, .zst)"),
        Row("run", help="a ranking, as for `fastir eval`; - is standard input", metavar="RUN"),
        Row("query", metavar="QUERY",
            help="the id of a query of the judgments; with --convention A --convention B it may be left out"),
        Row("files", metavar="[QRELS] OLD NEW", help="two runs and their judgments, or two files of results that "
            "`fastir eval -o` or Results.save wrote. Folders and files of several runs: runs with the same name are "
            "compared. Changes are from OLD to NEW"),
        Row("other", help="other judgments of the same documents, such as a model's", metavar="QRELS_B"),
        Row("more", metavar="MORE",
            help="more judgments, such as a list of `fastir to-judge` with its labels; negative ones are left out"),
        Row("names", help="say what these mean, such as ndcg@10 (default: list all)", metavar="NAME"),
        Row("verdicts", metavar="FILE", help="a verdict on each line: CSV, TSV, JSON Lines, JSON or Parquet, or what "
            "nuggetizer wrote; - is standard input"),
        Row("shell", help="%(choices)s", metavar="SHELL"),
    )
}  # fmt: skip
ROWS: dict[str, tuple[Row, ...]] = {  # by the heading of the long help, in its order
    "metrics": (
        Row("metrics", flag="-m", metavar="METRIC", parse="list",
            help=f"such as ndcg@10 map, ndcg@10,map or ndcg@1,3,5 (default: {DEFAULT_METRICS})"),
        Row("all", help="all metrics that these judgments allow", parse="flag"),
        Row("value", metavar="METRIC=X", parse="list",
            help=f"a reported value, with all its digits, such as ndcg@10=0.2340; {SEVERAL}"),
        Row("values", metavar="FILE",
            help="a file of values: a table in Markdown, LaTeX or CSV, a list, output of trec_eval, or MTEB's JSON"),
        Row("row", help="the row of FILE (default: the row with the run's name, or the only one)", metavar="NAME"),
        Row("ignore", metavar="NAME", parse="list",
            help=f"leave out a value by its name; a name that is not understood makes the exit code 1; {SEVERAL}"),
        Row("search", help="list only the metrics with WORD in name or description", metavar="WORD"),
    ),
    "fusion": (
        Row("method", choices="fastir.analyses.fusion.cards:METHODS",
            help="the method of fusion: %(choices)s (default %(default)s)"),
        Row("norm", choices="fastir.analyses.fusion.cards:NORMS_AND_NONE",
            help="how the scores of each ranking are made comparable: %(choices)s (default %(default)s)"),
        Row("param", help="a parameter of the method, such as k=60", metavar="NAME=NUMBER", parse="list"),
    ),
    "search": (
        Row("grid", metavar="STEP", parse="float", help="the step between weights, or values of the parameter; "
            "default: .01 for two runs, .05 for three and four"),
        Row("n_trials", help="try N random settings instead of a grid", metavar="N", parse="int", flag="--trials"),
        Row("folds", metavar="N", parse="int", default=5, help="the number of folds (default %(default)s); the "
            "queries of a fold are scored with the setting that the other folds choose"),
    ),
    "which queries and ranks": (
        Row("without", metavar="TEAM", help="show the leaderboard of all runs without what only this team contributed "
            "(default: each run without its own team's)"),
        Row("budget", help="how many documents can be judged", metavar="N", parse="count"),
        Row("depth", help="how many ranks are shown (default: the largest cutoff of the metrics, else all)",
            metavar="K", parse="count"),
    ),
    "statistics": (
        Row("ci", parse="flag",
            help="show a confidence interval for each mean (kind: --interval, level: --confidence)"),
        Row("bounds", parse="flag",
            help="show how far labels of retrieved unjudged documents could change each value"),
    ),
    "gates": (
        Row("fail_under", metavar="METRIC=VALUE", parse="list",
            help="exit with 4 if the mean of any run is below VALUE"),
        Row("fail_over", metavar="METRIC=VALUE", parse="list",
            help="exit with 4 if the mean of any run is above VALUE, for a metric of which less is better; with "
            "--ties-report tie-range:METRIC=VALUE is for the range of a metric"),
        Row("fail_if", metavar="RULE", parse="list", help="exit with 4 if a run is worse than the baseline; "
            "worse:METRIC[:ALPHA] is significantly worse, drop:METRIC>MARGIN by more than a margin"),
    ),
    "output": (
        Row("per_query", help="show a row for every query, then the mean", parse="flag"),
        Row("pairs", parse="flag", help="show a row for every pair: difference, interval, p, effect, wins/ties/losses"),
        Row("intervals", help="show the intervals of the means", parse="flag"),
        Row("transpose", help="show a column for every run, and a row for every metric", parse="flag"),
        Row("top", help="how many gains and losses are shown (default %(default)s)", metavar="N", parse="count",
            default=10),
        Row("sort", metavar="METRIC", help="order the runs by METRIC, or by none: as they come; default: the first "
            "metric, but none in csv, tsv, json and parquet"),
        Row("format", metavar="FORMAT", help="%(choices)s (default table)"),
        Row("output", help="write to FILE instead (atomically)", metavar="FILE"),
        Row("run", help="write the tuned run: a .run, .json or .parquet file", metavar="FILE"),
        Row("plot", help="also draw a picture: .png, .svg or .pdf", metavar="FILE"),
        Row("json", metavar="FILE", help="read one JSON object of qrels and run, runs or lists, "
            "and print one; - is standard input"),
        Row("schema", help="print the JSON schemas of --json: of what it reads, and of what it prints", parse="flag"),
        Row("formulas", help="leave texts in csv unchanged, also with = + - @ in front", parse="flag"),
        Row("color", help="colour the best numbers: %(choices)s (default auto)", default="auto"),
        Row("bibtex", help="print the papers to cite for each NAME", parse="flag"),
    ),
    "input": (
        Row("expected", metavar="FILE", help="the nuggets that answers should have, as nuggetizer creates them or with "
            "columns query_id, nugget and importance (default: all in FILE)"),
        Row("missing", choices="fastir.analyses.verdicts.nuggets:MISSING", default="error",
            help="what an expected verdict that is not there is: %(choices)s (default %(default)s)"),
        Row("qrels", help="the judgments", metavar="QRELS"),
        Row("parts", parse="flag", help="read the Parquet or JSON files of a folder or a pattern as the parts of one "
            "run; Parquet rows in no order are read twice and not kept"),
        Row("teams", metavar="FILE",
            help="the teams of runs: a line has a run, as its file is called, and its team (default: each run is one)"),
        Row("team_pattern", metavar="REGEX",
            help="the team is what this regular expression finds in the name of a run, its first group if it has one"),
    ),
}  # fmt: skip
OWN: dict[str, Row] = {row.name: row for rows in ROWS.values() for row in rows}
BY_NAME: dict[str, Row] = option_rows.BY_NAME | OWN
BY_NAME["validate"] = BY_NAME["validate"]._replace(default=None)  # it depends on --parts
TITLES: dict[str, str] = option_rows.TITLES | {row.name: title for title, rows in ROWS.items() for row in rows}
WORDS: dict[str, Any] = {**CHOICES, "format": FORMATS, "color": ("auto", "always", "never"), "shell": SHELLS}

READ_QRELS, READ_RUNS = "qrels_format", "run_format names"
READ_BOTH = f"{READ_QRELS} {READ_RUNS} columns qrels_columns run_columns label"
REPAIR_RUNS = "parts query_ids rows duplicates"
READING = f"{READ_BOTH} {REPAIR_RUNS} threshold"
RULES = "all rel_level queries ties judged_only max_depth min_score score_dtype convention n_threads"
OF_DOCUMENTS = " ".join(row.name for row in option_rows.every_row() if "CompareOptions" in row.of)
JUDGING = f"{READING} {RULES} validate parents aggregate exclude {OF_DOCUMENTS}"
STATISTICS = "baseline test n_resamples correction family confidence interval effect random_state segments clusters"
ONE_METRIC = {"help": f"one metric, such as map (default: {CHOICES['default_metrics'][0]})"}
TO_LABEL = f"; {QRELS_FORMAT}, also by the name FILE.qrels, has the label -1 in every line, until you put it in"
TEXT: Mapping[str, Any] = {"words": TEXT_FORMATS}
LIST: Mapping[str, Any] = {"words": LIST_FORMATS, "help": OWN["format"].help + TO_LABEL}
FUSION_TIES = {
    "words": ("trec", "doc_id_asc", "input"),
    "default": "trec",
    "help": "which of equal scores comes first: the larger id, the smaller id, or the first in the file: %(choices)s "
    "(default %(default)s)",
}


# ---- commands --------------------------------------------------------------------------------------------------------
class Command(NamedTuple):
    """A subcommand: its line in the list of all, the sentences at the head of its help, examples and arguments."""

    name: str
    module: str
    about: str
    text: str = ""
    examples: tuple[str, ...] = ()
    positionals: str = ""  # names, with + or * for many and ? for one that may be absent
    usual: str = ""  # the options of the short help
    rare: str = ""  # the other options
    changes: Mapping[str, Mapping[str, Any]] = {}  # {argument: fields of its row, and words, that are otherwise here}

    def arguments(self) -> Iterator[tuple[Row, str | None, Mapping[str, Any]]]:
        """The row of each argument; how many words a positional one takes; and what its row does not say."""
        for word in self.positionals.split():
            name = word.rstrip("+*?")
            yield self.changed(POSITIONALS[name], word[len(name) :])
        for name in dict.fromkeys(f"{self.usual} {self.rare}".split()):
            yield self.changed(BY_NAME[name], None)

    def changed(self, row: Row, number: str | None) -> tuple[Row, str | None, Mapping[str, Any]]:
        words = () if number is not None and row.name != "shell" else WORDS.get(row.name, ())
        fields = {"words": words, "required": False, **self.changes.get(row.name, {})}
        extra = {key: fields.pop(key) for key in ("words", "required")}
        return row._replace(**fields), number, extra


GROUPS = {
    "evaluate": (
        Command(
            "eval", "eval", "evaluate one run or several",
            "Evaluate one run or several against judgments: a row for each run, a column for each metric.",
            ("fastir eval examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10,map recall@100",
             "zcat big.run.gz | fastir eval qrels.txt - -m mrr@10 -q --format tsv",
             "fastir eval qrels.txt new.run -m ndcg@10 --fail-under ndcg@10=0.42 -o new.json"),
            "qrels? runs*", "metrics rel_level convention per_query ci fail_under sort format output",
            f"{JUDGING} interval confidence bounds max_label pool_depth unseen ties_report fail_over transpose json "
            "schema formulas color",
            {"qrels": {"help": f"{POSITIONALS['qrels'].help}; or judged rankings, and then each RUN is, too"},
             "format": {"help": "%(choices)s (default table); the last four are exact, the others round to 4 decimals"},
             "interval": {"default": None, "help": "the kind of --ci: %(choices)s (default percentile)"},
             "confidence": {"default": None, "help": "the confidence level of the intervals (default 0.95)"},
             "pool_depth": {"help": "documents below this rank stay unjudged in --bounds (default: none)"},
             "unseen": {"default": None}}),
        Command(
            "explain", "explain", "show where the values of one query come from",
            "Show where the values of one query come from: rank, label, gain and contribution of each document.",
            ("fastir explain examples/qrels.txt examples/bm25.run q1 -m ndcg@5",
             "fastir explain examples/qrels.txt examples/bm25.run -m ndcg@5 --convention beir --convention lightgbm"),
            "qrels run query?", "metrics depth rel_level convention output", JUDGING),
        Command(
            "check", "single_run", "list the faults of runs and judgments, with their lines",
            "Check runs before they are evaluated or submitted: all faults, each with its line or id.",
            ("fastir check examples/qrels.txt examples/bm25.run",
             "fastir check qrels.txt runs --max-depth 1000 --tag 'team[A-Z]_.*' --exactly-queries topics.txt",
             "fastir check qrels.txt my.run --format json -o faults.json"),
            "qrels runs*", "max_depth exactly_queries tag corpus examples format output",
            f"{READ_BOTH} formulas color",
            {"format": TEXT, "max_depth": {"help": "more documents of a query are a fault"}}),
        Command(
            "identify", "single_run", "find the tools and options that give reported values",
            "Find the conventions, and options beside them, that give reported values for a run: the simplest first.",
            ("fastir identify examples/qrels.txt examples/bm25.run --value ndcg@5=0.6823 --value map=0.7333",
             "fastir identify qrels.txt my.run --values table.tex --row 'Our method'"),
            "qrels runs+", "value values row ignore format output",
            f"{READ_BOTH} n_threads formulas color", {"format": TEXT}),
        Command(
            "nuggets", "verdicts", "evaluate generated answers by their nuggets",
            "Evaluate generated answers by the nuggets in them: a row for each run, a column for each metric.",
            ("fastir nuggets assigned.jsonl -m vital_recall nugget_recall",
             "fastir nuggets verdicts.csv --expected nuggets.jsonl --missing zero -q"),
            "verdicts", "metrics expected missing per_query format output", "transpose formulas color",
            {"metrics": {"help": "such as vital_recall nugget_recall_strict (default: all)"}, "format": TEXT}),
        Command(
            "citations", "verdicts", "evaluate generated answers by their citations",
            "Evaluate generated answers by whether their citations support them: a row for each run.",
            ("fastir citations verdicts.csv -m citation_precision citation_recall",),
            "verdicts", "metrics missing per_query format output", "transpose formulas color",
            {"metrics": {"help": "such as citation_precision citation_recall (default: all but those of reports that "
                         "need nuggets)"}, "format": TEXT}),
        Command(
            "trec_eval", "", "run trec_eval's command line, with the same output", "",
            ("fastir trec_eval -m map -q examples/qrels.txt examples/bm25.run",)),
    ),
    "compare": (
        Command(
            "compare", "compare", "compare runs or saved results, with significance tests",
            "Compare runs, or saved results: means, significance tests of their differences, effect sizes and "
            "intervals.",
            ("fastir compare examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 --pairs",
             "fastir compare old.json new.json --baseline old.json --fail-if worse:map",
             "fastir compare qrels.txt runs -m ndcg@10 --test randomization --correction holm --format latex"),
            "qrels runs*", "metrics pairs baseline test fail_if sort format output",
            f"{STATISTICS} bounds {JUDGING} intervals transpose plot formulas color",
            {"qrels": {"help": f"{POSITIONALS['qrels'].help}; or saved results, and then each RUN is, too"},
             "bounds": {"help": "which differences could have the other sign, whatever labels unjudged documents "
                        "have; see --pairs"},
             "transpose": {"help": "show a column for every run, or pair"},
             "label": {"parse": "label_or_text", "metavar": "X|TEXT",
                       "help": f"a number: {option_rows.BY_NAME['label'].help}; a text: the label of the LaTeX table"},
             "plot": {"help": "also draw means and differences: .png, .svg or .pdf"}}),
        Command(
            "diff", "diff", "show what changed between two runs or saved results",
            "Show what changed from an old run to a new one: the means, and the queries that gained and lost most.",
            ("fastir diff old.json new.json --format markdown",
             "fastir diff examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10",
             "fastir diff old.json new.json --fail-if 'drop:map>0.01'"),
            "files+", "metrics top fail_if qrels format output", f"{JUDGING} color",
            {"metrics": {"help": "such as ndcg@10 map (default: all that both results have)"},
             "fail_if": {"help": OWN["fail_if"].help.replace("a run", "NEW").replace("the baseline", "OLD")},
             "format": {"words": (*PEOPLE_FORMATS, "json"),
                        "help": "%(choices)s (default table); markdown is for a pull request"}}),
        Command(
            "report", "compare", "write a web page that compares runs and their rankings",
            "Write one file of HTML: leaderboard, differences by query, rankings side by side, what is judged, "
            "sources.",
            ("fastir report examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10,map -o report.html",
             "fastir report qrels.txt runs --baseline bm25 --topics topics.xml --titles titles.tsv --title 'Robust04'"),
            "qrels runs+", "metrics baseline title topics doc_titles segments k output",
            f"{STATISTICS} {JUDGING}",
            {"output": {"help": "the page (default report.html)"}, "k": {"default": 10}}),
        Command(
            "similarity", "agreement", "measure how alike runs rank documents",
            "Measure how alike runs rank documents, without judgments: rank-biased overlap, shared documents, tau.",
            ("fastir similarity examples/bm25.run examples/dense.run -m rbo overlap@10",),
            "runs+", "metrics per_query format output",
            f"{READ_RUNS} columns {REPAIR_RUNS} transpose formulas color",
            {"metrics": {"metavar": "MEASURE", "help": "such as rbo overlap@10, see `fastir metrics` (default: "
                         "rbo overlap@10)"},
             "transpose": {"help": "show a column for every pair of runs"}}),
        Command(
            "fuse", "fusion", "fuse several runs into one run",
            "Fuse the rankings of several runs into one run.",
            ("fastir fuse examples/bm25.run examples/dense.run -o fused.run",
             "fastir fuse bm25.run dense.run --method wsum --norm min-max --run-weights 0.4,0.6 -o hybrid.run"),
            "runs+", "method norm param run_weights max_depth output",
            f"{READ_RUNS} columns {REPAIR_RUNS} ties n_threads",
            {"method": {"default": "rrf"}, "norm": {"default": "none"}, "ties": FUSION_TIES,
             "max_depth": {"help": "how many documents of each query are written (default: all)"},
             "output": {"help": "write a .run, .json or .parquet file instead (atomically)"}}),
        Command(
            "tune", "fusion", "find the weights of a fusion by cross-validation",
            "Choose the weights or the parameter of a fusion, and score each query with what the other queries choose.",
            ("fastir tune examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 --folds 2",
             "fastir tune qrels.txt bm25.run dense.run -m map --method rrf --norm none --plot k.svg"),
            "qrels runs+", "metrics method norm grid n_trials folds run plot format output",
            f"param random_state segments per_query {READING} rel_level convention ties n_threads formulas color",
            {"metrics": ONE_METRIC, "method": {"default": "wsum", "words": CHOICES["tunable"]},
             "norm": {"default": "min-max"}, "ties": FUSION_TIES, "format": TEXT,
             "segments": {"help": "a query and its segment on each line; folds get a fraction of each segment"},
             "plot": {"help": "also draw the metric against the weights: .png, .svg or .pdf"},
             "per_query": {"help": "in json, the cross-validated value of every query"}}),
    ),
    "judgments": (
        Command(
            "pool", "pool", "list the documents that runs rank near the top",
            "List the pool of several runs: the documents that at least one of them ranks near the top.",
            ("fastir pool examples/bm25.run examples/dense.run --pool-depth 10",
             "fastir pool runs --pool-depth 100 --qrels qrels.txt -o missing.qrels"),
            "runs+", "pool_depth qrels format output", f"{READING} formulas color",
            {"pool_depth": {"required": True, "help": "how many documents of each ranking"}, "format": LIST,
             "qrels": {"help": "judgments; list only unjudged documents"}}),
        Command(
            "contributions", "pool", "count the judged documents that each run or team found",
            "Count the judged and relevant documents that each run or team contributed to the pool, and those that "
            "no other run or team has.",
            ("fastir contributions examples/qrels.txt examples/bm25.run examples/dense.run",
             "fastir contributions qrels.txt runs --team-pattern '^[a-z]+' --pool-depth 100"),
            "qrels runs+", "teams team_pattern pool_depth rel_level format output", f"{READING} formulas color",
            {"format": TEXT}),
        Command(
            "leave-one-out", "pool", "evaluate runs without their own team's judgments",
            "Evaluate each run again without the judgments that only its own team contributed.",
            ("fastir leave-one-out examples/qrels.txt examples/bm25.run examples/dense.run -m map",
             "fastir leave-one-out qrels.txt runs -m ndcg@10 --teams teams.txt --without uni"),
            "qrels runs+", "metrics teams team_pattern pool_depth without format output",
            f"{READING} {RULES} formulas color", {"format": TEXT}),
        Command(
            "to-judge", "pool", "list the unjudged documents that matter most",
            "List unjudged documents for an assessor, first those that could change the differences between runs most.",
            ("fastir to-judge examples/qrels.txt examples/bm25.run examples/dense.run -m map --budget 5",
             "fastir to-judge qrels.txt runs -m map --budget 200 -o next.qrels"),
            "qrels runs+", "metrics budget pool_depth max_label format output",
            f"{READING} rel_level convention formulas color",
            {"metrics": ONE_METRIC, "budget": {"required": True}, "format": LIST,
             "pool_depth": {"default": 100, "help": "how many documents of each ranking (default %(default)s)"}}),
        Command(
            "merge-qrels", "pool", "add new judgments to old ones",
            "Add new judgments to old ones, such as a list of `fastir to-judge` with labels filled in.",
            ("fastir merge-qrels qrels.txt next.qrels -o new.txt",),
            "qrels more+", "duplicates output", f"{READ_QRELS} columns label threshold",
            {"output": {"help": "write to FILE instead (atomically): .json, .parquet, else TREC"}}),
        Command(
            "agreement", "agreement", "measure how far two sets of judgments agree",
            "Measure how far two sets of judgments agree: kappa, alpha and confusion of their labels, with intervals.",
            ("fastir agreement human.txt model.txt",
             "fastir agreement human.txt model.txt -q --scale interval"),
            "qrels other", "per_query rel_level kappa_weights scale truth format output",
            f"confidence n_resamples random_state {READ_QRELS} columns label threshold duplicates formulas color",
            {"qrels": {"metavar": "QRELS_A"}, "format": TEXT, "per_query": {"help": "show a row for every query"}}),
        Command(
            "rank-correlation", "agreement",
            "compare the leaderboards of two sets of judgments",
            "Compare the leaderboards that two sets of judgments give: tau_b, tau_ap, Spearman's rho, and swapped "
            "pairs.",
            ("fastir rank-correlation human.txt model.txt runs -m ndcg@10",
             "fastir rank-correlation human.json model.json --plot boards.svg"),
            "qrels other runs*", "metrics test correction used_judge plot format output",
            f"confidence {JUDGING} formulas color",
            {"qrels": {"metavar": "QRELS_A", "help": f"{POSITIONALS['qrels'].help}; the truth. Or saved results of "
                       "several runs, and then QRELS_B is, too"},
             "other": {"help": "other judgments for the same queries"}, "metrics": ONE_METRIC, "format": TEXT,
             "test": {"help": "the test of swapped pairs: %(choices)s (default %(default)s)"},
             "correction": {"help": "the correction over all pairs: %(choices)s (default %(default)s: holm, or none "
                            "for the Tukey tests)"},
             "confidence": {"help": "the confidence level of the tests (default %(default)s)"},
             "plot": {"help": "also draw both leaderboards: .png, .svg or .pdf"}}),
    ),
    "help": (
        Command(
            "metrics", "metrics", "list the metrics, or explain some of them",
            "List the metrics, or say of each NAME what it computes: formula, undefined cases, sources, other names.",
            ("fastir metrics",
             "fastir metrics ndcg@10 bpref",
             "fastir metrics --search recall"),
            "names*", "search bibtex format", "",
            {"format": {"words": ("table", "markdown"), "default": "table", "help": "%(choices)s (default table); "
                        "markdown is the whole reference: formulas, sources, examples"}}),
        Command(
            "conventions", "metrics", "list the tools that fastir reproduces",
            "List the conventions: the tools that fastir reproduces with --convention.",
            ("fastir conventions",),
            "", "format", "",
            {"format": {"words": ("table", "markdown"), "default": "table", "help": "%(choices)s (default table); "
                        "markdown is what each answers where tools differ, by examples"}}),
        Command(
            "doctor", "doctor", "show versions and run a self-test, for bug reports",
            "Show versions, processor and threads, and evaluate an example with known values.",
            ("fastir doctor",)),
        Command(
            "completion", "completion", "print a script for completion in a shell",
            "Print a script that completes commands, options and metrics in a shell.",
            ('eval "$(fastir completion bash)"',), "shell"),
        Command("man", "completion", "print the manual page, for `man -l -`", "Print the manual page.",
                ("fastir man | man -l -",)),
        Command("help", "", "show this help, or the help of a COMMAND", "", ("fastir help eval",)),
        Command("version", "", "show the version", "", ("fastir version",)),
    ),
}  # fmt: skip
COMMANDS: dict[str, Command] = {command.name: command for commands in GROUPS.values() for command in commands}
