"""The pages of the site that programs write: from the cards, argparse, docstrings and the conventions' records."""

import ast
import functools
import inspect
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

from latex2mathml.converter import convert

import fastir
from fastir import plots, stats
from fastir.cli.completion import argument_usage, option_help
from fastir.cli.pages import (
    GROUPS,
    QUESTIONS,
    anchor,
    answer,
    convention_line,
    example_value,
    question_example,
    reference,
)
from fastir.cli.parser import parsers
from fastir.compat import trec_eval
from fastir.request.conventions import CONVENTIONS

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
    "precision_recall_curve PrecisionRecallCurve roc_curve RocCurve",
    "Fusing": "fuse tune Tuning Trial Fold",
    "Generated answers": "evaluate_nuggets evaluate_citations",
    "Parts": "judged_rankings JudgedRankings ResultsByConvention Partial",
    "Judgments": "bounds Bounds pool Pool contributions Contributions leave_one_out LeftOut to_judge ToJudge "
    "merge_qrels agreement Agreement rank_correlation RankCorrelation Swap similarity",
    "Metrics and conventions": "metrics metric Metric custom_metric CustomMetric conventions Convention",
    "Errors": "FastirError FormatError DuplicateError NoOverlapError UnknownMetricError FastirWarning show_config",
}
OWN_PAGES = ("compat", "spark")  # modules of the interface that have a page of their own
MODULES = {"stats": stats.__all__, "plots": plots.__all__}
SPARK = "evaluate evaluate_many compare SparkResults RankingEvaluator"

BOXES = (
    "inputs engine engine/columns engine/join engine/rank engine/measure data data/results request evaluation "
    "evaluation/drivers evaluation/composites evaluation/partial analyses analyses/compare analyses/explain report "
    "analyses/check analyses/bounds analyses/fusion analyses/pools analyses/agreement analyses/verdicts engine/threads"
)
KERNELS = (
    "engine/join/_dicts engine/join/_join engine/join/_scattered engine/rank/_rank engine/rank/_row_counts "
    "engine/measure/_measure"
)

ALIKE = "How alike two runs are"  # the section of the reference that is no family

RANK_WEIGHTS = """\
What a rank is worth

How much a relevant document adds to a metric at each rank, if all else is the same:

```python
from fastir import plots

plots.rank_weights(["mrr", "dcg", "rbp.8", "err"])
```

```python
plots.rank_weights(["rbp.5", "rbp.8", "rbp.95"])
```

```python
plots.rank_weights(["ndcg@10", "precision@10", "tbg"])
```

## """


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
    """The reference: what all metrics share, with a picture of what ranks are worth, and a page for each family."""
    first, *parts = typeset().split("\n## ")
    shared, found = [first], {}
    for part in parts:
        title = part.partition("\n")[0]
        if title in (*GROUPS.values(), ALIKE):
            found[f"metrics/{anchor(title)}.md"] = f"# {part}".replace("\n### ", "\n## ")
        else:
            shared.append(f"{RANK_WEIGHTS}{part}" if title == "The examples" else part)
    found = {"metrics.md": "\n## ".join(shared), **found}
    home = {anchor(head): path for path, text in found.items() for head in re.findall("^#+ (.+)$", text, re.MULTILINE)}

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


# ---- the command line ----------------------------------------------------------------------------------------------


def command_line() -> str:
    """Every command, with its usage and what its arguments mean."""
    lines = ["## Reference", ""]
    for name, command in parsers().items():
        about = command.command.about
        lines += [f"### fastir {name}", "", f"{about[:1].upper()}{about[1:]}.", ""]
        if name == "trec_eval":  # whose options argparse does not know
            lines += ["```text", trec_eval.output(["--help"], None).rstrip(), "```", ""]
        elif actions := command._actions:
            usage = " ".join(command.format_usage().split()[1:])
            lines += ["```text", *folded(usage), "```", "", "| argument | meaning |", "|---|---|"]
            rows = [("".join(argument_usage(action)), option_help(command, action)) for action in actions]
            lines += [f"| {cell(word)} | {plain(about)} |" for word, about in rows]
            lines.append("")
    return "\n".join(lines)


