"""Completion for shells, and the manual page: written only from the arguments that argparse knows."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator

from fastir._version import __version__
from fastir.analyses.agreement.measures import MEASURES
from fastir.cli.commands import COMMANDS, SHELLS
from fastir.cli.parser import ABOUT, EXIT_STATUS, HINT, Parser, parsers
from fastir.cli.terminal import Output
from fastir.engine.measure import CARDS
from fastir.rendering.text import build_day
from fastir.request.conventions_table import NAMES

METRIC_NAMES = tuple(card.name for card in CARDS)
USUAL_WORDS = {"metrics": METRIC_NAMES, "sort": METRIC_NAMES, "convention": NAMES}


def completion_command(options: argparse.Namespace) -> Output:
    return Output(completion(options.shell))


def man_command(options: argparse.Namespace) -> Output:
    return Output(manual())


def option_actions(parser: Parser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def option_words(parser: Parser, action: argparse.Action) -> Collection[str]:
    """The words that an option takes: its choices, or those that are usual."""
    if action.dest == "metrics" and parser.command.name == "similarity":
        return MEASURES
    return action.choices or USUAL_WORDS.get(action.dest, ())  # type: ignore[return-value]


def option_help(parser: Parser, action: argparse.Action) -> str:
    """The help of an action as --help shows it."""
    return parser._get_formatter()._expand_help(action) if action.help else ""


# ---- completion ----------------------------------------------------------------------------------------------------
def completion(shell: str) -> str:
    """A script that completes subcommands, options and the words that they take, and else names of files."""
    return dict(zip(SHELLS, (bash, zsh, fish), strict=True))[shell]()


def bash() -> str:
    cases = []
    for name, command in parsers().items():
        options = option_actions(command)
        choices = "".join(
            f"            {'|'.join(action.option_strings)}) {reply(taken)}; return ;;\n"
            for action in options
            if (taken := option_words(command, action))
        )
        words = " ".join(option for action in options for option in action.option_strings)
        cases.append(
            f"    {name})\n        case $before in\n{choices}        esac\n"
            f"        [[ $word == -* ]] && {reply(words.split())} ;;\n"
        )
    return (
        "_fastir() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    if ((COMP_CWORD == 1)); then\n"
        f"        {reply(COMMANDS)}; return\n"
        "    fi\n"
        f"    case ${{COMP_WORDS[1]}} in\n{''.join(cases)}    esac\n"
        "}\n"
        "complete -o bashdefault -o default -F _fastir fastir\n"
    )


def reply(words: Iterable[object]) -> str:
    """Return the bash command that offers the words that begin as the typed one."""
    return f'COMPREPLY=($(compgen -W "{" ".join(map(str, words))}" -- "$word"))'


def zsh() -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash()}"


def fish() -> str:
    lines = [
        f"complete -c fastir -f -n __fish_use_subcommand -a {name} -d {quote_single(command.about)}"
        for name, command in COMMANDS.items()
    ]
    for name, command in parsers().items():
        for action in option_actions(command):
            flags = " ".join(
                f"-l {flag[2:]}" if flag[:2] == "--" else f"-s {flag[1:]}" for flag in action.option_strings
            )
            words = option_words(command, action)
            values = f" -x -a {quote_single(' '.join(words))}" if words else ""
            values = values or ("" if action.nargs == 0 else " -r")
            about = quote_single(option_help(command, action))
            lines.append(f"complete -c fastir -n '__fish_seen_subcommand_from {name}' {flags}{values} -d {about}")
    return "\n".join(lines) + "\n"


def quote_single(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# ---- the manual page -----------------------------------------------------------------------------------------------
def manual() -> str:
    """The page fastir(1) in roff; SOURCE_DATE_EPOCH fixes its date."""
    lines = [
        f'.TH FASTIR 1 "{build_day()}" "fastir {__version__}" "User Commands"',
        ".SH NAME",
        roff(f"fastir - {ABOUT}"),
        ".ad l",
        ".SH SYNOPSIS",
    ]
    for command in parsers().values():
        lines += [".PP", roff(usage(command)).replace(",", ",\\:")]  # lists of choices may be longer than a line
    lines.append(".SH COMMANDS")
    for name, command in parsers().items():
        text = command.command.about
        lines += [f".SS fastir {roff(name)}", roff(f"{text[:1].upper()}{text[1:]}."), *arguments(command)]
    return "\n".join([*lines, ".SH NOTES", ".nf", roff(f"{HINT}\n{EXIT_STATUS}"), ".fi", ""])


def usage(parser: Parser) -> str:
    return " ".join(parser.format_usage().split()[1:])


def arguments(parser: Parser) -> Iterator[str]:
    for action in parser._actions:
        flags, value = argument_usage(action)
        yield from (".TP", rf"\fB{roff(flags)}\fR{roff(value)}", roff(option_help(parser, action)))


def argument_usage(action: argparse.Action) -> tuple[str, str]:
    """How an argument is written, and its value behind it, if it takes one."""
    flags = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    taken = bool(action.option_strings) and action.nargs != 0
    return flags, f" {action.metavar or action.dest.upper()}" if taken else ""


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))
