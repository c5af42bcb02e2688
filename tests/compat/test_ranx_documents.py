"""What ranx's Qrels and Run share: contents, changes in place, and comparable queries."""

import math
import pickle
import random

import numpy as np
import pytest
from ranx_data import NAMES, QRELS, RUN

import fastir
import fastir.compat.ranx
from fastir.compat.ranx import Qrels, Run, evaluate


def test_make_comparable():
    run = Run({"q1": RUN["q1"], "q3": {"a": 1.0}})
    assert evaluate(Qrels(QRELS), run, "hits", make_comparable=True) == 0.5
    assert run.to_dict() == {"q1": RUN["q1"], "q2": {}}
    assert run.make_comparable(Qrels(QRELS)) is run
    empty = Run()
    assert evaluate(Qrels(QRELS), empty, "hits", make_comparable=True) == 0
    assert empty.get_query_ids() == ["q1", "q2"]


def test_make_comparable_with_dicts_changes_none():
    run = {"q1": RUN["q1"], "q3": {"a": 1.0}}
    before = pickle.dumps(run)
    assert evaluate(QRELS, run, "hits", make_comparable=True, return_mean=False).tolist() == [0, 1]
    assert pickle.dumps(run) == before


@pytest.mark.parametrize("make", [Qrels, Qrels.from_dict, Run, Run.from_dict])
def test_contents_are_shown_in_order(make):
    data = {"q2": {"a": 1, "b": 3, "c": 1}, "q1": {"d": 2}}
    made = make(data)
    data["q1"]["d"] = 7  # it was copied
    assert made.sorted
    assert list(made.keys()) == made.get_query_ids() == ["q1", "q2"]
    shown = [list(docs.items()) for docs in made.get_doc_ids_and_scores()]
    assert shown == [[("d", 2)], [("b", 3), ("a", 1), ("c", 1)]]
    assert list(made["q2"]) == ["b", "a", "c"]
    assert made.to_dict() == {"q1": {"d": 2}, "q2": {"b": 3, "a": 1, "c": 1}}
    assert {type(number) for number in made["q2"].values()} == {int if type(made) is Qrels else float}
    assert len(made) == made.size == 2
    arrays = made.to_typed_list()
    assert [array.shape for array in arrays] == [(1, 2), (3, 2)]
    assert arrays[1].tolist() == [[float(hash(doc)), number] for doc, number in (("b", 3), ("a", 1), ("c", 1))]
    frame = pytest.importorskip("pandas").DataFrame(
        {"q_id": ["q1", "q2", "q2", "q2"], "doc_id": ["d", "b", "a", "c"], "score": [2, 3, 1, 1]}
    )
    assert made.to_dataframe().equals(frame.astype({"score": int if type(made) is Qrels else float}))


@pytest.mark.parametrize("kind", [Qrels, Run])
def test_adding(kind):
    made = kind()
    assert not made.sorted
    made.add_score("q2", "a", 1)
    made.add_score("q2", "b", 2)
    made.add_score("q1", "c", 1)
    assert not made.sorted
    assert list(made.keys()) == ["q2", "q1"]
    made.sort()
    assert made.sorted
    assert (list(made.keys()), list(made["q2"])) == (["q1", "q2"], ["b", "a"])
    made.add("q2", ["z"], [5])
    made.add_multi(["q0", "q3"], [["a", "b"], []], [[1, 2], []])
    assert made.sorted
    assert list(made.to_dict().items()) == [("q0", {"b": 2, "a": 1}), ("q1", {"c": 1}), ("q2", {"z": 5}), ("q3", {})]
    made.add_score("q1", "c", 7)
    assert (made["q1"], made.sorted) == ({"c": 7}, False)


@pytest.mark.parametrize("kind", [Qrels, Run])
def test_what_cannot_be_added_changes_nothing(kind):
    made = kind({"q": {"a": 1}})
    for error, arguments in (
        (ValueError, (["q", "r"], [["b"], ["c", "d"]], [[1], [1]])), (ValueError, (["q", "r"], [["b"]], [[1]])),
        (TypeError, (["q", 7], [["b"], ["c"]], [[1], [1]])), (TypeError, (["q", "r"], [["b"], [7]], [[1], [1]])),
        (TypeError, (["q", "r"], [["b"], ["c"]], [[1], ["x"]])),
    ):  # fmt: skip
        with pytest.raises(error, match=r"'r'|2 queries|got int 7|query r"):
            made.add_multi(*arguments)
    with pytest.raises(TypeError, match="query r, document a"):
        made.add_score("r", "a", None)
    assert made.to_dict() == {"q": {"a": 1}}


def test_wrong_contents():
    with pytest.raises(TypeError, match=r"label 0.5 is not an integer.*query q, document a"):
        Qrels({"q": {"a": 0.5}})
    with pytest.raises(TypeError, match="got int 1"):
        Qrels({1: {"a": 1}})
    with pytest.raises(TypeError, match="got int 1"):
        Run({"q": {1: 1.0}})
    with pytest.raises(TypeError, match="query q, document a"):
        Run({"q": {"a": "1"}})
    with pytest.raises(ValueError, match=r"NaN.*query q, document a"):
        evaluate({"q": {"a": 1}}, Run({"q": {"a": math.nan}}), "map")
    with pytest.raises(AssertionError, match="got int 7"):
        evaluate(QRELS, RUN, ["map", 7])


