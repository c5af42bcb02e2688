from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy import ndarray

def labels_in_order(
    retrieved: Iterable[Iterable[Any]], relevant: Iterable[Mapping[Any, float]]
) -> tuple[ndarray, ndarray, ndarray, ndarray]: ...
def values(
    retrieved: Iterable[Sequence[Any]],
    relevant: Iterable[Mapping[Any, float]],
    metrics: Sequence[str],
    convention: str,
    **options: Any,
) -> ndarray: ...
def value_of_one(retrieved: Iterable[Any], relevant: Iterable[Any], metric: str, convention: str) -> float: ...
def labels_of_numbers(judged: list[ndarray], ranked: list[ndarray]) -> tuple[ndarray, ndarray]: ...
