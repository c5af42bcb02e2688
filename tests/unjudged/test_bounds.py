"""Bounds against all labelings of up to eight holes, for every metric and option."""

import itertools
import json
import pickle
import random

import numpy as np
import pytest
from every_labeling import case, check
from every_option import CATALOGUE, METRICS

import fastir
from fastir.measure.responses import OUTER

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


OPTIONS = [
    {},
    {"judged_only": True},
    {"max_depth": 4},
    {"rel_level": 2},
    {"empty": "one"},
    {"empty": "nan", "judged_only": True, "max_depth": 6},
    {"rel_level": 2, "empty": "one"},
]


def test_a_card_says_nothing_only_of_preferences_and_of_samples():
    silent = {card.name for card in fastir.metrics() if card.response == OUTER}
    assert silent == {card.name for card in fastir.metrics() if card.groups == "pairs" or card.sampled}
    assert set(CATALOGUE) - set(METRICS) <= {"hole"}


def test_estimates_from_samples_have_no_bounds_and_say_why():
    both = fastir.Qrels.from_dict({"q": {"a": 1}}, strata={"q": {"a": 1}}, probabilities={"q": {"a": 1}})
    for card in (card for card in fastir.metrics() if card.sampled):
        with pytest.raises(fastir.UnknownMetricError, match=f"'{card.name}' needs qrels that say how"):
            fastir.bounds(both, {"q": {"a": 1.0, "b": 2.0}}, card.name)


def test_a_metric_of_which_nothing_is_known_has_the_bounds_of_its_range_or_of_all_labelings_where_they_are_few():
    few, many = ({f"d{i}": -float(i) for i in range(n)} for n in (4, 40))
    names = ["prefs_simp", "prefs_num_prefs_ful", "ndcg_rel", "inst(T=0.3)"]
    check({"d1": 2, "d3": 0}, few, names, 2)
    outer = fastir.bounds({"q": {"d1": 2, "d3": 0}}, {"q": many}, names)
    assert not any(outer.exact.values())
    assert outer.lower.values.tolist() == [[0.0] * 4] and outer.upper.values.tolist() == [[1.0, np.inf, 1.0, 1.0]]
    assert json.loads(outer.to_json())["metrics"]["prefs_num_prefs_ful"]["upper"] is None


@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("max_label", [1, 2])
def test_bounds_are_those_of_all_labelings(options, depth, max_label):
    number = 10 * OPTIONS.index(options) + 100 * max_label
    check(*case(number, 5, max_label), METRICS, max_label, depth, **options)


@pytest.mark.parametrize("seed", range(3))
def test_eight_holes_have_bounds_of_all_labelings(seed):
    ranking = {f"d{i}": -float(i) for i in range(11)}
    labels = {f"d{i}": i % 2 for i in random.Random(seed).sample(range(11), 3)} | {"u": 1}
    check(labels, ranking, METRICS, 1)


def test_eight_holes_of_three_labels_have_bounds_of_all_labelings():
    ranking = {f"d{i}": -float(i) for i in range(11)}
    names = ["ndcg_rel", "g", "r_ndcg", "compat", "inst(T=0.3)", "nerr@5", "bpm(max_rel=2,T=1.5)"]
    check({"d0": 1, "d4": 0, "d6": 2, "u": 2, "v": 1}, ranking, names, 2)


def test_three_grades_have_bounds_of_all_labelings():
    ranking = {f"d{i}": -float(i) for i in range(7)}
    labels = {"d0": 2, "d2": 1, "d5": 0, "u": 3, "v": 2, "w": 1}
    names = [name for name in METRICS if "gain={1" not in name and "gains={" not in name]
    check(labels, ranking, names, 3)


# ---- rankings that are too long to try all labelings ----------------------------------------------------------------


def long_case(seed, n, share=0.3, most=3):
    random_ = random.Random(seed)
    ranking = {f"d{i}": -float(i) for i in range(n)}
    labels = {doc: random_.choice([0, 1, random_.randint(0, most)]) for doc in ranking if random_.random() < share}
    return labels | {f"u{i}": random_.randint(0, most) for i in range(random_.randint(0, 6))}, ranking


def of_labelings(labels, ranking, metrics, labelings):
    """The values of labelings, each a dict of labels of holes."""
    qrels = {str(i): {**labels, **labeling} for i, labeling in enumerate(labelings)}
    return fastir.evaluate(qrels, dict.fromkeys(qrels, ranking), metrics).values


