"""fastir/METRICS.md is what the cards say, its examples what evaluate() gives; metric() tells of other dialects."""

import contextlib
import io
import re

import pytest
from common import ROOT

import fastir
from fastir.cli import reference_text
from fastir.concordance.measures import CARDS
from fastir.request import names

METRICS = ROOT / "fastir" / "METRICS.md"
IS_THERE = pytest.mark.skipif(not METRICS.is_file(), reason="needs the sources")


@IS_THERE
def test_the_reference_is_up_to_date():
    again = "python -m fastir metrics --markdown > fastir/METRICS.md"
    assert METRICS.read_text("utf-8") == reference_text.reference(), again


@IS_THERE
def test_its_examples_run_as_they_are_written():
    text = METRICS.read_text("utf-8")
    namespace, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], namespace)
    assert f"`ndcg@4` of `qrels` and `run` is {float(printed.getvalue()):.6g}\n" in text
    examples = re.findall(r"^- Example: `(.*)` of `(.*)` and `run` is (.*)$", text, re.MULTILINE)
    assert len(examples) == len(fastir.metrics())
    for metric, qrels, value in examples:
        results = fastir.evaluate(namespace[qrels], namespace["run"], metric, queries="qrels")
        assert f"{results[metric]:.6g}" == value, metric


@IS_THERE
def test_it_tells_of_the_similarity_of_two_runs():
    section = METRICS.read_text("utf-8").partition("\n## How alike two runs are\n")[2]
    namespace = {"run": reference_text.RUN, "fastir": fastir}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], namespace)
    examples = dict(re.findall(r"^- Example: `(.*)` of `run` and `other` is (.*)$", section, re.MULTILINE))
    alike = fastir.similarity(namespace["run"], namespace["other"], examples)
    assert {name: f"{value:.6g}" for name, value in alike.items()} == examples
    for card in CARDS.values():
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
    sections = METRICS.read_text("utf-8").split("\n## `")[1:]
    for card, section in zip(fastir.metrics(), sections, strict=True):
        assert section.startswith(f"{card.name}{card.place()}`\n")
        for words in (card.formula, card.undefined, card.range, card.source, card.differs, *card.other_names()):
            assert words in section
        for param in card.params:
            assert param.name == "empty" or f"`{param.name}={param.default}`: {param.meaning}" in section


# ---- metric ----------------------------------------------------------------------------------------------------


def lines_of(metric):
    return str(fastir.metric(metric)).splitlines()


def test_metric_says_what_the_name_means_elsewhere():
    members = [f"precision@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
    assert lines_of("P")[-1] == f"  in trec_eval    {', '.join(members)}"
    assert lines_of("rbp@95")[-1] == "  in ranx         rbp(p=0.95)"
    assert lines_of("success")[-1] == "  in trec_eval    hit_rate@1, hit_rate@5, hit_rate@10"
    assert not [line for line in lines_of("ndcg@10") + lines_of("P_5") if line.startswith("  in ")]


def test_metric_gives_the_canonical_name():
    assert lines_of("P_5")[1] == "  canonical name  precision@5"
    assert lines_of("nDCG(dcg='exp-log2')@10")[1] == "  canonical name  ndcg(gain=exp2)@10"
    assert lines_of("AP(rel=2)")[1] == "  canonical name  map-l2"


def test_metric_lists_what_a_name_stands_for():
    assert lines_of("P.10,5") == ["P.10,5: P_5, P_10", "  precision@k     share of relevant documents in the first k"]
    first, *rest = lines_of("official")
    assert first.startswith("official: num_q, num_ret, ") and first.endswith(", P_500, P_1000")
    assert len(rest) == 11
