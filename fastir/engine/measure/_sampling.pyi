from typing import TypeAlias

import numpy as np

_Arrays: TypeAlias = tuple[np.ndarray, ...]

def estimate(
    name: str,
    level: int,
    k: int,
    hits: _Arrays,
    pool: _Arrays,
    num_ret: np.ndarray,
    values: np.ndarray,
    defined: np.ndarray,
) -> None: ...
