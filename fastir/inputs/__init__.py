"""What callers bring: a file for each shape. Everything here reads and checks; nothing here evaluates.

In come dicts, paths, tables and arrays of any library. Out go the columns of which a Qrels or a Run is made (query ids,
offsets, document ids, numbers and the repairs that were necessary), or arrays that a kernel can read.
A Source says what an object is, once for each call. Libraries are recognised without being imported, and
a caller's object is never changed.

Data is validated here, because the kernels trust what they get: FormatError, DuplicateError, TypeError, ValueError and
OverflowError name the line or row and the caller's ids. Each reader allocates the columns that it returns; files are
read in blocks, tables in batches, and arrays are copied only where their dtype or strides demand it. Modules that few
calls need are imported by the function that needs them.

    source.py        the kind of an object, its name, size and first bytes, each determined once
    shapes.py        the shape of qrels or a run
    dicts.py         dicts of dicts; weights of queries
    preferences.py   what judges prefer, as orders of documents
    samples.py       strata and inclusion probabilities, aligned with labels
    pairing.py       which row of one argument belongs to which row of the one beside it: by id, or by position
    item_rows.py     rows of scores or items, with the judged and excluded items beside them
    id_lists.py      columns of lists of ids, of tables and files
    places.py        where bytes are: paths, folders, patterns, file objects, URLs, file systems
    formats.py       the formats of files, and the ends of names that select them
    files.py         opening, decompressing and writing files
    parents.py       the documents of chunks; parent_columns reads their columns
    exclusions.py    the documents that leave the rankings of a run
    mappings.py      {key: value} from dicts, columns, tables and lines of files; weights of documents
    ir_metadata.py   what comments at the head of a TREC run say of it
    trec.py          files with a row per line: TREC, BEIR, MS MARCO
    json_files.py    JSON files
    engine_json.py   JSON of engines: _rank_eval, Search Relevance Workbench, _search, _msearch
    quepid.py        CSV files of Quepid
    table_files.py   CSV, JSONL and Parquet files, as tables
    parquet_files.py one Parquet file or many, with hive partitions, as one table
    library_tables.py datasets of other libraries, and what makes a table of what is nearly one
    tables.py        tables in memory, as batches of three columns; tables of labels and scores
    column_readers.py one column of some rows, as ids or numbers
    table_rows.py    batches of rows, grouped by query
    grouping.py      rows of lines, grouped by query
    writers.py       files that are written
    arrays.py        arrays of numbers of any library
    label_arrays.py  labels and judged rankings as arrays
    roles.py         what the columns of tables are called, and which one has each role
    query_groups.py  where the queries of such arrays begin: group, qid or offsets
    csr.py           the judged or excluded items of each row of a matrix
"""
