"""Help explains itself: bare, by `help`, in groups, with choices once, and without NumPy."""

import re
import subprocess
import sys

import pytest
from common import EXAMPLES

from fastir.cli.commands import BY_NAME, COMMANDS, GROUPS, SHORT_FLAGS
from fastir.cli.parser import parsers
from fastir.request.option_rows import NO_FLAG, every_row

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
MODULES = [command.name for command in COMMANDS.values() if command.module]


@pytest.fixture(scope="module")
def commands():
    return parsers()


def test_the_command_alone_shows_help(call):
    assert call() == call("help") == call("--help") == call("-h")
    code, out, _ = call()
    assert code == 0 and "  eval  " in out
    assert [out.index(f"\n{title}:\n") > 0 for title in GROUPS] == [True] * 4
    assert max(map(len, out.split("\nexample:")[0].splitlines())) <= 80


@pytest.mark.parametrize("name", MODULES)
def test_the_short_help_fits_a_screen(call, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(name, "-h")
    assert (code, err) == (0, "") and out.count("\n") <= 30
    assert f"`fastir {name} --help` shows all options." in out
    assert all((SHORT_FLAGS.get(option) or BY_NAME[option].option()) in out for option in COMMANDS[name].usual.split())


def test_the_input_is_the_last_group_and_conventions_are_not_listed(call):
    for name in ("eval", "tune", "fuse"):
        out = call(name, "--help")[1]
        titles = re.findall(r"^([a-z ]+):$", out, re.MULTILINE)
        assert titles[-2:] == ["input", "examples"] and "ranx" not in out
    out = call("tune", "--help")[1]
    assert re.search(r"\nfusion:\n  --method .*\nsearch:\n  --grid ", out, re.DOTALL)
    assert out.index("--folds") < out.index("\noutput:\n")
    assert "--formulas" not in call("diff", "--help")[1]


@pytest.mark.parametrize("name", MODULES)
def test_help_of_a_command(call, name):
    code, out, err = call("help", name)
    assert (code, err) == (0, "") and call(name, "--help")[1] == out
    command = COMMANDS[name]
    assert command.text.split()[:4] == out.split("\n\n")[1].split()[:4]
    assert all(line in out for line in command.examples)
    assert out.count("\n", 0, out.index("\n\n")) < 10, "a usage is short"


def test_a_word_that_is_no_command_is_named_by_help(call):
    code, _, err = call("help", "evla")
    assert code == 1 and "there is no command 'evla'; did you mean 'eval'?" in err


def test_version_is_a_command(call):
    assert call("version") == call("--version")


@pytest.mark.parametrize("name", MODULES)
def test_choices_stand_once(commands, name):
    for action in commands[name]._actions:
        if action.choices:
            words = list(map(str, action.choices))
            shown = commands[name]._get_formatter()._expand_help(action)
            assert ", ".join(words) in shown and "{" not in str(action.metavar), action.dest


def test_every_option_of_a_row_is_one_that_a_command_has(commands):
    options = {option for each in commands.values() for action in each._actions for option in action.option_strings}
    assert {row.option() for row in every_row() if row.flag != NO_FLAG} <= options


def test_an_option_stands_in_the_same_group_everywhere(commands):
    places = {}
    for each in commands.values():
        for group in each._action_groups:
            for action in group._group_actions:
                for option in action.option_strings:
                    places.setdefault(option, set()).add(group.title)
    assert {option: titles for option, titles in places.items() if len(titles) > 1} == {}


HELPS = [[*words, flag] for words in ([], *([name] for name in MODULES)) for flag in ("-h", "--help")]


@pytest.mark.parametrize("words", [["--version"], ["help"], ["version"], [], *HELPS])
def test_numpy_is_not_imported(words):
    code = (
        "import sys; from fastir.cli import main; code = main(sys.argv[1:]);"
        "assert code == 0 and 'numpy' not in sys.modules and 'fastir.engine' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL).returncode == 0


def test_a_command_imports_its_own_module_alone():
    code = (
        "import sys; from fastir.cli import main; main(['metrics', 'map']);"
        "print(*sorted(name for name in sys.modules if name.startswith('fastir.cli.')))"
    )
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "fastir.cli.metrics" in names
    assert not re.search(r"fastir\.cli\.(eval|compare|pool|agreement)\b", " ".join(names))


def test_words_that_may_be_absent_may_stand_behind_options(output):
    expected = output("compare", QRELS, BM25, DENSE, "-m", "map")
    assert output("compare", QRELS, "-m", "map", BM25, DENSE) == expected
    assert output("compare", "-m", "map", QRELS, BM25, DENSE) == expected
    expected = output("eval", QRELS, BM25, DENSE, "-m", "map", "-q")
    assert output("eval", QRELS, "-m", "map", BM25, "-q", DENSE) == expected
    assert output("eval", QRELS, BM25, "-m", "map", DENSE, "-q") == expected


def test_the_evaluation_of_a_file_imports_what_it_needs(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1.0 tag\n")
    code = (
        "import sys, numpy; before = set(sys.modules); from fastir.cli import main; main(['eval', 'qrels', 'run']);"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    names = set(done.stdout.split())
    assert "fastir.inputs.trec" in names
    waiting = {"dataclasses", "json", "queue", "shutil", "fastir.inputs.tables", "fastir.request.conventions"}
    waiting |= {"glob"} if sys.version_info < (3, 13) else set()  # later ones import it with pathlib
    assert not waiting & names


def test_the_process_of_a_command_leaves_no_garbage_to_look_for():
    code = (
        "import gc, sys; from fastir.cli import program; sys.argv[1:] = ['version']; code = program();"
        "assert code == 0 and gc.isenabled() and gc.get_freeze_count() > 1000"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("command", ["compare", "eval"])
def test_options_stand_anywhere_among_the_files(output, command):
    words = [QRELS, BM25, DENSE]
    options = [["-m", "map"], ["--parts"], ["--rel-level", "1"], ["--ties=trec"]]
    expected = output(command, *words, *(word for option in options for word in option))
    for at in range(4):
        order = [*options[at:], *options[:at]]
        mixed = [word for file, option in zip([*words, None], order, strict=True) for word in (file, *option) if word]
        assert output(command, *mixed) == expected
    assert output(command, *words[:2], "-m", "map", words[2]) == expected
