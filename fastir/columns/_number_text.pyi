from numpy import ndarray

def rows_text(
    heads: list[bytes], values: ndarray, ends: list[bytes], nan: bytes = b"nan", infinity: bytes = b"inf"
) -> ndarray: ...
