"""The parser of a command, from its rows in commands.py, with a short help (-h) and a long one (--help).

A parser imports neither NumPy nor what evaluates; a command's module is imported when the command is called.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

from fastir.checks import suggest_choice
from fastir.cli.commands import COMMANDS, GROUPS, ROWS, SHORT_FLAGS, TITLES, Command
from fastir.cli.terminal import USAGE, UsageError, near_option, terminal_width, write
from fastir.declared import Table
from fastir.rendering.text import printable
from fastir.request.conventions_table import NAMES
from fastir.request.option_rows import Row

ABOUT = "Evaluate rankings against relevance judgments, exactly and fast."
EXIT_STATUS = (
    "exit status: 0 fine, 1 usage, 2 input, 3 output, memory or internal, 4 a gate was not passed, 130 interrupted"
)

HINT = "`fastir COMMAND -h` shows the usual options of a command, `fastir COMMAND --help` all options."


# ---- values ----------------------------------------------------------------------------------------------------------
def label(text: str) -> float:
    """A label above 0 from text: an int, if it is whole."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a number above 0")
    return int(number) if number.is_integer() else number


def label_or_text(text: str) -> float | str:
    """A label, or the text if it is no number."""
    with contextlib.suppress(ValueError):
        return label(text)
    return text


def positive_int(text: str) -> int:
    """An int from 1 up."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return int(text)


def convention_name(text: str) -> str:
    """The name of a convention: what a tool is called, perhaps with a version."""
    if text in NAMES:
        return text
    from fastir.request.conventions import check_convention

    try:
        return str(check_convention(text))
    except ValueError as error:
        unknown = f"there is no {text!r}{suggest_choice(text, NAMES) or '; `fastir conventions` lists all'}"
        versions = str(error).removeprefix("convention ")
        raise argparse.ArgumentTypeError(unknown if " must be one of " in str(error) else versions) from None


class OrderedAction(argparse.Action):
    """The last convention counts, and `conventions` has all: `explain` compares two."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        namespace.convention = values
        namespace.conventions = [*getattr(namespace, "conventions", ()), values]


SETTINGS: dict[str, dict[str, Any]] = {  # of add_argument, by what a row parses
    "str": {"type": str},
    "int": {"type": int},
    "count": {"type": positive_int},
    "float": {"type": float},
    "label": {"type": label},
    "label_or_text": {"type": label_or_text},
    "list": {"action": "append"},
    "flag": {"action": "store_true"},
    "convention": {"type": convention_name, "action": OrderedAction},
}


def add_argument(add: Callable[..., Any], row: Row, number: str | None, words: Collection[str], required: bool) -> None:
    """Add the argument of a row; a choice is one of the words, in any spelling of it."""
    settings = {"help": row.help, **SETTINGS["flag" if row.type == "bool" else row.parse]}
    if row.metavar or words:
        settings["metavar"] = row.metavar or "WORD"
    if words:
        settings |= {"choices": words, "type": spelling_reader(row, words)}
        settings["help"] = with_choices(row.help)
    if number is not None:
        add(row.name, nargs=number or None, **settings)
        return
    if "required" in settings or required:
        settings["required"] = True
    if settings.get("action") != "store_true":
        settings["default"] = row.default
    flags = (SHORT_FLAGS[row.name], f"--{row.name.replace('_', '-')}") if row.name in SHORT_FLAGS else (row.option(),)
    add(*flags, dest=row.name, **settings)


def spelling_reader(row: Row, words: Collection[str]) -> Callable[[str], str]:
    """A function that returns the word of which a text is another spelling, or the text."""

    def read(text: str) -> str:
        known = row.words() if row.choices and text not in words else ()
        if not isinstance(known, Table):
            return text
        word = known.canonical(text)
        names = [name for card in known.values() for name in known.names(card)]
        if word not in words and (near := suggest_choice(text, [*words, *names])):
            raise argparse.ArgumentTypeError(f"there is no {text!r}{near}")
        return word

    return read


def with_choices(about: str) -> str:
    """Return the help of an option with its choices before the default."""
    if "%(choices)s" in about:
        return about
    text, default, rest = about.partition(" (default")
    return f"{text}: %(choices)s{default}{rest}"


