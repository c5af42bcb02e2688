from numpy import ndarray

from fastir.engine.columns._ids import Ids

def in_rank_order(ids: Ids, offsets: ndarray, scores: ndarray) -> ndarray: ...
