"""The pages that people read: the README and docs/, their blocks of code, and the one way in which tests run them."""

import ast
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys

import pytest
from common import EXAMPLES, ROOT

README = ROOT / "README.md"
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Programs write these, and tests of their own say that they are up to date.
GENERATED = {
    *("api_table.md", "conformance.md", "conventions.md", "exactness.md", "exactness_values.md"),
    *("speed.md", "speed_figures.md", "time_to_answer.md"),
    *("metrics.md", "worked_examples.md"),
}
PAGES = [
    page
    for page in (README, DOCS / "llms.txt", *sorted(DOCS.rglob("*.md")))
    if page.is_file() and page.name not in GENERATED
]
NEEDS_PAGES = pytest.mark.skipif(not (DOCS / "index.md").is_file(), reason="needs the pages of docs/")
INSTALLS = re.compile(r"^(pip|python -m pip|pytest|git) ")


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page=README):
    """(language, code) of every block of code, in their order."""
    return BLOCK.findall(page.read_text("utf-8"))


def sections(page):
    """{head: [(language, code)]} of a page; what stands above the first head has none."""
    first, *others = page.read_text("utf-8").split("\n## ")
    return {"": BLOCK.findall(first), **{part.partition("\n")[0]: BLOCK.findall(part) for part in others}}


def imports_of(page):
    """The packages that the Python of a page imports, in their order."""
    code = "\n".join(code for language, code in blocks(page) if language == "python")
    found = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name.partition(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            found[node.module.partition(".")[0]] = None
    return [name for name in found if name not in sys.stdlib_module_names and name != "fastir"]


def run_page(page, folder, monkeypatch, section=None):
    """Run the blocks of a page or of one section in their order, in a folder with the examples.

    A block of text is what the one before it printed. Of a workflow (yaml) the steps run. Returns the names that its
    Python has made.
    """
    for needed in imports_of(page) if section is None else ():
        pytest.importorskip(needed)
    shutil.copytree(EXAMPLES, folder / "examples")
    monkeypatch.chdir(folder)
    names, printed = {"__name__": "page"}, ""
    for language, code in blocks(page) if section is None else sections(page)[section]:
        if language == "text":
            assert printed == code, f"{name_of(page)} shows\n{code}\nbut this is printed:\n{printed}"
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, name_of(page), "exec"), names)
            printed = out.getvalue()
        elif language == "bash":
            printed = shell(code)
        elif language == "yaml":
            for command in steps(code):
                printed = shell(command)
        else:
            assert language in ("json", "tex"), f"{name_of(page)}: nothing runs a block of {language}"
    return names


def shell(script):
    """What a script of bash prints, errors included; commands that install or test fastir itself are left out.

    A line with a gate (--fail-under and the like, or `fastir check`) may end with its exit code, 4; any other one must
    succeed.
    """
    if shutil.which("bash") is None or sys.platform == "win32":
        pytest.skip("needs bash")
    lines = [line for line in re.split(r" && |\n", script.replace("\\\n", " ")) if not INSTALLS.match(line)]
    define = f'fastir() {{ "{sys.executable}" -m fastir "$@"; }}\n'
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": "summary.md", "COLUMNS": "100"}
    command = ["bash", "-e", "-c", define + "\n".join(lines)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = "fastir: fail: " in done.stdout and re.search("--fail|fastir check", script)
    assert done.returncode == (4 if failed else 0), f"{script}: {done.stdout}"
    return done.stdout


def steps(workflow):
    """The commands of a workflow's steps."""
    jobs = pytest.importorskip("yaml").safe_load(workflow)["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]
