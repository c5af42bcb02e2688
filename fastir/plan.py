"""Requests to Plan: metrics that can share a walk are put together, options are checked once."""

from dataclasses import dataclass

from fastir import names
from fastir._measure import Plan
from fastir.errors import quote

WHOLE = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Compiled:
    """A plan with what belongs to it: names as typed, how each is averaged, and what the labels must not exceed."""

    names: list
    aggregates: list
    plan: Plan
    level: int
    label_limits: list


def requests(metrics):
    """The requests behind a string or an iterable of strings, each spelling once."""
    if isinstance(metrics, str):
        metrics = [metrics]
    try:
        found = {metric: None for metric in metrics if isinstance(metric, str) or names.parse(metric)}
    except TypeError as error:
        if "metric" in str(error):
            raise
        raise TypeError(f"metrics must be a str or an iterable of str, got {type(metrics).__name__}") from None
    if not found:
        raise names.UnknownMetricError("no metric given: the list is empty")
    return [names.parse(metric) for metric in found]


def conventions(choices):
    """Check the keywords that set a parameter for all metrics that have it."""
    known = {param.name: param for card in names.CARDS for param in card.params if param.is_convention}
    checked = {}
    for name, value in choices.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the metric options are {', '.join(sorted(known))}")
        checked[name] = names.read_value(name, known[name], value)
    return checked


def compile_plan(metrics, rel_level=1, judged_only=False, max_depth=None, choices=None):
    """Compile metric names and options.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
    """
    level = positive("rel_level", "the relevance level", rel_level, 2**31 - 1)
    depth = WHOLE if max_depth is None else positive("max_depth", "the depth", max_depth, WHOLE)
    chosen = conventions(choices or {})
    asked = requests(metrics)
    views, resolved, limits = {}, [], []
    for request in asked:
        card = request.card
        values = {p.name: request.params.get(p.name, chosen.get(p.name, p.default)) for p in card.params}
        gain = values.get("gain", card.gain)
        view = (
            request.level or level,
            request.level or 1,
            gain == "exp2",
            values.get("discount") == "jk2",
            values.get("ideal") == "retrieved",
        )
        cutoff = request.cutoff or WHOLE
        cutoffs, wants_gain = views.get(view, (set(), False))
        cutoffs.add(cutoff)
        views[view] = (cutoffs, wants_gain or card.graded)
        if gain == "exp2":
            limits.append((1000, request.text, "an exponential gain"))
        if "max_grade" in values:
            top = values["max_grade"]
            limits.append((1000 if top == "query" else top, request.text, f"max_grade={top}"))
        numbers = [-1.0 if value == "query" else float(p.choices.index(value)) if value in p.choices else float(value)
                   for p, value in ((p, values[p.name]) for p in card.params)]
        resolved.append((card, view, cutoff, numbers, values.get("empty") == "skip"))
    places = {view: (i, sorted(cutoffs)) for i, (view, (cutoffs, _)) in enumerate(views.items())}
    plan = Plan(
        [(*view, wants_gain, sorted(cutoffs)) for view, (cutoffs, wants_gain) in views.items()],
        [(card.name, places[view][0], places[view][1].index(cutoff), numbers, skip, card.graded)
         for card, view, cutoff, numbers, skip in resolved],
        any(request.card.reads_nonrelevant for request in asked),
        bool(judged_only),
        depth,
    )
    return Compiled([r.text for r in asked], [r.card.aggregate for r in asked], plan, level, limits)


def positive(name, what, value, largest):
    """An option that must be an integer from 1 up."""
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {quote(value)}") from None
    if not 1 <= number <= largest:
        raise ValueError(f"{name}: {what} must be positive, from 1 to {largest}, got {number}")
    return number
