import numpy as np

from fastir.fusion._recipe import Recipes
from fastir.measure._measure import Plan
from fastir.threads._blocks import Blocks

class Trials(Blocks):
    def __init__(
        self,
        plan: Plan,
        recipes: Recipes,
        features: np.ndarray,
        places: np.ndarray,
        slots: np.ndarray,
        n_docs: np.ndarray,
        sizes: np.ndarray,
        offsets: np.ndarray,
        positions: np.ndarray,
        labels: np.ndarray,
        ideal_offsets: np.ndarray,
        ideal_labels: np.ndarray,
        row_queries: np.ndarray,
        row_settings: np.ndarray,
        values: np.ndarray,
    ) -> None: ...
    def check(self) -> None: ...
