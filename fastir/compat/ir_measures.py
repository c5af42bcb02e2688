"""fastir as a provider of ir_measures: ``fastir.compat.ir_measures.install()`` is the only change that is needed.

From then on `ir_measures.calc_aggregate`, `iter_calc`, `calc` and `evaluator`, the same methods of a measure,
`pt.Experiment` of PyTerrier and all other users of ir_measures' default pipeline are answered by fastir. Compared with
ir_measures 0.4.3 with pytrec_eval-terrier 0.5.11, cwl-eval 1.0.12, pyndeval 0.0.8, gdeval 1.2a and ranx 0.3.21.

**Same**: the value of every measure that a bundled provider computes, with all parameters and to 1e-12, each by that
provider's rule for equal scores: as float32 and by document id from the last to the first for most, as float64 and from
the first for ``RR@k``, ``Judged``, ``Compat`` and the measures of diversity, in the input's order for cwl_eval and for
``Accuracy``. A mean is taken over the queries of the qrels and summed in the run's order; a query missing from the run
counts with the measure's default, also in ``NumQ`` and ``NumRel``. Requested alone, ``Accuracy`` leaves out queries
where it is not defined; with other measures it counts them as 0. An empty ranking makes ``IPrec`` NaN, and a query
without relevant documents ``nNRBP``. The last of several judgments of a document counts, any of them for ``RR@k``; and
the last of several scores.

**Different on purpose**: ``ERR@k`` and ``nDCG(dcg='exp-log2')@k`` are not rounded to five decimals, need no perl, take
any query id, and take the best of several judgments of a document, once; gdeval takes the least above 0, and all
of them into the ideal ranking. Without a cutoff the latter orders equal scores as with one, while ranx does in no
certain order. A measure does not depend on the others: there, ``nDCG`` may have the gains of another one,
``NumRet`` count judged documents only, and a second setting of diversity measures is 0. ``Accuracy`` where every
document is relevant is 1, and ``Judged`` of an empty ranking 0. ``IPrec`` takes recall points with more than two
decimals. A duplicate document in a run counts once everywhere, and the rows of a query need not be contiguous
for any measure. A query that a dict has no judgments for counts for every measure. Query ids and document ids may be
integers. A NaN among the scores is a ValueError, as is a label that is no whole number. Metrics come query by query in
the run's order; queries that are missing from the run come last.

More than the bundled providers: ``RR(judged_only=True)@k``, ``ERR`` and the measures of diversity without a cutoff or
with one above 20, ``NumRel(rel=2)``, ``RBP`` with a cutoff, and without `rel`, when a document adds its label.

**Not offered**, and left to the other providers: measures defined at run time, `rel` below 1, `gains` with a negative
label or gain, and `judged_only` for measures of diversity. Nor does it give cwl_eval's other values (`CwlMetric`), or
print warnings about `min_rel`, `max_rel` and subtopics: ``ir_measures.cwl_eval`` and ``ir_measures.pyndeval`` do so as
before.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from fastir import compat
from fastir.data.qrels import Qrels
from fastir.data.run import Run
from fastir.errors import DuplicateError, UnknownMetricError
from fastir.evaluation.evaluator import Evaluator
from fastir.request import names

QREL_FIELDS = ("query_id", "doc_id", "relevance")
RUN_FIELDS = ("query_id", "doc_id", "score")
Kind = Literal["last", "max", "groups"]  # what a metric needs of several judgments of a document
# The metrics, with a cutoff, to which a document is as good as its best judgment.
ANY_SUBTOPIC = {("mrr", True), ("err", True), ("ndcg_burges", True)}


def install() -> None:
    """Register fastir as a provider of ir_measures, in front of all others; ImportError if that is not installed."""
    compat.install("ir_measures")


def __getattr__(name: str) -> Any:
    """`providers`: the providers of ir_measures' default pipeline, behind fastir's."""
    if name != "providers":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return [provider(), *others()]


def others() -> list[Any]:
    """The providers of ir_measures' default pipeline without fastir's."""
    from ir_measures import DefaultPipeline

    return [provider for provider in DefaultPipeline.providers if provider.NAME != "fastir"]


@functools.cache
def provider() -> Any:
    """The provider, which ir_measures knows as "fastir" from now on."""
    providers: Any = compat.importing("ir_measures.providers", "ir_measures")

    class FastirEvaluator(Scores, providers.Evaluator):
        pass

    class FastirProvider(providers.Provider):
        NAME = "fastir"

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> FastirEvaluator:
            return FastirEvaluator(measures, qrels)

        def supports(self, measure: Any) -> bool:
            measure.validate_params()
            return read_measure(measure) is not None

    return providers.register(FastirProvider())


def read_measure(measure: Any) -> names.Request | None:
    """How fastir reads a measure of ir_measures' own; None if it does not compute it."""
    if not type(measure).__module__.startswith("ir_measures.measures."):
        return None
    if any(label < 0 or gain < 0 for label, gain in measure.params.get("gains", {}).items()):
        return None  # for them the label that replaces a label, for fastir the gain of a label
    try:
        request = names.read(metric_name(measure), "ir_measures")[0]
    except UnknownMetricError:
        return None
    return None if request.card.groups and request.params.get("judged_only") else request


