"""A reported value has the digits that it shows, and a name may mean several metrics.

Also of: papers.
"""

import pytest

from fastir.analyses.identify.values import meanings_of, target


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
    ("ndcg(gain=exp2)@5", "ndcg(gain=exp2)@5", ()),
])  # fmt: skip
def test_what_a_name_may_mean(name, first, among):
    found = meanings_of(name)
    assert found[0] == first and set(among) <= set(found)
    assert among or len(found) == 1
