"""The runners: in five languages, at most 100 lines each, and their textbook implementations pass what they claim."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import release

HERE = pathlib.Path(__file__).parent
RUNNERS = HERE / "runners"
# Of each language the programs that it needs, and the commands; {folder} is for what they build, {cases} has the
# line form.
LANGUAGES = {
    "python": ((), [[sys.executable, "python/run.py", HERE]]),
    "javascript": (("node",), [["node", "javascript/run.js", HERE]]),
    "go": (("go",), [["go", "run", "go/run.go", "go/textbook.go", "{cases}"]]),
    "rust": (
        ("rustc",),
        [
            ["rustc", "-O", "--edition", "2021", "-o", "{folder}/run.exe", "rust/run.rs"],
            ["{folder}/run.exe", "{cases}"],
        ],
    ),
    "java": (
        ("javac", "java"),
        [
            ["javac", "-d", "{folder}", "java/Run.java", "java/Textbook.java"],
            ["java", "-cp", "{folder}", "Run", "{cases}"],
        ],
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_textbook_implementation_passes_all_that_it_claims(language, tmp_path):
    needed, commands = LANGUAGES[language]
    for program in needed:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    (tmp_path / "cases").mkdir()
    for name, text in release.line_forms().items():
        (tmp_path / "cases" / name).write_text(text, "utf-8")
    for command in commands:
        words = [str(word).format(folder=tmp_path, cases=tmp_path / "cases") for word in command]
        done = subprocess.run(words, cwd=RUNNERS, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    passed, claimed, others, total = map(int, re.findall(r"\d+", done.stdout))
    assert done.stdout.startswith(f"{language}: ")
    assert passed == claimed == total - others and claimed >= 1500


def test_a_runner_has_at_most_100_lines():
    runners = [path for path in RUNNERS.glob("*/*") if path.stem.lower() == "run"]
    assert {path.parent.name for path in runners} == set(LANGUAGES)
    for path in runners:
        assert len(path.read_text("utf-8").splitlines()) <= 100, path.name


def test_a_runner_says_what_fails(tmp_path):
    case = (HERE / "haystack.jsonl").read_text("utf-8").splitlines()[0]
    wrong = re.sub(r'"all":\{"decimal":"[^"]*","hex":"[^"]*"', '"all":{"decimal":"0.25","hex":"0x1p-2"', case)
    (tmp_path / "one.jsonl").write_text(wrong, "utf-8")
    command = [sys.executable, RUNNERS / "python" / "run.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "all: 1.0, expected 0.25" in done.stdout
    assert done.stdout.endswith("python: 0 of 1 claimed cases passed, 0 of 1 not claimed\n")
