"""A comparison in files: what is shown, and what reads back to an equal one."""

import json
import math

import pytest
from compared_runs import values
from sealed import sealed

import fastir


def test_json_holds_everything_in_its_types():
    found = fastir.compare_scores(values(a=[0.5, 0.5], b=[0.25, 0.25]))
    data = json.loads(found.to_json(per_query=True))
    assert data["runs"] == ["a", "b"] and data["metrics"] == ["score"]
    assert data["pairs"][0]["p_value"] is None and data["pairs"][0]["difference"] == 0.25
    assert data["systems"][0] == {
        "run": "a", "metric": "score", "mean": 0.5, "low": data["systems"][0]["low"],
        "high": data["systems"][0]["high"], "n_queries": 2,
    }  # fmt: skip
    assert data["method"]["test"] == "t" and data["per_query"]["a"]["score"] == {"q0": 0.5, "q1": 0.5}
    assert "per_query" not in json.loads(found.to_json(per_query=False))
    named_by_tuples = fastir.compare_scores({(1, 2): {"q": 0.5, "r": 1.0}, "b": {"q": 0.0, "r": 0.0}})
    assert json.loads(named_by_tuples.to_json())["runs"] == ["(1, 2)", "b"]


def test_frames(three):
    pytest.importorskip("pandas")
    pairs, systems = three.to_pandas(), three.to_pandas(rows="runs")
    assert list(pairs.columns) == list(three.pairs[0]._fields) and len(pairs) == len(three.pairs)
    assert pairs["p_value"].tolist() == [pair.p_value for pair in three.pairs]
    assert systems["mean"].tolist() == [system.mean for system in three.systems]
    with pytest.raises(ValueError, match="rows must be one of 'runs', 'pairs', got 'all'"):
        three.to_pandas("all")


def test_files_hold_what_is_shown(three, tmp_path):
    for suffix, text in (
        (".txt", three.to_table()),
        (".md", three.to_table("markdown")),
        (".html", three.to_table("html")),
        (".tex", three.to_table("latex")),
    ):
        three.save(tmp_path / f"table{suffix}")
        assert (tmp_path / f"table{suffix}").read_text("utf-8") == text
    three.save(str(tmp_path / "all.json"))
    data = json.loads((tmp_path / "all.json").read_text())
    assert data.pop("fastir")["kind"] == "comparison" and data == json.loads(three.to_json(per_query=True))
    three.save(tmp_path / "pairs.tsv")
    _, head, *lines = (line.split("\t") for line in (tmp_path / "pairs.tsv").read_text().splitlines())
    assert head == list(three.pairs[0]._fields)
    assert [float(line[head.index("p_value")]) for line in lines] == [pair.p_value for pair in three.pairs]


def test_a_file_is_written_whole_or_not_at_all(three, tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(ValueError, match="digits"):
        three.save(path, digits=0)
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["old.txt"]
    with pytest.raises(ValueError, match=r"the name must end in \.tsv, \.json, \.parquet, \.txt, \.md, \.html, \.tex"):
        three.save(tmp_path / "x.docx")


@pytest.mark.parametrize("format", ["json", "tsv", "parquet"])
@pytest.mark.parametrize(("scores", "options"), [
    ({"a": [0.1, 0.5, math.nan], "b": [0.3, 0.2, 0.0], "c": [1.0, 0.0, 1 / 3]}, {"correction": "holm"}),
    ({"a": [0.5, 0.5], "b": [0.25, 0.25]}, {"test": "sign", "baseline": "b"}),  # NaN and infinity
    ({"a": [0.5], "b": [0.25]}, {}),
    ({"only": [0.5, 0.25]}, {}),
])  # fmt: skip
def test_a_saved_comparison_reads_back_to_an_equal_one(scores, options, format, tmp_path):
    path = tmp_path / f"comparison.{format}"
    comparison = fastir.compare_scores(values(**scores), **options)
    comparison.save(path)
    found = fastir.Comparison.load(path)
    assert found == comparison
    assert found.method == comparison.method and str(found.pairs) == str(comparison.pairs)
    assert str(found.systems) == str(comparison.systems)
    assert found.values.tobytes() == comparison.values.tobytes()
    assert found.to_table("latex", rows="pairs") == comparison.to_table("latex", rows="pairs")
    with pytest.raises(fastir.FormatError, match="saved comparison, expected results"):
        fastir.load_results(path)


@pytest.mark.parametrize("key", ["runs", "metrics", "systems", "pairs", "method", "query_ids", "per_query"])
def test_a_changed_comparison_is_refused(key, three, tmp_path):
    three.save(tmp_path / "x.json")
    data = json.loads((tmp_path / "x.json").read_text())
    del data[key]
    (tmp_path / "x.json").write_text(json.dumps(data, indent=2))
    with pytest.raises(fastir.FormatError, match=r"x\.json: a saved comparison that was cut or changed: the checksum"):
        fastir.Comparison.load(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(sealed((tmp_path / "x.json").read_bytes()))
    with pytest.raises(fastir.FormatError, match=rf"x\.json: a saved comparison that was cut or changed: .*{key}"):
        fastir.Comparison.load(tmp_path / "x.json")
