"""All metrics, in the order of the documentation: importing a family's file declares its metrics."""

import fastir._binary
import fastir._graded
import fastir._intents
import fastir._users  # noqa: F401
from fastir._metrics import cards

CARDS = cards()
