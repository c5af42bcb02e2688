"""tune() measures every setting as evaluate() measures its fused run, and scores each query with what others chose.

Also of: layout, learning, search, trials, tuning.
"""

import itertools
import math
import random

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.fusion.cards import METHODS
from fastir.request.conventions import CONVENTIONS

TUNED = [card for card in METHODS if card.tunable]
GRIDS = {"rbc": [0.2, 1], "slidefuse": [1, 5], "probfuse": [1, 3], "gmnz": [0.5, 2], "rrf": [1, 60], "logn_isr": [0, 1]}


def made(seed, n_queries=12, n_docs=30, pool=40):
    """A run with ties."""
    rng = np.random.default_rng(seed)
    scores = np.sort(np.round(rng.random((n_queries, n_docs)) * 5, 1))[:, ::-1]
    return {
        f"q{q}": {f"d{doc}": float(score) for doc, score in zip(rng.permutation(pool), scores[q], strict=False)}
        for q in range(n_queries)
    }


def judged(seed=9, n_queries=13, pool=40, fewest=3):
    """Judgments of a query more than the runs have, few of some queries and many of others."""
    rng = np.random.default_rng(seed)
    return {
        f"q{q}": {f"d{doc}": int(rng.integers(0, 4)) for doc in rng.permutation(pool)[: rng.integers(fewest, 30)]}
        for q in range(n_queries)
    }


RUNS = {name: made(seed) for seed, name in enumerate("abc")}
QRELS = judged()


@pytest.mark.parametrize("metric", ["ndcg@5", "map", "bpref"])
@pytest.mark.parametrize("card", TUNED, ids=lambda card: card.name)
def test_values_are_those_of_the_fused_runs(card, metric):
    grid = GRIDS.get(card.name, 0.5 if card.weights == "needed" else None)
    for norm, ties in (("min-max", None), ("borda", "doc_id_asc")):
        tuning = fastir.tune(QRELS, RUNS, metric, card.name, norm, grid=grid, folds=4, ties=ties)
        fuse = {"runs": RUNS, "method": card.name, "norm": norm, "ties": ties}
        fused = fastir.fuse(**fuse, weights=tuning.weights, **tuning.params)
        evaluated = fastir.evaluate(QRELS, fused, metric, ties=ties, queries="qrels")
        assert tuning.in_sample == pytest.approx(evaluated[metric], abs=1e-14)
        found = tuning.results.per_query(metric)
        for place, fold in enumerate(tuning.folds):
            fused = fastir.fuse(**fuse, weights=fold.weights, **fold.params)
            values = fastir.evaluate(QRELS, fused, metric, ties=ties, queries="qrels").per_query(metric)
            chosen = [query for query, of_query in tuning.fold_of_query.items() if of_query == place]
            assert [found[query] for query in chosen] == [values[query] for query in chosen]
            assert fold.n_queries == len(chosen)


def test_each_trial_is_an_evaluation():
    tuning = fastir.tune(QRELS, RUNS, "ndcg@5", grid=0.25, folds=2)
    assert len(tuning.trials) == 15
    for trial in tuning.trials:
        fused = fastir.fuse(RUNS, "wsum", "min-max", trial.weights)
        assert trial.value == pytest.approx(
            fastir.evaluate(QRELS, fused, "ndcg@5", queries="qrels")["ndcg@5"], abs=1e-14
        )


def test_a_fold_is_scored_with_what_the_others_choose():
    """The slow way: evaluate every setting, and choose for each fold by the mean of the other queries."""
    tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.25, folds=3, seed=4)
    values = []
    for trial in tuning.trials:
        fused = fastir.fuse(RUNS, "wsum", "min-max", trial.weights)
        values.append(fastir.evaluate(QRELS, fused, "ap", queries="qrels").per_query("ap"))
    for place, fold in enumerate(tuning.folds):
        others = [query for query in QRELS if tuning.fold_of_query[query] != place]
        means = [round(math.fsum(of[query] for query in others) / len(others), 12) for of in values]
        best = [trial.weights for trial, mean in zip(tuning.trials, means, strict=True) if mean == max(means)]
        assert fold.weights == best[(len(best) - 1) // 2]


def test_leaving_one_out_and_any_number_of_threads():
    one = fastir.tune(QRELS, RUNS, "ndcg@5", grid=0.25, folds=len(QRELS), n_threads=1)
    many = fastir.tune(QRELS, RUNS, "ndcg@5", grid=0.25, folds=len(QRELS), n_threads=3)
    assert one == many
    assert sorted(one.fold_of_query.values()) == list(range(len(QRELS)))
    assert one.value <= one.in_sample


def test_folds_are_stratified_by_segments_and_made_by_the_seed():
    segments = {query: int(query[1:]) % 2 for query in QRELS}
    tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.5, folds=3, segments=segments)
    for segment in (0, 1):
        folds = [fold for query, fold in tuning.fold_of_query.items() if segments[query] == segment]
        counts = np.bincount(folds, minlength=3)
        assert counts.max() - counts.min() <= 1
    seeds = [fastir.tune(QRELS, RUNS, "ap", grid=0.5, folds=3, seed=seed).fold_of_query for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_compare_takes_the_cross_validated_values():
    pytest.importorskip("scipy")
    tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.25)
    comparison = fastir.compare(QRELS, {**RUNS, "tuned": tuning.results}, "ap", queries="qrels")
    assert {system.run: system.mean for system in comparison.systems}["tuned"] == pytest.approx(tuning.value)


