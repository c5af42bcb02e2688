"""From one query's judged documents to its row of values: walk once, read many.

The plan's metrics are grouped into views: metrics of one relevance level, gain, discount and ideal share a walk. The
walk goes once over the judged documents in rank order and copies its running sums into a Snapshot at each
cutoff; then every metric reads its snapshot through a function pointer (under 1 ns a value; see DESIGN.md). Metrics
for which only labels above 0 matter get a list of these alone, four times shorter if pools are deep. Sums are
sequential in rank order, so values do not depend on threads, which only divide the queries among them: block by block,
each with its own Scratch.

walk() takes a View with the tables of its gains, and the hits with their labels, or their codes if labels are
real-valued: positions in a table of labels, or class and row. It leaves a Snapshot for each cutoff of the view, and the
gains of the hits if a metric reads them.

    ranks    2   5   6   40  ...          cutoffs   5     10     whole
    labels   1   3   0   2   ...          snapshots [0]   [1]    [2]

For small labels at the first ranks a table has the summands, so that the walk needs no division; the tables hold the
quotients that a division would give, so no bit depends on the way taken. Sums are sequential in rank order.
"""

from libc.math cimport NAN, ldexp
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcpy, memset

from fastir.engine.measure._arithmetic cimport discount_at, power_less_one
from fastir.engine.measure._codes cimport ALL, AS_LONG, BINARY, EXP2, FULL, JUDGED, RELEVANT, RETRIEVED_BEST, UNCUT
from fastir.engine.measure._registry cimport ROW_BITS, Gains, Query, Snapshot, metric_function, takes_room
from fastir.engine.measure._sort cimport falling_order, labels_from

