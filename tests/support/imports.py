"""What a source imports: in Python by its syntax tree, in Cython by its lines, `import` and `cimport` alike."""

import ast
import functools
import re
from pathlib import Path

import fastir

PACKAGE = Path(fastir.__file__).parent  # without the sources in Cython if a wheel is installed


def logical_lines(path):
    """(line number, code) with comments and strings gone and with brackets closed."""
    source = path.read_text("utf-8")
    source = re.sub(r'"""(.*?)"""', lambda text: "\n" * text[1].count("\n"), source, flags=re.DOTALL)
    start, code = 1, ""
    for number, line in enumerate(source.splitlines(), 1):
        line = re.sub(r'"[^"\n]*"|\'[^\'\n]*\'', '""', line).partition("#")[0].rstrip()
        start, code = (start, f"{code} {line.strip()}") if code else (number, line)
        if sum(map(code.count, "([{")) <= sum(map(code.count, ")]}")):
            if code.strip():
                yield start, code
            code = ""


def module_of(path):
    """The module that a file of the package is."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


STOREYS = ("analyses", "data", "engine", "evaluation")  # each of their folders is a room of its own


def box_of(module):
    """The room of a module: a folder or file of fastir/, or a folder of a storey; `fastir` is its __init__."""
    parts = module.split(".")[1:]
    if len(parts) > 1 and parts[0] in STOREYS and PACKAGE.joinpath(*parts[:2]).is_dir():
        return ".".join(parts[:2])
    return parts[0] if parts else module


@functools.cache
def is_module(name):
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or any(path.with_suffix(suffix).is_file() for suffix in (".py", ".pyx", ".pxd"))


def absolute(path, dots, module):
    """The module that a relative import in a file means."""
    if not dots:
        return module
    package = path.relative_to(PACKAGE.parent).parts[:-dots]
    return ".".join([*package, *([module] if module else [])])


def statements(path):
    """(line, module, names) of every import; names is None where the module itself is imported."""
    if path.suffix in (".py", ".pyi"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name, None) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.lineno, absolute(path, node.level, node.module), [alias.name for alias in node.names]
        return
    for line, code in logical_lines(path):
        if taken := re.match(r"\s*from\s+(\.*)([\w.]*)\s+c?import\s+(.+)", code):
            names = [name.split()[0] for name in taken[3].strip("() ").split(",") if name.strip()]
            yield line, absolute(path, len(taken[1]), taken[2]), names
        elif taken := re.match(r"\s*c?import\s+(.+)", code):
            yield from ((line, name.split()[0], None) for name in taken[1].split(","))


@functools.cache
def imported(path):
    """(line, module) for every module of fastir that a file imports, the names taken from it being modules or not."""
    return [
        (line, f"{module}.{name}" if name and is_module(f"{module}.{name}") else module)
        for line, module, names in statements(path)
        if module.partition(".")[0] == "fastir"
        for name in names or [None]
    ]
