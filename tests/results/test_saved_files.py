"""The files of saved results: what they hold, and that a changed or cut one is refused."""

import json
import math
import random
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from sealed import sealed, sealed_parquet

import fastir
from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.data.results.saved_files import BATCH_ROWS, is_saved
from fastir.errors import FormatError
from fastir.rendering.text import tsv_text

NO_ARROW = pytest.mark.skipif(find_spec("pyarrow") is None, reason="could not import 'pyarrow'")
FORMATS = ("json", "tsv", pytest.param("parquet", marks=NO_ARROW))
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q2": {"y": 1.0, "c": 0.1}, "q3": {"d": 1.0}, "q5": {"z": 1.0}}
METRICS = ["nDCG@10", "map", "num_ret", "gm_map", "rbp(p=0.5)"]


@pytest.mark.parametrize("queries", [0, 1, 3, BATCH_ROWS + 1])
@pytest.mark.parametrize("names", [["map"], ["a\tb", 'a"b', "é"]])
def test_a_file_is_what_the_standard_library_would_write(queries, names, tmp_path):
    rng = np.random.default_rng(20)
    values = rng.choice([0.0, 1.0, 1 / 3, math.nan, 1e-7, 1e22], (queries, len(names)))
    ids = [f"{row}{rng.choice(['', 'é', chr(9), '{', chr(0xDC80)])}" for row in range(queries)]
    results = Results(ids, names, values, np.zeros(queries, np.uint8), ["mean"] * len(names), Report())
    runs = fastir.ResultsByRun(one=results, two=results)
    results.save(tmp_path / "one.json")
    runs.save(tmp_path / "more.json")
    more = {"fastir": json.loads((tmp_path / "more.json").read_text())["fastir"]}
    more["runs"] = {name: json.loads(own.to_json()) for name, own in runs.items()}
    for own in more["runs"].values():
        del own["fastir"]["crc32"]  # the whole file has one
    assert (tmp_path / "one.json").read_text() == results.to_json()
    assert (tmp_path / "more.json").read_text() == json.dumps(more, indent=2) + "\n"
    results.save(tmp_path / "one.tsv")
    rows = zip(ids, *(map(repr, column.tolist()) for column in values.T), strict=True)
    table = tsv_text([["query_id", *names], *rows])
    assert (tmp_path / "one.tsv").read_bytes().partition(b"\n")[2] == table.encode("utf-8", "surrogateescape")


def damage():
    """(what is wrong, the changed JSON) of every part of a saved file."""
    data = fastir.evaluate(QRELS, RUN, METRICS[:3], queries="qrels").to_json()
    whole, data = data, json.loads(data)
    for key in data["fastir"]:
        if key not in ("version", "provenance"):
            changed = json.loads(whole)
            del changed["fastir"][key]
            yield f"no {key}", changed
    for key in data:
        changed = json.loads(whole)
        del changed[key]
        yield f"no {key}", changed
    for what, place, value in (
        ("another mean", ("mean", "map"), 0.25),
        ("another value", ("per_query", "q1", "map"), 0.25),
        ("a query less", ("per_query",), {"q1": data["per_query"]["q1"]}),
        ("a value of a text", ("per_query", "q1", "map"), "x"),
        ("another status", ("fastir", "status"), "x" * len(data["per_query"])),
        ("a status too many", ("fastir", "status"), "e" * (len(data["per_query"]) + 1)),
        ("another aggregate", ("fastir", "aggregates"), {"map": "mean"}),
        ("an unknown choice", ("fastir", "provenance", "convention", "taste"), "good"),
        ("an odd kind", ("fastir", "kind"), "comparison"),
    ):
        changed = json.loads(whole)
        inner = changed
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        yield what, changed


