"""Do the tests notice small mistakes? Makes those of mutants.toml one at a time, and runs the tests that cover them.

    python tests/mutate.py                  all of them, an hour or two
    python tests/mutate.py widths heap      those whose name, file or tests hold one of these words
    python tests/mutate.py --check          only see that every mistake can still be made
    python tests/mutate.py --all            what survives its tests is tried on the whole suite

Everything happens in one copy of the checkout with what was built in it, so the checkout is never changed, and only the
module with the mistake is compiled; ccache, where it is installed, makes that faster. What becomes of a mistake:

    noticed     a test failed, the interpreter crashed or the tests hung, where they passed without the mistake
    survived    the tests passed
    stale       the line is no longer there, or more than once
    invalid     it cannot be compiled
    untested    its tests fail without any mistake, are all skipped, or are not there

The exit code is 0 if all were noticed.
"""

import argparse
import contextlib
import os
import shutil
import signal
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
    rows = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))["mutants"]
    listed = [dict(zip(("name", "file", "tests", "old", "new"), row, strict=True)) for row in rows]
    return [one for one in listed if not words or any(word in str(one) for word in words)]


def change(one, folder=ROOT):
    """The text of the file with the mistake, None where the line is no longer there once."""
    path = folder / one["file"]
    text = path.read_text("utf-8") if path.exists() else ""
    return text.replace(one["old"], one["new"]) if text.count(one["old"]) == 1 else None


def run(command, folder):
    """The exit code of a command in the copy and the last line that it wrote; None for the code if it hangs."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [sys.executable, *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        text, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, text.strip().rpartition("\n")[2]
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # what the tests started, too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_tests(folder, tests):
    """The exit code of the tests and what pytest says of them; 0 only if some of them ran."""
    code, said = run(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests], folder)
    return (code, said) if code or " passed" in said else (5, said)


class Copy:
    """A copy of the checkout in which one mistake at a time is made, and another one from which it is mended."""

    def __init__(self, folder):
        self.right, self.folder = folder / "right", folder / "copy"
        self.passing = {}  # by test: whether it passes without a mistake
        shutil.copytree(ROOT, self.right, ignore=NOT_COPIED, symlinks=True)
        (self.right / "setup.cfg").write_text(KEEP_OBJECTS)
        shutil.copytree(self.right, self.folder, symlinks=True)

    def mend(self, since):
        """Bring back all files that were written since a time, sources and what was made of them."""
        for path in [*self.folder.rglob("*")]:
            if path.is_file() and path.stat().st_mtime >= since:
                right = self.right / path.relative_to(self.folder)
                path.unlink()
                if right.exists():
                    shutil.copy2(right, path)

    def sound(self, tests):
        """Whether tests pass without a mistake."""
        for test in tests:
            if test not in self.passing:
                self.passing[test] = run_tests(self.folder, [test])[0] == 0
        return all(self.passing[test] for test in tests)

    def outcome(self, one, whole_suite):
        """What became of a mistake."""
        text = change(one, self.right)
        if text is None:
            return "stale"
        if not self.sound(one["tests"]):
            return "untested"
        begin = time.time()
        try:
            (self.folder / one["file"]).write_text(text, "utf-8")
            compiled = one["file"].endswith((".pyx", ".pxd", ".h"))
            if compiled and run(["setup.py", "-q", "build_ext", "--inplace"], self.folder)[0] != 0:
                return "invalid"
            passed = run_tests(self.folder, one["tests"])[0] == 0 and not (
                whole_suite and run_tests(self.folder, [])[0]
            )
            return "survived" if passed else "noticed"
        finally:
            self.mend(begin - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of names, files or tests (default: all)")
    parser.add_argument("--all", action="store_true", help="try what survives on the whole suite")
    parser.add_argument("--check", action="store_true", help="only see that every mistake can still be made")
    options = parser.parse_args()
    chosen = mutants(options.words)
    found = {"stale": [one["name"] for one in chosen if change(one) is None]} if options.check else {}
    if not options.check:
        with tempfile.TemporaryDirectory() as name:
            copy = Copy(Path(name))
            for one in chosen:
                begin = time.monotonic()
                what = copy.outcome(one, options.all)
                found.setdefault(what, []).append(one["name"])
                print(f"{what:9}{time.monotonic() - begin:5.0f} s  {one['file']}: {one['name']}", flush=True)
    print(f"{len(chosen)} mistakes:", ", ".join(f"{len(names)} {what}" for what, names in found.items() if names))
    for what in ("survived", "stale", "invalid", "untested"):
        for name in found.get(what, []):
            print(f"{what}: {name}")
    return any(names for what, names in found.items() if what != "noticed")


if __name__ == "__main__":
    sys.exit(main())
