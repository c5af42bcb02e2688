"""Labels that are not whole, against the oracle: they become codes in the kernels, and nothing else may change.

Every metric but those of samples and preferences, over random collections whose labels are drawn anew, as dicts, files,
tables, judged rankings and labels in rank order; and what scaling and monotone maps of labels leave as it is.
"""

import itertools
import math
import random

import gen
import numpy as np
import oracle
import pytest
from common import UNEVEN
from oracle_requests import REQUESTS

import fastir
from fastir.request import conventions_table
from fastir.request.conventions import CONVENTIONS

ROWS = (*conventions_table.TOOLS, *conventions_table.LIST_TOOLS, *conventions_table.ITEM_TOOLS)
pytestmark = UNEVEN
GRADES = (0.1, 0.25, 0.5, 0.92, 1, 1.75, 2, 2.5, 3, 3.99)
PLAIN = [request for request in REQUESTS if not request.name.startswith("prefs_")]
OPTIONS = [
    {"rel_level": 0.5}, {"rel_level": 1}, {"rel_level": 2.2, "ties": "doc_id_asc"},
    {"rel_level": 0.92, "max_depth": 5}, {"rel_level": 0.3, "judged_only": True, "ties": "input"},
]  # fmt: skip


def collection(seed):
    """A random collection with fractions among the labels above 0."""
    rng = random.Random(seed)
    qrels, run = gen.collection(seed)
    real = {q: {doc: rng.choice(GRADES) if n > 0 else n for doc, n in judged.items()} for q, judged in qrels.items()}
    real["first"]["a"] = 0.92
    return real, run


def assert_close(results, expected):
    for row, wanted in zip(results.values.tolist(), expected, strict=True):
        for name, got, want in zip(results.names, row, wanted, strict=True):
            same = math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-14) or (math.isnan(got) and math.isnan(want))
            assert same, (name, got, want)


@pytest.mark.parametrize("seed", range(600, 620))
def test_every_metric_of_real_labels(seed, tmp_path):
    qrels, run = collection(seed)
    options = OPTIONS[seed % len(OPTIONS)]
    requests = PLAIN[seed % 4 :: 4]
    names = list(map(str, requests))
    expected = oracle.evaluate(qrels, run, requests, **options)
    results = fastir.evaluate(qrels, run, names, queries="qrels", **options)
    assert results.query_ids == list(expected)
    assert_close(results, expected.values())
    path = gen.write_qrels(tmp_path / "qrels.txt", qrels)
    table = fastir.Qrels.from_dict(qrels).to_arrow()
    for same in (path, table, fastir.Qrels.from_dict(qrels)):
        again = fastir.evaluate(same, run, names, queries="qrels", **options)
        rows = [again.query_ids.index(query) for query in results.query_ids if query in again.query_ids]
        kept = [place for place, query in enumerate(results.query_ids) if query in again.query_ids]
        assert again.values[rows].tobytes() == results.values[kept].tobytes()


@pytest.mark.parametrize("seed", range(700, 706))
def test_real_labels_in_rank_order(seed):
    qrels, run = collection(seed)
    ranked = [oracle.codes(judged, oracle.ranking(run.get(query, {}))) for query, judged in qrels.items()]
    judged = [list(judgments.values()) for judgments in qrels.values()]
    flat = [(list(itertools.chain(*lists)), [0, *itertools.accumulate(map(len, lists))]) for lists in (ranked, judged)]
    requests = PLAIN[seed % 4 :: 4]
    results = fastir.evaluate_ranked(
        *flat[0], map(str, requests), rel_level=0.5, ideal_labels=flat[1][0], ideal_offsets=flat[1][1]
    )
    assert_close(results, oracle.evaluate(qrels, run, requests, rel_level=0.5).values())


@pytest.mark.parametrize("seed", range(710, 714))
def test_judged_rankings_have_the_bits_of_evaluate(seed, tmp_path):
    qrels, run = collection(seed)
    names = ["ndcg@5", "dcg_burges", "map", "err(max_grade=query)@10", "rbp(gains=scaled)", "bpref", "recall@5"]
    judged = fastir.judged_rankings(qrels, run, queries="qrels")
    wanted = fastir.evaluate(qrels, run, names, rel_level=0.5, queries="qrels")
    assert judged.labels.dtype == judged.ideal_labels.dtype == float
    for suffix in ("npz", "parquet"):
        judged.save(tmp_path / f"judged.{suffix}")
        again = fastir.JudgedRankings.load(tmp_path / f"judged.{suffix}")
        assert again == judged
        found = again.evaluate(names, rel_level=0.5, queries="qrels")
        assert found.values.tobytes() == wanted.values.tobytes()


