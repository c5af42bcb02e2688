"""The stand-in for ranx: its numbers and shapes, its Qrels and Run, and that no change in them goes unseen."""

import gzip
import json
import math
import pickle
import random
import subprocess
import sys
import types

import numpy as np
import pytest
from common import ABSENT, SHARED

import fastir
import fastir.compat.ranx
from fastir.compat.ranx import Qrels, Run, evaluate

QRELS = {"q2": {"a": 1, "b": 3, "c": 0}, "q1": {"d": 2, "e": -1, "f": 1}}
RUN = {"q1": {"e": 0.9, "d": 0.8, "x": 0.7}, "q2": {"x": 3.0, "b": 2.0, "c": 1.5, "a": 1.0}}
LOG = math.log2


def ranked(labels, extra=()):
    """One query: the labels of a ranking, None for what is not in the qrels, and of documents not retrieved."""
    docs = [f"d{place}" for place in range(len(labels))]
    judged = {doc: label for doc, label in zip(docs, labels, strict=True) if label is not None}
    judged.update((f"x{place}", label) for place, label in enumerate(extra))
    return {"q": judged}, {"q": {doc: float(-place) for place, doc in enumerate(docs)}}


# ---- the numbers ---------------------------------------------------------------------------------------------------

SEED_003 = ranked([3, 2, 3, 0, 1, 2], [3, 2])
LEVELS = ranked([1, 2, 3])
KNOWN = [
    (SEED_003, "dcg", 6.861126688593502),
    (SEED_003, "ndcg@6", 0.785002371969948),
    (SEED_003, "dcg_burges", 13.848263629272981),
    (SEED_003, "ndcg_burges", 0.7377457678497291),
    (SEED_003, "ndcg_burges@6", 0.7510833867922446),
    (SEED_003, "ndcg@6-l2", 0.7407413657146327),
    (SEED_003, "rbp.90", 0.9067079999999998),
    (SEED_003, "rbp@90", 0.9067079999999998),
    (SEED_003, "rbp.9", 0.9067079999999998),
    (SEED_003, "f1@5", 2 / 3),
    (SEED_003, "map-l2", 0.611111111111111),
    (LEVELS, "ndcg-l2", 0.6480409555),
    (LEVELS, "ndcg", 0.7899980042),
    (ranked([None, 0, 1, 1]), "hits", 2),
    (ranked([None, 0, 1, 1]), "hits@3", 1),
    (ranked([0, 1]), "hit_rate@1", 0),
    (ranked([0, 1]), "hit_rate@0", 1),
    (ranked([1, 0]), "precision@10", 0.1),
    (ranked([1, 0]), "precision@0", 0.5),
    (ranked([1, 0, 1], [1]), "recall@1", 1 / 3),
    (ranked([1, 0, 1], [1]), "r-precision@1", 2 / 3),
    (ranked([0, 1, 0, 1]), "mrr@1", 0),
    (ranked([1, 0, 1], [1, 1]), "map@1", 1 / 4),
    (ranked([2, 0], [0]), "rbp.5-l2", 1),
    (ranked([1, 0]), "rbp.05", 0.95),
    (ranked([1, None, 1]), "bpref", math.nan),
    (ranked([None], [1]), "bpref", 0),
    (ranked([0, 1], [-1]), "bpref@1", 0),
    (ranked([-1, 1, 1], [0, 0]), "bpref", 0.5),
    (ranked([1, 2], [3]), "bpref-l2", 0.0),
    (ranked([0, -1, 1]), "map-l0", (1 + 2 / 3) / 2),
    (ranked([-1, 0, 1]), "bpref-l0", 0.0),
    (ranked([0, -1, 1]), "ndcg@3-l0", 1 / LOG(4)),
    (ranked([0, 2]), "rbp.5-l0", 0.5),
    (ranked([0, 0]), "ndcg", 0),
    (ranked([0, 0]), "f1", 0),
    (ranked([]), "precision", 0),
    (ranked([], [1]), "f1", 0),
]


