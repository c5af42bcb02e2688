"""Lists of retrieved and of relevant ids."""

import fastir

FEW = ["ndcg@10", "map", "mrr", "P@2", "recall@100", "num_ret"]
RETRIEVED = [["d1", "d3", "x"], ["y", "d2"], [], ["d5", "d1", "é"]]
RELEVANT = [["d3", "d1"], ["d2", "d9"], ["d7"], ["é", "d5"]]
IDS = ["q1", "q2", "q3", "q4"]
RUN, QRELS = dict(zip(IDS, RETRIEVED, strict=True)), dict(zip(IDS, RELEVANT, strict=True))


def same_bits(one, other):
    return one.values.tobytes() == other.values.tobytes()


EXPECTED = fastir.evaluate_lists(RETRIEVED, RELEVANT, FEW)
