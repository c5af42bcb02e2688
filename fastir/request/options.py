"""The options of an evaluation: their vocabulary, and the record that carries them from the front door to the plan.

`check_options` makes the record from the arguments of a public function, and checks it, once. Its values then have
one form: numbers are exact ints, a dtype is its name, and choices are read by `names.read_value`. So equal requests are
equal records with equal hashes, and no option is checked again behind the front door.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, get_args

import numpy as np

from fastir.checks import check_choice, flag, integer, number, positive_integer
from fastir.declared import Record
from fastir.engine.measure import CARDS
from fastir.engine.threads import thread_count
from fastir.errors import NoOverlapError, quote
from fastir.request import names

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.declared import Param
    from fastir.request.conventions import Convention

TiesById = Literal["trec", "doc_id_asc"]
TiesWithoutIds = Literal["input", "input_reversed", "optimistic", "pessimistic", "average"]
Ties = Literal[TiesById, TiesWithoutIds]
QueryRule = Literal["qrels", "intersection", "strict"]
QueryIds = list[Any] | tuple[Any, ...] | AbstractSet[Any] | Mapping[Any, Any] | np.ndarray
Queries = QueryRule | QueryIds
Duplicates = Literal["first", "last", "max", "mean", "once"]
Aggregate = Literal["max", "sum", "mean"]
Validate = Literal["full", "judged"]

TIES = get_args(Ties)
TIES_BY_INPUT = ("input", "input_reversed")
TIES_BY_ID = get_args(TiesById)
TIES_WITHOUT_IDS = get_args(TiesWithoutIds)
RANKED: Any = object()  # instead of a tie rule: the documents come in rank order; callers cannot choose it
QUERIES = (None, *get_args(QueryRule))
SCORE_DTYPES = (None, "float64", "float32")
DUPLICATES = (None, *get_args(Duplicates))
AGGREGATES = get_args(Aggregate)
VALIDATE = get_args(Validate)
MAX_LABEL = 2**31 - 1
MAX_DEPTH = 2**63 - 1  # the depth of a whole ranking


# What is known of documents and queries beside labels, for metrics that read it.
OF_DOCUMENTS = ("doc_weights", "forbidden", "forbidden_level", "unanswerable", "doc_groups", "target", "doc_costs")
# Options of calls that no Options have.
OTHER_OPTIONS = (
    "parents",
    "aggregate",
    "exclude",
    "columns",
    "qrels_columns",
    "run_columns",
    "label",
    "weights",
    *OF_DOCUMENTS,
)


class Options(Record):
    """A caller's options, without the metrics; the docstring of `evaluate` says what each field means.

    `choices`, the last field, are the parameters of metrics that were given as keywords: (name, value) pairs.
    """

    convention: str | Convention
    rel_level: float  # an int, if it is whole
    queries: QueryRule | None
    ties: Ties | None
    judged_only: bool
    max_depth: int | None
    min_score: float | None
    score_dtype: str | None
    n_threads: int | None
    duplicates: Duplicates | None
    validate: Validate
    choices: tuple[tuple[str, Any], ...]

    def replace(self, **changed: Any) -> Options:
        """These options with some of them replaced by values that are already checked."""
        fields = {name: changed.pop(name) for name in self._fields if name in changed}
        return self._replace(**fields, choices=tuple({**dict(self.choices), **changed}.items()))


def check_options(
    *,
    convention: str | Convention = "fastir",
    rel_level: SupportsIndex | SupportsFloat = 1,
    queries: QueryRule | None = None,
    ties: Ties | None = None,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    min_score: SupportsFloat | None = None,
    score_dtype: DTypeLike | None = None,
    n_threads: SupportsIndex | None = None,
    duplicates: Duplicates | None = None,
    validate: Validate = "full",
    choices: Mapping[str, Any],
) -> Options:
    """The options of a call, checked; a function without some of them leaves them out. `ties` may be RANKED.

    `queries` is a rule: `query_rule` takes out the query ids that a caller may give in its place. `choices` are the
    keywords of the call that are not among the function's parameters.
    """
    if convention != "fastir":
        convention = check_convention(convention)
    if type(rel_level) is not int or not 1 <= rel_level <= MAX_LABEL:
        rel_level = relevance_level(rel_level)
    if queries is not None:
        check_choice("queries", queries, QUERIES)
    if ties is not None and ties is not RANKED:
        check_choice("ties", ties, (None, *TIES))
    if max_depth is not None:
        max_depth = positive_integer("max_depth", "the depth", max_depth, MAX_DEPTH)
    if min_score is not None:
        min_score = number("min_score", min_score)
    dtype = None if score_dtype is None else check_choice("score_dtype", dtype_name(score_dtype), SCORE_DTYPES)
    if n_threads is not None and (type(n_threads) is not int or n_threads < 1):
        n_threads = thread_count(n_threads, 0)
    if duplicates is not None:
        check_choice("duplicates", duplicates, DUPLICATES)
    if validate != "full":
        check_choice("validate", validate, VALIDATE)
    checked = (
        convention,
        rel_level,
        queries,
        ties,
        flag("judged_only", judged_only),
        max_depth,
        min_score,
        dtype,
        n_threads,
        duplicates,
        validate,
        check_choices(choices) if choices else (),
    )
    return tuple.__new__(Options, checked)  # as Options(*checked) in half the time


def relevance_level(value: SupportsIndex | SupportsFloat) -> float:
    """A label from which on documents are relevant, a number above 0: an int if it is whole."""
    return label_above_0("rel_level", value)


def label_above_0(name: str, value: SupportsIndex | SupportsFloat) -> float:
    """An option that is a label above 0: an int if it is whole."""
    label: float = integer(name, value) if isinstance(value, SupportsIndex) else number(name, value)
    if not 0 < label <= MAX_LABEL:
        raise ValueError(f"{name} must be a number above 0 and at most {MAX_LABEL}, got {quote(label)}")
    return int(label) if label == int(label) else label


def metric_tuple(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metric names as they were given, one or many, also with commas between them.

    A measure of ir_measures has the name that it prints.
    """
    if isinstance(metrics, str):
        text = metrics if type(metrics) is str else names.metric_text(metrics)
        return tuple(names.split(text) or [text]) if "," in text else (text,)
    if type(metrics) is not list:
        names.refuse_mapping(metrics)
        if names.is_measure(metrics):
            return (str(metrics),)
    try:
        listed = tuple(metrics)
    except TypeError:
        raise TypeError(f"metrics must be a str or an iterable of str, got {type(metrics).__name__}") from None
    for metric in listed:
        if type(metric) is not str or "," in metric:
            texts = map(names.metric_text, listed)
            return tuple(name for text in texts for name in names.split(text) or [text])
    return listed


