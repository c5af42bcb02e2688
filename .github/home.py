"""Lists what depends on the address of the public repository, HOME in setup.py, and what else waits for a release.

    python .github/home.py                                    fails while something waits
    python .github/home.py https://example.org/owner/fastir   as if this were the address, and today the day
    python .github/home.py --write https://...                writes it, and the day, into the files that wait

To publish is then: write, commit, tag, push. Needs setuptools, Cython and PyYAML.
"""

import datetime
import re
import sys
from pathlib import Path
from unittest import mock

import yaml

ROOT = Path(__file__).resolve().parents[1]
LINE = re.compile(r'^HOME = "(.*?)"', re.MULTILINE)
ADDRESS_OF_A_RUN = re.compile(r"\$\{\{ *github\.(?:server_url|repository(?:_owner)?|event\.repository\.name) *\}\}")
BY_HAND = (
    "GitHub: private vulnerability reporting is on (.github/SECURITY.md)",
    "GitHub: only maintainers push tags v*; the job `everything` of tests.yml is required to merge",
    "GitHub: Pages are made by Actions",
    "OSS-Fuzz: tests/fuzz/oss-fuzz, with the address for HOME, as projects/fastir of its repository",
    "PyPI: this repository, the workflow wheels.yml and the environment pypi are the trusted publisher of fastir",
    "TestPyPI: the same with the environment testpypi; wheels.yml by hand with testpypi uploads there",
)
WAITING = {  # {file: (what waits, the pattern of what stands there until then, what is written for it)}
    "setup.py": ("HOME", r'^HOME = ""', 'HOME = "{address}"'),
    "docs/pipelines.md": ("the owner of the action", r"\bOWNER/fastir\b", "{owner}/{name}"),
    ".github/recipe/meta.yaml": ("the maintainer of the recipe, a GitHub name", r"- fastir-developers$", "- {owner}"),
    "CITATION.cff": ("date-released", r"\A((?!.*^date-released: ).*?)^license:", r"\1date-released: {date}\nlicense:"),
    "CHANGELOG.md": ("the date of the version", r"^(## [\d.]+) \(unreleased\)$", r"\1 ({date})"),
}


def options(address):
    """What setup.py would tell setuptools with this address."""
    source = LINE.sub(f'HOME = "{address}"', (ROOT / "setup.py").read_text("utf-8"), count=1)
    with mock.patch("setuptools.setup") as setup, mock.patch("Cython.Build.cythonize"):
        exec(compile(source, "setup.py", "exec"), {"__name__": "__main__", "__file__": str(ROOT / "setup.py")})
    return setup.call_args.kwargs


def filled(path, address):
    """A file's text with the address, and today's date, where they belong."""
    owner, name = ["", *address.rstrip("/").split("/")][-2:]
    _, pattern, text = WAITING[path]
    text = text.format(address=address, owner=owner, name=name, date=datetime.date.today())
    before = (ROOT / path).read_text("utf-8")
    return re.sub(pattern, text, before, flags=re.MULTILINE | re.DOTALL) if address else before


def waiting(path, text):
    return re.search(WAITING[path][1], text, re.MULTILINE | re.DOTALL) is not None


def relative(page):
    """The targets of links and pictures that only a checkout has."""
    return [target for target in re.findall(r"\]\(([^)]*)\)", page) if not re.match(r"\w+:|#", target)]


def main(given=None, write=False):
    """Print the list; how many of its entries are not as they must be to publish."""
    address = LINE.search((ROOT / "setup.py").read_text("utf-8"))[1] if given is None else given
    made = options(address)
    print(f"HOME in setup.py: {address or 'not set'}\n\nWaits for the release")
    waits = 0
    for path, (what, _, _) in WAITING.items():
        text = filled(path, address if given else "")
        waits += waiting(path, text)
        print(f"  {path}: {what}: {'waits' if waiting(path, text) else 'set'}")
        if write:
            (ROOT / path).write_text(text, "utf-8")
    print("\nFollows from HOME")
    for name, url in made["project_urls"].items():
        print(f"  link of the metadata: {name}: {url}")
    if not address:
        print("  links of the metadata: none")
    left = relative(made["long_description"])
    print(f"  description on PyPI: {len(relative(options('')['long_description']))} links, {len(left)} left relative")
    print(f"  .github/recipe: home: {address or 'not set'}")
    print("  .github/release_notes.py: a tag is " + ("published" if address else "refused"))
    print("\nFollows from where a workflow runs")
    environments = {}
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text("utf-8")
        for line in text.splitlines():
            if ADDRESS_OF_A_RUN.search(line) and "group:" not in line:
                print(f"  {path.name}: {line.strip()}")
        for name, job in yaml.safe_load(text)["jobs"].items():
            if environment := job.get("environment"):
                environments[environment if isinstance(environment, str) else environment["name"]] = (path.name, name)
    print("\nHas no address, and needs none: .github/SECURITY.md, .github/ISSUE_TEMPLATE")
    print("\nOnce, by hand")
    for line in BY_HAND:
        print(f"  {line}")
    for environment, (file, job) in environments.items():
        print(f"  GitHub: the environment {environment} (job {job} of {file}); that of releases asks a maintainer")
    return len(left) + waits


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if main(*[each for each in arguments if each != "--write"], write="--write" in arguments):
        sys.exit("something waits: HOME must be the address of the public repository before anything is published")
