"""The two streams of the command: what it prints, in colour on a terminal, and its messages and progress bar."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Self

from fastir.checks import suggest_choice
from fastir.declared import Record
from fastir.errors import FastirError, FastirWarning
from fastir.rendering.text import printable, replacing


class UsageError(FastirError):
    """Arguments that mean nothing, whatever the files hold."""


NAME = r"\b(?P<name>NAMES)"
VALUES = r"'[\w-]+'(?:(?:, | or )'[\w-]+')*"  # one, or some of which one is meant


@functools.cache
def keywords() -> dict[str, str]:
    """Return {keyword: its option}, except `names`, which pandas has, too; read when there is a message."""
    from fastir.request.option_rows import NO_FLAG, every_row

    return {row.name: row.option() for row in every_row() if row.flag != NO_FLAG and row.name != "names"}


def option(keyword: str) -> str:
    """The option that sets a keyword."""
    return keywords().get(keyword) or "--" + keyword.replace("_", "-")


TABLE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"fastir\.metrics\(\)", "fastir metrics"),
    (r"\bmetrics=(?!\w)", "-m"),
    (r"fastir\.Run\.from_file\(path, rows=labels\)", "--rows LABELS"),
    (r"Qrels\.from_table and from_file have threshold=", "there is --threshold"),
    (r"\b(threshold|query_ids|rows)=(?!\w)", lambda match: option(match[1])),
    (r"are read together only by evaluate_many, as a run each", "are a run each, without --parts"),
    (r"(?<!=)'intersection' leaves", "--queries intersection leaves"),
    (r"correction must be None, got '\w+'", "it goes without --correction"),
    (r"\bclusters=\{.*?\}", "--clusters FILE"),
    (NAME + r"=\{'(\w+)': (\w+)\}", lambda match: f"{option(match[1])} {match[2]}={match[3].upper()}"),
    (NAME + rf"=({VALUES})", lambda match: f"{option(match[1])} {match[2].replace(chr(39), '')}"),
    (r"(?<!columns )" + NAME + r"=(?=[\w.])", lambda match: f"{option(match[1])} "),
    (rf"^{NAME}(?=:| must | is for )", lambda match: option(match[1])),
    (r"(?<=must be one of )None, ", ""),
)
FORMAT = r"\bformat='(\w+)'"


@functools.cache
def replacements() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """The table, compiled when there is a message."""
    names = "|".join(keywords())
    return [(re.compile(pattern.replace("NAMES", names)), replacement) for pattern, replacement in TABLE]


def replace_keywords(message: str, format_option: str = "--run-format") -> str:
    """Replace keywords in a message by options; `format_option` is the option of the file in question."""
    message = re.sub(FORMAT, rf"{format_option} \1", message)
    for pattern, replacement in replacements():
        message = pattern.sub(replacement, message)
    return message


def near_option(typed: str, options: Collection[str]) -> str:
    """Return the end of a message about an unknown option: the option that is probably meant, if one is near."""
    from fastir.request.option_rows import every_row

    word = typed.partition("=")[0].lstrip("-").replace("-", "_")
    known = next((row.option() for row in every_row() if word in row.also and row.option() in options), None)
    return f"; did you mean {known!r}?" if known else suggest_choice(word, options)


# ---- messages in the command's own words -----------------------------------------------------------------------------


OK, USAGE, INPUT, FAILURE, GATE, INTERRUPTED = 0, 1, 2, 3, 4, 130  # exit codes
# what differs between the same message of two runs: names, numbers, and the words that agree with a number
SINGULAR_PATTERN = r"'[^']*'|\d+|\b(?:quer(?:y|ies)|rankings?|counts?|holds?|is|are|was|were|an|empty|duplicates?)\b"
DEFAULT_WIDTH = 80  # columns of what is no terminal
BAR_AFTER_SECONDS = 1.0  # seconds of work before a progress bar appears
BEST_NUMBER_PATTERN = r"(?<= )\*-?\d[\d.]*"  # a number that a table marks as the best


def tell(kind: str, message: str) -> None:
    """Write one line to standard error, if that is open."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"fastir: {kind}:", printable(" ".join(message.split("\n"))), file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress_bar(runs: dict[str, Any]) -> Iterator[Callable[[Any, int], None]]:
    """A progress bar for the work of a block, which reports through the value; warnings are shown after the bar."""
    with deferred_warnings(), Progress(runs) as progress:
        yield progress.notice


