"""The package is typed for its users: their programs pass `mypy --strict`, those of the pages and others.

An argument that fastir refuses when it runs is refused here as well: `type: ignore` on a line without an error is one.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from pages import PAGES, blocks, imports_of, name_of

import fastir

PACKAGES = str(Path(fastir.__file__).parents[1])
PROGRAM = """\
from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import numpy as np

import fastir
from fastir.qrels import QrelsLike
from fastir.run import RunLike, RunsLike

Ranking = dict[str, float]


def evaluated(qrels: QrelsLike, run: RunLike) -> float:
    return fastir.evaluate(qrels, run, "map")["map"]


def best(qrels: QrelsLike, runs: RunsLike) -> float:
    found = fastir.evaluate_many(qrels, runs, ["map"])
    assert_type(found["a"], fastir.Results)
    return max(results["map"] for results in found.values())


def rows() -> Iterator[tuple[str, int, float]]:
    yield "q", 1, 0.5


judged: dict[str, dict[str, int]] = {"q": {"d": 1}}
ranked: dict[str, Ranking] = {"q": {"d": 1.0}}
paths: dict[str, str] = {"a": "a.run"}
named: list[tuple[str, fastir.Run]] = [("a", fastir.Run.from_dict(ranked))]
mixed: dict[str, RunLike] = {"a": Path("a.run"), "b": ranked}
by_number: dict[int, dict[int, np.float32]] = {1: {2: np.float32(0.5)}}
by_subtopic: dict[str, dict[str, dict[str, int]]] = {"q": {"subtopic": {"d": 1}}}
columns: dict[str, list[str] | list[float]] = {"query_id": ["q"], "doc_id": ["d"], "score": [0.5]}

evaluated(judged, ranked)
evaluated({1: {2: 1}}, by_number)
evaluated(by_subtopic, "a.run")
evaluated(Path("qrels.txt"), b"a.run")
evaluated(fastir.Qrels.from_file(Path("qrels.txt")), rows())
evaluated(fastir.Qrels.from_table([("q", "d", 1)]), columns)
best(judged, paths)
best(judged, named)
best("qrels.txt", mixed)
assert_type(fastir.Evaluator(judged, "map").evaluate(ranked).per_query("map"), dict[str, float])
assert_type(fastir.evaluate(judged, ranked, "map").by_segment({"q": "all"})["all"], fastir.Results)

fastir.evaluate(judged, 3, "map")  # type: ignore[arg-type]
fastir.evaluate(judged, {"q": {"d": "high"}}, "map")  # type: ignore[arg-type]
fastir.evaluate(judged, ranked, "map", ties="random")  # type: ignore[arg-type]
fastir.evaluate(judged, ranked, "map", rel_level=0.5)  # type: ignore[arg-type]
fastir.evaluate_many(judged, [3], "map")  # type: ignore[arg-type]
fastir.evaluate_many(judged, ["a.run"], "map", names="tag")
"""


# Functions without annotations, and what strict programs must narrow first: a Figure or SubFigure, one or many Results.
LOOSE = {"docs/nightly.md", "docs/partial.md", "docs/plots.md"}
TYPED = {"matplotlib", "numpy", "pandas", "polars", "pyarrow"}  # or at least no error where they are called


def programs():
    """{name of a file: program}: the Python of each page that calls no other tool, and the one above."""
    found = {"program.py": PROGRAM}
    for page in PAGES:
        code = "\n".join(code for language, code in blocks(page) if language == "python")
        if code and name_of(page) not in LOOSE and set(imports_of(page)) <= TYPED:
            found[f"page_{page.parent.name}_{page.stem}.py"] = code
    return found


def test_programs_of_strict_users_have_no_type_error(tmp_path):
    pytest.importorskip("mypy")
    for name, code in programs().items():
        (tmp_path / name).write_text(code, "utf-8")
    installed = sysconfig.get_path("purelib") == PACKAGES
    search = {} if installed else {"MYPYPATH": PACKAGES}  # mypy does not follow the hook of an editable install
    # pandas has its types in a package of its own
    options = ["--strict", "--follow-imports=silent", "--disable-error-code=import-untyped", "--cache-dir=cache"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *programs()],
        cwd=tmp_path,
        env=os.environ | search,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
