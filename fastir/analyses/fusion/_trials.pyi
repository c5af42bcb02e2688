from typing import Any

from fastir.analyses.fusion._recipe import Recipes
from fastir.engine.measure._measure import Plan
from fastir.engine.threads._blocks import Blocks

class TrialValues(Blocks):
    def __init__(self, plan: Plan, recipes: Recipes, n_settings: int, *arrays: Any) -> None: ...
    def check(self) -> None: ...
