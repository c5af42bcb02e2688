"""Completion, the manual page and `fastir doctor`: they know all commands and options, and the programs accept them."""

import shutil
import subprocess

import pytest

import fastir
from fastir.cli import completion
from fastir.cli.parser import parsers

COMMANDS = parsers()
OPTIONS = [
    (name, option)
    for name, command in COMMANDS.items()
    for action in completion.option_actions(command)
    for option in action.option_strings
]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_scripts_name_every_option(output, shell):
    script = output("completion", shell)
    for name, option in OPTIONS:
        assert name in script
        assert (option if shell != "fish" else option.lstrip("-")) in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(("line", "words"), [
    (["fastir", "ev"], ["eval"]), (["fastir", "eval", "--form"], ["--format", "--formulas"]),
    (["fastir", "eval", "--ties", "doc"], ["doc_id_asc"]), (["fastir", "compare", "--fail"], ["--fail-if"]),
    (["fastir", "metrics", "--f"], ["--format"]), (["fastir", "eval", "-m", "ndcg_b"], ["ndcg_burges"]),
    (["fastir", "eval", "--sort", "ndcg_b"], ["ndcg_burges"]), (["fastir", "compare", "--test", "w"], ["wilcoxon"]),
    (["fastir", "compare", "--correction", "max"], ["max_t"]), (["fastir", "compare", "--interval", "b"], ["bca"]),
    (["fastir", "compare", "--effect", "glass"], ["glass"]), (["fastir", "compare", "--family", "al"], ["all"]),
])  # fmt: skip
def test_bash_completes(output, line, words):
    script = output("completion", "bash")
    quoted = " ".join(f"'{word}'" for word in line)
    script += f'COMP_WORDS=({quoted}); COMP_CWORD={len(line) - 1}; _fastir; echo "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == words and done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_its_script(output, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    subprocess.run([shell, "-n"], input=output("completion", shell), text=True, check=True, capture_output=True)


def test_the_manual_has_every_command_and_option(output, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    page = output("man")
    assert page.startswith('.TH FASTIR 1 "1970-01-01"')
    for name, option in OPTIONS:
        assert f".SS fastir {name.replace('-', chr(92) + '-')}" in page
        assert option.replace("-", "\\-") in page
    assert fastir.__version__ in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_has_nothing_to_complain_of(output):
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww"], input=output("man"), capture_output=True, text=True, check=True
    )
    assert done.stderr == "" and "exit status" in done.stdout
