"""Ids of documents that never match are an error that shows one of each side, where a guess says why."""

import random
import re

import pytest

import fastir
from fastir.evaluation.drivers.suspect_runs import GUESSES, alike

QRELS = {"q1": {"D1": 1, "D7": 0}, "q2": {"D2": 1}}
ALIKE = [
    ("d1", "upper and lower case"), ("D1 ", "white space around them"), ("D1.txt", "a suffix"),
    ("D1#3", "a suffix"), (" d1.html", "case, white space and a suffix"),
]  # fmt: skip


def calls(qrels, run, tmp_path, **options):
    """The ways to evaluate a run."""
    path = tmp_path / "run.json"
    fastir.Run.from_dict(run).save(path)
    rows = [(query, doc_id, score) for query, docs in run.items() for doc_id, score in docs.items()]
    yield lambda: fastir.evaluate(qrels, run, "map", **options)
    yield lambda: fastir.evaluate(qrels, rows, "map", **options)
    yield lambda: fastir.evaluate(qrels, str(path), "map", **options)
    yield lambda: fastir.Evaluator(qrels, "map", **options).evaluate(fastir.Run.from_dict(run))
    yield lambda: fastir.evaluate_many(qrels, {"x": run, "y": str(path)}, "map", **options)
    yield lambda: fastir.compare(qrels, {"x": str(path), "y": run}, "map", **options)


@pytest.mark.parametrize(("doc_id", "difference"), ALIKE)
def test_ids_that_are_written_in_two_ways_are_an_error(doc_id, difference, tmp_path):
    said = f"the qrels have 'D1', the run has '{re.escape(doc_id)}'; do the ids differ only in {difference}"
    for call in calls(QRELS, {"q1": {doc_id: 0.5}, "q2": {"x": 1.0}}, tmp_path):
        with pytest.raises(fastir.NoOverlapError, match=said):
            call()


def test_a_suffix_of_the_judged_ids_is_seen_too():
    with pytest.raises(fastir.NoOverlapError, match="have 'a#1', the run has 'a'; do the ids differ only in a suffix"):
        fastir.evaluate({"q": {"a#1": 1}}, {"q": {"a": 1.0}}, "map")


def test_other_parts_of_a_judged_document_are_a_miss():
    with pytest.warns(fastir.FastirWarning, match="the qrels have 'a#1', the run has 'a#2'"):
        assert fastir.evaluate({"q": {"a#1": 1}}, {"q": {"a#2": 1.0}}, "map")["map"] == 0.0


@pytest.mark.parametrize("doc_id", ["007", "7.0", "07.0"])
def test_numbers_in_two_forms_are_an_error(doc_id):
    with pytest.raises(fastir.NoOverlapError, match=f"have '7', the run has '{doc_id}'; .* the form of a number"):
        fastir.evaluate({"q": {"7": 1}}, {"q": {doc_id: 1.0}}, "map")


def test_lists_of_ids_that_are_written_in_two_ways_are_an_error():
    with pytest.raises(fastir.NoOverlapError, match="have 'A', the run has 'a'"):
        fastir.evaluate_lists([["a"], ["b"]], [["A"], ["B"]], "mrr")


def test_the_command_says_so(tmp_path, capsys):
    from fastir.cli.main import main

    (tmp_path / "q").write_text("q1 0 D1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2 t\n")
    assert main(["eval", str(tmp_path / "q"), str(tmp_path / "r"), "-m", "map"]) == 2
    assert "the qrels have 'D1', the run has 'd1'" in capsys.readouterr().err


def test_a_miss_is_a_value_and_a_warning_with_an_id_of_each_side(tmp_path):
    for call in calls(QRELS, {"q1": {"x": 0.5}, "q2": {"y": 1.0}}, tmp_path):
        with pytest.warns(fastir.FastirWarning, match="in query 'q1': the qrels have 'D1', the run has 'x'"):
            call()
    with pytest.warns(fastir.FastirWarning):
        assert fastir.evaluate(QRELS, {"q1": {"x": 0.5}}, "map")["map"] == 0.0


def test_one_hit_is_enough(recwarn):
    results = fastir.evaluate(QRELS, {"q1": {"d1": 0.5}, "q2": {"D2": 1.0}}, "map")
    assert results["map"] == 0.5
    assert "such as the ranking of query 'q1'" in str(recwarn[0].message)


@pytest.mark.parametrize("convention", ["trec_eval-10", "ranx"])
def test_the_conventions_of_tools_only_warn(convention):
    with pytest.warns(fastir.FastirWarning, match="the qrels have 'D1', the run has 'd1'"):
        fastir.evaluate(QRELS, {"q1": {"d1": 0.5}, "q2": {"x": 1.0}}, "map", convention=convention)


