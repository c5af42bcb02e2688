"""Every option of every command changes what it writes, or is refused by its name; `option_lines` has the words."""

import pytest
from option_lines import EXCEPTED, commands, problem

from fastir.cli.commands import COMMANDS

NOTHING_CHANGES = {"--help", "--threads"}
# Commands that evaluate nothing; trec_eval has its own options, and a test of each.
OTHER_COMMANDS = {"trec_eval", "doctor", "completion", "man"}


@pytest.fixture(autouse=True)
def _needs_packages():
    for package in ("scipy", "pyarrow", "matplotlib"):
        pytest.importorskip(package)


def test_every_command_has_a_line():
    named = {command.name for command in COMMANDS.values() if command.module}
    assert named - {name.split()[0] for name in commands()} <= OTHER_COMMANDS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", commands())
def test_an_option_changes_something_or_is_refused(name):
    options = {one for one in commands()[name] if one not in NOTHING_CHANGES and (name, one) not in EXCEPTED}
    wrong = {option: problem(name, option) for option in options}
    assert {option: text for option, text in wrong.items() if text} == {}
