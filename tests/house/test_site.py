"""The site: its formulas are those of the cards, its names those of the package, and it is built without a warning."""

import ast
import re
import tomllib

import pytest
from common import NEEDS_SOURCES
from pages import DOCS, NEEDS_PAGES, PAGES, name_of

import fastir

SITE = DOCS / "site"
pytestmark = NEEDS_PAGES


def test_only_metrics_have_typeset_formulas():
    """The others have the card's own, as text."""
    formulas = tomllib.loads((SITE / "formulas.toml").read_text("utf-8"))
    assert set(formulas) <= {card.name for card in fastir.metrics()}


def test_every_page_is_in_the_menu():
    """Or in the list of those that are in no menu."""
    menu = (SITE / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    pages = [page for page in PAGES if page.suffix == ".md" and page.parent == DOCS]
    assert [name_of(page) for page in pages if f" {page.name}\n" not in menu + "\n"] == []


@NEEDS_SOURCES
def test_every_public_name_is_on_a_page_of_the_interface():
    """Read without a run: the program that writes the pages needs the group docs."""
    names = {}
    for line in ast.parse((SITE / "generated.py").read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and line.targets[0].id in ("API", "OWN_PAGES", "SPARK"):
            names[line.targets[0].id] = ast.literal_eval(line.value)
    assert sorted([*" ".join(names["API"].values()).split(), *names["OWN_PAGES"]]) == sorted(fastir.__all__)
    assert sorted(names["SPARK"].split()) == ast.literal_eval(
        re.search(r"__all__ = (\[.*?\])", (DOCS.parent / "fastir/spark/__init__.py").read_text("utf-8"))[1]
    )


@NEEDS_SOURCES
def test_links_between_pages_lead_somewhere():
    for page in (page for page in PAGES if page.suffix == ".md"):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s#]+)", prose):
            assert "://" in link or (page.parent / link).exists(), f"{name_of(page)}: {link}"


@pytest.mark.site
def test_it_is_built_without_a_warning_and_has_every_public_name(built):
    api = "".join(page.read_text("utf-8") for page in (built / "api").rglob("index.html"))
    modules = {"compat", "conventions", "plots", "spark", "stats"}
    assert [name for name in fastir.__all__ if f'id="fastir.{name}"' not in api and name not in modules] == []


@pytest.mark.site
def test_plots_have_their_pictures_and_metrics_their_formulas(built):
    gallery = (built / "plots" / "index.html").read_text("utf-8")
    for name in fastir.plots.__all__:
        for theme, end in (("light", ""), ("dark", "-dark")):
            assert re.search(rf'<img [^>]*class="{theme}"[^>]* src="../pictures/plots/{name}{end}.svg"', gallery), name
            assert (built / "pictures" / "plots" / f"{name}{end}.svg").is_file()
    formulas = tomllib.loads((SITE / "formulas.toml").read_text("utf-8"))
    metrics = [page.read_text("utf-8") for page in (built / "metrics").rglob("index.html")]
    assert sum(page.count("<math ") for page in metrics) == len(formulas) and len(metrics) >= 14


@pytest.mark.site
def test_no_page_asks_another_host_for_anything(built):
    asks = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?://[^"]+)')
    for page in built.rglob("*.html"):
        assert asks.findall(page.read_text("utf-8")) == [], page


def test_llms_txt_is_short_and_leads_to_pages():
    text = (DOCS / "llms.txt").read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    pages = [link.strip("/").removesuffix(".html") for link in links]
    assert [name for name in pages if not ((DOCS / f"{name}.md").is_file() or name in ("api", "coming_from"))] == []
    assert len(text.split()) < 600 and len(links) >= 12
