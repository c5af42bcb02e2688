"""A call in a thread of its own always tells its end, whatever becomes of it."""

import threading

import pytest
from fastir.engine.threads._call import Call


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_error_of_any_kind_is_kept_and_the_lock_is_released(end):
    def work():
        raise end("over")

    lock = threading.Lock()
    lock.acquire()
    call = Call(work, lock)
    assert not call.ended
    thread = threading.Thread(target=call)
    thread.start()
    assert lock.acquire(timeout=10)
    thread.join()
    assert call.ended and call.result is None
    assert type(call.error) is end and str(call.error) == "over"


def test_a_result_is_kept():
    lock = threading.Lock()
    lock.acquire()
    call = Call(lambda: 7, lock)
    call()
    assert (call.result, call.error, call.ended, lock.locked()) == (7, None, True, False)
