"""Why a value is what it is: what explain and diff show adds up to the value, for every metric, rule and input."""

import copy
import itertools
import math
import pickle
import random

import gen
import numpy as np
import pytest
from closed_forms import AVERAGED
from common import UNEVEN
from every_convention import explanation_that_differs

import fastir
from fastir.explanation.query_explanation import increments

pytestmark = UNEVEN

CARDS = [card for card in fastir.metrics() if not card.sampled]
NAMES = [
    *(card.name + ("@0.4" if card.at else "") for card in CARDS),
    *(f"{card.name}@{k}" for card in CARDS if card.cutoff for k in (1, 3, 20)),
]
# Sums of a term for every rank.
SUMS = [
    "ndcg",
    "ndcg@5",
    "ndcg_burges@5",
    "dcg@5",
    "map",
    "map@3",
    "precision@5",
    "recall@5",
    "rbp",
    "err@5",
    "cg@4",
    "hits@7",
]
QRELS = {"q": {"a": 3, "b": 0, "c": 1, "d": -1, "e": 2, "f": 1}}
RUN = {"q": {"b": 6.0, "a": 5.0, "x": 5.0, "y": 4.0, "c": 3.0, "d": 2.0, "e": 2.0}}


def explanations(qrels, run, metrics, **options):
    """The results of a run, and an explanation of each query."""
    evaluator = fastir.Evaluator(qrels, metrics, queries="qrels", **options)
    return evaluator.evaluate(run), {query: evaluator.explain(run, query) for query in qrels}


def agree(results, told):
    """The values are those of the evaluation, to the bit, and the parts add up to them."""
    for query, row in results.to_dict().items():
        explanation = told[query]
        assert same(explanation.values, row), query
        assert explanation.status == results.status[query]
        for metric, value in row.items():
            parts = [explanation.base[metric], *(document.contribution[metric] for document in explanation.documents)]
            if value == value:
                assert math.isclose(math.fsum(parts), value, rel_tol=1e-15, abs_tol=1e-15), (query, metric)


def same(values, others):
    return values.keys() == others.keys() and all(
        values[name] == others[name] or (values[name] != values[name] and others[name] != others[name])
        for name in values
    )


# ---- explain: what it adds up to -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "doc_id_asc"},
        {"ties": "input", "max_depth": 9},
        {"ties": "optimistic"},
        {"ties": "pessimistic", "judged_only": True},
        {"judged_only": True, "max_depth": 7},
        {"score_dtype": "float32", "rel_level": 2},
        {"empty": "skip"},
        {"empty": "one", "gain": "exp2"},
        {"ideal": "retrieved", "ap_norm": "hits"},
        {"gain": {-1: 0.5, -2: 0.25, 0: -1, 2: 7}, "ties": "optimistic"},
    ],
    ids=str,
)
def test_every_metric_is_the_sum_of_what_its_documents_contribute(options):
    names = [name for name in NAMES if "gain" not in options or not name.startswith(("err", "nerr"))]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 15), names, **options))


def test_expected_values_over_ties_add_up_as_well():
    names = [
        card.name + ("@5" if card.cutoff else "@0.4" if card.at else "") for card in CARDS if card.name in AVERAGED
    ]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 12), names, ties="average"))


def test_values_under_every_convention_are_those_of_evaluate():
    rng, explained = random.Random(27), 0
    for _ in range(250):
        broken, was_explained = explanation_that_differs(rng)
        assert broken is None
        explained += was_explained
    assert explained > 100


@pytest.mark.parametrize(
    ("convention", "metric"),
    [
        ("sklearn", "ndcg"),
        ("sklearn", "ndcg_burges"),
        ("sklearn", "dcg"),
        ("torchmetrics", "ndcg"),
        ("torchmetrics", "auc"),
        ("cornac", "auc"),
        ("catboost", "hole@2"),
        ("llamaindex", "precision@2"),
    ],
)
def test_a_metric_that_brings_its_own_rules_is_explained_by_them(convention, metric):
    qrels = {"q": {"a": 1, "c": 0, "d": 2, "e": -1}, "other": {"b": 1}}
    run = {"q": {"b": 1.0, "a": 1.0, "c": 1.0, "d": 0.5, "e": 1.0}, "other": {}}
    if convention == "llamaindex":
        run = {"q": ["a", "a", "b", "a"], "other": []}
    agree(*explanations(qrels, run, metric, convention=convention))


