"""A correlation of thousands of leaderboard entries answers signals while it works."""

import signal

import pytest
from processes import longest_wait

ENTRIES = """
rng = np.random.default_rng(1)
a, b = ({f"s{i}": float(value) for i, value in enumerate(rng.random(6000))} for _ in "ab")
fastir.rank_correlation(dict(list(a.items())[:9]), dict(list(b.items())[:9]))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_six_thousand_systems_leave_no_long_wait():
    """By processor time, so that a busy machine does not count: it was more than half a second in one piece."""
    assert longest_wait(ENTRIES, "fastir.rank_correlation(a, b)") < 0.2
