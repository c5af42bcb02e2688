"""The bench's rule: every public call and every container that is read has a row of a bench, or a reason."""

import ast
import pkgutil
import re

import pytest
from common import ROOT

import fastir
import fastir.compat
from fastir.inputs.formats import FORMATS

BENCH, SHAPES = ROOT / "bench", ROOT / "fastir" / "inputs" / "shapes.py"
pytest.importorskip("resource", reason="the benches need Unix")
pytestmark = pytest.mark.skipif(not (BENCH.is_dir() and SHAPES.is_file()), reason="needs the benches")


def calls():
    """The public functions, and the methods of the classes that hold or make data."""
    import rows

    named = [(fastir, "", name) for name in fastir.__all__ if not isinstance(getattr(fastir, name), type)]
    for owner in rows.CLASSES:
        methods = [name for name in dir(getattr(fastir, owner)) if not name.startswith("_")]
        named += [(getattr(fastir, owner), f"{owner}.", name) for name in methods]
    return {prefix + name for holder, prefix, name in named if callable(getattr(holder, name))}


def containers():
    """Formats of files, protocols and collections that make a table, drop-in replacements, arrays."""
    [guarded] = (node for node in ast.parse(SHAPES.read_text("utf-8")).body if isinstance(node, ast.If))
    protocols = {node.name for node in guarded.body if isinstance(node, ast.ClassDef)}
    drop_ins = {f"compat.{each.name}" for each in pkgutil.iter_modules(fastir.compat.__path__) if each.name[0] != "_"}
    return {*FORMATS, *protocols, *drop_ins, "Mapping", "Iterable", "ndarray"}


def listed(table):
    return [name for names in table.values() for name in names.split()]


def test_every_call_has_a_row_or_a_reason():
    import entries
    import rows

    known = [*entries.ROWS, *listed(rows.CALLS), *rows.NO_CALLS]
    assert sorted(calls() - {*known}) == [], "add a row to entries.ROWS, or to rows.py where or why not"
    assert sorted({*known} - calls()) == [] and len(known) == len({*known})


def test_every_container_has_a_row_or_a_reason():
    import rows

    known = [*listed(rows.CONTAINERS), *rows.NO_CONTAINERS]
    assert sorted(containers() - {*known}) == [], "add a bench, and to rows.py where it is or why there is none"
    assert sorted({*known} - containers()) == [] and len(known) == len({*known})


def test_the_benches_make_the_calls_that_rows_says():
    import rows

    sources = {name: (BENCH / f"{name}.py").read_text("utf-8") for name in {*rows.CALLS, *rows.CONTAINERS}}
    called = {name: set(re.findall(r"\.(\w+)", source)) for name, source in sources.items()}
    wrong = [(file, name) for file, names in rows.CALLS.items() for name in names.split()
             if name.rpartition(".")[2] not in called[file]]  # fmt: skip
    tools = [(file, name) for file, names in rows.CONTAINERS.items() for name in names.split()
             if name.startswith("compat.") and name[7:] not in sources[file]]  # fmt: skip
    assert wrong == tools == []
