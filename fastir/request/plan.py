"""Metrics and options, compiled once into Settings: a Plan joins the metrics that can share a scan of the ranking.

Some metrics need the size of the collection. A kernel cannot raise: its value is infinite if the size is too small, and
`refuse_small` raises the error before Results are made of the values. `compile_fixed` makes the Settings for rankings
that are already ordered, and refuses rules of another order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.declared import Param
from fastir.engine.measure import NUM_REL, NUM_RET, POSITIONED
from fastir.engine.measure._registry import has_expected
from fastir.engine.measure.cards import Card
from fastir.errors import UnknownMetricError, quote, warn_caller
from fastir.rendering.text import counted
from fastir.request import names
from fastir.request.compiler import code_from, compile_plan, reads_labels
from fastir.request.names import Request
from fastir.request.options import MAX_DEPTH, RANKED, TIES, TIES_BY_ID, Options, QueryRule, check_options

if TYPE_CHECKING:
    from fastir.engine.measure._grades import Grades, Rows
    from fastir.engine.measure._measure import Plan
    from fastir.request.conventions import Convention
    from fastir.request.provenance import Provenance

# What a metric reads as qrels: the caller's; what was judged for any query; the caller's, with an order of the ideal
# ranking that goes by the scores of the run; the caller's, as a sample of a pool; the caller's, with weights; what is
# forbidden; the caller's, for exposure of groups; the caller's, for rankings with costs.
AS_GIVEN, POOLED, BY_SCORE, SAMPLED, WEIGHTED, FORBIDDEN, GROUPED, COSTED = QRELS_KINDS = (
    *("as given", "pooled", "by score", "sampled", "weighted", "forbidden", "grouped", "costed"),
)
BY_OPTION = {
    "weights": WEIGHTED,
    "forbidden": FORBIDDEN,
    "groups": GROUPED,
    "costs": COSTED,
}  # what `Card.sampled` says an option must have
ID_PROPERTIES = {  # what only documents with their ids have
    POOLED: "document ids and qrels, to know what was judged for any query",
    SAMPLED: "qrels that say how their documents were sampled, or which set or hop they belong to",
    WEIGHTED: "weights of documents, doc_weights",
    FORBIDDEN: "forbidden documents, forbidden",
    GROUPED: "groups of documents, doc_groups",
    COSTED: "costs of documents, doc_costs",
}

NO_LIMIT = 2**63 - 1
POOL = "pool"  # Card.reads of a metric that counts judgments, whatever their labels

# Options that a Provenance has in its convention, and one that no value depends on.
UNRECORDED_OPTIONS = ("convention", "queries", "ties", "score_dtype", "choices", "n_threads")


# The errors about real-valued labels, by the word of the convention.
FRACTION_ERRORS = {
    "cut": "convention {tool!r}: label {label!r} is not an integer, and that tool reads it as {whole}",
    "refused": "convention {tool!r}: label {label!r} is not an integer, and that tool refuses it",
    "linear": "convention {tool!r}: label {label!r} is not an integer, and that tool takes such labels in ndcg with "
    "gain='linear' alone, not in {metric}",
    "integers": "convention {tool!r}: label {label!r} is not an integer, and that tool's labels are integers",
    "pairs": "convention {tool!r}: label {label!r} is not an integer, and {metric} counts pairs of unequal labels "
    "there",
    "gains": "convention {tool!r}: label {label!r} is not an integer, and that tool takes such labels as gains alone; "
    "give rel_level, from which on documents are relevant to {metric}",
    "ids": "convention {tool!r}: label {label!r} is not an integer, and that tool takes ids of relevant documents "
    "without labels; give rel_level, from which on documents are relevant to {metric}",
}


class Settings:
    """A plan with what belongs to it: names as typed, how each is averaged, what labels must not exceed, the rules.

    `level`, `ties` (a position in TIES), `single` and `n_threads` are what kernels take; `queries` is the convention's
    rule where the options have none. `sizes` are the collection's sizes, by the columns of metrics that need one.
    `micro` are the columns of micro averages, and `n_shown` the number of columns that were asked for: counts follow.
    `parts` are the metrics by their rules {"queries", "ties", "score_dtype", "duplicates", "judged_only"} and by what
    qrels they read, one of `QRELS_KINDS`, where not all have the same.

    Immutable by agreement. This is a class and not a named tuple because an evaluation of one query reads ten fields,
    and a tuple's fields are read more slowly by their names.
    """

    options: Options
    compiled: tuple[list[names.Request], list[dict[str, Any]], float, bool, int, bool]
    names: list[str]
    aggregates: list[str]
    plan: Plan
    label_limits: list[tuple[int, str, str]]
    largest_label: int  # the least of these limits
    level: int
    ties: int
    single: Any
    least: float  # the least score that is retrieved, as a double even where scores are float32
    n_threads: int | None
    sizes: dict[int, tuple[str, Any]]

    @property
    def lines(self) -> str:
        """The format of files with a row per line: tools, trec_eval among them, take anything for a rank."""
        return "trec" if self.options.convention == "fastir" else "trec_eval"

    def __init__(self, metrics: tuple[str, ...], options: Options, derived: bool = False, costed: bool = False) -> None:
        chosen = dict(options.choices)
        ranked = options.ties is RANKED
        rules: dict[str, Any] = {
            "queries": options.queries,
            "ties": None if ranked else options.ties,
            "score_dtype": options.score_dtype,
            "duplicates": options.duplicates,
        }
        overrides = {**{name: value for name, value in rules.items() if value is not None}, **chosen}
        repaired = overrides.pop("duplicates", None)
        record = None
        if options.convention != "fastir":
            overrides = overrides if repaired is None else {**overrides, "duplicates": repaired}
            record = resolved_convention(options.convention, overrides)
            rules = {name: getattr(record, name) for name in rules}
            if options.rel_level == 1:
                options = options._replace(rel_level=record.rel_level)
        requests = parse_requests(metrics, "fastir" if record is None else record.dialect)
        values = [param_values(request, chosen, record) for request in requests]
        self.fractions: tuple[str, str, str] | None = None
        if record is not None:
            self.fractions = find_refused_fractions(requests, values, record, options.rel_level)
            if options.rel_level == record.rel_level:
                requests = [apply_level(*each, record) for each in zip(requests, values, strict=True)]
        parts = group_requests(requests, values, {**rules, "judged_only": options.judged_only}, record, derived, costed)
        if ranked:
            check_ranked(parts, options)
            parts = []
        depth = MAX_DEPTH if options.max_depth is None else options.max_depth
        average = rules["ties"] == "average" and not ranked and not parts
        if average:
            check_average(requests, values, depth)
        self.metrics = metrics
        self.costed: bool = costed
        self.options = options if repaired else options._replace(duplicates=rules["duplicates"])
        self.requests = requests
        self.names = [request.text for request in requests]
        self.values = values
        self.aggregates = list(map(aggregate, requests, values))
        self.micro: list[int] = [column for column, how in enumerate(self.aggregates) if how.startswith("micro")]
        self.n_shown: int = len(requests)
        if chosen.get("average") == "micro":
            refuse_other_averages(requests)
        self.overrides = overrides
        self.parts: list[tuple[list[names.Request], dict[str, Any], str]] = parts
        self.compiled = requests, values, options.rel_level, options.judged_only, depth, average
        self.grades: Grades | None = None
        self.rows: Rows | None = None
        self._for_rows: list[Settings] | None = None  # none or one
        self.plan, self.label_limits = compile_plan(*self.compiled)
        self.largest_label = min((limit for limit, _, _ in self.label_limits), default=NO_LIMIT)
        self.level = code_from(options.rel_level, None)
        self.queries: QueryRule | None = rules["queries"]
        self.ties = TIES.index(rules["ties"] or "trec")
        self.single = rules["score_dtype"] == "float32"
        self.least = least_double(options.min_score, self.single)
        self.n_threads = options.n_threads
        self.sizes = collection_sizes(requests, values)

    def least_of(self, scores: np.ndarray) -> float:
        """The least score of an array that is retrieved; float32 scores are compared as such."""
        return least_double(self.options.min_score, self.single or scores.dtype == np.float32)

    def __copy__(self) -> Settings:
        copied = object.__new__(Settings)
        copied.__dict__.update(self.__dict__)
        return copied

    def for_grades(self, grades: Grades | None, where: Callable[[], tuple[float, str]] | None = None) -> Settings:
        """These settings for codes of real-valued labels; `where` names the first real-valued label."""
        if grades is self.grades:
            return self
        if self.fractions is not None and grades is not None:
            tool, outcome, metric = self.fractions
            fraction, place = next(float(label) for label in grades.labels if label != int(label)), ""
            if where is not None:
                fraction, place = where()
                place = f" ({place})"
            fields = {"tool": tool, "label": fraction, "whole": int(fraction), "metric": quote(metric)}
            raise ValueError(FRACTION_ERRORS[outcome].format(**fields) + place)
        import copy

        settings = copy.copy(self)
        settings.grades = grades
        settings.plan, _ = compile_plan(*self.compiled, grades)
        settings.level = code_from(self.options.rel_level, grades)
        return settings

    def for_rows(self) -> Settings | None:
        """These settings for labels with codes that name rows, with their `rows`; None if a metric reads labels."""
        if self._for_rows is None:
            self._for_rows = self._compiled_for_rows()
        return self._for_rows[0] if self._for_rows else None

    def _compiled_for_rows(self) -> list[Settings]:
        from fastir.engine.measure._grades import MOST_LEVELS, Rows

        reads = any(reads_labels(request.card, of) for request, of in zip(self.requests, self.values, strict=True))
        # A class counts the levels above 0 that are reached.
        zero = any(request.level == 0 for request in self.requests)
        if reads or zero or self.fractions is not None:
            return []
        all_levels = {float(self.options.rel_level), *(float(request.level or 0) for request in self.requests)}
        levels = sorted(level for level in all_levels if level > 0)
        if len(levels) > MOST_LEVELS:
            return []
        import copy

        settings = copy.copy(self)
        settings.rows = rows = Rows(np.array(levels or [np.inf]))
        settings.plan, _ = compile_plan(*self.compiled, rows)
        settings.level = code_from(self.options.rel_level, rows)
        return [settings]

    def usual_levels(self) -> list[str]:
        """The metrics that reward relevant documents, not gains, by the default level: relevant from 1 on."""
        return [
            request.text
            for request, values in zip(self.requests, self.values, strict=True)
            if request.level is None and not values.get("gains") and not request.card.graded
            if request.card.higher_is_better is True and request.card.reads != POOL
        ]

    def warn_of_fractions(self, n_fractions: int, largest: float) -> None:
        """Warn of labels of which so many are fractions, where none reaches the usual relevance level."""
        names = self.usual_levels() if n_fractions and 0 < largest < self.options.rel_level == 1 else []
        if names:
            more = f" and {counted(len(names) - 3, 'other metric', 'other metrics')}" if len(names) > 3 else ""
            warn_caller(
                "no label reaches rel_level=1, so no document is relevant to "
                f"{', '.join(names[:3])}{more}: {counted(n_fractions, 'label is a fraction', 'labels are fractions')}, "
                f"and the largest is {largest:g}; with rel_level=0.5 documents are relevant from 0.5 on"
            )

    def provenance(self, inputs: dict[str, dict[str, Any]] | None = None) -> Provenance:
        """The record of the request; `inputs` are the files, as the record has them."""
        from fastir.request.provenance import Provenance

        options = self.options
        convention = resolved_convention(options.convention, self.overrides)
        usual = check_options(choices={})._replace(rel_level=convention.rel_level)
        return Provenance(
            convention,
            {
                name: value
                for name, value in options._asdict().items()
                if name not in UNRECORDED_OPTIONS and value != getattr(usual, name)
            },
            {
                request.text: resolved_name(request, values)
                for request, values in zip(self.requests[: self.n_shown], self.values, strict=False)
            },
            inputs or {},
        )


def least_double(least: float | None, single: bool) -> float:
    """The least score that is retrieved; with `single` as a double: all that are rounded to at least that float32."""
    if least is None:
        return -math.inf
    if not single:
        return least
    with np.errstate(over="ignore"):
        rounded = np.float32(least)
        if np.isneginf(rounded):
            return -math.inf
        below = max(float(np.nextafter(rounded, np.float32(-np.inf))), -(2.0**128))
        middle = (below + min(float(rounded), 2.0**128)) / 2
        return middle if np.float32(middle) == rounded else float(np.nextafter(middle, np.inf))


@functools.lru_cache(256)
def compile_settings(metrics: tuple[str, ...], options: Options) -> Settings:
    """The Settings of metrics under checked options; equal requests share one object."""
    return Settings(metrics, options)


def with_counts(settings: Settings) -> Settings:
    """Settings that also measure the counts that micro averages divide by; the same ones if there are none."""
    if not settings.micro:
        return settings
    texts = [text for column in settings.micro for text in count_names(settings, column)]
    import copy

    compiled = compile_costed if settings.costed else compile_settings
    counting = copy.copy(compiled((*settings.metrics, *texts), settings.options))
    counting.metrics, counting.n_shown = settings.metrics, settings.n_shown
    return counting


def count_names(settings: Settings, column: int) -> tuple[str, str]:
    """The numbers of documents retrieved and relevant, as metrics, to the rules of one of these metrics."""
    request = settings.requests[column]
    if request.level == 0:
        raise UnknownMetricError(
            f"metric {quote(request.text)}: no average='micro', as every judged document is relevant to it here"
        )
    params = {name: value for name, value in request.params.items() if name == "judged_only"}
    level = request.relevant_from(settings.options.rel_level)
    retrieved, relevant = (Request("", names.NAMES[name], None, None, params) for name in (NUM_RET, NUM_REL))
    return str(retrieved), str(relevant._replace(level=level))


def refuse_other_averages(requests: Iterable[Request]) -> None:
    """Refuse average="micro" for means of what is no quotient of two counts."""
    for request in requests:
        if request.card.denominator is None and request.card.aggregate in ("mean", "geometric"):
            raise UnknownMetricError(
                f"metric {quote(request.text)} is no quotient of two counts, so it has no average='micro'; name the "
                f"average of the others, as in 'recall(average=micro)@10'"
            )


def refuse_micro(settings: Settings, why: str) -> None:
    """Refuse micro averages where they cannot be."""
    if settings.micro:
        raise ValueError(f"metric {quote(settings.names[settings.micro[0]])} has average='micro': {why}")


def compile_costed(metrics: tuple[str, ...], options: Options) -> Settings:
    """The Settings of metrics where documents have costs."""
    return Settings(metrics, options, costed=True)


def compile_derived(metrics: tuple[str, ...], options: Options) -> Settings:
    """The Settings of metrics of weighted or forbidden documents, for the qrels that a composite makes for them."""
    return Settings(metrics, options, derived=True)


def without_ids(
    metrics: tuple[str, ...], options: Options, weighted: bool = False
) -> tuple[Settings, list[tuple[list[int], Settings]]]:
    """The Settings of metrics of rankings without document ids, and the Settings of each set of rules among them.

    Each set comes with the columns of its metrics, and its `ties` are "input" where the convention would compare ids.
    With `weighted` documents may have weights; the metrics that read them are in separate sets.
    """
    whole = with_counts(compile_settings(metrics, options))
    if not whole.parts:
        by_id = options.ties is not RANKED and TIES[whole.ties] in TIES_BY_ID
        in_input_order = compile_settings(metrics, options._replace(ties="input")) if by_id else whole
        in_input_order = with_counts(in_input_order) if by_id else whole
        return whole, [(list(range(len(whole.names))), in_input_order)]
    parts = []
    for requests, rules, read in whole.parts:
        if read in ID_PROPERTIES and not (weighted and read == WEIGHTED):
            raise UnknownMetricError(
                f"metric {quote(requests[0].text)} needs {ID_PROPERTIES[read]}; there are none here"
            )
        narrowed = options.replace(
            queries=None,
            ties="input" if rules["ties"] in TIES_BY_ID else rules["ties"],
            judged_only=rules["judged_only"],
            score_dtype=rules["score_dtype"],
        )
        if read == BY_SCORE:
            narrowed = without_scores_of_missing(requests[0], narrowed)
        columns = [whole.requests.index(request) for request in requests]
        parts.append((columns, compile_settings(tuple(request.text for request in requests), narrowed)))
    return whole, parts


def without_scores_of_missing(request: names.Request, options: Options) -> Options:
    """Options by which a convention's missing_documents=zero is "last": rankings without ids miss no document."""
    if "missing_documents" in request.params or "missing_documents" in dict(options.choices):
        raise UnknownMetricError(
            f"metric {quote(request.text)}: missing_documents=zero needs the ids of documents; there are none here"
        )
    return options.replace(missing_documents="last")