cdef class Plan:
    """Views and slots in C; immutable.

    `reads` is a code of READ_CODES: which documents become hits. `average`: values are expected ones, over the orders
    of equal scores. `grades` has the labels of codes, or None; its `labels` are None where codes name rows.
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
            self.n_views = i + 1        # before anything can fail: __dealloc__ frees this view too
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
            # the uncut ideal ranking adds up the gains of all judged documents, whatever the cutoff is
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


cdef inline int64_t* take_room(int64_t** places, bint wanted, int64_t n) noexcept nogil:
    """The next n entries if they are wanted, else NULL."""
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
        wholes * capacity + (1 + others + plan.sorts) * half + RUN_LABELS // 2))
    if block == NULL:
        return -1
    scratch.ranks = take_room(&block, True, capacity)
    scratch.positive_ranks = take_room(&block, others, capacity)
    if plan.average:
        scratch.lasts = take_room(&block, True, capacity)
        scratch.positive_lasts = take_room(&block, others, capacity)
    scratch.room = take_room(&block, plan.room, capacity)
    scratch.gains = <double*>take_room(&block, plan.gains, capacity)
    scratch.ideal_gains = <double*>take_room(&block, keeps_ideal, capacity)
    scratch.labels = <int32_t*>take_room(&block, True, half)
    scratch.positive_labels = <int32_t*>take_room(&block, others, half)
    scratch.sorted = <int32_t*>take_room(&block, plan.sorts, half)
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
    """Write each label from `top` down to 1 as often as its size says; there is room for RUN_LABELS more.

    RUN_LABELS at a time, which needs a branch only where there are more of a label.
    """
    cdef int64_t n, left
    cdef int32_t label
    cdef int j
    for label in range(top, 0, -1):
        left = sizes[label]
        n = 0
        while n < left:
            for j in range(RUN_LABELS):
                labels[n + j] = label
            n += RUN_LABELS
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


cdef inline bint are_falling(const int32_t* a, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef bint falling = True
    for i in range(1, n):
        falling &= a[i - 1] >= a[i]
    return falling


cdef void sort_labels(int32_t* a, int64_t n) noexcept nogil:
    """Labels above 0, largest first, in place: by counting where they are small, else by heap; room as write_runs."""
    cdef int64_t sizes[256]
    cdef int64_t i
    cdef int32_t t, bits = 0
    if are_falling(a, n):
        return
    for i in range(n):
        bits |= a[i]
    if 0 <= bits <= MAX_TINY_LABEL:
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
    if plan.judged_only:    # the cut at max_depth comes first; then ranks count what is left
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
        worthless = n_ideal == 0 or ideal[0] < q.floor      # no judged document has a gain
        q.num_ideal_gains = 0
        if view.gain_depth > 0:
            q.num_ideal_gains = n_ideal
            if view.rule.n > 0 or view.floor > 1:       # else every label above 0 has a gain
                q.num_ideal_gains = ideal_gains(view, ideal, n_ideal, judgments.n_judged - n_ideal, scratch.ideal_gains)
            worthless = q.num_ideal_gains == 0
        if view.ideal == RETRIEVED_BEST and not retrieved:
            if n_sorted < 0:        # once for all views
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
        if plan.reads > RELEVANT:       # metrics of unjudged documents read all hits, the others only the relevant ones
            full = q[0]
            full.lasts = scratch.lasts if plan.average else NULL
            full.num_hits, full.ranks, full.labels = n_hits, scratch.ranks, scratch.labels
        slot, stop_slot = &plan.slots[view.first_slot], &plan.slots[view.stop_slot]
        while slot < stop_slot:
            if slot.plain:          # first: most are, and the other two questions cost a branch each
                out[slot.column] = slot.function(q, scratch.snapshots + slot.snapshot, slot.params)
            elif slot.skips_empty_ranking and num_ret == 0:
                out[slot.column] = NAN
            elif slot.replaces_empty and (worthless if slot.graded else q.num_rel == 0):
                out[slot.column] = slot.empty
            else:
                out[slot.column] = slot.function(&full if slot.reads > RELEVANT else q,
                                                 scratch.snapshots + slot.snapshot, slot.params)
            slot += 1


# ---- the walk --------------------------------------------------------------------------------------------------------
cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #endif

    /* The sum `total` after `rel_ret` relevant documents, and what n more add; ranks are below 2^52. Divisions take
     * most of the time, so they are done in pairs; a number below 2^52 becomes a double by the bits of 2^52. One number
     * behind the ranks can be read, whatever it is. */
    static inline double fastir_add_precisions(const int64_t *ranks, int64_t n, double rel_ret, double total) {
        int64_t i = 0;
    #if defined(__SSE2__) || defined(_M_X64)
        const __m128d big = _mm_set1_pd(4503599627370496.0), two = _mm_set1_pd(2.0);
        __m128d counts = _mm_set_pd(rel_ret + 2.0, rel_ret + 1.0);
        for (; i + 2 <= n; i += 2) {
            const __m128d rank = _mm_or_pd(_mm_castsi128_pd(_mm_loadu_si128((const __m128i *)(ranks + i))), big);
            const __m128d precision = _mm_div_pd(counts, _mm_sub_pd(rank, big));
            total += _mm_cvtsd_f64(precision);
            total += _mm_cvtsd_f64(_mm_unpackhi_pd(precision, precision));
            counts = _mm_add_pd(counts, two);
        }
        /* the last one of an odd number; for an even one the same with a rank that is not theirs, and none of it */
        const __m128d odd = _mm_castsi128_pd(_mm_set1_epi32((int)(i - n)));
        const __m128d rank = _mm_or_pd(_mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(ranks + i))), big);
        total += _mm_cvtsd_f64(_mm_and_pd(_mm_div_sd(counts, _mm_sub_sd(rank, big)), odd));
    #else
        for (; i < n; i++)
            total += (rel_ret + (double)(i + 1)) / (double)ranks[i];
    #endif
        return total;
    }
    """
    double fastir_add_precisions(const int64_t* ranks, int64_t n, double rel_ret, double total) noexcept nogil

cdef enum:
    MIN_SUMMED_RANKS = 2    # relevant documents from which on precisions are summed in a separate loop


cdef double gain_by_rule(const Gains* rule, int32_t label, int32_t floor) noexcept nogil:
    cdef int64_t j
    if 0 <= label < floor:
        return 0.0
    for j in range(rule.n):
        if rule.labels[j] == label:
            return rule.values[j]
    if label <= 0:
        return 0.0
    if rule.curve == BINARY:
        return 1.0
    if rule.grades != NULL:
        return rule.gains[label] if rule.curve == EXP2 else rule.grades[label]
    return ldexp(1.0, label) - 1.0 if rule.curve == EXP2 else <double>label


cdef int fill_tables(View* view) noexcept nogil:
    """Make the tables of the summands of small labels at the first ranks; 0, or -1 without memory."""
    cdef int64_t i, rank, n = (view.gain_depth if view.gain_depth < TABLE_RANKS - 1 else TABLE_RANKS - 1) + 1
    cdef int32_t label
    cdef double* near = <double*>malloc(2 * TABLE_LABELS * TABLE_RANKS * sizeof(double))
    view.near = near
    if near == NULL:
        return -1
    view.alike = near + TABLE_LABELS * TABLE_RANKS
    for label in range(TABLE_LABELS):
        view.small[label] = 0.0
        if view.rule.grades == NULL or label < view.rule.n_grades:
            view.small[label] = gain_by_rule(&view.rule, label, view.floor)
        near[label * TABLE_RANKS] = view.alike[label * TABLE_RANKS] = 0.0
        for rank in range(1, n):
            near[label * TABLE_RANKS + rank] = view.small[label] / discount_at(rank, view.jk2)
            i = label * TABLE_RANKS + rank
            view.alike[i] = view.alike[i - 1] + near[i]
    return 0


