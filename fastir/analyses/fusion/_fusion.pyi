import numpy as np

from fastir.analyses.fusion._recipe import Recipes
from fastir.engine.columns._ids import Ids
from fastir.engine.threads._blocks import Blocks

class Fusion(Blocks):
    counts: np.ndarray
    n_bytes: np.ndarray
    def __init__(
        self,
        recipes: Recipes,
        columns: list[Ids],
        numbers: list[np.ndarray],
        firsts: np.ndarray,
        sizes: np.ndarray,
        sign: int,
        by_id: bool,
        top: int,
    ) -> None: ...
    def begin(self, first: int, stop: int) -> None: ...
    def copy_to(
        self,
        text: np.ndarray,
        starts: np.ndarray,
        scores: np.ndarray,
        row: int,
        place: int,
        features: np.ndarray | None = None,
        ranks: np.ndarray | None = None,
    ) -> None: ...
    def check(self) -> None: ...
