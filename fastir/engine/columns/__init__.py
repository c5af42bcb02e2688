"""Ids and numbers as columns, wherever their bytes lie: the one form in which runs and qrels reach the kernels.

In        str and int objects, dicts, Arrow arrays, and the text of lines
Out       Ids (a column of ids, borrowed as bytes), Arena (ids as bytes in one array), int32 labels and float64
          scores; Rows, the base of Qrels and Run
Validates the type of every id, the fields and the number of every line, and the structure of Arrow data; not what ids
          and numbers mean together
Allocates an array of addresses for Python strings; integers narrower than 64 bits are widened. Other bytes stay where
          they are, and an Ids keeps their owner alive
Raises    TypeError and ValueError for ids and numbers; _trec returns the problem of a line as a code, which
          line_formats turns into the message

ids           one id: is_integer, plain_id, encode; many: Arena
rows          Rows: documents of queries, each with a number
line_formats  the lines of TREC, BEIR and MS MARCO files as data, and the messages for bad ones
other_formats what a bad line looks like, recognised by what it is
id_lists      one query's ids as a list, checked
_dicts        callers' dicts: inspected, and cleaned if they are unusual
_ids          Text, one id as borrowed bytes: order, hash with secret words, equality; a column of ids, of any of
              seven layouts, read as Texts
_trec         lines to rows, and the rows of a whole file as columns
_parsing      JSON objects, lists in cells and lines of files for learning to rank, to rows
_number       the text of a number to a double, exactly
_number_text  doubles to the text of repr(), a matrix at a time
_arrow        Arrow data in, without pyarrow, after checks of its structure, offsets and views
_arrow_out    results as Arrow data
_objects      lists and rows of Python objects, as columns
_entries      scores and labels that are Python objects, read without Python code; the pairs of a dict in batches, the
              rows of a ranking that is a dict, a dict of rankings as columns
_memory.pxd   prefetching, and memory for large scratch
_fenv.pxd     ordinary floating point during a call, in any mode of the caller's thread
"""