def parse_requests(metrics: Iterable[str], dialect: str = "fastir") -> list[names.Request]:
    """The requests for an iterable of names, each once; a family or nickname is replaced by its members."""
    by_text: dict[str, names.Request] = {}
    for metric in metrics:
        for request in names.read(metric, dialect):
            by_text.setdefault(request.text, request)
    if not by_text:
        raise UnknownMetricError("no metric given: the list is empty")
    return list(by_text.values())


def resolved_convention(convention: Any, options: dict[str, Any]) -> Convention:
    """The convention with the caller's options; its file is imported only when one is looked at."""
    from fastir.request import conventions

    return conventions.resolved_convention(convention, options)


def group_requests(
    requests: list[names.Request],
    values: list[dict[str, Any]],
    rules: dict[str, Any],
    record: Convention | None,
    derived: bool = False,
    costed: bool = False,
) -> list[Any]:
    """Settings.parts; empty where one set of rules is good for all metrics. With `derived` qrels are made for them.

    With `costed` documents have costs, which are positions for some metrics.
    """
    parts: dict[tuple[Any, ...], list[names.Request]] = {}
    for request, of_request in zip(requests, values, strict=True):
        card, part_rules = request.card, dict(rules)
        if record is not None:
            name, cut = name_under(card, of_request), request.cutoff is not None
            part_rules.update((rule, record.choice(name, cut, rule, part_rules[rule])) for rule in rules)
        part_rules["judged_only"] = request.params.get("judged_only", part_rules["judged_only"])
        read = POOLED if card.pooled else AS_GIVEN if not card.sampled else SAMPLED
        if card.sampled in BY_OPTION:
            read = AS_GIVEN if derived else BY_OPTION[card.sampled]
        read = BY_SCORE if of_request.get("missing_documents") == "zero" else read
        read = COSTED if of_request.get("budget", np.inf) < np.inf or (costed and card.name in POSITIONED) else read
        parts.setdefault((*part_rules.values(), read), []).append(request)
    if parts.keys() == {(*rules.values(), AS_GIVEN)}:
        return []
    return [(requests, dict(zip(rules, chosen, strict=True)), read) for (*chosen, read), requests in parts.items()]


