from typing import Never

COUNTED: tuple[str, ...]
FIELDS: tuple[str, ...]

class Counts:
    matched: int
    ranked: int
    unjudged: int
    tied: int
    tied_example: int
    flat: int
    flat_example: int
    flat_rows: int
    varied: int
    nothing: int
    nothing_example: int
    repeated: int
    repeated_example: int
    rounded: int
    rounded_example: int
    excluded: int
    excluded_example: int
    uncounted: bytearray | None
    rounded_docs: tuple[str | int, str | int] | None
    def __init__(self, *args: Never, **numbers: int) -> None: ...
    def plus(self, other: Counts) -> Counts: ...

def restored(numbers: dict[str, int], uncounted: bytearray | None) -> Counts: ...
