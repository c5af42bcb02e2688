from typing import Any

from numpy import ndarray

def columns_from_rankings(
    rankings: dict[Any, Any],
) -> tuple[list[Any], ndarray, ndarray, ndarray, ndarray, ndarray] | None: ...
