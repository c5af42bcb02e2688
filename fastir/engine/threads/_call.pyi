from _thread import LockType
from collections.abc import Callable
from typing import Any, Never

class Call:
    result: Any
    error: BaseException | None
    ended: bool
    def __init__(self, work: Callable[[], Any], lock: LockType) -> None: ...
    def __call__(self, *args: Never, **kwargs: Never) -> None: ...