@pytest.mark.parametrize("seed", range(4))
def test_of_long_rankings_no_sorted_labeling_of_ndcg_is_beyond_the_bounds(seed):
    labels, ranking = long_case(seed, 25)
    holes = [doc for doc in ranking if doc not in labels]
    metrics = ["ndcg", "ndcg@7", "ndcg(gain=exp2)", "ndcg(discount=jk2,ideal=retrieved)@9", "ndcg(ideal=full)@5"]
    sorted_labels = list(itertools.combinations_with_replacement(range(3, -1, -1), len(holes)))
    labelings = [dict(zip(holes, given, strict=True)) for given in sorted_labels]
    upper = of_labelings(labels, ranking, metrics, labelings).max(axis=0)
    lower = of_labelings(
        labels, ranking, metrics, [dict(zip(holes[::-1], given, strict=True)) for given in sorted_labels]
    )
    found = fastir.bounds({"q": labels}, {"q": ranking}, metrics, max_label=3)
    assert np.allclose(found.upper.values[0, [0, 2]], upper[[0, 2]], rtol=1e-13, atol=0)
    assert np.allclose(found.lower.values[0, [0, 2]], lower.min(axis=0)[[0, 2]], rtol=1e-13, atol=0)
    assert (found.upper.values[0] >= upper * (1 - 1e-13)).all()
    assert (found.lower.values[0] <= lower.min(axis=0) * (1 + 1e-13)).all()


@pytest.mark.parametrize("seed", range(4))
def test_of_long_rankings_nerr_has_the_best_sorted_labeling(seed):
    labels, ranking = long_case(seed, 14)
    holes = [doc for doc in ranking if doc not in labels]
    metrics = ["nerr", "nerr(max_grade=query)", "nerr(ideal=num_ret)", "nerr(max_grade=3,ideal=retrieved)", "nerr-l2"]
    sorted_labels = list(itertools.combinations_with_replacement(range(3, -1, -1), len(holes)))
    found = fastir.bounds({"q": labels}, {"q": ranking}, metrics, max_label=3)
    for order, values, extreme in ((holes, found.upper, np.max), (holes[::-1], found.lower, np.min)):
        labelings = [dict(zip(order, given, strict=True)) for given in sorted_labels]
        own = of_labelings(labels, ranking, metrics, labelings)
        assert np.allclose(values.values[0], extreme(own, axis=0), rtol=1e-13, atol=0)


