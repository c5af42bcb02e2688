"""install() and patched(): callers that hold the tool's module, or its class, get fastir; and the tool back after.

Also of: entry_points.
"""

import ast
import inspect
import sys
import types
from pathlib import Path

import pytest

import fastir.compat
from fastir.compat import entry_points


class Scorer:
    """What a tool's callers hold."""

    @staticmethod
    def static(run):
        return "the tool's"

    def method(self, run):
        return "the tool's"


def function(run):
    return "the tool's"


@pytest.fixture
def tool(monkeypatch):
    """A tool of two modules, and a layer for it."""
    toy = types.ModuleType("toy_tool")
    toy.Scorer, toy.function = Scorer, function
    layer = types.ModuleType("fastir.compat.toy_tool")
    layer.static = layer.function = lambda run: "fastir's"
    layer.method = lambda self, run: "fastir's"
    monkeypatch.setitem(sys.modules, "toy_tool", toy)
    monkeypatch.setitem(sys.modules, "fastir.compat.toy_tool", layer)
    monkeypatch.setitem(
        fastir.compat.PATCHES, "toy_tool", ("toy_tool:Scorer.static", "toy_tool:Scorer.method", "toy_tool:function")
    )
    return toy


def called(tool):
    return {Scorer.static(0), Scorer().static(0), Scorer().method(0), tool.function(0)}


def test_for_a_while(tool):
    before = {name: vars(Scorer)[name] for name in ("static", "method")}
    with fastir.compat.patched("toy_tool"):
        assert called(tool) == {"fastir's"}
        with fastir.compat.patched("toy_tool"):
            assert called(tool) == {"fastir's"}
        assert called(tool) == {"fastir's"}
    assert called(tool) == {"the tool's"}
    assert {name: vars(Scorer)[name] for name in before} == before


def test_a_layer_with_a_class_of_that_name_gives_its_method(tool, monkeypatch):
    layer = sys.modules["fastir.compat.toy_tool"]
    layer.Scorer = type("Scorer", (), {"method": lambda self, run: "fastir's own"})
    monkeypatch.setitem(fastir.compat.PATCHES, "toy_tool", ("toy_tool:Scorer.method",))
    with fastir.compat.patched("toy_tool"):
        assert Scorer().method(0) == "fastir's own"
    assert Scorer().method(0) == "the tool's"


def test_until_an_error(tool):
    with pytest.raises(KeyError), fastir.compat.patched("toy_tool"):
        raise KeyError
    assert called(tool) == {"the tool's"}


def test_for_good(tool):
    with fastir.compat.patched("toy_tool"):  # takes it back
        fastir.compat.install("toy_tool")
        fastir.compat.install("toy_tool")
        assert called(tool) == {"fastir's"}


def test_until_it_is_uninstalled(tool):
    before = {name: vars(Scorer)[name] for name in ("static", "method")}
    fastir.compat.install("toy-tool")
    fastir.compat.install("toy_tool")
    with fastir.compat.patched("toy_tool"):
        fastir.compat.uninstall()
        assert called(tool) == {"the tool's"}
    assert called(tool) == {"fastir's"}
    fastir.compat.uninstall("toy_tool")
    fastir.compat.uninstall("toy_tool")
    assert called(tool) == {"the tool's"}
    assert {name: vars(Scorer)[name] for name in before} == before
    with fastir.compat.patched("toy_tool"):
        fastir.compat.install("toy_tool")
    fastir.compat.uninstall()
    assert called(tool) == {"the tool's"}


@pytest.mark.parametrize(("typed", "module"), [
    ("sentence-transformers", "sentence_transformers"), ("ir-measures", "ir_measures"),
    ("LlamaIndex", "llama_index"), ("llama-index-core", "llama_index"), ("scikit-learn", "sklearn"),
    ("pytrec-eval-terrier", "pytrec_eval"), ("nothing", "nothing"),
])  # fmt: skip
def test_a_tool_has_the_name_of_its_module_or_package(typed, module):
    assert entry_points.module_name(typed) == module


def test_no_tool_is_an_error():
    with pytest.raises(ValueError, match="install needs the name of a tool, such as 'pytrec_eval'"):
        fastir.compat.install()


