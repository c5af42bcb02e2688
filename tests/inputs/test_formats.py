"""Files in every format and packing: what is saved reads back exactly, and what is wrong is said with its place."""

import gzip
import io
import json
import math
import os
import pathlib
import re
import sys
import types

import gen
import numpy as np
import pytest
from common import ABSENT, SHARED, UNEVEN
from packings import PACKINGS, exact, needs_zstd, packed, zstd

import fastir
from fastir import Qrels, Run

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies

MAGIC = {"": b"", ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
HEADER = "query-id\tcorpus-id\tscore\n"
QRELS = {"q2": {"d1": 2, "é文😀": -1, "d0": 0}, "q1": {"d1": 1}}
RUN = {"q2": {"d1": -0.1, "é文😀": 5e-324, "x": 1e300}, "q1": {"d1": 0.1 + 0.2, "b": -0.0}}


def rows(data):
    return [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]


def text_of(data, format):
    """A file of this format, written here by hand."""
    if format == "beir":
        return HEADER + "".join(f"{query}\t{doc}\t{number!r}\n" for query, doc, number in rows(data))
    if format == "json":
        return json.dumps(data, ensure_ascii=False, indent=1)
    is_run = any(type(number) is float for _, _, number in rows(data))
    second, last = ("Q0", " 0 {!r} t\n") if is_run else ("0", " {!r}\n")
    return "".join(f"{query} {second} {doc}" + last.format(number) for query, doc, number in rows(data))


@pytest.fixture
def read(tmp_path):
    """Writes a text and reads it as judgments or rankings."""

    def read(cls, text, name="file", **options):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return cls.from_file(tmp_path / name, **options)

    return read


# ---- reading ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["file", "file.tsv", "FILE.JSON"])
@pytest.mark.parametrize("format", ["trec", "beir", "json"])
def test_every_format_is_read_in_every_packing_whatever_its_name(format, name, packing, read):
    for cls, data in ((Qrels, QRELS), (Run, RUN)):
        made = read(cls, packed(text_of(data, format).encode(), packing), name, format=format)
        assert exact(made) == exact(data)
        assert made._repairs == {}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["file.json", "x.trec.JSON"])
def test_json_is_known_by_its_name(name, packing, read):
    assert exact(read(Run, packed(text_of(RUN, "json").encode(), packing), name + packing)) == exact(RUN)


@pytest.mark.parametrize("name", ["file", "run.txt", "run.trec", "run.tsv", "json", "a.json/run"])
def test_any_other_name_is_trec(name, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text_of(RUN, "trec"), "utf-8")
    assert exact(Run.from_file(tmp_path / name)) == exact(RUN)


@UNEVEN
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("format", ["trec", "beir", "json"])
def test_values_are_those_of_the_dicts_bit_for_bit(format, seed, tmp_path):
    metrics = ["ndcg@10", "map", "bpref", "rbp", "num_ret"]
    qrels, run = gen.collection(seed)
    run = {query: docs for query, docs in run.items() if docs}
    expected = fastir.evaluate(qrels, run, metrics)
    suffix = ".json" if format == "json" else ".txt"
    for name, data in (("qrels", qrels), ("run", run)):
        (tmp_path / (name + suffix)).write_text(text_of(data, format), "utf-8")
    read_qrels = Qrels.from_file(tmp_path / f"qrels{suffix}", format=format)
    read_run = Run.from_file(tmp_path / f"run{suffix}", format=format)
    assert fastir.evaluate(read_qrels, read_run, metrics) == expected
    if format != "beir":
        assert fastir.evaluate(tmp_path / f"qrels{suffix}", tmp_path / f"run{suffix}", metrics) == expected


def test_ms_marco_runs_are_ordered_by_rank(read):
    run = read(Run, "q1\tb\t2\nq1\ta\t1\nq2 c 10 0.5\n\n# a word\nq1\tz\t2147483647\nq2 d 0\n", format="msmarco")
    assert exact(run) == exact({"q1": {"b": -2.0, "a": -1.0, "z": -2147483647.0}, "q2": {"c": -10.0, "d": 0.0}})
    assert {kind: count for kind, (count, _) in run._repairs.items()} == {"blank lines": 1, "comment lines": 1}
    assert fastir.evaluate({"q1": {"b": 1}, "q2": {"c": 1}}, run, "mrr").values[:, 0].tolist() == [0.5, 0.5]


