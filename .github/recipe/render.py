"""Writes the recipe for conda-forge, with the digest of an sdist and HOME of setup.py.

python .github/recipe/render.py dist/fastir-0.1.0.tar.gz > meta.yaml
"""

import hashlib
import re
import sys
from pathlib import Path

RECIPE = Path(__file__).with_name("meta.yaml")


def filled(recipe, sdist):
    """The recipe's text for this sdist."""
    version = re.fullmatch(r"fastir-(.+)\.tar\.gz", sdist.name)
    if version is None or f'{{% set version = "{version[1]}" %}}' not in recipe:
        sys.exit(f"{sdist.name} is not an sdist of the recipe's version")
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    head = "{% set name"  # what the comment above it says is done then
    setup = RECIPE.parents[2].joinpath("setup.py").read_text("utf-8")
    address = re.search(r'^HOME = "(.*?)"', setup, re.MULTILINE)[1]
    filled_in = recipe.partition(head)[2].replace("of the sdist", digest).replace("of the repository", address)
    return head + filled_in


if __name__ == "__main__":
    print(filled(RECIPE.read_text("utf-8"), Path(sys.argv[1])), end="")
