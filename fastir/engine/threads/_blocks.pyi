from _thread import LockType
from collections.abc import Callable
from typing import Any, Never

OPENMP: bool
THREAD_LIMIT: int

def forked() -> bool: ...

class Blocks:
    def run_alone(self, thread: int, seconds: float) -> float: ...
    def run_in_team(self, n_threads: int, seconds: float) -> float: ...

class Call:
    result: Any
    error: BaseException | None
    ended: bool
    def __init__(self, work: Callable[[], Any], lock: LockType) -> None: ...
    def __call__(self, *args: Never, **kwargs: Never) -> None: ...
