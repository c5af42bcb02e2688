"""Writes the section "What differs" of the pages of docs/coming_from, between its two comments.

python docs/site/differences.py
"""

import re
import warnings
from pathlib import Path

import fastir
from fastir.cli.pages import QUESTIONS, answer, convention_line, example_value
from fastir.request.conventions import CONVENTIONS

FOLDER = Path(__file__).resolve().parents[1] / "coming_from"
SECTION = re.compile(r"(<!-- written by docs/site/differences.py: (\S+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def main() -> None:
    for path, text in pages().items():
        path.write_text(text, "utf-8")


def pages() -> dict[Path, str]:
    """{path: its text with the section written anew}"""
    texts = {path: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
    return {
        path: SECTION.sub(lambda found: f"{found[1]}\n{differences(found[2])}\n{found[3]}", text)
        for path, text in texts.items()
    }


def differences(name: str) -> str:
    """The answers of a convention that are not fastir's, with the values of their examples."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastir.FastirWarning)
        for question in QUESTIONS:
            theirs, ours = ((answer(question, each), example_value(question, each)) for each in (name, "fastir"))
            if theirs != ours:
                rows.append(f"| {question.asks} | `{question.option}={theirs[0]}` | {theirs[1]} | {ours[1]} |")
    line = convention_line(CONVENTIONS[name]).strip()
    summary = re.sub(r"^- \*\*.*?\*\*: (.*?)\. .*", r"\1", line, flags=re.DOTALL)
    head = f'`convention="{name}"`: {summary.rstrip(".")}. Version: {CONVENTIONS[name].release}.\n'
    if not rows:
        return head
    columns = f"| question | {name} | its value | fastir's |\n|---|---|---|---|\n"
    example = "[Conventions](../conventions.md) has the example of each question.\n"
    return f"{head}\n{columns}" + "\n".join(rows) + f"\n\n{example}"


if __name__ == "__main__":
    main()