@pytest.mark.parametrize(("data", "metric", "value"), KNOWN, ids=lambda part: part if isinstance(part, str) else "")
def test_known_values(data, metric, value):
    qrels, run = data
    expected = pytest.approx(value, rel=1e-10, abs=0, nan_ok=True)
    assert evaluate(qrels, run, metric) == expected
    assert evaluate(Qrels(qrels), Run(run), metric) == expected
    assert evaluate(Qrels(qrels).to_typed_list(), Run(run).to_typed_list(), metric) == expected


def test_equal_scores_stay_as_they_came():
    docs = [f"d{place:02}" for place in random.Random(1).sample(range(40), 40)]
    qrels, run = {"q": {docs[24]: 1}}, {"q": dict.fromkeys(docs, 1.0)}
    assert evaluate(qrels, run, "mrr") == evaluate(Qrels(qrels), Run(run), "mrr") == 1 / 25


def test_other_metrics_of_fastir_too():
    qrels, run = SEED_003
    assert evaluate(qrels, run, "err@6") == pytest.approx(0.5676299095153808, rel=1e-14)


@pytest.mark.parametrize("metric", ["nosuch@10", "rbp", "rbp-l2", "ndcg@x", "ndcg@-1", "ndcg-lx", "ndcg-l-1", "P_5,10"])
def test_what_is_no_metric_is_a_value_error(metric):
    with pytest.raises(ValueError, match=metric.partition("-")[0]):
        evaluate(QRELS, RUN, metric)


# ---- what is returned and noted ------------------------------------------------------------------------------------


def test_shapes_of_the_answer():
    one, several = evaluate(QRELS, RUN, "mrr"), evaluate(QRELS, RUN, ["mrr", "map@2", "mrr"])
    assert type(one) is np.float64
    assert several == {"mrr": one, "map@2": (1 / 4 + 1 / 4) / 2}
    assert list(several) == ["mrr", "map@2"]
    with_std = evaluate(QRELS, RUN, ["hits", "mrr"], return_std=True)
    assert with_std == {"hits": {"mean": 1.5, "std": 0.5}, "mrr": {"mean": 0.5, "std": 0.0}}
    assert evaluate(QRELS, RUN, ["hits"], return_std=True) == {"mean": 1.5, "std": 0.5}
    assert {type(number) for number in with_std["hits"].values()} == {np.float64}


@pytest.mark.parametrize("return_std", [False, True])
def test_values_of_the_queries(return_std):
    """Of Qrels in the order of the ids, of dicts as these have it."""
    for qrels, run, expected in ((QRELS, RUN, [2, 1]), (Qrels(QRELS), Run(RUN), [1, 2]), (Qrels(QRELS), RUN, [1, 2])):
        values = evaluate(qrels, run, "hits@10", return_mean=False, return_std=return_std)
        assert (type(values), values.dtype, values.tolist()) == (np.ndarray, np.float64, expected)
        values += 1  # it is the caller's
    several = evaluate(QRELS, RUN, ["hits@10", "hits-l0", "mrr-l0"], return_mean=False)
    assert {name: values.tolist() for name, values in several.items()} == {
        "hits@10": [2, 1],
        "hits-l0": [3, 1],
        "mrr-l0": [0.5, 0.5],
    }
    several = evaluate(QRELS, RUN, ["hits@10", "mrr"], return_mean=False)
    assert {name: values.tolist() for name, values in several.items()} == {"hits@10": [2, 1], "mrr": [0.5, 0.5]}


def test_a_run_notes_what_was_found():
    run = Run(RUN)
    assert (run.scores["none"], run.mean_scores, run.std_scores) == ({}, {}, {})
    evaluate(Qrels(QRELS), run, ["hits", "mrr"], return_std=True)
    assert run.mean_scores == {"hits": 1.5, "mrr": 0.5}
    assert run.std_scores == {"hits": 0.5, "mrr": 0.0}
    assert dict(run.scores)["hits"] == {"q1": 1, "q2": 2}
    assert type(run.scores["hits"]["q1"]) is np.float64
    evaluate(QRELS, run, "map", return_mean=False)
    assert run.mean_scores["map"] == np.mean(list(run.scores["map"].values()))
    assert set(run.std_scores) == {"hits", "mrr"}


