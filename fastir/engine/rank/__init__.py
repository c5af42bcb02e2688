"""The ranks of the documents that metrics read, from scores, without sorting the others.

In       scores, or labels in rank order; the hits (documents that the Plan reads) with their labels; a tie rule; the
         query's Judgments; room for the row of values.
Out      the hits' ranks and labels in rank order, in the Scratch of the thread, which `measure` turns into the row; and
         whether a tie may have decided a value.
Checks   the values of scores and labels: NaN, labels that are no integers or too large, duplicate items or have
         no column. Shapes, dtypes, offsets and options are checked before (inputs, evaluation).
Memory   scratch of each thread, which its owner reserves before and discards at the end.
Raises   nothing without the GIL: a kernel returns a code (PROBLEM_CODES) and the position, evaluation makes the
exception.

Ranks are found in seven ways. Which one is taken shows in nothing but time; the tests compare them bit by bit.

    way                          used for                                                             file
    binary search                a whole ranking with scores that already descend (most dicts, files)     _rank
    count the scores above       a whole ranking in another order, with hits of few distinct scores   _rank
    place scores among hits      the same with hits of many distinct scores                           _rank
    select the first ranks       groups of labels and scores, where no cutoff is above 20             _placed_hits
    count in one pass            such groups of up to 4096 rows with larger cutoffs, up to 192 hits   _placed_hits
    sort all rows                other groups of up to 4096 rows; longer ones, a hit in 32 rows       _sorted_rows
    select, count or place       rows of a score matrix, while their blocks pass                      _row_counts

Groups that none of these ways takes (long ones with few hits) are ranked by _rank. Rows in
any order count the scores above their hits while they pass (join/_scattered), before their queries are complete.

    _rank             from all scores of one ranking to the ranks of its hits; the rule for equal scores
    _labels           columns of labels of any dtype: the hits among labels in rank order, and the judgments they make
    _placed_hits      the hits of a group by selecting or counting
    _sorted_rows      the hits of a group, from its rows sorted
    _labels_by_query  groups of labels, in rank order or with scores, and their ideal rankings
    _judged_ranks     rankings with known ranks: JudgedRankings
    _row_counts       for a few columns of a matrix row, how many scores are above theirs
    _matrix           rows of a score matrix
    _topk             rows of item numbers, and a query's judged items, ready for such a ranking
    _order            all rows of a ranking in rank order, for those who compare or pool whole rankings
    _simd             the loops over scores, compiled for several sets of instructions and chosen at import
"""
