"""Ctrl-C within one query of millions of rows: Python looks for it again and again."""

import pytest
from processes import more_looks

PREPARE = """
kind, n = sys.argv[1], 1_000_000
scores = np.random.default_rng(1).permutation(n) * 1.0
evaluator = fastir.Evaluator({"q": {"%07d" % i: 1 for i in range(0, n, 9)}}, ["ndcg@10", "map"])
run = {"q": dict(zip(["%07d" % i for i in range(n)], scores.tolist()))}
if "integers" in kind:
    run = {"q": dict.fromkeys(run["q"], 1)}
few = {"q": {"0000000": 1.0}}
if kind.startswith("file"):
    paths = [os.path.join(sys.argv[2], name) for name in ("many", "few")]
    for path, each in zip(paths, (run, few)):
        fastir.Run.from_dict({"q": dict.fromkeys(each["q"], 0.0)}).save(path, format="trec")
    run, few = paths
elif kind == "held":
    run, few = fastir.Run.from_dict(run), fastir.Run.from_dict(few)
labels = np.random.default_rng(2).integers(0, 3, n).astype(np.int8)
def call(run, rows):
    if kind == "scores":
        fastir.evaluate_scores(labels[:rows], scores[:rows], ["ndcg", "map"], offsets=np.array([0, rows]))
    else:
        evaluator.evaluate(run)
"""


@pytest.mark.parametrize("kind", ["dict", "dict of integers", "file, tied", "held", "scores"])
def test_an_interrupt_within_a_query_is_answered_soon(kind, tmp_path):
    """A look every 32,768 rows; two calls may share a few. `pytest bench -k interrupts` measures the wait."""
    assert more_looks(PREPARE, "call(few, 1)", "call(run, n)", kind, tmp_path) > 1_000_000 // 40_000
