"""Docstrings say what several parameters have in common in one entry; each of them keeps the type of its own.

Griffe gives all names of an entry without a type the annotation of the first. It also reads a type with commas in it,
such as "dict, table or path", as a tuple, which the page would show in brackets of its own.
"""

from typing import Any

import griffe


class JointParameters(griffe.Extension):
    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        annotations = [parameter.annotation for parameter in func.parameters if parameter.annotation is not None]
        for section in func.docstring.parsed if func.docstring else ():
            if isinstance(section, (griffe.DocstringSectionParameters, griffe.DocstringSectionOtherParameters)):
                for entry in section.value:
                    if isinstance(entry.annotation, griffe.ExprTuple):
                        entry.annotation.implicit = True
                    name = entry.name.lstrip("*")
                    if name in func.parameters and any(entry.annotation is each for each in annotations):
                        entry.annotation = func.parameters[name].annotation