def test_a_run_notes_nothing_unless_wanted():
    run = Run(RUN)
    evaluate(QRELS, run, "hits", save_results_in_run=False, return_std=True)
    assert (run.scores, run.mean_scores, run.std_scores) == ({}, {}, {})


def test_nothing_of_queries_that_are_gone_stays_in_the_scores():
    run = Run({**RUN, "q3": {"a": 1.0}})
    evaluate(Qrels({**QRELS, "q3": {"a": 1}}), run, "hits")
    evaluate(Qrels(QRELS), run, "hits", make_comparable=True)
    assert list(run.scores["hits"]) == ["q1", "q2"]


# ---- which queries -------------------------------------------------------------------------------------------------


def test_dicts_are_paired_by_query_id():
    backwards = dict(reversed(RUN.items()))
    assert list(backwards) == list(QRELS)
    assert evaluate(QRELS, backwards, ["ndcg", "map"]) == evaluate(QRELS, RUN, ["ndcg", "map"])


@pytest.mark.parametrize(("qrels", "run"), [
    (QRELS, {"q1": {}}), (QRELS, {**RUN, "q3": {}}), (Qrels(QRELS), Run({"q1": {"a": 1.0}})),
    (Qrels(QRELS), {**RUN, "q3": {}}), (QRELS, Run()),
])  # fmt: skip
def test_other_queries_are_an_assertion_error(qrels, run):
    with pytest.raises(AssertionError, match=r"'q[123]' is (missing from the run|not in the qrels).*make_comparable"):
        evaluate(qrels, run, "map")


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


# ---- arrays --------------------------------------------------------------------------------------------------------


def test_arrays_are_paired_by_position_and_ranked_as_they_stand():
    qrels = [np.array([[1, 1], [4, 2]]), np.array([[7, 1]])]
    run = [np.array([[2, 0.1], [4, 0.9], [1, 5.0]]), np.array([[7, 0.0]])]
    assert evaluate(qrels, run, "mrr", return_mean=False).tolist() == [0.5, 1]
    assert evaluate(qrels, run, "mrr-l2", return_mean=False).tolist() == [0.5, 0]
    assert evaluate(np.array([[[3, 1]]]), np.array([[[2, 1], [3, 1], [1, 1]]]), "mrr") == 0.5
    assert evaluate([np.empty((0, 2)), *qrels], [run[0], *run], "hits", return_mean=False).tolist() == [0, 2, 1]


def test_arrays_where_ids_stand_twice():
    """A judgment that stands twice counts twice, a ranked document at each of its places."""
    qrels, run = np.array([[[9, 1], [6, 1], [6, 1]]]), np.array([[[6, 1], [6, 1], [1, 1], [9, 1]]])
    assert evaluate(qrels, run, ["hits", "recall@1", "precision@2"]) == {"hits": 3, "recall@1": 1 / 3, "precision@2": 1}


def test_arrays_beside_a_run():
    run = Run(RUN)
    assert evaluate(Qrels(QRELS).to_typed_list(), run, "hits") == 1.5
    assert run.scores["hits"] == {"q1": 1, "q2": 2}
    unsorted = Run()
    for query, doc in (("q2", "b"), ("q1", "d")):
        unsorted.add_score(query, doc, 1)
    assert evaluate(Qrels(QRELS).to_typed_list(), unsorted, "hits") == 1
    assert unsorted.sorted
    with pytest.raises(TypeError, match="qrels is a dict"):
        evaluate(QRELS, run.to_typed_list(), "hits")


def test_arrays_that_do_not_fit():
    with pytest.raises(AssertionError, match="2 queries, but the run has 1"):
        evaluate([np.array([[1, 1]])] * 2, [np.array([[1, 1]])], "hits")
    with pytest.raises(TypeError, match="run must be a Run, a dict or arrays, got str"):
        evaluate(Qrels(QRELS), "run.txt", "hits")
    with pytest.raises(TypeError, match=r"run: the array of query 0 must have the shape .*got \(2,\)"):
        evaluate([np.array([[1, 1]])], [np.array([1, 1])], "hits")