def test_tied_scores_under_two_rules_are_refused():
    run = {"q": {"b": 1.0, "a": 1.0}}
    evaluator = fastir.Evaluator({"q": {"a": 1}}, ["ndcg", "map"], convention="sklearn")
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        evaluator.explain(run, "q")
    untied = {"q": {"b": 2.0, "a": 1.0}}
    agree(evaluator.evaluate(untied), {"q": evaluator.explain(untied, "q")})


def test_shares_of_expected_values_are_expected_discounts():
    told = fastir.explain({"q": {"a": 1}}, {"q": {"b": 1.0, "a": 1.0}}, "q", "ndcg", convention="torchmetrics")
    [discount] = [document.discount["ndcg"] for document in told.documents if document.doc_id == "a"]
    assert discount == pytest.approx((1 + 1 / math.log2(3)) / 2, rel=1e-15)


@pytest.mark.parametrize("convention", ["trec_eval-9", "trec_eval-10", "pyserini"])
def test_an_empty_ranking_has_no_value_where_trec_eval_leaves_it_out(convention):
    names = ["iprec@0", "iprec_avg", "11pt_avg", "map"]
    told = fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", names, convention=convention)
    row = fastir.evaluate({"q": {"a": 1}}, {"q": {}}, names, convention=convention).to_dict()["q"]
    assert same(told.values, row) and math.isnan(told.values["11pt_avg"])
    with_c = fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", names, convention=convention, queries="qrels")
    assert set(with_c.values.values()) == {0.0}


def test_groups_of_qrels():
    qrels, run = gen.grouped_collection(4, 6)
    agree(*explanations(qrels, run, ["alpha_ndcg@5", "alpha_dcg@5", "err_ia@5", "st_recall@5", "map_ia", "nrbp"]))
    agree(*explanations(qrels, run, ["p_ia", "alpha_ndcg@5"], max_depth=6))


def test_parts_of_sums_add_up_to_the_bit():
    rng = random.Random(5)
    for seed in range(40):
        qrels, run = {"q": gen.query(rng, 30)[0]}, {"q": gen.query(rng, 30)[1]}
        [(_, explanation)] = explanations(qrels, run, SUMS)[1].items()
        for metric, value in explanation.values.items():
            assert math.fsum(document.contribution[metric] for document in explanation.documents) == value, seed


def test_documents_that_nobody_asked_for_yet_are_there_in_copies_and_comparisons():
    evaluator = fastir.Evaluator(QRELS, ["ndcg", "map"])
    asked = evaluator.explain(RUN, "q")
    assert asked.documents is asked.documents and isinstance(asked.documents, list)
    assert evaluator.explain(RUN, "q") == asked
    assert pickle.loads(pickle.dumps(evaluator.explain(RUN, "q"))) == asked
    assert repr(copy.deepcopy(evaluator.explain(RUN, "q"))) == repr(asked)
    assert evaluator.explain(RUN, "q").missing == asked.missing
    with pytest.raises(AttributeError, match="no attribute 'docs'"):
        asked.docs  # noqa: B018


def test_increments_carry_their_rounding():
    rng = random.Random(1)
    for _ in range(200):
        rising = list(itertools.accumulate(rng.random() ** 8 for _ in range(50)))
        assert math.fsum(increments(rising)) == rising[-1]
    assert increments([0.25, 1.0, 0.5]) == [0.25, 0.75, -0.5]
    assert increments([math.nan, 1.0, math.nan, 0.5]) == [0.0, 1.0, 0.0, -0.5]


# ---- explain: what it shows ------------------------------------------------------------------------------------


