"""SciPy's special functions, imported when one is first called: that takes longer than fastir and NumPy together."""

import functools
import importlib.util
from types import ModuleType

MISSING_SCIPY = "fastir.stats needs SciPy: pip install 'fastir[stats]'"


@functools.cache
def special() -> ModuleType:
    """`scipy.special`, or what to install."""
    try:
        from scipy import special
    except ImportError:
        raise ImportError(MISSING_SCIPY) from None
    return special


def check_scipy() -> None:
    """Raise if SciPy, which is needed later, is not installed; do not import it."""
    if not has_scipy():
        raise ImportError(MISSING_SCIPY)


def has_scipy() -> bool:
    return importlib.util.find_spec("scipy") is not None
