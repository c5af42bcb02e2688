"""Saved results of very many queries answer signals while they are read."""

from processes import more_looks

SAVED = """
from fastir.data.results.report import Report
from fastir.data.results.results import Results
for name, n in (("few", 9), ("many", 200_000)):
    values = np.random.default_rng(1).random((n, len(METRICS)))
    results = Results(list(map(str, range(n))), METRICS, values, np.zeros(n, np.uint8), ["mean"] * 5, Report())
    results.save(os.path.join(sys.argv[1], name + ".json"))
few, many = (os.path.join(sys.argv[1], name + ".json") for name in ("few", "many"))
"""


def test_many_queries_leave_no_long_wait(tmp_path):
    """A look for signals in each query of JSON; a table of as many is read at once, faster than one would notice."""
    assert more_looks(SAVED, "fastir.load_results(few)", "fastir.load_results(many)", tmp_path) > 200_000