def test_a_term_is_the_gain_times_the_discount():
    metrics = ["ndcg", "dcg(gain=exp2)", "ndcg(discount=jk2)@3", "map", "rbp"]
    [explanation] = explanations(QRELS, RUN, metrics)[1].values()
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    labels = [("b", 0), ("x", None), ("a", 3), ("y", None), ("c", 1), ("e", 2), ("d", -1)]
    assert [(document.doc_id, document.label) for document in explanation.documents] == labels
    assert [document.tied for document in explanation.documents] == [1, 2, 2, 1, 1, 2, 2]
    assert [document.rank for document in explanation.documents] == [1, 2, 3, 4, 5, 6, 7]
    assert [document.score for document in explanation.documents] == [6.0, 5.0, 5.0, 4.0, 3.0, 2.0, 2.0]
    for rank, (_, label), document in zip(range(1, 8), labels, explanation.documents, strict=True):
        gain = max(label or 0, 0)
        assert document.gain["ndcg"] == gain
        assert document.gain["dcg(gain=exp2)"] == 2**gain - 1
        assert math.isclose(document.contribution["ndcg"], gain / math.log2(rank + 1) / ideal, abs_tol=1e-15)
        if gain:
            assert math.isclose(document.discount["ndcg"], 1 / math.log2(rank + 1), rel_tol=1e-14)
            assert math.isclose(document.discount["ndcg(discount=jk2)@3"], 1 / math.log2(rank) if rank == 3 else 0)
            assert math.isclose(document.discount["rbp"], 0.8 ** (rank - 1), rel_tol=1e-14)
        else:
            assert document.discount["ndcg"] is None
    terms = [document.contribution["map"] for document in explanation.documents]
    assert terms == pytest.approx([0, 0, 1 / 3 / 4, 0, 2 / 5 / 4, 3 / 6 / 4, 0], abs=1e-16)


def test_gains_stay_those_of_the_labels_when_the_ideal_is_what_was_retrieved():
    [explanation] = explanations(QRELS, RUN, "ndcg", ideal="retrieved")[1].values()
    assert [document.gain["ndcg"] for document in explanation.documents] == [0, 0, 3, 0, 1, 2, 0]
    assert math.isclose(explanation.documents[2].discount["ndcg"], 0.5)


def test_missing_documents_are_the_relevant_ones_best_first():
    qrels = {"q": {"a": 1, "c": 1, "b": 3, "n": 0, "p": -1, "found": 2}}
    [explanation] = explanations(qrels, {"q": {"found": 1.0}}, ["ndcg", "recall"])[1].values()
    assert [(document.doc_id, document.label) for document in explanation.missing] == [("b", 3), ("a", 1), ("c", 1)]
    best = explanation.missing[0]
    assert best == (
        "b",
        None,
        None,
        0,
        3,
        {"ndcg": 3.0, "recall": 0.25},
        {"ndcg": None, "recall": None},
        {"ndcg": 0.0, "recall": 0.0},
    )


def test_what_cannot_contribute_is_part_of_the_base():
    metrics = ["num_ret", "num_rel", "ideal_dcg", "unjudged@4"]
    [explanation] = explanations(QRELS, RUN, metrics)[1].values()
    assert explanation.base == {
        "num_ret": 7.0,
        "num_rel": 4.0,
        "ideal_dcg": explanation.values["ideal_dcg"],
        "unjudged@4": 1.0,
    }
    assert [document.contribution["unjudged@4"] for document in explanation.documents] == [-0.25, 0, -0.25, 0, 0, 0, 0]


def test_a_query_that_the_run_lacks_is_an_empty_ranking():
    qrels = {"q": {"a": 1}, "other": {"b": 1}, "none": {"c": 0}}
    evaluator = fastir.Evaluator(qrels, "mrr", queries="qrels")
    told = {query: evaluator.explain({"q": {"a": 1.0}, "none": {}}, query) for query in qrels}
    assert [explanation.status for explanation in told.values()] == ["evaluated", "missing", "no_relevant"]
    assert told["other"].documents == [] and [document.doc_id for document in told["other"].missing] == ["b"]
    assert told["other"].values == {"mrr": 0.0}
    with pytest.raises(KeyError, match="query 'zz' is not in the qrels"):
        evaluator.explain({"q": {"a": 1.0}}, "zz")


