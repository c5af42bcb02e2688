"""Saved results of very many queries answer signals while they are read."""

import signal

import pytest
from processes import longest_wait

SAVED = """
from fastir.data.results.report import Report
from fastir.data.results.results import Results
n, path = 200_000, os.path.join(sys.argv[1], "results." + sys.argv[2])
values = np.random.default_rng(1).random((n, len(METRICS)))
Results(list(map(str, range(n))), METRICS, values, np.zeros(n, np.uint8), ["mean"] * 5, Report()).save(path)
del values
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("suffix", ["json", "tsv"])
def test_many_queries_leave_no_long_wait(suffix, tmp_path):
    """By processor time; in one piece it was 0.8 s for JSON and 0.3 s for a table."""
    assert longest_wait(SAVED, "fastir.load_results(path)", tmp_path, suffix) < 0.2
