"""Everything that a report shows, computed: each run is evaluated, compared and explained."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from fastir.analyses.compare.compare import are_results, evaluate_and_compare, query_policy
from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.options import Options
from fastir.analyses.explain.first_ranks import FirstDocuments, can_explain_all, explain_first
from fastir.analyses.explain.records import Document
from fastir.data.qrels import as_qrels
from fastir.data.results.results import Results
from fastir.engine.measure import JUDGED
from fastir.errors import FastirWarning, quote, warn_caller
from fastir.evaluation import run_collections
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.keywords import RankingOptions
from fastir.evaluation.rules import SIDE_OPTIONS, columns_by_side, without_qrels_options
from fastir.evaluation.run_collections import name_the_run
from fastir.inputs import files
from fastir.rendering.names import without_common
from fastir.rendering.text import distinct_texts, printable
from fastir.request.custom import CustomMetric
from fastir.request.keywords import LevelOptions

# ---- the first documents of each run for each query ------------------------------------------------------------------
CONTRIBUTION_UNIT = 10_000  # contributions are shown with four decimals


class RankingsByQuery:
    """The documents of each query that are in a run's first ranks, each once, and the rankings as their indices.

    Attributes
    ----------
    why_not : str
        Why there are no rankings; "" if there are.
    queries : list of dict
        For each query, in order: "docs" and "labels" of its documents; "gains", {metric: {label: text of its gain}};
        and for each run "runs", indices of docs; "parts", {metric: contributions in units of 0.0001, without zeros at
        the end}; "below", the relevant documents that it has further down, and those that it has not.
    unjudged : list of int
        For each run the documents without a judgment in the first ranks of all queries.
    """

    def __init__(self, query_ids: list[Any], depth: int, rel_level: Any) -> None:
        self.query_ids = query_ids
        self.depth = depth
        self.rel_level = rel_level
        self.why_not: str = ""
        self.unjudged: list[int] = []
        self.queries: list[dict[str, Any]] = [
            {"docs": [], "labels": [], "gains": {}, "runs": [], "parts": [], "below": []} for _ in query_ids
        ]
        self._places: list[dict[str, int]] = [{} for _ in query_ids]

    def add(self, evaluator: Evaluator, run: Any) -> None:
        """Add the rankings of a run; nothing, if they cannot be explained."""
        if self.why_not:
            return
        self.unjudged.append(0)
        try:
            for place, first in enumerate(self.first_documents(evaluator, run)):
                self._add(place, first)
        except ValueError as error:
            self.why_not = str(error)

    def first_documents(self, evaluator: Evaluator, run: Any) -> Iterable[FirstDocuments]:
        """The first documents of each query, at once where that can be."""
        if can_explain_all(evaluator):
            yield from explain_first(evaluator, run, self.query_ids, self.depth, self.rel_level)
            return
        for query_id in self.query_ids:
            explanation = evaluator.explain(run, query_id)
            n_below = sum(
                document.label is not None and document.label >= self.rel_level
                for document in explanation.documents[self.depth :]
            )
            yield FirstDocuments(explanation.documents[: self.depth], n_below, len(explanation.missing))

    def _add(self, place: int, first: FirstDocuments) -> None:
        query, places = self.queries[place], self._places[place]
        shown = first.shown
        for document in shown:
            text = str(document.doc_id)
            if text not in places:
                places[text] = len(places)
                query["docs"].append(text)
                query["labels"].append(document.label)
                note_gains(query["gains"], document)
        self.unjudged[-1] += sum(document.label is None or document.label < 0 for document in shown)
        query["runs"].append([places[str(document.doc_id)] for document in shown])
        parts = {metric: contributions(shown, metric) for metric in (shown[0].contribution if shown else ())}
        query["parts"].append({metric: units for metric, units in parts.items() if units})
        query["below"].append([first.n_below, first.n_missing])


def note_gains(gains: dict[str, dict[float, str | None]], document: Document) -> None:
    """Enter what a label gains; None where it is not the same for all documents, as in groups of judgments."""
    if document.label is None:
        return
    for metric, gain in document.gain.items():
        of_label = gains.setdefault(metric, {})
        text = f"{gain:.4f}"
        if of_label.setdefault(document.label, text) != text:
            of_label[document.label] = None


def contributions(documents: list[Document], metric: str) -> list[int]:
    """What each document adds, to the digit that `Explanation` prints."""
    units = [round(float(f"{document.contribution[metric]:.4f}") * CONTRIBUTION_UNIT) for document in documents]
    while units and not units[-1]:
        units.pop()
    return units


# ---- everything that is computed -------------------------------------------------------------------------------------
class ReportData(NamedTuple):
    """What the page is made of."""

    comparison: Comparison
    names: dict[Any, str]  # the displayed names of the runs, no two alike
    names_note: str  # what all names begin and end with, "" if nothing was left out
    results: dict[Hashable, Results]
    judged: dict[Hashable, Results]  # the fraction of judged documents in the first ranks; empty for preferences
    rankings: RankingsByQuery
    files: list[tuple[str, dict[str, Any]]]  # (what it is, name and bytes) of the files that were read
    warnings: list[str]
    depth: int
    queries: str | None  # the rule, if one was named: an intersection is made of values for all queries


def gather(
    qrels: Any,
    runs: Any,
    metrics: Any,
    names: Any,
    depth: int,
    statistics: dict[str, Any],
    rules: dict[str, Any],
    progress: Callable[[Hashable, int], object] | None,
) -> ReportData:
    """Evaluate, compare and explain; warnings are issued at the end, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FastirWarning)
        of_qrels, _ = columns_by_side(*(rules.get(name) for name in SIDE_OPTIONS))
        duplicates = rules.get("duplicates")
        named = dict(run_collections.runs_by_name(runs, rules.get("run_columns"), duplicates, names, [qrels]))
        full_names = distinct_texts(named, shown=visible_text)
        texts, names_note = without_common(list(full_names.values()))
        names_shown = dict(zip(full_names, texts, strict=True))
        described = [("judgments", file) for file in files.describe_file("file", qrels).values()]
        for name, run in named.items():
            described += [(f"run {names_shown[name]}", file) for file in files.describe_file("file", run).values()]
        judgments, rules = as_qrels(qrels, of_qrels, duplicates), without_qrels_options(rules)
        if isinstance(rules.get("queries"), Iterable) and not isinstance(rules["queries"], str):
            rules = {**rules, "queries": list(rules["queries"])}
        readers = Evaluator(judgments, metrics, **{**rules, "queries": None})
        held = {name: read_run(readers, name, run, progress) for name, run in named.items()}
        how = Options(**statistics, queries=rules.get("queries"), n_threads=rules.get("n_threads"))
        rest = {name: value for name, value in rules.items() if name not in ("queries", "n_threads")}
        results, comparison = evaluate_and_compare(judgments, held, metrics, "stem", how, rest, None)
        rankings = RankingsByQuery(comparison.query_ids, depth, rules.get("rel_level", 1))
        explained = [metric for metric in comparison.metrics if not isinstance(metric, CustomMetric)]
        if explained:
            explainer = Evaluator(judgments, explained, **{**rules, "queries": "qrels"})
            for run in held.values():
                rankings.add(explainer, run)
        judged = judged_shares(judgments, held, depth, rules)
    messages = list(dict.fromkeys(str(warning.message) for warning in caught))
    for message in messages:
        warn_caller(message)
    policy = query_policy(how.queries, rules.get("convention", "fastir"))
    policy = policy if isinstance(policy, str) else None
    return ReportData(
        comparison, names_shown, names_note, results, judged, rankings, described, messages, depth, policy
    )