def check_ranked(parts: list[Any], options: Options) -> None:
    """Refuse requests that labels in rank order cannot answer."""
    for requests, _, read in parts:
        text = quote(requests[0].text)
        if read in ID_PROPERTIES:
            raise UnknownMetricError(f"metric {text} needs {ID_PROPERTIES[read]}; labels in rank order have none")
        if read == BY_SCORE:
            without_scores_of_missing(requests[0], options)
        if "judged_only" in requests[0].params:
            raise UnknownMetricError(f"metric {text}: judged_only is an option here, for all metrics at once")


def check_average(requests: list[names.Request], all_values: list[dict[str, Any]], depth: int) -> None:
    """Refuse metrics without a closed form of their expected value over the orders of equal scores."""
    if depth != MAX_DEPTH:
        raise ValueError("max_depth: ties='average' cannot cut rankings, give the metrics a cutoff instead")
    for request, values in zip(requests, all_values, strict=True):
        if not has_closed_form(request, values):
            where = " with ap_norm=hits and a cutoff" if has_expected(request.card.name) else ""
            raise ValueError(
                f"metric {quote(request.text)}: ties='average' is not possible, because its expected "
                f"value has no closed form here{where}"
            )


def has_closed_form(request: names.Request, values: dict[str, Any], max_depth: int | None = None) -> bool:
    """Whether the expected value of a metric over the orders of equal scores has one."""
    varies = values.get("ap_norm") == "hits" and request.cutoff is not None
    return max_depth in (None, MAX_DEPTH) and not varies and has_expected(request.card.name)


