"""Run files, which are evaluated while they are read, in blocks and in threads: nothing shows where a block ended.

Blocks are made small here, so that a short file has many of them. The truth is the same run as a dict.
"""

import gzip
import io
import os
import random
import re
import sys
import threading
import warnings

import gen
import pytest
from common import UNEVEN
from processes import patient

import fastir
from fastir.inputs import trec

pytestmark = UNEVEN
NAMES = [
    name
    for card in fastir.metrics()
    if not (card.pooled or card.sampled)
    for name in (card.spelled(), *([card.spelled("@3")] if card.cutoff else []))
]
THREADS = (1, 2, 3, 8)
WAYS = [(1, 1), (1, 3), (100, 1), (100, 2), (1000, 8), (1 << 20, 1), (1 << 20, 8)]
EVERY_WAY = pytest.mark.parametrize(("chunk", "n_threads"), WAYS)


@pytest.fixture
def chunk():
    """The size of a block for tests that are not about it."""
    return 100


@pytest.fixture(autouse=True)
def blocks(monkeypatch, chunk):
    monkeypatch.setattr(trec, "BLOCK_BYTES", chunk)


@pytest.fixture
def in_columns(monkeypatch):
    """How often a run file was read as columns, instead of being evaluated while it was read."""
    calls = []
    read = trec.read

    def counted(path, is_run, **others):
        if is_run:
            calls.append(path)
        return read(path, is_run, **others)

    monkeypatch.setattr(trec, "read", counted)
    return calls


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run"


def lines_of(run):
    return [f"{query} Q0 {doc} 0 {score!r} tag" for query, docs in run.items() for doc, score in docs.items()]


def small(queries=12, documents=9):
    """Judgments and a run of topics of one size; t0, t2 and so on are judged, the others foreign."""
    run = {f"t{q}": {f"d{i}": float(i * 7 % 5) for i in range(documents)} for q in range(queries)}
    qrels = {f"t{q}": {f"d{i}": (i + q) % 4 - 1 for i in range(0, documents, 2)} for q in range(0, queries, 2)}
    return qrels, run


