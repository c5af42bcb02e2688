"""The counts of an evaluation: each thread counts into one record, and the records of threads or parts are added up.

A class in C because it is made in every call: a NamedTuple would add a sixth to the time of a call with one query.
"""

# A name's field n_... has its number. Names with an example also have a field ..._example: the first query.
WITH_EXAMPLE = ("tied_queries", "flat_queries", "unjudged_queries", "repeated_rows", "rounded_queries", "excluded_rows",
                "low_rows")
WITHOUT_EXAMPLE = ("matched_queries", "ranked_docs", "unjudged_docs", "varied_queries", "flat_docs")
FIELDS = (*(f"n_{name}" for name in WITH_EXAMPLE + WITHOUT_EXAMPLE), *(f"{name}_example" for name in WITH_EXAMPLE),
          "rounded_docs")


cdef class Counts:
    """The counts of one evaluation; without arguments, of an empty run.

    n_matched_queries           queries of the qrels that the run has
    n_ranked_docs               documents ranked for queries of the qrels
    n_unjudged_docs             those among them that are not in the qrels
    n_tied_queries              queries in which a hit shares its score with another document
    n_flat_queries              those among them in which all documents have one score
    n_flat_docs                 the documents of these
    n_varied_queries            rankings with a hit and with several scores
    n_unjudged_queries          rankings that are not empty and hold no judged document
    n_repeated_rows             rows that repeat the document of an earlier row of the query, if that is no error
    n_rounded_queries           rankings in which two integer scores are different, but not as float64
    n_excluded_rows             rows that left their query, as the option `exclude` says
    n_low_rows                  and further ones with scores below the option `min_score`
    ..._example                 the position of the first such query, -1 if there is none
    rounded_docs                two documents of the first rounded ranking with scores that became equal, or None
    uncounted                   where n_unjudged_docs is too high by what count_rest() finds in this, or None
    """

    def __cinit__(self):
        self.tied_queries_example = self.flat_queries_example = self.unjudged_queries_example = -1
        self.repeated_rows_example = self.rounded_queries_example = self.excluded_rows_example = -1
        self.low_rows_example = -1

    def __init__(self, **numbers):
        for name, number in numbers.items():
            setattr(self, name, number)

    def __reduce__(self):
        return restore_counts, ({name: getattr(self, name) for name in FIELDS}, self.uncounted)

    cdef add(self, Counts other):
        """Add the counts of other queries; an example is the first in the qrels."""
        self.n_matched_queries += other.n_matched_queries
        self.n_ranked_docs += other.n_ranked_docs
        self.n_unjudged_docs += other.n_unjudged_docs
        self.n_tied_queries += other.n_tied_queries
        self.tied_queries_example = earlier(self.tied_queries_example, other.tied_queries_example)
        self.n_flat_queries += other.n_flat_queries
        self.flat_queries_example = earlier(self.flat_queries_example, other.flat_queries_example)
        self.n_flat_docs += other.n_flat_docs
        self.n_varied_queries += other.n_varied_queries
        self.n_unjudged_queries += other.n_unjudged_queries
        self.unjudged_queries_example = earlier(self.unjudged_queries_example, other.unjudged_queries_example)
        self.n_repeated_rows += other.n_repeated_rows
        self.repeated_rows_example = earlier(self.repeated_rows_example, other.repeated_rows_example)
        self.n_rounded_queries += other.n_rounded_queries
        if earlier(self.rounded_queries_example, other.rounded_queries_example) != self.rounded_queries_example:
            self.rounded_queries_example, self.rounded_docs = other.rounded_queries_example, other.rounded_docs
        self.n_excluded_rows += other.n_excluded_rows
        self.excluded_rows_example = earlier(self.excluded_rows_example, other.excluded_rows_example)
        self.n_low_rows += other.n_low_rows
        self.low_rows_example = earlier(self.low_rows_example, other.low_rows_example)

    def plus(self, Counts other):
        """The counts of both, as a new record."""
        cdef Counts total = Counts()
        total.add(self)
        total.add(other)
        return total


def restore_counts(numbers, uncounted):
    """The Counts that were pickled."""
    return Counts(**numbers, uncounted=uncounted)
