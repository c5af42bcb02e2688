from collections.abc import Iterable, Mapping
from typing import Any

from numpy import ndarray

from fastir.engine.measure._measure import Plan

def labels_in_order(
    retrieved: Iterable[Iterable[Any]], relevant: Iterable[Mapping[Any, float]]
) -> tuple[ndarray, ndarray, ndarray, ndarray]: ...
def value_of_one(plan: Plan, retrieved: Iterable[Any], relevant: Iterable[Any]) -> float: ...
def labels_of_numbers(judged: list[ndarray], ranked: list[ndarray]) -> tuple[ndarray, ndarray]: ...
