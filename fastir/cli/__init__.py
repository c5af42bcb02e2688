"""The command `fastir`: from arguments to calls of the public functions, and from their results to text.

In: the arguments of a command line. Out: text on standard output, messages and progress bars on standard error, and an
exit code. commands.py declares the commands and runs `eval`, `metrics` and `explain`; compare.py runs `compare`;
reference_text.py writes the reference of the metrics as Markdown. The public functions validate what was asked and
raise; the command turns what they raise into one line. Nothing imports this folder but ``python -m fastir``.
"""

from fastir.cli.commands import main

__all__ = ["main"]
