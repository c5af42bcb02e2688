"""What pytest does before any test, and inputs small enough to check by hand. Shared helpers are in support/."""

import gc
import os
import signal
import threading

import pytest

NOT_EVERYWHERE = {  # packages that not even the job `peers` can import, and why
    "recbole": "asks for a ray that has no wheel for CPython 3.12; the workflow downstream runs it",
}


def pytest_addoption(parser):
    parser.addoption("--all-packages", action="store_true", help="fail if a test is skipped for a missing package")
    parser.addoption("--points", type=int, default=12, help="how many of a kind of first call are interrupted")


def pytest_sessionfinish(session):
    """With --all-packages, what `importorskip` skipped is a failure of the session."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.option.all_packages and reporter is not None:
        known = tuple(f"could not import '{name}" for name in NOT_EVERYWHERE)
        skipped = [one for one in reporter.stats.get("skipped", ()) if "could not import" in str(one.longrepr)]
        missing = [one for one in skipped if not any(words in str(one.longrepr) for words in known)]
        for skipped in missing:
            reporter.write_line(f"\n{skipped.nodeid}: {skipped.longrepr[2]}", red=True)
        if missing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_configure(config):
    """A FastirWarning that a test neither expects nor declares is a failure; Ctrl-C raises KeyboardInterrupt.

    It does so in child processes, too. A process that runs in the background of a script ignores SIGINT, and whatever
    it starts would ignore it as well.
    """
    config.addinivalue_line("filterwarnings", "error::fastir.FastirWarning")
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """`-n auto` is a worker per processor, at most four: some tests fill memory."""
    return min(4, os.cpu_count() or 1)


def pytest_collection_modifyitems(config, items):
    """Tests marked `large` or `site` run on demand only, and are otherwise seen as skipped."""
    for mark, needs in (("large", "gigabytes of memory or disk"), ("site", "a browser, the site or minutes")):
        if mark not in config.option.markexpr:
            for item in items:
                if item.get_closest_marker(mark):
                    item.add_marker(pytest.mark.skip(reason=f"needs {needs}: pytest -m {mark}"))


def pytest_collection_finish():
    """What pytest keeps of the tests, millions of objects, is left out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def qrels():
    """Two queries: q1 graded, q2 binary."""
    return {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}


@pytest.fixture
def run():
    """A ranking d1 d2 d3 for q1 and d5 d4 d1 for q2, where d5 is not judged."""
    return {"q1": {"d1": 3.0, "d2": 2.5, "d3": 2.0}, "q2": {"d5": 9.0, "d4": 8.0, "d1": 7.0}}


@pytest.fixture
def call(capsys):
    """Run the command in this process: (exit code, standard output, standard error)."""
    from fastir.cli import main

    def run_it(*arguments):
        code = main(list(map(str, arguments)))
        return (code, *capsys.readouterr())

    return run_it


@pytest.fixture
def output(call):
    """Run the command, which must succeed in silence; its standard output."""

    def run_it(*arguments):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        return out

    return run_it