def query_rule(queries: Any) -> tuple[Any, list[Any] | None]:
    """The option `queries` as a rule and None; or, of a collection of query ids, the rule "qrels" and these ids."""
    if queries is None or isinstance(queries, str):
        return queries, None
    try:
        query_ids = list(dict.fromkeys(queries))
    except TypeError:
        rules = ", ".join(map(repr, QUERIES))
        raise TypeError(
            f"queries must be one of {rules}, or a collection of query ids, got {type(queries).__name__} "
            f"{quote(queries)}"
        ) from None
    if not query_ids:
        raise NoOverlapError("queries: the collection of query ids is empty")
    return "qrels", query_ids


# ---- checks ------------------------------------------------------------------------------------------------------
def dtype_name(dtype: DTypeLike) -> Any:
    """The name of a NumPy dtype, or what was given if it is none."""
    if type(dtype) is str and dtype in SCORE_DTYPES:
        return dtype
    try:
        return np.dtype(dtype).name
    except TypeError:
        return dtype


def check_convention(convention: Any) -> str | Convention:
    """A record of choices; its file is imported only for callers who pass one."""
    from fastir.request import conventions

    return conventions.check_convention(convention)


def check_choices(choices: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The keywords that set a parameter for all metrics that have it."""
    params = choice_params()
    checked = []
    for name, value in choices.items():
        if name not in params:
            from fastir.request.habits import option_hint

            if name == "threshold":
                raise TypeError("unknown option 'threshold'; for ratings Qrels.from_table and from_file have it")
            if name == "format":
                raise TypeError("unknown option 'format'; Qrels.from_file and Run.from_file have it")
            if name in (*Options._fields, *OTHER_OPTIONS) and name != "choices":
                raise TypeError(f"this call does not take the option {name!r} of evaluate")
            listed = f"; the metric options are {', '.join(sorted(params))}"
            known = (*params, *Options._fields, *OTHER_OPTIONS)
            raise TypeError(f"unknown option {name!r}{option_hint(name, known) or listed}")
        checked.append((name, names.read_value(name, params[name], value)))
    return tuple(checked)


@functools.cache
def choice_params() -> dict[str, Param]:
    """The parameters of metrics that a keyword can set for all that have them, by their names."""
    return {param.name: param for card in CARDS for param in card.params if param.is_convention}