def outcome(qrels, run, **options):
    """All that a caller sees: the bits of the values, the report, the warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = fastir.evaluate(qrels, run, NAMES, **options)
    return results.query_ids, results.values.tobytes(), results.report, [str(warning.message) for warning in caught]


def values(qrels, run, **options):
    return outcome(qrels, run, **options)[1]


def refusal(path, qrels=None, error=fastir.FormatError, **options):
    """What the error says."""
    with pytest.raises(error) as caught:
        fastir.evaluate(qrels or small()[0], path, "map", **options)
    return str(caught.value)


# ---- values ----------------------------------------------------------------------------------------------------
def decorate(rng, run):
    """The file of a run with everything that may stand in it besides, and what of that is counted."""
    parts, counts = [], {"blank lines": 0, "comment lines": 0, "CRLF line ends": 0}
    for line in lines_of(run):
        for _ in range(rng.choice((0, 0, 0, 1, 3))):
            extra = rng.choice(("", "  ", "\t", "#", "# a comment", "#t1 Q0 d1 0 tag", "#" * 50))
            counts["comment lines" if extra[:1] == "#" else "blank lines"] += 1
            parts.append(extra)
        spaced = re.sub(" ", lambda _: rng.choice((" ", "\t", "  ", " \t ", "\v", "\f")), line)
        parts.append(rng.choice(("", "", " ", "\t")) + spaced + rng.choice(("", " ", " 7 8")))
    text = ""
    for part in parts:
        end = rng.choice(("\n", "\n", "\r\n", "\r\r\n"))
        counts["CRLF line ends"] += end != "\n"
        text += part + end
    if rng.random() < 0.5:
        text = text.removesuffix("\n").rstrip("\r")
        counts["CRLF line ends"] -= end != "\n"
    return text.encode(), {kind: count for kind, count in counts.items() if count}


@EVERY_WAY
@pytest.mark.parametrize("seed", range(3))
def test_any_blocks_and_threads_give_the_values_of_the_dict(seed, chunk, n_threads, path, in_columns):
    qrels, run = gen.collection(seed, queries=12)
    run = {query: docs for query, docs in run.items() if docs}
    data, repairs = decorate(random.Random(seed), run)
    path.write_bytes(data)
    for options in ({}, {"ties": "input", "score_dtype": "float32"}, {"queries": "intersection", "judged_only": True}):
        ids, expected, report, told = outcome(qrels, run, **options)
        got = outcome(qrels, path, n_threads=n_threads, **options)
        assert got[2].repairs == {kind: (count, str(path)) for kind, count in repairs.items()}
        got[2].repairs.clear()
        assert got == (ids, expected, report, told)
    assert not in_columns


ODD = (
    b"# head\n\n q1\tQ0  a 0 3 t\r\nq1 Q0 b 0 2 t\n\n#\nq1 Q0 c 0 1 t\n# between\r\n\r\nq10 Q0 a 0 3 t \n"
    b"  \nq10 Q0 d 0 4 t t t\nno\fQ0\va 0 1 t\n\n\nq2 Q0 \xc3\xa9 0 1e0 t\nq2 Q0 \xff 0 2 t\r\r\n#\n#\nq3 Q0 a 0 1 t\n"
)
ODD_QRELS = {"q1": {"c": 1, "a": 2}, "q10": {"a": 1, "b": 3}, "q2": {"é": 1, "\udcff": 2}, "q3": {"a": 1}}
ODD_REPAIRS = {"blank lines": 6, "comment lines": 5, "CRLF line ends": 4}
ODD_RUN = {
    "q1": {"a": 3, "b": 2, "c": 1}, "q10": {"a": 3, "d": 4}, "no": {"a": 1}, "q2": {"é": 1, "\udcff": 2},
    "q3": {"a": 1},
}  # fmt: skip


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n \n", b"\n# the end", b"\r\n#\r\n"])
def test_a_border_at_every_byte(end, path, monkeypatch, in_columns):
    path.write_bytes(ODD[:-1] + end)
    ids, expected, _, told = outcome(ODD_QRELS, ODD_RUN)
    repairs = fastir.Run.from_file(path).columns.repairs
    in_columns.clear()
    for size in range(1, len(ODD) + 3):
        monkeypatch.setattr(trec, "BLOCK_BYTES", size)
        for n_threads in (1, 2):
            got = outcome(ODD_QRELS, path, n_threads=n_threads)
            assert (got[0], got[1], got[3]) == (ids, expected, told), size
            assert got[2].repairs == repairs, size
        assert fastir.Run.from_file(path) == fastir.Run.from_dict(ODD_RUN)
    assert len(in_columns) == len(ODD) + 2  # Run.from_file alone


@EVERY_WAY
def test_a_query_larger_than_a_block(chunk, n_threads, path, in_columns):
    """First, between small ones, last and alone."""
    large = {f"doc{i}": float(i * 7919 % 500) for i in range(2000)}
    tiny = {"doc1": 1.0, "doc9": 0.5}
    qrels = {query: {f"doc{i}": i % 3 for i in range(0, 2000, 9)} for query in ("a", "b", "c", "d")}
    for order in ("aBcD", "Ba", "c", "xD", "Dx"):
        run = {query.lower(): tiny if query.isupper() else large for query in order}
        gen.write_run(path, run)
        assert outcome(qrels, path, n_threads=n_threads) == outcome(qrels, run)
    assert not in_columns


def test_query_ids_that_begin_alike_are_different(path, in_columns):
    run = {query: {"a": 1.0, "b": float(len(query))} for query in ("1", "11", "111", "112", "1x", "é", "é2")}
    qrels = {query: {"a": 1} for query in run}
    gen.write_run(path, run)
    assert outcome(qrels, path) == outcome(qrels, run)
    assert not in_columns


@pytest.mark.parametrize("n_threads", THREADS)
def test_reports_and_warnings_do_not_depend_on_threads(n_threads, path):
    """Which queries are named as examples: the first of the qrels, the first of the file."""
    run = {f"t{q}": {"a": 1.0, "b": 1.0} if q % 3 else {"x": 1.0, "y": 1.0} for q in range(300)}
    qrels = {f"t{q}": {"a": 1, "b": 0} for q in range(299, -1, -2)}
    gen.write_run(path, run)
    expected = outcome(qrels, run)
    assert expected[2].queries_with_ties_example == "t299"
    for _ in range(20):
        assert outcome(qrels, path, n_threads=n_threads) == expected


# ---- queries that come back ------------------------------------------------------------------------------------
def rounds(run, rng=None):
    """The lines of a run, one of each query in turn; or shuffled, each query's own order kept."""
    waiting = {query: lines_of({query: docs}) for query, docs in run.items()}
    order = [query for query, lines in waiting.items() for _ in lines]
    if rng:
        rng.shuffle(order)
    else:
        order.sort(key=lambda query, met={}: met.setdefault(query, iter(range(10**6))).__next__())
    return [waiting[query].pop(0) for query in order]


