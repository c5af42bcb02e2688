"""The README's snippets, for the tests that run them and those that check their types."""

import re

from common import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page=README):
    """(language, code) of every block of code, in their order."""
    return BLOCK.findall(page.read_text("utf-8"))
