from typing import Any

from fastir.join._join import Join

class Lists(Join):
    breathes: bool
    def read(self, run: dict[Any, Any], integer_queries: bool) -> bool: ...

def longest_list(run: dict[Any, Any]) -> int: ...
def integer_ids(run: dict[Any, Any]) -> bool | None: ...
