CHOSEN: str
AVAILABLE: list[str]

def choose() -> tuple[str, list[str]]: ...
