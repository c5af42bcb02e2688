"""The command line, called in this process."""

import shutil
import sys
import time
import types
from pathlib import Path

import gen
import pytest

from fastir.cli import terminal
from fastir.evaluation.rules import EvaluationRules


@pytest.fixture
def files(tmp_path, qrels, run):
    """The two small queries as files, with a run that lacks the second."""
    return types.SimpleNamespace(
        qrels=str(gen.write_qrels(tmp_path / "qrels.txt", qrels)),
        run=str(gen.write_run(tmp_path / "run.txt", run)),
        half=str(gen.write_run(tmp_path / "half.txt", {"q1": run["q1"]})),
    )


@pytest.fixture
def copies(tmp_path):
    """A file under several names: itself, and copies with the numbers from 2 behind its stem."""

    def copied(path, number):
        paths = [tmp_path / f"{Path(path).stem}_{place}" for place in range(2, number + 1)]
        for copy in paths:
            shutil.copy(path, copy)
        return [path, *map(str, paths)]

    return copied


@pytest.fixture
def bars(monkeypatch):
    """The bars that are made: 0.3 s pass behind every run, patience is short, and tqdm notes what it is told."""
    made = []

    class Bar:
        def __init__(self, **options):
            self.options, self.seen, self.n = options, set(), 0
            made.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

        def refresh(self):
            self.seen.add(self.n)

    class Slow(EvaluationRules):
        def evaluate_one(self, *arguments):
            outcome = super().evaluate_one(*arguments)
            time.sleep(0.3)
            return outcome

    monkeypatch.setattr("fastir.evaluation.evaluator.EvaluationRules", Slow)
    monkeypatch.setattr(terminal, "BAR_AFTER_SECONDS", 0.1)
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    return made
