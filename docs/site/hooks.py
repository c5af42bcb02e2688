"""What MkDocs does not do by itself: generated pages, and pictures made by the code beside them.

A comment `<!-- generated: WHAT -->` in a page is replaced by what a program writes: the arguments of the command, the
boxes of the package, or, with `differs NAME`, the answers of a convention that are not fastir's. On pages that draw,
the Python is run from top to bottom, and each new figure of matplotlib stands below the block that made it.
"""

import base64
import contextlib
import functools
import io
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import generated
from mkdocs.structure.files import File, Files

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- generated: (.*?) -->$", re.MULTILINE)
OUTSIDE = re.compile(r"\]\((?:\.\./)+([\w./]+?\.\w+)(#[\w-]+)?\)")
OF_METRIC = re.compile(r"\]\(((?:\.\./)*)metrics\.md#([\w-]+)\)")


# What a search weighs: a guide more than a reference, and nothing of the long tables and the pages for contributors.
NOT_SEARCHED = (
    *("speed_figures.md", "exactness_values.md", "spark_costs.md", "changes.md", "measuring.md", "contributing.md"),
    *("how_it_works.md", "speed.md", "exactness.md", "time_to_answer.md", "conformance.md", "downstream.md"),
    *("messages_list.md", "api_table.md"),
)
WEIGHTS = {  # by the beginning of the path; a tool that is called as a guide is comes behind it
    **dict.fromkeys(
        ("coming_from/ragas", "coming_from/recommenders", "coming_from/spark_mllib", "conventions.md"), 0.3
    ),
    "coming_from/": 6.0,
    "api/": 0.4,
    "metrics": 3.0,
    "command_line.md": 0.5,
}
GUIDE = 4.0


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that programs write, the examples, and to the menu the pages of folders."""
    for path, text in generated.pages().items():
        if there := files.get_file_from_path(path):  # docs/metrics.md, which GitHub shows
            files.remove(there)
        files.append(File.generated(config, path, content=text))
    for path in sorted((generated.ROOT / "examples").iterdir()):  # what the page in the browser loads
        files.append(File.generated(config, f"site/try/examples/{path.name}", content=path.read_bytes()))
    menu = {next(iter(item)): next(iter(item.values())) for item in config.nav}
    menu["Metrics"][1:1] = generated.metrics_menu()
    menu["API"].extend(page for page in generated.api() if page != "api/index.md")
    menu["Coming from"].extend(
        {file.content_string.partition("\n")[0].removeprefix("# Coming from "): file.src_uri}
        for file in sorted(files, key=lambda file: file.src_uri.lower())
        if file.src_uri.startswith("coming_from/") and file.src_uri != "coming_from/index.md"
    )
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    place = page.file.src_uri
    weight = next((weight for start, weight in WEIGHTS.items() if place.startswith(start)), GUIDE)
    page.meta.setdefault("search", {"exclude": True} if place in NOT_SEARCHED else {"boost": weight})
    markdown = MARK.sub(lambda found: written(found[1]), markdown)
    if re.search(r"^```python\n(?:(?!^```).)*\bplots\.", markdown, re.MULTILINE | re.DOTALL):
        markdown = with_pictures(markdown)
    markdown = OF_METRIC.sub(lambda found: f"]({found[1]}{generated.page_of_metric(found[2])}#{found[2]})", markdown)
    return OUTSIDE.sub(functools.partial(link, depth=page.file.src_uri.count("/")), markdown)


def written(what: str) -> str:
    if what.startswith("differs "):
        return generated.differences(what.removeprefix("differs "))
    return {"arguments": generated.command_line, "boxes": generated.boxes}[what]()


def link(found: re.Match[str], depth: int) -> str:
    """A link to a source outside docs/, which is a page of the site, or else lies in the repository."""
    page = generated.SOURCES.get(found[1])
    return f"]({'../' * depth}{page}{found[2] or ''})" if page else found[0]


def with_pictures(markdown: str) -> str:
    """The page, with the figures that its blocks draw below them."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "fastir"
    names: dict[str, Any] = {"__name__": "page"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(generated.ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        try:
            return BLOCK.sub(lambda block: f"{block[0]}\n\n{drawn(block[1], names)}", markdown)
        finally:
            os.chdir(before)


def drawn(code: str, names: dict[str, Any]) -> str:
    """Run a block; returns the new figures as pictures within the page."""
    from matplotlib import pyplot

    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "page", "exec"), names)
    pictures = []
    for number in pyplot.get_fignums():
        image = io.BytesIO()
        pyplot.figure(number).savefig(image, format="svg", metadata={"Date": None}, bbox_inches="tight")
        source = f"data:image/svg+xml;base64,{base64.b64encode(image.getvalue()).decode()}"
        pictures.append(f'<p class="picture"><img alt="What the code above draws" src="{source}"></p>')
    pyplot.close("all")
    return "\n\n".join(pictures)