def test_ms_marco_qrels_are_trec_qrels(read):
    assert read(Qrels, "1\t0\t7\t1\n", format="msmarco").to_dict() == {"1": {"7": 1}}


def test_ids_of_beir_may_hold_all_but_tabs_and_line_ends(read):
    ids = ["#1", " a  b ", "a,b", 'x"y', "\ufeff", "\v\f", "\u2028", "\x1c", "\udcff"]
    data = {query: {doc: number for number, doc in enumerate(ids)} for query in ids}
    assert exact(read(Qrels, text_of(data, "beir").replace("\n", "\r\n"), format="beir")) == exact(data)


def test_a_query_that_begins_like_the_one_before(read):
    data = {"q": {"d": 1}, "q 1": {"d": 2}, "q ": {"d": 3}}
    assert exact(read(Qrels, text_of(data, "beir"), format="beir")) == exact(data)


@pytest.mark.parametrize("format", ["trec", "beir", "json"])
def test_queries_may_be_interleaved(format, read):
    text = {"trec": "b Q0 x 1 1 t\na Q0 x 1 2 t\nb Q0 y 1 3 t\n",
            "beir": HEADER + "b\tx\t1\na\tx\t2\nb\ty\t3\n",
            "json": '{"b": {"x": 1}, "a": {"x": 2}, "b": {"y": 3}}'}[format]  # fmt: skip
    assert exact(read(Run, text, format=format)) == exact({"b": {"x": 1.0, "y": 3.0}, "a": {"x": 2.0}})


NUMERALS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map("{:.17e}".format),
    st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?(e[+-]?[0-9]{1,2})?", fullmatch=True),
)


@given(st.lists(NUMERALS, min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_a_number_is_what_float_makes_of_it(tmp_path_factory, numerals):
    path = tmp_path_factory.mktemp("numbers") / "file"
    expected = [float(numeral).hex() for numeral in numerals]
    for format, text in (
        ("trec", "".join(f"q Q0 {i} 0 {numeral} t\n" for i, numeral in enumerate(numerals))),
        ("beir", HEADER + "".join(f"q\t{i}\t{numeral}\n" for i, numeral in enumerate(numerals))),
        ("json", '{"q": {' + ", ".join(f'"{i}": {numeral}' for i, numeral in enumerate(numerals)) + "}}"),
    ):
        path.write_text(text)
        assert [score.hex() for score in Run.from_file(path, format=format)["q"].values()] == expected


def beir_rows(text):
    """The textbook reader of BEIR judgments: (query, document, label) of each line, or None if one is wrong."""
    judged = []
    for line in re.sub(r"\r+(\n|\Z)", r"\1", text).split("\n"):
        if not line.strip(" \t\v\f\r"):
            if "\r" in line:
                return None
            continue
        fields = line.rstrip(" \t\v\f").split("\t")
        if len(fields) != 3 or "\r" in line or not re.fullmatch(r"[+-]?[0-9]+(\.0*)?", fields[2]):
            return None
        if any(not field or field.startswith('"') for field in fields[:2]):
            return None
        judged.append((fields[0], fields[1], int(float(fields[2]))))
    return judged


@given(st.lists(st.sampled_from(["q", "q1", "d", " ", "\t", "\t", "\t1\n", "\t2.0\n", "\n", "\r", "\r\n", "#", '"',
                                 "\v", "-3"]), max_size=25))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_beir_lines_are_read_as_the_textbook_does(tmp_path_factory, parts):
    path = tmp_path_factory.getbasetemp() / "textbook.tsv"
    path.write_text(HEADER + "".join(parts), newline="")
    judged = beir_rows("".join(parts))
    if not judged or len({row[:2] for row in judged}) < len(judged):
        with pytest.raises(fastir.FormatError):
            Qrels.from_file(path, format="beir")
    else:
        made = rows(Qrels.from_file(path, format="beir").to_dict())
        assert sorted(made) == sorted(judged)


@UNEVEN
@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
def test_ranx_files():
    """The same collection, as its authors wrote it in each format."""
    folder = SHARED / "data" / "small_formats" / "ranx"
    qrels = [Qrels.from_file(folder / name) for name in ("qrels.json", "qrels.trec", "qrels.trec.gz")]
    runs = [Run.from_file(folder / name) for name in ("run.json", "run.trec", "run.trec.gz")]
    assert qrels[0] == qrels[1] == qrels[2] == Qrels.from_dict(json.loads((folder / "qrels.json").read_bytes()))
    assert runs[0] == runs[1] == runs[2] == Run.from_dict(json.loads((folder / "run.json").read_bytes()))
    values = [fastir.evaluate(folder / f"qrels.{kind}", folder / f"run.{kind}", "ndcg") for kind in ("json", "trec")]
    assert values[0] == values[1]


def test_standard_input_is_of_the_format_that_is_named(monkeypatch):
    for text, options in ((text_of(RUN, "trec"), {}), (text_of(RUN, "json"), {"format": "json"})):
        stdin = types.SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(gzip.compress(text.encode()))))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert exact(Run.from_file("-", **options)) == exact(RUN)
    with pytest.raises(ValueError, match="standard input"):
        Qrels.from_file("-", format="json")


