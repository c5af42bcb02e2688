"""From one query's judged documents to its row of values: walk once, read many.

The plan's metrics are grouped into views: metrics of one relevance level, gain, discount and ideal share a walk. The
walk goes once over the judged documents in rank order and copies its running sums into a Snapshot at each cutoff;

    ranks    2   5   6   40  ...          cutoffs   5     10     whole
    labels   1   3   0   2   ...          snapshots [0]   [1]    [2]

then every metric reads its snapshot through a function pointer (under 1 ns a value; see DESIGN.md). Metrics for which
only labels above 0 matter get a list of those alone, four times shorter where pools are deep. Sums are sequential
in rank order, so values do not depend on threads, which only divide the queries among them: block by block, each with
its own Scratch.
"""

from libc.math cimport ldexp
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memset

from fastir.measure._arithmetic cimport discount_at
from fastir.measure._registry cimport Gains, Query, Snapshot, metric_fn

from fastir.measure._registry import function_address


cdef class Plan:
    """Views and slots in C, made from the lists of plan.py; immutable.

    Parameters
    ----------
    views : list of (level, floor, exponential, gains, jk2, ideal_retrieved, gain_depth, lists_gains, cutoffs)
    slots : list of (metric name, view, position of the cutoff in the view, params, empty or None, graded, reads)
    reads : int
    judged_only : bool
    max_depth : int
    average : bool
    """

    def __cinit__(self, list views, list slots, int reads, bint judged_only, int64_t max_depth, bint average):
        cdef Py_ssize_t i, j
        cdef Gains* rule
        cdef double* free_number
        self.reads = JUDGED if judged_only else reads
        self.judged_only = judged_only
        self.max_depth = max_depth
        self.average = average
        self.walk = walk_ties if average else walk
        self.views = <View*>calloc(len(views) + 1, sizeof(View))
        self.slots = <Slot*>calloc(len(slots) + 1, sizeof(Slot))
        free_number = self.numbers = <double*>malloc((sum([len(slot[3]) for slot in slots]) + 1) * sizeof(double))
        if self.views == NULL or self.slots == NULL or self.numbers == NULL:
            raise MemoryError
        for i, (level, floor, exponential, gains, jk2, ideal_retrieved, gain_depth, lists_gains, cutoffs) in enumerate(
                views):
            self.n_views = i + 1
            rule = &self.views[i].rule
            self.views[i].cutoffs = <int64_t*>malloc((len(cutoffs) + 1) * sizeof(int64_t))
            rule.labels = <int32_t*>malloc((len(gains) + 1) * sizeof(int32_t))
            rule.values = <double*>malloc((len(gains) + 1) * sizeof(double))
            if self.views[i].cutoffs == NULL or rule.labels == NULL or rule.values == NULL:
                raise MemoryError
            rule.exponential = exponential
            for j, (label, gain) in enumerate(gains.items()):
                rule.labels[j] = label
                rule.values[j] = gain
            rule.n = len(gains)
            self.views[i].level = level
            self.views[i].floor = floor
            self.views[i].jk2 = jk2
            self.views[i].ideal_retrieved = ideal_retrieved
            self.views[i].gain_depth = gain_depth
            self.views[i].lists_gains = lists_gains
            if fill_tables(&self.views[i]) < 0:
                raise MemoryError
            self.views[i].n_cutoffs = len(cutoffs)
            self.views[i].first = self.n_snapshots
            self.views[i].first_slot = len(slots)
            for j in range(len(cutoffs)):
                self.views[i].cutoffs[j] = cutoffs[j]
            self.deepest = max(self.deepest, cutoffs[len(cutoffs) - 1])
            self.n_snapshots += len(cutoffs)
        for i, column in enumerate(sorted(range(len(slots)), key=lambda column: slots[column][1])):
            name, view, position, params, empty, graded, reads_too = slots[column]
            self.views[<Py_ssize_t>view].first_slot = min(i, self.views[<Py_ssize_t>view].first_slot)
            self.views[<Py_ssize_t>view].stop_slot = i + 1
            self.slots[i].column = column
            self.slots[i].reads = reads_too
            self.slots[i].plain = empty is None and reads_too == RELEVANT
            self.slots[i].function = <metric_fn><size_t>function_address(name, average)
            self.slots[i].snapshot = self.views[<Py_ssize_t>view].first + position
            self.slots[i].replaces_empty = empty is not None
            self.slots[i].empty = 0.0 if empty is None else empty
            self.slots[i].graded = graded
            self.slots[i].params = free_number
            for number in params:
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


