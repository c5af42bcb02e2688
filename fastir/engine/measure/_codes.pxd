# The numbers of words between Python and Cython, each defined only here; _codes.pyx exports them.

cdef enum:                  # which documents of a ranking become hits, each a superset of the one before
    RELEVANT                # documents with a label above 0
    JUDGED                  # all with a label from 0 up
    POOL                    # and documents in the qrels without a judgment (a negative label)
    ALL                     # every retrieved document


cdef enum:                  # the status of a query
    EVALUATED
    MISSING                 # it is missing from the run
    NO_RELEVANT             # no judged document has a label from rel_level up


cdef enum:                  # which of documents with equal scores comes first
    TREC                    # the larger id, as bytes
    ASCENDING               # the smaller id
    INPUT                   # the one that came first
    REVERSED                # the one that came last: up to here a rule asks for ids or rows, from here on for labels
    OPTIMISTIC              # the larger label
    PESSIMISTIC             # the smaller label
    AVERAGE                 # every order at once: values are expected ones


cdef enum:                  # problems that stop a kernel; smaller numbers are columns/_trec.pxd's, for a line of a file
    NO_MEMORY = 100
    REPEATED                # a duplicate document among the rows or the judged items of one query
    NOT_A_NUMBER            # a score is NaN
    OUTSIDE                 # a judged item has no column in the matrix
    EXCLUDED_OUTSIDE        # an excluded item has none
    RANKED_TWICE            # a duplicate item in a ranking of items
    NEGATIVE                # a ranked item is below -1
    PADDED_INSIDE           # a ranked item follows -1
    BAD_LABEL               # a label is not an integer of 32 bits
    LARGE_LABEL             # a label is above the limit of a metric
    CHANGED                 # an array changed during the call
    COLLISION               # more ids share one slot of a table than chance allows
    NOT_SUMMED              # infinite scores of both signs that are to be added up


cdef enum:                  # what a label from the floor up adds
    LINEAR                  # itself
    EXP2                    # 2^label - 1
    BINARY                  # 1


cdef enum:                  # what the ideal ranking holds
    JUDGED_BEST             # all judged documents
    RETRIEVED_BEST          # those that are retrieved
    AS_LONG                 # as many judged documents as are retrieved
    FULL                    # as good a document as the best judged one at each rank
    UNCUT                   # all judged documents, below the cutoff too


cdef enum:
    MOST_NUMBERS = 100      # in a parameter that is a set of numbers; bounds an array on the stack
