"""From one query's judged documents to its row of values: walk once, read many.

The plan's metrics are grouped into views: metrics of one relevance level, gain, discount and ideal share a walk. The
walk (_walk) goes once over the judged documents in rank order and copies its running sums into a Snapshot at each
cutoff; then every metric reads its snapshot through a function pointer (under 1 ns a value; see DESIGN.md). Metrics
for which only labels above 0 matter get a list of these alone, four times shorter if pools are deep. Sums are
sequential in rank order, so values do not depend on threads, which only divide the queries among them: block by block,
each with its own Scratch.
"""

from libc.math cimport NAN
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from fastir.engine.measure._codes cimport ALL, AS_LONG, JUDGED, RELEVANT, RETRIEVED_BEST, UNCUT
from fastir.engine.measure._registry cimport Query, Snapshot, metric_function, takes_room
from fastir.engine.measure._sort cimport labels_from
from fastir.engine.measure._walk cimport View, fill_tables, ideal_gains, walk, walk_ties

cdef class Plan:
    """Views and slots in C; immutable.

    Parameters
    ----------
    views : list of fastir.engine.measure.views.View
    slots : list of fastir.engine.measure.views.Slot
    reads : int
        A code of READ_CODES: which documents become hits.
    judged_only : bool
    max_depth : int
    average : bool
        Whether values are expected ones, over the orders of equal scores.
    grades : Grades or None
        What the labels stand for, where they are codes; its `labels` are None where codes name rows.
    """

    def __cinit__(self, list views, list slots, int reads, bint judged_only, int64_t max_depth, bint average,
                  grades=None):
        self.grades = grades
        self.reads = JUDGED if judged_only else reads
        self.judged_only = judged_only
        self.max_depth = max_depth
        self.average = average
        self.walk = walk_ties if average else walk
        self.views = <View*>calloc(len(views) + 1, sizeof(View))
        self.slots = <Slot*>calloc(len(slots) + 1, sizeof(Slot))
        self.numbers = <double*>malloc((sum([len(slot.params) for slot in slots]) + 1) * sizeof(double))
        if self.views == NULL or self.slots == NULL or self.numbers == NULL:
            raise MemoryError
        if grades is None or grades.labels is None:
            self.take_views(views, None, None, None)
        else:
            self.take_views(views, grades.labels, grades.powers, grades.gains)
        self.take_slots(slots)

    cdef take_views(self, list views, const double[::1] grades, const double[::1] powers, const double[::1] gains):
        """Copy the views, and make the tables of their gains; their slots are not known yet."""
        cdef Py_ssize_t i, j
        cdef View* out
        for i, view in enumerate(views):
            self.n_views = i + 1
            out = self.views + i
            out.cutoffs = <int64_t*>malloc((len(view.cutoffs) + 1) * sizeof(int64_t))
            out.rule.labels = <int32_t*>malloc((len(view.gains) + 1) * sizeof(int32_t))
            out.rule.values = <double*>malloc((len(view.gains) + 1) * sizeof(double))
            if out.cutoffs == NULL or out.rule.labels == NULL or out.rule.values == NULL:
                raise MemoryError
            out.rule.curve = view.curve
            out.rule.n = len(view.gains)
            if grades is not None:
                out.rule.n_grades = grades.shape[0]
                out.rule.grades, out.rule.powers, out.rule.gains = &grades[0], &powers[0], &gains[0]
            for j, (label, gain) in enumerate(view.gains):
                out.rule.labels[j] = label
                out.rule.values[j] = gain
            out.level = view.level
            out.floor = view.floor
            out.jk2 = view.jk2
            out.ideal = view.ideal
            out.gain_depth = view.gain_depth
            out.lists_gains = view.lists_gains
            self.gains |= out.lists_gains
            self.listed_gains |= out.rule.n > 0
            self.sorts |= out.ideal == RETRIEVED_BEST
            if fill_tables(out) < 0:
                raise MemoryError
            out.n_cutoffs = len(view.cutoffs)
            out.first = self.n_snapshots
            for j, cutoff in enumerate(view.cutoffs):
                out.cutoffs[j] = cutoff
                out.n_graded += cutoff <= view.gain_depth
            self.gain_depth = max(self.gain_depth, INT64_MAX if out.ideal == UNCUT else out.gain_depth)
            self.deepest = max(self.deepest, out.cutoffs[out.n_cutoffs - 1])
            self.n_snapshots += out.n_cutoffs

    cdef take_slots(self, list slots):
        """Copy the slots, the slots of a view side by side, and their parameters."""
        cdef Py_ssize_t i, column
        cdef double* free_number = self.numbers
        cdef Slot* out
        cdef View* view
        for i in range(self.n_views):
            self.views[i].first_slot = len(slots)
        for i, column in enumerate(sorted(range(len(slots)), key=lambda column: slots[column].view)):
            slot = slots[column]
            self.room |= self.average or takes_room(slot.metric)
            out = self.slots + i
            view = self.views + <Py_ssize_t>slot.view
            view.first_slot = min(i, view.first_slot)
            view.stop_slot = i + 1
            out.column = column
            out.reads = slot.reads
            out.plain = slot.empty is None and not slot.skips_empty_ranking and slot.reads == RELEVANT
            out.skips_empty_ranking = slot.skips_empty_ranking
            out.function = metric_function(slot.metric, self.average)
            out.snapshot = view.first + slot.cutoff
            out.replaces_empty = slot.empty is not None
            out.empty = 0.0 if slot.empty is None else slot.empty
            out.graded = slot.graded
            out.params = free_number
            for number in slot.params:
                free_number[0] = number
                free_number += 1
        self.n_slots = len(slots)

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.views != NULL:
            for i in range(self.n_views):
                free(self.views[i].cutoffs)
                free(self.views[i].rule.labels)
                free(self.views[i].rule.values)
                free(self.views[i].near)
        free(self.views)
        free(self.slots)
        free(self.numbers)