cdef int enlarge(Scratch* scratch, Plan plan, int64_t n) noexcept nogil:
    """Make the room that grow() found lacking."""
    cdef int64_t capacity = n + n // 2 + 64
    cdef char* block
    if scratch.snapshots == NULL:
        scratch.snapshots = <Snapshot*>malloc((plan.n_snapshots + 1) * sizeof(Snapshot))
        if scratch.snapshots == NULL:
            return -1
    block = <char*>realloc(scratch.ranks, capacity * (5 * sizeof(int64_t) + 3 * sizeof(int32_t) + 2 * sizeof(double)))
    if block == NULL:
        return -1
    scratch.ranks = <int64_t*>block
    scratch.positive_ranks = scratch.ranks + capacity
    scratch.lasts = scratch.positive_ranks + capacity
    scratch.positive_lasts = scratch.lasts + capacity
    scratch.room = scratch.positive_lasts + capacity
    scratch.gains = <double*>(scratch.room + capacity)
    scratch.ideal_gains = scratch.gains + capacity
    scratch.labels = <int32_t*>(scratch.ideal_gains + capacity)
    scratch.positive_labels = scratch.labels + capacity
    scratch.sorted = scratch.positive_labels + capacity
    scratch.capacity = capacity
    return 0


cdef void release(Scratch* scratch) noexcept nogil:
    free(scratch.snapshots)
    free(scratch.ranks)


cdef int64_t write_runs(const int64_t* sizes, int32_t top, int32_t* labels) noexcept nogil:
    """Write each label from `top` down to 1 as often as its size says; how many."""
    cdef int64_t i, n = 0
    cdef int32_t label
    for label in range(top, 0, -1):
        for i in range(sizes[label]):
            labels[n] = label
            n += 1
    return n


cdef void sort_labels(int32_t* a, int64_t n) noexcept nogil:
    """Labels above 0, largest first, in place: by counting where they are small, else by heap."""
    cdef int64_t sizes[256]
    cdef int64_t i, j
    cdef uint64_t packed = 0
    cdef int32_t t, bits = 0
    cdef bint falling = True
    for i in range(1, n):
        falling &= a[i - 1] >= a[i]
    if falling:
        return
    for i in range(n):
        bits |= a[i]
    if 0 <= bits <= TINY and n <= 255:
        for i in range(n):
            packed += <uint64_t>1 << 8 * a[i]
        for t in range(1, TINY + 1):
            sizes[t] = <int64_t>(packed >> 8 * t & 255)
        write_runs(sizes, TINY, a)
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


cdef double gain_by_rule(const Gains* rule, int32_t label, int32_t floor) noexcept nogil:
    cdef int64_t j
    if 0 <= label < floor:
        return 0.0
    for j in range(rule.n):
        if rule.labels[j] == label:
            return rule.values[j]
    if label <= 0:
        return 0.0
    return ldexp(1.0, label) - 1.0 if rule.exponential else <double>label


cdef int fill_tables(View* view) noexcept nogil:
    """What small labels add at the first ranks, so that a walk needs no division; 0, or -1 without memory."""
    cdef int64_t rank, n = (view.gain_depth if view.gain_depth < NEAR - 1 else NEAR - 1) + 1
    cdef int32_t label
    cdef double* near = <double*>malloc(2 * SMALL * NEAR * sizeof(double))
    view.near = near
    if near == NULL:
        return -1
    view.alike = near + SMALL * NEAR
    for label in range(SMALL):
        view.small[label] = gain_by_rule(&view.rule, label, view.floor)
        near[label * NEAR] = view.alike[label * NEAR] = 0.0
        for rank in range(1, n):
            near[label * NEAR + rank] = view.small[label] / discount_at(rank, view.jk2)
            view.alike[label * NEAR + rank] = view.alike[label * NEAR + rank - 1] + near[label * NEAR + rank]
    return 0


cdef inline double gain_of(const View* view, int32_t label, const double* values) noexcept nogil:
    """What a document adds whose code is `label`."""
    if values != NULL:
        return values[label] if label > 0 else 0.0
    if <uint32_t>label < SMALL:
        return view.small[label]
    return gain_by_rule(&view.rule, label, view.floor)


cdef inline double added(const View* view, int32_t label, int64_t rank, double gain,
                         const double* values) noexcept nogil:
    """What a document with this label and gain adds to DCG."""
    if 0 <= label < SMALL and rank < NEAR and values == NULL:
        return view.near[label * NEAR + rank]
    return gain / discount_at(rank, view.jk2)


