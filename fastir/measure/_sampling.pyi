from typing import TypeAlias

import numpy as np

Hits: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
Pool: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]

def estimate(
    name: str,
    level: int,
    k: int,
    hits: Hits,
    pool: Pool,
    num_ret: np.ndarray,
    values: np.ndarray,
    found: np.ndarray,
) -> None: ...
