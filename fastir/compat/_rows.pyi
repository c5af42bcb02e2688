from typing import Any

from numpy import ndarray

from fastir.engine.join._judged import Judged
from fastir.engine.measure._measure import Plan

def measured(
    judged: Judged, plan: Plan, run: dict[Any, Any], positions: dict[str, int], ties: int, single: bool
) -> tuple[list[str], ndarray]: ...