# ---- duplicates ------------------------------------------------------------------------------------------------


TWICE = {
    "trec": ("q Q0 a 0 1 t\nq Q0 b 0 2 t\n\np Q0 a 0 1 t\nq Q0 a 0 9 t\nq Q0 a 0 5 t\n", 5, 1),
    "beir": (HEADER + "q\ta\t1\nq\tb\t2\np\ta\t1\nq\ta\t9\nq\ta\t5\n", 5, 2),
    "json": ('{"q": {"a": 1, "b": 2}, "p": {"a": 1}, "q": {"a": 9, "a": 5}}', None, None),
}


@pytest.mark.parametrize("format", TWICE)
def test_a_document_twice(format, read):
    text, line, first = TWICE[format]
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'a' in query 'q'") as caught:
        read(Run, text, format=format)
    assert (caught.value.line, f"on line {first}" in str(caught.value)) == (line, first is not None)
    for keep, score in (("first", 1.0), ("last", 5.0), ("max", 9.0)):
        run = read(Run, text, format=format, duplicates=keep)
        assert exact(run) == exact({"q": {"a": score, "b": 2.0}, "p": {"a": 1.0}})
        count, place = run._repairs["duplicates"]
        assert count == 2 and place.endswith(f"file:{line}" if line else "file")


def test_a_choice_of_duplicates_that_does_not_exist(read):
    with pytest.raises(ValueError, match=r"duplicates must be one of .*'once', got 'best'"):
        read(Run, "q Q0 a 0 1 t\n", duplicates="best")


# ---- what is wrong ---------------------------------------------------------------------------------------------

