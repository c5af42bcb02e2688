import numpy as np

FEATURES: tuple[str, ...]
NORMS: tuple[str | None, ...]
RULES: tuple[str, ...]

class Recipes:
    def __init__(
        self,
        feature: str,
        norm: str | None,
        rule: str,
        absent: float,
        weights: np.ndarray,
        factors: np.ndarray,
        tables: np.ndarray,
        windows: np.ndarray,
    ) -> None: ...
