"""The commands as data, and their parsers, with options in groups; a command's module is imported when it is called.

The functions of a command `to-judge` are `add_to_judge_arguments` and `to_judge_command` in its module.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NoReturn

from fastir._version import __version__
from fastir.cli.terminal import USAGE, near_option, suggestion, terminal_width
from fastir.declared import Record
from fastir.rendering.text import printable


# ---- the commands ----------------------------------------------------------------------------------------------------
class Command(Record):
    """A subcommand: its line in the list of all, the sentences at the head of its help, and examples."""

    name: str
    module: str
    about: str
    text: str
    examples: tuple[str, ...] = ()


COMMANDS = (
    Command("eval", "eval", "evaluate one run or several",
            "Evaluate one run or several against judgments: a row for each run, a column for each metric.",
            ("fastir eval examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10,map recall@100",
             "zcat big.run.gz | fastir eval qrels.txt - -m mrr@10 -q --format tsv",
             "fastir eval qrels.txt new.run -m ndcg@10 --fail-under ndcg@10=0.42 -o new.json")),
    Command("compare", "compare", "say which of several runs or saved results is better, and how sure that is",
            "Compare runs, or saved results: means, significance tests of their differences, effect sizes and "
            "intervals.",
            ("fastir compare examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 --pairs",
             "fastir compare old.json new.json --baseline old.json --fail-if worse:map",
             "fastir compare qrels.txt runs -m ndcg@10 --test randomization --correction holm --format latex")),
    Command("diff", "diff", "say what changed between two runs or saved results, and on which queries",
            "Show what changed from an old run to a new one: the means, and the queries that gained and lost most.",
            ("fastir diff old.json new.json --format markdown",
             "fastir diff examples/bm25.run examples/dense.run --qrels examples/qrels.txt -m ndcg@10",
             "fastir diff old.json new.json --fail-if 'drop:map>0.01'")),
    Command("check", "single_run", "list all faults of runs and judgments, each with its line",
            "Check runs before they are evaluated or submitted: all faults, each with its line or id.",
            ("fastir check examples/qrels.txt examples/bm25.run",
             "fastir check qrels.txt runs --max-depth 1000 --tag 'team[A-Z]_.*' --exactly-queries topics.txt",
             "fastir check qrels.txt my.run --format json -o faults.json")),
    Command("report", "compare", "write a page that shows runs, their differences and their rankings in a browser",
            "Write one file of HTML: leaderboard, differences by query, rankings side by side, what is judged, "
            "sources.",
            ("fastir report examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10,map -o report.html",
             "fastir report qrels.txt runs -m ndcg@10 --baseline bm25 --segments segments.txt --k 20 -o report.html")),
    Command("pool", "pool", "list the documents that any of several runs ranks near the top, or only unjudged ones",
            "List the pool of several runs: the documents that at least one of them ranks near the top.",
            ("fastir pool examples/bm25.run examples/dense.run --pool-depth 10",
             "fastir pool runs --pool-depth 100 --qrels qrels.txt -o missing.qrels")),
    Command("contributions", "pool", "count the judged documents of each run or team, and those that no other has",
            "Count the judged and relevant documents that each run or team contributed to the pool, and those that "
            "only it has.",
            ("fastir contributions examples/qrels.txt examples/bm25.run examples/dense.run",
             "fastir contributions qrels.txt runs --team-pattern '^[a-z]+' --pool-depth 100")),
    Command("leave-one-out", "pool", "show the leaderboard without the judgments that only one team contributed",
            "Evaluate each run again without the judgments that only its own team contributed.",
            ("fastir leave-one-out examples/qrels.txt examples/bm25.run examples/dense.run -m map",
             "fastir leave-one-out qrels.txt runs -m ndcg@10 --teams teams.txt --without uni")),
    Command("to-judge", "pool",
            "list unjudged documents, first those that could change the differences between runs most",
            "List unjudged documents for an assessor, first those that could change the differences between runs most.",
            ("fastir to-judge examples/qrels.txt examples/bm25.run examples/dense.run -m map --budget 5",
             "fastir to-judge qrels.txt runs -m map --budget 200 -o next.qrels")),
    Command("merge-qrels", "pool", "add new judgments to old ones",
            "Add new judgments to old ones, such as a list of `fastir to-judge` with labels filled in.",
            ("fastir merge-qrels qrels.txt next.qrels -o new.txt",)),
    Command("agreement", "agreement", "say whether two sets of judgments agree",
            "Measure how far two sets of judgments agree: kappa, alpha and confusion of their labels, with intervals.",
            ("fastir agreement human.txt model.txt",
             "fastir agreement human.txt model.txt -q --scale interval")),
    Command("rank-correlation", "agreement",
            "say whether two sets of judgments, or saved results, give the same leaderboard",
            "Compare the leaderboards that two sets of judgments give: tau_b, tau_ap, spearman, and swapped pairs.",
            ("fastir rank-correlation human.txt model.txt runs -m ndcg@10",
             "fastir rank-correlation human.json model.json --plot boards.svg")),
    Command("similarity", "agreement", "say how alike runs rank documents",
            "Measure how alike runs rank documents, without judgments: rank-biased overlap, shared documents, tau.",
            ("fastir similarity examples/bm25.run examples/dense.run -m rbo overlap@10",)),
    Command("fuse", "fusion", "make one run of several, such as a lexical and a dense one",
            "Fuse the rankings of several runs into one run.",
            ("fastir fuse examples/bm25.run examples/dense.run -o fused.run",
             "fastir fuse bm25.run dense.run --method wsum --norm min-max --run-weights 0.4,0.6 -o hybrid.run")),
    Command("tune", "fusion", "find the weights of a fusion, and what they are worth on other queries",
            "Choose the weights or the parameter of a fusion, and score each query with what the other queries choose.",
            ("fastir tune examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 --folds 2",
             "fastir tune qrels.txt bm25.run dense.run -m map --method rrf --norm none --plot k.svg")),
    Command("explain", "explain", "say where the values of one query come from, document by document",
            "Show where the values of one query come from: rank, label, gain and contribution of each document.",
            ("fastir explain examples/qrels.txt examples/bm25.run q1 -m ndcg@5",
             "fastir explain examples/qrels.txt examples/bm25.run -m ndcg@5 --convention beir --convention lightgbm")),
    Command("identify", "single_run", "find the tools and options that give reported values",
            "Find the conventions, and options beside them, that give reported values for a run: the simplest first.",
            ("fastir identify examples/qrels.txt examples/bm25.run --value ndcg@5=0.6823 --value map=0.7333",
             "fastir identify qrels.txt my.run --values table.tex --row 'Our method'")),
    Command("metrics", "metrics", "list the metrics, or say what some of them mean",
            "List the metrics, or say of each NAME what it computes: formula, undefined cases, sources, other names.",
            ("fastir metrics",
             "fastir metrics ndcg@10 bpref",
             "fastir metrics --search recall")),
    Command("conventions", "metrics", "list the tools that fastir reproduces",
            "List the conventions: the tools that fastir reproduces with --convention.",
            ("fastir conventions",)),
    Command("trec_eval", "", "trec_eval's command line: the same options, the same output", "",
            ("fastir trec_eval -m map -q examples/qrels.txt examples/bm25.run",)),
    Command("doctor", "doctor", "versions, processor, threads and a self-test, for bug reports",
            "Show versions, processor and threads, and evaluate an example with known values.",
            ("fastir doctor",)),
    Command("completion", "completion", "a script that completes the words of this command",
            "Print a script that completes commands, options and metrics in a shell.",
            ('eval "$(fastir completion bash)"',)),
    Command("man", "completion", "the manual page, for `man -l -`",
            "Print the manual page.",
            ("fastir man | man -l -",)),
    Command("help", "", "this help, or the help of a COMMAND", "",
            ("fastir help eval",)),
    Command("version", "", "the version", "",
            ("fastir version",)),
)  # fmt: skip

# ---- the parsers -----------------------------------------------------------------------------------------------------
ABOUT = "Evaluate rankings against relevance judgments, exactly and fast."
EXIT_STATUS = "0 fine, 1 usage, 2 input, 3 output, memory or internal, 4 a gate was not passed, 130 interrupted"
ENDING = f"""\
example:
  {COMMANDS[0].examples[0]}

