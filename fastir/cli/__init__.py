"""The command `fastir`: from arguments to calls of the public functions, and from their results to text.

In: the arguments of a command line. Out: text on standard output or in a file, messages and progress bars on standard
error, and an exit code. main.py declares the commands and ends them; a file for each command or two runs them
(evaluating, comparing, differing, cards, doctor); arguments.py has what several of them take, runs.py the runs and
saved results that files hold, gates.py the conditions on numbers, wording.py the words of messages, terminal.py the
streams; generated.py writes completion and the manual page, reference_text.py the reference of the metrics as Markdown.
The public functions validate what was asked and raise; the command turns what they raise into one line. Nothing imports
this folder but ``python -m fastir``.
"""

from fastir.cli.main import main

__all__ = ["main"]
