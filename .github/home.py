"""Lists what depends on the address of the public repository, which is HOME in setup.py.

    python .github/home.py                              fails while HOME is empty
    python .github/home.py https://example.org/fastir   as if it were this

To publish is then: set HOME, tag, push. Needs setuptools, Cython and PyYAML.
"""

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
)


def options(address):
    """What setup.py would tell setuptools with this address."""
    source = LINE.sub(f'HOME = "{address}"', (ROOT / "setup.py").read_text("utf-8"), count=1)
    with mock.patch("setuptools.setup") as setup, mock.patch("Cython.Build.cythonize"):
        exec(compile(source, "setup.py", "exec"), {"__name__": "__main__", "__file__": str(ROOT / "setup.py")})
    return setup.call_args.kwargs


def relative(page):
    """The targets of links and pictures that only a checkout has."""
    return [target for target in re.findall(r"\]\(([^)]*)\)", page) if not re.match(r"\w+:|#", target)]


def main(given=None):
    """Print the list; how many of its entries are not as they must be to publish."""
    address = LINE.search((ROOT / "setup.py").read_text("utf-8"))[1] if given is None else given
    made = options(address)
    print(f"HOME in setup.py: {address or 'not set'}\n\nFollows from HOME")
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
    print("\nHas no address, and needs none: CITATION.cff, .github/SECURITY.md, .github/ISSUE_TEMPLATE")
    print("\nOnce, by hand")
    for line in BY_HAND:
        print(f"  {line}")
    for environment, (file, job) in environments.items():
        print(f"  GitHub: the environment {environment} (job {job} of {file}); that of releases asks a maintainer")
    return len(left) + (not address)


if __name__ == "__main__":
    if main(*sys.argv[1:]):
        sys.exit("setup.py: HOME must be the address of the public repository before anything is published")
