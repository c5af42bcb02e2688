"""What most tests share: where the sources, the examples and the reference data are, and how warnings are taken."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SHARED = ROOT.parent / "shared"
NEEDS_SOURCES = pytest.mark.skipif(not (ROOT / "fastir").is_dir(), reason="needs the sources")
ABSENT = "the shared reference data is absent (expected beside the checkout, as ../shared)"

# For tests over collections that hold what fastir warns of, and that are about something else.
UNEVEN = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
