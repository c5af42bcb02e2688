"""Ranks that are known already: measuring them gives the bits of the run that they are of."""

import gen
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
METRICS = ["ndcg@10", "ndcg", "map", "mrr", "bpref", "judged@5", "num_ret", "err@20"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_threads", [1, 2])
def test_judged_rankings_have_the_values_of_their_run(seed, n_threads):
    qrels, run = gen.collection(seed, queries=130)
    values = fastir.evaluate(qrels, run, METRICS, queries="qrels").values
    judged = fastir.judged_rankings(qrels, run)
    assert judged.evaluate(METRICS, queries="qrels", n_threads=n_threads).values.tobytes() == values.tobytes()


def test_a_metric_that_reads_fewer_hits_than_are_kept_reads_these():
    judged = fastir.judged_rankings({"q": {"a": 1, "b": 0, "c": -1}}, {"q": {"c": 3.0, "b": 2.0, "a": 1.0}})
    assert dict(judged.evaluate(["mrr", "num_rel_ret"])) == {"mrr": 1 / 3, "num_rel_ret": 1.0}
