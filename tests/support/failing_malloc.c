/* Preloaded by tests/catalogue/test_memory_errors.py: fails the n-th allocation that the code of fastir itself makes.

   Those of the interpreter and of NumPy go through: what they do without memory is their own affair. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static volatile long left, seen;  /* allocations until the one that fails, 0: none does; allocations since arm() */

void failing_malloc_arm(long n) { seen = 0; left = n; }
long failing_malloc_seen(void) { return seen; }

static int fails(const void *caller) {
    Dl_info info;
    if (left == 0 || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "/fastir/")) return 0;
    __sync_add_and_fetch(&seen, 1);
    return __sync_sub_and_fetch(&left, 1) == 0;
}

void *malloc(size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
