"""The notes of a release: what CHANGELOG.md says under the version of the package.

python .github/release_notes.py tag            GITHUB_REF_NAME must be v<version>, the version must have a date, and
                                               HOME in setup.py an address
python .github/release_notes.py --unreleased   a dry run: none of them is asked
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(version, changes):
    """(what stands behind the version in its head, the section under it)."""
    found = re.search(rf"^## {re.escape(version)} \((.*?)\)\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"CHANGELOG.md has no section '## {version} (date)'")
    return found[1], found[2].strip()


def check_home(setup):
    """The description that is published has relative links as long as setup.py knows no address to put before them."""
    if not re.search(r'^HOME = "https://[^"]+[^/"]"', setup, re.MULTILINE):
        sys.exit("HOME in setup.py must be the address of the public repository before anything is published")


def main():
    [version] = re.findall(r'"(.+)"', (ROOT / "fastir" / "_version.py").read_text("utf-8").splitlines()[-1])
    date, text = notes(version, (ROOT / "CHANGELOG.md").read_text("utf-8"))
    if sys.argv[1:] != ["--unreleased"]:
        if os.environ["GITHUB_REF_NAME"] != f"v{version}":
            sys.exit(f"the tag is {os.environ['GITHUB_REF_NAME']}, but the version is {version}")
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
            sys.exit(f"CHANGELOG.md has {date!r} where the date of version {version} belongs")
        check_home((ROOT / "setup.py").read_text("utf-8"))
    print(text)


if __name__ == "__main__":
    main()
