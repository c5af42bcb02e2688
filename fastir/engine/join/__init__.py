"""Which of the documents that a run ranks are judged, and for which query.

In       the qrels as a Judged, made once and used for any number of runs; a Plan; and rows (query, document, score)
         from a dict, from columns, or from the blocks of a file.
Out      for every query of the qrels a row of values and a status (STATUS_CODES), written into arrays that the caller
         allocated; Counts; and the run's queries that the qrels do not have.
Checks   here, because only here all rows pass: a duplicate document of a query, a score that is NaN, a line
         that cannot be read, an id of the wrong kind. Options are checked before, labels when the qrels are made.
Memory   scratch of each thread, which grows to its longest ranking. Ids are borrowed from the caller's strings, columns
         or file blocks: a run is not copied, and only rows in any order (_scattered) are looked at more than once.
Raises   loops without the GIL return a code (PROBLEM_CODES) and the position; the method around them, or its caller in
         inputs, makes the exception, in the caller's ids, rows or lines.

    _judged       the qrels, indexed by bytes and by Python's hash; a Plan that measures nothing, and keeps the hits
    _counts       Counts: what a join counted
    _join         Join: the rows of one query, from hashing its ids to its row of values; words in buckets and sets of
                  hashes, documents in several rows, the documents of the ids of a run
    _dicts        a dict of dicts: each ranking is probed with the judged ids, or looked up among them if they are many
    _id_lists     lists of ids in rank order
    _contiguous   columns with the rows of a query together
    _scattered    columns with rows in any order
    _query_table  and the tables that each row is looked up in
    _trec_stream  a TREC file while it is read
    _two_pass     rows in any order, in parts that never meet

From the hits that a join finds, `rank` finds their ranks, and `measure` fills the row.
"""
