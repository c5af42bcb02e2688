"""Parameters that one entry of a docstring describes stay one entry, and types stand in the signature alone.

Griffe makes an entry for each name and repeats the text. It also gives an entry without a type the annotation of the
signature, and reads a type with commas in it, such as "dict, table or path", as a tuple in brackets.
"""

from typing import Any

import griffe


class JointParameters(griffe.Extension):
    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        annotations = [parameter.annotation for parameter in func.parameters if parameter.annotation is not None]
        for section in func.docstring.parsed if func.docstring else ():
            if not isinstance(section, (griffe.DocstringSectionParameters, griffe.DocstringSectionOtherParameters)):
                continue
            entries: list[griffe.DocstringParameter] = []
            for entry in section.value:
                if isinstance(entry.annotation, griffe.ExprTuple):
                    entry.annotation.implicit = True
                if any(entry.annotation is each for each in annotations):
                    entry.annotation = None
                entry.value = None
                if entries and entries[-1].description == entry.description:
                    entries[-1].name += f", {entry.name}"
                else:
                    entries.append(entry)
            section.value = entries
