"""Results in files: an equal object comes back from each format, and a file that was cut or changed is refused."""

import json
import math

import numpy as np
import pytest

import fastir
from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.data.results.saved_files import is_saved

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
    assert head["status"] == "ennm"
    assert head["report"]["only_in_run"] == 1


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("query_id", ["x" * 200_000, '"' * 200_000, "a\r\n\t" * 50_000, '"a"\n"b"\tc'])
def test_ids_of_any_length_read_back(query_id, format, tmp_path):
    results = fastir.evaluate({query_id: {"a": 1}, "b": {"a": 1}}, {query_id: {"a": 1}, "b": {"a": 1}}, "map")
    results.save(tmp_path / f"x.{format}")
    same(Results.load(tmp_path / f"x.{format}"), results)