# ---- Qrels and Run -------------------------------------------------------------------------------------------------


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


def test_names():
    assert [made.name for made in (Qrels(), Qrels(QRELS, "n"), Run(name="m"), Run.from_dict(RUN, "k"))] == [
        None,
        "n",
        "m",
        "k",
    ]
    assert repr(Run(RUN, "bm25")) == "<Run bm25: 2 queries>"
    assert Run().metadata == {}


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


def test_set_relevance_level():
    qrels = Qrels({"q": {"a": 1, "b": 2, "c": 3}})
    qrels.set_relevance_level(2)
    assert qrels.to_dict() == {"q": {"c": 2, "b": 1, "a": 0}}
    assert evaluate(qrels, Run({"q": {"a": 1.0, "b": 0.5}}), "mrr") == 0.5


# ---- nothing goes stale, nothing is done twice ---------------------------------------------------------------------


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
        "fastir.compat.ranx.qrels_run.judgments",
        "fastir.columns.rows.Rows.to_dict",
        "fastir.Qrels.from_dict",
        "fastir.Run.from_dict",
    ):
        monkeypatch.setattr(place, refuse)
    monkeypatch.setattr(fastir.compat.ranx.documents.Documents, "_shown", refuse)
    assert [evaluate(qrels, run, ["ndcg", "map"]) for run in runs] == first
    for run in (runs[0], runs[1]):
        assert {type(score) for docs in run._prepared().values() for score in docs.values()} == {float}


# ---- files and frames ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["json", "trec", "txt", "trec.gz", "parquet", "parq", "lz4"])
@pytest.mark.parametrize("kind", [Qrels, Run])
def test_files_read_back(kind, ending, tmp_path):
    if ending == "lz4":
        pytest.importorskip("lz4.frame")
        pytest.importorskip("cbor2")
    if ending.startswith("parq"):
        pytest.importorskip("pandas")
    path = tmp_path / f"x.{ending}"
    made = kind({"q2": {"ü": 1, "b": 3}, "q1": {"d": -2}}, "bm25")
    if (kind, ending) == (Qrels, "lz4"):
        with pytest.raises(AssertionError, match=r"kind must be one of 'json', .*got 'lz4'"):
            made.save(path)
        return
    made.save(path)
    again = kind.from_parquet(path) if ending.startswith("parq") else kind.from_file(str(path))
    assert again.to_dict() == made.to_dict()
    assert again.sorted
    assert again.name == ("bm25" if kind is Run and ending in ("trec", "txt", "trec.gz") else None)
    if kind is Run:
        assert kind.from_file(path, name="mine").name == "mine"
        evaluate(Qrels({"q1": {"d": 1}, "q2": {}}), again, "map")


@pytest.mark.parametrize("name", ["json", "lz4", "parquet", "trec", "trec.gz"])
def test_files_that_ranx_wrote(name):
    folder = SHARED / "data" / "small_formats" / "ranx"
    if not folder.is_dir():
        pytest.skip(ABSENT)
    if name == "lz4":
        pytest.importorskip("lz4.frame")
        pytest.importorskip("cbor2")
    read = {"parquet": "from_parquet"}.get(name, "from_file")
    run = getattr(Run, read)(folder / f"run.{name}")
    assert run.to_dict() == {"q1": {"d1": 0.1, "d2": 0.2, "d3": 0.3}, "q2": {"d1": 0.1, "d2": 0.2}}
    if name != "lz4":
        qrels = getattr(Qrels, read)(folder / f"qrels.{name}")
        assert qrels.to_dict() == {"q1": {"d1": 1, "d2": 2, "d3": 3}, "q2": {"d1": 1, "d2": 2}}
        assert evaluate(qrels, run, "ndcg") == 1