@pytest.mark.parametrize("target", [1.0, 2.5])
def test_of_long_rankings_bpm_has_the_sums_of_a_walk(target):
    """Each number of rank and sum that a reader can see, with sums as whole numbers of thirds."""
    for seed in range(5):
        labels, ranking = long_case(seed, 40)
        sums, ended = {0}, set()
        for rank, doc in enumerate(ranking, 1):
            sums = {total + label for total in sums for label in ([labels[doc]] if doc in labels else range(4))}
            ended |= {total / 3 / rank for total in sums if total >= 3 * target or rank == 20}
            sums = {total for total in sums if total < 3 * target and rank < 20}
        found = fastir.bounds({"q": labels}, {"q": ranking}, f"bpm(max_rel=3,T={target})@20", max_label=3)
        assert np.allclose([found.lower.values[0, 0], found.upper.values[0, 0]], [min(ended), max(ended)], rtol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_of_long_rankings_sums_of_precision_have_the_best_chain(seed):
    labels, ranking = long_case(seed, 60, 0.2 + 0.1 * seed, 1)
    holes = [doc for doc in ranking if doc not in labels]
    names = [
        "map",
        "yaap",
        "gm_map",
        "map(ap_norm=hits)",
        "map(ap_norm=min_kR)@200",
        "map(ap_norm=min_nkR)@45",
        "map@30",
    ]
    found = fastir.bounds({"q": labels}, {"q": ranking}, names, max_label=1)
    for order, values, extreme in ((holes, found.upper, np.max), (holes[::-1], found.lower, np.min)):
        for column, name in enumerate(names):
            cutoff = int(name.partition("@")[2] or 60)
            inside = [doc for doc in order if int(doc[1:]) < cutoff]
            others = {doc: int(values is found.lower) for doc in order if doc not in inside}
            labelings = [
                {**others, **{doc: int(i < m) for i, doc in enumerate(inside)}} for m in range(len(inside) + 1)
            ]
            assert values.values[0, column] == extreme(of_labelings(labels, ranking, name, labelings)), name


def test_random_labelings_of_long_rankings_are_within_the_bounds():
    random_ = random.Random(1)
    names = [name for name in METRICS if "gain" not in name]
    for seed in range(3):
        labels, ranking = long_case(seed, 40)
        holes = [doc for doc in ranking if doc not in labels]
        labelings = []
        for _ in range(60):
            share, top = random_.random(), random_.randint(1, 3)
            labelings.append({doc: random_.randint(0, top) * (random_.random() < share) for doc in holes})
        values = of_labelings(labels, ranking, names, labelings)
        found = fastir.bounds({"q": labels}, {"q": ranking}, names, max_label=3)
        inside = (found.lower.values <= values + 1e-13) & (values - 1e-13 <= found.upper.values) | np.isnan(values)
        assert inside.all(), [
            name for name, column in zip(found.lower.names, inside.T, strict=True) if not column.all()
        ]


# ---- what bounds are ------------------------------------------------------------------------------------------------


def test_the_width_of_rbp_is_its_residual_without_the_tail():
    labels, ranking = long_case(5, 30, 0.5, 1)
    found = fastir.bounds({"q": labels}, {"q": ranking}, ["rbp(p=0.9)", "rbp(p=0.9)@10"])
    residual = fastir.evaluate({"q": labels}, {"q": ranking}, ["rbp_resid(p=0.9)", "rbp_resid(p=0.9)@10"]).values[0]
    width = (found.upper.values - found.lower.values)[0]
    assert np.allclose(width, residual - [0.9**30, 0.9**10], rtol=1e-12)


def test_negative_labels_are_holes_and_what_is_below_the_depth_stays_unjudged():
    qrels, run = {"q": {"a": 1, "b": -1, "c": 1}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    whole = fastir.bounds(qrels, run, ["P@2", "judged@2"])
    assert (whole.lower["P@2"], whole.upper["P@2"]) == (0.0, 1.0)
    first = fastir.bounds(qrels, run, ["P@2", "num_rel", "unjudged@2"], depth=1)
    assert (first.lower["P@2"], first.upper["P@2"], first.upper["num_rel"]) == (0.0, 0.5, 3.0)
    assert first.lower["unjudged@2"] == first.upper["unjudged@2"] == 0.5
    assert fastir.bounds(qrels, run, "P@2", depth=9, max_depth=1).upper["P@2"] == 0.5


def test_without_holes_bounds_are_the_value():
    qrels, run = {"q": {"a": 1, "b": 0}, "r": {"c": 2}}, {"q": {"b": 2.0, "a": 1.0}}
    with pytest.warns(fastir.FastirWarning):
        found = fastir.bounds(qrels, run, METRICS[:60])
    assert found.lower == found.upper == found.value
    assert all(found.exact.values())


def test_values_are_those_of_evaluate_and_so_are_the_other_columns():
    labels, ranking = long_case(2, 30)
    qrels, run = {"q": labels, "r": labels}, {"q": ranking, "r": dict(list(ranking.items())[:7])}
    names = ["ndcg@10", "map", "P@5"]
    found = fastir.bounds(qrels, run, names, rel_level=2)
    assert found.value == fastir.evaluate(qrels, run, names, rel_level=2)
    assert found.condensed == fastir.evaluate(qrels, run, names, rel_level=2, judged_only=True)
    judged = fastir.evaluate(qrels, run, ["judged@10", "judged", "judged@5"])
    assert list(found.coverage.values()) == list(dict(judged).values())
    assert found.judged == fastir.judged_rankings(qrels, run)
    assert (found.max_label, found.depth) == (3, None)


def test_threads_and_the_other_metrics_change_no_bit():
    cases = {str(seed): long_case(seed, 30) for seed in range(40)}
    qrels, run = {q: c[0] for q, c in cases.items()}, {q: c[1] for q, c in cases.items()}
    names = ["ndcg", "map", "r_precision", "err@5", "nerr@4", "bpref"]
    alone = fastir.bounds(qrels, run, names, n_threads=1)
    shared = fastir.bounds(qrels, run, names[::-1], n_threads=3)
    for name in names:
        assert alone.lower.per_query(name) == shared.lower.per_query(name)
        assert alone.upper.per_query(name) == shared.upper.per_query(name)


@pytest.mark.parametrize("weights", [None, {"a": 1.0, "b": 3.0, "c": 0.5}])
@pytest.mark.parametrize("name", ["mrr", "mean_rank", "auc", "ndcg@2", "gm_map"])
def test_means_are_extreme_where_labels_can_leave_a_query_out(name, weights):
    qrels = {"a": {"d0": 1, "d3": 0}, "b": {"d1": 0}, "c": {"d2": 0, "d0": 0}}
    run = {
        "a": {"d0": 4, "d1": 3, "d3": 2},
        "b": {"d1": 3, "d0": 2, "d4": 1},
        "c": {"d0": 3, "d5": 2, "d2": 1, "d6": 0},
    }
    holes = [(query, doc) for query in run for doc in run[query] if doc not in qrels[query]]
    means = []
    for given in itertools.product((0, 1), repeat=len(holes)):
        labelled = {query: dict(labels) for query, labels in qrels.items()}
        for (query, doc), label in zip(holes, given, strict=True):
            labelled[query][doc] = label
        means.append(fastir.evaluate(labelled, run, name, empty="skip", weights=weights)[name])
    found = fastir.bounds(qrels, run, name, empty="skip", weights=weights)
    assert np.isclose(found.lower[name], np.nanmin(means), rtol=1e-14)
    assert np.isclose(found.upper[name], np.nanmax(means), rtol=1e-14)


def test_the_table_names_outer_bounds_and_they_know_their_queries():
    qrels = {"1": {"a": 2, "b": 0}, "2": {"a": 1, "b": 2}}
    run = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}, "2": {f"d{i}": -float(i) for i in range(9)}}
    found = fastir.bounds(qrels, run, ["ndcg@3", "g"])
    assert found.exact == {"ndcg@3": True, "g": False}
    assert found.outer == {"ndcg@3": [], "g": ["2"]}
    assert (found.lower.per_query("g")["2"], found.upper.per_query("g")["2"]) == (0.0, 1.0)
    assert repr(found).splitlines()[2:] == [
        "g (outer)  0.3155  0.3155  1.0000     0.5000  0.3333",
        "",
        "2 queries; labels of unjudged documents from 0 to 2",
        "outer bound: no labels give a value beyond it, and perhaps none gives it",
    ]
    assert found.to_table("csv", digits=2).startswith("metric,lower,value,upper,condensed,judged")


