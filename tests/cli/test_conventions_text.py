"""docs/conventions.md is what the records say, its examples what evaluate() gives; every difference has a question."""

import ast
import math
import re

import pytest
from common import ROOT

import fastir
from fastir.cli import conventions_text
from fastir.request.conventions import CONVENTIONS, Convention

PAGE = ROOT / "docs" / "conventions.md"
IS_THERE = pytest.mark.skipif(not PAGE.is_file(), reason="needs the sources")


@IS_THERE
def test_the_page_is_up_to_date():
    again = "python -m fastir conventions --format markdown > docs/conventions.md"
    assert PAGE.read_text("utf-8") == conventions_text.page(), again


@IS_THERE
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_its_examples_run_as_they_are_written():
    sections = PAGE.read_text("utf-8").split("### ")[1:]
    assert len(sections) == len(conventions_text.QUESTIONS)
    for text in sections:
        qrels, run, metric = ast.literal_eval(re.search(r"fastir\.evaluate(\(.*\))", text)[1])
        for value, tools in re.findall(r"^\| `.*` \| (.*) \| (.*) \|$", text, re.MULTILINE):
            for tool in ["fastir"] if tools.startswith("fastir and") else tools.split(", "):
                if value == "an error":
                    with pytest.raises(ValueError, match=f"convention '{tool}': |duplicate document|queries='strict'"):
                        fastir.evaluate(qrels, run, metric, convention=tool)
                else:
                    found = fastir.evaluate(qrels, run, metric, convention=tool)[metric]
                    assert value == ("NaN" if math.isnan(found) else f"{found:.6g}"), (metric, tool)


def test_every_choice_in_which_conventions_differ_has_a_question():
    differ = {
        name for name in Convention.choices() if len({str(getattr(each, name)) for each in CONVENTIONS.values()}) > 1
    }
    differ |= {option for each in CONVENTIONS.values() for _, pairs in each.of for option, _ in pairs}
    assert differ == {question.option for question in conventions_text.QUESTIONS}


def test_the_command_lists_every_convention(output):
    lines = output("conventions").splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(CONVENTIONS)
    assert output("conventions", "--format", "markdown") == conventions_text.page()
