"""Micro averages: the sum of numerators over the sum of denominators, and where there are none."""

import math
import pickle
from fractions import Fraction

import gen
import numpy as np
import pytest

import fastir

QRELS = {"a": {"x": 1, "y": 1}, "b": {"z": 2}, "c": {"k": 0}}
RUN = {"a": {"x": 3.0, "u": 2.0}, "b": {"z": 1.0, "w": 2.0, "v": 3.0}, "c": {"k": 1.0}}
METRICS = [
    *("precision", "precision@3", "precision(short_rankings=clip)@3", "recall", "recall@2", "recall@1-l2"),
    *("recall(recall_norm=min_kR)@1", "relative_precision@2", "relative_precision", "f1", "f1@2", "r_precision"),
    *("set_f(x=3)", "set_f(x=3, f_weight=beta)@2", "f_beta(beta=0.5)@2"),
]


def counts(qrels, run, level, k):
    """(hits to k, hits to R, retrieved, relevant) of each query, from sets alone."""
    for query, judged in qrels.items():
        scores = run.get(query, {})
        ranked = sorted(sorted(scores, key=str.encode, reverse=True), key=lambda doc: -scores[doc])
        relevant = {doc for doc, label in judged.items() if label >= level}
        hits, to_r = (len(relevant & set(ranked[:depth])) for depth in (k, len(relevant)))
        yield hits, to_r, len(ranked), len(relevant)


def micro(name, qrels, run, level=1):
    """The slow twin, in fractions: it reads no value of a query."""
    [request] = fastir.request.names.read(name)
    k, params = request.cutoff, request.all_params()
    level = request.level or level
    above, below = Fraction(0), Fraction(0)
    for hits, hits_to_r, n, R in counts(qrels, run, level, k):
        shown = n if k is None else min(k, n) if params.get("short_rankings") == "clip" else k
        match request.card.name:
            case "precision":
                below += shown
            case "recall":
                below += min(k, R) if params["recall_norm"] == "min_kR" else R
            case "relative_precision":
                below += min(shown, R)
            case "r_precision":
                below += R
                hits = hits_to_r
            case _:
                x = Fraction(params.get("x", params.get("beta", 1)))
                x = x * x if "beta" in params or params.get("f_weight") == "beta" else x
                below += (shown + x * R) / (1 + x)
        above += hits
    return float(Fraction(above) / below) if below else 0.0


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("seed", range(8))
def test_a_micro_average_is_that_of_the_slow_twin(name, seed):
    qrels, run = gen.collection(900 + seed)
    plain = fastir.evaluate(qrels, run, name)
    results = fastir.evaluate(qrels, run, name, average="micro")
    assert results[name] == pytest.approx(micro(name, qrels, run), abs=1e-15, rel=1e-15)
    assert results.values.tobytes() == plain.values.tobytes()
    assert results.aggregates == {name: "micro"}


def test_by_hand():
    """Of 2, 1 and 0 relevant documents 1, 1 and 0 are found; of 2, 3 and 1 retrieved ones likewise."""
    results = fastir.evaluate(QRELS, RUN, ["recall", "precision", "recall(average=macro)"], average="micro")
    assert dict(results) == {"recall": 2 / 3, "precision": 2 / 6, "recall(average=macro)": (0.5 + 1 + 0) / 3}
    assert "micro averages: recall, precision" in str(results)
    assert results.provenance.metrics["recall"] == "recall(average=micro)"
    assert fastir.evaluate(QRELS, RUN, "recall(average=micro)")["recall(average=micro)"] == 2 / 3
    none = fastir.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "recall", average="micro")
    assert none["recall"] == 0.0


def test_queries_that_the_metric_leaves_out_count_nothing():
    for empty in ("one", "skip"):
        assert fastir.evaluate(QRELS, RUN, "recall", average="micro", empty=empty)["recall"] == 2 / 3
    assert math.isnan(fastir.evaluate(QRELS, RUN, "recall", average="micro", empty="nan")["recall"])
    left_out = fastir.evaluate(QRELS, {"a": RUN["a"]}, "recall", average="micro", queries="intersection")
    assert left_out["recall"] == 1 / 2


