"""Builds the wheel of the last commit twice and fails unless both have the same bytes.

    python .github/same_wheel.py            prints the SHA-256 of both

Each build has a clone of its own, in folders whose names and lengths differ, at another time, with the date of the
commit as SOURCE_DATE_EPOCH. The kind of build is chosen by the variables of setup.py. Members that differ are named.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("a", "another folder/with a longer name")


def build(folder, commit, environment):
    """Build the wheel of a commit in a clone of this repository; its path."""
    checkout = folder / "checkout"
    subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)
    subprocess.run(["git", "-C", checkout, "checkout", "-q", commit], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, checkout]
    subprocess.run(command, env=environment, check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def differing(one, other):
    """The names of members whose bytes or dates differ, and of those that only one wheel has, sorted."""
    members = []
    for path in (one, other):
        with zipfile.ZipFile(path) as wheel:
            members.append({each.filename: (each.date_time, each.external_attr, each.CRC) for each in wheel.infolist()})
    return sorted(name for name in {*members[0], *members[1]} if members[0].get(name) != members[1].get(name))


def main():
    last = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%H %ct"], capture_output=True, text=True, check=True
    )
    commit, date = last.stdout.split()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": date}
    with tempfile.TemporaryDirectory() as base:
        wheels = []
        for name in FOLDERS:
            folder = Path(base, name)
            folder.mkdir(parents=True)
            wheels.append(build(folder, commit, environment))
            print(hashlib.sha256(wheels[-1].read_bytes()).hexdigest(), wheels[-1].name, flush=True)
        if wheels[0].read_bytes() != wheels[1].read_bytes():
            sys.exit("the wheels differ in " + (", ".join(differing(*wheels)) or "the order of their members"))


if __name__ == "__main__":
    main()
