"""Everything that a report shows, computed: each run is evaluated, compared and explained."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from fastir.analyses.compare.compare import are_results, evaluated_and_compared, query_policy
from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.options import Options
from fastir.data.qrels import as_qrels
from fastir.data.results.results import Results
from fastir.engine.measure import JUDGED
from fastir.errors import FastirWarning, quote, warn_caller
from fastir.evaluation import run_collections
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.many import name_the_run
from fastir.evaluation.rules import columns_by_side
from fastir.inputs import files
from fastir.rendering.text import distinct_texts, printable
from fastir.report.rankings import RankingsByQuery
from fastir.request.custom import CustomMetric


class Gathered(NamedTuple):
    """What the page is made of."""

    comparison: Comparison
    names: dict[Any, str]  # the runs as they are shown, no two alike
    results: dict[Hashable, Results]
    judged: dict[Hashable, Results]  # the share of judged documents in the first ranks; none if the qrels have no such
    rankings: RankingsByQuery
    files: list[tuple[str, dict[str, Any]]]  # (what it is, name and bytes) of the files that were read
    warnings: list[str]
    depth: int
    queries: (
        str | None
    )  # the rule, if the caller or the convention names one: an intersection is made of values for all queries


def gathered(
    qrels: Any,
    runs: Any,
    metrics: Any,
    names: Any,
    depth: int,
    statistics: dict[str, Any],
    rules: dict[str, Any],
    progress: Callable[[Hashable, int], object] | None,
) -> Gathered:
    """Evaluate, compare and explain; warnings are issued at the end, each once.

    Raises
    ------
    TypeError, ValueError and others
        As `compare`.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FastirWarning)
        pages_data = with_files(qrels, runs, metrics, names, depth, statistics, rules, progress)
    texts = list(dict.fromkeys(str(warning.message) for warning in caught))
    for text in texts:
        warn_caller(text)
    return pages_data._replace(warnings=texts)


def with_files(
    qrels: Any,
    runs: Any,
    metrics: Any,
    names: Any,
    depth: int,
    statistics: dict[str, Any],
    rules: dict[str, Any],
    progress: Callable[[Hashable, int], object] | None,
) -> Gathered:
    """What is gathered, and the files that it was read from."""
    of_qrels, _ = columns_by_side(*(rules.get(name) for name in ("columns", "qrels_columns", "run_columns")))
    named = dict(run_collections.runs_by_name(runs, rules.get("run_columns"), rules.get("duplicates"), names, [qrels]))
    described = [("judgments", file) for file in files.described("file", qrels).values()]
    names_shown = distinct_texts(named, shown=visible)
    described += [
        (f"run {names_shown[name]}", file)
        for name, run in named.items()
        for file in files.described("file", run).values()
    ]
    judgments = as_qrels(qrels, of_qrels, rules.get("duplicates"))
    if isinstance(rules.get("queries"), Iterable) and not isinstance(rules["queries"], str):
        rules = {**rules, "queries": list(rules["queries"])}
    readers = Evaluator(judgments, metrics, **{**rules, "queries": None})
    held = {name: read_run(readers, name, run, progress) for name, run in named.items()}
    how = Options(**statistics, queries=rules.get("queries"), n_threads=rules.get("n_threads"))
    rest = {name: value for name, value in rules.items() if name not in ("queries", "n_threads")}
    results, comparison = evaluated_and_compared(judgments, held, metrics, "stem", how, rest, None)
    policy = query_policy(how.queries, rules.get("convention", "fastir"))
    rankings = RankingsByQuery(comparison.query_ids, depth, rules.get("rel_level", 1))
    explained = [metric for metric in comparison.metrics if not isinstance(metric, CustomMetric)]
    if explained:
        explainer = Evaluator(judgments, explained, **{**rules, "queries": "qrels"})
        for run in held.values():
            rankings.add(explainer, run)
    judged = judged_shares(judgments, held, depth, rules)
    return Gathered(
        comparison,
        names_shown,
        results,
        judged,
        rankings,
        described,
        [],
        depth,
        policy if isinstance(policy, str) else None,
    )


def read_run(readers: Evaluator, name: Hashable, run: Any, progress: Callable[[Hashable, int], object] | None) -> Any:
    """A run in memory, by the rules of `readers`.

    Raises
    ------
    TypeError
        It is Results.
    """
    watch = None if progress is None else functools.partial(progress, name)
    try:
        if not isinstance(run, Results):
            return readers.rules.hold_run(run, watch)
    except Exception as error:
        if not are_results(run):
            name_the_run(error, name)
            raise
    raise TypeError(f"run {quote(name)} is Results, which have no rankings; a report needs the run itself")


def visible(text: str) -> str:
    """Text as the page has it: what would steer it, or is no UTF-8, stands as Python writes it, such as \\x1b."""
    return printable(text).encode("utf-8", "backslashreplace").decode("utf-8")


READING = (
    *("queries", "n_threads", "ties", "score_dtype", "duplicates", "parents", "aggregate", "exclude", "validate"),
    *("columns", "qrels_columns", "run_columns", "convention", "judged_only", "max_depth", "rel_level"),
)


def judged_shares(qrels: Any, runs: dict[Hashable, Any], depth: int, rules: dict[str, Any]) -> dict[Hashable, Results]:
    """The share of judged documents in the first ranks of each run, for qrels that have labels of documents."""
    chosen = {name: rules[name] for name in READING if name in rules}
    try:
        evaluator = Evaluator(qrels, [judged_name(depth)], **chosen)
    except ValueError:  # preferences, which have none
        return {}
    return dict(evaluator.evaluate_many(runs))


def judged_name(depth: int) -> str:
    return f"{JUDGED}@{depth}"