cdef double gain_of_value(const View* view, int32_t code, double label) noexcept nogil:
    """The gain of a document with a label above 0; its code is the class of the label among the levels."""
    if code < view.floor:
        return 0.0
    if view.rule.curve == BINARY:
        return 1.0
    return power_less_one(label) if view.rule.curve == EXP2 else label


cdef inline double label_gain(const View* view, const double* values, int32_t label) noexcept nogil:
    """The gain of a label or its code; values: NULL, or the labels by row."""
    if <uint32_t>label < TABLE_LABELS:
        return view.small[label]
    if values != NULL and label > 0:
        return gain_of_value(view, label, values[label & (1 << ROW_BITS) - 1])
    return gain_by_rule(&view.rule, label, view.floor)


cdef inline double summand(const View* view, int32_t label, int64_t rank, double gain) noexcept nogil:
    """The summand of DCG for a document with this label and gain."""
    if 0 <= label < TABLE_LABELS and rank < TABLE_RANKS:
        return view.near[label * TABLE_RANKS + rank]
    return gain / discount_at(rank, view.jk2)


cdef int64_t ideal_gains(const View* view, const int32_t* labels, int64_t n, int64_t zeros,
                         double* gains) noexcept nogil:
    """How many gains above 0 there are, of labels, best first, and of documents with label 0.

    Where labels have gains of their own, these are filled in, best first; else walk_ideal does that on its way.
    """
    cdef int64_t i, _i, n_gains = 0
    cdef double gain
    if view.rule.n == 0:
        return n if view.floor <= 1 else labels_from(labels, n, view.floor)
    for i in range(n):
        gain = label_gain(view, NULL, labels[i])
        if gain > 0.0:
            gains[n_gains] = gain
            n_gains += 1
    gain = label_gain(view, NULL, 0)
    if gain > 0.0:
        for _i in range(zeros):
            gains[n_gains] = gain
            n_gains += 1
    qsort(gains, n_gains, sizeof(double), falling_order)
    return n_gains


cdef void walk(const View* view, const Query* q, double* gains, double* ideal_gains,
               Snapshot* snapshots) noexcept nogil:
    """Run over the hits and the ideal list, noting their gains and leaving the sums at each cutoff.

    One loop, because splitting it costs more: the end of each short loop is mispredicted.
    """
    cdef int64_t i = 0, c, k, rank, first = 0, n = q.num_hits, depth = view.gain_depth
    cdef const int64_t* ranks = q.ranks
    cdef const int32_t* labels = q.labels
    cdef int32_t level = view.level
    cdef double rel_ret = 0.0, precisions = 0.0, gain = 0.0, dcg = 0.0, value
    for c in range(view.n_cutoffs):
        k = view.cutoffs[c]
        while i < n and ranks[i] <= k:
            rank = ranks[i]
            if rank > depth and n - i >= MIN_SUMMED_RANKS and rel_ret == i and q.relevant and ranks[n - 1] <= k:
                precisions = fastir_add_precisions(ranks + i, n - i, rel_ret, precisions)
                first = rank if first == 0 else first
                rel_ret = <double>n
                i = n
                break
            if labels[i] >= level:
                rel_ret += 1.0
                first = rank if first == 0 else first
                precisions += rel_ret / <double>rank
            if rank <= depth:
                value = label_gain(view, q.values, labels[i])
                gain += value
                dcg += summand(view, labels[i], rank, value)
                if view.lists_gains:
                    gains[i] = value
            i += 1
        snapshots[c].k = k
        snapshots[c].num_rel_ret = rel_ret
        snapshots[c].first_rel = first
        snapshots[c].sum_precision = precisions
        snapshots[c].gain = gain
        snapshots[c].dcg = dcg
    if depth > 0:
        walk_ideal(view, q, ideal_gains, snapshots)


cdef inline void walk_ideal(const View* view, const Query* q, double* gains, Snapshot* snapshots) noexcept nogil:
    """Leave the sum of the ideal list at each cutoff to which gains are read; where labels are alike, from a table."""
    cdef int64_t c, n = q.num_ideal_gains if q.num_ideal_gains < view.gain_depth else view.gain_depth
    cdef const double* sums
    if view.ideal == FULL:
        walk_full(view, q, gains, snapshots)
    elif view.ideal == UNCUT:
        walk_uncut(view, q, gains, snapshots)
    elif (0 < n < TABLE_RANKS and view.rule.n == 0 and not view.lists_gains and q.ideal[0] < TABLE_LABELS
          and q.ideal[0] == q.ideal[n - 1]):
        sums = view.alike + q.ideal[0] * TABLE_RANKS
        for c in range(view.n_graded):
            snapshots[c].ideal_dcg = sums[n if n < view.cutoffs[c] else view.cutoffs[c]]
    else:
        walk_ideal_labels(view, q, n, gains, snapshots)


