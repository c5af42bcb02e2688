/*
What _blocks.pyx needs of the machine: counters that several threads share, a clock, the processor time of a thread, and
a flag that says that this process was forked. Sequentially consistent operations serve throughout: they are few, one or two for each block.
*/
#ifndef FASTIR_BLOCKS_H
#define FASTIR_BLOCKS_H

#include <stdint.h>

#ifdef _OPENMP
#define FASTIR_OPENMP 1
#else
#define FASTIR_OPENMP 0
#endif

#ifdef _MSC_VER

#include <intrin.h>
static int64_t fastir_load(int64_t *p) { return _InterlockedCompareExchange64(p, 0, 0); }
static void fastir_store(int64_t *p, int64_t value) { _InterlockedExchange64(p, value); }
static int64_t fastir_exchange(int64_t *p, int64_t value) { return _InterlockedExchange64(p, value); }
static int64_t fastir_take(int64_t *p) { return _InterlockedExchangeAdd64(p, 1); }

#else

static int64_t fastir_load(int64_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static void fastir_store(int64_t *p, int64_t value) { __atomic_store_n(p, value, __ATOMIC_SEQ_CST); }
static int64_t fastir_exchange(int64_t *p, int64_t value) { return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); }
static int64_t fastir_take(int64_t *p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }

#endif

static int64_t fastir_forked = 0;

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
static double fastir_clock(void) {
    LARGE_INTEGER ticks, per_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    return (double)ticks.QuadPart / (double)per_second.QuadPart;
}
static double fastir_thread_time(void) { return fastir_clock(); } /* GetThreadTimes counts in steps of 15 ms */
static int fastir_watch_forks(void) { return 0; }

#else

#include <pthread.h>
#include <time.h>
static double fastir_read(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static double fastir_clock(void) { return fastir_read(CLOCK_MONOTONIC); }
static double fastir_thread_time(void) { return fastir_read(CLOCK_THREAD_CPUTIME_ID); }
static void fastir_in_child(void) { fastir_store(&fastir_forked, 1); }
static int fastir_watch_forks(void) { return pthread_atfork(0, 0, fastir_in_child); }

#endif
#endif
