"""Files in every format and packing: what is saved reads back exactly, and what is wrong is said with its place."""

import gzip
import io
import json
import re
import sys
import types

import gen
import pytest
from common import UNEVEN
from formatted import QRELS, RUN
from packings import PACKINGS, exact, packed

import fastir
from fastir import Qrels, Run

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies

HEADER = "query-id\tcorpus-id\tscore\n"


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


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["file", "file.tsv", "FILE.JSON"])
@pytest.mark.parametrize("format", ["trec", "beir", "json"])
def test_every_format_is_read_in_every_packing_whatever_its_name(format, name, packing, read):
    for cls, data in ((Qrels, QRELS), (Run, RUN)):
        made = read(cls, packed(text_of(data, format).encode(), packing), name, format=format)
        assert exact(made) == exact(data)
        assert made.columns.repairs == {}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["file.json", "x.trec.JSON"])
def test_json_is_known_by_its_name(name, packing, read):
    assert exact(read(Run, packed(text_of(RUN, "json").encode(), packing), name + packing)) == exact(RUN)


@pytest.mark.parametrize("name", ["file", "run.txt", "run.trec", "run.tsv", "json", "a.json/run"])
def test_any_other_name_is_trec(name, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text_of(RUN, "trec"), "utf-8")
    assert exact(Run.from_file(tmp_path / name)) == exact(RUN)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("head", [HEADER, "\ufeff" + HEADER, HEADER.replace("\n", "\r\n")])
def test_beir_is_known_by_its_header(head, packing, tmp_path):
    qrels, run = tmp_path / f"test.tsv{packing}", tmp_path / f"run.tsv{packing}"
    qrels.write_bytes(packed((head + "q1\ta b\t1\n").encode(), packing))
    run.write_bytes(packed((head + "q1\tx\t2.5\nq1\ta b\t1.5\n").encode(), packing))
    assert Qrels.from_file(qrels).to_dict() == {"q1": {"a b": 1}}
    assert fastir.evaluate(qrels, run, "mrr", convention="trec_eval-9")["mrr"] == 0.5
    with open(qrels, "rb") as one, open(run, "rb") as other:
        assert fastir.evaluate(one, other, "mrr")["mrr"] == 0.5
    with pytest.raises(fastir.FormatError, match="whose format is beir"):
        Run.from_file(run, "trec")


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
    assert fastir.evaluate(tmp_path / f"qrels{suffix}", tmp_path / f"run{suffix}", metrics) == expected


def test_ms_marco_runs_are_ordered_by_rank(read):
    run = read(Run, "q1\tb\t2\nq1\ta\t1\nq2 c 10 0.5\n\n# a word\nq1\tz\t2147483647\nq2 d 0\n", format="msmarco")
    assert exact(run) == exact({"q1": {"b": -2.0, "a": -1.0, "z": -2147483647.0}, "q2": {"c": -10.0, "d": 0.0}})
    assert {kind: count for kind, (count, _) in run.columns.repairs.items()} == {"blank lines": 1, "comment lines": 1}
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


def test_standard_input_is_of_the_format_that_is_named(monkeypatch):
    for text, options in ((text_of(RUN, "trec"), {}), (text_of(RUN, "json"), {"format": "json"})):
        stdin = types.SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(gzip.compress(text.encode()))))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert exact(Run.from_file("-", **options)) == exact(RUN)
    with pytest.raises(ValueError, match="standard input"):
        Qrels.from_file("-", format="json")


WRONG = [  # class, format, text, line, message
    (Qrels, "trec", HEADER + "q\td\t1\n", 1, "BEIR.*whose format is beir$"),
    (Run, "trec", HEADER + "q\td\t1\n", 1, "BEIR.*whose format is beir$"),
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
    (Qrels, "beir", HEADER + "q d 1\n", 2, "with 1 field,"),
    (Qrels, "beir", HEADER + "q\t\t1\n", 2, "an empty field"),
    (Qrels, "beir", HEADER + "\td\t1\n", 2, "an empty field"),
    (Qrels, "beir", HEADER + "q\td\t\n", 2, "label '' is not a number"),
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
    (Run, "json", '{"q": [1.5]}', None, "the document id at rank 1 of query 'q' is 1.5"),
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
    (Qrels, "json", '{"q": {"d": -2147483649}}', None, r"label '-2147483649' is out of range.*document d\)"),
    (Qrels, "json", '{"q": {"d": 2147483648}}', None, r"label '2147483648' is out of range.*document d\)"),
    (Qrels, "json", '{"q": {"d": 1%s}}' % ("0" * 5000), None, r"label '10+'... is out of range.*document d"),
    (Qrels, "json", '{"q": {"d": Infinity}}', None, r"label 'inf' is out of range.*document d"),
    (Qrels, "json", '{"q": {"d": NaN}}', None, r"label 'nan' is not a number \(query q, document d\)"),
    (Qrels, "json", '{"%s": {"d": "x"}}' % ("q" * 100_000), None, r"label 'x' is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "format", "text", "line", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_place(cls, format, text, line, message, read, tmp_path):
    with pytest.raises(fastir.FormatError, match=message) as caught:
        read(cls, text, format=format)
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "file"), line)
    assert str(caught.value).startswith(f"{tmp_path / 'file'}:{f'{line}:' if line else ''} ")
    assert len(str(caught.value)) < len(str(tmp_path)) + 500


@pytest.mark.parametrize("behind", ["", " t" + 80 * "x"], ids=["read byte by byte", "read by masks"])
@pytest.mark.parametrize("rank", ["2nd", "2-a", "1x", "12345678x", "1234567890123456x", "1234567890123456789x", "x1"])
def test_a_rank_that_only_begins_as_a_number_is_an_error(rank, behind):
    rows = f"q Q0 my {rank} 3.5 tag{behind}\n".encode()
    with pytest.raises(fastir.FormatError, match=rf"2: rank '{rank}' is not a number \(query q, document my\)"):
        Run.from_file(io.BytesIO(b"q Q0 d 1 4 tag\n" + rows + 99 * b"q Q0 e 3 1 tag\n"))


@pytest.mark.parametrize("rank", ["0", "7", "+7", "-7", "7.5", "1e3", "12345678", "123456789", "12345678901234567890"])
def test_any_number_is_a_rank(rank):
    rows = [
        f"q Q0 d{place} {rank}{blanks}{place}.5 tag" + place % 3 * 30 * "x" for place, blanks in enumerate(" \t" * 20)
    ]
    run = Run.from_file(io.BytesIO("\n".join(rows).encode()))
    assert run.to_dict() == {"q": {f"d{place}": place + 0.5 for place in range(40)}}