@pytest.mark.parametrize("seed", range(30))
def test_every_change_is_seen(seed, tmp_path):
    """After each of many random changes the values are those of the same data as dicts."""
    rng = random.Random(seed)
    queries, docs = ["q1", "q2", "q3"], [f"d{place}" for place in range(6)]
    sides = Qrels({"q1": {"d1": 1}}), Run({"q1": {"d1": 1.0}})
    plain = {"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}
    for _ in range(25):
        side = rng.randrange(2)
        query, doc, number = rng.choice(queries), rng.choice(docs), rng.randrange(-1, 4)
        change = rng.choice(["score", "add", "level", "comparable", "live", "sort", "look", "file"])
        if change == "score":
            sides[side].add_score(query, doc, number)
            plain[side].setdefault(query, {})[doc] = number
        elif change == "add":
            sides[side].add(query, [doc, "e"], [number, 1])
            plain[side][query] = {doc: number, "e": 1}
        elif change == "level":
            sides[0].set_relevance_level(0)
            for judged in plain[0].values():
                judged.update({doc: label + 1 for doc, label in judged.items()})
        elif change == "comparable":
            sides[1].make_comparable(sides[0])
            kept = {query: plain[1].get(query, {}) for query in plain[0]}
            plain[1].clear()
            plain[1].update(kept)
        elif change == "live":
            live = sides[0].qrels if side == 0 else sides[1].run
            live.setdefault(query, {})[doc] = number
            plain[side].setdefault(query, {})[doc] = number
        elif change == "sort":
            sides[side].sort()
        elif change == "look":
            assert sides[side].to_dict() == plain[side]
        elif change == "file":
            sides[side].save(tmp_path / "x.json")
            sides = tuple(type(each).from_file(tmp_path / "x.json") if each is sides[side] else each for each in sides)
        names = ["ndcg", "map-l0", "bpref", "mrr-l2"]
        got = evaluate(*sides, names, make_comparable=False) if plain[0].keys() == plain[1].keys() else {}
        # equal scores keep the order that the run has
        shown = {query: dict(ranking) for query, ranking in sides[1].to_dict().items()} if got else {}
        expected = evaluate(plain[0], shown, names) if got else {}
        assert got == pytest.approx(expected, abs=1e-15, nan_ok=True)


def test_changes_in_the_dicts_that_were_handed_out_are_seen():
    qrels, run = Qrels({"q": {"a": 1}}), Run({"q": {"a": 2.0, "b": 1.0}})
    assert evaluate(qrels, run, "mrr") == 1
    judged, ranking = qrels.qrels, run.run
    for label, score, expected in ((1, 0.5, 1 / 2), (0, 0.5, 0), (1, 3, 1)):
        judged["q"]["a"], ranking["q"]["a"] = label, score
        assert evaluate(qrels, run, "mrr") == expected


def test_what_it_was_made_of_is_not_changed_and_not_seen():
    labels, scores = {"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    qrels, run = Qrels(labels), Run(scores)
    run.add_score("q", "b", 3)
    qrels.set_relevance_level(3)
    assert (labels, scores) == ({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}})
    qrels, run = Qrels(labels), Run(scores)
    labels["q"]["a"], scores["q"]["a"] = 0, 0.0
    assert evaluate(qrels, run, "mrr") == 1


def test_evaluating_again_converts_nothing(monkeypatch, tmp_path):
    Run(RUN).save(tmp_path / "run.trec")
    qrels = Qrels(QRELS)
    qrels.add_score("q1", "z", 1)
    runs = (
        Run(RUN),
        Run({q: {d: np.float32(s) for d, s in docs.items()} for q, docs in RUN.items()}),
        Run.from_file(tmp_path / "run.trec"),
    )
    first = [evaluate(qrels, run, ["ndcg", "map"]) for run in runs]
    assert first[0] == first[1] == first[2]

    def refuse(*_, **__):
        raise AssertionError("converted again")

    for place in (
        "fastir.compat.ranx.qrels_run.judgments", "fastir.engine.columns.rows.Rows.to_dict",
        "fastir.Qrels.from_dict", "fastir.Run.from_dict",
    ):  # fmt: skip
        monkeypatch.setattr(place, refuse)
    monkeypatch.setattr(fastir.compat.ranx.qrels_run.Documents, "ordered_rows", refuse)
    assert [evaluate(qrels, run, ["ndcg", "map"]) for run in runs] == first
    for run in (runs[0], runs[1]):
        assert {type(score) for docs in run.as_fastir().values() for score in docs.values()} == {float}


NAMES += ["r-precision", "r-precision@5-l2", "rbp.95", "rbp@80-l2"]
