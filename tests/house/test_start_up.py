"""What the first calls of a process load: modules are counted, as clocks differ; what a call does not need waits."""

import copy
import pickle
import subprocess
import sys

import pytest
from common import ROOT

from fastir.declared import Param
from fastir.inputs.places import Part

DICTS = "fastir.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'map')"
TABLES = """fastir.evaluate(
    {'query_id': ['q'], 'doc_id': ['d'], 'label': [1]}, {'query_id': ['q'], 'doc_id': ['d'], 'score': [1.0]}, 'map')"""
FILES = "fastir.evaluate('examples/qrels.txt', 'examples/bm25.run', 'map')"
COMPARE = "from fastir.cli import main; main(['compare', *EXAMPLES])"
REPORT = "from fastir.cli import main; main(['report', *EXAMPLES, '-m', 'map', '-o', sys.argv[1]])"
CALLS = {  # {statement: (modules of fastir's that it may load, what it must not load)}
    DICTS: (80, "copy dataclasses json threading fastir.rendering.cells fastir.request.conventions"),
    TABLES: (99, "copy dataclasses json threading fastir.rendering.cells fastir.request.conventions"),
    FILES: (90, "copy dataclasses json threading fastir.rendering.cells fastir.inputs.tables"),
    COMPARE: (147, "json fractions scipy fastir.spark fastir.report"),
    REPORT: (176, "scipy fastir.spark"),
}
PROGRAM = """
import sys, numpy
before = {{*sys.modules}}
EXAMPLES = ['examples/qrels.txt', 'examples/bm25.run', 'examples/dense.run']
import fastir
{}
loaded = {{name: module for name, module in sys.modules.items() if name not in before}}
slow = [
    f"slow:{{name}}.{{key}}" for name, module in loaded.items() if name.startswith("fastir")
    for key, value in vars(module).items() if getattr(value, "__module__", None) == name
    and isinstance(value, type) and hasattr(value, "_fields")
    and all(base.__name__ != "Base" for base in value.__mro__)
]
sys.stderr.write(" ".join([*loaded, *slow]))
"""


@pytest.mark.parametrize("call", CALLS)
def test_a_first_call_loads_what_it_needs(call, tmp_path):
    most, waiting = CALLS[call]
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM.format(call), str(tmp_path / "report.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    names = done.stderr.split()
    assert not {*waiting.split()} & {*names}
    assert sum(name.startswith("fastir") for name in names) <= most
    if call in (DICTS, TABLES, FILES):
        assert not [name for name in names if name.startswith("slow:")]  # a NamedTuple; a Record is made in a tenth


def test_a_record_is_a_named_tuple():
    part = Part("a", {"b": "c"})
    assert part == ("a", {"b": "c"}) == Part(place="a", partition={"b": "c"}) and part.place == part[0]
    assert pickle.loads(pickle.dumps(part)) == copy.copy(part) == part and type(copy.copy(part)) is Part
    assert repr(part) == "Part(place='a', partition={'b': 'c'})" and not hasattr(part, "__dict__")
    assert part._replace(place=2) == (2, {"b": "c"}) and Part._fields == Part.__match_args__ == ("place", "partition")
    assert part._asdict() == {"place": "a", "partition": {"b": "c"}}
    assert Param("a", 1, "b", high=2)._replace(low=1) == Param("a", 1, "b", (), 1, 2)
    for arguments, named in ((("a",), {}), (("a", {}, 1), {}), (("a", {}), {"place": 1}), ((), {"x": 1, "place": 1})):
        with pytest.raises(TypeError, match="Part"):
            Part(*arguments, **named)
    with pytest.raises(TypeError, match="no field nothing"):
        part._replace(nothing=1)
    with pytest.raises(AttributeError):
        part.place = 2
