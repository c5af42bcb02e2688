"""A call in a thread of its own that always tells its end.

In: a function without arguments, and a lock that is held. Out: `ended`, then `result`, or `error` if the function
raised; the lock is released.

Compiled, because a new thread needs memory before the first line of a Python function: where there is none,
threading.Thread.start() waits for ever in CPython 3.11. This one allocates nothing until it calls the function, inside
the try.
"""


cdef class Call:
    cdef readonly object result, error
    cdef readonly bint ended
    cdef object work, lock

    def __init__(self, work, lock):
        self.work = work
        self.lock = lock

    def __call__(self):
        try:
            self.result = self.work()
        except BaseException as error:
            self.error = error
        finally:
            self.ended = True
            self.lock.release()