WRONG = [  # class, format, text, line, message
    (Qrels, "trec", HEADER + "q\td\t1\n", 1, "BEIR.*pass format='beir'$"),
    (Run, "trec", HEADER + "q\td\t1\n", 1, "BEIR.*pass format='beir'$"),
    (Run, "trec", '{"q": {"d": 1.0}}', 1, "JSON: pass format='json'$"),
    (Run, "trec", '{"q": {"d": 1.0, "e": 2.0, "f": 3.0}}', 1, "is not a number.*JSON: pass format='json'$"),
    (Qrels, "trec", '[\n{"q": 1}]', 1, "JSON: pass format='json'$"),
    (Run, "trec", "q,Q0,d,1,2.0,t\n", 1, "CSV.*pass format='csv'$"),
    (Run, "trec", "q\td\t1\n", 1, "format='msmarco'$"),
    (Qrels, "trec", "q\td\t1\n", 1, "header and format='beir'$"),
    (Qrels, "beir", "q\td\t1\n", 1, r"header is 'q\\td\\t1', expected 'query-id\\tcorpus-id\\tscore'"),
    (Qrels, "beir", "\n" + HEADER + "q\td\t1\n", 1, "header is ''"),
    (Qrels, "beir", "", None, "qrels are empty"),
    (Run, "beir", HEADER, None, "run is empty"),
    (Qrels, "beir", HEADER + "q\td\t1\tmore\n", 2, "BEIR qrels line with 4 fields, expected 3 fields"),
    (Qrels, "beir", HEADER + "\nq\td\n", 3, "with 2 fields"),
    (Qrels, "beir", HEADER + "q d 1\n", 2, "with 1 fields"),
    (Qrels, "beir", HEADER + "q\t\t1\n", 2, "an empty field"),
    (Qrels, "beir", HEADER + "\td\t1\n", 2, "an empty field"),
    (Qrels, "beir", HEADER + "q\td\t\n", 2, "label '' is not a number"),
    (Qrels, "beir", HEADER + "q\td\t0.5\n", 2, r"label '0.5' is not an integer number \(query q, document d\)"),
    (Qrels, "beir", HEADER + "q 1\td 1\tx\n", 2, r"label 'x' is not a number \(query q 1, document d 1\)"),
    (Qrels, "beir", HEADER + "q\td\t1 2\n", 2, r"label '1 2' is not a number \(query q, document d\)"),
    (Qrels, "beir", HEADER + "q\td\t2147483648\n", 2, r"out of range.*\(query q, document d\)"),
    (Run, "beir", HEADER + "q\td\tnan\n", 2, r"score 'nan' .*NaN cannot be ranked \(query q, document d\)"),
    (Run, "beir", HEADER + "q\td\t1e999\n", 2, r"too large for a float \(query q, document d\)"),
    (Run, "beir", HEADER + '"q"\td\t1\n', 2, "quotation mark"),
    (Run, "beir", HEADER + 'q\t"d\t1\n', 2, "quotation mark"),
    (Run, "beir", HEADER + "q\td\0\t1\n", 2, "NUL"),
    (Run, "beir", HEADER + "q\td\rx\t1\n", 2, "carriage return"),
    (Run, "msmarco", "q\td\t1\nq\te\t0.5\n", 2, r"rank '0.5' is not an integer number \(query q, document e\)"),
    (Run, "msmarco", "q\td\t-1\n", 1, r"rank '-1' is negative.*\(query q, document d\)"),
    (Run, "msmarco", "q\td\t2147483648\n", 1, r"rank '2147483648' is out of range"),
    (Run, "msmarco", "q\td\n", 1, "MS MARCO run line with 2 fields, expected 3 fields"),
    (Run, "msmarco", "q 0 7 1 2\n", 1, "MS MARCO run line with 5 fields"),
    (Run, "msmarco", "q Q0 d 1 0.5 t\n", 1, "rank 'd' is not a number"),
    (Run, "msmarco", "#q d 1\n", 1, "starts with '#'"),
    (Run, "json", "", None, "run file is empty"),
    (Run, "json", " \n", None, "run file is empty"),
    (Run, "json", "{}", None, "run is empty"),
    (Qrels, "json", "[1]", None, r"is an array, expected an object \{query_id: \{doc_id: label\}\}"),
    (Run, "json", '{"q": 1}', None, r"query 'q' has a number, expected .*score"),
    (Run, "json", '{"q": [1]}', None, "query 'q' has an array"),
    (Run, "json", '{"q":\n{"d": }}', 2, "malformed JSON at character 7"),
    (Run, "json", '{"q": {"d": 1}}\n{"p": {"d": 1}}', 2, "malformed JSON at character 1"),
    (Run, "json", '{"q": {"d": 1.5', 1, "malformed JSON"),
    (Run, "json", "[" * 100_000, None, "nested too deeply"),
    (Run, "json", '{"q": {"d": 1}}\0', None, "NUL"),
    (Run, "json", '{"q": {"d": 1}}'.encode("utf-16"), None, "UTF-16"),
    (Run, "json", '{"q": {"d": "1"}}', None, r"score '1' is not a number \(query q, document d\)"),
    (Run, "json", '{"q": {"d": null}}', None, r"score null is not a number \(query q, document d\)"),
    (Run, "json", '{"q": {"d": {}}}', None, r"score an object is not a number \(query q, document d\)"),
    (Run, "json", '{"q": {"d": NaN}}', None, r"NaN cannot be ranked \(query q, document d\)"),
    (Run, "json", '{"q": {"c": -Infinity, "d": -1e999}}', None, r"score '-1e999' is too large .*document d\)"),
    (Run, "json", '{"q": {"d": 1%s}}' % ("0" * 400), None, r"too large for a float \(query q, document d\)"),
    (Run, "json", '{"q": {"d": 1%s}}' % ("0" * 5000), None, r"too large for a float \(query q, document d\)"),
    (Qrels, "json", '{"q": {"c": 2, "d": 0.5}}', None, r"label '0.5' is not an integer number \(query q, document d\)"),
    (Qrels, "json", '{"q": {"d": -2147483649}}', None, r"label '-2147483649' is out of range.*document d\)"),
    (Qrels, "json", '{"q": {"d": 2147483648}}', None, r"label '2147483648' is out of range.*document d\)"),
    (Qrels, "json", '{"q": {"d": 1%s}}' % ("0" * 5000), None, r"label '10+'... is out of range.*document d"),
    (Qrels, "json", '{"q": {"d": Infinity}}', None, r"label 'inf' is out of range.*document d"),
    (Qrels, "json", '{"q": {"d": NaN}}', None, r"label 'nan' is not an integer number \(query q, document d\)"),
    (Qrels, "json", '{"%s": {"d": "x"}}' % ("q" * 100_000), None, r"label 'x' is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "format", "text", "line", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_place(cls, format, text, line, message, read, tmp_path):
    with pytest.raises(fastir.FormatError, match=message) as caught:
        read(cls, text, format=format)
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "file"), line)
    assert str(caught.value).startswith(f"{tmp_path / 'file'}:{f'{line}:' if line else ''} ")
    assert len(str(caught.value)) < len(str(tmp_path)) + 500


