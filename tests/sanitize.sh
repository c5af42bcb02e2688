#!/usr/bin/env bash
# Builds a copy of the checkout with AddressSanitizer and UBSan, and runs tests and the fuzz corpus on it:
#
#   tests/sanitize.sh                       all tests but those that watch memory, clocks or sources, and a minute of fuzzing
#   tests/sanitize.sh tests/columns ...     these tests alone
#   tests/sanitize.sh --threads [tests]     with ThreadSanitizer instead: the tests of threads, or those that are named
#
# Needs gcc with its libasan or libtsan (clang's runtime for threads does not start below an interpreter that it has not
# built), and what builds and tests fastir: Cython, setuptools, NumPy, pytest. The first memory error or undefined behaviour ends the run with a report, for which the process's own standard error is
# not captured; leaks are not looked for, as the interpreter has some of its own. ThreadSanitizer reports races and goes on; OpenMP, whose runtime it cannot see
# into, is left out there, so that blocks are shared among Python threads.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$folder"
cd "$folder"

if [ "${1:-}" = --threads ]; then
    shift
    [ $# -gt 0 ] || set -- tests/threads -k "not fork and not interrupt and not starts_none"
    CFLAGS="-fsanitize=thread -g -O1" LDFLAGS=-fsanitize=thread FASTIR_OPENMP=off python setup.py -q build_ext --inplace
    export PYTHONPATH=$folder TSAN_OPTIONS=exitcode=66:report_signal_unsafe=0:${TSAN_OPTIONS:-}
    LD_PRELOAD=$(gcc -print-file-name=libtsan.so) setarch -R python -m pytest -q --capture=sys -p no:cacheprovider "$@"
    exit
fi

export FASTIR_DEBUG=1
CFLAGS="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all" \
    LDFLAGS="-fsanitize=address,undefined" python setup.py -q build_ext --inplace

export PYTHONPATH=$folder PYTHONMALLOC=malloc
# pytrec_eval frees by free() what it made by new[]
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:alloc_dealloc_mismatch=0 UBSAN_OPTIONS=print_stacktrace=1
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
export LD_PRELOAD

if [ $# -gt 0 ]; then
    python -m pytest -q --capture=sys -p no:cacheprovider "$@"
else
    python -m pytest -q --capture=sys -p no:cacheprovider --ignore tests/catalogue --ignore tests/house -k "not memory"
    python tests/fuzz/run.py --minutes 1
fi