cdef inline int64_t* taken(int64_t** places, bint wanted, int64_t n) noexcept nogil:
    """The next n places if they are wanted, else NULL."""
    cdef int64_t* first = places[0]
    if not wanted:
        return NULL
    places[0] += n
    return first


cdef int enlarge(Scratch* scratch, Plan plan, int64_t n) noexcept nogil:
    """Make room for n hits, in the arrays that the plan needs; 0, or -1 without memory."""
    cdef int64_t capacity = with_spare(n) + 1 & ~<int64_t>1, half = capacity // 2
    cdef bint others = plan.reads > RELEVANT, keeps_ideal = plan.gains or plan.listed_gains
    cdef Py_ssize_t v
    cdef int64_t wholes = 1 + others + plan.average + (others and plan.average) + plan.room + plan.gains + keeps_ideal
    cdef int64_t* block
    if scratch.queries == NULL:
        scratch.queries = <Query*>malloc(plan.n_views * sizeof(Query) + (plan.n_snapshots + 1) * sizeof(Snapshot))
        if scratch.queries == NULL:
            return -1
        scratch.snapshots = <Snapshot*>(scratch.queries + plan.n_views)
    block = <int64_t*>realloc(scratch.ranks, sizeof(int64_t) * (
        wholes * capacity + (1 + others + plan.sorts) * half + RUN // 2))
    if block == NULL:
        return -1
    scratch.ranks = taken(&block, True, capacity)
    scratch.positive_ranks = taken(&block, others, capacity)
    if plan.average:
        scratch.lasts = taken(&block, True, capacity)
        scratch.positive_lasts = taken(&block, others, capacity)
    scratch.room = taken(&block, plan.room, capacity)
    scratch.gains = <double*>taken(&block, plan.gains, capacity)
    scratch.ideal_gains = <double*>taken(&block, keeps_ideal, capacity)
    scratch.labels = <int32_t*>taken(&block, True, half)
    scratch.positive_labels = <int32_t*>taken(&block, others, half)
    scratch.sorted = <int32_t*>taken(&block, plan.sorts, half)
    scratch.capacity = capacity
    for v in range(plan.n_views):
        prepare_query(&scratch.queries[v], plan, &plan.views[v], scratch)
    return 0


cdef void prepare_query(Query* q, Plan plan, const View* view, const Scratch* scratch) noexcept nogil:
    """Fill in what is the same for all queries."""
    cdef bint positive = plan.reads > RELEVANT and view.rule.n == 0 and view.level > 0
    q.ranks, q.labels = scratch.ranks, scratch.labels
    q.lasts = scratch.lasts if plan.average else NULL
    if positive:
        q.ranks, q.labels = scratch.positive_ranks, scratch.positive_labels
        q.lasts = scratch.positive_lasts if plan.average else NULL
    q.gains = scratch.gains
    q.ideal_gains = scratch.ideal_gains
    q.room = scratch.room
    q.level = view.level
    q.floor = view.floor
    q.rule = &view.rule
    q.relevant = 0 < view.level <= 1 and (plan.reads == RELEVANT or view.rule.n == 0)


cdef void release(Scratch* scratch) noexcept nogil:
    free(scratch.queries)
    free(scratch.ranks)


cdef void write_runs(const int64_t* sizes, int32_t top, int32_t* labels) noexcept nogil:
    """Write each label from `top` down to 1 as often as its size says; there is room for RUN more.

    RUN at a time, which needs a branch only where there are more of a label.
    """
    cdef int64_t n, left
    cdef int32_t label
    cdef int j
    for label in range(top, 0, -1):
        left = sizes[label]
        n = 0
        while n < left:
            for j in range(RUN):
                labels[n + j] = label
            n += RUN
        labels += left


cdef int64_t count_label(const int32_t* a, int64_t n, int32_t label) noexcept nogil:
    """How many are this one."""
    cdef int64_t i = 0, stop, total = 0
    cdef int32_t count              # as wide as the labels, so that compilers make vector instructions of the loop
    while i < n:
        stop = min(n, i + INT32_MAX)
        count = 0
        for i in range(i, stop):
            count += a[i] == label
        i = stop
        total += count
    return total


cdef void sort_labels(int32_t* a, int64_t n) noexcept nogil:
    """Labels above 0, largest first, in place: by counting where they are small, else by heap; room as write_runs."""
    cdef int64_t sizes[256]
    cdef int64_t i
    cdef int32_t t, bits = 0
    if are_falling(a, n):
        return
    for i in range(n):
        bits |= a[i]
    if 0 <= bits <= TINY:
        for t in range(1, bits + 1):
            sizes[t] = count_label(a, n, t)
        write_runs(sizes, bits, a)
        return
    if 0 <= bits <= 255:
        memset(sizes, 0, sizeof(sizes))
        for i in range(n):
            sizes[a[i]] += 1
        write_runs(sizes, 255, a)
        return
    for i in range(n // 2 - 1, -1, -1):
        sift(a, i, n)
    for i in range(n - 1, 0, -1):
        t = a[0]
        a[0] = a[i]
        a[i] = t
        sift(a, 0, i)


cdef void sift(int32_t* a, int64_t i, int64_t n) noexcept nogil:
    cdef int64_t child
    cdef int32_t t = a[i]
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and a[child + 1] < a[child]:
            child += 1
        if a[child] >= t:
            break
        a[i] = a[child]
        i = child
    a[i] = t


cdef int64_t fill_ties(Scratch* scratch, int64_t n_hits, int64_t num_ret) noexcept nogil:
    """Like fill_ranks, with as many hits in every tie as it has documents."""
    cdef int64_t rank = num_ret, i = n_hits - 1, first, stop, k
    while rank > 0:
        first = rank
        if i >= 0 and scratch.lasts[i] == rank:
            first = scratch.ranks[i]
        stop = first
        while i >= 0 and scratch.ranks[i] == first:
            i -= 1
            stop += 1
        for k in range(stop - first - 1, -1, -1):
            scratch.labels[first - 1 + k] = scratch.labels[i + 1 + k]
        for k in range(first - 1, rank):
            scratch.ranks[k] = first
            scratch.lasts[k] = rank
            if k >= stop - 1:
                scratch.labels[k] = -1
        rank = first - 1
    return num_ret


cdef void close_ties(Scratch* scratch, int64_t n_hits) noexcept nogil:
    """The ties that are left when the hits are all documents."""
    cdef int64_t i = 0, j, k, first
    while i < n_hits:
        first = scratch.ranks[i]
        j = i
        while j < n_hits and scratch.ranks[j] == first:
            j += 1
        for k in range(i, j):
            scratch.ranks[k] = i + 1
            scratch.lasts[k] = j
        i = j


cdef int64_t fill_ranks(Scratch* scratch, int64_t n_hits, int64_t num_ret) noexcept nogil:
    """Make a hit of every rank, with code -1 for documents outside the qrels; returns num_ret."""
    cdef int64_t rank, i = n_hits - 1
    for rank in range(num_ret, 0, -1):
        if i >= 0 and scratch.ranks[i] == rank:
            scratch.labels[rank - 1] = scratch.labels[i]
            i -= 1
        else:
            scratch.labels[rank - 1] = -1
    for rank in range(num_ret):
        scratch.ranks[rank] = rank + 1
    return num_ret


cdef int64_t take_positive(Scratch* scratch, int64_t n_hits, bint average) noexcept nogil:
    """List the hits with labels above 0 by themselves; returns how many."""
    cdef int64_t i, n = 0
    if average:
        for i in range(n_hits):
            scratch.positive_lasts[n] = scratch.lasts[i]
            n += scratch.labels[i] > 0
        n = 0
    for i in range(n_hits):
        scratch.positive_ranks[n] = scratch.ranks[i]
        scratch.positive_labels[n] = scratch.labels[i]
        n += scratch.labels[i] > 0
    return n


cdef int64_t sort_retrieved(Scratch* scratch, int64_t n_hits) noexcept nogil:
    """Put the hits' labels above 0 into scratch.sorted, best first; returns how many."""
    cdef int64_t i, n = 0
    for i in range(n_hits):
        if scratch.labels[i] > 0:
            scratch.sorted[n] = scratch.labels[i]
            n += 1
    sort_labels(scratch.sorted, n)
    return n


cdef void collect(const Collected* collected, const Scratch* scratch, int64_t n_hits, int64_t num_ret,
                  const Judgments* judgments, double* out) noexcept nogil:
    """Collect a query's hits, and how many there are; a document is a hit once, so that there is room for all."""
    cdef int64_t first = <int64_t>out[0] if collected.first == NULL else judgments.labels - collected.first
    memcpy(collected.ranks + first, scratch.ranks, n_hits * sizeof(int64_t))
    memcpy(collected.labels + first, scratch.labels, n_hits * sizeof(int32_t))
    out[0] = <double>n_hits
    out[1] = <double>num_ret


cdef void measure(Plan plan, Scratch* scratch, int64_t n_hits, int64_t num_ret, const Judgments* judgments,
                  double* out) noexcept nogil:
    """Fill a row of values.

    scratch.ranks and .labels hold the hits that plan.reads asks for, by ascending ranks; only the labels above 0 of
    judgments.labels are read.
    """
    cdef Query full
    cdef Query* q
    cdef int64_t i, v, n_sorted = -1, zeros = 0, n_positive = n_hits, n_ideal = judgments.n_positive
    cdef const int32_t* ideal = judgments.labels
    cdef bint worthless, retrieved = judgments.retrieved
    cdef Snapshot* snapshots
    cdef const View* view
    cdef const Slot* slot
    cdef const Slot* stop_slot
    if plan.collected.ranks != NULL:
        collect(&plan.collected, scratch, n_hits, num_ret, judgments, out)
        return
    if plan.max_depth < num_ret:
        num_ret = plan.max_depth
        retrieved = False
        while n_hits > 0 and scratch.ranks[n_hits - 1] > num_ret:
            n_hits -= 1
    if plan.judged_only:
        num_ret = n_hits
        if plan.average:
            close_ties(scratch, n_hits)
        else:
            for i in range(n_hits):
                scratch.ranks[i] = i + 1
    elif plan.reads == ALL:
        n_hits = fill_ties(scratch, n_hits, num_ret) if plan.average else fill_ranks(scratch, n_hits, num_ret)
    if plan.reads > RELEVANT:
        n_positive = take_positive(scratch, n_hits, plan.average)
    for v in range(plan.n_views):
        view = &plan.views[v]
        q = &scratch.queries[v]
        q.num_ret = num_ret
        q.num_hits = n_hits if q.ranks == scratch.ranks else n_positive
        q.values, q.ideal_values = scratch.values, scratch.ideal_values
        q.num_pooled = judgments.n_pool - judgments.n_judged
        q.top = ideal[0] if n_ideal > 0 else 0
        q.num_rel = labels_from(ideal, n_ideal, view.level) if view.level > 0 else judgments.n_judged
        q.num_nonrel = judgments.n_judged - q.num_rel
        q.ideal = ideal
        q.num_ideal = n_ideal
        worthless = n_ideal == 0 or ideal[0] < q.floor
        q.num_ideal_gains = 0
        if view.gain_depth > 0:
            q.num_ideal_gains = n_ideal
            if view.rule.n > 0 or view.floor > 1:
                q.num_ideal_gains = ideal_gains(view, ideal, n_ideal, judgments.n_judged - n_ideal, scratch.ideal_gains)
            worthless = q.num_ideal_gains == 0
        if view.ideal == RETRIEVED_BEST and not retrieved:
            if n_sorted < 0:
                n_sorted = sort_retrieved(scratch, n_hits)
                zeros = 0
                for i in range(n_hits):
                    zeros += scratch.labels[i] == 0
            q.ideal = scratch.sorted
            q.num_ideal = n_sorted
            if view.gain_depth > 0:
                q.num_ideal_gains = ideal_gains(view, scratch.sorted, n_sorted, zeros, scratch.ideal_gains)
        elif view.ideal == AS_LONG:
            q.num_ideal = min(q.num_ideal, num_ret)
            q.num_ideal_gains = min(q.num_ideal_gains, num_ret)
        snapshots = scratch.snapshots + view.first
        plan.walk(view, q, scratch.gains, scratch.ideal_gains, snapshots)
        if plan.reads > RELEVANT:
            full = q[0]
            full.lasts = scratch.lasts if plan.average else NULL
            full.num_hits, full.ranks, full.labels = n_hits, scratch.ranks, scratch.labels
        slot, stop_slot = &plan.slots[view.first_slot], &plan.slots[view.stop_slot]
        while slot < stop_slot:
            if slot.plain:
                out[slot.column] = slot.function(q, scratch.snapshots + slot.snapshot, slot.params)
            elif slot.skips_empty_ranking and num_ret == 0:
                out[slot.column] = NAN
            elif slot.replaces_empty and (worthless if slot.graded else q.num_rel == 0):
                out[slot.column] = slot.empty
            else:
                out[slot.column] = slot.function(&full if slot.reads > RELEVANT else q,
                                                 scratch.snapshots + slot.snapshot, slot.params)
            slot += 1
