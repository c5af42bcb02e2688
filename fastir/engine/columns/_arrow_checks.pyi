INTEGER_TYPES: dict[str, str]
FLOAT_TYPES: dict[str, str]
TEXT_KINDS: dict[str, int]
BUFFERS: dict[str, int]

def malformed(defect: str) -> ValueError: ...
