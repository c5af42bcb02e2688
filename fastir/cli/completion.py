"""Completion for shells, and the manual page: written only from the arguments that argparse knows."""

from __future__ import annotations

import argparse
import datetime
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fastir._version import __version__
from fastir.cli.parser import ABOUT, ENDING, parser
from fastir.cli.terminal import Output

SHELLS = ("bash", "zsh", "fish")


def add_completion_arguments(add: Callable[..., Any]) -> None:
    add("shell", choices=SHELLS, metavar="SHELL", help="%(choices)s")


def completion_command(options: argparse.Namespace) -> Output:
    return Output(completion(parser(), options.shell))


def man_command(options: argparse.Namespace) -> Output:
    return Output(manual(parser(), ABOUT, ENDING))


def subcommands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """{subcommand: what it does, its parser}."""
    [actions] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {each.dest: (each.help or "", actions.choices[each.dest]) for each in actions._choices_actions}


def option_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]


def option_words(action: argparse.Action) -> list[str]:
    """The words that an option takes: its choices, or those that are usual."""
    return list(map(str, getattr(action, "words", action.choices) or ()))


def option_help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """The help of an action as --help shows it."""
    return parser._get_formatter()._expand_help(action) if action.help else ""


# ---- completion ----------------------------------------------------------------------------------------------------
def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """A script that completes subcommands, options and the words that they take, and else names of files."""
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell](parser)


def bash(parser: argparse.ArgumentParser) -> str:
    cases = []
    for name, (_, command) in subcommands(parser).items():
        options = option_actions(command)
        choices = "".join(
            f"            {'|'.join(action.option_strings)}) {reply(taken)}; return ;;\n"
            for action in options
            if (taken := option_words(action))
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
        f"        {reply(subcommands(parser))}; return\n"
        "    fi\n"
        f"    case ${{COMP_WORDS[1]}} in\n{''.join(cases)}    esac\n"
        "}\n"
        "complete -o bashdefault -o default -F _fastir fastir\n"
    )


def reply(words: Iterable[object]) -> str:
    """Return the bash command that offers the words that begin as the typed one."""
    return f'COMPREPLY=($(compgen -W "{" ".join(map(str, words))}" -- "$word"))'


def zsh(parser: argparse.ArgumentParser) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash(parser)}"


def fish(parser: argparse.ArgumentParser) -> str:
    lines = [
        f"complete -c fastir -f -n __fish_use_subcommand -a {name} -d {quote_single(about)}"
        for name, (about, _) in subcommands(parser).items()
    ]
    for name, (_, command) in subcommands(parser).items():
        for action in option_actions(command):
            flags = " ".join(
                f"-l {flag[2:]}" if flag[:2] == "--" else f"-s {flag[1:]}" for flag in action.option_strings
            )
            words = option_words(action)
            values = f" -x -a {quote_single(' '.join(words))}" if words else ""
            values = values or ("" if action.nargs == 0 else " -r")
            about = quote_single(option_help(command, action))
            lines.append(f"complete -c fastir -n '__fish_seen_subcommand_from {name}' {flags}{values} -d {about}")
    return "\n".join(lines) + "\n"


def quote_single(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# ---- the manual page -----------------------------------------------------------------------------------------------
def manual(parser: argparse.ArgumentParser, about: str, ending: str) -> str:
    """The page fastir(1) in roff; SOURCE_DATE_EPOCH fixes its date."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    day = datetime.date.today() if epoch is None else datetime.datetime.fromtimestamp(int(epoch), datetime.UTC).date()
    lines = [
        f'.TH FASTIR 1 "{day.isoformat()}" "fastir {__version__}" "User Commands"',
        ".SH NAME",
        roff(f"fastir - {about}"),
        ".ad l",
        ".SH SYNOPSIS",
    ]
    for _, command in subcommands(parser).values():
        lines += [".PP", roff(usage(command)).replace(",", ",\\:")]  # lists of choices may be longer than a line
    lines.append(".SH COMMANDS")
    for name, (text, command) in subcommands(parser).items():
        lines += [f".SS fastir {roff(name)}", roff(f"{text[:1].upper()}{text[1:]}."), *arguments(command)]
    return "\n".join([*lines, ".SH NOTES", ".nf", roff(ending.strip()), ".fi", ""])


def usage(parser: argparse.ArgumentParser) -> str:
    return " ".join(parser.format_usage().split()[1:])


def arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
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
