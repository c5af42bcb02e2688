"""A metric is declared once: outside `fastir/engine/measure` no canonical name of a metric stands as a literal.

Who needs a certain metric imports its name from `fastir.engine.measure`; who needs a property of metrics
reads the card.
"""

import ast
import re

import pytest
from imports import PACKAGE

import fastir

CARDS = fastir.metrics()
NAMES = {card.name for card in CARDS}

# Where names of metrics are the matter: a folder, or a file.
PLACES = {
    "engine/measure": "declares them",
    "compat": "says which metric another program's function is",
    "request/conventions_table.py": "conventions of programs",
    "cli/choices.py": "what a program writes",
    "cli/doctor.py": "the self-test",
    "cli/pages.py": "what the pages begin with: metrics of each family, and the questions with their examples",
    "analyses/identify/values.py": "the words of papers, and what they mean",
    "request/habits.py": "names of other tools, and what they are here",
    "request/suggest.py": "full names and names of older tools, and what they mean",
}

# Single literals elsewhere: (file, name): the reason
LITERALS = {
    ("__init__.py", "compat"): "the package of stand-ins",
    ("plots/curves.py", "ndcg"): "a plot's default",
    ("plots/curves.py", "iprec"): "what the plot draws",
    ("spark/ranking_evaluator.py", "ndcg"): "the default that Spark's own class has",
    ("engine/columns/_arrow.pyx", "g"): "Arrow's letter for float64",
    ("engine/columns/_arrow_out.pyx", "g"): "Arrow's letter for float64",
}

# Words that are also names of columns, attributes and states. They are wrong only where somebody asks for metrics: in
# the call of one of ASKING, or in what becomes `names`.
FIELDS = {
    "num_ret": "an array of JudgedRankings, and a choice of `ideal`",
    "num_rel": "an attribute of curves",
    "judged": "an attribute, a choice of `ideal` and of `validate`",
    "unjudged": "a count of the report, and a choice of `tail`",
    "hits": "a field of search engines' answers, and a choice of `ap_norm`",
    "recall": "an axis and an attribute of curves",
    "precision": "an axis and an attribute of curves",
}
ASKING = {"Evaluator", "evaluate", "evaluate_many", "compile_settings", "requests", "parse", "several"}

# A request: the name alone, or with a cutoff or parameters behind it, which an f-string may end at.
REQUEST = re.compile(rf"({'|'.join(map(re.escape, sorted(NAMES)))})([@(].*)?", re.DOTALL)
SOURCES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".pyx", ".pxd"))


def place_of(path):
    return path.relative_to(PACKAGE).as_posix()


def name_in(text):
    """The metric that a literal asks for, or None."""
    match = REQUEST.fullmatch(text)
    return match and match[1]


def is_asked(nodes):
    """Whether a literal with these nodes around it, the module first, is a request for metrics."""
    for node in nodes:
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called in ASKING:
                return True
        if isinstance(node, ast.Assign):
            targets = [leaf for target in node.targets for leaf in ast.walk(target)]
            if any("names" in (getattr(leaf, "id", None), getattr(leaf, "attr", None)) for leaf in targets):
                return True
    return False


def literals(node, around=()):
    """(line, text, whether it is asked for) of the literals below a node, without docstrings and formats of numbers."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.lineno, node.value, is_asked(around)
        return
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not docstring and field != "format_spec":
                yield from literals(child, (*around, node))


def kernel_literals(text):
    """The same of Cython: literals of one line, behind which a comment may follow. Kernels ask for no metrics."""
    text = re.sub(r'""".*?"""', lambda doc: "\n" * doc[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        for match in re.finditer(r"#.*|(['\"])((?:(?!\1)[^\\]|\\.)*)\1", line):
            if match[1]:
                yield number, match[2], False


def names_in(path):
    """(line, metric) of the names that stand in a source."""
    text = path.read_text("utf-8")
    found = literals(ast.parse(text)) if path.suffix == ".py" else kernel_literals(text)
    for line, literal, asked in found:
        name = name_in(literal)
        if name and (asked or literal not in FIELDS):
            yield line, name


def test_no_name_of_a_metric_stands_outside_its_declaration():
    wrong, allowed = [], set()
    for path in SOURCES:
        place = place_of(path)
        if {place, place.partition("/")[0], place.rpartition("/")[0]} & PLACES.keys():
            continue
        for line, name in names_in(path):
            if (place, name) in LITERALS:
                allowed.add((place, name))
            else:
                wrong.append(f"{place}:{line}: {name}")
    assert wrong == []
    kernels = any(path.suffix == ".pyx" for path in SOURCES)
    assert allowed == {each for each in LITERALS if kernels or each[0].endswith(".py")}, "an exception nobody needs"


def test_places_are_there_and_fields_are_metrics():
    assert all((PACKAGE / place).exists() for place in PLACES)
    assert FIELDS.keys() <= NAMES


@pytest.mark.parametrize(("text", "names"), [
    ('x = "map"', ["map"]),
    ('x = {"ndcg": 1, "x": ["err@10", f"iprec@{p}"]}', ["ndcg", "err", "iprec"]),
    ('def f():\n    "map"\n    return f"{x:g}"', []),
    ('data["num_ret"], getattr(x, "recall"), "mapped", "a map"', []),
    ('Evaluator(qrels, ["num_ret", *more], k=1)\nself.names = ["recall"]', ["num_ret", "recall"]),
    ('f"precision@{k}"', ["precision"]),
])  # fmt: skip
def test_what_counts_as_a_name(tmp_path, text, names):
    path = tmp_path / "module.py"
    path.write_text(text)
    assert [name for _, name in names_in(path)] == names


def test_what_counts_as_a_name_in_a_kernel(tmp_path):
    path = tmp_path / "module.pyx"
    path.write_text('"""map,\n"map"."""\nx = "map"   # not "mrr"\ny = b"err", "num_ret"\n')
    assert list(names_in(path)) == [(3, "map"), (4, "err")]
