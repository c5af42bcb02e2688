"""The subcommand `fastir doctor`: what a report of a fault must say, and whether this installation computes right.

`fastir --version --verbose` says the first half alone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import math
import platform
import sys

import fastir
from fastir.cli.terminal import Output
from fastir.rendering.text import align_columns
from fastir.request.conventions import CONVENTIONS

PACKAGES = ("numpy", "scipy", "pyarrow", "pandas", "polars", "matplotlib", "tqdm")
QRELS = {"q1": {"a": 3, "b": 2, "c": 0}, "q2": {"d": 1}}
RUN = {"q1": {"x": 4.0, "a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"y": 2.0, "d": 1.0}}
# the same values by their definitions, with nothing of fastir's
EXPECTED_DCG = 3 / math.log2(3) + 2 / math.log2(5)
EXPECTED = {
    "ndcg": (EXPECTED_DCG / (3 + 2 / math.log2(3)) + 1 / math.log2(3)) / 2,
    "map": ((1 / 2 + 2 / 4) / 2 + 1 / 2) / 2,
    "mrr": 0.5,
}


def doctor_command(options: argparse.Namespace) -> Output:
    wrong = wrong_values()
    rows = [*versions(), ["self-test", f"{len(EXPECTED)} metrics in {len(shapes())} shapes: " + (wrong or "right")]]
    return Output(align_columns(rows, 2), failure=wrong)


def versions() -> list[list[str]]:
    """The parts of fastir here, and the packages that it works with: [name, value]."""
    return [
        ["fastir", fastir.__version__],
        ["python", f"{platform.python_implementation()} {platform.python_version()}"],
        ["system", platform.platform()],
        ["threads without the GIL", "no" if getattr(sys, "_is_gil_enabled", lambda: True)() else "yes"],
        *(
            [name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)]
            for name, value in fastir.show_config().items()
            if name != "version"
        ),
        *([name, installed_version(name)] for name in PACKAGES),
        *(["convention", text] for text in recorded_tools()),
    ]


def recorded_tools() -> list[str]:
    """Return a text for each recorded tool: its release, and the installed release if it differs."""
    texts = []
    for name, record in CONVENTIONS.items():
        here = "not installed" if record.until else installed_version(record.tool)
        other = here not in ("not installed", record.version) and name != "fastir"
        texts.append(f"{name}: {record.release}{f' (installed: {here})' if other else ''}")
    return texts


def installed_version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def shapes() -> list[tuple[str, object, object]]:
    """(name, qrels, run) for several shapes of the same judgments and rankings."""
    rows = [
        [(query, doc, number) for query, docs in side.items() for doc, number in docs.items()] for side in (QRELS, RUN)
    ]
    held = fastir.Qrels.from_dict(QRELS), fastir.Run.from_dict(RUN)
    return [("dict", QRELS, RUN), ("table", rows[0], rows[1]), ("held", *held)]


def wrong_values() -> str:
    """What differs from the definitions by more than rounding; empty if nothing does."""
    for shape, qrels, run in shapes():
        for n_threads in (1, 2):
            results = fastir.evaluate(qrels, run, list(EXPECTED), n_threads=n_threads)  # type: ignore[arg-type]
            for name, value in EXPECTED.items():
                if not math.isclose(results[name], value, rel_tol=1e-15):
                    return (
                        f"WRONG: {name} of a {shape} with {n_threads} threads is {results[name]!r}, expected {value!r}"
                    )
    return ""
