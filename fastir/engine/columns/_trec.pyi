from numpy import ndarray

PROBLEMS: dict[int, str]
FORMATS: list[str]

def last_line(block: ndarray, size: int) -> int: ...
def last_group(block: ndarray, size: int, one_query: int) -> int: ...
