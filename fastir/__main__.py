"""`python -m fastir` is the command `fastir`."""

import sys

from fastir.cli import main

sys.exit(main())