def test_default_grids_fit_two_three_and_four_runs_and_more_are_sampled():
    sizes = {}
    runs = {str(seed): made(seed, 4) for seed in range(5)}
    for n in (2, 3, 4):
        some = dict(itertools.islice(runs.items(), n))
        tuning = fastir.tune(QRELS, some, "ap", folds=2)
        sizes[n] = len(tuning.trials)
        assert all(math.fsum(trial.weights.values()) == pytest.approx(1) for trial in tuning.trials)
    assert sizes == {2: 101, 3: 231, 4: 1771}
    tuning = fastir.tune(QRELS, runs, "ap", folds=2, n_trials=50)
    assert len(tuning.trials) == 50
    assert "50 points of low discrepancy" in tuning.search
    assert len({tuple(trial.weights.values()) for trial in tuning.trials}) == 50
    assert all(min(trial.weights.values()) >= 0 for trial in tuning.trials)


def test_a_plateau_is_around_the_chosen_setting_and_printed():
    tuning = fastir.tune(QRELS, {"a": RUNS["a"], "b": RUNS["b"]}, "ap")
    low, high = tuning.plateau["a"]
    assert low <= tuning.weights["a"] <= high
    inside = [trial for trial in tuning.trials if low <= trial.weights["a"] <= high]
    assert all(trial.within_noise for trial in inside)
    text = repr(tuning)
    assert f"Within noise of the chosen one: a from {low:g} to {high:g}." in text
    assert f"{tuning.value:.4f} cross-validated in 5 folds, {tuning.in_sample:.4f} in sample" in text
    assert set(tuning.to_pandas().columns) >= {"a", "b", "value"} if pytest.importorskip("pandas") else True
    assert '"plateau"' in tuning.to_json()


def test_fractions_and_thresholds_of_labels_count_as_in_evaluate():
    qrels = {query: {doc: label / 2 for doc, label in labels.items()} for query, labels in QRELS.items()}
    tuning = fastir.tune(qrels, RUNS, "ndcg@5", grid=0.5, rel_level=1.5, folds=2)
    fused = fastir.fuse(RUNS, "wsum", "min-max", tuning.weights)
    found = fastir.evaluate(qrels, fused, "ndcg@5", rel_level=1.5, queries="qrels")["ndcg@5"]
    assert tuning.in_sample == pytest.approx(found, abs=1e-14)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"method": "sum"}, ValueError, "method 'sum' has nothing to tune: it has no weights and no parameters"),
        ({"method": "wsun"}, ValueError, "did you mean 'wsum'?"),
        ({"folds": 1}, ValueError, "folds must be at least 2, got 1"),
        ({"folds": 99}, ValueError, "folds must be at most the number of queries, 13, got 99"),
        ({"grid": 0.3}, ValueError, "grid: a step of weights must divide 1, got 0.3"),
        ({"grid": []}, ValueError, "grid is empty"),
        ({"grid": [[1, 0]]}, ValueError, "weights: expected 3, one for each run, got 2"),
        ({"grid": 0.5, "n_trials": 5}, ValueError, "grid and n_trials must not be given together"),
        ({"metric": "num_rel"}, ValueError, "is not a mean over queries"),
        ({"metric": "ndgc@5"}, fastir.UnknownMetricError, "did you mean 'ndcg@5'"),
        ({"metric": "ap", "params": {"k": 1}}, TypeError, "method 'wsum' has no parameter 'k'"),
        ({"method": "rrf", "params": {"k": 1}}, ValueError, "has nothing to tune: its k is fixed"),
        ({"qrels": {"x": {"a": 1}}}, fastir.NoOverlapError, "no run has a query of the qrels: 'x' in the qrels"),
        ({"runs": {"a": RUNS["a"]}}, ValueError, "at least two are needed"),
        ({"rel_lvl": 2}, TypeError, "rel_lvl"),
    ],
)
def test_what_is_wrong_is_said(options, error, message):
    arguments = {"qrels": QRELS, "runs": RUNS, "metric": "ap", **options}
    with pytest.raises(error) as caught:
        fastir.tune(**arguments)
    assert message in str(caught.value)


def test_judgments_that_no_run_has_are_said():
    with pytest.warns(fastir.FastirWarning, match="no run has a judged document"):
        fastir.tune({"q0": {"x": 1}, "q1": {"y": 1}}, RUNS, "ap", grid=0.5, folds=2)


