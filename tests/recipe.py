"""Are the recipes of CONTRIBUTING true? Follows them in copies of the checkout, changing nothing else.

    python tests/recipe.py                      each recipe and the tests that concern it, some minutes
    python tests/recipe.py metric               one of them: metric, format or test
    python tests/recipe.py metric tests/pools   with the tests that are named

The blocks are read from the recipe, so that its text is what is tried; RECIPES says where each goes. Blocks after these
are commands that write what is generated. Only the changed module is compiled, if the checkout is built. The exit code
is that of the tests.
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

CHANGES = ("CHANGELOG.md", None)
RECIPES = {  # name: (the section's title, where its blocks go: (file, the text that they stand before), tests)
    "metric": (
        "A new metric",
        [
            ("fastir/engine/measure/_binary.pyx", None), ("tests/oracle/oracle.py", "METRICS = {\n"),
            ("tests/oracle/oracle.py", "    **oracle_sets.METRICS"), ("tests/oracle/test_oracle.py", "    (Request("),
            CHANGES,
        ],
        [*("tests/measure", "tests/oracle", "tests/request", "tests/bounds", "tests/golden/test_bits.py"),
         *("tests/house/test_metric_names.py", "tests/house/test_declared.py"),
         *("tests/house/test_site.py::test_only_metrics_have_typeset_formulas", "tests/cli/test_pages.py")],
    ),
    "format": (
        "A new input format",
        [
            ("fastir/inputs/ntcir.py", None), ("fastir/inputs/formats.py", '), columns=("of", "summary"))'),
            ("tests/inputs/test_ntcir.py", None), ("docs/tables.md", "\nTables need `pip install"),
            ("fastir/data/qrels.py", '            and "qrels_prefs"'), CHANGES,
        ],
        [*("tests/inputs/test_ntcir.py", "tests/inputs/test_formats.py", "tests/house/test_declared.py"),
         *("tests/house/test_tests.py", "tests/cli/test_completion.py")],
    ),
    "test": (
        "A new statistical test",
        [("fastir/analyses/compare/run_pairs.py", "# ---- intervals"),
         ("fastir/analyses/compare/records.py", '), columns=("summary",))'),
         ("tests/compare/test_run_pairs.py", "PAIRED = {"),
         ("tests/compare/test_run_pairs.py", "}  # fmt: skip\nSIMULTANEOUS"),
         ("fastir/analyses/compare/options.py", "]\nCorrectionOfPairs"),
         ("fastir/analyses/compare/compare_scores.py", '        ``"bootstrap"`` (shift'),
         ("docs/compare.md", "\nP-values are corrected"), CHANGES],
        ["tests/compare", "tests/house/test_declared.py", "tests/cli/test_gates.py"],
    ),
}  # fmt: skip


def blocks(title):
    """The indented blocks of a section."""
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    recipe = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^ {7}.*\n(?:\n+(?= {7}))*)+", recipe, re.MULTILINE)
    return list(map(textwrap.dedent, found))


def put(path, before, text):
    """Write text into a file before the first place that has other text, as far to the right, or at the end."""
    old = path.read_text("utf-8") if path.exists() else ""
    at = old.index(before) if before else len(old)
    indent = len(before) - len(before.lstrip(" ")) if before else 0
    path.write_text(old[:at] + textwrap.indent(text, indent * " ") + old[at:], "utf-8")


def follow(folder, title, steps):
    """Make the changes by hand that a recipe names, and return the commands that are left."""
    texts = blocks(title)
    for (place, before), text in zip(steps, texts, strict=False):
        joint = "\n\n" if before is None and place != CHANGES[0] and (folder / place).exists() else ""
        behind = "\n\n" if before and text.startswith("def ") else ""
        put(folder / place, before, joint + (text.strip("\n") if text.startswith(",") else text) + behind)
    return "".join(texts[len(steps) :]).replace("python ", f"{sys.executable} ").splitlines()


def try_recipe(title, steps, tests):
    """Follow a recipe in a copy and run the tests; the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fastir"
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED, symlinks=True)
        (folder / "setup.cfg").write_text(KEEP_OBJECTS)
        bits = folder / "tests" / "golden" / "bits.txt"
        pinned = set(bits.read_text("utf-8").splitlines())
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        generated = follow(folder, title, steps)
        compiles = any(place.endswith(".pyx") for place, _ in steps)
        for command in [
            *([f"{sys.executable} setup.py -q build_ext --inplace"] if compiles else []),
            *generated,
            " ".join([sys.executable, "-m pytest -q -n auto -p no:cacheprovider", *tests]),
        ]:
            begin = time.monotonic()
            code = subprocess.run(command, shell=True, cwd=folder, env=environment).returncode
            print(f"{time.monotonic() - begin:5.0f} s  {command.removeprefix(sys.executable).strip()}", flush=True)
            if code:
                return code
        lost = pinned - set(bits.read_text("utf-8").splitlines())
        print(*(f"changed: {line}" for line in sorted(lost)), sep="\n", end="")
        return bool(lost)


def main():
    name, *tests = sys.argv[1:] or [None]
    for title, steps, usual in [RECIPES[name]] if name else RECIPES.values():
        print(title, flush=True)
        if code := try_recipe(title, steps, tests or usual):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
