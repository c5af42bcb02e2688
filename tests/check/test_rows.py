"""The fast reader of lines against the checker of single lines, and the faults of queries against plain loops.

Also of: lines, sides.
"""

import gzip
import random
from dataclasses import astuple

import numpy as np
import pytest
from slow_lines import FORMATS, contradiction, duplicates, random_file, tied_documents

import fastir
from fastir.analyses.check import lines
from fastir.analyses.check._rows import count_judged, ties_and_disorder
from fastir.analyses.check.checked import MAX_LISTED, Findings
from fastir.analyses.check.rules import Rules
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.join._judged import Judged

TREC_LINE = "q1 Q0 {} {} {} t\n"


def one_by_one(monkeypatch):
    """Let the Python checker read every line."""

    def read(self, text, take):
        self.skip(take, text.removesuffix(b"\n").split(b"\n"))

    class Table(lines.LineTable):
        pass

    Table.read = read
    monkeypatch.setattr(lines, "LineTable", Table)


@pytest.mark.parametrize("seed", range(250))
def test_fast_lines_are_those_of_the_line_checker(seed, write, monkeypatch):
    rng = random.Random(seed)
    form = rng.choice(FORMATS)
    qrels_form = "beir" if form == "beir" else "trec"
    files = [random_file(rng, qrels_form, False), random_file(rng, form, True)]
    names = ["qrels", "run"]
    if rng.random() < 0.1:
        data = gzip.compress(files[1], mtime=0)
        files[1], names[1] = data[: rng.choice([len(data), max(len(data) * 2 // 3, 100)])], "run.gz"
    paths = [write(name, data) for name, data in zip(names, files, strict=True)]
    options = {"qrels_format": qrels_form, "run_format": form, "max_depth": 5, "tag": "t|u"}
    monkeypatch.setattr(lines, "BLOCK_BYTES", rng.choice([1, 7, 100, 1 << 20]))
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", rng.choice([150, 1 << 24]))
    fast = fastir.check(*paths, **options)
    one_by_one(monkeypatch)
    slow = fastir.check(*paths, **options)
    assert repr(astuple(fast)) == repr(astuple(slow))
    assert fast.to_json() == slow.to_json() and str(fast) == str(slow)


@pytest.mark.parametrize("seed", range(100))
def test_faults_of_queries_are_those_of_plain_loops(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "run"
    path.write_bytes(random_file(rng, "trec", True))
    side = lines.scan_lines(path, True, "trec", Findings("run"), Rules())
    counts, rows, before, disordered = ties_and_disorder(
        ids_from_arena(side.ids), side.offsets, side.numbers, side.ranks
    )
    docs = side.ids[:]
    for place, (_, ranking) in enumerate(side.rankings()):
        told = (counts[place], docs[before[place]], docs[rows[place]]) if counts[place] else None
        assert told == tied_documents(ranking)
        assert disordered[place] or contradiction(ranking) is None
    lines_of_rows = side.lines_of(np.arange(len(docs))).tolist()
    assert sorted(lines_of_rows) == lines_of_rows or side.order is not None
    assert len(set(lines_of_rows)) == len(docs)


@pytest.mark.parametrize("seed", range(100))
def test_contradictions_and_duplicates_name_what_plain_loops_name(seed, checked, write):
    rng = random.Random(seed)
    n = rng.choice([1, 2, 3, 9, 63, 64, 65])
    rows = [(f"d{rng.randrange(n)}", rng.randrange(4), rng.choice([n - place, rng.randrange(n)])) for place in range(n)]
    result = checked("".join(TREC_LINE.format(*row) for row in rows))
    path = write("again", "".join(TREC_LINE.format(*row) for row in rows))
    ranking = lines.scan_lines(path, True, "trec", Findings("x"), Rules()).ranking(0)
    told = [(fault.doc_id, fault.text, fault.line) for fault in result.of(kind="duplicate")]
    assert told == [
        (doc, f"duplicate document '{doc}' in query 'q1', first on line {first}", line)
        for doc, first, line in duplicates(ranking)
    ]
    texts = [fault.text for fault in result.of(kind="ranks against scores")]
    pair = contradiction(ranking)
    assert len(texts) == (pair is not None)
    if pair:
        assert texts[0].startswith(f"document '{pair[0]}' has rank") and f"but document '{pair[1]}' has" in texts[0]


def test_more_faults_of_one_kind_than_are_listed(write):
    n = MAX_LISTED + 5
    run = write("run", "q1 Q0 d 1 2 t\n" + TREC_LINE.format("d", 1, 2) * n)
    result = fastir.check({"q1": {"d": 1}}, run)
    *_, more = result.of(kind="duplicate")
    assert result.counts()[result.files[1]]["duplicate"] == n
    assert more.text == "... and 5 more that are not listed" and more.number == 5


@pytest.mark.parametrize("n", [1, 255, 256, 257, 600])
def test_judged_documents_are_counted_with_repeats(n):
    docs = [f"d{place % 300}" for place in range(n)]
    judged = Judged(["q", "r"], Arena.of(["d1", "d299", "z"]), np.array([0, 2, 3]), np.zeros(3, np.int32))
    offsets = np.array([0, n, n])
    ids = ids_from_arena(Arena.of(docs))
    found = sum(doc in ("d1", "d299") for doc in docs)
    assert count_judged(judged, ids, offsets, np.array([0, 1])).tolist() == [found, 0]
    assert count_judged(judged, ids, offsets, np.array([-1, 0])).tolist() == [0, 0]
    assert count_judged(judged, ids, offsets, np.array([1, -1])).tolist() == [0, 0]