def test_a_plateau_is_all_weights_where_runs_agree_and_a_stretch_where_they_do_not():
    same = fastir.tune(QRELS, {"a": RUNS["a"], "b": dict(RUNS["a"])}, "ap", grid=0.25)
    assert same.plateau == {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    assert same.weights == {"a": 0.5, "b": 0.5}  # the middle of equally good ones
    queries = [f"q{i}" for i in range(20)]
    good = {query: {"x": 2.0, "y": 1.0, "z": 0.0} for query in queries}
    bad = {query: {"z": 2.0, "y": 1.0, "x": 0.0} for query in queries}
    tuning = fastir.tune({query: {"x": 1} for query in queries}, {"good": good, "bad": bad}, "mrr", grid=0.1)
    assert tuning.plateau == {"good": (0.6, 1.0), "bad": (0.0, 0.4)}
    assert "Within noise of the chosen one: good from 0.6 to 1." in repr(tuning)


def test_queries_without_documents_count_as_empty_rankings():
    qrels = {**QRELS, "none": {"d1": 1}}
    tuning = fastir.tune(qrels, RUNS, "ap", grid=0.5, folds=2)
    assert tuning.results.per_query("ap")["none"] == 0.0
    assert tuning.value == pytest.approx(math.fsum(tuning.results.per_query("ap").values()) / len(qrels))


def test_scores_that_cannot_be_fused_are_named():
    with pytest.raises(ValueError, match=r"run 'b': the score inf cannot be fused \(query q0, document d9\)"):
        fastir.tune(QRELS, {"a": RUNS["a"], "b": {"q0": {"d9": math.inf}}}, "ap")
    assert fastir.tune(QRELS, {"a": RUNS["a"], "b": {"q0": {"d9": math.inf}}}, "ap", "rrf", None).in_sample > 0


def some_collection(rng):
    """Qrels and two runs: equal and nearly equal scores, documents called like their queries, lacking queries."""
    queries = [f"q{number}" for number in range(5)]
    docs = [*queries, "a", "b", "c", "d"]
    qrels = {q: {doc: rng.choice((0, 1, 1, 2)) for doc in rng.sample(docs, 6)} for q in queries}
    scores = (1.0, 1.000000001, 2.0, 3.0, 0.0)
    runs = {
        name: {
            q: {doc: rng.choice(scores) for doc in rng.sample(docs, rng.randint(1, 8))} for q in queries[: 5 - lacks]
        }
        for name, lacks in zip("xy", rng.choice(((0, 0), (1, 2), (2, 0), (1, 1))), strict=True)
    }
    return qrels, runs


@UNEVEN
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_setting_is_worth_what_evaluate_says_of_the_fused_runs_under_every_convention(convention):
    """To the bit, with the same queries; or tune refuses."""
    rng, tuned = random.Random(f"tune {convention}"), 0
    for metric in ("ndcg@3", "map", "mrr@5", "mrr", "precision@2", "iprec@0", "rbp"):
        for method, norm in (("wsum", "min-max"), ("wsum", None), ("rrf", None)):
            qrels, runs = some_collection(rng)
            setting = 10 if method == "rrf" else (0.3, 0.7)
            chosen = {"k": setting} if method == "rrf" else {"weights": setting}
            ties = "doc_id_asc" if convention in ("sentence-transformers", "ndeval", "ir_measures") else "trec"
            ties = rng.choice((ties, "input")) if convention not in ("fastir", "beir") else "trec"
            options = {"convention": convention}
            try:
                tuning = fastir.tune(qrels, runs, metric, method, norm, grid=[setting], folds=2, ties=ties, **options)
            except ValueError:
                continue
            fused = fastir.fuse(runs, method, norm, ties=ties, **chosen)
            found = fastir.evaluate(qrels, fused, metric, **options)
            assert tuning.in_sample == found[metric] or (np.isnan([tuning.in_sample, found[metric]])).all()
            assert tuning.trials[0].value == tuning.in_sample or np.isnan(tuning.in_sample)
            assert tuning.results.query_ids == found.query_ids
            np.testing.assert_array_equal(tuning.results.values, found.values)
            tuned += 1
    assert tuned or convention == "catboost"  # whose equal scores go by their labels


def test_single_precision_and_the_document_called_like_its_query_count_as_for_evaluate():
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    run = {"q": {"q": 9.0, "a": 1.0}, "p": {"a": 1.0, "b": 0.5}}
    assert fastir.tune(qrels, {"x": run, "y": run}, "ndcg@10", folds=2, convention="beir").in_sample == 1.0
    close = {q: {"a": 1.000000001, "b": 1.0} for q in "qp"}
    call = {"metric": "map", "norm": None, "folds": 2, "grid": [(0.5, 0.5)]}
    assert fastir.tune(qrels, {"x": close, "y": close}, **call).in_sample == 1.0
    assert fastir.tune(qrels, {"x": close, "y": close}, score_dtype="float32", **call).in_sample == 0.5
