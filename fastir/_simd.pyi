CHOSEN: str
AVAILABLE: list[str]
OPENMP: bool

def choose() -> tuple[str, list[str]]: ...
