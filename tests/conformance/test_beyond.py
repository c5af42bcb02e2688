"""The cases in beyond/: fastir and the textbook pass all, the program makes the files, and they keep their schema."""

import json
import pathlib
import runpy
import subprocess
import sys

import beyond_cases
import contestants_beyond
import make_cases
import pytest

import fastir
from fastir.analyses.exposure.expected_exposure import EE
from fastir.analyses.verdicts.citations import CITATION_METRICS
from fastir.analyses.verdicts.nuggets import NUGGET_METRICS

HERE = pathlib.Path(__file__).parent
RUNNER = runpy.run_path(str(HERE / "runners" / "python" / "run.py"))
CASES = list(RUNNER["cases"](HERE / "beyond"))
MADE = beyond_cases.files(make_cases.numbers, make_cases.laid_out)
MAKE = "run python tests/conformance/make_cases.py"
SCHEMA = json.loads((HERE / "beyond" / "schema.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_fastir_passes(case):
    assert RUNNER["failures"](case, contestants_beyond.evaluate(case)) == []


def test_the_textbook_passes_all():
    command = [sys.executable, HERE / "runners" / "python" / "run.py", HERE / "beyond", "beyond"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == f"python: {len(CASES)} of {len(CASES)} claimed cases passed, 0 of {len(CASES)} not claimed\n"


def test_the_files_are_what_the_program_makes():
    """But for the last bits of logarithms, which differ between systems."""
    assert MADE["schema.json"] == (HERE / "beyond" / "schema.json").read_text("utf-8"), MAKE
    made = [json.loads(line) for line in MADE["beyond.jsonl"].splitlines()]
    for case, kept in zip(made, CASES, strict=True):
        assert {**case, "expected": None} == {**kept, "expected": None}, MAKE
        values = {query: float.fromhex(value["hex"]) for query, value in case["expected"].items()}
        assert RUNNER["failures"](kept, values) == [], MAKE


def test_every_case_keeps_the_schema():
    for case in CASES:
        assert set(case) == set(SCHEMA["required"]) == set(SCHEMA["properties"])
        assert set(case["input"]) <= set(SCHEMA["properties"]["input"]["properties"])
        assert case["kind"] in SCHEMA["$defs"] and case["options"]["name"] == case["metric"]
        for value in case["expected"].values():
            assert repr(float(value["decimal"])) == repr(float.fromhex(value["hex"])), case["id"]
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_every_metric_of_what_is_evaluated_has_a_case_by_hand():
    by_hand = {case["metric"] for case in CASES if case["source"].startswith("by hand: ")}
    others = ("", "strata", "probabilities", "weights")  # which read judgments alone
    sampled = {card.name for card in fastir.metrics() if card.sampled not in others}
    sampled |= {"surfaced", "false_surface", "false_abstention", *EE}
    verdicts = {*NUGGET_METRICS, *CITATION_METRICS}
    assert by_hand >= sampled | verdicts | {"risk_coverage", "t_interval", "confidence_sequence"}
    assert {case["kind"] for case in CASES} == set(beyond_cases.WORDS) == set(beyond_cases.beyond.KINDS)