def param_values(request: names.Request, chosen: dict[str, Any], record: Convention | None) -> dict[str, Any]:
    """The value of every parameter: the metric's own, else the option's, else the convention's."""
    card, cut = request.card, request.cutoff is not None
    if record is not None and (reason := record.choice(card.name, cut, "refused")):
        raise UnknownMetricError(f"convention {record.name!r}: metric {quote(request.text)} {reason}")
    params = {param.name: param for param in card.params}

    def fits(name: str, value: Any) -> bool:
        """Whether it can be this metric's: another one's parameter of the name may have words, too."""
        return value is not None and (not isinstance(value, str) or value in params[name].choices)

    fixed = {name: value for name, value in chosen.items() if name in params and fits(name, value)}
    fixed.update(request.params)
    values = {param.name: param.default for param in card.params}
    resolved, metric = {**values, **fixed}, card.name
    if record is not None:
        for _ in range(2 if card.equals else 1):
            of_record = {name: record.choice(metric, cut, name, value) for name, value in values.items()}
            fitting = {name: value if fits(name, value) else values[name] for name, value in of_record.items()}
            resolved = fitting | fixed
            metric = name_under(card, resolved)
    for param in card.params:
        if resolved[param.name] is None:
            refuse_without(request, param)
    return resolved


def apply_level(request: names.Request, values: dict[str, Any], record: Convention) -> names.Request:
    """The request with the convention's relevance level for it, where neither its name nor an option has its own."""
    level = record.choice(name_under(request.card, values), request.cutoff is not None, "rel_level")
    return request._replace(level=level) if request.level is None and level != record.rel_level else request


