"""What has a name is declared once: its tables are complete, and what repeats a name for readers says the same.

A metric, a statistical test and a drop-in replacement have what the recipes of CONTRIBUTING ask for.
"""

import ast
import re
from typing import get_args

import pytest
from common import ROOT
from pages import NEEDS_PAGES

import fastir
from fastir.analyses.agreement.measures import MEASURES
from fastir.analyses.compare import options, run_pairs
from fastir.analyses.compare.records import TESTS
from fastir.analyses.fusion import _recipe
from fastir.analyses.fusion.cards import METHODS, NORMS
from fastir.cli.commands import COMMANDS, OWN
from fastir.cli.parser import Parser
from fastir.compat import PATCHES
from fastir.declared import spelling
from fastir.errors import UnknownMetricError
from fastir.inputs import formats, writers
from fastir.inputs.formats import FORMATS
from fastir.request.names import METRICS, read

TABLES = (METRICS, MEASURES, METHODS, NORMS, FORMATS, TESTS)
PAGES = {"compare.md": [TESTS], "fusion.md": [METHODS, NORMS], "tables.md": [FORMATS]}
# Where values of metrics are worked by hand, or recorded from the program that a metric is of.
WORKED = ("measure/test_*.py", "composites/test_*.py", "golden/test_peers.py", "oracle/test_oracle.py")

# Drop-in replacements whose tool's own tests do not run: the reason
NO_TESTS_OF_THE_TOOL = {
    "mlflow": "its evaluators are tried by tests/compat",
    "pyvespa": "its tests need a server",
    "ragas": "its tests of retrieval need a model",
}
FOLDERS = {"sklearn": "scikit_learn"}  # of tools that are imported by another name
NEEDS_SOURCES = pytest.mark.skipif(not (ROOT / "CHANGELOG.md").is_file(), reason="needs the sources")
by_kind = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.kind)


@by_kind
def test_no_two_cards_share_a_name(table):
    spell = table.how[2]
    names = [name for card in table.values() for name in set(map(spell, table.names(card)))]
    assert sorted(names) == sorted(table.spellings)


@by_kind
def test_a_card_is_found_by_any_spelling_and_a_slip_is_answered(table):
    for card in table.values():
        for name in table.names(card):
            assert table.find(name) is table.find(name.upper()) is table[table.canonical(name)]
        assert table.find(card.name) is card
    error = UnknownMetricError if table in (METRICS, MEASURES) else ValueError
    longest = max(table, key=len)
    with pytest.raises(error, match=f"unknown {table.kind} '{longest}x'; did you mean"):
        table.find(longest + "x")
    with pytest.raises(error, match="expected one of"):
        table.find(3)


@pytest.mark.parametrize("page", PAGES)
@NEEDS_PAGES
def test_pages_have_a_row_for_each_card(page):
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert not [row for table in PAGES[page] for row in table.rows() if row.replace("  |", " |") not in text]


def test_types_for_editors_and_the_kernel_s_words_are_those_of_the_tables():
    assert get_args(options.Test) == tuple(TESTS)
    assert (None, *NORMS) == _recipe.NORMS
    assert {card.feature for card in METHODS.values()} <= {*_recipe.FEATURES}
    assert {card.rule for card in METHODS.values()} <= {*_recipe.RULES}


@pytest.mark.parametrize(("function", "table"), [
    (fastir.fuse, METHODS), (fastir.fuse, NORMS), (fastir.compare_scores, TESTS),
    (fastir.Qrels.from_file, formats.QRELS_FORMATS), (fastir.Run.from_file, formats.RUN_FORMATS),
], ids=["methods", "norms", "tests", "formats of qrels", "formats of runs"])  # fmt: skip
def test_docstrings_name_every_choice(function, table):
    assert not [name for name in table if f'"{name}"' not in function.__doc__]


@pytest.mark.parametrize("norm", ["RRF", "rrf", "combsum", "CombSUM", "comb-sum", "reciprocal rank fusion"])
def test_python_and_the_command_take_the_same_words(norm):
    for method in (COMMANDS["fuse"], COMMANDS["tune"]):
        parsed = Parser(method).parse_args(["x", "y", "--method", "rrf" if method.name == "tune" else norm])
        assert parsed.method == ("rrf" if method.name == "tune" else METHODS.find(norm).name)
    assert {spelling(name) for name in OWN["norm"].words()} == {"none", *map(spelling, NORMS)}


# ---- what the recipes ask for --------------------------------------------------------------------------------------
def literals(path):
    """The strings of a file's code."""
    tree = ast.parse(path.read_text("utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def cards_of(text):
    try:
        return [request.card.name for request in read(text)]
    except UnknownMetricError:
        return []


@NEEDS_SOURCES
def test_every_metric_has_values_that_were_worked_by_hand():
    texts = set().union(*(literals(path) for pattern in WORKED for path in (ROOT / "tests").glob(pattern)))
    worked = {name for text in texts for name in cards_of(text)}
    assert not [card.name for card in fastir.metrics() if card.name not in worked]


@NEEDS_SOURCES
def test_every_metric_says_where_it_is_undefined_and_stands_in_the_list_of_changes():
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert not [card.name for card in fastir.metrics() if not card.undefined.strip()]
    assert not [card.name for card in fastir.metrics() if not re.search(rf"`{card.name}[`@(]", changes)]


@pytest.mark.parametrize("test", TESTS)
def test_every_statistical_test_has_its_function(test):
    assert callable(getattr(run_pairs, test))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_reader_and_writer(name):
    card = FORMATS[name]
    assert card.of and {*card.of} <= {"qrels", "runs"}
    assert not card.writer or callable(getattr(writers, card.writer))
    assert [line is not None for line in card.lines] == [
        "line_format" in card.takes and kind in card.of for kind in ("qrels", "runs")
    ]
    assert dict.fromkeys(card.suffixes, name).items() <= formats.SUFFIXES.items()


@NEEDS_SOURCES
def test_every_drop_in_replacement_runs_its_tool_s_own_tests():
    projects = {path.name for path in (ROOT / "tests" / "downstream" / "projects").iterdir()}
    without = {tool for tool in PATCHES if FOLDERS.get(tool, tool) not in projects}
    assert without == NO_TESTS_OF_THE_TOOL.keys()
