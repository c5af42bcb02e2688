import numpy as np

from fastir.columns._ids import Ids
from fastir.fusion._recipe import Recipes
from fastir.threads._blocks import Blocks

class Fusion(Blocks):
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
        slots: np.ndarray,
        text_slots: np.ndarray,
        text: np.ndarray,
        starts: np.ndarray,
        lengths: np.ndarray,
        scores: np.ndarray,
        counts: np.ndarray,
        kept_features: np.ndarray | None,
        kept_places: np.ndarray | None,
    ) -> None: ...
    def check(self) -> None: ...

def pack(numbers: np.ndarray, slots: np.ndarray, counts: np.ndarray) -> int: ...