def find_refused_fractions(
    requests: list[names.Request], values: list[dict[str, Any]], record: Convention, level: float
) -> tuple[str, str, str] | None:
    """The convention, its word and the first metric that refuses real-valued labels; None if all take them."""
    for request, of_request in zip(requests, values, strict=True):
        word = record.choice(name_under(request.card, of_request), request.cutoff is not None, "fractions")
        if not takes_fractions(word, request, of_request, level != record.rel_level):
            return record.name, word, request.text
    return None


def takes_fractions(word: str, request: names.Request, values: dict[str, Any], leveled: bool) -> bool:
    """Whether a convention with this word has the tool's value of a metric; `leveled` if the caller gave a level."""
    graded = request.card.graded and values.get("gain") != "binary"
    if word == "taken" or (word == "gains" and graded) or (word == "linear" and values.get("gain") == "linear"):
        return True
    return word in ("gains", "ids") and not graded and (leveled or request.level is not None)


def name_under(card: Card, values: dict[str, Any]) -> str:
    """The name of a metric with these parameters: conventions choose by the metric, whatever its spelling."""
    return next((name for param, value, name in card.equals if values.get(param) == value), card.name)


def resolved_name(request: names.Request, values: dict[str, Any]) -> str:
    """A metric in fastir's spelling, with each parameter that differs from its default, whoever chose it."""
    usual = {param.name: param.default for param in request.card.params}
    chosen = {name: value for name, value in values.items() if name in request.params or value != usual[name]}
    return str(request._replace(params=chosen))


