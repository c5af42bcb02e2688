"""The command from its first word to its end: exit codes, and one line for whatever goes wrong.

`--version` and `--help` import neither NumPy nor anything that evaluates.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Sequence
from typing import Any

from fastir._version import __version__
from fastir.cli import terminal
from fastir.cli.terminal import UsageError, replace_keywords
from fastir.errors import FastirError, FormatError

GC_THRESHOLD = 100_000  # objects that are made before the collector looks for some
INPUT_ERRORS = (FastirError, OSError, TypeError, ValueError, OverflowError)


def program() -> int:
    """Run the command line as a process of its own; returns the exit code.

    What is imported lives to the end of the process. To look through it for garbage takes longer than a small
    evaluation, so that the collector waits for work worth it, and finds nothing left to do when Python ends.
    """
    gc.set_threshold(GC_THRESHOLD)
    code = main()
    gc.freeze()
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options: Any = types.SimpleNamespace(parser=types.SimpleNamespace(prog="fastir"))
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        if words[:1] == ["help"]:
            words = [*words[1:2], "--help"]
        if words[:1] == ["trec_eval"]:
            return trec_eval_command(words[1:])
        if words in (["version"], ["--version"]):
            return terminal.write(f"fastir {__version__}\n")
        if sorted(words) == ["--verbose", "--version"]:
            return terminal.write(versions_text())
        from fastir.cli import parser

        if not words or words[0] in ("-h", "--help"):
            return terminal.write(parser.root_help())
        options.parser, command = parser.find_command(words[0])
        if not {"-h", "--help"} & set(words):
            from fastir.cli.arguments import spread

            words = spread(words)
        options.parser.parse_args(words[1:], options)
        from fastir.cli.runs import refuse_overwriting

        refuse_overwriting(options)
        return terminal.finish(command()(options), options)
    except SystemExit as end:
        return int(end.code or terminal.write(""))
    except KeyboardInterrupt:
        terminal.tell("error", "interrupted")
        return terminal.INTERRUPTED
    except UsageError as error:
        terminal.tell("error", f"{replace_keywords(terminal.one_line(error))}; see {options.parser.prog} --help")
        return terminal.USAGE
    except INPUT_ERRORS as error:
        about_qrels = isinstance(error, FormatError) and error.path in judgment_paths(options)
        format_option = "--qrels-format" if about_qrels else "--run-format"
        terminal.tell("error", replace_keywords(terminal.one_line(error), format_option))
        return terminal.INPUT
    except MemoryError:
        terminal.tell("error", "out of memory")
        return terminal.FAILURE
    except Exception as error:
        import traceback

        traceback.print_exc()
        terminal.tell("error", f"internal error, please report it: {type(error).__name__}: {error}")
        return terminal.FAILURE


def judgment_paths(options: Any) -> list[Any]:
    """The paths of judgments among the arguments."""
    paths = vars(options)
    return [paths.get("qrels"), paths.get("other"), *paths.get("more", ())]


def versions_text() -> str:
    from fastir.cli import doctor
    from fastir.rendering.text import align_columns

    return align_columns(doctor.versions(), 2)


def trec_eval_command(arguments: list[str]) -> int:
    """Run `fastir trec_eval`, which has options of its own; returns the exit code."""
    from fastir.compat import trec_eval

    try:
        with terminal.deferred_warnings():
            text = trec_eval.output(arguments, terminal.Progress)
        return terminal.write(text)
    except trec_eval.Refusal as refusal:
        message = replace_keywords(terminal.one_line(refusal.__cause__ or refusal))
        terminal.tell("error", message.replace("; --", "; fastir eval --"))  # the command that has these options
        return refusal.code
