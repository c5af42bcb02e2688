"""No private doors: a file reads no underscore attribute that another file defines, except those listed here."""

import ast

from imports import PACKAGE

import fastir

# Attribute of ours, and the file that reads it: the reason
DOORS = {("_query", "request/custom.py"): "request lies below the judged rankings that a custom metric is called with"}
# Attributes of other libraries, which offer no public way.
FOREIGN = {
    "_SubParsersAction", "_actions", "_choices_actions", "_dummy", "_expand_help", "_get_comparison_value",
    "_get_formatter", "_getframe", "_group_actions", "_import_from_c_capsule", "_local", "_retrieval_aggregate",
    "_validate_array_like_id_data",
}  # fmt: skip
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}


def is_defined(tree):
    """The names that a file defines: functions, classes, variables, attributes that it sets, and slots."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
            names |= {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
    return names


def doors(text):
    """The underscore attributes that a file reads of other objects than its own."""
    tree = ast.parse(text)
    own = is_defined(tree) | OF_NAMED_TUPLES
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in own
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    }


def test_no_file_reads_private_attributes_of_another():
    found = {
        (attribute, path.relative_to(PACKAGE).as_posix())
        for path in PACKAGE.rglob("*.py")
        for attribute in doors(path.read_text("utf-8"))
        if attribute not in FOREIGN
    }
    assert found == DOORS.keys()
    assert len(DOORS) <= 10


def test_a_door_is_found():
    assert doors("run._offsets") == {"_offsets"}
    assert doors("self._a; cls._b; pair._replace(); kind.__name__") == set()
    assert doors("class A:\n    __slots__ = ('_a',)\nother._a") == set()


def test_users_do_not_see_what_is_inner():
    qrels, run = fastir.Qrels.from_dict({"q": {"a": 1}}), fastir.Run.from_dict({"q": {"a": 1.0}})
    for made, inner in ((qrels, "columns"), (run, "columns"), (fastir.Evaluator(qrels, "map"), "rules")):
        assert hasattr(made, inner) and inner not in dir(made)
