"""How many threads a call uses, and the two ways in which they share its work.

    kernels over arrays     run(): a team of OpenMP takes blocks (_blocks.pyx), or Python threads in a build without it
    files and tables        share(), share_all(): Python threads, as Python code is called between the kernels

Values never depend on the number of threads. `n_threads`, an option of most functions, says how many there are:

    1       the calling thread alone; nothing is started
    2, ...  this many, even for little work. With OpenMP and idle cores that is faster from about 0.1 ms of work on. On
            a busy machine a team waits at its end for the thread that has not had its turn: 4 to 20 ms were measured,
            so less work than that is slower
    None    the work decides. Kernels over arrays begin alone, start a team if the rest would take TEAM_SECONDS or more,
            and keep it if its first round was faster; files and tables use several threads from PARALLEL_ROWS on. There
            are as many threads as this process may use processors (by its affinity and the quota of its container), but
            at most 8, and at most FASTIR_NUM_THREADS, or OMP_NUM_THREADS if the former is not set. A child of
            multiprocessing uses one

Under WebAssembly (Pyodide) no thread can be started, and every number means 1.

A query of more than LONG_QUERY_ROWS is evaluated in a thread of its own if the caller is the main thread, which waits
for Ctrl-C meanwhile, because a kernel cannot look for it within a query. After Ctrl-C that thread ends by itself.

For any `n_threads`, a kernel over arrays stays in one thread in a forked process, inside one of fastir's own threads,
and while another call of this process has a team. Other libraries, such as PyTorch, may bring an OpenMP of their own:
each has its own team, and fastir sets no variable of OpenMP.
"""

from fastir.engine.threads._blocks import OPENMP
from fastir.engine.threads.counts import PARALLEL_ROWS, SERIAL, automatic_count, thread_count
from fastir.engine.threads.sharing import LONG_QUERY_ROWS, interruptible, longest_query, run, share, share_all

__all__ = (
    "LONG_QUERY_ROWS",
    "OPENMP",
    "PARALLEL_ROWS",
    "SERIAL",
    "automatic_count",
    "interruptible",
    "longest_query",
    "run",
    "share",
    "share_all",
    "thread_count",
)
