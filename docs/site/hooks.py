"""What MkDocs does not do by itself: generated pages, and pictures in the theme that the reader chose."""

import functools
import re
from typing import Any

import generated
from mkdocs.structure.files import File, Files

PICTURE = re.compile(
    r'<picture>\n?<source media="\(prefers-color-scheme: dark\)" srcset="(.*?)">\n?'
    r'<img alt="(.*?)" src="(.*?)"( width="\w+%?")?>\n?</picture>'
)
ANCHORED = re.compile(r'<a href="(#\w+)" title="\w+">(!\[.*?)</a>')
OUTSIDE = re.compile(r"\]\((?:\.\./)+([\w./]+?\.\w+)(#[\w-]+)?\)")
OF_METRIC = re.compile(r"\]\(((?:\.\./)*)metrics\.md#([\w-]+)\)")


# What a search weighs: a guide more than a reference, and nothing of the long tables and the pages for contributors.
NOT_SEARCHED = (
    *("speed_figures.md", "exactness_values.md", "spark_costs.md", "changes.md", "measuring.md", "contributing.md"),
    *("how_it_works.md", "exactness.md", "time_to_answer.md", "conformance.md", "downstream.md", "api_table.md"),
)
WEIGHTS = {  # by the beginning of the path; a tool that is called as a guide is comes behind it
    **dict.fromkeys(
        ("coming_from/ragas", "coming_from/recommenders", "coming_from/spark_mllib", "conventions.md"), 0.3
    ),
    "coming_from/": 3.0,
    "api/": 0.2,
    "glossary.md": 1.5,
    "which_metric.md": 2.5,
    "messages.md": 6.0,
    "faq.md": 5.0,
    "tutorial.md": 3.0,
    "metrics": 3.0,
    "command_line.md": 3.0,
    "worked_examples.md": 1.0,
}
GUIDE = 4.0


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that programs write, the examples, and to the menu the pages of metrics and of the interface."""
    for path, text in generated.pages().items():
        if there := files.get_file_from_path(path):  # docs/metrics.md, which GitHub shows
            files.remove(there)
        files.append(File.generated(config, path, content=text))
    for path in sorted((generated.ROOT / "examples").iterdir()):  # what the page in the browser loads
        files.append(File.generated(config, f"site/try/examples/{path.name}", content=path.read_bytes()))
    menu = {title: pages for item in config.nav for title, pages in item.items()}
    menu["Metrics"][1:1] = generated.metrics_menu()
    [interface] = [item for item in menu["Reference"] if "API" in item]
    interface["API"] = [page for page in generated.api() if page != "api/compat.md"]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    place = page.file.src_uri
    weight = next((weight for start, weight in WEIGHTS.items() if place.startswith(start)), GUIDE)
    page.meta.setdefault("search", {"exclude": True} if place in NOT_SEARCHED else {"boost": weight})
    markdown = ANCHORED.sub(r"[\2](\1)", PICTURE.sub(two_themes, markdown))
    markdown = OF_METRIC.sub(lambda found: f"]({found[1]}{generated.page_of_metric(found[2])}#{found[2]})", markdown)
    return OUTSIDE.sub(functools.partial(link, depth=page.file.src_uri.count("/")), markdown)


def two_themes(found: re.Match[str]) -> str:
    """A picture with a dark form as two images, one of which the style sheet shows."""
    dark, text, light, width = found.groups(default="")
    return "".join(f"![{text}]({path}){{ .{theme}{width} }}" for path, theme in ((light, "light"), (dark, "dark")))


def link(found: re.Match[str], depth: int) -> str:
    """A link to a source outside docs/, which is a page of the site, or else lies in the repository."""
    page = generated.SOURCES.get(found[1])
    return f"]({'../' * depth}{page}{found[2] or ''})" if page else found[0]
