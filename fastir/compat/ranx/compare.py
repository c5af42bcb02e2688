"""ranx's `compare` on fastir's evaluation and tests, and its `Report`, which needs neither runs nor qrels."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.compat.ranx.evaluate import evaluate
from fastir.compat.ranx.qrels_run import import_package
from fastir.errors import quote
from fastir.rendering.latex import LATEX
from fastir.rendering.text import replacing

if TYPE_CHECKING:
    from fastir.analyses.compare.options import Test

TESTS: dict[str, Test] = {"student": "t", "fisher": "randomization", "tukey": "tukey"}  # ranx's name, fastir's
BLOCK_VALUES = 1 << 22  # values that are permuted at once

Tested = tuple[float, tuple[int, int, int]]  # the p-value of a pair; wins, ties and losses of its first


def compare(
    qrels: Any,
    runs: list[Any],
    metrics: list[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
    *,
    literal: bool = False,
) -> Report:
    """Evaluate runs and test their differences.

    Parameters
    ----------
    qrels : Qrels or dict
    runs : list of Run or dict
        The i-th is called ``run_i`` if it has no name. A Run notes its values, as by `evaluate`.
    metrics : list of str, or str
    stat_test : {"student", "fisher", "tukey"}
        All are paired and two-sided; only Tukey's p-values are corrected for the number of pairs.
    n_permutations, random_seed : int
        For "fisher".
    max_p : float
        The largest p-value that is significant.
    threads : int
        The largest number of threads; 0 leaves it to fastir.
    rounding_digits : int
    show_percentages : bool
        How the report shows means.
    make_comparable : bool
        As for `evaluate`.
    literal : bool
        Compute as ranx does, also where the notes below say that this is wrong.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        The queries of qrels and runs are not the same, or metrics are not str.
    NotImplementedError
        The test does not exist.
    ValueError
        Two runs have one name; otherwise as by `evaluate`.
    ImportError
        SciPy is not installed.

    Notes
    -----
    Where this differs from ranx 0.3.21, unless `literal`:

    - fisher: the p-value is exact where all permutations can be counted. Otherwise it is (1 + c) / (1 +
      n_permutations), never 0, and the same for the same `random_seed`, which has no effect there. A permutation that
      ties with what was observed counts; ranx loses some of these to rounding, so that its p-values of P@k and the like
      are too small. `literal` is c / n_permutations with those ties lost, though from a seed that counts.
    - tukey: queries are paired, by the two-way analysis of variance. ranx's test takes runs for independent samples,
      and finds less the more queries differ; `literal` is that test.
    - student: two runs with equal values have the p-value 1, not NaN.
    - Wins, ties and losses: values that differ by rounding alone tie.

    Also: two runs of one name are an error, where ranx drops one; dicts may be runs; more than 26 runs have letters a1,
    b1 and so on; metrics without a label keep their names; LaTeX has its special characters escaped.

    Examples
    --------
    >>> from fastir.compat.ranx import Qrels, Run, compare
    >>> qrels = Qrels({f"q{i}": {"a": 1} for i in range(8)})
    >>> first = Run({f"q{i}": {"a": 1.0, "b": 0.5} for i in range(8)}, name="first")
    >>> second = Run({f"q{i}": {"a": i / 9, "b": 0.5} for i in range(8)}, name="second")
    >>> compare(qrels, [first, second], ["mrr", "hits@1"], max_p=0.05)
    #    Model    MRR     Hits@1
    ---  -------  ------  --------
    a    first    1.000ᵇ  1.000ᵇ
    b    second   0.688   0.375
    """
    if str(stat_test).lower() not in TESTS:
        raise NotImplementedError(f"stat_test must be one of {', '.join(map(repr, TESTS))}, got {quote(stat_test)}")
    stat_test = stat_test.lower()
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    model_names = [getattr(run, "name", None) or f"run_{number}" for number, run in enumerate(runs, 1)]
    for name in model_names:
        if model_names.count(name) > 1:
            raise ValueError(f"two runs are named {quote(name)}; expected every name once")
    scores: dict[str, dict[str, np.ndarray]] = {}
    for name, run in zip(model_names, runs, strict=True):
        values = evaluate(qrels, run, metrics, return_mean=False, threads=threads, make_comparable=make_comparable)
        scores[name] = {metrics[0]: values} if len(metrics) == 1 else values
    results = {
        name: {metric: float(np.mean(values)) for metric, values in run_scores.items()}
        for name, run_scores in scores.items()
    }
    test = compare_as_ranx if literal else compare_with_fastir
    tested = test(scores, stat_test, n_permutations, random_seed, threads or None)
    comparisons = FrozensetDict(
        {
            pair: {metric: {"p_value": p, "significant": p <= max_p} for metric, (p, _) in tests.items()}
            for pair, tests in tested.items()
        }
    )
    win_tie_loss = {
        (a, b): {
            metric: dict(zip("WTL", counts if (a, b) in tested else counts[::-1], strict=True))
            for metric, (_, counts) in (tested.get((a, b)) or tested[b, a]).items()
        }
        for a in model_names
        for b in model_names
        if a != b
    }
    return Report(
        model_names, results, comparisons, metrics, max_p, win_tie_loss, rounding_digits, show_percentages, stat_test
    )


def compare_with_fastir(
    scores: dict[str, dict[str, np.ndarray]], stat_test: str, n_permutations: int, random_seed: int, threads: int | None
) -> dict[tuple[str, str], dict[str, Tested]]:
    """{(a, b): {metric: p-value and counts}} of every two runs, by fastir's tests."""
    from fastir.analyses.compare.compare_scores import compare_scores

    columns = {
        metric: [run_scores[metric] for run_scores in scores.values()] for metric in next(iter(scores.values()), ())
    }
    undefined = dict.fromkeys(columns, (math.nan, (0, 0, 0)))
    tested: dict[Any, dict[str, Any]] = {pair: dict(undefined) for pair in itertools.combinations(scores, 2)}
    # a metric may be NaN for all queries: bpref where nothing was judged not relevant
    metrics = [metric for metric, values_by_run in columns.items() if not np.isnan(values_by_run).any(axis=0).all()]
    if tested and metrics:
        by_query = {
            name: {metric: dict(enumerate(run_scores[metric].tolist())) for metric in metrics}
            for name, run_scores in scores.items()
        }
        comparison = compare_scores(
            by_query,
            test=TESTS[stat_test],
            n_resamples=n_permutations,
            correction=None,  # as ranx
            random_state=random_seed,
            n_threads=threads,
        )
        for pair in comparison.pairs:
            tested[pair.a, pair.b][pair.metric] = pair.p_value, (pair.wins, pair.ties, pair.losses)
    return tested


