"""The suite catches what implementations got wrong: every bug of the list fails a case that it claims."""

import pathlib
import re
import runpy

import bugs
import pytest

HERE = pathlib.Path(__file__).parent
RUNNER = runpy.run_path(str(HERE / "runners" / "python" / "run.py"))
CASES = list(RUNNER["cases"](HERE))


@pytest.mark.parametrize("bug", bugs.BUGS, ids=lambda bug: bug.link)
def test_a_bug_of_the_past_is_caught(bug):
    outcomes = [bool(wrong) for _, wrong in RUNNER["run"](bug.evaluate, CASES)]
    assert any(outcomes), f"none of {len(outcomes)} cases"


@pytest.mark.parametrize("metric", bugs.RIGHT)
def test_the_right_implementation_beside_them_passes(metric):
    """So it is the bug that fails."""
    right = bugs.Bug("", "", (metric,))
    outcomes = list(RUNNER["run"](right.evaluate, CASES))
    assert len(outcomes) > 20 and not [(case["id"], wrong) for case, wrong in outcomes if wrong]


def test_there_are_twenty_bugs_with_links_of_their_own():
    links = {bug.link for bug in bugs.BUGS}
    assert len(links) == len(bugs.BUGS) >= 20
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+/(issues|pull)/\d+", link) for link in links)


def test_a_bug_is_subtle_enough_to_pass_a_case():
    """Else an empty suite would do."""
    for bug in bugs.BUGS:
        if bug.link not in ("RapidFireAI/rapidfireai/issues/261",):
            assert not all(wrong for _, wrong in RUNNER["run"](bug.evaluate, CASES)), bug.link
