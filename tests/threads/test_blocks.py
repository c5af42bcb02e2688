"""The loop of every kernel: the same bits with any number of threads, the first wrong row, and interrupts."""

import itertools
import signal
import threading

import numpy as np
import pytest
from processes import patient

import fastir
from fastir import stats
from fastir.engine.threads import sharing
from fastir.engine.threads._blocks import Call

NAMES = ["ndcg@10", "map", "mrr", "recall@20"]
WITH_TEAMS = pytest.mark.skipif(not sharing.OPENMP, reason="was built without OpenMP")


@pytest.fixture(params=[pytest.param(True, marks=WITH_TEAMS), False], ids=["team", "Python threads"])
def either(request, monkeypatch):
    """Both ways to share blocks."""
    monkeypatch.setattr(sharing, "teams", request.param)


def rank(n_threads):
    rng = np.random.default_rng(1)
    labels, lengths = rng.integers(-2, 4, 300_000).astype(np.int8), rng.integers(0, 600, 1000)
    offsets = np.minimum(np.concatenate([[0], np.cumsum(lengths)]), len(labels))
    offsets[-1] = len(labels)
    return fastir.evaluate_ranked(labels, offsets, NAMES, n_threads=n_threads)


def score(n_threads):
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(-1, 3, 200_000), np.round(rng.random(200_000), 2)
    group = [100_000, 1, *[300] * 333, 99]
    return fastir.evaluate_scores(labels, scores, NAMES, group=group, ties="average", n_threads=n_threads)


def matrix(n_threads):
    scores = np.random.default_rng(3).random((300, 4000))
    return fastir.evaluate_matrix(scores, [[1, 5, 3999]] * 300, NAMES, score_dtype="float32", n_threads=n_threads)


def gather(n_threads):
    scores = np.asfortranarray(np.random.default_rng(4).random((130, 3000)))
    return fastir.evaluate_matrix(scores, [[1, 5]] * 130, NAMES, exclude=[[7]] * 130, n_threads=n_threads)


def lists(n_threads):
    rng = np.random.default_rng(5)
    items = np.argsort(rng.random((2000, 150)), axis=1)[:, :50].astype(np.int32)
    return fastir.evaluate_topk(items, [[3, 4, 5]] * 2000, NAMES, scores=rng.random((2000, 50)), n_threads=n_threads)


@pytest.mark.parametrize("call", [rank, score, matrix, gather, lists])
def test_any_number_of_threads_has_the_same_bits(call, either):
    alone = call(1)
    for n_threads in (2, 3, 8, None):
        shared = call(n_threads)
        assert shared.values.tobytes() == alone.values.tobytes()
        assert repr(shared.report) == repr(alone.report)


def test_any_number_of_threads_resamples_alike(either):
    pytest.importorskip("scipy")
    a, b, c = np.random.default_rng(6).random((3, 200))
    calls = [
        lambda n: stats.randomization_test(a, b, n_resamples=20_000, n_threads=n),
        lambda n: stats.bootstrap_test(a, b, n_resamples=3000, n_threads=n),
        lambda n: stats.bootstrap_interval(a, b, n_resamples=3000, n_threads=n),
        lambda n: [v.tolist() for v in stats.max_t(np.stack([a - b, a - c], 1), n_resamples=9000, n_threads=n)],
        lambda n: stats.randomized_tukey_test(np.stack([a, b, c], 1), n_resamples=3000, n_threads=n).p_values.tolist(),
    ]
    for call in calls:
        assert call(2) == call(3) == call(8) == call(None) == call(1)


@pytest.mark.parametrize("in_one_piece", [True, False])
def test_the_first_wrong_row_is_named(in_one_piece, either):
    """Of rows that are wrong in different ways, even where several are read together."""
    scores = np.random.default_rng(7).random((400, 2000))
    scores[[77, 200, 399], 5] = np.nan
    relevant = [[1]] * 78 + [[2000]] + [[1]] * 321
    given = scores if in_one_piece else np.asfortranarray(scores)
    for n_threads, _ in itertools.product((1, 2, 3, 8), range(3)):
        with pytest.raises(ValueError, match=r"^scores: NaN in row 77, column 5$"):
            fastir.evaluate_matrix(given, [r if r != [2000] else [1999] for r in relevant], "mrr", n_threads=n_threads)
    items = np.tile(np.arange(50), (3000, 1))
    items[1234, 7], items[1300, 3] = 3, -5
    for n_threads, _ in itertools.product((1, 2, 3, 8), range(3)):
        with pytest.raises(fastir.DuplicateError, match=r"duplicate item 3 in row 1234$"):
            fastir.evaluate_topk(items, [[1]] * 3000, "mrr", n_threads=n_threads)


def test_a_bad_item_behind_a_nan_of_the_same_tile():
    scores = np.asfortranarray(np.random.default_rng(8).random((16, 40)))
    scores[3, 5] = np.nan
    for twice, error, message in (
        (9, ValueError, "NaN in row 3, column 5"),
        (2, fastir.DuplicateError, "duplicate item 2 in row 2"),
    ):
        items = [[2, 2] if row == twice else [1] for row in range(16)]
        offsets = np.cumsum([0, *map(len, items)])
        labelled = offsets, np.concatenate(items), np.ones(offsets[-1], np.int64)
        with pytest.raises(error, match=message):
            fastir.evaluate_matrix(scores, labelled, "mrr")


def test_a_single_block_needs_no_team(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", None)
    monkeypatch.setattr(sharing, "teams", True)
    results = fastir.evaluate_scores([1, 0], [1.0, 2.0], "mrr", offsets=[0, 2], n_threads=8)
    assert results["mrr"] == 0.5


def endless_lists(n_threads):
    many = np.broadcast_to(np.int8(1), 10**10)
    fastir.evaluate_ranked(many, np.arange(0, 10**10 + 1, 1000), NAMES, n_threads=n_threads)


def endless_rows(n_threads):
    row = np.random.default_rng(0).random(100_000)
    scores = np.broadcast_to(row, (300_000, 100_000))
    relevant = np.arange(0, 300_001), np.zeros(300_000, int)
    fastir.evaluate_matrix(scores, relevant, "map", n_threads=n_threads)


def endless_resamples(n_threads):
    pytest.importorskip("scipy")
    a, b = np.random.default_rng(0).random((2, 1000))
    stats.bootstrap_test(a, b, n_resamples=10**8, n_threads=n_threads)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")
@pytest.mark.parametrize("n_threads", [1, 2, None])
@pytest.mark.parametrize("call", [endless_lists, endless_rows, endless_resamples])
def test_an_interrupt_ends_an_endless_call(call, n_threads, either):
    """A call of minutes ends in the middle, and all its threads with it."""

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    alive = threading.active_count()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        with pytest.raises(KeyboardInterrupt):
            call(n_threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert threading.active_count() == alive


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
    assert lock.acquire(timeout=patient(10))
    thread.join()
    assert call.ended and call.result is None
    assert type(call.error) is end and str(call.error) == "over"


def test_a_result_is_kept():
    lock = threading.Lock()
    lock.acquire()
    call = Call(lambda: 7, lock)
    call()
    assert (call.result, call.error, call.ended, lock.locked()) == (7, None, True, False)
