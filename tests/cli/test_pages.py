"""docs/metrics.md and docs/conventions.md are what cards and records say, their examples what evaluate() gives."""

import ast
import contextlib
import io
import math
import re

import pytest
from common import ROOT

import fastir
from fastir.analyses.agreement.measures import MEASURES
from fastir.cli import pages
from fastir.engine.measure import CARDS
from fastir.request import names
from fastir.request.conventions import CONVENTIONS, Convention

METRICS, PAGE = (ROOT / "docs" / f"{name}.md" for name in ("metrics", "conventions"))
IS_THERE = pytest.mark.skipif(not METRICS.is_file(), reason="needs the sources")


@IS_THERE
def test_the_reference_is_up_to_date():
    again = "python -m fastir metrics --format markdown > docs/metrics.md"
    assert METRICS.read_text("utf-8") == pages.reference(), again


@IS_THERE
def test_its_examples_run_as_they_are_written():
    text = METRICS.read_text("utf-8")
    namespace, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], namespace)
    assert f"`ndcg@4` of `qrels` and `run` is {float(printed.getvalue()):.6g}\n" in text
    examples = re.findall(r"^- Example: `(.*)` of `(.*)` and `run`(?:, with `(.*)`,)? is (.*)$", text, re.MULTILINE)
    assert len(examples) == len(fastir.metrics())
    for metric, qrels, needed, value in examples:
        needs = {needed: namespace[needed]} if needed else {}
        results = fastir.evaluate(namespace[qrels], namespace["run"], metric, queries="qrels", **needs)
        assert f"{results[metric]:.6g}" == value, metric


@IS_THERE
def test_it_tells_of_the_similarity_of_two_runs():
    section = METRICS.read_text("utf-8").partition("\n## How alike two runs are\n")[2]
    namespace = {"run": pages.RUN, "fastir": fastir}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], namespace)
    examples = dict(re.findall(r"^- Example: `(.*)` of `run` and `other` is (.*)$", section, re.MULTILINE))
    alike = fastir.similarity(namespace["run"], namespace["other"], list(examples))
    assert {name: f"{value:.6g}" for name, value in alike.items()} == examples
    for card in MEASURES.values():
        assert f"### `{card.name}{card.place()}`\n\n{card.summary[0].upper()}{card.summary[1:]}." in section


@IS_THERE
def test_every_spelling_that_it_shows_is_read():
    shown = METRICS.read_text("utf-8").partition("## Notation")[0]
    examples = re.findall(r"^\|.*\|(.*)\|$", shown, re.MULTILINE) + re.findall("^- .*$", shown, re.MULTILINE)
    spellings = [name for line in examples for name in re.findall("`(.+?)`", line)]
    assert {"rbp.95", "ndcg_cut.5,10", "AP(rel=2)@100", "ndcg_at_10", "map@5-", "official", "Rndcg"} <= set(spellings)
    for name in spellings:
        assert names.read(name)


@IS_THERE
def test_every_section_says_everything():
    sections = METRICS.read_text("utf-8").partition("\n## How alike two runs are\n")[0].split("\n### `")[1:]
    for card, section in zip(CARDS, sections, strict=True):
        assert section.startswith(f"{card.name}{card.place()}`\n")
        for words in (card.formula, card.undefined, card.range, card.source, card.differs, *card.other_names()):
            assert words in section
        for param in card.params:
            default = "..." if param.required else param.default
            assert param.name == "empty" or f"`{param.name}={default}`: {param.meaning}" in section
            assert not param.required or "; must be given" in section


# ---- conventions -----------------------------------------------------------------------------------------------------
@IS_THERE
def test_the_page_of_conventions_is_up_to_date():
    again = "python -m fastir conventions --format markdown > docs/conventions.md"
    assert PAGE.read_text("utf-8") == pages.conventions_page(), again


@IS_THERE
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_examples_of_conventions_run_as_they_are_written():
    sections = PAGE.read_text("utf-8").split("### ")[1:]
    assert len(sections) == len(pages.QUESTIONS)
    for text in sections:
        qrels, run, metric = ast.literal_eval(re.search(r"fastir\.evaluate(\(.*\))", text)[1])
        for value, tools in re.findall(r"^\| `.*` \| (.*) \| (.*) \|$", text, re.MULTILINE):
            for tool in ["fastir"] if tools.startswith("fastir and") else tools.split(", "):
                if value == "an error":
                    said = f"convention '{tool}': |duplicate document|queries='strict'|needs n_docs"
                    with pytest.raises(ValueError, match=said):
                        fastir.evaluate(qrels, run, metric, convention=tool)
                else:
                    found = fastir.evaluate(qrels, run, metric, convention=tool)[metric]
                    assert value == ("NaN" if math.isnan(found) else f"{found:.6g}"), (metric, tool)


def test_every_choice_in_which_conventions_differ_has_a_question():
    differ = {n for n in Convention.choices() if len({str(getattr(each, n)) for each in CONVENTIONS.values()}) > 1}
    differ |= {option for each in CONVENTIONS.values() for _, pairs in each.of for option, _ in pairs}
    assert differ == {question.option for question in pages.QUESTIONS}


def test_the_command_lists_every_convention(output):
    lines = output("conventions").splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(CONVENTIONS)
    assert output("conventions", "--format", "markdown") == pages.conventions_page()
