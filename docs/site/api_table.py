"""Every public function with its parameters, and every parameter with its functions: docs/api_table.md.

python docs/site/api_table.py > docs/api_table.md
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import fastir
from fastir import plots, stats

CLASSES = ("Accumulator", "Evaluator")  # that users make; other classes are results
BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

HEAD = """\
# Every function and parameter

One concept has one name and one default everywhere, and an option is given by name. A default is that of the signature;
`...` has none and must be given. `**options` and `**choices` are options of the functions that their docstrings name.
Written by `python docs/site/api_table.py > docs/api_table.md`.
"""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """(name, function) of all that is public and called, by modules."""
    for prefix, module in (("", fastir), ("stats.", stats), ("plots.", plots)):
        for name in sorted(module.__all__):
            member = getattr(module, name)
            if inspect.isroutine(member) or name in CLASSES:
                yield prefix + name, member


def parameters() -> Iterator[tuple[str, inspect.Parameter]]:
    """(name of a function, parameter) of all of them."""
    for name, function in functions():
        for parameter in inspect.signature(function).parameters.values():
            yield name, parameter


def default(parameter: inspect.Parameter) -> str:
    """The default as in a call; `...` where there is none."""
    return "..." if parameter.default is parameter.empty else repr(parameter.default)


def written(parameter: inspect.Parameter) -> str:
    """A parameter as a signature has it, without its type."""
    if parameter.kind in OPEN:
        return str(parameter.replace(annotation=parameter.empty))
    return parameter.name if parameter.default is parameter.empty else f"{parameter.name}={default(parameter)}"


def table() -> str:
    """The page."""
    lines = [HEAD, "## Functions", "", "| function | by place | by name |", "|---|---|---|"]
    for name, function in functions():
        every = inspect.signature(function).parameters.values()
        cells = (
            ", ".join(f"`{written(parameter)}`" for parameter in every if (parameter.kind in BY_NAME) == by_name)
            for by_name in (False, True)
        )
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines += ["", "## Parameters", "", "| parameter | default | given by | functions |", "|---|---|---|---|"]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for name, parameter in parameters():
        if parameter.kind not in OPEN:
            given_by = "name" if parameter.kind in BY_NAME else "place"
            rows.setdefault((parameter.name, default(parameter), given_by), []).append(name)
    for (name, value, given_by), names in sorted(rows.items()):
        lines.append(f"| `{name}` | `{value}` | {given_by} | {', '.join(f'`{each}`' for each in names)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
