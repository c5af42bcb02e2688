"""Draws what the blocks of docs/plots.md draw, for light and dark pages, and writes the pictures into the page.

    python docs/site/gallery.py

A section that is called like a function of `fastir.plots` begins with the figure that its block makes. The top of the
page has all of them, small.
"""

import contextlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from fastir import plots

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "plots.md"
FOLDER = ROOT / "docs" / "pictures" / "plots"
THEMES = {"": "#24292f", "-dark": "#e6edf3"}  # the end of a file's name: the colour of its text and lines
COLOURED = [
    "text.color",
    "axes.labelcolor",
    "axes.edgecolor",
    "axes.titlecolor",
    "xtick.color",
    "ytick.color",
    "patch.edgecolor",
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"<picture>\n.*?</picture>\n\n", re.DOTALL)
OVERVIEW = re.compile(r"(<!-- pictures -->\n).*?(<!-- end -->\n)", re.DOTALL)


def main() -> None:
    text = PAGE.read_text("utf-8")
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures(text).items():
        (FOLDER / name).write_text(picture, "utf-8")
    PAGE.write_text(illustrated(text), "utf-8")


def illustrated(text: str) -> str:
    """The page with its pictures."""
    first, *sections = PICTURE.sub("", text).split("\n## ")
    small = []
    for number, section in enumerate(sections):
        name, _, body = section.partition("\n\n")
        if name in plots.__all__:
            sections[number] = f"{name}\n\n{picture(name)}\n\n{body}"
            small.append(f'<a href="#{name}" title="{name}">{picture(name, "24%")}</a>'.replace("\n", ""))
    overview = "\n".join(["<p markdown>", *small, "</p>"])
    return OVERVIEW.sub(rf"\1{overview}\n\2", "\n## ".join([first, *sections]))


def picture(name: str, width: str = "70%") -> str:
    return (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="pictures/plots/{name}-dark.svg">\n'
        f'<img alt="What plots.{name} draws" src="pictures/plots/{name}.svg" width="{width}">\n</picture>'
    )


def pictures(text: str) -> dict[str, str]:
    """{file name: SVG} of all sections, each drawn for every theme."""
    first, *sections = text.split("\n## ")
    drawn = {}
    for end, colour in THEMES.items():
        options: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "fastir", "savefig.transparent": True}
        options |= dict.fromkeys(COLOURED, colour) | {"figure.figsize": (6.4, 4.0)}
        with in_folder(), matplotlib.rc_context(options):
            names: dict[str, Any] = {"__name__": "page"}
            run(first, names)
            for section in sections:
                name = section.partition("\n")[0]
                run(section, names)
                if name in plots.__all__:
                    drawn[f"{name}{end}.svg"] = svg(names.pop("figure", None) or pyplot.gcf())
                pyplot.close("all")
    return drawn


def run(section: str, names: dict[str, Any]) -> None:
    for code in BLOCK.findall(section):
        exec(compile(code, str(PAGE), "exec"), names)


def svg(figure: Any) -> str:
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return re.sub(r"[ \t]+$", "", file.getvalue().decode(), flags=re.MULTILINE)


@contextlib.contextmanager
def in_folder() -> Iterator[None]:
    """A folder with the examples, for what the blocks read and write."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        before = Path.cwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


if __name__ == "__main__":
    main()