cdef void walk_ideal_labels(const View* view, const Query* q, int64_t n, double* gains,
                            Snapshot* snapshots) noexcept nogil:
    """Run over n of the ideal list, leaving the sum at each cutoff."""
    cdef int64_t i = 0, c, k
    cdef double ideal_dcg = 0.0, gain
    cdef bint plain = view.rule.n == 0
    for c in range(view.n_graded):
        k = n if n < view.cutoffs[c] else view.cutoffs[c]
        while i < k:
            if plain:
                gain = label_gain(view, q.ideal_values, q.ideal[i])
                ideal_dcg += summand(view, q.ideal[i], i + 1, gain)
                if view.lists_gains:
                    gains[i] = gain
            else:
                ideal_dcg += gains[i] / discount_at(i + 1, view.jk2)
            i += 1
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_uncut(const View* view, const Query* q, double* gains, Snapshot* snapshots) noexcept nogil:
    """Like walk_ideal, with the sum of the whole ideal list at every cutoff."""
    cdef int64_t i, c
    cdef double ideal_dcg = 0.0, gain
    for i in range(q.num_ideal_gains):
        gain = label_gain(view, q.ideal_values, q.ideal[i]) if view.rule.n == 0 else gains[i]
        ideal_dcg += gain / discount_at(i + 1, view.jk2)
        if view.lists_gains:
            gains[i] = gain
    for c in range(view.n_graded):
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_full(const View* view, const Query* q, const double* gains, Snapshot* snapshots) noexcept nogil:
    """Like walk_ideal, with the best gain at each rank down to the cutoff, or to the end of the ranking."""
    cdef int64_t rank = 0, c, k
    cdef double ideal_dcg = 0.0, best = 0.0
    if q.num_ideal_gains > 0:
        best = label_gain(view, q.ideal_values, q.ideal[0]) if view.rule.n == 0 else gains[0]
    for c in range(view.n_graded):
        k = q.num_ret if view.cutoffs[c] == INT64_MAX else view.cutoffs[c]
        if k < rank:            # the whole ranking is shorter than the cutoffs
            rank, ideal_dcg = 0, 0.0
        while rank < k:
            rank += 1
            ideal_dcg += best / discount_at(rank, view.jk2)
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_ties(const View* view, const Query* q, double* gains, double* ideal_gains,
                    Snapshot* snapshots) noexcept nogil:
    """Like walk, for expected values: each rank of a tie has the mean of the summands of its documents there.

    Of g documents, r of them relevant, each has a chance of r / g at the j-th rank, and if one is there, of (r - 1) /
    (g - 1) for every rank of the tie above it.
    """
    cdef Snapshot s
    cdef int64_t i = 0, c = 0, first, last, rank
    cdef double above = 0.0, relevant, gain, value, cumulated = 0.0, size, place
    memset(&s, 0, sizeof(Snapshot))
    while i < q.num_hits and c < view.n_cutoffs:
        first, last = q.ranks[i], q.lasts[i]
        relevant = gain = 0.0
        while i < q.num_hits and q.ranks[i] == first:
            relevant += q.labels[i] >= view.level
            if first <= view.gain_depth:
                value = label_gain(view, q.values, q.labels[i])
                gain += value
                if view.lists_gains:
                    gains[i] = value
            i += 1
        size = <double>(last - first + 1)
        for rank in range(first, last + 1):
            while c < view.n_cutoffs and rank > view.cutoffs[c]:    # a cutoff may lie within the tie
                s.k = view.cutoffs[c]
                snapshots[c] = s
                c += 1
            if c == view.n_cutoffs:
                break
            place = <double>(rank - first)      # the documents of the tie above this rank
            if relevant > 0.0:
                s.num_rel_ret = above + relevant * (place + 1.0) / size
                s.sum_precision += relevant / size * (
                    above + 1.0 + (place * (relevant - 1.0) / (size - 1.0) if place > 0.0 else 0.0)) / <double>rank
            if gain != 0.0:
                s.gain = cumulated + gain * (place + 1.0) / size
                s.dcg += gain / size / discount_at(rank, view.jk2)
        above += relevant
        cumulated += gain
    while c < view.n_cutoffs:
        s.k = view.cutoffs[c]
        snapshots[c] = s
        c += 1
    if view.gain_depth > 0:
        walk_ideal(view, q, ideal_gains, snapshots)