def test_every_input_is_explained_alike(tmp_path):
    qrels = {str(number): docs for number, docs in enumerate(gen.collection(3)[0].values())}
    run = {str(number): docs for number, docs in enumerate(gen.collection(3)[1].values())}
    files = gen.write_qrels(tmp_path / "qrels", qrels), gen.write_run(tmp_path / "run", run)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    expected = fastir.Evaluator(qrels, ["map", "ndcg"]).explain(run, "1")
    assert expected.documents
    assert fastir.Evaluator(qrels, ["map", "ndcg"]).explain(rows, "1") == expected
    assert fastir.Evaluator(qrels, ["map", "ndcg"]).explain(fastir.Run.from_dict(run), "1") == expected
    assert fastir.Evaluator(str(files[0]), ["map", "ndcg"]).explain(files[1], 1) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


def test_integer_ids_stay_integers():
    evaluator = fastir.Evaluator({7: {1: 1, 20: 2, 300: 1}}, "ndcg")
    explanation = evaluator.explain({7: {20: 1.0, 1: 1.0, 5: 1.0}}, 7)
    assert [document.doc_id for document in explanation.documents] == [5, 20, 1]
    assert [document.doc_id for document in explanation.missing] == [300]
    assert explanation.query_id == 7
    assert explanation.values == dict(evaluator.evaluate({7: {20: 1.0, 1: 1.0, 5: 1.0}}).to_dict()[7])


def test_ids_that_look_like_the_unknown_ones():
    qrels = {"q": {"?0": 1, "??1": 0, "a": 1}}
    agree(*explanations(qrels, {"q": {"?1": 3.0, "?0": 2.0, "a": 1.0, "???": 0.5}}, ["map", "bpref"]))


def test_nothing_of_the_callers_is_changed_or_kept():
    run = {"q": dict(RUN["q"])}
    evaluator = fastir.Evaluator(QRELS, "map")
    explanation = evaluator.explain(run, "q")
    assert run == RUN
    run["q"].clear()
    assert len(explanation.documents) == 7


def test_metrics_that_rank_differently_have_no_single_ranking():
    run = {"q": {"b": 1.0, "a": 1.0, "c": 0.5}}
    evaluator = fastir.Evaluator(QRELS, ["nDCG@5", "RR@5"], convention="ir_measures")
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        evaluator.explain(run, "q")
    untied = {"q": {"b": 0.2, "a": 0.1}}
    assert same(evaluator.explain(untied, "q").values, evaluator.evaluate(untied).to_dict()["q"])
    grouped = fastir.Evaluator({"q": {"g": {"a": 1}, "h": {"b": 1}}}, "map_ia", ties="optimistic")
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        grouped.explain(run, "q")


def test_metrics_that_drop_unjudged_documents():
    evaluator = fastir.Evaluator(QRELS, ["ndcg(judged_only=true)", "precision(judged_only=true)"])
    explanation = evaluator.explain(RUN, "q")
    assert [document.doc_id for document in explanation.documents] == ["b", "a", "c", "e"]
    agree(evaluator.evaluate(RUN), {"q": explanation})
    parts = [document.contribution["precision(judged_only=true)"] for document in explanation.documents]
    assert parts == [0, 0.25, 0.25, 0.25]
    assert explanation.documents[1].discount["ndcg(judged_only=true)"] == pytest.approx(1 / math.log2(3))
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        fastir.Evaluator(QRELS, ["ndcg(judged_only=true)", "ndcg"]).explain(RUN, "q")


def test_documents_that_were_judged_for_other_queries():
    qrels = {"q": {"a": 1}, "r": {"x": 0, "y": 1}}
    evaluator = fastir.Evaluator(qrels, "hole@4", queries="qrels")
    explanation = evaluator.explain({"q": {"a": 4.0, "x": 3.0, "z": 2.0}}, "q")
    assert explanation.values == evaluator.evaluate({"q": {"a": 4.0, "x": 3.0, "z": 2.0}}).to_dict()["q"]
    assert (explanation.base, [document.contribution["hole@4"] for document in explanation.documents]) == (
        {"hole@4": 0.75},
        [-0.25, -0.25, 0.0],
    )