def test_scaled_labels_scale_cumulated_gains_and_leave_ndcg():
    qrels, run = collection(720)
    halves = {query: {doc: label / 2 for doc, label in judged.items()} for query, judged in qrels.items()}
    names = ["cg@5", "dcg", "ndcg@5", "ndcg"]
    whole, half = (fastir.evaluate(judged, run, names).values for judged in (qrels, halves))
    assert (half[:, :2] == whole[:, :2] / 2).all() and (half[:, 2:] == whole[:, 2:]).all() and whole.any()


def test_a_monotone_map_of_labels_leaves_binary_metrics():
    qrels, run = collection(721)
    squares = {query: {doc: n * n if n > 0 else n for doc, n in judged.items()} for query, judged in qrels.items()}
    names = ["map", "mrr", "P@5", "recall@5", "bpref", "auc"]
    plain = fastir.evaluate(qrels, run, names, rel_level=0.5)
    assert fastir.evaluate(squares, run, names, rel_level=0.25).values.tobytes() == plain.values.tobytes()


def test_expected_values_of_tied_real_labels_are_means_over_all_orders():
    """Four documents with one score: ndcg and err under ties="average" are the means of the 24 orders."""
    labels = {"a": 0.25, "b": 1.5, "c": 0.92, "d": 0}
    names = ["ndcg@2", "dcg_burges@3", "err", "rbp(gains=raw)@3", "P@2"]
    tied = fastir.evaluate({"q": labels}, {"q": dict.fromkeys(labels, 1.0)}, names, ties="average", rel_level=0.5)
    orders = [
        fastir.evaluate(
            {"q": labels}, {"q": {doc: -float(place) for place, doc in enumerate(order)}}, names, rel_level=0.5
        )
        for order in itertools.permutations(labels)
    ]
    for name in names:
        assert math.isclose(tied[name], math.fsum(results[name] for results in orders) / 24, rel_tol=1e-13)


def batch(labels, scores, offsets, metrics, **options):
    total = fastir.Accumulator(metrics, **options)
    total.update(labels, scores, offsets=offsets)
    return total.result()


def tuned(qrels, run, metric, convention):
    ties = CONVENTIONS[convention].ties
    return fastir.tune(qrels, {"x": run, "y": run}, metric, grid=[(1, 1)], folds=2, convention=convention, ties=ties)


def judged(qrels, run, metric, convention):
    options = {n: getattr(CONVENTIONS[convention], n) for n in ("ties", "score_dtype", "duplicates", "exclude")}
    return fastir.judged_rankings(qrels, run, **options).evaluate(metric, convention=convention)


LABELS, SCORES, OFFSETS = np.array([1, 0, 1, 0.25, 0]), np.array([3.0, 2, 3, 2, 1]), [0, 2, 5]
QRELS = {"p": {"a": 1, "b": 0}, "q": {"a": 1, "b": 0.25, "c": 0}}
ITEMS = [{0: 1, 1: 0}, {0: 1, 7: 0.25, 2: 0}]
RUN_OF_IDS = {"p": {"a": 3.0, "b": 2.0}, "q": {"a": 3.0, "b": 2.0, "c": 1.0}}
# Without ids, and with rankings that were judged before: the place is what the call knows of it.
PLACES = {
    "evaluate_ranked": (lambda m, **o: fastir.evaluate_ranked(LABELS, OFFSETS, m, **o), "query 1, document 1"),
    "ideal labels": (
        lambda m, **o: fastir.evaluate_ranked(
            np.array([1, 0, 1]), [0, 2, 3], m, ideal_labels=LABELS, ideal_offsets=OFFSETS, **o
        ),
        "query 1, ideal label 1",
    ),
    "evaluate_scores": (
        lambda m, **o: fastir.evaluate_scores(LABELS, SCORES, offsets=OFFSETS, metrics=m, **o),
        "query 1, document 1",
    ),
    "Accumulator": (lambda m, **o: batch(LABELS, SCORES, OFFSETS, m, **o), "query 1, document 1"),
    "evaluate_topk": (lambda m, **o: fastir.evaluate_topk([[0, 1], [2, 7]], ITEMS, m, **o), "row 1, item 7"),
    "explain_ranked": (lambda m, **o: fastir.explain_ranked([1, 0.25], m, **o), "query 0, document 1"),
    "tune": (lambda m, convention: tuned(QRELS, RUN_OF_IDS, m, convention), "query q, rank 2"),
    "JudgedRankings": (lambda m, convention: judged(QRELS, RUN_OF_IDS, m, convention), "query q, rank 2"),
    "JudgedRankings, not retrieved": (
        lambda m, convention: judged(QRELS, {q: {"a": 1.0} for q in QRELS}, m, convention),
        "query q, no rank",
    ),
}