def test_bounds_are_those_that_their_value_knows_and_json_has_them():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "a": 2.0}}
    found = fastir.bounds(qrels, run, ["mrr", "auc"])
    assert found.value.bounds is found and found.lower.bounds is None
    assert fastir.evaluate(qrels, run, "mrr").bounds is None
    again = pickle.loads(pickle.dumps(found))
    assert json.loads(again.to_json()) == json.loads(found.to_json()) and again.value.bounds is again
    mrr = {"lower": 0.5, "value": 0.5, "upper": 1.0, "condensed": 1.0, "judged": 0.5, "exact": True}
    auc = {"lower": 0.0, "value": 0.0, "upper": 0.0, "condensed": None, "judged": 0.5, "exact": True}
    assert json.loads(found.to_json()) == {"metrics": {"mrr": mrr, "auc": auc}, "max_label": 1, "depth": None}


def test_judgments_without_relevant_documents_have_bounds():
    qrels, run = {"q": {"a": 0}}, {"q": {"x": 2.0, "a": 1.0}}
    for name in METRICS[:60]:
        found = fastir.bounds(qrels, run, name)
        assert found.max_label == 0 and np.array_equal(found.lower.values, found.upper.values, equal_nan=True), name
    assert fastir.bounds(qrels, run, "mrr", max_label=1).upper["mrr"] == 1.0


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"max_label": 1}, ValueError, r"max_label=1, but the qrels have the label 2 \(query 'q2'\)"),
        ({"max_label": 0}, ValueError, "max_label: the largest label must be positive"),
        ({"max_label": "2"}, TypeError, "max_label must be an int"),
        ({"depth": 0}, ValueError, "depth: the depth must be positive"),
        ({"ties": "optimistic"}, ValueError, "ties='optimistic' orders equal scores by their labels"),
        ({"ties": "pessimistic"}, ValueError, "ties='pessimistic' orders equal scores by their labels"),
        ({"ties": "average"}, ValueError, "ties='average' has no single order"),
        ({"metrics": "hole@5"}, fastir.UnknownMetricError, "hole@5"),
        ({"metrics": "err", "max_label": 5}, OverflowError, "metric 'err': max_label=5 is too large for max_grade=4"),
        ({"metrics": "ndcg(gain={1:3,2:1})"}, fastir.UnknownMetricError, "gains that fall somewhere"),
        ({"metrics": "rbp(gains={1:0.5})"}, fastir.UnknownMetricError, "scaled by the largest label"),
        ({"metrics": "nothing"}, fastir.UnknownMetricError, "nothing"),
    ],
)
def test_bad_input_is_named(given, error, message):
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 2}}, {"q1": {"x": 1.0}, "q2": {"a": 1.0}}
    given = {"metrics": "map", **given}
    with pytest.raises(error, match=message):
        fastir.bounds(qrels, run, given.pop("metrics"), **given)
