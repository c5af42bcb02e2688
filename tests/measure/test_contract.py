"""What Python and Cython have agreed on: codes, records, and the order of a metric's parameters."""
# Also of: codes, measure, views.

from typing import get_args

import numpy as np
import pytest

import fastir
from fastir.data.results import results
from fastir.engine.join._counts import Counts
from fastir.engine.measure import _codes
from fastir.engine.measure._measure import Plan
from fastir.engine.measure.cards import READS
from fastir.engine.measure.views import Slot, View
from fastir.request import options

CODES = {"reads": _codes.READ_CODES, "status": _codes.STATUS_CODES, "ties": _codes.TIE_CODES}


@pytest.mark.parametrize("codes", CODES.values(), ids=CODES)
def test_a_code_is_the_position_of_its_word(codes):
    assert list(codes.values()) == list(range(len(codes)))


def test_the_words_of_the_python_side_are_those_of_the_codes():
    assert tuple(_codes.READ_CODES) == READS
    assert {card.reads for card in fastir.metrics()} <= set(_codes.READ_CODES)
    assert tuple(_codes.STATUS_CODES) == results.STATUSES
    assert tuple(_codes.TIE_CODES) == get_args(options.Ties) == options.TIES
    assert get_args(options.TiesWithoutIds) == tuple(_codes.TIE_CODES)[len(options.TIES_BY_ID) :]


def test_every_problem_has_a_code_of_its_own_above_those_of_a_line():
    problems = list(_codes.PROBLEM_CODES.values())
    assert len(set(problems)) == len(problems)
    assert min(problems) >= 100


def test_a_set_of_numbers_holds_no_more_than_the_kernel_has_room_for():
    limit = max(param.many for card in fastir.metrics() for param in card.params)
    most = [i / limit for i in range(limit)]

    def name(points):
        return f"iprec_avg(points={{{', '.join(map(str, points))}}})"

    value = fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name(most))[name(most)]
    assert value == 1.0
    with pytest.raises(ValueError, match=f"up to {limit} numbers"):
        fastir.Evaluator({"q": {"a": 1}}, name([*most, 1.0]))


def test_counts_are_read_by_name():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"b": 1.0}}
    seen = fastir.evaluate(qrels, run, "map", queries="qrels").report
    assert (seen.in_both, seen.queries_with_ties, seen.nothing_judged) == (2, 1, 0)
    empty = Counts()
    examples = empty.tied_queries_example, empty.unjudged_queries_example
    assert (empty.n_matched_queries, empty.n_ranked_docs, *examples) == (0, 0, -1, -1)


def test_a_plan_is_made_of_views_and_slots():
    view = View(1, 1, 0, (), False, 0, gain_depth=10, lists_gains=False, cutoffs=[5, 10])
    slots = [Slot("precision", 0, k, [0.0] * 3, False, None, False, _codes.READ_CODES["relevant"]) for k in (0, 1)]
    made = Plan([view], slots, _codes.READ_CODES["relevant"], False, 2**63 - 1, False)
    assert (made.n_views, made.n_slots, made.reads) == (1, 2, 0)
    with pytest.raises(KeyError):
        Plan([view], [slots[0]._replace(metric="no such metric")], 0, False, 2**63 - 1, False)


def test_ideal_labels_that_lack_the_list_s_own_make_no_value_infinite():
    """They are not checked; a value is out of its range then, but a number."""
    names = [card.spelled("@0.5" if card.at else "") for card in fastir.metrics() if not (card.pooled or card.sampled)]
    names = [
        name for name in names if name not in ("auc", "mean_rank", "pair_accuracy", "false_surface", "false_abstention")
    ]  # NaN where undefined
    for labels, ideal in (([0, 1], [1]), ([2, 0], []), ([0, 0, 3, 1, -2, -1], [1]), ([1, 1, 1], [0, 0])):
        got = fastir.evaluate_ranked(labels, [0, len(labels)], names, ideal_labels=ideal, ideal_offsets=[0, len(ideal)])
        assert np.isfinite(got.values).all(), dict(zip(names, got.values[0], strict=True))
