from fastir.engine.columns.ids import Arena

class Parents:
    chunks: Arena
    documents: Arena
    aggregate: str | None
    is_table: bool
    def __init__(self, chunks: Arena, documents: Arena, aggregate: str | None) -> None: ...
    def __len__(self) -> int: ...
    def of(self, run: object) -> Parents: ...
