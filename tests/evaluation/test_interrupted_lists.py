"""Lists of very many relevant ids answer signals while they are read."""

import pytest
from processes import more_looks

LISTS = """
ids = [f"d{i}" for i in range(1_000_000)]
many, few = (set(ids), {"d1"}) if sys.argv[1] == "set" else (ids, ["d1"])
"""
CALL = 'fastir.evaluate_lists([["d1"]], [{}], "map")'


@pytest.mark.parametrize("shape", ["list", "set"])
def test_a_million_relevant_ids_leave_no_long_wait(shape):
    """A look for signals every 16,384 ids at least: 5 ms."""
    assert more_looks(LISTS, CALL.format("few"), CALL.format("many"), shape) > 1_000_000 // 20_000