def compare_as_ranx(
    scores: dict[str, dict[str, np.ndarray]], stat_test: str, n_permutations: int, random_seed: int, _: int | None
) -> dict[tuple[str, str], dict[str, Tested]]:
    """{(a, b): {metric: p-value and counts}} as ranx computes them."""
    from scipy import stats

    tested: dict[tuple[str, str], dict[str, Tested]] = {pair: {} for pair in itertools.combinations(scores, 2)}
    names = list(scores)
    for metric in scores[names[0]] if tested else ():
        columns = {name: run_scores[metric] for name, run_scores in scores.items()}
        unpaired = stats.tukey_hsd(*columns.values()).pvalue if stat_test == "tukey" else None
        for a, b in tested:
            x, y = columns[a], columns[b]
            if unpaired is not None:
                p = unpaired[names.index(a), names.index(b)]
            elif stat_test == "student":
                p = stats.ttest_rel(x, y).pvalue
            else:
                p = share_of_permutations(x, y, n_permutations, random_seed)
            tested[a, b][metric] = float(p), (int((x > y).sum()), int((x == y).sum()), int((x < y).sum()))
    return tested


def share_of_permutations(x: np.ndarray, y: np.ndarray, n_permutations: int, random_seed: int) -> float:
    """How many permutations have means as far apart as x and y, all in floating point and none counted twice."""

    def apart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.abs(np.cumsum(x, axis=1)[:, -1] / x.shape[1] - np.cumsum(y, axis=1)[:, -1] / y.shape[1])

    rng = np.random.default_rng(random_seed)
    observed, n_reached, step = apart(x[None], y[None])[0], 0, max(1, BLOCK_VALUES // len(x))
    for start in range(0, n_permutations, step):
        swapped = rng.random((min(step, n_permutations - start), len(x))) < 0.5
        n_reached += int((apart(np.where(swapped, y, x), np.where(swapped, x, y)) >= observed).sum())
    return n_reached / n_permutations


# ---- the report ------------------------------------------------------------------------------------------------------
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


@dataclass(eq=False, repr=False)
class Report:
    """The result of `compare`; str() is its table.

    `results` are ``{name: {metric: mean}}``; `comparisons` a FrozensetDict of two names, in any order, to ``{metric:
    {"p_value": float, "significant": bool}}``; `max_p` is the largest p-value that is significant; `win_tie_loss` has
    ``{(name, other): {metric: {"W": int, "T": int, "L": int}}}``, for both orders of two names; `stat_test` is
    "student", "fisher" or "tukey".
    """

    model_names: list[str]
    results: dict[str, dict[str, float]]
    comparisons: FrozensetDict
    metrics: list[str]
    max_p: float
    win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]]
    rounding_digits: int = 3
    show_percentages: bool = False
    stat_test: str = "student"

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
        return self._letters_of_others(model, metric, True)

    def get_phantoms_for_latex(self, model: str, metric: str) -> str:
        """The letters of the other runs, for which room is left."""
        return self._letters_of_others(model, metric, False)

    def _letters_of_others(self, model: str, metric: str, beaten: bool) -> str:
        letters = ""
        for place, other in enumerate(self.model_names):
            if other != model:
                is_significant = self.comparisons[model, other][metric]["significant"]
                is_beaten = is_significant and self.results[model][metric] > self.results[other][metric]
                letters += letter(place) if bool(is_beaten) is beaten else ""
        return letters

    # ---- tables ----------------------------------------------------------------------------------------------------
    def to_table(self) -> str:
        """The means as a table; the raised letters name the runs that a run is significantly better than."""
        models = self.model_names
        columns = [column("#", [letter(place) for place in range(len(models))]), column("Model", models)]
        for metric in self.metrics:
            scores = [self.format_score(self.results[model][metric]) for model in models]
            marks = [self.get_superscript_for_table(model, metric) for model in models]
            cells = [score + mark for score, mark in zip(scores, marks, strict=True)]
            columns.append(column(self.get_metric_label(metric), cells))
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
