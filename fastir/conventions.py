"""The conventions under the name by which users reach them; they are declared in fastir.request.conventions."""

import sys
from types import ModuleType

from fastir.request.conventions import CONVENTIONS, Convention

__all__ = ["CONVENTIONS", "Convention"]


class Conventions(ModuleType):
    """This module, which shows the conventions as a table."""

    def _shown(self, format: str) -> str:
        from fastir.rendering import Cell, Table, render

        rows = [[Cell(name), Cell(each.span), Cell(each.about)] for name, each in CONVENTIONS.items()]
        note = "print(fastir.conventions.CONVENTIONS[name]) says all of one; convention=name follows it."
        return render(Table(["convention", "releases", "what it reproduces"], rows, 3, [note]), format)

    def __repr__(self) -> str:
        return self._shown("text").rstrip("\n")

    def _repr_html_(self) -> str:
        return self._shown("html")


sys.modules[__name__].__class__ = Conventions