def metric_name(measure: Any) -> str:
    """fastir's name for a measure; some settings of a measure are separate metrics in fastir."""
    name, params = measure.NAME, dict(measure.params)
    at = params.pop(measure.AT_PARAM, None)
    params = {param: value for param, value in params.items() if value != measure.SUPPORTED_PARAMS[param].default}
    if name == "nDCG" and params.pop("dcg", None):
        name = "ndcg_burges"
    if name == "RBP" and "rel" not in params:
        params.update(gains="raw", rbp_norm="infinite")
    inside = ", ".join(f"{param}={value}" for param, value in params.items())
    return f"{name}({inside})" + (f"@{at}" if at is not None else "")


def sort_key(measure: Any, request: names.Request) -> tuple[Any, ...]:
    """The sort key of a measure: by the provider that computes it without fastir, then in trec_eval's order."""
    providers = others()
    provider = next((place for place, other in enumerate(providers) if other.supports(measure)), len(providers))
    printed = trec_places().get((request.card.name, request.cutoff is not None), len(trec_places()))
    return provider, printed, request.cutoff or 0, str(measure)


@functools.cache
def trec_places() -> dict[tuple[str, bool], int]:
    """The position of a metric, with a cutoff or without one, in trec_eval's output."""
    places: dict[tuple[str, bool], int] = {}
    for place, name in enumerate(names.NICKNAMES["all_trec"].split()):
        for request in names.read(name, "trec_eval"):
            places.setdefault((request.card.name, request.cutoff is not None), place)
    return places


class Scores:
    """Qrels and measures prepared once, with the methods of ir_measures' Evaluator.

    `measures` are of ir_measures.Measure, `qrels` a dict of dicts, a DataFrame, or an iterable of ir_measures.Qrel.
    ValueError: a measure is not supported, or the qrels have another type.
    """

    measures: list[Any]
    qrel_qids: set[Any]

    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        request_by_measure = {measure: read_measure(measure) for measure in measures}
        requests = {measure: request for measure, request in request_by_measure.items() if request is not None}
        unknown = [str(measure) for measure in request_by_measure if measure not in requests]
        if unknown:
            raise ValueError(f"fastir does not compute {', '.join(unknown)}")
        places = {measure: sort_key(measure, request) for measure, request in requests.items()}
        supported = {measure: requests[measure] for measure in sorted(places, key=places.__getitem__)}
        self.in_defaults: list[Any] = sorted(supported, key=lambda measure: (places[measure][0], str(measure)))
        judgments = Judgments(qrels)
        super().__init__(list(supported), set(judgments.query_ids))  # type: ignore[call-arg] # mixed into their Evaluator
        self.alone: bool = all(measure.NAME == "Accuracy" for measure in supported)
        self.judged: dict[Any, None] = dict.fromkeys(judgments.flat or ())
        kinds: dict[Kind, list[Any]] = {}
        for measure, request in supported.items():
            kinds.setdefault(judgments.kind_for(request), []).append((measure, request.text))
        self.parts: list[tuple[Evaluator, tuple[Any, ...]]] = []
        for kind, pairs in kinds.items() if self.judged else ():
            measures, texts = zip(*pairs, strict=True)
            qrels = judgments.flat if kind == "last" else judgments.read(kind)
            evaluator = Evaluator(qrels, texts, queries="qrels", convention="ir_measures", unranked="nan")
            self.parts.append((evaluator, measures))

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """The value of every measure for every query, as ir_measures.Metric."""
        yield from self.metrics(*self.columns(run))

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """The mean of every measure, or its sum."""
        return self.aggregates(*self.columns(run))

    def calc(self, run: Any) -> Any:
        """The values and the aggregates, as ir_measures.CalcResults."""
        from ir_measures import CalcResults

        columns = self.columns(run)
        return CalcResults(self.aggregates(*columns), list(self.metrics(*columns)))

    def columns(self, run: Any) -> tuple[list[Any], list[Any], dict[Any, list[Any]]]:
        """The judged queries of a run with each measure's values for them, and the queries that count with the default.

        None is a value that is left out.
        """
        query_ids, run = rankings(run)
        present = [query_id for query_id in query_ids if query_id in self.judged]
        absent = [] if self.alone else sorted(self.qrel_qids.difference(present))
        columns: dict[Any, list[Any]] = {measure: [] for measure in self.measures}
        for results, measures in self.results(run) if present else ():
            places = {query_id: place for place, query_id in enumerate(results.query_ids)}
            values = results.values[[places[query_id] for query_id in present]]
            columns.update(zip(measures, values.T.tolist(), strict=True))
        for measure, column in columns.items():
            if measure.NAME == "Accuracy":
                undefined = None if self.alone else measure.DEFAULT
                columns[measure] = [undefined if value != value else value for value in column]
        return present, absent, columns

    def results(self, run: Any) -> list[tuple[Any, ...]]:
        """Return the Results of each part; the last of several scores of a document counts."""
        try:
            return [(evaluator.rules.evaluate_one(run, None)[0], measures) for evaluator, measures in self.parts]
        except DuplicateError:
            return self.results(Run.from_table(run, None, "last"))

    def metrics(self, present: list[Any], absent: list[Any], columns: dict[Any, list[Any]]) -> Iterator[Any]:
        from ir_measures import Metric

        for row, query_id in enumerate(present):
            for measure, column in columns.items():
                if column[row] is not None:
                    yield Metric(query_id, measure, column[row])
        for measure in self.in_defaults:
            yield from (Metric(query_id, measure, measure.DEFAULT) for query_id in absent)

    def aggregates(self, present: list[Any], absent: list[Any], columns: dict[Any, list[Any]]) -> dict[Any, float]:
        means = {}
        for measure, column in columns.items():
            aggregator = measure.aggregator()
            for value in column + [measure.DEFAULT] * len(absent):
                if value is not None:
                    aggregator.add(value)
            means[measure] = aggregator.result()
        return means


