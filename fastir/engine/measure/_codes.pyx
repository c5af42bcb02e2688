"""The numbers of words between Python and Cython, by word.

Kernels cimport the enums of _codes.pxd; Python code looks a number up in one of these dicts. Within READ_CODES,
STATUS_CODES, TIE_CODES, GAIN_CODES and IDEAL_CODES a word's number is its position, so
an array of numbers indexes the tuple of the words.
"""

READ_CODES = {"relevant": RELEVANT, "judged": JUDGED, "pool": POOL, "all": ALL}
STATUS_CODES = {"evaluated": EVALUATED, "missing": MISSING, "no_relevant": NO_RELEVANT}
TIE_CODES = {"trec": TREC, "doc_id_asc": ASCENDING, "input": INPUT, "input_reversed": REVERSED,
             "optimistic": OPTIMISTIC, "pessimistic": PESSIMISTIC, "average": AVERAGE}
GAIN_CODES = {"linear": LINEAR, "exp2": EXP2, "binary": BINARY}
IDEAL_CODES = {"judged": JUDGED_BEST, "retrieved": RETRIEVED_BEST, "num_ret": AS_LONG, "full": FULL,
               "uncut": UNCUT}
PROBLEM_CODES = {"no memory": NO_MEMORY, "repeated": REPEATED, "not a number": NOT_A_NUMBER, "outside": OUTSIDE,
                 "excluded outside": EXCLUDED_OUTSIDE, "ranked twice": RANKED_TWICE, "negative": NEGATIVE,
                 "padded inside": PADDED_INSIDE, "bad label": BAD_LABEL, "large label": LARGE_LABEL,
                 "changed": CHANGED, "not summed": NOT_SUMMED}
