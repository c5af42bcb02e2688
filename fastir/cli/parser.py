"""The parser: one for each command, with options in groups; a command's module is imported when it is called."""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NoReturn

from fastir._version import __version__
from fastir.cli.commands import COMMANDS, Command
from fastir.cli.messages import near_option, suggestion
from fastir.cli.terminal import USAGE, terminal_width
from fastir.rendering.text import printable

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
        sub = subparsers.add_parser(
            command.name, help=command.about, description=command.text, epilog=help_ending(command), **layout
        )
        if command.module and (commands is None or command.name in commands):
            module = importlib.import_module(f"fastir.cli.{command.module}")
            name = command.name.replace("-", "_")
            sub.set_defaults(command=getattr(module, f"{name}_command"), parser=sub)
            getattr(module, f"add_{name}_arguments", lambda add: None)(grouping_add(sub))
    return root


def help_ending(command: Command) -> str:
    """Examples, and what the exit codes mean."""
    return "\n".join(["examples:", *(f"  {line}" for line in command.examples), "", f"exit status: {EXIT_STATUS}"])


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
