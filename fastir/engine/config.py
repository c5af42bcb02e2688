"""show_config(): what this installation computes with."""

from __future__ import annotations

from typing import Any

from fastir._version import __version__
from fastir.engine.rank._simd import AVAILABLE, CHOSEN
from fastir.engine.threads import OPENMP, automatic_count


def show_config() -> dict[str, Any]:
    """Show how fastir computes on this machine; values never depend on it.

    Returns
    -------
    dict
        ``"version"``; ``"simd"``, the instruction set used for score matrices; ``"simd_available"``, all instruction
        sets of this machine, of which the environment variable FASTIR_SIMD can choose one before the first such call;
        ``"openmp"``, whether threads over arrays are OpenMP teams, which start faster than Python threads;
        ``"n_threads"``, how many threads a large call uses by default.

    Raises
    ------
    ValueError
        FASTIR_SIMD names an instruction set that this machine does not have.

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