@EVERY_WAY
def test_interleaved_queries(chunk, n_threads, path, in_columns):
    qrels, run = small()
    expected = outcome(qrels, run)
    for number, rng in enumerate((None, random.Random(1), random.Random(2)), 1):
        lines = rounds(run, rng)
        assert lines != lines_of(run)
        path.write_text("\n".join(lines))
        for ties in ("trec", "input"):
            assert values(qrels, path, n_threads=n_threads, ties=ties) == values(qrels, run, ties=ties)
        got = outcome(qrels, path, n_threads=n_threads)
        assert (got[0], got[1], got[3][0][:20]) == (expected[0], expected[1], expected[3][0][:20])
        assert len(in_columns) == 3 * number


@EVERY_WAY
@pytest.mark.parametrize("query", ["t4", "t5"], ids=["judged", "foreign"])
def test_one_query_that_comes_back(query, chunk, n_threads, path, in_columns):
    qrels, run = small()
    lines = lines_of(run)
    first = next(number for number, line in enumerate(lines) if line.startswith(query + " "))
    for place in (first + 9, first + 17, len(lines) - 1):
        moved = lines[:first] + lines[first + 1 :]
        moved.insert(place, lines[first])
        path.write_text("\n".join(moved))
        assert values(qrels, path, n_threads=n_threads) == values(qrels, run)
    assert len(in_columns) == 3


# ---- duplicates ------------------------------------------------------------------------------------------------
def with_duplicate(path, query, doc):
    """Write files in which a document stands twice: at once, at the end of its query, blocks away, after other queries.

    Yields the two places, from 0, the run without the second one, and the judgments.
    """
    qrels, run = small(documents=60)
    lines = ["# head", *lines_of(run)]
    places = [number for number, line in enumerate(lines) if line.startswith(f"{query} ")]
    first = next(number for number in places if lines[number].startswith(f"{query} Q0 {doc} "))
    for later in (first + 1, places[-1] + 1, len(lines)):
        path.write_text("\n".join([*lines[:later], f"{query} Q0 {doc} 0 0.5 tag", *lines[later:], "", "#"]))
        yield first, later, run, qrels


@EVERY_WAY
@pytest.mark.parametrize("query", ["t4", "t5"], ids=["judged", "foreign"])
@pytest.mark.parametrize("doc", ["d0", "d1"], ids=["judged document", "other document"])
def test_a_duplicate_of_any_query_is_an_error(query, doc, chunk, n_threads, path):
    for first, later, _, qrels in with_duplicate(path, query, doc):
        message = refusal(path, qrels, fastir.DuplicateError, n_threads=n_threads)
        assert message.startswith(f"{path}:{later + 1}: duplicate document '{doc}' in query '{query}', "
                                  f"first on line {first + 1};")  # fmt: skip