cdef int falling_order(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*>a)[0], y = (<const double*>b)[0]
    return (x < y) - (x > y)


cdef int64_t ideal_gains(const View* view, const int32_t* labels, int64_t n, int64_t zeros,
                         double* gains) noexcept nogil:
    """How many gains above 0 there are, of labels that stand best first and of documents with label 0.

    Where labels have gains of their own, these are filled in, best first; else walk_ideal does that on its way.
    """
    cdef int64_t i, found = 0
    cdef double gain
    if view.rule.n == 0:
        return n if view.floor <= 1 else count_from(labels, n, view.floor)
    for i in range(n):
        gain = gain_of(view, labels[i], NULL)
        if gain > 0.0:
            gains[found] = gain
            found += 1
    gain = gain_of(view, 0, NULL)
    if gain > 0.0:
        for i in range(zeros):
            gains[found] = gain
            found += 1
    qsort(gains, found, sizeof(double), falling_order)
    return found


cdef void walk(const View* view, const Query* q, const double* values, double* gains,
               Snapshot* snapshots) noexcept nogil:
    """Run over the hits, noting their gains and leaving the sums at each cutoff.

    One loop, because a short one costs less than what is mispredicted at its end.
    """
    cdef int64_t i = 0, c, k, rank, first = 0, n = q.num_hits, depth = view.gain_depth
    cdef const int64_t* ranks = q.ranks
    cdef const int32_t* labels = q.labels
    cdef int32_t level = view.level
    cdef double found = 0.0, precisions = 0.0, gain = 0.0, dcg = 0.0, value
    for c in range(view.n_cutoffs):
        k = view.cutoffs[c]
        while i < n and ranks[i] <= k:
            rank = ranks[i]
            if labels[i] >= level:
                found += 1.0
                first = rank if first == 0 else first
                precisions += found / <double>rank
            if rank <= depth:
                value = gain_of(view, labels[i], values)
                gain += value
                dcg += added(view, labels[i], rank, value, values)
                if view.lists_gains:
                    gains[i] = value
            i += 1
        snapshots[c].k = k
        snapshots[c].num_rel_ret = found
        snapshots[c].first_rel = first
        snapshots[c].sum_precision = precisions
        snapshots[c].gain = gain
        snapshots[c].dcg = dcg


cdef void walk_ideal(const View* view, const Query* q, const double* values, double* gains,
                     Snapshot* snapshots) noexcept nogil:
    """Run over the ideal list as far as gains are read, leaving the sum at each cutoff."""
    cdef int64_t i = 0, c, k, n = q.num_ideal_gains if q.num_ideal_gains < view.gain_depth else view.gain_depth
    cdef double ideal_dcg = 0.0
    cdef bint plain = view.rule.n == 0, alike = False
    if 0 < n < NEAR and plain and values == NULL:
        alike = q.ideal[0] < SMALL and q.ideal[0] == q.ideal[n - 1]
    for c in range(view.n_cutoffs):
        k = n if n < view.cutoffs[c] else view.cutoffs[c]
        if alike and not view.lists_gains:
            snapshots[c].ideal_dcg = view.alike[q.ideal[0] * NEAR + k]
            continue
        while i < k:
            if plain:
                gains[i] = gain_of(view, q.ideal[i], values)
                ideal_dcg += added(view, q.ideal[i], i + 1, gains[i], values)
            else:
                ideal_dcg += gains[i] / discount_at(i + 1, view.jk2)
            i += 1
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_ties(const View* view, const Query* q, const double* values, double* gains,
                    Snapshot* snapshots) noexcept nogil:
    """As walk, for expected values: at each rank of a tie stands the mean of what its documents add there.

    Of g documents, r of them relevant, each has a chance of r / g at the j-th rank, and if one is there, of (r - 1) /
    (g - 1) for every rank of the tie above it.
    """
    cdef Snapshot s
    cdef int64_t i = 0, c = 0, first, last, rank
    cdef double above = 0.0, relevant, gain, cumulated = 0.0, size, place
    memset(&s, 0, sizeof(Snapshot))
    while i < q.num_hits and c < view.n_cutoffs:
        first, last = q.ranks[i], q.lasts[i]
        relevant = gain = 0.0
        while i < q.num_hits and q.ranks[i] == first:
            relevant += q.labels[i] >= view.level
            if first <= view.gain_depth:
                gains[i] = gain_of(view, q.labels[i], values)
                gain += gains[i]
            i += 1
        size = <double>(last - first + 1)
        for rank in range(first, last + 1):
            while c < view.n_cutoffs and rank > view.cutoffs[c]:
                s.k = view.cutoffs[c]
                snapshots[c] = s
                c += 1
            if c == view.n_cutoffs:
                break
            place = <double>(rank - first)
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


