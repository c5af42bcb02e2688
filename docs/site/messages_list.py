"""Prints docs/messages_list.md: every message that the sources of fastir raise or warn of in their own words.

Sources are read, and not run. What is filled into a message is `...` here. Cython is no Python, but what it raises is:
each call is cut out of the text and read by itself.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "fastir"
WARNS = ("warn", "warn_caller")  # functions that warn, by a FastirWarning
MISFIT = "misfit"  # makes an error of what, given and message
OTHER = {MISFIT: "FormatError", "kind": "ValueError"}  # names that are no classes, and the classes they stand for
FILLED = "..."
HEAD = """\
# Every message

<!-- written by docs/site/messages_list.py -->

What fastir says in its own words, by the class of the error; `...` stands for ids, names and numbers of the input.
[Messages, and how to mend them](messages.md) has an example of each class. Messages about lines of files are in
`fastir/engine/columns/line_formats.py`.
"""


def page() -> str:
    found: dict[str, dict[str, str]] = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]):
        for name, message in messages(path):
            found.setdefault(name, {}).setdefault(message, path.relative_to(PACKAGE).as_posix())
    parts = [HEAD]
    for name, places in sorted(found.items()):
        rows = (f"- {code(message)} (`{places[message]}`)" for message in sorted(places))
        parts.append("\n".join([f"## {name}", "", *rows, ""]))
    return "\n".join(parts)


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """(class, message) of each call in a source that raises or warns in words."""
    for call in calls(path):
        name = called(call)
        if name in WARNS:
            name = "FastirWarning"
        arguments = call.args[::2] if name == MISFIT else call.args[:1]
        words = [in_words(argument) for argument in arguments]
        message = re.sub(r"(\.\.\.)+", FILLED, " ".join(": ".join(word or FILLED for word in words).split()))
        if any(words) and re.search(r"[A-Za-z]{2}", message):
            yield OTHER.get(name, name), message


def calls(path: Path) -> Iterator[ast.Call]:
    """What is raised, and what warns."""
    text = path.read_text("utf-8")
    if path.suffix == ".pyx":
        for found in re.finditer(rf"\b(?:raise (?=[A-Z]\w+\()|\b(?=(?:{'|'.join(WARNS)})\())", text):
            yield whole_call(text[found.end() :])
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            for inner in ast.walk(node.exc):
                if isinstance(inner, ast.Call) and (inner is node.exc or called(inner).endswith(("Error", "Warning"))):
                    yield inner
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Call) and called(node.value).endswith("Error"):
            yield node.value
        elif isinstance(node, ast.Call) and called(node) in WARNS:
            yield node


def whole_call(text: str) -> ast.Call:
    """The call that a text of Cython begins with; its casts are left out."""
    for end in (found.end() for found in re.finditer(r"\)", text)):
        try:
            tree = ast.parse(re.sub(r"<\w+(?: \w+)*\*?>", "", text[:end]), mode="eval").body
        except SyntaxError:
            continue
        if isinstance(tree, ast.Call):
            return tree
    raise ValueError(f"no call: {text[:80]!r}")


def called(call: ast.Call) -> str:
    """The last name of what is called; of two classes, either of which may be meant, the first."""
    func = call.func.body if isinstance(call.func, ast.IfExp) else call.func
    return ast.unparse(func).rpartition(".")[2]


def in_words(node: ast.expr) -> str | None:
    """The text of an expression, or None if it is none of its own."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(value.value if isinstance(value, ast.Constant) else FILLED for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = in_words(node.left), in_words(node.right)
        return None if sides == (None, None) else "".join(FILLED if side is None else side for side in sides)
    return None


def code(message: str) -> str:
    """A message as code of Markdown."""
    return f"`` {message} ``" if "`" in message else f"`{message}`"


if __name__ == "__main__":
    print(page(), end="")