def aggregate(request: names.Request, values: dict[str, Any]) -> str:
    """How the values of the queries become one number, as a word of `Results.aggregates`."""
    stays = any(value in ("nan", "min_nan") for value in values.values())
    how = "micro" if values.get("average") == "micro" else request.card.aggregate
    return how + "_or_nan" * stays


# ---- sizes of collections --------------------------------------------------------------------------------------------
def refuse_without(request: Request, param: Param) -> None:
    """Raise an error that names the missing parameter of a metric, and how to give it."""
    example = request._replace(params={**request.params, param.name: param.example})
    raise UnknownMetricError(
        f"metric {quote(request.text)} needs {param.name}, {param.meaning}; pass it as in {quote(str(example))}"
    )


def collection_sizes(requests: Sequence[Request], all_values: Sequence[dict[str, Any]]) -> dict[int, tuple[str, Any]]:
    """{column: (metric, size of the collection)} of the metrics that need one."""
    return {
        column: (request.text, values[param.name])
        for column, (request, values) in enumerate(zip(requests, all_values, strict=True))
        for param in request.card.params
        if param.required
    }


def refuse_small(sizes: dict[int, tuple[str, Any]], values: np.ndarray, query_ids: Sequence[Any]) -> None:
    """Refuse a size of the collection that is less than the documents of a query."""
    for column, (metric, size) in sizes.items():
        small = np.isposinf(values[:, column])
        if small.any():
            raise ValueError(
                f"metric {quote(metric)}: n_docs={size} is less than the documents that are retrieved or relevant "
                f"(query {query_ids[int(small.argmax())]})"
            )


