"""The parser of the command, and its end: exit codes, and one line for whatever goes wrong."""

from __future__ import annotations

import argparse
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import fastir
from fastir.cli.agreement import (
    add_agreement_arguments,
    add_rank_correlation_arguments,
    add_similarity_arguments,
    agreement_command,
    rank_correlation_command,
    similarity_command,
)
from fastir.cli.arguments import UsageError, spread
from fastir.cli.check import add_check_arguments, check_command
from fastir.cli.compare import add_compare_arguments, compare_command
from fastir.cli.diff import add_diff_arguments, diff_command
from fastir.cli.eval import add_eval_arguments, evaluate_command
from fastir.cli.explain import add_explain_arguments, explain_command
from fastir.cli.messages import meant, worded
from fastir.cli.metrics import add_conventions_arguments, add_metrics_arguments, conventions_command, metrics_command
from fastir.cli.pool import (
    add_contributions_arguments,
    add_leave_one_out_arguments,
    add_merge_qrels_arguments,
    add_pool_arguments,
    add_to_judge_arguments,
    contributions_command,
    leave_one_out_command,
    merge_qrels_command,
    pool_command,
    to_judge_command,
)
from fastir.cli.runs import refuse_overwriting
from fastir.cli.terminal import (
    FAILURE,
    INPUT,
    INTERRUPTED,
    USAGE,
    Output,
    Progress,
    finish,
    one_line,
    tell,
    telling,
    write,
)
from fastir.text import printable

INPUT_ERRORS = (fastir.FastirError, OSError, TypeError, ValueError, OverflowError)
ABOUT = "Evaluate rankings against relevance judgments, exactly and fast."
ENDING = """\
example:
  fastir eval examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10,map recall@100
  zcat big.run.gz | fastir eval qrels.txt - -m mrr@10 -q --format tsv
  fastir eval qrels.txt new.run -m ndcg@10 --fail-under ndcg@10=0.42 -o new.json
  fastir diff old.json new.json --markdown
  fastir compare examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 --test randomization --pairs
  fastir compare old.json new.json --baseline old.json --fail-if worse:map
  fastir check qrels.txt runs --max-depth 1000
  fastir to-judge qrels.txt runs -m map --budget 200 -o next.qrels
  fastir merge-qrels qrels.txt next.qrels -o new.txt
  fastir rank-correlation human.txt model.txt runs -m ndcg@10

exit status: 0 fine, 1 usage, 2 input, 3 output, memory or internal, 4 a gate was not passed, 130 interrupted
"""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose usage errors are one line with a hint, and end with our exit code instead of 2."""

    def error(self, message: str) -> NoReturn:
        message = " ".join(message.split())
        if found := re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message):
            name, given, known = found.groups()
            words = re.findall(r"[^\s',]+", known)
            what = "there is no command" if name == "COMMAND" else f"{name}: there is no"
            message = f"{what} {given!r}{meant(given, words)}; expected {', '.join(words)}"
        elif found := re.match(r"unrecognized arguments: (\S+)", message):
            known = [option for action in self._actions for option in action.option_strings]
            message = f"there is no option {found[1]!r}{meant(found[1], known)}" if found[1][:1] == "-" else message
        self.exit(USAGE, f"fastir: error: {printable(message)}; see {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; a subcommand refuses unknown ones itself, so that its own options are suggested."""
        if self.prog == "fastir" and args and args[0][:1] == "-" and args[0] not in self._option_string_actions:
            self.error(f"unrecognized arguments: {args[0]}")  # else it would be the command that is missing
        found, rest = super().parse_known_args(args, namespace)
        if rest and self.prog != "fastir":
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest


