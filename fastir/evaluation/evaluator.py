"""Evaluator: qrels and metrics prepared once, for any number of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex

import fastir.rendering as rendering
from fastir.checks import flag, number
from fastir.evaluation.rules import EvaluationRequest, EvaluationRules, columns_by_side, prepare
from fastir.inputs.parents import read_as
from fastir.inputs.source import as_source
from fastir.request.options import (
    Aggregate,
    Duplicates,
    Queries,
    Ties,
    Validate,
    check_options,
    metric_tuple,
    query_rule,
)

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import DTypeLike

    from fastir.analyses.explain.records import Explanation
    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.by_run import ResultsByRun
    from fastir.data.results.results import Results
    from fastir.data.run import RunLike, RunsLike
    from fastir.evaluation.partial.partial import Partial
    from fastir.evaluation.run_collections import RunNames
    from fastir.inputs.exclusions import ExcludeLike, ForbiddenLike, UnanswerableLike
    from fastir.inputs.mappings import DocGroupsLike, DocWeights, TargetLike
    from fastir.inputs.parents import ParentsLike
    from fastir.request.conventions import Convention
    from fastir.request.keywords import ConventionName, MetricOptions


Strategy = Literal["auto", "grouped", "two-pass", "lists"]


class Evaluator:
    """Qrels and metrics prepared once, for any number of runs.

    See `evaluate` for parameters and exceptions: errors in the qrels, the metrics or an option are raised here,
    errors in a run by the method `evaluate`.

    Notes
    -----
    Immutable: qrels and metrics are copied, and later changes in them have no effect. Any number of threads may use one
    Evaluator at once. A pickled Evaluator contains its qrels, and prepares them again when it is unpickled.

    Examples
    --------
    >>> import fastir
    >>> evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2}}, ["mrr", "num_ret"], rel_level=2)
    >>> evaluator.evaluate({"q": {"a": 2.0, "b": 1.0}})["mrr"]
    0.5
    >>> evaluator.evaluate({"q": {"b": 1.0}})["mrr"]
    1.0
    """

    def __init__(
        self,
        qrels: QrelsLike,
        metrics: str | Iterable[str],
        *,
        rel_level: SupportsIndex | SupportsFloat = 1,
        queries: Queries | None = None,
        ties: Ties | None = None,
        judged_only: bool = False,
        max_depth: SupportsIndex | None = None,
        min_score: SupportsFloat | None = None,
        score_dtype: DTypeLike | None = None,
        n_threads: SupportsIndex | None = None,
        duplicates: Duplicates | None = None,
        parents: ParentsLike | None = None,
        aggregate: Aggregate = "max",
        exclude: ExcludeLike | None = None,
        validate: Validate = "full",
        columns: Mapping[str, str] | None = None,
        qrels_columns: Mapping[str, str] | None = None,
        run_columns: Mapping[str, str] | None = None,
        label: SupportsFloat | None = None,
        weights: Mapping[Any, float] | None = None,
        doc_weights: DocWeights | str | os.PathLike[str] | None = None,
        forbidden: ForbiddenLike | None = None,
        forbidden_level: SupportsFloat | None = None,
        unanswerable: UnanswerableLike | None = None,
        doc_groups: DocGroupsLike | None = None,
        target: TargetLike | None = None,
        doc_costs: DocWeights | str | os.PathLike[str] | None = None,
        ties_report: bool = False,
        convention: ConventionName | str | Convention = "fastir",
        **choices: Unpack[MetricOptions],
    ) -> None:
        rule, query_ids = query_rule(queries)
        options = check_options(
            rel_level=rel_level,
            queries=rule,
            ties=ties,
            judged_only=judged_only,
            max_depth=max_depth,
            min_score=min_score,
            score_dtype=score_dtype,
            n_threads=n_threads,
            duplicates=duplicates,
            validate=validate,
            convention=convention,
            choices=choices,
        )
        sides = columns_by_side(columns, qrels_columns, run_columns, label)
        documents = read_as(parents, aggregate, duplicates, exclude, convention)
        level = None if forbidden_level is None else number("forbidden_level", forbidden_level)
        request = EvaluationRequest(
            *(qrels, metrics, options, sides, weights, documents, query_ids, doc_weights, forbidden, level),
            unanswerable=unanswerable,
            doc_groups=doc_groups,
            target=target,
            doc_costs=doc_costs,
            ties_report=flag("ties_report", ties_report),
        )
        self.rules: EvaluationRules = EvaluationRules(request)
        self.rules.warn_of_fractions()

    def __reduce__(self) -> tuple[Any, ...]:
        return make_evaluator, (self.rules.request(),)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name != "rules"]

    def __repr__(self) -> str:
        rules, provenance = self.rules, self.rules.provenance()
        metrics = ", ".join(provenance.metrics)
        convention = "" if str(provenance.convention) == "fastir" else f"; convention {provenance.convention}"
        options = "".join(f"; {name}={value!r}" for name, value in provenance.options.items())
        parents = "; ids of runs by their parents" if "parents" in rules.inputs else ""
        parents += "; without excluded documents" if "exclude" in rules.inputs else ""
        weights = "; weighted means" if rules.weights is not None else ""
        return f"<Evaluator of {repr(rules.qrels).strip('<>')}: {metrics}{convention}{options}{parents}{weights}>"

    def _repr_html_(self) -> str:
        provenance = self.rules.provenance()
        rows = [("judgments", repr(self.rules.qrels).strip("<>")), ("convention", str(provenance.convention))]
        rows += [(name, repr(value)) for name, value in provenance.options.items()]
        rows += [(f"metric {name}", text) for name, text in provenance.metrics.items()]
        cells = [list(map(rendering.Cell, row)) for row in rows]
        return rendering.render(rendering.Table(["Evaluator", ""], cells, 2, []), "html")

    def evaluate(self, run: RunLike) -> Results:
        """Evaluate one run; see the function `evaluate` for parameters, results, errors and warnings."""
        rules = self.rules
        if type(run) is not dict:
            run = as_source(run)
        if rules.columns is not None:
            rules.refuse_names(run)
        results, coverage = rules.evaluate_one(run, rules.settings.n_threads)
        if rules.may_be_run or not coverage.is_complete:
            rules.warn_of_run(coverage, run)
        return results

    def evaluate_many(
        self, runs: RunsLike, *, names: RunNames = "stem", progress: Callable[[Hashable, int], object] | None = None
    ) -> ResultsByRun:
        """Evaluate many runs; see the function `evaluate_many` for parameters, results, errors and warnings."""
        from fastir.evaluation.many import evaluate_runs

        return evaluate_runs(self.rules, runs, progress, names)

    def explain(self, run: RunLike, query_id: str | int) -> Explanation:
        """Show where the values of one ranking come from: each document with its label and what it contributes.

        Parameters
        ----------
        run : as for `evaluate`
            Of a file of lines, other queries are read but not kept, and their duplicates are not looked for.
        query_id : str or int
            A query of the qrels; if it is missing from the run, its ranking is empty.

        Returns
        -------
        Explanation
            The documents in the order in which they were evaluated, with ties, labels, gains, discounts and
            contributions, and the relevant ones that are missing. Its method `diff` compares it with the Explanation of
            another run.

        Raises
        ------
        KeyError
            The qrels have no such query.
        NoOverlapError
            With ``queries="intersection"``: the query is missing from the run, so it does not count.
        ValueError
            The convention ranks equal scores differently for some of the metrics, or the tie rule for some of the
            groups of the qrels, and there are such scores: there is no single ranking.
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
            As for `evaluate`.

        Examples
        --------
        >>> import fastir
        >>> evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2, "c": 1}}, ["ndcg", "map"])
        >>> explanation = evaluator.explain({"q": {"x": 3.0, "b": 2.0, "a": 1.0}}, "q")
        >>> explanation
        query q: ndcg 0.5627, map 0.3889
        rank     doc_id  score  tied  label     ndcg      map
        1        x           3            -
        2        b           2            2  +0.4030  +0.1667
        3        a           1            1  +0.1597  +0.2222
        missing  c                        1
        >>> explanation.documents[1].gain["ndcg"], explanation.documents[1].discount["map"]
        (2.0, 0.5)
        """
        from fastir.analyses.explain.query_explanation import explain_query

        rules = self.rules
        rules.refuse_names(run)
        run = rules.retrieved(run)
        if rules.custom is not None and len(rules.custom.custom) == len(rules.custom.metrics):
            metric_tuple(rules.custom.custom)  # which refuses them; beside others they are left out
        if rules.settings.options.queries == "strict":  # which only all queries can break
            run = rules.hold_run(run)
            rules.evaluate_one(run, None)
        return explain_query(rules.prepared, prepare, run, query_id)

    def judged_rankings(self, run: RunLike) -> JudgedRankings:
        """Judge one run; see the function `judged_rankings` for results, errors and warnings."""
        return self.rules.judged_rankings(run)

    def partial(
        self, rows: RunLike | None = None, *, strategy: Strategy = "auto", after: Partial | None = None
    ) -> Partial:
        """Evaluate a part of a run, wherever it is: the results of parts are merged, and give the Results.

        Parameters
        ----------
        rows : as for `Partial.add`
            The part; None for none, yet.
        strategy : {"auto", "grouped", "two-pass", "lists"}
            "grouped": all rows of a query come in one part. "two-pass": rows come in any part and order, and every part
            is read twice; first to find the judged documents, then to count the rows before them, with `after`; needs
            ``validate="judged"``, and what moves between parts is of the order of the judgments. "lists": each row of a
            part is the ranking of a query. "auto": "lists" for tables with a column that has such a name; else
            "two-pass" if the Evaluator has ``validate="judged"``; else "grouped".
        after : Partial or None
            The merged result of all parts in the first of two passes; the new Partial is of the second.

        Returns
        -------
        Partial

        Raises
        ------
        ValueError
            As by `judged_rankings`; or two passes cannot do what an option asks for.
        UnknownMetricError
            A metric needs the documents themselves.
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
            As by `Partial.add`; or `after` is something else.

        Examples
        --------
        >>> import fastir
        >>> evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr", validate="judged")
        >>> one, other = [("q", "b", 2.0)], [("q", "c", 3.0), ("q", "a", 1.0)]
        >>> first = evaluator.partial(one)
        >>> first.merge(evaluator.partial(other))
        >>> second = evaluator.partial(one, after=first)
        >>> second.merge(evaluator.partial(other, after=first))
        >>> second.result()["mrr"]
        0.3333333333333333
        """
        part = self.rules.empty_partial(strategy, after, self.rules.custom is not None)
        if rows is not None:
            part.add(rows)
        return part


def make_evaluator(request: EvaluationRequest) -> Evaluator:
    """An Evaluator from options that are checked."""
    evaluator = Evaluator.__new__(Evaluator)
    evaluator.rules = EvaluationRules(request)
    return evaluator