@pytest.mark.parametrize("query", ["t4", "t5"], ids=["judged", "foreign"])
@pytest.mark.parametrize("doc", ["d0", "d1"], ids=["judged document", "other document"])
def test_a_duplicate_of_any_query_is_repaired(query, doc, path):
    for _, later, run, qrels in with_duplicate(path, query, doc):
        for duplicates, score in (("first", run[query][doc]), ("last", 0.5), ("max", max(0.5, run[query][doc]))):
            with pytest.warns(fastir.FastirWarning, match="1 duplicate was repaired"):
                results = fastir.evaluate(qrels, path, NAMES, duplicates=duplicates)
            assert results.values.tobytes() == values(qrels, {**run, query: {**run[query], doc: score}})
            assert results.report.repairs["duplicates"] == (1, f"{path}:{later + 1}")


@EVERY_WAY
def test_every_duplicate_is_counted(chunk, n_threads, path):
    """Three of one document and two of another, best in the middle."""
    qrels = {"q": {"a": 1, "b": 2, "c": 0}}
    path.write_text("".join(f"q Q0 {row[0]} 0 {row[1]} t\n" for row in ("a2", "b5", "c4", "a9", "a3", "b1")))
    for duplicates, scores in (("first", (2, 5, 4)), ("last", (3, 1, 4)), ("max", (9, 5, 4))):
        expected = values(qrels, {"q": dict(zip("abc", scores, strict=True))})
        assert values(qrels, path, duplicates=duplicates, n_threads=n_threads) == expected
        assert fastir.Run.from_file(path, duplicates=duplicates)["q"] == dict(zip("abc", scores, strict=True))
        assert fastir.Run.from_file(path, duplicates=duplicates).columns.repairs == {"duplicates": (3, f"{path}:4")}


def test_documents_are_compared_whole(path, in_columns):
    """Ids of all lengths around the words that are hashed, each with neighbours that differ in one place."""
    ids = {"x" * n + last for n in range(20) for last in ("", "y", "yx", "yxxxxxxxx")}
    run = {"q": {doc: float(number) for number, doc in enumerate(sorted(ids - {""}))}}
    gen.write_run(path, run)
    qrels = {"q": {doc: 1 + len(doc) % 3 for doc in list(run["q"])[::2]}}
    assert values(qrels, path) == values(qrels, run)
    assert not in_columns
    for doc in run["q"]:
        path.write_text("\n".join([*lines_of(run), f"q Q0 {doc} 0 0 t"]))
        assert f"duplicate document '{doc}'" in refusal(path, qrels)


# ---- errors ----------------------------------------------------------------------------------------------------
WRONG = {
    "t4 Q0 x": "malformed run line with 3 fields",
    "t4 Q0 x 0 1.0": "malformed run line with 5 fields",
    "t4 Q0 x 0 1,5 tag": "score '1,5' is not a number (query t4, document x)",
    "t4 Q0 x 0 nan tag": "score 'nan' is not a number: NaN cannot be ranked (query t4, document x)",
    "t4 Q0 x 0 1e999 tag": "score '1e999' is too large for a float (query t4, document x)",
    "t4 Q0 x 0 1.0 t\0g": "the line holds a NUL byte",
    "\0": "the line holds a NUL byte",
    "t4 Q0 x 0 1.0 tag\rt4 Q0 y 0 1.0 tag": "malformed line: a carriage return inside it",
    "t4 Q0 x\r0 1.0 tag": "malformed line: a carriage return inside it",
    "# a\rcomment": "malformed line: a carriage return inside it",
    "\r ": "malformed line: a carriage return inside it",
    "#t4 Q0 x 0 1.0 tag": "the line starts with '#' like a comment but has the fields of a data line",
    "#t4 Q0 x 0 inf tag": "the line starts with '#' like a comment but has the fields of a data line",
    "#t4 Q0 x 0 1e-400 tag": "the line starts with '#' like a comment but has the fields of a data line",
}


