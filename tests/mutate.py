"""Do the tests notice small mistakes? Makes those of mutants.toml one at a time, and runs the tests that cover them.

    python tests/mutate.py                  all of them, half an hour
    python tests/mutate.py widths heap      those whose name, file or tests hold one of these words
    python tests/mutate.py --check          only see that every mistake can still be made
    python tests/mutate.py --all            what survives its tests is tried on the whole suite

Each mistake is made in a copy of the checkout with what was built in it, so that only the module it is in is compiled;
ccache, where it is installed, makes that faster. It is noticed if a test fails, the interpreter crashes or the tests
hang; what cannot be compiled counts for nothing. The exit code is 1 if a mistake survived.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis", ".venv", "shared", "debug", "*.o")
PATIENCE = 600  # seconds until tests count as hanging
KEEP_OBJECTS = "[build_ext]\nforce = 0\n"  # setup.py builds everything anew, as pip does; here one module changes


def mutants(words):
    """The changes that are asked for, as dicts."""
    listed = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))["mutant"]
    return [one for one in listed if not words or any(word in str(one) for word in words)]


def changed(one):
    """The text of the file with the mistake, None where the line is no longer there once."""
    text = (ROOT / one["file"]).read_text("utf-8")
    return text.replace(one["old"], one["new"]) if text.count(one["old"]) == 1 else None


def run(command, folder):
    """The exit code of a command in a copy; None if it hangs."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.run(
            [sys.executable, *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE,
        ).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def tested(folder, tests):
    """Whether the tests pass there."""
    return run(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests], folder) == 0


def outcome(one, whole_suite):
    """What became of a mistake: noticed, survived, stale or invalid."""
    text = changed(one)
    if text is None:
        return "stale"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "copy")
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED, symlinks=True)
        (folder / one["file"]).write_text(text, "utf-8")
        if one["file"].endswith((".pyx", ".pxd", ".h")):
            (folder / "setup.cfg").write_text(KEEP_OBJECTS)
            if run(["setup.py", "-q", "build_ext", "--inplace"], folder) != 0:
                return "invalid"
        if tested(folder, one["tests"]) and not (whole_suite and not tested(folder, [])):
            return "survived"
    return "noticed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of names, files or tests (default: all)")
    parser.add_argument("--all", action="store_true", help="try what survives on the whole suite")
    parser.add_argument("--check", action="store_true", help="only see that every mistake can still be made")
    options = parser.parse_args()
    chosen = mutants(options.words)
    if options.check:
        counts = {"stale": [one["name"] for one in chosen if changed(one) is None]}
    else:
        if not tested(ROOT, sorted({test for one in chosen for test in one["tests"]})):
            raise SystemExit("the tests fail without any mistake, or nothing is built")
        counts = {}
        for one in chosen:
            begin = time.monotonic()
            found = outcome(one, options.all)
            counts.setdefault(found, []).append(one["name"])
            print(f"{found:9}{time.monotonic() - begin:5.0f} s  {one['file']}: {one['name']}", flush=True)
    print(f"{len(chosen)} mistakes:", ", ".join(f"{len(names)} {found}" for found, names in counts.items()))
    for name in counts.get("stale", []):
        print(f"stale: {name}")
    return bool(counts.get("survived") or counts.get("stale"))


if __name__ == "__main__":
    sys.exit(main())
