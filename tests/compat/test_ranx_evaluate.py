"""ranx's evaluate: its numbers, shapes, errors and pairs of queries, of dicts, arrays, our objects and ranx's own."""

import math
import random

import numpy as np
import pytest
from common import ABSENT, SHARED
from ranx_data import NAMES, QRELS, RUN, collection

from fastir.compat.ranx import Qrels, Run, evaluate

LOG = math.log2


def ranked(labels, extra=()):
    """One query: the labels of a ranking, None for what is not in the qrels, and of documents not retrieved."""
    docs = [f"d{place}" for place in range(len(labels))]
    judged = {doc: label for doc, label in zip(docs, labels, strict=True) if label is not None}
    judged.update((f"x{place}", label) for place, label in enumerate(extra))
    return {"q": judged}, {"q": {doc: float(-place) for place, doc in enumerate(docs)}}


SEED_003 = ranked([3, 2, 3, 0, 1, 2], [3, 2])
LEVELS = ranked([1, 2, 3])
KNOWN = [
    (SEED_003, "dcg", 6.861126688593502), (SEED_003, "ndcg@6", 0.785002371969948),
    (SEED_003, "dcg_burges", 13.848263629272981), (SEED_003, "ndcg_burges", 0.7377457678497291),
    (SEED_003, "ndcg_burges@6", 0.7510833867922446), (SEED_003, "ndcg@6-l2", 0.7407413657146327),
    (SEED_003, "rbp.90", 0.9067079999999998), (SEED_003, "rbp@90", 0.9067079999999998),
    (SEED_003, "rbp.9", 0.9067079999999998), (SEED_003, "f1@5", 2 / 3),
    (SEED_003, "map-l2", 0.611111111111111), (LEVELS, "ndcg-l2", 0.6480409555),
    (LEVELS, "ndcg", 0.7899980042), (ranked([None, 0, 1, 1]), "hits", 2),
    (ranked([None, 0, 1, 1]), "hits@3", 1), (ranked([0, 1]), "hit_rate@1", 0),
    (ranked([0, 1]), "hit_rate@0", 1), (ranked([1, 0]), "precision@10", 0.1),
    (ranked([1, 0]), "precision@0", 0.5), (ranked([1, 0, 1], [1]), "recall@1", 1 / 3),
    (ranked([1, 0, 1], [1]), "r-precision@1", 2 / 3), (ranked([0, 1, 0, 1]), "mrr@1", 0),
    (ranked([1, 0, 1], [1, 1]), "map@1", 1 / 4), (ranked([2, 0], [0]), "rbp.5-l2", 1),
    (ranked([1, 0]), "rbp.05", 0.95), (ranked([1, None, 1]), "bpref", math.nan),
    (ranked([None], [1]), "bpref", 0), (ranked([0, 1], [-1]), "bpref@1", 0),
    (ranked([-1, 1, 1], [0, 0]), "bpref", 0.5), (ranked([1, 2], [3]), "bpref-l2", 0.0),
    (ranked([0, -1, 1]), "map-l0", (1 + 2 / 3) / 2), (ranked([-1, 0, 1]), "bpref-l0", 0.0),
    (ranked([0, -1, 1]), "ndcg@3-l0", 1 / LOG(4)), (ranked([0, 2]), "rbp.5-l0", 0.5),
    (ranked([0, 0]), "ndcg", 0), (ranked([0, 0]), "f1", 0), (ranked([]), "precision", 0),
    (ranked([], [1]), "f1", 0),
]  # fmt: skip


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
        "hits@10": [2, 1], "hits-l0": [3, 1], "mrr-l0": [0.5, 0.5],
    }  # fmt: skip
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


def test_arrays_are_paired_by_position_and_ranked_as_they_stand():
    qrels = [np.array([[1, 1], [4, 2]]), np.array([[7, 1]])]
    run = [np.array([[2, 0.1], [4, 0.9], [1, 5.0]]), np.array([[7, 0.0]])]
    assert evaluate(qrels, run, "mrr", return_mean=False).tolist() == [0.5, 1]
    assert evaluate(qrels, run, "mrr-l2", return_mean=False).tolist() == [0.5, 0]
    assert evaluate(np.array([[[3, 1]]]), np.array([[[2, 1], [3, 1], [1, 1]]]), "mrr") == 0.5
    assert evaluate([np.empty((0, 2)), *qrels], [run[0], *run], "hits", return_mean=False).tolist() == [0, 2, 1]


def test_arrays_where_ids_stand_twice():
    """A duplicate judgment counts twice, a ranked document at each of its places."""
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


def test_set_relevance_level():
    qrels = Qrels({"q": {"a": 1, "b": 2, "c": 3}})
    qrels.set_relevance_level(2)
    assert qrels.to_dict() == {"q": {"c": 2, "b": 1, "a": 0}}
    assert evaluate(qrels, Run({"q": {"a": 1.0, "b": 0.5}}), "mrr") == 0.5


NAMES += ["r-precision", "r-precision@5-l2", "rbp.95", "rbp@80-l2"]


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
