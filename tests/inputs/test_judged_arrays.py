"""Arrays of judged rankings that do not fit are refused before a kernel reads them."""

import pytest
from rankings_made import GOOD

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_ids": ["q", "q"]}, "duplicate query 'q'"),
        ({"query_ids": ["q", 1]}, "all str or all int, got str and int"),
        ({"query_ids": ["q"]}, "num_ret has 2 entries but there are 1 query_ids"),
        ({"offsets": [0, 2]}, "offsets has 2 entries, expected 3"),
        ({"offsets": [0, 2, 4]}, "offsets goes from 0 to 4, expected 0 to the 3 entries of ranks"),
        ({"offsets": [0, 4, 3]}, r"offsets must not fall, but offsets\[2\]"),
        ({"ranks": [1, 3]}, "expected 0 to the 2 entries of ranks"),
        ({"ranks": [0, 3, 2]}, "rank 0 of query 'q' is not above"),
        ({"ranks": [3, 3, 2]}, "rank 3 of query 'q' is not above the one before"),
        ({"ranks": [1, 6, 2]}, "rank 6 of query 'q' is more than its num_ret 5"),
        ({"ranks": [1, 3.5, 2]}, "ranks must be integers"),
        ({"labels": [1, 0, -2]}, r"labels\[2\] is -2"),
        ({"labels": [1, 0, 2**31]}, r"labels\[2\] is 2147483648"),
        ({"labels": [1, 1, -1]}, "query 'q' has the label 1 more often than ideal_labels"),
        ({"labels": [3, 0, -1]}, "query 'q' has the label 3 more often"),
        ({"ideal_labels": [1, 2, 0, -1]}, "ideal_labels must fall, but label 2 of query 'q' follows 1"),
        ({"num_ret": [5, -1]}, "num_ret of query 'r' is -1"),
        ({"num_ret": [5, 2**60]}, "num_ret of query 'r' is"),
        ({"missing": [False, True]}, "query 'r' is missing, but num_ret is not 0"),
        ({"missing": [0, 1]}, "missing must be bools"),
        ({"ties": "nothing"}, "ties"),
    ],
)
def test_arrays_that_do_not_fit(changed, message, tmp_path):
    fastir.JudgedRankings.from_arrays(**GOOD)
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        fastir.JudgedRankings.from_arrays(**{**GOOD, **changed})
