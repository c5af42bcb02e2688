"""The table of commands: each has a sentence, and examples of its own that run as they stand."""

import shlex
import shutil

import pytest
from common import EXAMPLES

from fastir.cli.commands import COMMANDS, GROUPS

RUNNABLE = [
    line
    for command in COMMANDS.values()
    for line in command.examples
    if "examples/" in line or command.name in ("metrics", "conventions", "doctor", "help", "version")
]


def test_names_differ_and_sentences_end():
    assert len(COMMANDS) == sum(map(len, GROUPS.values()))
    for command in COMMANDS.values():
        assert command.about[-1] != "." and command.text[-1:] in ("", "."), command.name
        assert (command.text != "") == (command.module != ""), command.name


def test_each_has_one_to_three_examples_of_its_own():
    for command in COMMANDS.values():
        assert 1 <= len(command.examples) <= 3, command.name
        assert all(f"fastir {command.name}" in line for line in command.examples), command.name


@pytest.mark.parametrize("line", RUNNABLE)
def test_an_example_runs_as_it_stands(call, monkeypatch, tmp_path, line):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(line)
    code, out, err = call(*words)
    assert (program, code, err) == ("fastir", 0, "")
    assert out or "-o" in words
