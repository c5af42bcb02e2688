"""The conventions under the name by which users reach them; they are declared in fastir.request.conventions."""

from fastir.request.conventions import CONVENTIONS, Convention

__all__ = ["CONVENTIONS", "Convention"]