cdef int64_t fill_ties(Scratch* scratch, int64_t n_hits, int64_t num_ret) noexcept nogil:
    """As fill_ranks, with as many hits in every tie as it has documents."""
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
    """Make a hit of every rank, those of documents outside the qrels with code -1; returns num_ret."""
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


cdef int64_t count_from(const int32_t* falling, int64_t n, int32_t level) noexcept nogil:
    """How many of the falling labels are at least `level`."""
    cdef int64_t low = 0, high = n, middle
    if n == 0 or falling[n - 1] >= level:
        return n
    while low < high:
        middle = (low + high) // 2
        if falling[middle] >= level:
            low = middle + 1
        else:
            high = middle
    return low


cdef void measure(Plan plan, Scratch* scratch, int64_t n_hits, int64_t num_ret, const Judgments* known,
                  double* out) noexcept nogil:
    """Fill a row of values.

    scratch.ranks and .labels hold the hits that plan.reads asks for, by ascending ranks; of known.labels only those
    above 0 are read.
    """
    cdef Query q, full
    cdef int64_t i, v, n_sorted = -1, zeros = 0, n_positive = n_hits, n_ideal = known.n_positive
    cdef const int32_t* ideal = known.labels
    cdef bint worthless, retrieved = known.retrieved
    cdef Snapshot* snapshots
    cdef const View* view
    cdef const Slot* slot
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
    q.num_ret = num_ret
    q.gains = scratch.gains
    q.ideal_gains = scratch.ideal_gains
    q.room = scratch.room
    q.num_pooled = known.n_pool - known.n_judged
    q.top = ideal[0] if n_ideal > 0 else 0
    for v in range(plan.n_views):
        view = &plan.views[v]
        if plan.reads > RELEVANT and view.rule.n == 0:
            q.num_hits, q.ranks, q.labels = n_positive, scratch.positive_ranks, scratch.positive_labels
            q.lasts = scratch.positive_lasts if plan.average else NULL
        else:
            q.num_hits, q.ranks, q.labels = n_hits, scratch.ranks, scratch.labels
            q.lasts = scratch.lasts if plan.average else NULL
        q.level = view.level
        q.floor = view.floor
        q.rule = &view.rule
        q.num_rel = count_from(ideal, n_ideal, view.level)
        q.num_nonrel = known.n_judged - q.num_rel
        q.ideal = ideal
        q.num_ideal = n_ideal
        worthless = n_ideal == 0 or ideal[0] < q.floor
        q.num_ideal_gains = 0
        if view.gain_depth > 0:
            q.num_ideal_gains = ideal_gains(view, ideal, n_ideal, known.n_judged - n_ideal, scratch.ideal_gains)
            worthless = q.num_ideal_gains == 0
        if view.ideal_retrieved and not retrieved:
            if n_sorted < 0:
                n_sorted = sort_retrieved(scratch, n_hits)
                zeros = 0
                for i in range(n_hits):
                    zeros += scratch.labels[i] == 0
            q.ideal = scratch.sorted
            q.num_ideal = n_sorted
            if view.gain_depth > 0:
                q.num_ideal_gains = ideal_gains(view, scratch.sorted, n_sorted, zeros, scratch.ideal_gains)
        snapshots = scratch.snapshots + view.first
        plan.walk(view, &q, known.values, scratch.gains, snapshots)
        if view.gain_depth > 0:
            walk_ideal(view, &q, known.values, scratch.ideal_gains, snapshots)
        if plan.reads > RELEVANT:
            full = q
            full.lasts = scratch.lasts if plan.average else NULL
            full.num_hits, full.ranks, full.labels = n_hits, scratch.ranks, scratch.labels
        for i in range(view.first_slot, view.stop_slot):
            slot = &plan.slots[i]
            if slot.plain:
                out[slot.column] = slot.function(&q, scratch.snapshots + slot.snapshot, slot.params)
            elif slot.replaces_empty and (worthless if slot.graded else q.num_rel == 0):
                out[slot.column] = slot.empty
            else:
                out[slot.column] = slot.function(&full if slot.reads > RELEVANT else &q,
                                                 scratch.snapshots + slot.snapshot, slot.params)
