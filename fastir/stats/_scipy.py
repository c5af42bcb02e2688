"""SciPy's special functions, imported when one is first called: to import fastir.stats, NumPy is enough."""

import functools
from types import ModuleType


@functools.cache
def special() -> ModuleType:
    """`scipy.special`, or what to install."""
    try:
        from scipy import special
    except ImportError:
        raise ImportError("fastir.stats needs SciPy: pip install fastir[stats]") from None
    return special
