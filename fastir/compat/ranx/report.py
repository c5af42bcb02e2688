"""ranx's `Report`: the results of a comparison in ranx's form; it needs neither runs nor qrels."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from fastir.compat.ranx.documents import import_package
from fastir.rendering.latex import LATEX
from fastir.rendering.text import replacing

METRIC_LABELS = {
    "hits": "Hits",
    "hit_rate": "Hit Rate",
    "precision": "P",
    "recall": "Recall",
    "f1": "F1",
    "r-precision": "R-Prec",
    "mrr": "MRR",
    "map": "MAP",
    "dcg": "DCG",
    "dcg_burges": "DCG Burges",
    "ndcg": "NDCG",
    "ndcg_burges": "NDCG Burges",
    "bpref": "BPref",
}
TEST_LABELS = {
    "student": "paired Student's t-test",
    "fisher": "Fisher's randomization test",
    "tukey": "Tukey's HSD test",
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SUPERSCRIPTS = str.maketrans(f"{LETTERS}0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹")
PREAMBLE = """\
========================
% Add in preamble
\\usepackage{graphicx}
\\usepackage{booktabs}
========================


% To change the table size, act on the resizebox argument `0.8`.
"""
CAPTION = """\
Overall effectiveness of the models.
The best results are highlighted in boldface.
Superscripts denote significant differences in """


class FrozensetDict(MutableMapping[Iterable[str], Any]):
    """A dict with sets of names as keys: any iterable of the same names finds the entry."""

    def __init__(self, entries: Any = ()) -> None:
        self._entries: dict[frozenset[Any], Any] = {}
        self.update(entries)

    def __getitem__(self, names: Iterable[str]) -> Any:
        return self._entries[frozenset(names)]

    def __setitem__(self, names: Iterable[str], entry: Any) -> None:
        self._entries[frozenset(names)] = entry

    def __delitem__(self, names: Iterable[str]) -> None:
        del self._entries[frozenset(names)]

    def __iter__(self) -> Iterator[frozenset[Any]]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Report:
    """The result of `compare`; str() is its table.

    Parameters
    ----------
    model_names : list of str
    results : dict
        ``{name: {metric: mean}}``.
    comparisons : FrozensetDict
        Of two names, in any order, ``{metric: {"p_value": float, "significant": bool}}``.
    metrics : list of str
    max_p : float
        The largest p-value that is significant.
    win_tie_loss : dict
        ``{(name, other): {metric: {"W": int, "T": int, "L": int}}}``, for both orders of two names.
    rounding_digits : int
    show_percentages : bool
    stat_test : {"student", "fisher", "tukey"}
    """

    def __init__(
        self,
        model_names: list[str],
        results: dict[str, dict[str, float]],
        comparisons: FrozensetDict,
        metrics: list[str],
        max_p: float,
        win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]],
        rounding_digits: int = 3,
        show_percentages: bool = False,
        stat_test: str = "student",
    ) -> None:
        self.model_names = model_names
        self.results = results
        self.comparisons = comparisons
        self.metrics = metrics
        self.max_p = max_p
        self.win_tie_loss = win_tie_loss
        self.rounding_digits = rounding_digits
        self.show_percentages = show_percentages
        self.stat_test = stat_test

    # ---- cells ---------------------------------------------------------------------------------------------------

    def format_score(self, score: float) -> str:
        """Return the text of a mean."""
        digits, score = (
            (max(0, self.rounding_digits - 2), 100 * score) if self.show_percentages else (self.rounding_digits, score)
        )
        return f"{round(score, digits):.{digits}f}"

    def get_metric_label(self, m: str) -> str:
        """The head of a metric's column; the metric itself if ranx has no label for it."""
        name, level, level_suffix = m.partition("-l")
        name, at, k = name.partition("@")
        name = METRIC_LABELS.get(name, name.upper() if name.startswith("rbp.") else name)
        return name + at + k + level + level_suffix

    def get_stat_test_label(self, stat_test: str) -> str:
        """The name of a test in full."""
        return TEST_LABELS[stat_test]

    def get_superscript_for_table(self, model: str, metric: str) -> str:
        """Raised letters of the runs that a run is significantly better than."""
        return self.get_superscript_for_latex(model, metric).translate(SUPERSCRIPTS)

    def get_superscript_for_latex(self, model: str, metric: str) -> str:
        """The letters of the runs that a run is significantly better than, not raised."""
        return "".join(
            letter(place)
            for place, other in enumerate(self.model_names)
            if other != model and self._beats(model, other, metric)
        )

    def get_phantoms_for_latex(self, model: str, metric: str) -> str:
        """The letters of the other runs, for which room is left."""
        return "".join(
            letter(place)
            for place, other in enumerate(self.model_names)
            if other != model and not self._beats(model, other, metric)
        )

    def _beats(self, model: str, other: str, metric: str) -> bool:
        significant = self.comparisons[model, other][metric]["significant"]
        return significant and self.results[model][metric] > self.results[other][metric]

    # ---- tables ----------------------------------------------------------------------------------------------------

    def to_table(self) -> str:
        """The means as a table; the raised letters name the runs that a run is significantly better than."""
        columns = [
            column("#", [letter(place) for place in range(len(self.model_names))]),
            column("Model", self.model_names),
        ]
        columns += [
            column(
                self.get_metric_label(metric),
                [
                    self.format_score(self.results[model][metric]) + self.get_superscript_for_table(model, metric)
                    for model in self.model_names
                ],
            )
            for metric in self.metrics
        ]
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def to_latex(self) -> str:
        """The means as a LaTeX table, with the packages graphicx and booktabs; the first of the best is bold."""
        heads = "".join(f"\n& \\textbf{{{self.get_metric_label(metric).translate(LATEX)}}}" for metric in self.metrics)
        best = {metric: self._best(metric) for metric in self.metrics}
        rows = []
        for place, model in enumerate(self.model_names):
            cells = [self._latex_cell(model, metric, best[metric] == model) for metric in self.metrics]
            rows.append(f"{letter(place)} &\n{model.translate(LATEX)} &\n" + " &\n".join(cells) + " \\\\\n")
        return (
            f"{PREAMBLE}\\begin{{table*}}[ht]\n\\centering\n\\caption{{\n{CAPTION}"
            f"{self.get_stat_test_label(self.stat_test)} with $p \\le {self.max_p}$.\n}}\n"
            f"\\resizebox{{0.8\\textwidth}}{{!}}{{\n\\begin{{tabular}}{{c|l{'|c' * len(self.metrics)}}}\n\\toprule\n"
            f"\\textbf{{\\#}}\n& \\textbf{{Model}}{heads} \\\\ \n\\midrule\n{''.join(rows)}"
            "\\bottomrule\n\\end{tabular}\n}\n\\label{tab:results}\n\\end{table*}"
        )

    def _latex_cell(self, model: str, metric: str, best: bool) -> str:
        score = self.format_score(self.results[model][metric])
        beaten, others = self.get_superscript_for_latex(model, metric), self.get_phantoms_for_latex(model, metric)
        raised, room = (f"$^{{{letters}}}$" if letters else "" for letters in (beaten, others))
        return (f"\\textbf{{{score}}}" if best else score) + raised + f"\\hphantom{{{room}}}"

    def _best(self, metric: str) -> str | None:
        """The first run with the largest rounded mean; none if that is not above 0."""
        means = {model: round(self.results[model][metric], self.rounding_digits) for model in self.model_names}
        top = max((mean for mean in means.values() if mean > 0), default=None)
        return next((model for model, mean in means.items() if mean == top), None)

    # ---- exports ---------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """``{"stat_test", "metrics", "model_names", name: {"scores", "comparisons", "win_tie_loss"}, ...}``."""
        data: dict[str, Any] = {"stat_test": self.stat_test, "metrics": self.metrics, "model_names": self.model_names}
        for model in self.model_names:
            others = [other for other in self.model_names if other != model]
            data[model] = {
                "scores": self.results[model],
                "comparisons": {
                    other: {metric: self.comparisons[model, other][metric]["p_value"] for metric in self.metrics}
                    for other in others
                },
                "win_tie_loss": {
                    other: {metric: self.win_tie_loss[model, other][metric] for metric in self.metrics}
                    for other in others
                },
            }
        return data

    def to_dataframe(self) -> Any:
        """The means as a pandas frame: a row for each run, columns model_names and the metrics."""
        rows = [[model, *(self.results[model][metric] for metric in self.metrics)] for model in self.model_names]
        return import_package("pandas").DataFrame(rows, columns=["model_names", *self.metrics])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result of `to_dict` as JSON, atomically."""
        with replacing(os.fsdecode(path)) as file:
            file.write(json.dumps(self.to_dict(), indent=4).encode())

    def print_results(self) -> None:
        """Print the means as JSON."""
        print(json.dumps(self.results, indent=4))

    def __repr__(self) -> str:
        return self.to_table()


def letter(place: int) -> str:
    """The letter of a run in a table: a to z, then a1 to z1 and so on."""
    number, place = divmod(place, len(LETTERS))
    return LETTERS[place] + (str(number) if number else "")


def column(head: str, cells: list[str]) -> list[str]:
    """A column as the package tabulate lays it out: text to the left, numbers aligned at the decimal point.

    Numbers are written anew there, which drops zeros at the end of fractions.
    """
    width = len(head) + 2
    if not cells or not all(map(is_number, cells)):
        cells = [cell.strip() for cell in cells]
        width = max([width, *map(len, cells)])
        return [head.ljust(width), "-" * width, *(cell.ljust(width) for cell in cells)]
    if not all(map(is_whole, cells)):
        cells = [f"{float(cell):g}" for cell in cells]
        points = [cell.find("e") if "." not in cell else cell.find(".") for cell in cells]
        decimals = [len(cell) - point if point >= 0 else 0 for cell, point in zip(cells, points, strict=True)]
        cells = [cell + " " * (max(decimals) - size) for cell, size in zip(cells, decimals, strict=True)]
    width = max(width, *map(len, cells))
    return [head.rjust(width), "-" * width, *(cell.rjust(width) for cell in cells)]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdecimal()
