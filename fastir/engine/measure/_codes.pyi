READ_CODES: dict[str, int]
STATUS_CODES: dict[str, int]
TIE_CODES: dict[str, int]
GAIN_CODES: dict[str, int]
IDEAL_CODES: dict[str, int]
PROBLEM_CODES: dict[str, int]
NUMBERS_LIMIT: int