def test_what_json_may_hold_beyond_plain_scores(read):
    run = read(Run, '\ufeff{"q": {"a": Infinity, "b": -Infinity, "c": true, "d": 3}, "p": {}}', format="json")
    assert exact(run) == exact({"q": {"a": math.inf, "b": -math.inf, "c": 1.0, "d": 3.0}, "p": {}})
    assert list(run._repairs) == ["byte order mark"]
    assert exact(read(Qrels, '{"q": {"a": 1.0, "b": false, "c": -0.0}}', format="json")) == exact(
        {"q": {"a": 1, "b": 0, "c": 0}})  # fmt: skip


# ---- packing ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["isal", "zlib"])
def gzip_by(request, monkeypatch):
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)


LONG = "".join(f"q{number // 1000} Q0 d{number} 0 {number % 1000 / 7} t\n" for number in range(100_000))


def test_gzip_is_unpacked_by_either_library(gzip_by, read):
    assert exact(read(Run, gzip.compress(LONG.encode()))) == exact(read(Run, LONG))
    members = gzip.compress(LONG[:999].encode()) + gzip.compress(LONG[999:].encode())
    assert exact(read(Run, members)) == exact(read(Run, LONG))


@needs_zstd
@pytest.mark.parametrize("first", range(0x50, 0x60))
def test_zstd_of_many_frames(read, first):
    nothing = bytes([first]) + b"\x2a\x4d\x18\x03\0\0\0abc"  # a frame to be skipped, as parallel packers write them
    frames = [zstd.compress(text.encode()) for text in (LONG[:999], LONG[999:])]
    assert exact(read(Run, nothing + frames[0] + nothing + frames[1])) == exact(read(Run, LONG))


