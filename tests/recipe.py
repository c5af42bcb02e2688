"""Is the recipe of CONTRIBUTING true? Follows "A new metric" in a copy of the checkout, changing nothing else.

    python tests/recipe.py                  the tests that concern every metric, some minutes
    python tests/recipe.py tests/pools      those that are named

The blocks are read from the recipe, so that its text is what is tried: the metric, its textbook twin, its example by
hand, the line of CHANGELOG, and the commands that write what is generated. Only the changed module is compiled, if the
checkout is built. The exit code is that of the tests.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from mutate import KEEP_OBJECTS, NOT_COPIED, ROOT

TESTS = (
    *("tests/measure", "tests/oracle", "tests/request", "tests/bounds", "tests/golden/test_bits.py"),
    *("tests/house/test_metric_names.py", "tests/house/test_site.py::test_only_metrics_have_typeset_formulas"),
    "tests/cli/test_reference_text.py",
)


def blocks():
    """The file of the metric, and the indented blocks: kernel and card, twin, example, line of CHANGELOG, commands."""
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    recipe = text.partition("\n## A new metric\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^ {7}.*\n(?:\n(?= {7}))*)+", recipe, re.MULTILINE)
    return [re.search("goes to `(.*)`", recipe)[1], *map(textwrap.dedent, found)]


def put(path, before, text):
    """Write text into a file before the first place that has other text, or at the end."""
    old = path.read_text("utf-8")
    at = old.index(before) if before else len(old)
    path.write_text(old[:at] + text + old[at:], "utf-8")


def follow(folder):
    """Make the changes by hand that the recipe names, and return the commands that are left."""
    place, kernel, twin, by_hand, line, commands = blocks()
    name = re.search(r"^def (\w+)\(", twin, re.MULTILINE)[1]
    oracle = folder / "tests" / "oracle"
    put(folder / place, None, f"\n\n{kernel}")
    put(oracle / "oracle.py", "METRICS = {\n", f"{twin}\n\n")
    put(oracle / "oracle.py", "    **oracle_sets.METRICS", f'    "{name}": {name},\n')
    put(oracle / "test_oracle.py", "        (Request(", textwrap.indent(by_hand, 8 * " "))
    put(folder / "CHANGELOG.md", None, line)
    return commands.replace("python ", f"{sys.executable} ").splitlines()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fastir"
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED, symlinks=True)
        (folder / "setup.cfg").write_text(KEEP_OBJECTS)
        bits = folder / "tests" / "golden" / "bits.txt"
        pinned = set(bits.read_text("utf-8").splitlines())
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        for command in [
            f"{sys.executable} setup.py -q build_ext --inplace",
            *follow(folder),
            " ".join([sys.executable, "-m pytest -q -n auto -p no:cacheprovider", *(sys.argv[1:] or TESTS)]),
        ]:
            begin = time.monotonic()
            code = subprocess.run(command, shell=True, cwd=folder, env=environment).returncode
            print(f"{time.monotonic() - begin:5.0f} s  {command.removeprefix(sys.executable).strip()}", flush=True)
            if code:
                return code
        lost = pinned - set(bits.read_text("utf-8").splitlines())
        print(*(f"changed: {line}" for line in sorted(lost)), sep="\n", end="")
        return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
