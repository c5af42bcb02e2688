"""fastir's classes in the places of torchmetrics', for modules that import them from there later."""

import sys

import torchmetrics.retrieval as theirs

from fastir.compat import torchmetrics as ours

for name in ours.__all__:
    original = getattr(theirs, name)
    stand_in = getattr(ours, name)
    for module in (theirs, sys.modules[original.__module__], sys.modules["torchmetrics"]):
        if hasattr(module, name):
            setattr(module, name, stand_in)