def test_lines_of_trec(tmp_path):
    run, qrels = tmp_path / "run.x", tmp_path / "qrels.gz"
    Run({"q2": {"a": 1, "b": 2.5}, "q1": {}, "q0": {"c": 1e-9}}).save(run, kind="trec")
    assert run.read_bytes() == b"q0 Q0 c 1 1e-09 None\nq2 Q0 b 1 2.5 None\nq2 Q0 a 2 1.0 None"
    Qrels({"q2": {"a": 1, "b": -2}, "q1": {"c": 0}}).save(qrels)
    assert gzip.decompress(qrels.read_bytes()) == b"q1 0 c 0\nq2 0 a 1\nq2 0 b -2"
    Run({"q": {}}).save(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == {"q": {}}


def test_of_documents_that_stand_twice_the_last_counts(tmp_path):
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_text("q Q0 a 1 9 x\nq Q0 b 2 8 x\nq Q0 a 3 7 x\n")
    qrels.write_text("q 0 a 1\nq 0 a 2\n")
    assert Run.from_file(run).to_dict() == {"q": {"b": 8, "a": 7}}
    assert Qrels.from_file(qrels).to_dict() == {"q": {"a": 2}}


def test_kinds_of_files(tmp_path):
    kinds = {
        "q.json": "json",
        "q.trec": "trec",
        "q.txt": "trec",
        "q.gz": "gz",
        "q.parquet": "parquet",
        "q.parq": "parquet",
    }
    for kind in (Qrels, Run):
        assert {name: kind.file_kind(name) for name in kinds} == kinds
        assert kind.file_kind("q", "json") == "json"
        for arguments in (("q.xml",), ("q",), ("q.json", "xml")):
            with pytest.raises(AssertionError, match="kind must be one of"):
                kind.file_kind(*arguments)
    assert Run.file_kind("r.lz4") == "lz4"


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("old")
    for bad in (Run(RUN, "two words"), Run({"q 1": {"a": 1.0}}), Run({"q": {"a b": 1.0}})):
        with pytest.raises(ValueError, match="white space"):
            bad.save(path)
    with pytest.raises(ValueError, match="JSON has no number for inf"):
        Run({"q": {"a": math.inf}}).save(path, "json")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.txt"]


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": ["q2", "q1", "q2"], "d": ["a", "b", "a"], "s": [1, 2, 3]})
    columns = {"q_id_col": "q", "doc_id_col": "d", "score_col": "s"}
    assert Qrels.from_df(frame, **columns).to_dict() == {"q1": {"b": 2}, "q2": {"a": 3}}
    for dtype in (object, "string"):
        run = Run.from_df(frame.astype({"q": dtype, "d": dtype, "s": float}), **columns, name="n")
        assert (run.name, run.to_dict()) == ("n", {"q1": {"b": 2.0}, "q2": {"a": 3.0}})
    assert Run.from_df(Run(RUN).to_dataframe()).to_dict() == RUN
    with pytest.raises(TypeError, match="got int 7"):
        Run.from_df(frame.assign(q=7), **columns)


def test_parquet_with_options_for_pandas(tmp_path):
    pytest.importorskip("pandas")
    Run(RUN).save(tmp_path / "run.parquet")
    run = Run.from_parquet(tmp_path / "run.parquet", pd_kwargs={"columns": ["q_id", "doc_id", "score"]}, name="n")
    assert (run.name, run.to_dict()) == ("n", RUN)
    with pytest.raises((KeyError, ValueError)):
        Run.from_parquet(tmp_path / "run.parquet", pd_kwargs={"columns": ["q_id"]})


# ---- other packages ------------------------------------------------------------------------------------------------


def test_neither_ranx_nor_numba_nor_pandas_is_imported():
    code = (
        "import sys; from fastir.compat.ranx import Qrels, Run, evaluate; r = Run({'q': {'a': 1}}, 'n');"
        "print(evaluate(Qrels({'q': {'a': 1}}), r, 'ndcg@10'), *{'ranx', 'numba', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.0"]


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    for module, package, call in (
        ("pandas", "pandas", Run(RUN).to_dataframe), ("lz4.frame", "lz4", lambda: Run(RUN).save(tmp_path / "x.lz4")),
        ("ir_datasets", "ir_datasets", lambda: Qrels.from_ir_datasets("x")),
        ("ranx.io", "ranx", lambda: Run.from_ranxhub("x")),
    ):  # fmt: skip
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=f"pip install {package}$"):
            call()
    assert not list(tmp_path.iterdir())


