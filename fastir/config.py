"""show_config(): what this installation computes with."""

from __future__ import annotations

from typing import Any

from fastir._version import __version__
from fastir.rank._simd import AVAILABLE, CHOSEN
from fastir.threads import OPENMP, automatic_count


def show_config() -> dict[str, Any]:
    """What fastir computes with here; values never depend on it.

    Returns
    -------
    dict
        ``"version"``; ``"simd"``, the set of instructions that is used for score matrices; ``"simd_available"``, all
        sets that this machine has, one of which the environment variable FASTIR_SIMD can choose before the first such
        call; ``"openmp"``, whether threads share arrays in teams of OpenMP, which start faster than Python threads;
        ``"n_threads"``, how many threads a large call uses by default.

    Raises
    ------
    ValueError
        FASTIR_SIMD names instructions that this machine does not have.

    Examples
    --------
    >>> import fastir
    >>> "portable" in fastir.show_config()["simd_available"]
    True
    """
    return {
        "version": __version__,
        "simd": CHOSEN,
        "simd_available": list(AVAILABLE),
        "openmp": OPENMP,
        "n_threads": automatic_count(),
    }
