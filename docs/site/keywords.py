"""The TypedDicts of calls that take ``**options``, and the words of choices, from rows of options and cards.

python docs/site/keywords.py
"""

import textwrap
from pathlib import Path
from typing import NamedTuple

from fastir.analyses.fusion.cards import METHODS
from fastir.cli.commands import OWN
from fastir.engine.measure import CARDS, DEFAULT_METRICS
from fastir.request.conventions import CONVENTIONS
from fastir.request.option_rows import every_row

PACKAGE = Path(__file__).parents[2] / "fastir"


class Kind(NamedTuple):
    """A TypedDict: its name, the ones that it extends, its docstring, and parameters of metrics that it lists."""

    name: str
    bases: str
    about: str
    params: tuple[str, ...] = ()


class Module(NamedTuple):
    """A file of TypedDicts: what it imports for type checkers, them, and other names that it has."""

    imports: str
    kinds: tuple[Kind, ...]
    names: tuple[str, ...] = ()


PARAMS = {param.name: param for card in CARDS for param in card.params if param.is_convention}
MODULES = {
    "request/keywords.py": Module(
        "from collections.abc import Mapping\n"
        "from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypedDict\n"
        "|from numpy.typing import DTypeLike\n|\n"
        "|from fastir.request.conventions import Convention\n"
        "|from fastir.request.options import TiesWithoutIds",
        (
            Kind(
                "MetricOptions",
                "TypedDict",
                "Parameters of metrics, for all metrics that have them; `fastir.metrics` says what they mean.",
                tuple(PARAMS),
            ),
            Kind("LevelOptions", "TypedDict", "Which labels are relevant, and which documents have a rank."),
            Kind("ValueOptions", "MetricOptions, LevelOptions", "What values of judged rankings depend on."),
            Kind("ArrayOptions", "ValueOptions", "Options of `evaluate_scores` that are not arrays."),
            Kind("BatchOptions", "ArrayOptions", "Options of an Accumulator."),
        ),
        ("ConventionName",),
    ),
    "evaluation/keywords.py": Module(
        "import os\nfrom collections.abc import Callable, Hashable, Mapping\n"
        "from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypedDict\n\n"
        "from fastir.request.keywords import ConventionName, LevelOptions, MetricOptions, ValueOptions\n"
        "|from numpy.typing import DTypeLike\n|\n"
        "|from fastir.evaluation.run_collections import RunNames\n"
        "|from fastir.inputs.exclusions import ExcludeLike, ForbiddenLike, UnanswerableLike\n"
        "|from fastir.inputs.mappings import DocGroupsLike, DocWeights, TargetLike\n"
        "|from fastir.inputs.parents import ParentsLike\n"
        "|from fastir.request.conventions import Convention\n"
        "|from fastir.request.options import Aggregate, Duplicates, Queries, Ties, Validate",
        (
            Kind("ReadingOptions", "TypedDict", "How qrels and runs are read, and how equal scores are ordered."),
            Kind("RankingOptions", "ReadingOptions", "These, and which queries count."),
            Kind("CompareOptions", "ReadingOptions, MetricOptions, LevelOptions", "Those that `compare` hands on."),
            Kind("WeightsOptions", "RankingOptions, LevelOptions", "Options of means of one run."),
            Kind("BoundsOptions", "WeightsOptions, MetricOptions", "Options of `bounds`."),
            Kind(
                "CurveOptions",
                "WeightsOptions",
                "Options of the curves: their metrics are fixed and read few parameters.",
                ("empty", "short_rankings", "empty_ranking"),
            ),
            Kind(
                "RecallCurveOptions",
                "CurveOptions",
                "Options of `precision_recall_curve`.",
                ("recall_norm", "rounding", "unranked"),
            ),
            Kind("RocCurveOptions", "CurveOptions", "Options of `roc_curve`.", ("one_class",)),
            Kind("JudgeOptions", "RankingOptions, MetricOptions, LevelOptions", "Options of metrics under a judge."),
            Kind(
                "ExplainOptions",
                "JudgeOptions",
                "Options of `explain`: one query has no mean, and labels do not show weights of documents.",
            ),
            Kind("ToJudgeOptions", "ValueOptions", "Options of `to_judge`, which reads runs in one way."),
            Kind("EvaluateOptions", "BoundsOptions", "All options of `evaluate`."),
            Kind("CollectionOptions", "EvaluateOptions", "All options of `evaluate_many`."),
        ),
    ),
    "analyses/compare/keywords.py": Module(
        "from collections.abc import Hashable\n"
        "from typing import TYPE_CHECKING, SupportsIndex, TypedDict\n\n"
        "from fastir.evaluation.keywords import CompareOptions\n"
        "|from fastir.analyses.compare.options import CorrectionOfPairs, Family, IntervalMethod, Seeds, Test\n"
        "|from fastir.analyses.compare.segments import SegmentsLike\n"
        "|from fastir.request.options import Queries\n"
        "|from fastir.stats.effects import Effect",
        (
            Kind("StatisticsOptions", "TypedDict", "How runs are compared."),
            Kind("ScoresOptions", "StatisticsOptions", "The keywords of `compare_scores`."),
            Kind("ReportOptions", "CompareOptions, StatisticsOptions", "Options of `compare` in `write_report`."),
        ),
    ),
}
LINE_WIDTH = 120
CHOICES_HEAD = '''"""The words that options take, without an import; `docs/site/keywords.py` writes this file."""

WORDS = {'''
TYPES = {("ArrayOptions", "ties"): "TiesWithoutIds | None", ("BatchOptions", "doc_weights"): "Any"}