def test_collections_of_others(monkeypatch):
    monkeypatch.setitem(
        sys.modules,
        "ir_datasets",
        types.SimpleNamespace(load=lambda name: types.SimpleNamespace(qrels_dict=lambda: {"q": {"a": 1}})),
    )
    qrels = Qrels.from_ir_datasets("beir/x")
    assert (qrels.name, qrels.to_dict()) == ("beir/x", {"q": {"a": 1}})
    content = {"run": {"q": {"a": 1}}, "metadata": {"run": {"name": "bm25"}}}
    monkeypatch.setitem(sys.modules, "ranx.io", types.SimpleNamespace(download=lambda name: content))
    monkeypatch.setitem(sys.modules, "ranx", types.SimpleNamespace())
    run = Run.from_ranxhub("x")
    assert (run.name, run.metadata, run.to_dict()) == ("bm25", content["metadata"], {"q": {"a": 1.0}})


# ---- ranx itself ---------------------------------------------------------------------------------------------------

CUT = ["hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges"]
NAMES = [f"{name}{rest}" for name in CUT for rest in ("", "@3", "@0", "-l2", "@50-l0")]
NAMES += ["r-precision", "r-precision@5-l2", "rbp.95", "rbp@80-l2"]


def collection(seed):
    """Queries of up to 15 documents with equal scores, empty rankings, negative labels.

    All ids here have three letters: ranx compiles itself once more for every other length.
    """
    rng = random.Random(seed)
    docs = [f"d{place}" for place in range(10, 40)]
    qrels = {
        f"q{i}": {d: rng.choice((-1, 0, 0, 1, 2, 3)) for d in rng.sample(docs, rng.randint(1, 12))} for i in range(12)
    }
    run = {q: {d: rng.choice((0.5, 1.0, rng.random())) for d in rng.sample(docs, rng.randint(0, 15))} for q in qrels}
    return qrels, run


@pytest.fixture(scope="module")
def ranx():
    return pytest.importorskip("ranx")


def test_values_are_those_of_ranx(ranx):
    for seed in range(4):
        qrels, run = collection(seed)
        theirs, ours = ranx.Run(run), Run(run)
        assert evaluate(Qrels(qrels), ours, NAMES, return_std=True) == {
            name: pytest.approx(values, abs=1e-12)
            for name, values in ranx.evaluate(ranx.Qrels(qrels), theirs, NAMES, return_std=True, threads=1).items()
        }
        for name in NAMES:
            assert list(ours.scores[name]) == list(theirs.scores[name])
            assert ours.scores[name] == pytest.approx(theirs.scores[name], abs=1e-12)


def test_bpref_is_that_of_ranx_query_by_query(ranx):
    """Only one by one: after a query without relevant documents ranx has no values any more."""
    qrels, run = collection(1)
    for query, ranking in run.items():
        qrel, ranking = {query: qrels[query]}, {query: ranking or {"non": 1.0}}
        for level, name in ((1, "bpref"), (2, "bpref-l2")):
            if any(label >= level for label in qrels[query].values()):
                theirs = ranx.evaluate(ranx.Qrels(qrel), ranx.Run(ranking), name, threads=1)
                assert evaluate(qrel, ranking, name) == pytest.approx(theirs, abs=1e-12, nan_ok=True)