def test_all_or_nothing(tool, monkeypatch):
    monkeypatch.setitem(fastir.compat.PATCHES, "other", ("toy_tool:missing",))
    monkeypatch.setattr(entry_points, "version", lambda tool: "1.0")
    with pytest.raises(ImportError, match=r"other 1\.0 is installed, which has no toy_tool:missing"):
        fastir.compat.install("toy_tool", "other")
    assert called(tool) == {"the tool's"}


def test_a_tool_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(fastir.compat.PATCHES, "absent_tool", ("absent_tool:function",))
    monkeypatch.setitem(entry_points.PACKAGES, "absent_tool", "absent-tool-on-pypi")
    with pytest.raises(ImportError, match=r"No module named 'absent_tool'.*pip install absent-tool-on-pypi"):
        fastir.compat.install("absent_tool")


@pytest.mark.parametrize(
    ("version", "works"),
    [("2.9.9", False), ("2.26.5", False), ("2.26.6", True), ("2.26.10", True), ("2.27.0rc1", True), ("3.0.0", True)],
)
def test_a_tool_that_is_too_old(tool, monkeypatch, version, works):
    monkeypatch.setitem(entry_points.OLDEST_VERSIONS, "toy_tool", (2, 26, 6))
    monkeypatch.setattr(entry_points, "version", lambda tool: version)
    if works:
        with fastir.compat.patched("toy_tool"):
            assert called(tool) == {"fastir's"}
    else:
        with pytest.raises(ImportError, match=rf"toy_tool {version} is installed, but 2\.26\.6 or later is needed"):
            fastir.compat.install("toy_tool")
        assert called(tool) == {"the tool's"}


def test_a_tool_that_nothing_stands_in_for():
    with pytest.raises(ValueError, match=r"'pytrec_eval'.*got 'pytrec'"):
        fastir.compat.install("pytrec")


@pytest.mark.parametrize("name", fastir.compat.PATCHES)
def test_what_is_listed_is_there(name):
    """Every place of every tool that is installed here is fastir's inside the block, and the tool's own behind it."""
    pytest.importorskip(name)
    places = [(owner, attribute) for owner, attribute, _ in entry_points.replacements((name,))]
    assert places
    before = [inspect.getattr_static(*place) for place in places]
    with fastir.compat.patched(name):
        inside = [inspect.getattr_static(*place) for place in places]
    assert not any(ours is theirs for ours, theirs in zip(inside, before, strict=True))
    assert [inspect.getattr_static(*place) for place in places] == before


def test_every_tool_has_a_stand_in():
    """Also of those that are not installed here: a file of the stand-ins defines what each place is replaced by."""
    folder = Path(fastir.compat.__file__).parent
    for tool, places in fastir.compat.PATCHES.items():
        file = folder / f"{tool}.py" if (folder / f"{tool}.py").exists() else folder / tool / "__init__.py"
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        defined = {node.id for node in nodes if isinstance(node, ast.Name)}
        defined |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        defined |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        for place in places:
            assert place.rpartition(":")[2].rpartition(".")[2] in defined, place


def test_a_module_that_was_imported_before():
    """pytrec_eval as BEIR, MTEB and ir_measures hold it: by its module."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator
    with fastir.compat.patched("pytrec_eval"):
        assert pytrec_eval.RelevanceEvaluator is fastir.compat.pytrec_eval.RelevanceEvaluator
    assert pytrec_eval.RelevanceEvaluator is theirs


def test_ir_measures_on_top_of_it():
    """Its provider for pytrec_eval gives the same values."""
    ir_measures = pytest.importorskip("ir_measures")
    names = (
        "AP", "nDCG@10", "P(rel=2)@5", "RR", "Bpref", "IPrec@0.3", "SetF(beta=2.0)", "NumRet", "infAP",
        "AP(judged_only=True)@3",
    )  # fmt: skip
    measures = [ir_measures.parse_measure(name) for name in names]
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q3": {"d": 2}}
    run = {"q1": {"a": 1.0, "z": 1.0, "c": 0.5}, "q2": {"b": 2.0, "a": 1.0}}
    theirs = sorted(map(str, ir_measures.pytrec_eval.iter_calc(measures, qrels, run)))
    with fastir.compat.patched("pytrec_eval"):
        assert sorted(map(str, ir_measures.pytrec_eval.iter_calc(measures, qrels, run))) == theirs
    assert len(theirs) == 3 * len(measures)