`fastir help COMMAND` shows the options of a command, and more examples.

exit status: {EXIT_STATUS}"""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser with usage errors of one line and a hint, and with our exit code instead of 2."""

    def format_usage(self) -> str:
        """One line: the options are listed below it."""
        return f"usage: {self.synopsis()}\n"

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return f"{self.format_usage()}\n{formatter.format_help()}"

    def synopsis(self) -> str:
        """The command, and what it needs."""
        needed = [action for action in self._actions if action.option_strings and action.required]
        positional = [action for action in self._actions if not action.option_strings]
        words = [self.prog, "[OPTION ...]", *(f"{action.option_strings[-1]} {action.metavar}" for action in needed)]
        many = {"+": "{0} [{0} ...]", "*": "[{0} ...]", argparse.PARSER: "{0} ..."}
        words += [many.get(str(action.nargs), "{0}").format(action.metavar or action.dest) for action in positional]
        return " ".join(words)

    def error(self, message: str) -> NoReturn:
        message = " ".join(message.split())
        if choice := re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message):
            name, word, choices = choice.groups()
            words = re.findall(r"[^\s',]+", choices)
            what = "there is no command" if name == "COMMAND" else f"{name.split('/')[-1]}: there is no"
            message = f"{what} {word!r}{suggestion(word, words)}; expected {', '.join(words)}"
        elif value := re.match(r"argument (?:\S+/)?(\S+): (\S+: expected .*)", message):
            message = f"{value[1]} {value[2]}"
        elif option := re.match(r"unrecognized arguments: (\S+)", message):
            options = [option for action in self._actions for option in action.option_strings]
            if option[1][0] == "-":
                message = f"there is no option {option[1]!r}{near_option(option[1], options)}"
        self.exit(USAGE, f"fastir: error: {printable(message)}; see {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; a subcommand refuses unknown ones itself, so that its own options are suggested."""
        if self.prog == "fastir" and args and args[0][:1] == "-" and args[0] not in self._option_string_actions:
            self.error(f"unrecognized arguments: {args[0]}")  # else it would be the command that is missing
        if self.prog != "fastir" and args:
            args = self.options_first(args)
        options, rest = super().parse_known_args(args, namespace)
        if rest and self.prog != "fastir":
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options, rest

    def options_first(self, words: Sequence[str]) -> list[str]:
        """Return the options with their values, then the other words: argparse reads these only in one sequence.

        The words are returned unchanged if one is an unknown option.
        """
        options, others = [], []
        rest = iter(words)
        for word in rest:
            name, has_value, _ = word.partition("=")
            if word[:1] != "-" or word == "-":
                others.append(word)
                continue
            if name not in self._option_string_actions:
                return list(words)
            options.append(word)
            if not has_value and self._option_string_actions[name].nargs is None:
                options += itertools.islice(rest, 1)
        return options + others


def parser(commands: Collection[str] | None = None) -> Parser:
    """Return the parser, with the arguments of these commands (default: every command)."""
    form = functools.partial(argparse.RawDescriptionHelpFormatter, width=terminal_width() - 2)  # argparse's own margin
    layout: dict[str, Any] = {"formatter_class": form, "allow_abbrev": False}
    root = Parser(prog="fastir", description=ABOUT, epilog=ENDING, **layout)
    about = "show the version, and with --verbose also Python, NumPy and the packages that fastir can use, then exit"
    root.add_argument("--version", action="version", version=f"fastir {__version__}", help=about)
    subparsers = root.add_subparsers(metavar="COMMAND", required=True, title="commands")
    known = {command.name for command in COMMANDS}
    wanted = known if commands is None or not known.intersection(commands) else commands
    for command in COMMANDS:
        if command.name not in wanted:  # each takes a millisecond, and an unknown word gets the list of all
            continue
        examples = (f"  {line}" for line in command.examples)
        ending = "\n".join(["examples:", *examples, "", f"exit status: {EXIT_STATUS}"])
        texts: dict[str, Any] = {"help": command.about, "description": command.text, "epilog": ending}
        sub = subparsers.add_parser(command.name, **texts, **layout)
        if command.module and (commands is None or command.name in commands):
            module = importlib.import_module(f"fastir.cli.{command.module}")
            name = command.name.replace("-", "_")
            sub.set_defaults(command=getattr(module, f"{name}_command"), parser=sub)
            getattr(module, f"add_{name}_arguments", lambda add: None)(grouping_add(sub))
    return root


def grouping_add(sub: argparse.ArgumentParser) -> Callable[..., argparse.Action]:
    """A function like `sub.add_argument` that puts each option into its group, and shows choices once, in its help."""
    from fastir.request.option_rows import ROWS

    places = {name: sub.add_argument_group(name) for name in ROWS}

    def add(*flags: str, group: str = "output", **settings: Any) -> argparse.Action:
        if flags[0][0] != "-":
            return sub.add_argument(*flags, **settings)
        if settings.get("choices") is not None:
            settings["help"] = with_choices(settings["help"])
            settings.setdefault("metavar", "FORMAT" if flags[-1].endswith("format") else "WORD")
        return places[group].add_argument(*flags, **settings)

    return add


def with_choices(about: str) -> str:
    """Return the help of an option with its choices before the default."""
    if "%(choices)s" in about:
        return about
    text, default, rest = about.partition(" (default")
    return f"{text}: %(choices)s{default}{rest}"


def first_command(words: Iterable[str]) -> str | None:
    """The first word that is no option, if there is one."""
    return next((word for word in words if word[:1] != "-"), None)
