"""The command `fastir`: from arguments to calls of the public functions, and from their results to text.

In: the arguments of a command line. Out: text on standard output or in a file, messages and progress bars on standard
error, and an exit code.

main          from the first word to the end: exit codes, and one line for whatever goes wrong; program is the process
commands      the commands and their arguments, as data; choices has the words that options take
parser        the parser of a command, which makes the short help, the long help and errors of these
eval compare diff explain doctor    a command each; compare has report, too
single_run    check and identify
judged        judged rankings as the runs of eval
pool          pool, contributions, leave-one-out, to-judge and merge-qrels
agreement     agreement, rank-correlation and similarity
metrics       metrics and conventions; their pages in Markdown by pages
completion    completion and man, from the parser
arguments     options of several commands, from words to what the functions take
json_object   eval --json, of which schemas.json has both schemas
runs          the runs and saved results that files hold
gates         conditions on numbers, --fail-under and --fail-if
terminal      standard output, standard error, the progress bar, and messages in the words of the command

The public functions validate their arguments and raise; the command turns each exception into one line. Nothing imports
this folder but ``python -m fastir``.
"""

from fastir.cli.main import main, program

__all__ = ["main", "program"]
