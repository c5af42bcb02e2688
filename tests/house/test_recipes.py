"""The recipes of CONTRIBUTING name what is there; tests/recipe.py follows them, which takes minutes."""

import ast
import builtins
import importlib
import re
import sys

import pytest
from common import NEEDS_SOURCES, ROOT

pytestmark = NEEDS_SOURCES
if not (ROOT / ".github" / "CONTRIBUTING.md").is_file():
    pytest.skip("needs CONTRIBUTING", allow_module_level=True)

sys.path.append(str(ROOT / "tests"))
import recipe  # noqa: E402

sys.path.pop()

STEPS = [
    (place, before, text)
    for title, steps, _ in recipe.RECIPES.values()
    for (place, before), text in zip(steps, recipe.blocks(title), strict=False)
]


@pytest.mark.parametrize(("place", "before"), [step[:2] for step in STEPS])
def test_a_block_has_its_place(place, before):
    assert before is None or before in (ROOT / place).read_text("utf-8")


def parsed(text):
    """A block as Python: statements, or entries of a list or a dict; no statements for words of a docstring."""
    for source in (text, f"[{text.strip().removeprefix(',')}]", f"{{{text}}}"):
        try:
            return ast.parse(source)
        except SyntaxError:
            continue
    return ast.Module([], [])


@pytest.mark.parametrize(("place", "text"), [(place, text) for place, _, text in STEPS if place.endswith(".py")])
def test_a_block_uses_names_that_exist(place, text):
    nodes = list(ast.walk(parsed(text)))
    target = ROOT / place
    known = set(re.findall(r"\w+", target.read_text("utf-8"))) if target.is_file() else set()
    known |= set(re.findall(r"\bdef (\w+)", "".join(other for each, _, other in STEPS if each == place)))
    for node in nodes:
        known |= {node.arg} if isinstance(node, ast.arg) else set()
        known |= {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {alias.asname or alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module.startswith("fastir"):
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert {name for name in used - known if not hasattr(builtins, name)} == set()