def folded(usage: str) -> Iterator[str]:
    """A usage in lines, broken between its arguments."""
    line = ""
    for part in re.findall(r"\[[^\]]*\](?:\s*\.\.\.\])?|\S+", usage):
        if len(line) + len(part) > 96:
            yield line
            line = "   "
        line = f"{line} {part}" if line else part
    yield line


def cell(word: str) -> str:
    return "`" + word.replace("|", "\\|") + "`"


def plain(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


# ---- the programming interface -------------------------------------------------------------------------------------


def api() -> dict[str, str]:
    """A page for each group of public names, and one for all modules that stand in for tools."""
    named = {name for names in API.values() for name in names.split()}
    if missing := set(fastir.__all__) ^ {*named, *OWN_PAGES}:
        raise ValueError(f"docs/site/generated.py: API and fastir.__all__ differ in {', '.join(sorted(missing))}")
    found, rows = {}, []
    for title, names in API.items():
        path = f"api/{title.lower().replace(',', '').replace(' ', '_')}.md"
        body = [f"# {title}", ""]
        for name in names.split():
            for full in [f"fastir.{name}.{inner}" for inner in MODULES.get(name, ())] or [f"fastir.{name}"]:
                body += [f"::: {full}", ""]
        found[path] = "\n".join(body)
        rows.append(f"| [{title}]({path.removeprefix('api/')}) | {', '.join(f'`{name}`' for name in names.split())} |")
    found["api/spark.md"] = "# Spark\n\n" + "\n\n".join(f"::: fastir.spark.{name}" for name in SPARK.split()) + "\n"
    found["api/compat.md"] = compat()
    rows += [f"| [Spark](spark.md) | {', '.join(f'`spark.{name}`' for name in SPARK.split())} |"]
    compat_names = "`compat.install`, `compat.uninstall`, `compat.patched`"
    rows += [f"| [Stand-ins](compat.md) | {compat_names}, and a module for each tool |"]
    head = "# API\n\nEvery public name, from its docstring.\n\n| | |\n|---|---|\n"
    return {"api/index.md": head + "\n".join(rows) + "\n", **found}


def compat() -> str:
    """The docstrings of the modules of `compat`, read from their sources: few of their tools are installed."""
    lines = ["# Stand-ins", ""]
    for function in ("install", "uninstall", "patched"):
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


def boxes() -> str:
    """What each folder of the package takes and gives, in the words of its own sources."""
    lines = ["## The boxes", ""]
    for name in BOXES.split():
        lines += [f"### {name}", "", *prose(PACKAGE / name / "__init__.py"), ""]
    lines += ["## The kernels", "", "The comments at the top of the files that do most of the work.", ""]
    for name in KERNELS.split():
        lines += [f"### {name}.pyx", "", *prose(PACKAGE / f"{name}.pyx"), ""]
    return "\n".join(lines)


# ---- conventions ---------------------------------------------------------------------------------------------------


def differences(name: str) -> str:
    """What a tool answers otherwise than fastir, with the values of the examples."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastir.FastirWarning)
        for question in QUESTIONS:
            theirs, ours = ((answer(question, each), example_value(question, each)) for each in (name, "fastir"))
            if theirs != ours:
                cells = (f"`{question.option}={theirs[0]}`", theirs[1], ours[1], f"`{question_example(question)[-2]}`")
                rows.append(f"| {question.asks} | {' | '.join(cells)} |")
    told_as = re.sub(r"^- \*\*.*?\*\*: (.*?)\. .*", r"\1", convention_line(CONVENTIONS[name]).strip(), flags=re.DOTALL)
    head = f'`convention="{name}"` stands for {told_as.rstrip(".")}. Version: {CONVENTIONS[name].release}.\n\n'
    if not rows:
        return head
    return head + "| question | answer | value | fastir's | example |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
