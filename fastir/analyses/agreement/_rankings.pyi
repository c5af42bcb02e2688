from typing import Any

from numpy import ndarray

from fastir.engine.columns._ids import Ids

class Rankings: ...

class ColumnRankings(Rankings):
    def __init__(self, column: Ids, places: dict[Any, int], offsets: ndarray, numbers: ndarray) -> None: ...

class DictRankings(Rankings):
    def __init__(self, run: dict[Any, Any], integers: bool) -> None: ...