def test_it_prints_ranks_ties_labels_and_what_is_missing():
    ranking = {f"x{number}": -float(number) for number in range(30)}
    ranking.update(a=0.5, b=-20.5, c=-20.5)
    evaluator = fastir.Evaluator({"q": {"a": 2, "b": 1, "c": -1, "m": 1}}, ["ndcg", "recall"])
    lines = str(evaluator.explain({"q": ranking}, "q")).splitlines()
    assert lines[0] == "query q: ndcg 0.7076, recall 0.6667"
    assert lines[1].split() == ["rank", "doc_id", "score", "tied", "label", "ndcg", "recall"]
    assert lines[2].split() == ["1", "a", "0.5", "2", "+0.6388", "+0.3333"]
    assert lines[3].split() == ["2", "x0", "0", "-"] or lines[3].split() == ["2", "x0", "-0", "-"]
    assert lines[12].split() == ["11-22", "...", "-"]
    assert lines[13].split() == ["23", "c", "-20.5", "2", "-1"]
    assert lines[14].split() == ["24", "b", "-20.5", "2", "1", "+0.0688", "+0.3333"]
    assert lines[-1].split() == ["missing", "m", "1"]


def test_records_are_what_a_frame_takes():
    pandas = pytest.importorskip("pandas")
    [explanation] = explanations(QRELS, RUN, ["ndcg", "map"])[1].values()
    frame = pandas.DataFrame(explanation.records("map"))
    assert list(frame.columns) == ["doc_id", "rank", "score", "tied", "label", "gain", "discount", "contribution"]
    assert math.isclose(frame["contribution"].sum(), explanation.values["map"])
    assert explanation.records() == explanation.records("ndcg")
    with pytest.raises(KeyError, match="'mrr' was not evaluated; the metrics here are 'ndcg', 'map'"):
        explanation.records("mrr")


# ---- diff of rankings ------------------------------------------------------------------------------------------


def test_documents_enter_leave_move_and_stay():
    evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2, "c": 1, "d": 1}}, ["dcg", "map"])
    new = evaluator.explain({"q": {"a": 4.0, "c": 3.0, "b": 2.0, "u": 1.0}}, "q")
    old = evaluator.explain({"q": {"a": 4.0, "b": 3.0, "d": 2.0, "v": 1.0}}, "q")
    diff = new.diff(old)
    moves = {move.doc_id: move for move in diff.moves}
    assert {doc: (move.what, move.rank, move.other_rank) for doc, move in moves.items()} == {
        "a": ("stayed", 1, 1),
        "b": ("moved", 3, 2),
        "c": ("entered", 2, None),
        "d": ("left", None, 3),
        "u": ("entered", 4, None),
        "v": ("left", None, 4),
    }
    b = moves["b"]
    assert (b.label, b.gain, b.discount) == (2, 2.0, pytest.approx(0.5, rel=1e-15))
    assert b.change == b.contribution - b.other_contribution == pytest.approx(1 - 2 / math.log2(3))
    assert moves["c"].change == pytest.approx(1 / math.log2(3))
    assert moves["d"].change == -0.5
    assert (diff.metric, diff.value, diff.other_value) == ("dcg", new.values["dcg"], old.values["dcg"])
    assert [abs(move.change) for move in diff.moves] == sorted((abs(move.change) for move in diff.moves), reverse=True)
    for metric in new.values:
        changes = math.fsum(move.change for move in new.diff(old, metric).moves)
        assert math.isclose(changes, new.values[metric] - old.values[metric], abs_tol=1e-15)


