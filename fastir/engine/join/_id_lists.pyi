from typing import Any

from fastir.engine.join._join import Join

class Lists(Join):
    releases_gil: bool
    def read(self, run: dict[Any, Any], integer_queries: bool, rows: list[int] | None = None) -> bool: ...

def longest_list(run: dict[Any, Any]) -> int: ...
def id_kinds(run: dict[Any, Any]) -> tuple[type[Any] | None, type[Any] | None]: ...