def test_ranx_s_own_objects_are_taken(ranx):
    qrels, run = collection(2)
    theirs = ranx.Run(run)
    names = ["ndcg@10", "map", "bpref"]
    expected = evaluate(Qrels(qrels), Run(run), names)
    assert evaluate(ranx.Qrels(qrels), theirs, names) == evaluate(Qrels(qrels), theirs, names) == expected
    assert theirs.mean_scores == expected
    assert list(theirs.scores["map"]) == sorted(run)
    del qrels["q3"]
    with pytest.raises(AssertionError, match="'q3' is not in the qrels"):
        evaluate(ranx.Qrels(qrels), theirs, "map")
    evaluate(ranx.Qrels(qrels), theirs, "map", make_comparable=True)
    assert "q3" not in list(theirs.keys())


def test_installed_ranx_compares_our_runs(ranx):
    import fastir.compat

    qrels, run = collection(3)
    other = {query: dict.fromkeys(qrels[query], 1.0) for query in run}
    expected = ranx.compare(ranx.Qrels(qrels), [ranx.Run(run, "a"), ranx.Run(other, "b")], ["map", "ndcg@3"])
    with fastir.compat.patched("ranx"):
        assert ranx.evaluate is evaluate
        report = ranx.compare(Qrels(qrels), [Run(run, "a"), Run(other, "b")], ["map", "ndcg@3"])
    assert ranx.evaluate is not evaluate
    assert str(report) == str(expected)


def test_files_of_ranx(ranx, tmp_path):
    qrels, run = {"q1": {"d10": 1}}, {"q1": {"d10": 1.5, "d11": 2.0}, "q2": {"d12": 1e-12}}
    for ending in ("json", "trec", "lz4"):
        ranx.Run(run, "n").save(str(tmp_path / f"theirs.{ending}"))
        Run(run, "n").save(tmp_path / f"ours.{ending}")
        assert Run.from_file(tmp_path / f"theirs.{ending}").to_dict() == run
        assert ranx.Run.from_file(str(tmp_path / f"ours.{ending}")).to_dict() == run
    assert (tmp_path / "ours.trec").read_bytes() == (tmp_path / "theirs.trec").read_bytes()
    ranx.Qrels(qrels).save(str(tmp_path / "theirs.txt"))
    Qrels(qrels).save(tmp_path / "ours.txt")
    assert (tmp_path / "ours.txt").read_bytes() == (tmp_path / "theirs.txt").read_bytes()


def test_a_real_collection(ranx):
    folder = SHARED / "data" / "lightgbm_rank"
    if not folder.is_dir():
        pytest.skip(ABSENT)
    qrels, run = Qrels.from_file(folder / "qrels.txt"), Run.from_file(folder / "full.run", "trec")
    short = {}  # ids of three letters
    plain = [
        {
            query: {short.setdefault(doc, f"{len(short):03}"): number for doc, number in docs.items()}
            for query, docs in side.to_dict().items()
        }
        for side in (qrels, run)
    ]
    ours = evaluate(qrels, run, NAMES, make_comparable=True)
    theirs = ranx.evaluate(ranx.Qrels(plain[0]), ranx.Run(plain[1]), NAMES, make_comparable=True, threads=1)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert ours["map"] > 0.1


# ---- what is not offered ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fuse", "optimize_fusion", "normalize", "plot", "metrics"])
def test_what_is_not_offered_is_said_when_it_is_asked_for(name):
    with pytest.raises(ImportError, match=f"fastir.compat.ranx does not offer {name}: "):
        exec(f"from fastir.compat.ranx import {name}", {})
    with pytest.raises(ImportError, match=f"fastir.compat.ranx does not offer {name}: "):
        getattr(fastir.compat.ranx, name)


def test_a_name_that_ranx_has_not_either_is_an_attribute_that_is_missing():
    with pytest.raises(AttributeError, match=r"module 'fastir\.compat\.ranx' has no attribute 'fuze'"):
        fastir.compat.ranx.fuze()
    assert not hasattr(fastir.compat.ranx, "fuze")


def test_every_function_of_ranx_is_offered_or_said_not_to_be():
    ranx = pytest.importorskip("ranx")
    known = {name for name in dir(ranx) if callable(getattr(ranx, name))}
    assert known <= {*fastir.compat.ranx.__all__, *fastir.compat.ranx.NOT_OFFERED}
