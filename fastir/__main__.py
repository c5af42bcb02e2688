"""`python -m fastir` is the command `fastir`."""

import sys

from fastir.cli.main import program

sys.exit(program())