def read_run(readers: Evaluator, name: Hashable, run: Any, progress: Callable[[Hashable, int], object] | None) -> Any:
    """A run in memory, by the rules of `readers`."""
    watch = None if progress is None else functools.partial(progress, name)
    try:
        if not isinstance(run, Results):
            return readers.rules.hold_run(run, watch)
    except Exception as error:
        if not are_results(run):
            name_the_run(error, name)
            raise
    raise TypeError(f"run {quote(name)} is Results, which have no rankings; a report needs the run itself")


def visible_text(text: str) -> str:
    """Text for the page: control characters, and what is no UTF-8, are escaped as in Python, such as \\x1b."""
    return printable(text).encode("utf-8", "backslashreplace").decode("utf-8")


READING_OPTIONS = (*RankingOptions.__annotations__, *LevelOptions.__annotations__)


def judged_shares(qrels: Any, runs: dict[Hashable, Any], depth: int, rules: dict[str, Any]) -> dict[Hashable, Results]:
    """The fraction of judged documents in the first ranks of each run, for qrels that have labels of documents."""
    chosen = {name: rules[name] for name in (*READING_OPTIONS, "unanswerable") if name in rules}
    try:
        evaluator = Evaluator(qrels, [judged_name(depth)], **chosen)
    except ValueError:  # preferences, which have none
        return {}
    return dict(evaluator.evaluate_many(runs))


def judged_name(depth: int) -> str:
    return f"{JUDGED}@{depth}"
