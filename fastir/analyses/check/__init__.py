"""Check a submission before it is evaluated: list all faults of a run's file, each with its line.

`evaluate` stops at the first line that it cannot take. Here a slow scan in plain Python goes on to the last one, and
says also what `evaluate` takes: ties, missing queries, ranks that contradict the scores, what breaks a track's rules.

    a file of lines  ─ lines ─▶ Side, and the faults of its bytes and lines ─┐
    anything else    ─ held ──▶ Side, or what its reader refuses            ─┴─ sides ─ check ─▶ Checked

In        qrels and runs of any shape, and the rules of a track
Out       Checked: a record for each fault, which prints as a table
Validates the rules; what the data hold is not refused but listed
Allocates the rows of one run and of the qrels, and a record for each fault, of which one kind in one file has no more
          than checked.MAX_LISTED
Raises    TypeError and ValueError for rules; OSError for a file that cannot be read, FormatError for one that cannot be
          unpacked

lines     a file as lines, whatever its encoding, and the scan of the lines of TREC, BEIR and MS MARCO files
held      other shapes, by the errors of their readers
sides     documents by query; what can be wrong in one side alone, and between run and qrels
rules     what a track demands
checked   the kinds of faults, how bad they are, and whether `evaluate` refuses them; Fault, Findings, Checked
check     check()
"""
