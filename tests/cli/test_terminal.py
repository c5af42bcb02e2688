"""The two streams: colour for terminals, and a progress bar over the bytes of the runs."""

import io
import os
import shutil
import sys
from pathlib import Path

import pytest
from common import EXAMPLES
from terminals import Terminal

from fastir.cli import terminal

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def test_colour_is_for_terminals(output, monkeypatch):
    command = ("eval", QRELS, BM25, DENSE, "-m", "ndcg@10", "map")
    plain = output(*command)
    assert "\x1b" not in plain
    assert "\x1b" not in output(*command, "--color", "never")
    bold = output(*command, "--color", "always")
    assert bold.count("\x1b[1;32m*") == 2 and bold.replace("\x1b[1;32m", "").replace("\x1b[0m", "") == plain
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    assert output(*command) == bold
    monkeypatch.setenv("NO_COLOR", "1")
    assert output(*command) == plain
    assert output(*command, "--color", "always") == bold


@pytest.mark.parametrize(("n_threads", "after"), [(1, [1, 2, 3]), (2, [2, 3]), (3, [3])])
def test_a_bar_over_the_bytes_of_the_runs(call, bars, copies, monkeypatch, n_threads, after):
    """With so many runs at a time, it is seen after so many of the three."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert call("eval", QRELS, *copies(BM25, 3), "-m", "map", "--threads", n_threads)[0] == 0
    size = Path(BM25).stat().st_size
    [bar] = bars
    assert bar.closed and bar.options["total"] == 3 * size
    assert {size * runs for runs in after} <= bar.seen
    assert bar.seen.isdisjoint(size * runs for runs in range(1, after[0]))


def test_the_bar_does_not_go_back():
    """A file that is read twice, a standard input whose size nobody knows."""
    progress = terminal.Progress({"bm25": BM25, "-": "-"})
    size = Path(BM25).stat().st_size
    for name, position, done in (("bm25", 10, 10), ("bm25", size, size), ("bm25", 10, size), ("-", 99, size)):
        progress.notice(name, position)
        assert (progress.done, progress.total) == (done, size)


@pytest.mark.parametrize("why", ["a pipe", "a moment", "no tqdm"])
def test_silence(call, bars, monkeypatch, why):
    stream = io.StringIO() if why == "a pipe" else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    if why == "a moment":
        monkeypatch.setattr(terminal, "BAR_AFTER_SECONDS", 60.0)
    if why == "no tqdm":
        monkeypatch.setitem(sys.modules, "tqdm", None)
    assert call("eval", QRELS, BM25, "-m", "map")[0] == 0
    assert not bars and stream.getvalue() == ""


@pytest.mark.parametrize("columns", ["", "0", "-1", "x", "37"])
def test_the_width_is_that_of_shutil(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.terminal_width() == shutil.get_terminal_size().columns


def test_a_browser_knows_no_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delattr(os, "get_terminal_size")
    assert terminal.terminal_width() == terminal.DEFAULT_WIDTH
