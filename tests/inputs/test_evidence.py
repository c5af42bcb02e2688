"""Sets of evidence and hops from dicts, files and tables: they read back, and a bad one is named."""

import json
import pickle

import numpy as np
import pytest

import fastir
from fastir.cli.main import main

SETS = {"q1": [["a", "b"], ["c"]], "q2": [["a", "c", "d"]], "q3": [["e"], ["e", "f"], ["a"]]}
RUN = {"q1": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 3.0, "y": 2.0, "a": 1.0}, "q3": {"x": 2.0, "e": 1.0}}
METRICS = {"sets": ["evidence_recall", "evidence_found", "evidence_chain@3", "evidence_mrr"], "hops": ["hop_recall@2"]}
MAKE = {"sets": fastir.Qrels.from_sets, "hops": fastir.Qrels.from_hops}


@pytest.mark.parametrize("kind", ["sets", "hops"])
def test_files_pickles_and_tables_read_back(tmp_path, kind):
    qrels = MAKE[kind](SETS)
    path = str(tmp_path / "qrels.txt")
    qrels.save(path)
    name = "evidence" if kind == "sets" else "hops"
    expected = fastir.evaluate(qrels, RUN, METRICS[kind]).values
    for again in (
        fastir.Qrels.from_file(path, name),
        pickle.loads(pickle.dumps(qrels)),
        fastir.Qrels.from_table(qrels.to_pandas()),
        fastir.Qrels.from_table(qrels.to_arrow()),
        MAKE[kind](getattr(qrels, kind)),
    ):
        assert again == qrels and getattr(again, kind) == SETS
        assert np.array_equal(fastir.evaluate(again, RUN, METRICS[kind]).values, expected)
    part = qrels.filter(queries=["q3", "q1"])
    assert getattr(part, kind) == {query: SETS[query] for query in ("q1", "q3")}
    assert part == MAKE[kind](getattr(part, kind)) != qrels
    with pytest.raises(ValueError, match="format must be one of"):
        qrels.save(path, "json")


def test_a_column_of_a_table_has_the_sets(tmp_path):
    rows = [("q2", "a", "x"), ("q1", "a", "1"), ("q1", "b", "1"), ("q2", "c", "x"), ("q1", "a", "2"), ("q2", "d", "x")]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("query_id", "doc_id", "evidence"))}
    expected = fastir.Qrels.from_sets({"q2": [["a", "c", "d"]], "q1": [["a", "b"], ["a"]]})
    labelled = {**columns, "label": [1, 1, 1, 1, 1, 1]}
    named = {**{name: columns[name] for name in ("query_id", "doc_id")}, "part": columns["evidence"]}
    (tmp_path / "t.csv").write_text("query_id,doc_id,set\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows))
    records = [dict(zip(("query_id", "doc_id", "set"), row, strict=True)) for row in rows]
    (tmp_path / "t.json").write_text(json.dumps(records))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    frame = pytest.importorskip("pandas").DataFrame(
        {name: [row[place] for row in rows] for place, name in enumerate(("query_id", "doc_id", "set"))}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    for qrels in (
        fastir.Qrels.from_table(frame),
        fastir.Qrels.from_table(columns),
        fastir.Qrels.from_table(labelled),
        fastir.Qrels.from_table(columns, label=1),
        fastir.Qrels.from_table({**labelled, "label": [5, 1, 2, 3, 4, 5]}, threshold=1),
        fastir.Qrels.from_table(named, columns={"set": "part"}),
        *(fastir.Qrels.from_file(tmp_path / name) for name in ("t.csv", "t.json", "t.jsonl", "t.parquet", "t.feather")),
    ):
        assert qrels == expected and qrels.query_ids == ["q2", "q1"]
    hops = fastir.Qrels.from_table({**{name: columns[name] for name in ("query_id", "doc_id")}, "hop": [1] * 6},
                                   duplicates="first")  # fmt: skip
    assert hops.hops == {"q2": [["a", "c", "d"]], "q1": [["a", "b"]]}
    with pytest.raises(fastir.DuplicateError, match="set 'x': qrels: duplicate document 'a' in query 'q2'"):
        fastir.Qrels.from_table({name: [*column, column[0]] for name, column in columns.items()})
    with pytest.raises(ValueError, match="no column 'part'"):
        fastir.Qrels.from_table(columns, columns={"set": "part"})


def test_labels_below_1_are_in_no_set(tmp_path):
    """A query without members has no sets: 0, or what `empty` says."""
    (tmp_path / "e.txt").write_text("q1 s a 1\nq1 s b 0\nq1 t c 2\nq1 none a 0\nq2 s a 0\n")
    qrels = fastir.Qrels.from_file(tmp_path / "e.txt", "evidence")
    assert qrels.sets == {"q1": [["a"], ["c"]], "q2": []}
    assert qrels.to_dict() == {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 0}}
    run = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 1.0}}
    found = fastir.evaluate(qrels, run, ["evidence_mrr", "evidence_mrr(empty=one)", "evidence_chain(empty=skip)"])
    assert found.per_query("evidence_mrr") == {"q1": 0.5, "q2": 0.0}
    assert found["evidence_mrr(empty=one)"] == 0.75 and found["evidence_chain(empty=skip)"] == 1.0
    qrels.save(tmp_path / "again.txt")
    again = fastir.Qrels.from_file(tmp_path / "again.txt", "evidence")
    assert again.sets == qrels.sets and again.to_dict() == qrels.to_dict()
    (tmp_path / "none.txt").write_text("q1 s a 0\n")
    none = fastir.Qrels.from_file(tmp_path / "none.txt", "evidence")
    assert fastir.evaluate(none, run, METRICS["sets"], queries="qrels").values.tolist() == [[0.0] * 4]