@pytest.mark.parametrize(("what", "data"), list(damage()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_changed_file_is_refused(what, data, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(data))
    with pytest.raises(FormatError, match=r"x\.json"):
        Results.load(tmp_path / "x.json")


def test_columns_that_changed_places_are_refused(tmp_path):
    path = tmp_path / "x.tsv"
    fastir.evaluate(QRELS, RUN, ["map", "num_ret"], queries="qrels").save(path)
    text = path.read_text()
    assert text.count("query_id\tmap\tnum_ret") == 1
    path.write_text(text.replace("query_id\tmap\tnum_ret", "query_id\tnum_ret\tmap"))
    with pytest.raises(FormatError, match=r"x\.tsv: saved results that were cut or changed: the checksum does not"):
        Results.load(path)
    path.write_bytes(sealed(path.read_bytes()))
    with pytest.raises(FormatError, match="its metrics are num_ret, map, those of its head map, num_ret"):
        Results.load(path)


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_file_is_refused_at_every_byte(format, tmp_path):
    path = tmp_path / f"x.{format}"
    fastir.evaluate(QRELS, RUN, METRICS[:2], queries="qrels").save(path)
    whole = path.read_bytes()
    end = len(whole) - (format != "parquet")  # the line break at the end says nothing
    for size in {*range(0, end, max(1, end // 60)), whole[:end].rfind(b"\n"), end - 1}:
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            fastir.load_results(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "query_id\tmap\nq\t1\n", '{"fastir": 1}', '{"q": {"d": 1}}'])
@pytest.mark.parametrize("format", FORMATS)
def test_other_files_are_refused(text, format, tmp_path):
    (tmp_path / f"x.{format}").write_text(text)
    with pytest.raises(FormatError):
        fastir.load_results(tmp_path / f"x.{format}")
    assert not is_saved(tmp_path / f"x.{format}")


# ---- checksums -------------------------------------------------------------------------------------------------------
@pytest.fixture(params=["results", "runs", "comparison"])
def made(request):
    """Each thing that is saved in these formats."""
    runs = {"one": RUN, "two": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastir.FastirWarning)
        if request.param == "results":
            weights = {"q1": 0.5, "q2": 1, "q3": 2, "q4": 3}
            return fastir.evaluate(QRELS, RUN, METRICS[:2], queries="qrels", weights=weights)
        if request.param == "runs":
            return fastir.evaluate_many(QRELS, runs, METRICS[:2], queries="qrels")
        pytest.importorskip("scipy")
        segments = {"q1": "s", "q2": "s", "q3": "t", "q4": "t"}
        return fastir.compare(QRELS, runs, METRICS[1], segments=segments, queries="qrels")


@pytest.fixture
def load(made):
    """What reads it."""
    return fastir.Comparison.load if isinstance(made, fastir.Comparison) else fastir.load_results


ON_ALL = pytest.mark.parametrize("format", FORMATS)


def is_refused(path, load):
    """Whether a file is a FormatError that names it; it ends in nothing else but an object."""
    try:
        load(path)
    except FormatError as error:
        assert error.path == str(path)
        return True
    return False


@ON_ALL
def test_no_changed_byte_is_read_as_other_numbers(made, load, format, tmp_path):
    """Some bytes of Parquet are of no value, and some digits of JSON leave the same number: then it is what it was."""
    path = tmp_path / f"x.{format}"
    made.save(path)
    whole, rng = path.read_bytes(), random.Random(format)
    assert load(path) == made
    places = [place for place in range(len(whole)) if whole[place : place + 1].isdigit()]
    places = rng.sample(places, min(len(places), 150)) + rng.sample(range(len(whole) - 1), 100)
    for place in places:
        changed = bytearray(whole)
        changed[place] = rng.choice([each for each in (*b"0123456789", changed[place] ^ 1) if each != whole[place]])
        path.write_bytes(changed)
        if not is_refused(path, load):
            assert format != "tsv" and load(path) == made, (place, whole[place - 20 : place + 20])


@ON_ALL
def test_no_cut_is_read(made, load, format, tmp_path):
    path = tmp_path / f"x.{format}"
    made.save(path)
    whole = path.read_bytes()
    last = len(whole) - (format != "parquet")
    for size in {*range(max(0, last - 40), last), *range(0, last, max(1, last // 40))}:
        path.write_bytes(whole[:size])
        assert is_refused(path, load), size


@pytest.mark.parametrize("format", ["json", "tsv"])
def test_what_editors_do_to_the_ends_of_lines_is_no_change(made, load, format, tmp_path):
    path = tmp_path / f"x.{format}"
    made.save(path)
    whole = path.read_bytes()
    for content in (whole + b"\n", whole + b"\r\n\n", whole + b"\r", whole[:-1], whole.replace(b"\n", b"\r\n")):
        path.write_bytes(content)
        assert load(path) == made
    path.write_bytes(whole + b" \t.")
    assert is_refused(path, load)


@pytest.mark.parametrize("format", ["json"])
def test_json_may_be_laid_out_anew(made, load, format, tmp_path):
    path = tmp_path / "x.json"
    made.save(path)
    data = json.loads(path.read_text())
    for options in ({}, {"indent": 4}, {"separators": (",", ":")}, {"ensure_ascii": False}):
        text = json.dumps(data, **options)
        path.write_text(text)
        assert load(path) == made
        assert '"version":' in text
        path.write_text(text.replace('"version":', '"version": "0", "version":'))
        assert is_refused(path, load)
    path.write_text(json.dumps(data, sort_keys=True))
    assert is_refused(path, load)


@pytest.mark.parametrize("number", [0, 2])
@ON_ALL
def test_another_format_is_refused_by_its_number(made, load, format, number, tmp_path):
    path = tmp_path / f"x.{format}"
    made.save(path)
    if format == "parquet":
        table = parquet_of(path)
        path.write_bytes(sealed_parquet(table, {**json.loads(table.schema.metadata[b"fastir"]), "format": number}))
    else:
        content = path.read_bytes()
        path.write_bytes(sealed(content.replace(b'"format": 1', b'"format": %d' % number, 1)))
    with pytest.raises(
        FormatError, match=rf"x\.{format}: saved .* in the format {number}, written by fastir '.*reads format 1"
    ):
        load(path)


@ON_ALL
def test_other_versions_of_fastir_wrote_the_same_format(made, load, format, tmp_path):
    path = tmp_path / f"x.{format}"
    made.save(path)
    if format == "parquet":
        table = parquet_of(path)
        path.write_bytes(sealed_parquet(table, {**json.loads(table.schema.metadata[b"fastir"]), "version": "99.0"}))
    else:
        own = f'"version": "{fastir.__version__}"'.encode()
        path.write_bytes(sealed(path.read_bytes().replace(own, b'"version": "99.0"', 1)))
    assert load(path) == made


def parquet_of(path):
    from pyarrow import parquet

    return parquet.ParquetFile(path).read()


@pytest.mark.parametrize("change", ["order", "narrow", "text", "name", "value", "ids"])
def test_another_table_under_the_same_head_is_refused(change, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    values = np.array([[0.5, 0.25], [1.0, 0.75]])
    Results(["a", "b"], ["map", "mrr"], values, np.zeros(2, np.uint8), ["mean"] * 2, Report()).save(path)
    table = parquet_of(path)
    changed = {
        "order": lambda: table.take([1, 0]),
        "narrow": lambda: table.set_column(1, "map", table["map"].cast(pyarrow.float32())),
        "text": lambda: table.set_column(1, "map", table["map"].cast(pyarrow.string())),
        "name": lambda: table.rename_columns(["query_id", "map", "map"]),
        "value": lambda: table.set_column(1, "map", pyarrow.array([0.5, 0.5])),
        "ids": lambda: table.set_column(0, "query_id", pyarrow.array(["", "ab"])),
    }[change]()
    pyarrow.parquet.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
    assert is_refused(path, fastir.load_results)


def heads():
    """(what, how the head of a file is changed) of heads that have the right checksum, and make no sense."""
    yield "a weight of another query", lambda head: head.update(weights=[["q9", 1.0]])
    yield "a query without a weight", lambda head: head.update(weights=[["q1", 1.0]])
    yield "a weight that is no number", lambda head: head.update(weights=[["q1", "x"]])
    yield "weights of another shape", lambda head: head.update(weights=[[1, 2, 3]])
    yield "an average that is no text", lambda head: head.update(aggregates=dict.fromkeys(head["aggregates"], 7))
    yield "an unknown average", lambda head: head.update(aggregates=dict.fromkeys(head["aggregates"], "median"))
    yield "no averages", lambda head: head.update(aggregates=[])
    yield "a report of another kind", lambda head: head.update(report=[1])
    yield "a status of another query", lambda head: head.update(status={"missing": ["q9"]})
    yield "statuses of another kind", lambda head: head.update(status={"missing": 5})
    yield "queries that are none", lambda head: head.update(queries="4")
    yield "another place", lambda head: head.update(provenance=3)
    yield "ids that are no integers", lambda head: head.update(integers=True)


def test_weights_that_lack_a_query_are_refused_as_such(tmp_path):
    path = tmp_path / "x.json"
    fastir.evaluate(QRELS, RUN, METRICS[:2], queries="qrels", weights=dict.fromkeys(QRELS, 2.0)).save(path)
    data = json.loads(path.read_text())
    del data["fastir"]["weights"][0]
    path.write_bytes(sealed(json.dumps(data, indent=2).encode()))
    with pytest.raises(fastir.FormatError, match="a query has no weight"):
        fastir.load_results(path)


@pytest.mark.parametrize("format", ["json", "tsv"])
@pytest.mark.parametrize("change", [change for _, change in heads()], ids=[what for what, _ in heads()])
def test_a_head_without_sense_is_a_format_error(change, format, tmp_path):
    path = tmp_path / f"x.{format}"
    fastir.evaluate(QRELS, RUN, METRICS[:2], queries="qrels").save(path)
    first, _, rest = path.read_text().partition("\n")
    if format == "tsv":
        head = json.loads(first.removeprefix("# fastir "))
        change(head)
        text = f"# fastir {json.dumps(head)}\n{rest}"
    else:
        data = json.loads(path.read_text())
        change(data["fastir"])
        text = json.dumps(data, indent=2)
    path.write_bytes(sealed(text.encode()))
    assert is_refused(path, fastir.load_results)


@pytest.mark.parametrize("text", [
    '# fastir {"kind": ' + "[" * 100_000 + "\n",
    '{"fastir": ' + "[" * 100_000,
    "# fastir " + json.dumps({"kind": "results", "crc32": "00000000"}) + '\nquery_id\tmap\n"q\t1\n',
    "# fastir " + json.dumps({"kind": "results", "crc32": "00000000"}) + '\nquery_id\tmap\nq"x"\t1\n',
    "# fastir " + json.dumps({"kind": "results by run", "crc32": "00000000", "runs": 3}) + "\nrun\tmap\n",
    "# fastir " + json.dumps({"kind": "results"}) + "\nquery_id\tmap\nq\t1\n",
    '{"fastir": {"kind": "results", "crc32": 12}}',
    '{"fastir": {"kind": "results by run", "crc32": "00000000"}, "runs": {"a": 1}}',
])  # fmt: skip
def test_odd_files_are_format_errors(text, tmp_path):
    path = tmp_path / "x.tsv"
    for content in (text.encode(), sealed(text.encode())):
        path.write_bytes(content)
        assert is_refused(path, fastir.load_results)


TABLES = {".txt": "text", ".md": "markdown", ".html": "html", ".tex": "latex", ".csv": "csv"}


@pytest.mark.parametrize("suffix", TABLES)
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_the_end_of_the_name_may_be_that_of_a_table(tmp_path, suffix):
    results = fastir.evaluate(QRELS, RUN, METRICS)
    runs = fastir.Evaluator(QRELS, METRICS).evaluate_many({"a": RUN, "b": QRELS})
    for made, options in ((results, {}), (results, {"per_query": True}), (runs, {}), (runs, {"transpose": True})):
        made.save(tmp_path / f"out{suffix}", **options)
        assert (tmp_path / f"out{suffix}").read_text() == made.to_table(TABLES[suffix], **options)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_other_names_are_refused(tmp_path):
    results = fastir.evaluate(QRELS, RUN, METRICS)
    runs = fastir.Evaluator(QRELS, METRICS).evaluate_many({"a": RUN})
    for made, what in ((results, "results"), (runs, "results by run")):
        with pytest.raises(ValueError, match=rf"cannot save {what} as .*out.doc': the name must end in .tsv, .* .csv"):
            made.save(tmp_path / "out.doc")
        with pytest.raises(ValueError, match=r"the name must end in .txt, .md, .html, .tex or .csv"):
            made.save(tmp_path / "out.json", digits=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("number", [0, 2, "1", None])
def test_a_file_of_another_format_is_refused_whatever_its_checksum_says(format, number, tmp_path):
    path = tmp_path / f"x.{format}"
    fastir.evaluate(QRELS, RUN, "map", queries="qrels").save(path)
    if format == "parquet":
        from pyarrow import parquet

        table = parquet.read_table(path)
        head = json.loads(table.schema.metadata[b"fastir"])
        path.write_bytes(sealed_parquet(table, {**head, "format": number}))
    else:
        content = path.read_bytes()
        assert content.count(b'"format": 1') == 1
        path.write_bytes(sealed(content.replace(b'"format": 1', b'"format": ' + json.dumps(number).encode())))
    with pytest.raises(FormatError, match=r"in the format .*reads format 1"):
        fastir.load_results(path)


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "x.tsv"
    fastir.evaluate(QRELS, RUN, ["map", "num_ret"], queries="qrels").save(path)
    content = path.read_bytes().replace(b"\nquery_id\tmap\tnum_ret\n", b"\nquery_id\tmap\tmap\n")
    path.write_bytes(sealed(content))
    with pytest.raises(FormatError, match="two columns have one name"):
        fastir.load_results(path)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"status": ""', '"status": "e"', "expected the status of each of 2 queries, got 'e'"),
    ('"status": ""', '"status": "ex"', "expected the status of each of 2 queries, got 'ex'"),
    ('"status": ""', '"status": "e\\u00e9"', "expected the status of each of 2 queries"),
    ('"status": ""', '"status": {}', "cut or changed"),
    ('"queries": 2', '"queries": 3', "2 rows of values, expected one for each of 3 queries"),
    ("\nq2\t", "\nq1\t", "2 rows of values, expected one for each of 2 queries"),
])  # fmt: skip
def test_a_sealed_file_whose_parts_do_not_fit_is_refused(old, new, message, tmp_path):
    path = tmp_path / "x.tsv"
    fastir.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"a": 1}}, "map").save(path)
    text = path.read_text()
    assert text.count(old) == 1
    path.write_bytes(sealed(text.replace(old, new).encode()))
    with pytest.raises(FormatError, match=message):
        fastir.load_results(path)


@pytest.mark.parametrize("format", FORMATS)
def test_statuses_read_back(format, tmp_path):
    rng = np.random.default_rng(0)
    for n in (1, 2, 63, 300):
        for codes in (np.zeros(n, np.uint8), rng.integers(0, 3, n).astype(np.uint8), np.full(n, 2, np.uint8)):
            ids = list(map(str, range(n)))
            results = Results(ids, ["map"], rng.random((n, 1)), codes, ["mean"], Report())
            results.save(tmp_path / f"x.{format}")
            assert fastir.load_results(tmp_path / f"x.{format}").status == results.status
