from typing import Protocol

from numpy import ndarray

from fastir.engine.threads._blocks import Blocks

BLOCK_SIZE: int
SIGNS: int
ORDERS: int
DRAWS: int
REPEATS: int

class _Resamples(Protocol):  # what the kernels read of a Resamples, which stands above them
    stream: int
    listed: bool
    total: int
    block: int

class Kernel(Blocks):
    def counts(self) -> ndarray: ...

class Signs(Kernel):
    def __init__(
        self,
        resamples: _Resamples,
        x: ndarray,
        a: ndarray,
        b: ndarray,
        limits: ndarray,
        two_sided: bool,
        members: ndarray,
        ends: ndarray,
        scales: ndarray,
        most: ndarray,
    ) -> None: ...

class Orders(Kernel):
    def __init__(self, resamples: _Resamples, x: ndarray, ranges: ndarray) -> None: ...

class Draws(Kernel):
    def __init__(self, resamples: _Resamples, x: ndarray, sums: ndarray, start: int = 0) -> None: ...

class Studentized(Kernel):
    def __init__(
        self,
        resamples: _Resamples,
        shifted: ndarray,
        offsets: ndarray,
        noise: ndarray,
        limits: ndarray,
        two_sided: bool,
    ) -> None: ...

def stream(seed: int, purpose: int) -> int: ...
def drawn_indices(stream: int, first: int, n: int, chosen: ndarray) -> None: ...