def with_line(path, line, wrong, head=b"# head\r\n\n"):
    """A file of twelve queries whose line `line` is wrong, with lines before that are skipped."""
    lines = head + "\n".join(lines_of(small()[1])).encode()
    lines = lines.split(b"\n")
    lines.insert(line - 1, wrong.encode())
    path.write_bytes(b"\n".join(lines))
    return lines


@EVERY_WAY
@pytest.mark.parametrize("wrong", WRONG)
def test_an_error_names_its_line(wrong, chunk, n_threads, path):
    """In the first block, in the middle of a query, between two, at the end."""
    for line in (1, 3, 20, 39, 40, 111):
        with_line(path, line, wrong)
        message = refusal(path, n_threads=n_threads)
        assert message.startswith(f"{path}:{line}: {WRONG[wrong]}"), (line, message)
        with pytest.raises(fastir.FormatError) as caught:
            fastir.Run.from_file(path)
        assert str(caught.value) == message


@EVERY_WAY
def test_an_error_knows_its_line(chunk, n_threads, path):
    with_line(path, 50, "t4 Q0 x 0 1,5 tag")
    with pytest.raises(fastir.FormatError) as caught:
        fastir.evaluate(small()[0], path, "map", n_threads=n_threads)
    error = caught.value
    assert (error.path, error.line, error.column, error.text) == (str(path), 50, 5, "t4 Q0 x 0 1,5 tag")


@pytest.mark.parametrize("n_threads", THREADS)
def test_the_first_error_of_the_file_wins(n_threads, path):
    """Each block is wrong from some line on; a later one may be met sooner."""
    qrels, run = small(queries=200, documents=30)
    lines = lines_of(run)
    for line in (1, 1700, 3000):
        path.write_text("\n".join(lines[:line] + [f"{text[:-4]} x" if number % 7 == 0 else f"{text[:-9]}"
                                                  for number, text in enumerate(lines[line:])]))  # fmt: skip
        for _ in range(10):
            assert refusal(path, qrels, n_threads=n_threads).startswith(f"{path}:{line + 2}: "), line


@pytest.mark.parametrize("n_threads", THREADS)
@pytest.mark.parametrize("comes_back", [None, 100, 299, 310, 450, 1100])
def test_a_duplicate_and_a_malformed_line(comes_back, n_threads, path):
    """Whichever comes first, in one query or in two; also where a query comes back and the file is read as columns."""
    qrels, run = small(queries=40, documents=30)
    for twice, malformed in ((301, 308), (301, 500), (500, 301), (308, 301)):
        lines = lines_of(run)
        if comes_back:
            lines[comes_back] = "t0 Q0 x 0 1.0 tag"
        lines[twice] = lines[twice // 30 * 30]
        lines[malformed] = lines[malformed].partition(" 0 ")[0]
        path.write_text("\n".join(lines))
        start = f"{path}:302: " + ("duplicate document" if twice == 301 else "malformed")
        for _ in range(10):
            assert refusal(path, qrels, n_threads=n_threads).startswith(start)
        for duplicates in ("first", "last", "max"):
            assert refusal(path, qrels, duplicates=duplicates).startswith(f"{path}:{malformed + 1}: malformed")


# ---- where the bytes come from ---------------------------------------------------------------------------------
def members(data, size):
    """Gzip of many members, as `cat a.gz b.gz` makes, with empty ones."""
    return b"".join(
        gzip.compress(data[start : start + size]) + gzip.compress(b"") for start in range(0, len(data), size)
    )


PACKED = {"one member": gzip.compress, "many members": lambda data: members(data, 37),
          "zeros behind": lambda data: gzip.compress(data) + bytes(512)}  # fmt: skip


@pytest.mark.parametrize("n_threads", THREADS)
@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "byte order mark"])
def test_gzip(mark, kind, n_threads, tmp_path, in_columns):
    """By what the file holds, not by its name; an error names the line of what was packed."""
    for name in ("run.gz", "run"):
        path = tmp_path / name
        path.write_bytes(PACKED[kind](mark + ODD))
        ids, expected, report, told = outcome(ODD_QRELS, path, n_threads=n_threads)
        assert (ids, expected, told) == (list(ODD_QRELS), values(ODD_QRELS, ODD_RUN), outcome(ODD_QRELS, ODD_RUN)[3])
        assert report.repairs.pop("byte order mark", None) == ((1, f"{path}:1") if mark else None)
        assert report.repairs == {kind: (count, str(path)) for kind, count in ODD_REPAIRS.items()}
        path.write_bytes(PACKED[kind](mark + ODD + b"q4 Q0 a"))
        assert refusal(path, n_threads=n_threads).startswith(f"{path}:{ODD.count(10) + 1}: malformed")
    assert not in_columns


