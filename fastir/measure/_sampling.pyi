from typing import TypeAlias

import numpy as np

Arrays: TypeAlias = tuple[np.ndarray, ...]

def estimate(
    name: str,
    level: int,
    k: int,
    hits: Arrays,
    pool: Arrays,
    num_ret: np.ndarray,
    values: np.ndarray,
    found: np.ndarray,
) -> None: ...
