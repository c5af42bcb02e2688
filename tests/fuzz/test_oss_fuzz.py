"""OSS-Fuzz would build every target: its script is run here, with stand-ins for what only its container has."""

import contextlib
import os
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent / "oss-fuzz"
NAMES = runpy.run_path(str(FOLDER.with_name("run.py")))["NAMES"]


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")
def test_every_target_is_built_and_no_other(tmp_path):
    commands = tmp_path / "bin"
    for folder in (commands, tmp_path / "out", tmp_path / "work", tmp_path / "src" / "fastir"):
        folder.mkdir(parents=True)
    (tmp_path / "src" / "fastir" / "tests").symlink_to(FOLDER.parents[1])
    for name, script in {
        "python3": f'if [ "$1" = -m ]; then echo "$@ $CFLAGS" >> "$OUT/log"; else "{sys.executable}" "$@"; fi',
        "compile_python_fuzzer": 'test -f "$1"; echo "$1" >> "$OUT/built"',
        "zip": 'echo "$2" >> "$OUT/corpora"',
    }.items():
        (commands / name).write_text(f"#!/bin/bash -eu\n{script}\n")
        (commands / name).chmod(0o755)
    where = {name: str(tmp_path / name.lower()) for name in ("SRC", "OUT", "WORK")}
    path = f"{commands}:{os.environ['PATH']}"
    subprocess.run([FOLDER / "build.sh"], env={**os.environ, **where, "PATH": path, "CFLAGS": "-O1"}, check=True)
    built = (tmp_path / "out" / "built").read_text().split()
    assert built == [f"fuzz_{name}.py" for name in NAMES]
    corpora = {Path(line).name for line in (tmp_path / "out" / "corpora").read_text().split()}
    assert corpora == {f"fuzz_{folder.name}_seed_corpus.zip" for folder in FOLDER.with_name("corpus").iterdir()}
    assert (tmp_path / "out" / "log").read_text().endswith("pyarrow -O1 -g\n")


def test_the_targets_of_the_script_are_all_that_there_are(tmp_path, monkeypatch):
    """And a program runs the target that it is called after."""
    pytest.importorskip("pyarrow")  # the seeds of one target are files that it writes
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    import targets

    assert set(targets.TARGETS) == set(NAMES)
    called = []
    atheris = types.SimpleNamespace(
        instrument_imports=lambda include: contextlib.nullcontext(),
        Setup=lambda arguments, target: called.append(target),
        Fuzz=lambda: None,
    )
    monkeypatch.setitem(sys.modules, "atheris", atheris)
    program = shutil.copy(FOLDER / "target.py", tmp_path / "fuzz_metric.py")
    runpy.run_path(str(program), run_name="__main__")
    assert called == [targets.TARGETS["metric"]]