def test_integer_ids_and_python_sets_are_taken():
    qrels = fastir.Qrels.from_sets({1: [{11, 12}, (13,)]})
    assert qrels.sets == {1: [[11, 12], [13]]}
    assert fastir.evaluate(qrels, {1: {13: 1.0, 12: 2.0}}, "evidence_mrr")["evidence_mrr"] == 0.5


@pytest.mark.parametrize(("data", "error", "message"), [
    ({"q": []}, ValueError, "query 'q' has no sets"),
    ({"q": [["a"], []]}, ValueError, "query 'q': set 2 has no documents"),
    ({"q": [["a", "b", "a"]]}, fastir.DuplicateError, "query 'q': set 1 has document 'a' twice"),
    ({"q": ["a", "b"]}, TypeError, "query 'q': set 1 must be a collection of document ids, got str 'a'"),
    ({"q": "a"}, TypeError, "query 'q' must map to a collection of sets, got str 'a'"),
    ({"q": [{"a": 1}]}, TypeError, "query 'q': set 1 must be a collection of document ids, got dict"),
    ({"q": [["a", 2]]}, TypeError, "a document id of query 'q' must be a str, got int 2"),
    ([["a"]], TypeError, "qrels must be a dict"),
])  # fmt: skip
def test_bad_sets_name_query_and_document(data, error, message):
    with pytest.raises(error, match=message):
        fastir.Qrels.from_sets(data)
    with pytest.raises(error, match=message.replace("sets", "hops").replace("set ", "hop ")):
        fastir.Qrels.from_hops(data)


def test_damaged_pickles_are_refused():
    make, arguments = fastir.Qrels.from_sets(SETS).__reduce__()
    evidence = arguments[-1]
    for wrong in (
        {"rows": evidence.rows + 1}, {"rows": evidence.rows[1:]}, {"kind": "x"}, {"offsets": evidence.offsets[:-1]},
        {"firsts": evidence.firsts[1:]}, {"rows": evidence.rows.astype(float)}, {"offsets": evidence.offsets * 0},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="the pickled qrels are damaged: sets or hops"):
            make(*arguments[:-1], evidence._replace(**wrong))


def test_the_command_reads_evidence(tmp_path, capsys):
    fastir.Qrels.from_sets(SETS).save(tmp_path / "e.txt")
    fastir.Run.from_dict(RUN).save(tmp_path / "r.txt")
    words = ["eval", str(tmp_path / "e.txt"), str(tmp_path / "r.txt"), "-m", "evidence_chain@3"]
    assert main([*words, "--qrels-format", "evidence"]) == 0
    assert "0.8889" in capsys.readouterr().out