def test_a_diff_prints_the_judged_documents_and_counts_the_others():
    evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2, "c": 1, "d": 1}}, ["dcg", "map"])
    new = evaluator.explain({"q": {"a": 4.0, "c": 3.0, "b": 2.0, "u": 1.0}}, "q")
    old = evaluator.explain({"q": {"a": 4.0, "b": 3.0, "d": 2.0, "v": 1.0}}, "q")
    assert (
        str(new.diff(old))
        == """\
query q, dcg: 2.6309 against 2.7619, -0.1309
doc_id  what     rank  was  label  gain  discount     was   change
c       entered     2    -      1     1    0.6309  -       +0.6309
d       left        -    3      1     1    -       0.5000  -0.5000
b       moved       3    2      2     2    0.5000  0.6309  -0.2619

of those without a label 1 entered, 1 left"""
    )


def test_explanations_of_two_queries_have_no_diff():
    evaluator = fastir.Evaluator({"q": {"a": 1}, "r": {"a": 1}}, "mrr", queries="qrels")
    first, second = (evaluator.explain({"q": {"a": 1.0}}, query) for query in "qr")
    with pytest.raises(ValueError, match="two queries, 'q' and 'r'"):
        first.diff(second)
    with pytest.raises(KeyError, match="'map' was not evaluated"):
        first.diff(first, "map")


# ---- diff of results -------------------------------------------------------------------------------------------


def results_of(ranks, **options):
    """Results whose reciprocal ranks are those of the ranks, by query; 0 where that is None."""
    qrels = {query: {"rel": 1} for query in ranks}
    run = {
        query: {"rel" if place + 1 == rank else f"x{place}": -float(place) for place in range(9)}
        for query, rank in ranks.items()
    }
    return fastir.evaluate(qrels, run, ["mrr", "num_ret"], queries="qrels", **options)


def test_queries_gain_and_lose():
    new = results_of({"a": 1, "b": 2, "c": 4, "d": None, "e": 5})
    old = results_of({"a": 2, "b": 1, "c": 4, "d": 1, "e": 8})
    diff = new.diff(old, "mrr")
    assert diff.gains == [("a", 1.0, 0.5, 0.5), ("e", 0.2, 0.125, 0.2 - 0.125)]
    assert diff.losses == [("d", 0.0, 1.0, -1.0), ("b", 0.5, 1.0, -0.5)]
    assert (diff.n_gains, diff.n_equal, diff.n_losses, diff.left_out) == (2, 1, 2, [])
    assert (diff.mean, diff.other_mean) == (new["mrr"], old["mrr"])
    shorter = new.diff(old, "mrr", top=1)
    assert (shorter.gains, shorter.losses, shorter.n_gains) == (diff.gains[:1], diff.losses[:1], 2)
    assert (
        str(shorter)
        == """\
mrr: 0.3900 against 0.5750, -0.1850; 2 gain, 1 equal, 2 lose
query_id          value     was   change
a                1.0000  0.5000  +0.5000
... 1 more gain
d                0.0000  1.0000  -1.0000
... 1 more lose"""
    )


def test_only_queries_that_both_have_are_compared():
    new, old = results_of({"a": 1, "b": 2}), results_of({"b": 1, "c": 1})
    diff = new.diff(old, "mrr")
    assert (diff.left_out, diff.mean, diff.other_mean, diff.losses) == (["a", "c"], 0.5, 1.0, [("b", 0.5, 1.0, -0.5)])
    with pytest.raises(fastir.NoOverlapError, match="these results have 'a', the others 'z'"):
        new.diff(results_of({"z": 1}), "mrr")
    with pytest.raises(KeyError, match="'map' was not evaluated"):
        new.diff(old, "map")
    with pytest.raises(TypeError, match="must be Results, got dict"):
        new.diff({"a": 1.0}, "mrr")
    with pytest.raises(ValueError, match="top: the number of queries must be positive"):
        new.diff(old, "mrr", top=0)


def test_rounding_is_no_gain_and_nan_is_left_out():
    def made(values):
        values = np.array([values]).T
        return fastir.Results([*"abcd"], ["m"], values, np.zeros(4, np.uint8), ["mean"], fastir.results.Report())

    diff = made([0.1 + 0.2, 0.5, math.nan, 0.0]).diff(made([0.3, 0.25, 1.0, 1e-9]), "m")
    assert (diff.n_gains, diff.n_equal, diff.n_losses, diff.left_out) == (1, 1, 1, ["c"])
