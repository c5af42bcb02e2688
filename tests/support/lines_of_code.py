"""How many lines of code a source has: without blank lines, comments and docstrings. Run: the budgets, written anew."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = ROOT / "tests" / "house" / "budgets.toml"
SUFFIXES = (".py", ".pyx", ".pxd")
TREES = ("fastir", "tests", "bench")


def docstring_lines(source):
    """The numbers of the lines of all docstrings of Python source."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            found.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return found


def lines_of_code(path):
    source = path.read_text("utf-8")
    if path.suffix == ".py":
        left_out = docstring_lines(source)
    else:
        source, left_out = re.sub(r'"""(.*?)"""', "", source, flags=re.DOTALL), ()
    lines = enumerate(source.splitlines(), 1)
    return sum(number not in left_out and not line.strip().startswith(("#", "\n")) and bool(line.strip())
               for number, line in lines)  # fmt: skip


def folder_of(path):
    """The folder that a source is counted in: two levels of fastir/ and one of the others."""
    parts = path.relative_to(ROOT).parts[:-1]
    return "/".join(parts[: 3 if parts[:2] in (("fastir", "engine"), ("fastir", "analyses")) else 2])


def by_folder():
    """{folder: lines of code} of fastir, tests and bench."""
    counts = {}
    for tree in TREES:
        for path in sorted(ROOT.joinpath(tree).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                counts[folder_of(path)] = counts.get(folder_of(path), 0) + lines_of_code(path)
    return dict(sorted(counts.items()))


def budgets():
    return tomllib.loads(BUDGETS.read_text("utf-8"))


def main():
    head = BUDGETS.read_text("utf-8").partition("\n\n")[0] if BUDGETS.is_file() else "# Lines of code"
    rows = "".join(f'"{folder}" = {lines}\n' for folder, lines in by_folder().items())
    BUDGETS.write_text(f"{head}\n\n{rows}", "utf-8")
    sys.stdout.write(rows)


if __name__ == "__main__":
    main()
