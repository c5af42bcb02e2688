"""What the tests of score matrices and of lists of items share."""

import numpy as np
from oracle_requests import REQUESTS

NAMES = [str(request) for request in REQUESTS if request.name != "hole"]
FIVE = ["ndcg@10", "map", "mrr", "P@10", "recall@100"]
AVERAGED = ["ndcg@10", "map", "mrr@5", "recall@3", "auc", "mean_rank", "bpref", "hit_rate@2", "err@4", "rbp"]
LAYOUTS = {
    "C": lambda scores: scores,
    "Fortran": np.asfortranarray,
    "every other column": lambda scores: np.repeat(scores, 2, axis=1)[:, ::2],
    "rows backwards": lambda scores: scores[::-1].copy()[::-1],
    "columns backwards": lambda scores: scores[:, ::-1].copy()[:, ::-1],
}


def bits(results):
    return results.values.tobytes()
