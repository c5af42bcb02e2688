"""Outer bounds of metrics that read more than labels: they hold for all labels, and say where none matters."""

import itertools
import math

import pytest

import fastir

QRELS = {"q1": {"a": 1, "h": 0, "b": 0}, "q2": {"b": 1, "c": 1}, "q3": {"d": 1}}
RUN = {"q1": {"h": 3.0, "x": 2.0, "a": 1.0}, "q2": {"b": 2.0, "y": 1.5, "c": 1.0}, "q3": {"d": 1.0}}
GROUPS = {"a": {"m": 1}, "b": {"f": 1}, "h": {"m": 1}, "x": {"f": 1}, "d": {"f": 1}}
FORBIDDEN = {"forbidden": {"q1": ["h"], "q2": ["z"]}}
COSTS = {"doc_costs": dict.fromkeys("abchxyd", 1)}
EXPOSED = {"doc_groups": GROUPS, "target": {"m": 0.5, "f": 0.5}}
OPEN = [
    *(("leak_recall@2", FORBIDDEN), ("compat_help_harm", FORBIDDEN), ("ndcg_awrf@2", EXPOSED)),
    *((metric, COSTS) for metric in ("recall(budget=2)", "ndcg(budget=2)", "precision(budget=3)")),
    *((metric, COSTS) for metric in ("cost_first_rel", "cost_all_rel")),
]


@pytest.mark.parametrize(("metric", "options"), OPEN)
def test_all_labelings_lie_between_them(metric, options):
    found = fastir.bounds(QRELS, RUN, metric, **options)
    lower, upper = found.lower.per_query(metric), found.upper.per_query(metric)
    for x, y in itertools.product((0, 1), repeat=2):
        labelled = {**QRELS, "q1": QRELS["q1"] | {"x": x}, "q2": QRELS["q2"] | {"y": y}}
        for query, value in fastir.evaluate(labelled, RUN, metric, **options).per_query(metric).items():
            assert math.isnan(value) or lower[query] <= value <= upper[query]
    assert found.value[metric] == fastir.evaluate(QRELS, RUN, metric, **options)[metric]
    assert found.outer == {metric: ["q1", "q2"]} and not found.exact[metric]
    assert lower["q3"] == upper["q3"] == found.value.per_query(metric)["q3"]  # all that q3 retrieved is judged
    assert f"{metric} (outer)" in str(found)


@pytest.mark.parametrize(("metric", "options"), [
    ("forbidden_hits@2", FORBIDDEN), ("forbidden_rate@1", FORBIDDEN), ("awrf@2", EXPOSED),
])  # fmt: skip
def test_what_no_label_changes_is_certain(metric, options):
    found = fastir.bounds(QRELS, RUN, metric, **options)
    assert found.exact == {metric: True}
    assert found.lower[metric] == found.value[metric] == found.upper[metric]
    assert found.outer == {metric: []}


def test_labels_that_forbid_leave_forbidden_hits_open():
    found = fastir.bounds(QRELS, RUN, "forbidden_rate@2", forbidden_level=0)
    assert found.outer == {"forbidden_rate@2": ["q1", "q2"]}


def test_evidence_is_open_where_a_document_is_in_no_set():
    sets = fastir.Qrels.from_sets({"q1": [["a"]], "q3": [["d"]]})
    run = {query: RUN[query] for query in ("q1", "q3")}
    found = fastir.bounds(sets, run, ["evidence_mrr", "recall@3"])
    assert found.lower.per_query("evidence_mrr") == {"q1": 0.0, "q3": 1.0}
    assert found.upper.per_query("evidence_mrr") == {"q1": 1.0, "q3": 1.0}
    assert found.coverage["evidence_mrr"] == fastir.bounds(sets, run, "mrr").coverage["mrr"]


def test_other_metrics_keep_their_bounds_beside_them(tmp_path):
    names = ["ndcg@2", "leak_recall@2", "recall"]
    found = fastir.bounds(QRELS, RUN, names, pool_depth=2, **FORBIDDEN)
    plain = fastir.bounds(QRELS, RUN, ["ndcg@2", "recall"], pool_depth=2)
    for side in ("lower", "upper", "value", "condensed"):
        for name in ("ndcg@2", "recall"):
            assert getattr(found, side).per_query(name) == getattr(plain, side).per_query(name)
    assert list(found.value) == names and math.isnan(found.condensed["leak_recall@2"])
    assert {name: found.exact[name] for name in plain.exact} == plain.exact
    fastir.Run.from_dict(RUN).save(tmp_path / "run.trec")
    assert str(fastir.bounds(QRELS, tmp_path / "run.trec", names, pool_depth=2, **FORBIDDEN)) == str(found)
    unseen = fastir.bounds(QRELS, RUN, "leak_recall@2", unseen=1, **FORBIDDEN)
    assert unseen.outer == {"leak_recall@2": ["q1", "q2", "q3"]}


def test_differences_and_samples_are_refused():
    with pytest.raises(ValueError, match="against: metric 'leak_recall@2' has bounds of one run alone"):
        fastir.bounds(QRELS, RUN, ["map", "leak_recall@2"], against=RUN, **FORBIDDEN)
    with pytest.raises(TypeError, match="bounds has no option 'doc_weights'; no metric that has bounds reads it"):
        fastir.bounds(QRELS, RUN, "psp@2", doc_weights={"a": 1})