# ---- rankings with a fixed order -------------------------------------------------------------------------------------
ORDER_RULES = ("ties", "score_dtype", "duplicates")  # that order documents


def compile_fixed(
    metrics: tuple[str, ...], options: Options, order: dict[str, Any]
) -> tuple[Settings, list[tuple[list[int], Settings]]]:
    """The Settings of the metrics, and the Settings of each set of rules among them, with its columns.

    `order` has a value for each of ORDER_RULES: None where it is not known, or where no document is a duplicate.
    """
    if options.convention == "fastir":
        refuse_others("", {name: getattr(options, name) for name in ORDER_RULES}, order)
        options = options.replace(**{name: value for name, value in order.items() if value is not None})
    settings = with_counts(compile_settings(metrics, options))
    if not settings.parts:
        refuse_others(f"convention {options.convention}: ", order_rules(settings), order)
        return settings, [(list(range(len(settings.names))), settings)]
    parts = []
    for requests, rules, read in settings.parts:
        text = quote(requests[0].text)
        if read != AS_GIVEN:
            known = read in (SAMPLED, *BY_OPTION.values())
            needed = ID_PROPERTIES[read] if known else "the ids or the scores of documents"
            raise UnknownMetricError(f"metric {text} needs {needed}, which judged rankings do not have")
        part = compile_settings(tuple(request.text for request in requests), options.replace(**rules))
        refuse_others(f"metric {text}: ", order_rules(part), order)
        parts.append(([settings.requests.index(request) for request in requests], part))
    return settings, parts


def order_rules(settings: Settings) -> dict[str, Any]:
    """A value for each of RULES."""
    single = "float32" if settings.single else "float64"
    return dict(zip(ORDER_RULES, (TIES[settings.ties], single, settings.options.duplicates), strict=True))


def refuse_others(who: str, wanted: dict[str, Any], order: dict[str, Any]) -> None:
    for name, value in order.items():
        if value is not None and wanted[name] not in (None, value):
            raise ValueError(
                f"{who}{name}={wanted[name]!r}, but these rankings were judged with {name}={value!r}; judge the run "
                "again"
            )


def refuse_exclusion(convention: str | Convention, provenance: Provenance, excluded: bool) -> None:
    """Refuse a convention that leaves other documents out than those that were left out when the run was judged.

    `excluded` says whether there were any. An `exclude` of the caller's own holds for all conventions.
    """
    record, judged_by = resolved_convention(convention, {}), provenance.convention
    if record.exclude is not None and "exclude" not in provenance.inputs:
        raise ValueError(
            f"convention {record.name}: exclude={record.exclude!r}, but these rankings were judged with exclude=None; "
            "judge the run again"
        )
    if record.exclude is None and judged_by.exclude is not None and excluded:
        raise ValueError(
            f"convention {record.name}: exclude=None, but these rankings were judged with "
            f"exclude={judged_by.exclude!r}, by convention {judged_by.name}; judge the run again"
        )