BROKEN = {
    "cut": lambda packed: packed[:-20],
    "cut in the trailer": lambda packed: packed[:-3],
    "wrong checksum": lambda packed: packed[:-8] + bytes(4) + packed[-4:],
    "wrong size": lambda packed: packed[:-4] + bytes(4),
    "damaged header": lambda packed: packed[:2] + b"\xff" + packed[3:],
    "something behind": lambda packed: packed + b"something",
    "damaged header of a later member": lambda packed: packed + packed[:10] + b"\xff" + packed,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_gzip(kind, tmp_path):
    """The same words for any number of threads, however many are at the file when it ends."""
    qrels, run = small(queries=100, documents=30)
    path = tmp_path / "run.gz"
    path.write_bytes(BROKEN[kind](gzip.compress("\n".join(lines_of(run)).encode() + b"\n")))
    messages = {refusal(path, qrels, n_threads=n) for n in THREADS for _ in range(20)}
    assert len(messages) == 1
    assert messages.pop().startswith(f"{path}: the compressed data is damaged or truncated: ")


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_standard_input(packed, monkeypatch, in_columns):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(packed(ODD)))))
        got = outcome(ODD_QRELS, "-")
        assert not sys.stdin.buffer.closed
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(packed(ODD + b"q4 Q0 a")))))
        assert refusal("-").startswith(f"standard input:{ODD.count(10) + 1}: malformed")
    assert (got[0], got[1], got[3]) == (list(ODD_QRELS), values(ODD_QRELS, ODD_RUN), outcome(ODD_QRELS, ODD_RUN)[3])
    assert in_columns == ["-", "-"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_read_once(path, in_columns):
    """As the shell's <(...) gives: it cannot be evaluated first and then read again."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(ODD,), daemon=True)
    writer.start()
    assert values(ODD_QRELS, path) == values(ODD_QRELS, ODD_RUN)
    writer.join(patient(10))
    assert list(map(os.fspath, in_columns)) == [str(path)]


@EVERY_WAY
@pytest.mark.parametrize("data", [b"", b"\n", b"#", b"\r\n", b" ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"#\n\n" * 200])
def test_a_file_without_lines(data, chunk, n_threads, path):
    for packed in (data, gzip.compress(data)):
        path.write_bytes(packed)
        assert refusal(path, n_threads=n_threads) == f"{path}: the run is empty: no result lines"


@pytest.mark.parametrize("make", [str, os.fsencode, lambda path: path], ids=["str", "bytes", "Path"])
def test_every_kind_of_path(make, path):
    path.write_bytes(ODD)
    assert values(ODD_QRELS, make(path)) == values(ODD_QRELS, ODD_RUN)
    assert refusal(make(path.with_name("none")), error=FileNotFoundError).endswith(f"{str(path.with_name('none'))!r}")


def test_repairs_of_qrels_and_run_are_counted_together(tmp_path):
    """The place is that of the first one, which is in the qrels."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(b"q 0 a 1\n\n\nq 0 b 0\n")
    run.write_bytes(b"\nq Q0 a 1 2.0 x\r\nq Q0 b 2 1.0 x\n")
    repairs = fastir.evaluate(qrels, run, "map").report.repairs
    assert {kind: count for kind, (count, _) in repairs.items()} == {"blank lines": 3, "CRLF line ends": 1}


WITH_A_BLANK = "q1 Q0 a 1 4.5 t\nq1 Q0 my doc 2 3.5 t\n"


@pytest.mark.parametrize("padding", [0, 200])  # bytes behind it: the line is read byte by byte, or by masks
@pytest.mark.parametrize("rank", ["doc", "NA", "-", "nan", "+", ".x", "Ä"])
def test_a_rank_that_is_no_number_is_an_error(tmp_path, rank, padding):
    path = tmp_path / "run"
    path.write_text(WITH_A_BLANK.replace(" doc ", f" {rank} ") + f"q2 Q0 a 1 4.5 {'t' * padding}\n")
    said = re.escape(f"{path}:2: rank {rank!r} is not a number (query q1, document my)")
    for call in (fastir.Run.from_file, lambda path: fastir.evaluate({"q1": {"a": 1}}, path, "map")):
        with pytest.raises(fastir.FormatError, match=said):
            call(path)


@pytest.mark.parametrize("rank", ["1", "0", "-1", "+7", "1.0", "12345678", "123456789012", "1e3", "00000001"])
def test_any_number_is_a_rank(tmp_path, rank):
    path = tmp_path / "run"
    path.write_text("".join(f"q1 Q0 d{i} {rank} {9 - i} {'t' * 90}\n" for i in range(3)))
    assert fastir.Run.from_file(path).to_dict() == {"q1": {"d0": 9.0, "d1": 8.0, "d2": 7.0}}


def test_tools_take_anything_for_a_rank(tmp_path):
    path = tmp_path / "run"
    path.write_text(WITH_A_BLANK)
    found = {"q1": {"a": 4.5, "my": 2.0}}
    assert fastir.Run.from_file(path, "trec_eval").to_dict() == found
    for convention in ("trec_eval-10", "trec_eval-9", "pyserini", "ranx"):
        assert fastir.evaluate({"q1": {"my": 1}}, path, "mrr", convention=convention)["mrr"] == 0.5
    many = fastir.evaluate_many({"q1": {"my": 1}}, {"x": path}, "mrr", convention="trec_eval-10")
    assert many["x"]["mrr"] == 0.5
    from fastir.compat import ranx

    assert dict(ranx.Run.from_file(str(path), "trec")["q1"]) == found["q1"]


def by_rank(n_queries, wrong, score):
    """A run of three documents per query, whose scores are as `score` says of a rank; those of `wrong` queries rise."""
    rows = ((q, rank) for q in range(n_queries) for rank in (1, 2, 3))
    return "".join(f"q{q} Q0 d{rank} {rank} {rank if q < wrong else score(rank)} t\n" for q, rank in rows)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("wrong", "warned"), [(0, False), (3, False), (6, False), (7, True), (12, True)])
def test_ranks_that_contradict_the_scores_are_counted_and_warned_of(tmp_path, wrong, warned, whole, recwarn):
    path = tmp_path / "run"
    path.write_text(by_rank(12, wrong, lambda rank: -rank))
    qrels = {f"q{q}": {"d1": 1} for q in range(12)}
    results = fastir.evaluate(qrels, fastir.Run.from_file(path) if whole else path, "mrr")
    found = results.report.repairs.get("queries whose ranks contradict their scores", (0, None))
    assert found == (wrong, str(path) if wrong else None)
    assert [f"the ranks of {wrong} queries contradict" in str(one.message) for one in recwarn] == [True] * warned
    assert all("distances, or ranks as scores?" in str(one.message) for one in recwarn)


def test_ranks_that_are_alike_or_equal_scores_contradict_nothing(tmp_path, recwarn):
    path = tmp_path / "run"
    path.write_text(by_rank(3, 0, lambda rank: 7) + "q9 Q0 d1 0 1 t\nq9 Q0 d2 0 2 t\nq8 Q0 d1 1 2 t\n")
    assert fastir.evaluate({"q0": {"d1": 1}}, path, "mrr", queries="intersection", ties="trec").report.repairs == {}
    assert not recwarn
