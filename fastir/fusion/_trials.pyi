from typing import Any

from fastir.fusion._recipe import Recipes
from fastir.measure._measure import Plan
from fastir.threads._blocks import Blocks

class TrialValues(Blocks):
    def __init__(self, plan: Plan, recipes: Recipes, n_settings: int, *arrays: Any) -> None: ...
    def check(self) -> None: ...
