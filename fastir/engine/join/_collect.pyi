from numpy import ndarray

from fastir.engine.join._judged import Judged
from fastir.engine.measure._measure import Plan

COLUMNS: int

def collecting_plan(judged: Judged | None, ranks: ndarray, labels: ndarray, whole: int, reads: int = ...) -> Plan: ...
def judgments(judged: Judged) -> tuple[ndarray, ndarray]: ...