def test_every_way_in_has_the_same_micro_average(tmp_path):
    names = ["precision", "f1@2", "recall@1", "num_rel"]
    expected = dict(fastir.evaluate(QRELS, RUN, names, average="micro"))
    evaluator = fastir.Evaluator(QRELS, names, average="micro")
    again = pickle.loads(pickle.dumps(evaluator))
    judged = fastir.judged_rankings(QRELS, RUN)
    assert [dict(each.evaluate(RUN)) for each in (evaluator, again)] == [expected] * 2
    assert dict(fastir.evaluate_many(QRELS, {"r": RUN}, names, average="micro")["r"]) == expected
    assert dict(judged.evaluate(names, average="micro")) == expected
    assert dict(evaluator.partial(RUN).result()) == expected
    results = evaluator.evaluate(RUN)
    assert dict(pickle.loads(pickle.dumps(results))) == expected
    for suffix in ("json", "tsv"):
        results.save(tmp_path / f"r.{suffix}")
        assert dict(fastir.load_results(tmp_path / f"r.{suffix}")) == expected
    accumulator = fastir.Accumulator(names, average="micro")
    for query in QRELS:
        accumulator.update(qrels={query: QRELS[query]}, run={query: RUN[query]})
    assert accumulator.result() == expected
    assert list(evaluator.explain(RUN, "a").values) == names
    custom = fastir.custom_metric("mine", lambda judged: [0.5] * len(judged))
    mixed = fastir.evaluate(QRELS, RUN, ["recall(average=micro)@1", custom, "mrr"])
    assert (mixed["recall(average=micro)@1"], mixed["mine"]) == (expected["recall@1"], 0.5)
    assert mixed.names == ["recall(average=micro)@1", "mine", "mrr"]


def test_without_ids_it_is_the_same():
    likes, ranked = [[0, 1], [2]], [[0, 5], [6, 2]]
    for results in (
        fastir.evaluate_topk(np.array(ranked), likes, "recall@2", average="micro"),
        fastir.evaluate_lists(ranked, likes, "recall@2", average="micro"),
        fastir.evaluate_scores([1, 1, 0, 1], [2.0, 1.0, 3.0, 0.5], "recall@1", offsets=[0, 2, 4], average="micro"),
    ):
        assert [*dict(results).values()] == [2 / 3 if "recall@2" in results else 1 / 3]


def test_a_segment_and_an_interval_have_the_denominators_of_their_queries():
    results = fastir.evaluate(QRELS, RUN, "recall", average="micro")
    parts = results.by_segment({"a": 1, "b": 2, "c": 2})
    assert {segment: part["recall"] for segment, part in parts.items()} == {1: 1 / 2, 2: 1.0}
    weighted = fastir.evaluate(QRELS, RUN, "recall", weights={"a": 2, "b": 1, "c": 0})
    assert results.interval("recall") == weighted.interval("recall")


@pytest.mark.parametrize("name", ["mrr", "ndcg@10", "hit_rate@1", "gm_map", "judged@3"])
def test_what_is_no_quotient_of_counts_is_refused_by_name(name):
    with pytest.raises(fastir.UnknownMetricError, match=f"metric '{name}' is no quotient of two counts"):
        fastir.evaluate(QRELS, RUN, ["recall@1", name], average="micro")


REFUSING = {
    "weights": lambda: fastir.evaluate(QRELS, RUN, "recall", average="micro", weights=dict.fromkeys(QRELS, 1)),
    "compare": lambda: fastir.compare(QRELS, {"r": RUN, "s": RUN}, "recall", average="micro"),
    "bounds": lambda: fastir.bounds(QRELS, RUN, "recall@1", average="micro"),
    "tune": lambda: fastir.tune(QRELS, {"r": RUN, "s": RUN}, "recall@1", average="micro"),
    "to_judge": lambda: fastir.to_judge(QRELS, {"r": RUN, "s": RUN}, "recall@1", 3, average="micro"),
}


@pytest.mark.parametrize("call", REFUSING)
def test_where_it_cannot_be_it_is_refused_by_name(call):
    with pytest.raises(ValueError, match=r"'recall(@1)?'.*micro"):
        REFUSING[call]()
