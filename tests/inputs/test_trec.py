"""Where a file is cut: before the rows of its last query, however much of it was looked at before."""

import random

import numpy as np
import pytest

import fastir
from fastir.engine.columns._trec import last_group
from fastir.engine.columns.line_formats import TREC_RUN
from fastir.inputs import trec


def cut_by_words(text):
    """The textbook's cut: where the rows of the last query among the whole lines begin, 0 if there is no other one."""
    begin = at = 0
    last = None
    for line in text[: text.rfind(b"\n") + 1].splitlines(keepends=True):
        words = line.split()
        if words and words[0] != last:
            begin, last = at if last is not None else 0, words[0]
        at += len(line)
    return begin


def random_lines(rng, queries):
    return b"".join(
        rng.choice((b"", b"\n", b"  \n")) * (rng.random() < 0.3) + b"q%d Q0 d%d 1 %d t\n" % (q, i, -i)
        for q in queries
        for i in range(rng.randint(1, 9))
    )


@pytest.mark.parametrize("seed", range(30))
def test_what_is_known_of_the_lines_before_does_not_move_the_cut(seed):
    rng = random.Random(seed)
    text = random_lines(rng, [rng.choice([1, 1, 2]) for _ in range(rng.randint(1, 8))])
    array = np.frombuffer(text + b"q1 Q", np.uint8)
    want = cut_by_words(text)
    assert last_group(array, len(array), 0) in ({want} if want else {0})
    for known in range(len(text)):
        if cut_by_words(text[:known]) == 0:
            assert last_group(array, len(array), known) == want


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 40])
def test_queries_that_fill_several_blocks_have_the_same_values(rows, tmp_path, monkeypatch):
    run = {f"q{q}": {f"d{i}": float(-i) for i in range(rows * (1 + q % 3))} for q in range(9)}
    qrels = {query: {"d0": 1, f"d{rows - 1}": 2} for query in run}
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in run.items() for d, s in docs.items()))
    want = fastir.evaluate(qrels, run, ["map", "ndcg"])
    for chunk in range(24, 90, 7):
        monkeypatch.setattr(trec, "BLOCK_BYTES", chunk)
        for piece in (7, 64, 1 << 24):
            monkeypatch.setattr(trec, "PIECE_BYTES", piece)
            assert fastir.evaluate(qrels, path, ["map", "ndcg"]).to_dict() == want.to_dict()
            assert fastir.Run.from_file(path).to_dict() == run


@pytest.mark.parametrize("chunk", [60, 1 << 20])
@pytest.mark.parametrize("seed", range(8))
def test_one_query_is_read_without_keeping_the_others(chunk, seed, tmp_path, monkeypatch):
    monkeypatch.setattr(trec, "BLOCK_BYTES", chunk)
    rng = random.Random(seed)
    queries = [rng.choice("abcd") for _ in range(40)]
    path = tmp_path / "run.txt"
    lines = [f"{query} Q0 d{i} 1 {rng.random()} t\n" for i, query in enumerate(queries)]
    path.write_text("".join(rng.choice(["", "\n", "# note\n"]) + line for line in lines))
    whole = fastir.Run.from_file(path)
    for query in "abcde":
        few = fastir.Run(*trec.read(path, True, None, None, TREC_RUN, query.encode()))
        assert few.to_dict() == whole.filter([query]).to_dict()
    assert whole.to_dict()["a"] == fastir.Run(*trec.read(path, True, None, None, TREC_RUN, b"a"))["a"]


def test_the_duplicate_document_of_the_one_query_is_named_by_its_lines(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("b Q0 x 1 2 t\n\na Q0 x 1 2 t\nb Q0 x 2 1 t\n# note\na Q0 y 2 1 t\na Q0 x 3 0 t\n")
    with pytest.raises(fastir.DuplicateError, match=r"run\.txt:7: duplicate document .x. .* first on line 3"):
        trec.read(path, True, None, None, TREC_RUN, b"a")
    assert trec.read(path, True, None, None, TREC_RUN, b"c")[0] == []
    with pytest.raises(fastir.DuplicateError, match=r"run\.txt:4"):
        trec.read(path, True, None, None, TREC_RUN, b"b")


def test_lines_of_other_queries_are_checked_when_one_is_read(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("a Q0 x 1 2 t\nb Q0 x 2 one t\n")
    with pytest.raises(fastir.FormatError, match=r"run\.txt:2: score 'one' is not a number"):
        trec.read(path, True, None, None, TREC_RUN, b"a")
    path.write_text("\n# note\n")
    with pytest.raises(fastir.FormatError, match="the run is empty"):
        trec.read(path, True, None, None, TREC_RUN, b"a")
