from numpy import ndarray

def rows_text(
    heads: list[str], values: ndarray, between: list[bytes], nan: bytes = b"nan", infinity: bytes = b"inf"
) -> ndarray: ...
