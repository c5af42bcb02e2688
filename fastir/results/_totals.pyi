import numpy as np

UNIT: int

def exact_total(values: np.ndarray, weights: np.ndarray | None = ...) -> int: ...