@pytest.mark.parametrize("call", PLACES)
@pytest.mark.parametrize(
    "convention", [row["name"] for row in ROWS if row["fractions"] in ("cut", "refused", "integers", "ids")]
)
def test_a_refused_fraction_has_its_place_without_ids_too(convention, call):
    measured, place = PLACES[call]
    with pytest.raises(ValueError, match=rf"'{convention}': label 0.25 is not an integer, .*\({place}\)$"):
        measured("ndcg@3", convention=convention)


@pytest.mark.parametrize(
    "convention", [row["name"] for row in ROWS if row["fractions"] in ("cut", "refused", "integers", "ids")]
)
def test_conventions_of_whole_labels_refuse_fractions(convention):
    qrels, run = {"q": {"a": 1, "b": 1.92}, "p": {"a": 0.5}}, {"q": {"a": 1.0}, "p": {"a": 1.0}}
    with pytest.raises(ValueError, match=rf"convention '{convention}': label 1.92 is not an integer, .*q, document b"):
        fastir.evaluate(qrels, run, "ndcg@10", convention=convention)
    whole = {"q": {"a": 1, "b": 2.0}, "p": {"a": 1}}
    assert fastir.evaluate(whole, run, "ndcg@10", convention=convention)["ndcg@10"] > 0


@pytest.mark.parametrize("convention", [row["name"] for row in ROWS if row["fractions"] in ("taken", "gains")])
def test_conventions_of_real_labels_take_fractions(convention):
    qrels, run = {"q": {"a": 1.92, "b": 1.5}}, {"q": {"x": 3.0, "a": 1.0, "b": 2.0}}
    assert 0 < fastir.evaluate(qrels, run, "ndcg", convention=convention)["ndcg"] < 1


# What is relevant to tools, for labels a .25, b 1, c 0.6 and d 0: CatBoost 1.2.10 and Recommenders 1.2.1 were run,
# RecTools 0.19.0, RePlay 0.22.0, LensKit 2025.8.1, Quepid f80322f, Cornac 3.0.1 and TF-Ranking 0.5.5 read; implicit
# 0.7.3, which was run, reads no labels.
RELEVANT = {"catboost": "bc", **dict.fromkeys(("recommenders", "rectools", "replay", "lenskit", "quepid"), "abc"),
            "implicit": "abc", **dict.fromkeys(("cornac", "tf-ranking"), "b")}  # fmt: skip
BINARY = ["map@3", "mrr", "precision@3", "recall@3", "hit_rate@2", "r_precision"]


@pytest.mark.parametrize("convention", RELEVANT)
def test_labels_that_are_not_whole_are_relevant_as_the_tool_says(convention):
    labels, run = {"a": 0.25, "b": 1, "c": 0.6, "d": 0}, {"q": {"d": 4.0, "a": 3.0, "c": 2.0, "b": 1.0}}
    found = fastir.evaluate({"q": labels}, run, BINARY, convention=convention)
    whole = {doc: int(doc in RELEVANT[convention]) for doc in labels}
    expected = fastir.evaluate({"q": whole}, run, BINARY, convention=convention)
    np.testing.assert_array_equal(found.values, expected.values)
    half = fastir.evaluate({"q": {"a": 0.5, "b": 1}}, {"q": {"a": 1.0}}, "recall@3", convention=convention)["recall@3"]
    assert half == {"abc": 0.5, "bc": 0.0, "b": 0.0}[RELEVANT[convention]]


def test_each_row_says_what_its_tool_does_with_a_fraction():
    """Of a tool that takes ids, or such labels as gains alone, a level of the caller's own says what is relevant."""
    assert {row["fractions"] for row in ROWS} == {"taken", "gains", "ids", "cut", "refused", "integers", "linear"}
    with pytest.raises(TypeError, match="fractions"):
        conventions_table.row("new", "a tool of which nobody asked this")
    qrels, run = {"q": {"a": 0.92, "b": 0.5}}, {"q": {"b": 2.0, "a": 1.0}}
    for row in ROWS:
        call = qrels, run, "mrr"
        if row["fractions"] in ("gains", "ids"):
            with pytest.raises(
                ValueError, match=f"'{row['name']}': label 0.92 is not an integer.*; give rel_level.*'mrr'.*q, d"
            ):
                fastir.evaluate(*call, convention=row["name"])
            assert fastir.evaluate(*call, convention=row["name"], rel_level=0.7)["mrr"] == 0.5
            assert fastir.evaluate(qrels, run, "mrr-l0.7", convention=row["name"])["mrr-l0.7"] == 0.5


