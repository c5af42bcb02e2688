"""The walk over lines: what is wrong with a line, in each format, and with the bytes of a file."""

import gzip
import io

import pytest
from packings import needs_zstd, zstd

import fastir
from fastir.analyses.check.checked import Fault, Findings
from fastir.analyses.check.lines import read_texts

CLEAN = "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d1 1 5 t\n"
LINES = {  # a line: the kind of its fault, and whether query and document are told
    "q1 Q0 d9 3 1.0": ("malformed line", False), "q1,Q0,d9,3,1,t": ("malformed line", False),
    "q1 Q0 d9 3 nan t": ("number", True), "q1 Q0 d9 3 1e999 t": ("number", True),
    "q1 Q0 d9 3 abc t": ("number", True), "q1 Q0 d9 third 1 t": ("rank", True),
    "q1 Q0 d9 3rd 1 t": ("rank", True), "q1 Q0 d9 3 1 t\0": ("NUL byte", False),
    "q1 Q0 d9 3 1 t\rq": ("carriage return", False), "#q1 Q0 d9 3 1 t": ("comment with data", False),
    "q1 Q0 d9 3 1 other": ("different tags", False), "q1 Q0 d1 3 0.5 t": ("duplicate", True),
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_line_is_found_by_its_number_and_ids(found, line):
    kind, with_ids = LINES[line]
    doc_id = "d1" if kind == "duplicate" else "d9"
    assert found(CLEAN + "\n# comment\n" + line + "\n") == [(kind, 6, *(("q1", doc_id) if with_ids else (None, None)))]


def test_two_faults_of_one_line_are_two(found):
    assert [kind for kind, *_ in found(CLEAN + "q1 Q0 d1 x y z\n")] == ["number", "rank", "duplicate", "different tags"]


def test_every_pair_of_duplicates_is_told(checked):
    result = checked(CLEAN + "q1 Q0 d1 3 0.5 t\nq1 Q0 d1 4 nan t\nq2 Q0 d1 5 0.1 t\n")
    assert [fault.text for fault in result.of(kind="duplicate")] == [
        "duplicate document 'd1' in query 'q1', first on line 1",
        "duplicate document 'd1' in query 'q1', first on line 1",
        "duplicate document 'd1' in query 'q2', first on line 3",
    ]
    assert [fault.line for fault in result.of(kind="duplicate")] == [4, 5, 6]


def test_what_is_skipped_or_repaired_is_a_remark(checked):
    result = checked("\ufeff# one\r\n\r\n" + CLEAN.replace("\n", "\r\n") + "q2 Q0 d3 1.5 -inf t more\n")
    assert result.ok
    assert {fault.kind: (fault.number, fault.line) for fault in result.of("remark")} == {
        "byte order mark": (1, 1), "CRLF line ends": (5, 1), "blank lines": (1, 2), "comment lines": (1, 1),
        "more fields": (1, 6), "rank form": (1, 6), "infinite scores": (1, 6),
    }  # fmt: skip
    [rank] = result.of(kind="rank form")
    assert rank.text == "1 rank is not an integer from 0 up, such as '1.5'"


@pytest.mark.parametrize(
    ("encoding", "kind"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("cr", "CR line ends")],
)
def test_faults_are_found_behind_the_encoding(found, encoding, kind):
    text = CLEAN + "q1 Q0 d9 3 abc t\n"
    data = text.replace("\n", "\r").encode() if encoding == "cr" else text.encode(encoding)
    assert found(data) == [(kind, 1, None, None), ("number", 4, "q1", "d9")]


def test_a_line_that_is_not_utf_8_is_told(found):
    assert found(CLEAN.encode() + "q2 Q0 dä 2 1 t\n".encode("latin-1")) == [("not UTF-8", 4, None, None)]
    assert found(CLEAN + "q2 Q0 dä 2 1 t\n") == []


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_data_is_told(found, text):
    assert found(text) == [("empty file", None, None, None)]
    assert found(CLEAN, qrels=text) == [("empty file", None, None, None)]


def test_packed_files_are_read_and_damaged_ones_up_to_there(write, tmp_path):
    lines = "".join(f"q{place // 100} Q0 d{place} 1 {-place} t\n" for place in range(20_000))
    data = gzip.compress((CLEAN + "q1 Q0 d1 1 1 t\n" + lines).encode())
    qrels = {"q1": {"d1": 1}}
    [whole] = fastir.check(qrels, write("a.run.gz", data)).of(kind="duplicate")
    assert whole.line == 4
    result = fastir.check(qrels, write("b.run.gz", data[: len(data) // 2]))
    assert [fault.kind for fault in result.of("fault")][:2] == ["damaged file", "duplicate"]


@needs_zstd
def test_zstd_is_read(write):
    faults = fastir.check({"q1": {"d1": 1}}, write("a.zst", zstd.compress(CLEAN.encode() * 2))).of(kind="duplicate")
    assert [fault.line for fault in faults] == [4, 5, 6]


BEIR = "query-id\tcorpus-id\tscore\n"


def test_lines_of_beir(write):
    qrels = write("test.tsv", BEIR + "q 1\td 1\t1\nq 1\td 2\t0\n")
    run = write("run.tsv", BEIR + 'q 1\td 1\t1.5\nq 1\t"d\t1\nq 1\td 2\nq 1\td 2\tx\nq 1\td 1\t3 \n')
    assert [(fault.kind, fault.line, fault.doc_id) for fault in fastir.check(qrels, run).of("fault")] == [
        ("malformed line", 4, None), ("number", 5, "d 2"), ("quotation mark", 3, None), ("duplicate", 6, "d 1"),
    ]  # fmt: skip
    [fault] = fastir.check(qrels, write("other.tsv", "q 1\td 1\t1\n"), run_format="beir").of("fault")
    assert (fault.kind, fault.line) == ("header", 1)


def test_lines_of_ms_marco(write):
    run = write("run.tsv", "q1\td1\t1\nq1\td2\t2\t0.5\nq1\td3\t-1\nq1\td4\t1.5\nq1\td2\t3\nq1\td5\n")
    faults = fastir.check({"q1": {"d1": 1}}, run, run_format="msmarco").of("fault")
    assert [(fault.kind, fault.line) for fault in faults] == [
        ("malformed line", 6), ("number", 3), ("number", 4), ("duplicate", 5),
    ]  # fmt: skip


def test_ranks_are_not_read_in_the_format_trec_eval(write):
    run = write("a.run", "q1 Q0 d1 first 2 t\n")
    assert fastir.check({"q1": {"d1": 1}}, run, run_format="trec_eval").ok


def test_a_line_without_end_is_not_kept(monkeypatch):
    monkeypatch.setattr("fastir.analyses.check.lines.MAX_LINE_BYTES", 100)
    found = Findings("x")
    assert list(read_texts(io.BytesIO(b"a\n" + b"x" * 200), found)) == [(b"a\n", b"\n")]
    assert [fault.kind for fault in found.faults] == ["long line"]


def test_lines_do_not_depend_on_blocks(monkeypatch):
    text = (CLEAN + "\r\n\n# x\n").encode()
    for size in (1, 2, 7, 1 << 20):
        monkeypatch.setattr("fastir.analyses.check.lines.BLOCK_BYTES", size)
        assert b"".join(lines for lines, _ in read_texts(io.BytesIO(text), Findings("x"))) == text


def test_a_fault_says_where_it_is():
    assert Fault("fault", "rank", "f", 3, "q1", None, "text").where() == "line 3"
    assert Fault("fault", "ties", "f", None, "q1", None, "text").where() == "query q1"
    assert Fault("fault", "ties", "f", None, None, None, "text").where() == ""


@pytest.mark.parametrize("number", [2**31 - 2, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, -1, 0, 1])
def test_numbers_at_the_border_are_faults_where_evaluate_refuses_them(number, write, tmp_path):
    """Labels from -2^31 to 2^31 - 1, and ranks of MS MARCO from 0 up."""
    qrels = write("qrels.txt", f"q1 0 d1 {number}\n")
    run = write("run.tsv", f"q1\td1\t{number}\n")
    labels = fastir.check(qrels, {"q1": {"d1": 1.0}}).of(kind="number")
    ranks = fastir.check({"q1": {"d1": 1}}, run, run_format="msmarco").of(kind="number")
    assert [fault.line for fault in labels] == ([] if -(2**31) <= number < 2**31 else [1])
    assert [fault.line for fault in ranks] == ([] if 0 <= number < 2**31 else [1])
    assert all("out of range" in fault.text for fault in labels)
    for faults, read in (
        (labels, lambda: fastir.Qrels.from_file(qrels)),
        (ranks, lambda: fastir.Run.from_file(run, format="msmarco")),
    ):
        if faults:
            with pytest.raises(fastir.FormatError):
                read()
        else:
            read()
