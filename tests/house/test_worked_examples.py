"""docs/worked_examples.md is what its program writes, and has the numbers of the texts that it is about."""

import re
import runpy

import pytest
from common import ROOT

PROGRAM, PAGE = ROOT / "docs" / "worked_examples.py", ROOT / "docs" / "worked_examples.md"

pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason="needs the sources")


@pytest.fixture(scope="module")
def program():
    return runpy.run_path(str(PROGRAM))


@pytest.fixture(scope="module")
def committed():
    return PAGE.read_text("utf-8")


def test_the_page_is_up_to_date(program, committed):
    assert committed == program["page"](), "python docs/worked_examples.py > docs/worked_examples.md"


def test_no_number_of_the_prose_is_written_by_hand(program):
    prose = re.sub(r"```.*?```|\{=.*?\}|`.*?`", "", program["PAGE"], flags=re.DOTALL)
    by_hand = re.findall(r"\d+\.\d+", re.sub(r"\*[\d.]+\*", "", prose))
    assert by_hand == [] and len(re.findall(r"\*[\d.]+\*", prose)) == 5


@pytest.mark.parametrize("words", [
    "CG   12.0 12.0", "5.00 + 1.26 + 2.00 + 0.00 + 0.39 = 8.65",
    "DCG  8.648712314377457 6.478087787011559", "nDCG 0.9658622119704693 0.7234533849507802",
    "prints *0.9664* for the first; it is 0.9659", "prints *0.9694*, which is 0.9693",
    "DCG  6.5971714332568485 7.1409951840957", "a DCG of *6.64* and an nDCG of *0.93*",
    "6.861 / 8.740 = 0.785", "0.7511  ndcg_burges@6", "Their mean is 0.383.", "precision@5  0.6 0.6",
    "map          1.0 0.4777777777777777", "(0.333 + 0.500 + 0.600) / 3 = 0.478",
    "0.5676  err\n0.9220  err(max_grade=3)", "zero  0.31546487678572877\nskip  0.6309297535714575",
    "0.328  rbp(p=0.8)\n0.528  rbp(p=0.8, gains=raw)\n0.264  rbp(p=0.8, gains=scaled)",
    "0.000  bpref\n0.667  bpref(bpref_norm=R)",
])  # fmt: skip
def test_it_has_the_numbers_of_the_texts(committed, words):
    assert words in committed
