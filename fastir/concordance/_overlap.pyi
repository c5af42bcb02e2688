from numpy import ndarray

def rbo(
    short: ndarray,
    long: ndarray,
    place: ndarray,
    p: float,
    variant: int,
    tail: float,
    ints: ndarray,
    common: ndarray,
) -> tuple[float, float, float]: ...
