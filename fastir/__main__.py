"""`python -m fastir` is the command `fastir`."""

import sys

from fastir.cli.commands import main

sys.exit(main())