def parser() -> Parser:
    layout: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "epilog": ENDING}
    layout["allow_abbrev"] = False
    root = Parser(prog="fastir", description=ABOUT, **layout)
    about = "show the version, and with --verbose also Python, NumPy and the packages that fastir can use, then exit"
    root.add_argument("--version", action="version", version=f"fastir {fastir.__version__}", help=about)
    commands = root.add_subparsers(metavar="COMMAND", required=True)
    for name, about, command, add_arguments in (
        ("eval", "evaluate one run or several", evaluate_command, add_eval_arguments),
        (
            "compare",
            "say which of several runs, or saved results, is better, and how sure that is",
            compare_command,
            add_compare_arguments,
        ),
        (
            "diff",
            "say what changed between two runs or saved results, and on which queries",
            diff_command,
            add_diff_arguments,
        ),
        ("check", "list all faults of runs and judgments, with their lines", check_command, add_check_arguments),
        (
            "pool",
            "list the documents that any of several runs ranks near the top, or those of them that are not judged",
            pool_command,
            add_pool_arguments,
        ),
        (
            "contributions",
            "say which judged documents each run or team has, and which only it has",
            contributions_command,
            add_contributions_arguments,
        ),
        (
            "leave-one-out",
            "say what the leaderboard would be without the judgments that only one team contributed",
            leave_one_out_command,
            add_leave_one_out_arguments,
        ),
        (
            "to-judge",
            "list unjudged documents, those first that could change the differences between runs most",
            to_judge_command,
            add_to_judge_arguments,
        ),
        ("merge-qrels", "add judgments to judgments", merge_qrels_command, add_merge_qrels_arguments),
        ("agreement", "say whether two sets of judgments agree", agreement_command, add_agreement_arguments),
        (
            "rank-correlation",
            "say whether two sets of judgments, or saved results, give the same leaderboard",
            rank_correlation_command,
            add_rank_correlation_arguments,
        ),
        ("similarity", "say how alike runs rank documents", similarity_command, add_similarity_arguments),
        (
            "explain",
            "say where the values of one query come from, document by document",
            explain_command,
            add_explain_arguments,
        ),
        ("metrics", "list the metrics, or say what some of them mean", metrics_command, add_metrics_arguments),
        ("conventions", "list the tools whose numbers there are", conventions_command, add_conventions_arguments),
    ):
        sub = commands.add_parser(name, help=about, **layout)
        sub.set_defaults(command=command, parser=sub)
        add_arguments(sub.add_argument)
    commands.add_parser("trec_eval", help="trec_eval's command line: the same options, the same output")
    doctor = commands.add_parser("doctor", help="versions, processor, threads and a self-test, for reports of faults")
    doctor.set_defaults(command=doctor_command)
    completion = commands.add_parser("completion", help="a script that completes the words of this command")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="%(choices)s")
    completion.set_defaults(command=completion_command)
    commands.add_parser("man", help="the manual page, for `man -l -`").set_defaults(command=manual_command)
    return root


def doctor_command(options: argparse.Namespace) -> Output:
    from fastir.cli import doctor

    return doctor.doctor_command(options)


def versions_text() -> str:
    from fastir.cli import doctor

    return doctor.aligned(doctor.versions(), 2)


def completion_command(options: argparse.Namespace) -> Output:
    from fastir.cli.completion import completion

    return Output(completion(parser(), options.shell))


def manual_command(options: argparse.Namespace) -> Output:
    from fastir.cli.completion import manual

    return Output(manual(parser(), ABOUT, ENDING))


def judgments_of(options: argparse.Namespace) -> list[Any]:
    """The paths of judgments among the arguments."""
    given = vars(options)
    return [given.get("qrels"), given.get("other"), *given.get("more", ())]


def trec_eval_command(arguments: list[str]) -> int:
    """Run `fastir trec_eval`, which has options of its own; returns the exit code."""
    from fastir.compat import trec_eval

    try:
        with telling():
            text = trec_eval.output(arguments, Progress)
        return write(text)
    except trec_eval.Refusal as refusal:
        message = worded(one_line(refusal.__cause__ or refusal))
        tell("error", message.replace("; --", "; fastir eval --"))  # whose options those are
        return refusal.code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = argparse.Namespace()
    try:
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        if arguments[:1] == ["trec_eval"]:
            return trec_eval_command(arguments[1:])
        if sorted(arguments) == ["--verbose", "--version"]:
            return write(versions_text())
        parser().parse_args(spread(arguments), options)
        refuse_overwriting(options)
        return finish(options.command(options), options)
    except SystemExit as end:
        return int(end.code or write(""))
    except KeyboardInterrupt:
        tell("error", "interrupted")
        return INTERRUPTED
    except UsageError as error:
        tell("error", f"{worded(one_line(error))}; see {options.parser.prog} --help")
        return USAGE
    except INPUT_ERRORS as error:
        about_qrels = isinstance(error, fastir.FormatError) and error.path in judgments_of(options)
        tell("error", worded(one_line(error), "--qrels-format" if about_qrels else "--run-format"))
        return INPUT
    except MemoryError:
        tell("error", "out of memory")
        return FAILURE
    except Exception as error:
        traceback.print_exc()
        tell("error", f"internal error, please report it: {type(error).__name__}: {error}")
        return FAILURE
