from fastir.measure.cards import Card, Param

EMPTY: Param
PERSISTENCE: Param

def cards() -> tuple[Card, ...]: ...
def function_address(name: str, expected: bool = False) -> int | None: ...