# ---- the parser of a command -----------------------------------------------------------------------------------------
class HelpAction(argparse.Action):
    """Print the short help for -h, the long one for --help."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        parser.exit(write(parser.short_help() if option == "-h" else parser.format_help()))


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that writes the value of an option once: -o, --output FILE."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        value = f" {action.metavar}" if action.option_strings and action.nargs is None else ""
        return (", ".join(action.option_strings) or str(action.metavar)) + value


class Parser(argparse.ArgumentParser):
    """The parser of a command: usage errors are one line with a hint, and have our exit code instead of 2."""

    def __init__(self, command: Command) -> None:
        super().__init__(f"fastir {command.name}", allow_abbrev=False, add_help=False)
        self.command = command
        self._positionals.title = "arguments"
        groups = {title: self.add_argument_group(title) for title in ROWS}
        for row, number, extra in command.arguments():
            group = self if number is not None else groups[TITLES[row.name]]
            add_argument(group.add_argument, row, number, **extra)
        about = "show a short help (-h), or all options (--help)"
        groups["output"].add_argument("-h", "--help", action=HelpAction, nargs=0, help=about)

    def _get_formatter(self) -> argparse.HelpFormatter:
        return Formatter(self.prog, width=terminal_width() - 2)  # argparse's own margin

    def words(self, name: str) -> Collection[str]:
        """The choices of an option."""
        return next(tuple(action.choices or ()) for action in self._actions if action.dest == name)

    def flags(self) -> list[str]:
        """All options."""
        return [flag for action in self._actions for flag in action.option_strings]

    def format_usage(self) -> str:
        """One line: the options are listed below it."""
        needed = [action for action in self._actions if action.option_strings and action.required]
        positional = [action for action in self._actions if not action.option_strings]
        words = [self.prog, "[OPTION ...]", *(f"{action.option_strings[-1]} {action.metavar}" for action in needed)]
        many = {"+": "{0} [{0} ...]", "*": "[{0} ...]"}
        many = {} if self.command.name == "diff" else many
        words += [many.get(str(action.nargs), "{0}").format(action.metavar) for action in positional]
        return f"usage: {' '.join(words)}\n"

    def help_of(self, sections: Sequence[tuple[str | None, Sequence[argparse.Action]]], ending: str) -> str:
        formatter = self._get_formatter()
        formatter.add_text(self.command.text)
        for title, actions in sections:
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text("\n".join(["examples:", *(f"  {line}" for line in self.command.examples), "", ending]))
        return f"{self.format_usage()}\n{formatter.format_help()}"

    def format_help(self) -> str:
        return self.help_of([(group.title, group._group_actions) for group in self._action_groups], EXIT_STATUS)

    def short_help(self) -> str:
        """The help of arguments and usual options, a sentence each."""
        usual = self.command.usual.split()
        by_name = {action.dest: action for action in self._actions if action.option_strings}
        positional = [action for action in self._actions if not action.option_strings]
        shown = [*positional, *(by_name[name] for name in usual)]
        for action in shown:
            about = re.sub(r": %\(choices\)s", "", str(action.help)) if action.option_strings else str(action.help)
            action.help = re.split(r"\. |; | \(kind", about)[0]
        sections = [("arguments", shown[: len(positional)]), ("options", shown[len(positional) :])]
        return self.help_of(sections, f"`{self.prog} --help` shows all options.")

    def error(self, message: str) -> NoReturn:
        message = " ".join(message.split())
        if choice := re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message):
            name, word, choices = choice.groups()
            words = re.findall(r"[^\s',]+", choices)
            near = suggest_choice(word, words) or f"; expected {', '.join(words)}"
            message = f"{name.split('/')[-1]}: there is no {word!r}{near}"
        elif value := re.match(r"argument (?:\S+/)?(\S+): (\S+: expected .*)", message):
            message = f"{value[1]} {value[2]}"
        elif unknown := re.match(r"argument (?:\S+/)?(\S+: there is no .*)", message):
            message = unknown[1]
        elif (option := re.match(r"unrecognized arguments: (\S+)", message)) and option[1][0] == "-":
            message = f"there is no option {option[1]!r}{self.near(option[1])}"
        self.exit(USAGE, f"fastir: error: {printable(message)}; see {self.prog} --help\n")

    def near(self, typed: str) -> str:
        """The end of a message about an unknown option, which may be a parameter of methods of fusion or of metrics."""
        name = typed.lstrip("-").partition("=")[0].replace("-", "_")
        if "--param" in self.flags():
            from fastir.analyses.fusion.cards import METHODS

            for param in (card.param for card in METHODS.values() if card.param is not None):
                if param.name == name:
                    return f"; did you mean '--param {name}={param.default}'?"
        near = near_option(typed, self.flags())
        if not near and "--metrics" in self.flags():
            from fastir.engine.measure import CARDS
            from fastir.request.habits import OPTIONS, WRITE_CUTOFF

            if OPTIONS.get(name) == WRITE_CUTOFF:
                return f"; {WRITE_CUTOFF}"

            metrics = (card.name for card in CARDS if any(param.name == name for param in card.params))
            near = next((f"; it stands in the metric, as in -m '{metric}({name}=...)'" for metric in metrics), "")
        return near

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; unknown ones are refused, with a suggestion."""
        options, rest = super().parse_known_args(self.options_first(args), namespace)
        if rest:
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
            action = self._option_string_actions[name]
            if not has_value and action.nargs is None:
                value = list(itertools.islice(rest, 1))
                if not value:
                    self.error(f"{name}: expected {action.metavar}")
                options += value
        return options + others


def parsers() -> dict[str, Parser]:
    """The parser of each command."""
    return {name: Parser(command) for name, command in COMMANDS.items()}


def find_command(word: str) -> tuple[Parser, Callable[[], Callable[..., Any]]]:
    """The parser of a command, and a function that imports its function."""
    command = COMMANDS.get(word)
    if command is None:
        what, words = ("option", ("--help", "--version")) if word[:1] == "-" else ("command", COMMANDS)
        raise UsageError(f"there is no {what} {word!r}{suggest_choice(word, words)}")
    function = f"{command.name.replace('-', '_')}_command"
    return Parser(command), lambda: getattr(importlib.import_module(f"fastir.cli.{command.module}"), function)


def root_help() -> str:
    """What the command does, and its commands in groups."""
    lines = ["usage: fastir COMMAND ...", "", ABOUT]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {command.name:<18}{command.about}" for command in commands)]
    example = COMMANDS["eval"].examples[0]
    lines += ["", "example:", f"  {example}", "", HINT, EXIT_STATUS]
    return "\n".join(lines) + "\n"
