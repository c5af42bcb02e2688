"""The layers of the house: what a file imports, in Python or Cython, lies below it or in its own row.

Imports for type checkers alone count too: who names a type of another box must read that box to be understood.
"""

import graphlib

import pytest
from imports import PACKAGE, box_of, imported, module_of

# From the ground up. A name is a folder or a file of fastir/, or a folder of a storey; `fastir` is its __init__.
LAYERS = """
    errors checks declared _version engine.threads engine.measure
    rendering
    engine.columns
    engine.rank
    engine.join
    engine request
    stats data.results
    inputs
    data
    evaluation.drivers
    evaluation.composites evaluation.partial
    evaluation conventions
    analyses analyses.bounds analyses.check analyses.curves analyses.explain analyses.identify analyses.pools
    analyses.exposure analyses.under_judge analyses.verdicts
    analyses.compare
    analyses.agreement analyses.fusion
    plots report compat spark types
    fastir
    cli __main__
"""
ROW = {box: number for number, row in enumerate(LAYERS.strip().splitlines()) for box in row.split()}

# (module, box above it): the reason
EXCEPTIONS = {
    ("fastir.analyses.fusion.tune", "plots"): "Tuning.plot imports what it calls when it is called",
    ("fastir.types", "fastir"): "its names are those of the package",
    ("fastir.evaluation.evaluator", "analyses.explain"): "Evaluator.explain imports what it calls when it is called",
}

# Analyses are siblings: (analysis, the other that it calls): the reason
SIBLINGS = {
    ("analyses.compare", "analyses.bounds"): "whether unjudged documents could change the sign of a difference",
    ("analyses.agreement", "analyses.compare"): "swaps of leaderboards compare scores",
    ("analyses.fusion", "analyses.compare"): "tune reads segments as compare does",
}
SOURCES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".pyi", ".pyx", ".pxd"))
pytestmark = pytest.mark.skipif(not any(path.suffix == ".pyx" for path in SOURCES), reason="needs the sources")


def test_every_folder_and_file_has_its_layer():
    assert {box_of(module_of(path)) for path in SOURCES} == set(ROW)


def test_imports_go_down():
    up = [
        (path, line, target)
        for path in SOURCES
        for line, target in imported(path)
        if ROW[box_of(target)] > ROW[box_of(module_of(path))]
    ]
    allowed = {(module_of(path), box_of(target)) for path, _, target in up} & EXCEPTIONS.keys()
    above = [
        f"{path.relative_to(PACKAGE)}:{line}: {target}"
        for path, line, target in up
        if (module_of(path), box_of(target)) not in allowed
    ]
    assert not above, "imports from above"
    assert allowed == EXCEPTIONS.keys(), "an exception that nothing needs any longer"


def test_analyses_are_siblings():
    called = {(box_of(module_of(path)), box_of(target)) for path in SOURCES for _, target in imported(path)}
    both = {pair for pair in called if all(box.startswith("analyses.") for box in pair) and pair[0] != pair[1]}
    assert both == SIBLINGS.keys()


def test_the_top_of_the_package_is_short():
    assert len({path.relative_to(PACKAGE).parts[0] for path in SOURCES}) <= 21


def test_boxes_have_no_circles():
    below = {}
    for path in SOURCES:
        module = module_of(path)
        targets = {box_of(target) for _, target in imported(path) if (module, box_of(target)) not in EXCEPTIONS}
        below.setdefault(box_of(module), set()).update(targets - {box_of(module)})
    assert circle(below) == []


def circle(graph):
    """The modules of a circle in {module: what it imports}, or nothing."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_files_of_a_box_have_no_circles():
    beside = {}
    for path in SOURCES:
        module = module_of(path)
        targets = {target for _, target in imported(path) if box_of(target) == box_of(module)}
        beside.setdefault(module, set()).update(targets - {module})
    assert circle(beside) == []
