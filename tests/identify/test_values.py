"""A reported value has the digits that it shows, and a name may mean several metrics."""

from decimal import Decimal

import numpy as np
import pytest

from fastir.analyses.identify.values import MISTAKEN_NAMES, PAPERS, find_meanings, mistaken_names, target
from fastir.request.names import NAMES


def test_the_interval_is_half_open():
    asked = target("map", "0.2340", None)
    assert (asked.low, asked.high, asked.shown) == (0.23395, 0.23405, "0.2340")
    assert asked.holds(0.23395) and asked.holds(0.234049) and not asked.holds(0.23405 + 1e-9)
    assert not asked.holds(0.23395 - 1e-9)
    assert target("map", 0.234, 4)[2:4] == asked[2:4]


@pytest.mark.parametrize(("name", "first", "among"), [
    ("ndcg@10", "ndcg@10", ()), ("map", "map", ()), ("NDCG", "NDCG", ("ndcg@10", "ndcg@100")),
    ("MRR", "MRR", ("mrr@10",)), ("Recall@10", "Recall@10", ("hit_rate@10",)), ("HR@5", "HR@5", ()),
    ("P_5", "P_5", ()), ("ndcg_at_10", "ndcg_at_10", ()), ("Hit Ratio @ 10", "hit_rate@10", ()),
    ("ndcg(gain=exp2)@5", "ndcg(gain=exp2)@5", ()), ("R-prec", "r_precision", ()), ("P5", "precision@5", ()),
    ("ircl_prn.0.10", "iprec@0.1", ()), ("Accuracy@1", "hit_rate@1", ()), ("nDCG at 10", "ndcg@10", ()),
    ("Normalized Discounted Cumulative Gain", "ndcg", ("ndcg@10",)),
])  # fmt: skip
def test_what_a_name_may_mean(name, first, among):
    found = find_meanings(name)
    assert found[0] == first and set(among) <= set(found)
    assert among or len(found) == 1


@pytest.mark.parametrize("value", [Decimal("0.500"), np.float32(0.5), np.float64(0.5), 0.5, "0.500"])
def test_numbers_of_every_kind_are_read(value):
    assert target("map", value, None).value == 0.5
    assert target("map", 1, None).shown == target("map", np.int64(1), None).shown == "1"
    assert target("map", Decimal("0.500"), None).shown == "0.500"


@pytest.mark.parametrize("value", [True, np.bool_(True), None, 1j, b"0.5", [0.5]])
def test_what_is_no_number_is_an_error(value):
    with pytest.raises(TypeError, match="map: the value must be a number or text, got"):
        target("map", value, None)


@pytest.mark.parametrize("value", ["0." + "1" * 400, "1" * 400, "1e-999999999", Decimal("1e400")])
def test_numbers_that_are_too_long_are_not_printed_whole(value):
    with pytest.raises(ValueError, match="has more than 30 digits") as caught:
        target("map", value, None)
    assert len(str(caught.value)) < 200


def test_other_metrics_keep_the_cutoff():
    assert mistaken_names("recall@10") == (
        "hit_rate@10", "relative_precision@10", "recall_all@10", "precision@10", "hits@10",
    )  # fmt: skip
    assert (
        mistaken_names("map")[0] == "r_precision"
        and mistaken_names("rbp") == mistaken_names("map(ap_norm=min_kR)@5") == ()
    )
    assert all(other in NAMES for table in (MISTAKEN_NAMES, PAPERS) for name in table for other in (name, *table[name]))
