"""The counts of an evaluation: each thread counts into one record, and the records of threads or parts are added up.

A class in C because it is made in every call: a NamedTuple would add a sixth to the time of a call with one query.
"""

COUNTED = ("tied", "flat", "nothing", "repeated", "rounded", "excluded")    # these have an example and a number
EXAMPLES = (*(f"{name}_example" for name in COUNTED), "rounded_docs")
FIELDS = ("matched", "ranked", "unjudged", "varied", "flat_rows", *COUNTED, *EXAMPLES)


cdef class Counts:
    """The counts of one evaluation; without arguments, of an empty run.

    Attributes
    ----------
    matched : int
        Queries of the qrels that the run has.
    ranked, unjudged : int
        Documents ranked for queries of the qrels; those among them that are not in the qrels.
    tied, tied_example : int
        Queries in which a hit shares its score with another document; the position of the first, -1 if there is none.
    flat, flat_example : int
        Those among them in which all documents have one score; as above.
    flat_rows, varied : int
        The documents of these; rankings with a hit and with several scores.
    nothing, nothing_example : int
        Rankings that are not empty and hold no judged document; as above.
    repeated, repeated_example : int
        Rows that repeat the document of an earlier row of the query, if that is no error; as above.
    rounded, rounded_example : int
        Rankings in which two integer scores are different, but not as float64; as above.
    rounded_docs : tuple or None
        Two documents of the first of these rankings with scores that became equal.
    excluded, excluded_example : int
        Rows that left their query, as the option `exclude` says; as above.
    uncounted : bytearray or None
        Where `unjudged` is too high by what count_rest() finds in this.
    """

    def __cinit__(self):
        self.tied_example = self.nothing_example = self.repeated_example = self.rounded_example = -1
        self.excluded_example = self.flat_example = -1

    def __init__(self, **numbers):
        for name, number in numbers.items():
            setattr(self, name, number)

    def __reduce__(self):
        return restored, ({name: getattr(self, name) for name in FIELDS}, self.uncounted)

    cdef add(self, Counts other):
        """Add the counts of other queries; an example is the first in the qrels."""
        self.matched += other.matched
        self.ranked += other.ranked
        self.unjudged += other.unjudged
        self.tied += other.tied
        self.tied_example = earlier(self.tied_example, other.tied_example)
        self.flat += other.flat
        self.flat_example = earlier(self.flat_example, other.flat_example)
        self.flat_rows += other.flat_rows
        self.varied += other.varied
        self.nothing += other.nothing
        self.nothing_example = earlier(self.nothing_example, other.nothing_example)
        self.repeated += other.repeated
        self.repeated_example = earlier(self.repeated_example, other.repeated_example)
        self.rounded += other.rounded
        if earlier(self.rounded_example, other.rounded_example) != self.rounded_example:
            self.rounded_example, self.rounded_docs = other.rounded_example, other.rounded_docs
        self.excluded += other.excluded
        self.excluded_example = earlier(self.excluded_example, other.excluded_example)

    def plus(self, Counts other):
        """The counts of both, as a new record."""
        cdef Counts total = Counts()
        total.add(self)
        total.add(other)
        return total


def restored(numbers, uncounted):
    """The Counts that were pickled."""
    return Counts(**numbers, uncounted=uncounted)
