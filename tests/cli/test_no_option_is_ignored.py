"""Every option of every command changes what it writes, or is refused by its name; `option_lines` has the words."""

import pytest
from option_lines import EXCEPTED, commands, problem

from fastir.cli.commands import COMMANDS

NOTHING_CHANGES = {"--help", "--threads"}
OPTIONS = [(name, option) for name, options in commands().items() for option in options]
# Commands that evaluate nothing; trec_eval has its own options, and a test of each.
OTHER_COMMANDS = {"trec_eval", "doctor", "completion", "man"}


@pytest.fixture(autouse=True)
def _needs_packages():
    for package in ("scipy", "pyarrow", "matplotlib"):
        pytest.importorskip(package)


def test_every_command_has_a_line():
    named = {command.name for command in COMMANDS if command.module}
    assert named - {name.split()[0] for name in commands()} <= OTHER_COMMANDS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "option"), [pair for pair in OPTIONS if pair[1] not in NOTHING_CHANGES])
def test_an_option_changes_something_or_is_refused(name, option):
    if (name, option) not in EXCEPTED:
        assert problem(name, option) == ""