def param_type(name: str) -> str:
    """The annotation of a parameter of metrics."""
    param = PARAMS[name]
    if param.mapping:
        return "str | Mapping[int, float]"
    words = "Literal[" + ", ".join(f'"{word}"' for word in param.choices) + "]"
    truths = {"true", "false"} == set(param.choices)
    return f"bool | {words}" if truths else f"int | {words}" if param.integer else words


def lines(kind: Kind) -> list[str]:
    """The class of a TypedDict."""
    rows = {row.name: TYPES.get((kind.name, row.name), row.type) for row in every_row() if kind.name in row.of}
    fields = rows | {name: param_type(name) for name in kind.params}
    head = [f"class {kind.name}({kind.bases}, total=False):", f'    """{kind.about}"""']
    return [*head, "", *(f"    {name}: {annotation}" for name, annotation in fields.items())] if fields else head


def convention_names() -> list[str]:
    """The alias for the names of conventions."""
    names = [f'    "{name}",' for name in CONVENTIONS]
    return ["ConventionName: TypeAlias = Literal[", *names, "]"]


def text(module: Module) -> str:
    """A file."""
    imports = [line for line in module.imports.splitlines() if line[:1] != "|"]
    for_types = [f"    {line[1:]}".rstrip() for line in module.imports.splitlines() if line[:1] == "|"]
    parts = [
        '"""The keywords of ``**options``, for type checkers and editors; `docs/site/keywords.py` writes this file."""',
        "",
        "from __future__ import annotations",
        "",
        *imports,
        "",
        "if TYPE_CHECKING:",
        *for_types,
    ]
    if "ConventionName" in module.names:
        parts += [
            "",
            "# Beside str: an editor completes the names, and a type checker takes any text.",
            *convention_names(),
        ]
    for kind in module.kinds:
        parts += ["", "", *lines(kind)]
    return "\n".join(parts) + "\n"


def choices() -> str:
    """The file of the words that options of the command take."""
    rows = {row.name: row.words() for row in (*every_row(), *OWN.values()) if row.choices}
    rows |= {"tunable": METHODS.only(lambda card: card.tunable), "default_metrics": DEFAULT_METRICS}
    lines = [CHOICES_HEAD]
    for name, words in rows.items():
        if len(line := f'    "{name}": "{" ".join(words)}",') <= LINE_WIDTH:
            lines.append(line)
            continue
        *first, last = textwrap.wrap(" ".join(words), LINE_WIDTH - 12, break_on_hyphens=False)
        lines += [f'    "{name}": (', *(f'        "{part} "' for part in first), f'        "{last}"', "    ),"]
    return "\n".join([*lines, "}", "CHOICES = {name: tuple(words.split()) for name, words in WORDS.items()}"]) + "\n"


FILES = {**{path: lambda module=module: text(module) for path, module in MODULES.items()}, "cli/choices.py": choices}


def write() -> None:
    for path, content in FILES.items():
        (PACKAGE / path).write_text(content(), "utf-8")


if __name__ == "__main__":
    write()
