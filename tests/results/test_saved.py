"""Results in files: an equal object comes back from each format, and a file that was cut or changed is refused."""

import json
import math

import numpy as np
import pytest

import fastir
from fastir.errors import FormatError
from fastir.results.report import Report
from fastir.results.results import Results
from fastir.results.saved_files import BATCH, is_saved
from fastir.text import tsv_text

FORMATS = ("json", "tsv", "parquet")
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q2": {"y": 1.0, "c": 0.1}, "q3": {"d": 1.0}, "q5": {"z": 1.0}}
METRICS = ["nDCG@10", "map", "num_ret", "gm_map", "rbp(p=0.5)"]
OPTIONS = {
    "plain": {},
    "convention": {"convention": "ir_measures"},
    "nan": {"convention": "ranx", "queries": "qrels", "empty": "nan"},
    "options": {"rel_level": 2, "max_depth": 2, "ties": "input", "gain": "exp2"},
    "weights": {"weights": {"q1": 0.1, "q2": 1 / 3, "q3": 5, "q4": 0, "unknown": 1}},
}


def same(found, results):
    assert found == results and type(found) is type(results)
    assert found.report == results.report
    assert found.provenance == results.provenance
    assert dict(found.items()) == pytest.approx(dict(results.items()), rel=0, abs=0, nan_ok=True)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_results_read_back_to_an_equal_object(format, options, tmp_path):
    path = tmp_path / f"results.{format}"
    results = fastir.evaluate(QRELS, RUN, METRICS, **options)
    results.save(path)
    assert is_saved(path)
    same(Results.load(path), results)
    same(fastir.load_results(str(path)), results)


@pytest.mark.parametrize("format", FORMATS)
def test_results_of_several_runs_read_back(format, tmp_path):
    path = tmp_path / f"results.{format}"
    runs = {"one": RUN, "odd\tname": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}
    results = fastir.evaluate_many(QRELS, runs, METRICS, queries="intersection")
    results.save(path)
    found = fastir.load_results(path)
    assert type(found) is fastir.ResultsByRun and list(found) == list(runs)
    for name in runs:
        same(found[name], results[name])
    with pytest.raises(FormatError, match="saved results by run, expected results of one run"):
        Results.load(path)


@pytest.mark.parametrize("format", FORMATS)
def test_integer_queries_stay_integers(format, tmp_path):
    results = fastir.evaluate_ranked([1, 0, 0, 2], [0, 2, 4], ["ndcg@2", "mrr"])
    results.save(tmp_path / f"x.{format}")
    same(Results.load(tmp_path / f"x.{format}"), results)
    assert Results.load(tmp_path / f"x.{format}").query_ids == [0, 1]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("query_id", ["", "#", "# fastir", 'a"b', "a\tb", "a\r\nb", "\u2028", "query_id", "é"])
def test_any_id_and_any_number_read_back(query_id, format, tmp_path):
    values = np.array([[5e-324, -0.0], [1.7976931348623157e308, math.nan], [0.1 + 0.2, 1 / 3]])
    results = Results([query_id, "b", "c"], ["map", "mrr"], values, np.zeros(3, np.uint8), ["mean", "mean"], Report())
    results.save(tmp_path / f"x.{format}")
    found = Results.load(tmp_path / f"x.{format}")
    assert found.query_ids == [query_id, "b", "c"]
    assert found.values.tobytes() == np.ascontiguousarray(values).tobytes()


@pytest.mark.parametrize("queries", [0, 1, 3, BATCH + 1])
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
    assert (tmp_path / "one.json").read_text() == results.to_json()
    assert (tmp_path / "more.json").read_text() == json.dumps(more, indent=2) + "\n"
    results.save(tmp_path / "one.tsv")
    rows = zip(ids, *(map(repr, column.tolist()) for column in values.T), strict=True)
    table = tsv_text([["query_id", *names], *rows])
    assert (tmp_path / "one.tsv").read_bytes().partition(b"\n")[2] == table.encode("utf-8", "surrogateescape")


def test_the_head_says_where_the_numbers_come_from(tmp_path):
    fastir.Qrels.from_dict(QRELS).save(tmp_path / "qrels.txt")
    fastir.Run.from_dict(RUN).save(tmp_path / "my.run")
    options = {"convention": "lightgbm", "rel_level": 2, "queries": "qrels"}
    fastir.evaluate(tmp_path / "qrels.txt", tmp_path / "my.run", ["NDCG@5"], **options).save(tmp_path / "x.json")
    head = json.loads((tmp_path / "x.json").read_text())["fastir"]
    assert head["version"] == fastir.__version__
    assert head["provenance"]["convention"]["name"] == "lightgbm"
    assert head["provenance"]["options"] == {"rel_level": 2}
    assert head["provenance"]["metrics"] == {"NDCG@5": "ndcg(gain=exp2, ideal=retrieved, empty=one)@5"}
    sizes = {name: (tmp_path / name).stat().st_size for name in ("qrels.txt", "my.run")}
    assert head["provenance"]["inputs"] == {
        "qrels": {"name": "qrels.txt", "bytes": sizes["qrels.txt"]},
        "run": {"name": "my.run", "bytes": sizes["my.run"]},
    }
    assert head["status"] == {"missing": ["q4"], "no_relevant": ["q2", "q3"]}
    assert head["report"]["only_in_run"] == 1


def damaged():
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
        ("another status", ("fastir", "status", "missing"), ["q9"]),
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


@pytest.mark.parametrize(("what", "data"), list(damaged()), ids=lambda value: value if isinstance(value, str) else "")
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
    with pytest.raises(FormatError, match="its metrics are num_ret, map, those of its head map, num_ret"):
        Results.load(path)


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_file_is_refused_at_every_byte(format, tmp_path):
    path = tmp_path / f"x.{format}"
    fastir.evaluate(QRELS, RUN, METRICS[:2], queries="qrels").save(path)
    whole = path.read_bytes()
    # the last characters of a TSV file may be digits of a number, which nobody can miss, or its end of line
    end = len(whole) - (0 if format == "parquet" else 2 if format == "json" else len(whole.splitlines()[-1]))
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
        with pytest.raises(
            ValueError, match=rf"cannot save {what} as .*out.doc': the name must end in .tsv, .* or .csv"
        ):
            made.save(tmp_path / "out.doc")
        with pytest.raises(ValueError, match=r"the name must end in .txt, .md, .html, .tex or .csv"):
            made.save(tmp_path / "out.json", digits=2)
    assert not list(tmp_path.iterdir())
