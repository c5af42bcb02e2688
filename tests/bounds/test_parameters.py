"""Bounds against all labelings, for random parameters of metrics and random options."""

import random

import pytest
from every_labeling import case, case_of_two, check, check_two
from every_option import CARDS, possible

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def value_of(param, random_):
    """A random value of a parameter, as text; None where it stays as it is."""
    if param.mapping and random_.random() < 0.3:
        labels = sorted(random_.sample(range(-1, 3), random_.randint(1, 3)))
        return "{" + ",".join(f"{label}:{random_.choice([0, 0.5, 1, 2, 5])}" for label in labels) + "}"
    if param.name in ("average", "budget"):
        return None  # which bounds refuse
    if param.choices and (param.low is None or random_.random() < 0.5):
        return random_.choice(param.choices)
    number = random_.randint(0, 4) if param.integer else round(random_.uniform(-2, 4), 2)
    return str(number) if not param.many and param.holds(number) else None


def metric(random_):
    """A random metric with random parameters, relevance level and cutoff."""
    card = random_.choice(CARDS)
    given = [(param.name, value_of(param, random_)) for param in card.params if random_.random() < 0.4]
    needed = {param.name: str(param.example) for param in card.params if param.required}
    given = {name: value for name, value in given if value is not None} | needed
    own = ",".join(f"{name}={value}" for name, value in given.items())
    level = f"-l{random_.randint(1, 2)}" if random_.random() < 0.2 else ""
    cutoff = f"@{random_.randint(1, 6)}" if card.cutoff and random_.random() < 0.7 else ""
    return card.name + f"({own})" * bool(own) + level + cutoff


def metrics_with_bounds(random_, count, max_label, **options):
    """Random metrics that have bounds, and differences."""
    found = []
    for name in possible(dict.fromkeys(metric(random_) for _ in range(count))):
        if name.startswith(("gm_", "gmean_")):
            continue
        try:
            fastir.bounds({"q": {"a": 1}}, {"q": {"a": 1.0}}, name, max_label=max_label, **options)
        except (fastir.UnknownMetricError, OverflowError):
            continue
        found.append(name)
    return found


def checked_options(random_):
    ranges = {
        "rel_level": (1, 2), "judged_only": (False, True), "max_depth": range(2, 9),
        "empty": ("zero", "one", "skip", "nan"), "ties": ("trec", "doc_id_asc", "input"),
    }  # fmt: skip
    return {name: random_.choice(values) for name, values in ranges.items() if random_.random() < 0.3}


@pytest.mark.parametrize("seed", range(8))
def test_metrics_with_random_parameters_have_bounds_of_all_labelings(seed):
    random_ = random.Random(seed)
    max_label, options, depth = random_.randint(1, 2), checked_options(random_), random_.choice([None, None, 3])
    names = metrics_with_bounds(random_, 60, max_label, **options)
    check(*case(seed, 6 - max_label, max_label), names, max_label, depth, **options)
    names = metrics_with_bounds(random_, 40, max_label, **options)
    labels, *runs = case_of_two(seed, max_label)
    check_two(labels, runs, names, max_label, depth, **options)
