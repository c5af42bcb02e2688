"""The pages of the site that programs write: from the cards, argparse, docstrings and the conventions' records."""

import ast
import functools
import inspect
import re
import tomllib
from pathlib import Path

from latex2mathml.converter import convert

import fastir
from fastir import plots, stats
from fastir.cli.pages import (
    GROUPS,
    anchor,
    reference,
)

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "fastir"

# Sources outside docs/ that are pages of the site, and the pages that links to them lead to.
SOURCES = {
    "bench/README.md": "measuring.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}

API = {
    "Evaluating": "evaluate evaluate_many Evaluator evaluate_lists",
    "Results": "Results ResultsTable ResultsByRun ResultsBySegment ResultsDiff QueryChange TieReport TieRange Report "
    "load_results",
    "Judgments and runs": "Qrels Run check Checked Fault",
    "Labels, scores and matrices": "evaluate_scores evaluate_ranked evaluate_matrix evaluate_topk Accumulator",
    "Comparing": "compare write_report ReportFile compare_scores Comparison Pair System Method stats plots",
    "Explaining": "explain Explanation Document RankingDiff Move explain_ranked RankedExplanation RankedLabel "
    "explain_conventions ConventionsDiff identify Identified Answer "
    "precision_recall_curve PrecisionRecallCurve roc_curve RocCurve risk_coverage RiskCoverage",
    "Fusing": "fuse tune Tuning Trial Fold",
    "Generated answers": "evaluate_nuggets evaluate_citations",
    "Exposure": "expected_exposure",
    "Parts": "judged_rankings JudgedRankings ResultsByConvention Partial",
    "Judgments": "bounds Bounds pool Pool contributions Contributions leave_one_out LeftOut to_judge ToJudge "
    "merge_qrels agreement Agreement rank_correlation RankCorrelation Swap similarity "
    "judge_bias JudgeBias BiasGroup BiasSlope "
    "evaluate_under_judge UnderJudge JudgedMean compare_under_judge ComparisonUnderJudge JudgedDifference HumanAnswers",
    "Metrics and conventions": "metrics metric Metric custom_metric CustomMetric conventions Convention",
    "Errors": "FastirError FormatError DuplicateError NoOverlapError UnknownMetricError FastirWarning show_config",
}
OWN_PAGES = ("compat", "spark")  # modules of the interface that have a page of their own
MODULES = {"stats": stats.__all__, "plots": plots.__all__}
COMPAT = ("install", "uninstall", "patched")
SPARK = "evaluate evaluate_many compare SparkResults RankingEvaluator"

# What all tables have, once.
EXPORTS = """
## Methods of every table

Results, comparisons, explanations and other tables share these methods.

::: fastir.data.results.exportable.Exportable
    options:
      heading_level: 3
      show_root_heading: false
      show_root_toc_entry: false
"""

# What a family's page is also looked for as.
ALSO = {
    "Counts and sets": "precision, recall, F1, hit rate",
    "Ranks of the relevant documents": "average precision (MAP), reciprocal rank (MRR)",
    "Graded relevance": "nDCG, cumulative gain",
}
ALIKE = "How alike two runs are"  # the section of the reference that is no family


def pages() -> dict[str, str]:
    """{path in the site: Markdown}"""
    return {
        **{page: (ROOT / source).read_text("utf-8").replace("](docs/", "](") for source, page in SOURCES.items()},
        **metrics(),
        **api(),
    }


# ---- metrics -------------------------------------------------------------------------------------------------------


@functools.cache
def metrics() -> dict[str, str]:
    """The reference: what all metrics share, and a page for each family."""
    first, *parts = typeset().split("\n## ")
    shared, found = [first], {}
    for part in parts:
        title = part.partition("\n")[0]
        if title in (*GROUPS.values(), ALIKE):
            found[f"metrics/{anchor(title)}.md"] = f"# {part}".replace("\n### ", "\n## ")
        else:
            shared.append(part)
    found = {"metrics.md": "\n## ".join(shared), **found}
    home = {anchor(head): path for path, text in found.items() for head in re.findall("^#+ (.+)$", text, re.MULTILINE)}
    for title, words in ALSO.items():
        path = f"metrics/{anchor(title)}.md"
        found[path] = found[path].replace(f"# {title}\n", f"# {title}: {words}\n", 1)

    def link(mark: re.Match[str], page: str) -> str:
        path = home[mark[1]]
        if path == page:
            return mark[0]
        place = path.removeprefix("metrics/") if page.startswith("metrics/") else path
        return f"]({place}#{mark[1]})"

    return {
        path: re.sub(r"\]\(#([\w-]+)\)", lambda mark, path=path: link(mark, path), text) for path, text in found.items()
    }


def page_of_metric(name: str) -> str:
    """The page that has an anchor."""
    return next(
        path for path, text in metrics().items() if name in map(anchor, re.findall("^#+ (.+)$", text, re.MULTILINE))
    )


def metrics_menu() -> list[dict[str, str]]:
    """The title and the page of each family."""
    return [{text.partition("\n")[0][2:]: path} for path, text in metrics().items() if path != "metrics.md"]


def typeset() -> str:
    """The reference with the formulas typeset above their text."""
    formulas = tomllib.loads((ROOT / "docs" / "site" / "formulas.toml").read_text("utf-8"))
    text = reference()
    text = re.sub(r"^Written by .*?\n\n", "", text, flags=re.MULTILINE)
    for card in fastir.metrics():
        if card.name not in formulas:
            continue  # the text of the card is there anyway
        formula = convert(formulas.pop(card.name), display="block")
        head = f"### `{card.name}{card.place()}`\n"
        start = text.index(head)
        line = text.index("\n- ", start)
        text = f"{text[:line]}\n{formula}\n{text[line:]}"
    if formulas:
        raise ValueError(f"docs/site/formulas.toml has formulas of no metric: {', '.join(formulas)}")
    return text


# ---- the programming interface -------------------------------------------------------------------------------------


def api() -> dict[str, str]:
    """A page for each group of public names, and one for the drop-in replacements."""
    named = {name for names in API.values() for name in names.split()}
    if missing := set(fastir.__all__) ^ {*named, *OWN_PAGES}:
        raise ValueError(f"docs/site/generated.py: API and fastir.__all__ differ in {', '.join(sorted(missing))}")
    found, rows = {}, []
    for title, names in API.items():
        path = f"api/{title.lower().replace(',', '').replace(' ', '_')}.md"
        parts = {name: [f"{name}.{each}" for each in MODULES.get(name, ())] or [name] for name in names.split()}
        full = [part for each in parts.values() for part in each]
        found[path] = f"# {title}\n\n" + "".join(f"::: fastir.{name}\n\n" for name in full)
        rows.append(index_row(title, path, full))
    found["api/results.md"] += EXPORTS
    on_spark = [f"spark.{name}" for name in SPARK.split()]
    found["api/spark.md"] = "# Spark\n\n" + "".join(f"::: fastir.{name}\n\n" for name in on_spark)
    found["api/compat.md"] = compat()
    rows.append(index_row("Spark", "api/spark.md", on_spark))
    rows.append(index_row("Drop-in replacements", "api/compat.md", [f"compat.{name}" for name in COMPAT]))
    head = "# API\n\nEvery public name, from its docstring.\n\n| page | names |\n|---|---|\n"
    return {"api/index.md": head + "\n".join(rows) + "\n", **found}


def index_row(title: str, path: str, names: list[str]) -> str:
    """A row of the interface's index, with a link for each name."""
    page = path.removeprefix("api/")
    return f"| [{title}]({page}) | {', '.join(f'[`{name}`]({page}#fastir.{name})' for name in names)} |"


def compat() -> str:
    """The docstrings of the modules of `compat`, read from their sources: few of their tools are installed."""
    lines = ["# Drop-in replacements", ""]
    for function in COMPAT:
        lines += [f"::: fastir.compat.{function}", ""]
    helpers = {"id_lists", "run_order", "trec_lines"}
    for path in sorted([*PACKAGE.glob("compat/*.py"), *PACKAGE.glob("compat/*/__init__.py")]):
        name = path.parent.name if path.parent.name != "compat" else path.stem
        if name != "__init__" and name not in helpers:
            lines += [f"## `fastir.compat.{name}`", "", *prose(path), ""]
    return "\n".join(lines)


def prose(path: Path) -> list[str]:
    """The docstring or design comment at the top of a source; what is laid out in columns stays as it is."""
    source = path.read_text("utf-8")
    doc = ast.get_docstring(ast.parse(source)) if path.suffix == ".py" else inspect.cleandoc(source.split('"""')[1])
    lines = []
    for paragraph in (doc or "").split("\n\n"):
        laid_out = re.search(r"^ |\S   ", paragraph, re.MULTILINE)
        lines += ["```text", *paragraph.splitlines(), "```", ""] if laid_out else [paragraph, ""]
    return lines
