"""Whether tools have newer releases than those that the conventions are of, and whether the newest ones still agree.

    python tests/conventions/newer.py                  # ask the package index, and list what is newer
    python tests/conventions/newer.py --run TOOL ...   # and compare these in environments of their own; all: --run
    python tests/conventions/newer.py --report FILE    # and write what was found as Markdown, for an issue

It fails, with 1, if a newer release gives other numbers. A tool that is no package has no newer release here.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import warnings

from fastir import FastirWarning
from fastir.conventions import CONVENTIONS

HERE = pathlib.Path(__file__).parent
NOT_PACKAGES = (
    "fastir", "trec_eval", "gdeval.pl", "quepid", "search-relevance", "elasticsearch", "opensearch",
    "LongMemEval",
)  # fmt: skip


def recorded():
    """{convention: (package, version)} of those that are the newest of a package."""
    return {
        name: (each.tool, each.version)
        for name, each in CONVENTIONS.items()
        if each.tool not in NOT_PACKAGES and "." in each.version and not each.until.startswith(each.version)
    }


def makers():
    """{convention: its makers that run a release of today}."""
    found = {}
    for path in sorted((HERE / "recorded").glob("*.json")):
        record = json.loads(path.read_text())
        if record["modules"]:
            found.setdefault(record["convention"], []).append(path.stem)
    return found


def newest(package):
    """The newest release of a package, as pip's index says; empty if it has none."""
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    words = re.match(r"\S+ \((\S+)\)", found.stdout)
    return words[1] if words else ""


def compare(package, version, names):
    """What the recorded tests say of a release: the environment has the tool, and this fastir judges its values."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(pathlib.Path(folder, "bin", "python"))
        installed = subprocess.run(
            [python, "-m", "pip", "install", "-q", f"{package}=={version}", "pandas"], check=False
        )
        if installed.returncode:
            return "it could not be installed"
        write = "import json, sys, make; json.dump({name: make.record(name) for name in sys.argv[1:]}, sys.stdout)"
        made = subprocess.run([python, "-c", write, *names], cwd=HERE, capture_output=True, text=True, check=False)
    if made.returncode:
        return f"its maker failed: {made.stderr.strip().splitlines()[-1]}"
    return differing(json.loads(made.stdout[made.stdout.index("{") :]))


def differing(records):
    """The metrics whose values are not fastir's, empty if there are none."""
    sys.path.insert(0, str(HERE.parent / "support"))
    from recorded import check

    warnings.simplefilter("ignore", FastirWarning)  # random rankings hold no judged document now and then
    wrong = []
    for name, record in records.items():
        for metric, column in record["values"].items():
            try:
                check(record, metric, column)
            except AssertionError:
                wrong.append(f"{metric} ({name})")
    return "other numbers: " + ", ".join(wrong) if wrong else ""


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", nargs="*", metavar="TOOL", help="conventions whose newer releases are compared")
    parser.add_argument("--report", metavar="FILE", help="Markdown of what was found; no file if nothing is newer")
    options = parser.parse_args(arguments)
    of_tools, lines, failed = makers(), [], False
    for name, (package, version) in recorded().items():
        found = newest(package)
        if found in ("", version):
            continue
        line = f"{name}: {package} {found}, recorded {version}"
        if options.run is not None and (not options.run or name in options.run):
            wrong = compare(package, found, of_tools[name]) if name in of_tools else "no maker; see tests/parity"
            failed |= wrong.startswith("other")
            line += f": {wrong or 'the same numbers'}"
        print(line, flush=True)
        lines.append(f"- {line}\n")
    if options.report and lines:
        pathlib.Path(options.report).write_text("Newer than the recorded releases:\n\n" + "".join(lines), "utf-8")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