def damaged(data):
    """The data cut off or changed in several places."""
    yield from (data[:n] for n in (4, 5, 11, len(data) // 2, len(data) - 1))
    yield data[:1000] + b"1234567890" + data[1010:]
    yield data + b"something"


@pytest.mark.parametrize("suffix", [".txt", ".json"])
def test_damaged_gzip(gzip_by, suffix, read):
    for bad in damaged(gzip.compress(LONG.encode())):
        with pytest.raises(fastir.FormatError, match=f"file{suffix}: the compressed data is damaged or truncated"):
            read(Run, bad, f"file{suffix}")


@needs_zstd
def test_damaged_zstd(read):
    for bad in damaged(zstd.compress(LONG.encode(), options={zstd.CompressionParameter.checksum_flag: 1})):
        with pytest.raises(fastir.FormatError, match="file: the compressed data is damaged or truncated"):
            read(Run, bad)


@pytest.mark.parametrize(("suffix", "what"), [(".gz", "gzip"), (".zst", "zstd")])
def test_a_name_that_promises_packing(suffix, what, read):
    with pytest.raises(fastir.FormatError, match=f"named {suffix} but is not {what} compressed"):
        read(Run, LONG, f"run{suffix}")


def test_zstd_without_its_library(read, tmp_path, monkeypatch):
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    monkeypatch.setitem(sys.modules, module, None)
    parent = sys.modules.get(module.partition(".")[0])
    if hasattr(parent, "zstd"):
        monkeypatch.delattr(parent, "zstd")
    needed = "Python" if sys.version_info >= (3, 14) else "backports.zstd"
    with pytest.raises(fastir.FormatError, match=f"run: zstd compression needs .*{needed}"):
        read(Run, MAGIC[".zst"] + b"1234", "run")
    with pytest.raises(fastir.FormatError, match=f"out.zst: zstd compression needs .*{needed}"):
        Run.from_dict(RUN).save(tmp_path / "out.zst")
    assert os.listdir(tmp_path) == ["run"]


# ---- saving ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("suffix", ["", ".trec", ".json"])
@pytest.mark.parametrize(("cls", "data"), [(Qrels, QRELS), (Run, RUN)])
def test_what_is_saved_reads_back(cls, data, suffix, packing, tmp_path):
    path = tmp_path / f"saved{suffix}{packing}"
    cls.from_dict(data).save(path)
    assert path.read_bytes().startswith(MAGIC[packing])
    assert exact(cls.from_file(path)) == exact(data)
    bytes_before = path.read_bytes()
    cls.from_file(path).save(path, format="json" if suffix == ".json" else "trec")
    assert path.read_bytes() == bytes_before, "the same content gives the same file"
    assert os.listdir(tmp_path) == [path.name]


IDS = st.one_of(st.text(min_size=1, max_size=6), st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1))
RAW = st.binary(min_size=1, max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
LABELS = st.integers(-(2**31), 2**31 - 1)
SCORES = st.floats(allow_nan=False)


def fits_trec(data):
    """Whether lines can hold it: ids without white space, NUL and a '#' that would begin a comment; no empty query."""
    ids = [*data, *(doc for docs in data.values() for doc in docs)]
    fields = all(i and not set(i) & set(" \t\n\v\f\r\0") for i in ids)
    return fields and all(data.values()) and not any(query.startswith("#") for query in data)


@given(
    st.dictionaries(IDS | RAW, st.dictionaries(IDS | RAW, SCORES, max_size=4), min_size=1, max_size=4), st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_any_ids_and_numbers_read_back_or_are_refused(tmp_path_factory, data, judged):
    folder = tmp_path_factory.mktemp("saved")
    cls = Qrels if judged else Run
    if judged:
        data = {q: {d: int(max(-1e9, min(1e9, s))) for d, s in docs.items()} for q, docs in data.items()}
    made = cls.from_dict(data)
    for name, fits in (("saved", fits_trec(data)), ("saved.json", judged or all(map(math.isfinite, (
            score for docs in data.values() for score in docs.values()))))):  # fmt: skip
        if not fits:
            with pytest.raises(ValueError, match=r"^cannot write '.*': .*(id|query|document) "):
                made.save(folder / name)
            assert not os.path.exists(folder / name)
        else:
            try:
                made.save(folder / name)
            except ValueError as error:
                assert "begins like a file of another kind" in str(error) and next(iter(data))[0] in "\ufeff\x1f("
            else:
                assert exact(cls.from_file(folder / name)) == exact(made)
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


@pytest.mark.parametrize(("data", "message"), [
    ({"two words": {"a": 1}}, "query id 'two words'"),
    ({"q": {"fine": 1, "": 1}}, "document id ''"),
    ({"q": {"fine": 1, "a\rb": 1}}, r"document id 'a\\rb'"),
    ({"q": {"a\0": 1}}, r"document id 'a\\x00'"),
    ({"#1": {"a": 1}}, "query id '#1' begins with '#'"),
    ({"fine": {"a": 1}, "empty": {}}, "query 'empty' has no documents"),
    ({"\ufeffq": {"a": 1}}, r"query id '\\ufeffq' begins like a file of another kind"),
    ({"\x1f\udc8b": {"a": 1}}, r"query id '\\x1f\\udc8b' begins like a file of another kind"),
    ({"\ud800": {"a": 1}}, r"query id '\\ud800' holds surrogates"),
])  # fmt: skip
@pytest.mark.parametrize("cls", [Qrels, Run])
def test_what_trec_lines_cannot_hold_is_named(cls, data, message, tmp_path):
    with pytest.raises(ValueError, match=f"^cannot write '.*saved': {message}"):
        cls.from_dict(data).save(tmp_path / "saved")
    assert not os.listdir(tmp_path)
    if "\ud800" not in data:
        cls.from_dict(data).save(tmp_path / "saved.json")
        assert exact(cls.from_file(tmp_path / "saved.json")) == exact(data if cls is Qrels else cls.from_dict(data))


def test_json_cannot_hold_infinity(tmp_path):
    with pytest.raises(ValueError, match=r"JSON has no number for -inf \(query q, document b\)"):
        Run.from_dict({"q": {"a": 1.0, "b": -math.inf}}).save(tmp_path / "saved.json")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("suffix", ["", ".json"])
def test_integer_ids_are_saved_as_their_text(suffix, tmp_path):
    run = Run([7, 10], np.array([0, 1, 2]), [3, -4], np.array([1.0, 2.0]))
    run.save(tmp_path / f"saved{suffix}")
    assert exact(Run.from_file(tmp_path / f"saved{suffix}")) == exact({"7": {"3": 1.0}, "10": {"-4": 2.0}})


def test_the_rank_column_is_true(tmp_path):
    """By score, then by descending id, as trec_eval reads it, whatever the order of the lines."""
    Run.from_dict({"q": {"a": 1.0, "b": 3.0, "é": 1.0, "z": 1.0, "c": 2}}).save(tmp_path / "run")
    lines = [line.split() for line in (tmp_path / "run").read_text("utf-8").splitlines()]
    ranks = [(doc, rank) for _, _, doc, rank, _, _ in lines]
    assert ranks == [("a", "5"), ("b", "1"), ("é", "3"), ("z", "4"), ("c", "2")]


class Stops(Run):
    """A run that cannot be read to its end."""

    def __getitem__(self, query_id):
        if query_id == "stop":
            raise self.error
        return super().__getitem__(query_id)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("suffix", ["", ".json"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), OSError(28, "No space left on device")])
def test_an_error_on_the_way_leaves_what_was_there(error, suffix, packing, tmp_path):
    path = tmp_path / f"saved{suffix}{packing}"
    path.write_text("old")
    run = Stops.from_dict({"q": {"a": 1.0}, "stop": {"a": 1.0}})
    run.error = error
    with pytest.raises(type(error)) as caught:
        run.save(path)
    assert not isinstance(error, OSError) or caught.value.filename == str(path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="modes and special files are those of POSIX")
def test_a_saved_file_is_a_normal_new_file(tmp_path):
    old = os.umask(0o027)
    try:
        Run.from_dict(RUN).save(tmp_path / "run.gz")
    finally:
        os.umask(old)
    assert (tmp_path / "run.gz").stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="modes and special files are those of POSIX")
def test_only_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a regular file"):
            Run.from_dict(RUN).save(tmp_path / name)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights on Windows")
def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real")
    Qrels.from_dict(QRELS).save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real").read_text()) == QRELS


def test_every_format_is_documented():
    from fastir.inputs import formats

    names = {*formats.READERS, *formats.TABLES}
    documented = {cls: {name for name in names if f'"{name}"' in cls.from_file.__doc__} for cls in (Qrels, Run)}
    assert documented == {Qrels: names, Run: names - set(formats.QRELS_ONLY)}
    page = pathlib.Path(__file__).parents[2] / "docs" / "tables.md"
    if page.exists():  # not beside an installed package
        rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
        assert names == {name for name in names if any(f'`"{name}"`' in row.split(" | ")[0] for row in rows)}