class Judgments:
    """The caller's qrels as each kind of measure reads them.

    `flat` has the last judgment of each document, or is None without any judgment; `query_ids` include the queries of a
    dict that have no judgment.
    """

    def __init__(self, data: Any) -> None:
        self.data: Any = list(data) if isinstance(data, Iterator) else data
        self.flat: Qrels | None = self.read("last")
        self.query_ids: list[Any] = list(data if isinstance(data, dict) else self.flat or ())

    def kind_for(self, request: names.Request) -> Kind:
        """What a metric needs of several judgments of a document: the "last", the "max", or "groups" of them."""
        if self.flat is None or isinstance(self.data, dict):
            return "last"
        if request.card.groups:
            return "groups"
        best = (request.card.name, request.cutoff is not None) in ANY_SUBTOPIC
        return "max" if best and "duplicates" in self.flat.columns.repairs else "last"

    def read(self, kind: Kind) -> Qrels | None:
        data = self.data
        if isinstance(data, dict):
            judged = {query_id: docs for query_id, docs in data.items() if docs}
            return Qrels.from_dict(judged) if judged else None
        if kind == "groups":
            groups: dict[Any, dict[Any, Any]] = {}
            for query_id, doc_id, label, subtopic in with_subtopics(data):
                groups.setdefault(query_id, {}).setdefault(subtopic, {})[doc_id] = label
            return Qrels.from_dict(groups)
        table = as_table(data, "qrels", QREL_FIELDS)
        return Qrels.from_table(table, {"label": QREL_FIELDS[2]}, kind) if len(table[QREL_FIELDS[0]]) else None


def with_subtopics(data: Any) -> Iterable[tuple[Any, ...]]:
    """The rows of qrels, each with its iteration."""
    if hasattr(data, "itertuples"):
        frame = data if "iteration" in data.columns else data.assign(iteration="0")
        return zip(*(frame[field].tolist() for field in (*QREL_FIELDS, "iteration")), strict=True)
    return ((row.query_id, row.doc_id, row.relevance, getattr(row, "iteration", "0")) for row in data)


def rankings(data: Any) -> tuple[Iterable[Any], Any]:
    """The query ids of the caller's run in its order, and the run as fastir reads it."""
    if isinstance(data, dict):
        return data, data
    table = as_table(data, "run", RUN_FIELDS)
    ids = table[RUN_FIELDS[0]]
    if not isinstance(ids.dtype, np.dtype):  # Arrow's strings, or categories
        return ids.unique(), table
    ids = np.asarray(ids)
    begins = np.flatnonzero(ids[1:] != ids[:-1]) + 1  # few, where rows are grouped
    return dict.fromkeys([*ids[:1].tolist(), *ids[begins].tolist()]), table


def as_table(data: Any, what: str, fields: tuple[str, str, str]) -> Any:
    """Return a DataFrame unchanged, or a column for each of these fields of the rows of an iterable."""
    if hasattr(data, "itertuples"):
        missing = [field for field in fields if field not in data.columns]
        if missing:
            raise ValueError(
                f"{what}: the DataFrame has no column {' and '.join(map(repr, missing))}; it has "
                f"{', '.join(map(repr, data.columns))}"
            )
        return data
    try:
        rows = list(data)
        ids = {field: np.fromiter(map(attrgetter(field), rows), object, len(rows)) for field in fields[:2]}
        return {**ids, fields[2]: np.array(list(map(attrgetter(fields[2]), rows)))}
    except (AttributeError, TypeError) as error:
        raise ValueError(
            f"{what}: expected a dict of dicts, a DataFrame or an iterable of namedtuples with the fields "
            f"{', '.join(fields)}; {error}"
        ) from None