def test_metrics_whose_tool_has_another_meaning_of_labels_are_refused_by_name():
    for labels in ({"a": 1, "b": 0}, {"a": 0.5}):
        with pytest.raises(fastir.UnknownMetricError, match="convention 'catboost': metric 'err@3' takes labels"):
            fastir.evaluate({"q": labels}, {"q": {"a": 1.0}}, ["map", "err@3"], convention="catboost")
    with pytest.raises(
        ValueError, match=r"'catboost': label 0\.5 is not an integer, and 'auc' counts pairs of unequal"
    ):
        fastir.evaluate({"q": {"a": 0.5, "b": 1}}, {"q": {"a": 1.0}}, "auc", convention="catboost")
    assert (
        fastir.evaluate({"q": {"a": 0, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "auc", convention="catboost")["auc"] == 1
    )


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_credited_with_the_mean_gain_of_their_group(seed):
    """The nDCG of float gains of embeddings-benchmark/mteb#5516: fractions, ties, all equal, a cut in a group."""
    rng = random.Random(seed)
    labels = {f"d{place}": rng.choice([0, 0.1, 0.5, 0.92, 1]) for place in range(8)} | {"d0": 0.92}
    for steps in (1, 2, 3, 8):
        scores = {doc: float(rng.randrange(steps)) for doc in labels}
        for k in (1, 3, 5, 8):
            dcg, rank = 0.0, 0
            for score in sorted(set(scores.values()), reverse=True):
                group = [labels[doc] for doc in labels if scores[doc] == score]
                for _ in group:
                    rank += 1
                    dcg += math.fsum(group) / len(group) / math.log2(rank + 1) if rank <= k else 0.0
            best = sorted(labels.values(), reverse=True)[:k]
            ideal = math.fsum(label / math.log2(place + 2) for place, label in enumerate(best))
            found = fastir.evaluate({"q": labels}, {"q": scores}, f"ndcg@{k}", ties="average")[f"ndcg@{k}"]
            assert math.isclose(found, dcg / ideal, rel_tol=1e-12, abs_tol=1e-15)


@pytest.mark.parametrize("seed", range(730, 736))
def test_explained_values_are_those_of_evaluate(seed):
    qrels, run = collection(seed)
    names = ["ndcg@5", "dcg_burges", "map", "err@10", "P@5", "rbp(gains=scaled)", "recall@5", "bpref"]
    for options in ({"rel_level": 0.5}, {}, {"rel_level": 0.92, "ties": "doc_id_asc"}):
        wanted = fastir.evaluate(qrels, run, names, queries="qrels", **options).to_dict()
        for query in list(qrels)[:4]:
            found = fastir.explain(qrels, run, query, names, queries="qrels", **options)
            assert str(found.values) == str(wanted[query]), query


def test_groups_of_judgments_have_levels_that_are_not_whole():
    qrels = {"q": {"s": {"a": 0.92, "b": 0.2}, "t": {"c": 0.4}}}
    for level, by_hand in ((0.5, 1.0), (0.1, 1.0), (0.95, 0.0)):
        found = fastir.evaluate(qrels, {"q": {"a": 2.0, "c": 1.0}}, ["st_recall@2"], rel_level=level)
        assert found["st_recall@2"] == by_hand


def test_weights_of_documents_whose_labels_are_not_whole():
    """q: a of weight 2 is found, c of weight 1 stands third; p: d of weight 4 is second."""
    qrels, run = {"q": {"a": 0.92, "c": 0.5}, "p": {"d": 1}}, {"q": {"a": 3, "x": 2, "c": 1}, "p": {"x": 2, "d": 1}}
    found = fastir.evaluate(qrels, run, "psp@2", doc_weights={"a": 2.0, "c": 1.0, "d": 4.0}, rel_level=0.5)
    assert math.isclose(found["psp@2"], (2 / 2 + 4 / 2) / (3 / 2 + 4 / 2), rel_tol=1e-15)
