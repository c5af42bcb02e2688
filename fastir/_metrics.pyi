from fastir.cards import Card

CARDS: tuple[Card, ...]

def function_address(name: str) -> int: ...