@contextlib.contextmanager
def deferred_warnings() -> Iterator[None]:
    """Show the warnings of a block at its end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FastirWarning)
        try:
            yield
        finally:
            for message in summarize([replace_keywords(str(warning.message)) for warning in caught]):
                tell("warning", message)


def summarize(messages: list[str]) -> list[str]:
    """Messages, of which those that differ in names and numbers alone are one line with their number."""
    kinds: dict[str, list[str]] = {}
    for message in messages:
        kinds.setdefault(re.sub(SINGULAR_PATTERN, "", message), []).append(message)
    return [first + (f" (and so for {len(more)} more)" if more else "") for first, *more in kinds.values()]


class Progress:
    """A bar over the bytes of the runs, on a terminal, once the work has taken a second; silent anywhere else.

    It has a thread of its own, and adds up the bytes read of all runs, several of which may be read at the same time.
    """

    def __init__(self, runs: dict[str, Any]) -> None:
        from fastir.inputs.places import place_size

        self.sizes: dict[str, int] = {name: place_size(run) for name, run in runs.items()}
        self.total: int = sum(self.sizes.values())
        self.read: dict[str, int] = dict.fromkeys(runs, 0)
        import threading

        self.finished: threading.Event = threading.Event()
        self.thread: threading.Thread = threading.Thread(target=self.show, daemon=True)

    def __enter__(self) -> Self:
        from fastir.engine.threads import SERIAL

        if sys.stderr is not None and sys.stderr.isatty() and not SERIAL:
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finished.set()
        if self.thread.is_alive():
            self.thread.join()

    def notice(self, name: str, position: int) -> None:
        """Report a run's position, from any thread; the bar does not go back if a file is read a second time."""
        self.read[name] = min(max(position, self.read[name]), self.sizes[name])

    @property
    def done(self) -> int:
        return sum(self.read.values())

    def show(self) -> None:
        if self.finished.wait(BAR_AFTER_SECONDS):
            return
        with contextlib.suppress(ImportError):
            from tqdm import tqdm

            tqdm.monitor_interval = 0  # no second thread
            scale: dict[str, Any] = {"total": self.total or None, "initial": self.done, "unit": "B", "unit_scale": True}
            with tqdm(**scale, leave=False, file=sys.stderr) as bar:
                while not self.finished.wait(0.1):
                    bar.n = self.done
                    bar.refresh()


def write(text: str) -> int:
    """Write and flush standard output; returns the exit code.

    A reader that has stopped reading, as `head` does, is not an error.
    """
    try:
        if sys.stdout is None:
            raise OSError("the stream is closed")
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
        return OK
    except BrokenPipeError:
        code = OK
    except OSError as error:
        tell("error", f"cannot write to standard output: {error.strerror or error}")
        code = FAILURE
    if sys.stdout is not None:
        # otherwise the buffered text would fail once more when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__


class Output(Record):
    """The output of a command: text, why gates failed, all gates, a fault of the installation, or a code of its own."""

    text: str
    failed: Sequence[str] = ()
    gates: Sequence[object] = ()
    failure: str = ""
    code: int = OK


def finish(output: Output, options: Any) -> int:
    """Print the text or write it to the file of -o, say which gates were not passed; returns the exit code."""
    path = getattr(options, "output", None)
    if path is None:
        code = write(colour_best(output.text, getattr(options, "color", "never")))
    else:
        code = OK
        if output.text:  # else the command has written the file
            with replacing(path) as file:
                file.write(output.text.encode("utf-8", "surrogateescape"))
    for line in output.failed:
        tell("fail", line)
    if output.gates and not output.failed:
        tell("gate passed", ", ".join(map(str, output.gates)))
    return code or output.code or (FAILURE if output.failure else GATE if output.failed else OK)


def colour_best(text: str, when: str) -> str:
    """Return a table with the best numbers bold and green, if `when` or the terminal allows colour."""
    wanted = when == "always" or (when == "auto" and is_terminal() and not os.environ.get("NO_COLOR"))
    return re.sub(BEST_NUMBER_PATTERN, "\x1b[1;32m\\g<0>\x1b[0m", text) if wanted else text


def terminal_width() -> int:
    """Columns of the terminal, as shutil counts them: argparse would import it, and what unpacks files with it."""
    with contextlib.suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", 0))) > 0:
            return columns
    with contextlib.suppress(
        ValueError, OSError, AttributeError
    ):  # it is closed, or no terminal; or a browser has none
        if sys.__stdout__ is not None:
            return os.get_terminal_size(sys.__stdout__.fileno()).columns or DEFAULT_WIDTH
    return DEFAULT_WIDTH


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