def test_stand_ins_give_the_value_of_their_tool(tmp_path, capsys):
    from fastir.cli.main import main
    from fastir.compat import pytrec_eval, ranx

    qrels, run = {"q1": {"D1": 1}}, {"q1": {"d1": 0.5}}
    assert pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {"q1": {"map": 0.0}}
    assert ranx.evaluate(qrels, run, "map") == 0.0
    (tmp_path / "q").write_text("q1 0 D1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2 t\n")
    assert main(["trec_eval", "-m", "map", str(tmp_path / "q"), str(tmp_path / "r")]) == 0
    assert capsys.readouterr().out.split() == ["map", "all", "0.0000"]


def test_stand_ins_for_ir_measures_and_lists_give_the_value_of_their_tool():
    from fastir.compat._id_lists import values

    assert values([["d1"]], [{"D1": 1}], ["mrr"], "fastir").tolist() == [[0.0]]
    ir_measures = pytest.importorskip("ir_measures")
    from fastir.compat.ir_measures import provider

    found = provider().calc_aggregate([ir_measures.AP], {"q1": {"D1": 1}}, {"q1": {"d1": 0.5}})
    assert found == {ir_measures.AP: 0.0}


@pytest.mark.parametrize("parents", [{"zzz": "D1"}, lambda ids: ids])
def test_parents_that_apply_to_nothing_are_an_error(parents):
    with pytest.raises(fastir.NoOverlapError, match=r"parents has none of the run's ids.* the run has 'D1#2'"):
        fastir.evaluate(QRELS, {"q1": {"D1#2": 0.5}}, "map", parents=parents)


def test_parents_that_apply_may_miss(recwarn):
    assert fastir.evaluate(QRELS, {"q1": {"c": 0.5}}, "map", parents={"c": "other"})["map"] == 0.0
    assert any("no judged document" in str(one.message) for one in recwarn)


def test_misses_of_a_service_are_looked_at_ever_more_rarely(monkeypatch):
    """A miss of one query is legitimate; that ids never match is said in the first calls."""
    looks = []
    monkeypatch.setattr("fastir.evaluation.drivers.suspect_runs.alike", lambda judged, ranked: looks.append(ranked))
    evaluator = fastir.Evaluator({"q": {"a": 1}, "p": {"b": 1}}, "map", queries="intersection")
    with pytest.warns(fastir.FastirWarning, match="no judged document"):
        for number in range(100):
            evaluator.evaluate({"q": {f"x{number}": 1.0}})
    assert looks == [[f"x{number}"] for number in (*range(8), 15, 31, 63)]


def test_the_ids_of_so_many_documents_are_compared(monkeypatch):
    monkeypatch.setattr("fastir.evaluation.drivers.suspect_runs.MAX_IDS", 5)
    looks = []
    monkeypatch.setattr(
        "fastir.evaluation.drivers.suspect_runs.alike", lambda judged, ranked: looks.append(len(ranked))
    )
    run = {f"q{query}": {f"x{doc}": 1.0 for doc in range(3)} for query in range(9)}
    with pytest.warns(fastir.FastirWarning, match="no judged document"):
        fastir.evaluate({query: {"d": 1} for query in run}, run, "map")
    assert looks == [3, 3]


MARKS = ["", "", ".1", "#2", " ", "0", ".0", "x", "\t"]
STEMS = ["d", "D", "1", "10", "0", "00", "0a", "5.0", "01", "001", "a.1", "ß", "é", "\uff45", "\u0663", "", " ", "\x1c"]


@pytest.mark.parametrize("seed", range(200))
def test_guesses_are_those_of_a_loop_over_all_forms(seed):
    rng = random.Random(seed)
    judged, ranked = ([rng.choice(STEMS) + rng.choice(MARKS) for _ in range(rng.randrange(6))] for _ in range(2))
    judged = [place % 7 for place in range(len(judged))] if seed % 5 == 0 else judged
    ranked = [doc_id for doc_id in ranked if seed % 4 == 0 or doc_id not in map(str, judged)]

    def first():
        for difference, forms in GUESSES.items():
            for judged_form, ranked_form in (forms, forms[::-1]):
                id_by_form = {judged_form(str(doc_id)): doc_id for doc_id in judged}
                for doc_id in ranked:
                    other = id_by_form.get(ranked_form(str(doc_id)), doc_id)
                    if str(other) != str(doc_id):
                        return difference, other, doc_id
        return None

    assert alike(judged, ranked) == first()
