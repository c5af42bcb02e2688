"""Functions of a file of another package, without the imports of that package, which may be large."""

import __future__

import ast
import importlib.util
import pathlib

import pytest


def functions_of(package, file, names, **namespace):
    """The functions, classes and constants of these names; `namespace` is what they use. Skips without the package."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"needs {package}")
    tree = ast.parse((pathlib.Path(spec.submodule_search_locations[0]) / file).read_text("utf-8"))
    tree.body = [node for node in tree.body if names_of(node) & set(names)]
    exec(compile(tree, file, "exec", __future__.annotations.compiler_flag), namespace)
    return [namespace[name] for name in names]


def names_of(node):
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {getattr(node, "name", None)}
