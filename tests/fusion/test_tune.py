"""tune() measures every setting as evaluate() measures its fused run, and scores each query with what others chose."""
# Also of: layout, trials.

import itertools
import math
import random

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.analyses.fusion.cards import METHODS
from fastir.request.conventions import CONVENTIONS

TUNED = [card for card in METHODS.values() if card.tunable]
GRIDS = {"rbc": [0.2, 1], "slidefuse": [1, 5], "probfuse": [1, 3], "gmnz": [0.5, 2], "rrf": [1, 60], "logn_isr": [0, 1]}


def make(seed, n_queries=12, n_docs=30, pool=40):
    """A run with ties."""
    rng = np.random.default_rng(seed)
    scores = np.sort(np.round(rng.random((n_queries, n_docs)) * 5, 1))[:, ::-1]
    return {
        f"q{q}": {f"d{doc}": float(score) for doc, score in zip(rng.permutation(pool), scores[q], strict=False)}
        for q in range(n_queries)
    }


def judge(seed=9, n_queries=13, pool=40, fewest=3):
    """Judgments of a query more than the runs have, few of some queries and many of others."""
    rng = np.random.default_rng(seed)
    return {
        f"q{q}": {f"d{doc}": int(rng.integers(0, 4)) for doc in rng.permutation(pool)[: rng.integers(fewest, 30)]}
        for q in range(n_queries)
    }


RUNS = {name: make(seed) for seed, name in enumerate("abc")}
QRELS = judge()


@pytest.mark.filterwarnings("ignore:all scores of")
@pytest.mark.parametrize("metric", ["ndcg@5", "map", "bpref"])
@pytest.mark.parametrize("card", TUNED, ids=lambda card: card.name)
def test_values_are_those_of_the_fused_runs(card, metric):
    grid = GRIDS.get(card.name, 0.5 if card.weights == "needed" else None)
    for norm, ties in (("min-max", None), ("borda", "doc_id_asc")):
        tuning = fastir.tune(QRELS, RUNS, metric, card.name, norm, grid=grid, folds=4, ties=ties)
        fuse = {"runs": RUNS, "method": card.name, "norm": norm, "ties": ties}
        fused = fastir.fuse(**fuse, run_weights=tuning.weights, **tuning.params)
        evaluated = fastir.evaluate(QRELS, fused, metric, ties=ties, queries="qrels")
        assert tuning.in_sample == pytest.approx(evaluated[metric], abs=1e-14)
        found = tuning.results.per_query(metric)
        for place, fold in enumerate(tuning.folds):
            fused = fastir.fuse(**fuse, run_weights=fold.weights, **fold.params)
            values = fastir.evaluate(QRELS, fused, metric, ties=ties, queries="qrels").per_query(metric)
            chosen = [query for query, of_query in tuning.fold_of_query.items() if of_query == place]
            assert [found[query] for query in chosen] == [values[query] for query in chosen]
            assert fold.n_queries == len(chosen)


@pytest.mark.filterwarnings("ignore:all scores of")
@pytest.mark.parametrize("card", TUNED, ids=lambda card: card.name)
def test_values_of_many_runs_are_those_of_the_fused_runs(card):
    """More runs than features are laid out of."""
    runs = {f"r{seed}": make(seed, n_docs=6, pool=80) for seed in range(12)}
    runs["r3"].pop("q4")
    options = {"grid": GRIDS[card.name]} if card.name in GRIDS else {"n_trials": 3} if card.weights == "needed" else {}
    for norm in ("min-max", "borda"):
        tuning = fastir.tune(judge(pool=80), runs, "ndcg@5", card.name, norm, folds=2, **options)
        fused = fastir.fuse(runs, card.name, norm, tuning.weights, **tuning.params)
        evaluated = fastir.evaluate(judge(pool=80), fused, "ndcg@5", queries="qrels")
        assert tuning.in_sample == pytest.approx(evaluated["ndcg@5"], abs=1e-14)


def test_each_trial_is_an_evaluation():
    tuning = fastir.tune(QRELS, RUNS, "ndcg@5", grid=0.25, folds=2)
    assert len(tuning.trials) == 15
    for one in tuning.trials:
        fused = fastir.fuse(RUNS, "wsum", "min-max", one.weights)
        assert one.value == pytest.approx(fastir.evaluate(QRELS, fused, "ndcg@5", queries="qrels")["ndcg@5"], abs=1e-14)


def test_a_fold_is_scored_with_what_the_others_choose():
    """The slow way: evaluate every setting, and choose for each fold by the mean of the other queries."""
    tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.25, folds=3, random_state=4)
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
    seeds = [fastir.tune(QRELS, RUNS, "ap", grid=0.5, folds=3, random_state=seed).fold_of_query for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_compare_takes_the_cross_validated_values():
    pytest.importorskip("scipy")
    tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.25)
    comparison = fastir.compare(QRELS, {**RUNS, "tuned": tuning.results}, "ap", queries="qrels")
    assert {system.run: system.mean for system in comparison.systems}["tuned"] == pytest.approx(tuning.value)


def test_default_grids_fit_two_three_and_four_runs_and_more_are_sampled():
    sizes = {}
    runs = {str(seed): make(seed, 4) for seed in range(5)}
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
    assert f"Indistinguishable from the best: a from {low:g} to {high:g}." in text
    assert f"{tuning.value:.4f} cross-validated in 5 folds, {tuning.in_sample:.4f} in sample" in text
    assert set(tuning.to_pandas().columns) >= {"a", "b", "value"} if pytest.importorskip("pandas") else True
    assert '"plateau"' in tuning.to_json()


def test_fractions_and_thresholds_of_labels_count_as_in_evaluate():
    qrels = {query: {doc: label / 2 for doc, label in labels.items()} for query, labels in QRELS.items()}
    tuning = fastir.tune(qrels, RUNS, "ndcg@5", grid=0.5, rel_level=1.5, folds=2)
    fused = fastir.fuse(RUNS, "wsum", "min-max", tuning.weights)
    found = fastir.evaluate(qrels, fused, "ndcg@5", rel_level=1.5, queries="qrels")["ndcg@5"]
    assert tuning.in_sample == pytest.approx(found, abs=1e-14)


@pytest.mark.parametrize("options, error, message", [
    ({"method": "sum"}, ValueError, "method 'sum' has nothing to tune: it has no weights and no parameters"),
    ({"method": "wsun"}, ValueError, "did you mean 'wsum'?"),
    ({"folds": 1}, ValueError, "folds must be at least 2, got 1"),
    ({"folds": 99}, ValueError, "folds must be at most the number of queries, 13, got 99"),
    ({"grid": 0.3}, ValueError, "grid: a step of weights must divide 1, got 0.3"),
    ({"folds": 14}, ValueError, "folds must be at most the number of queries, 13, got 14"),
    ({"grid": []}, ValueError, "grid is empty"),
    ({"grid": 1 / 2048}, ValueError, "grid must be of at most 1048576 settings"),
    ({"grid": itertools.repeat([1, 0, 0])}, ValueError, "grid must be of at most 1048576 settings"),
    ({"method": "rbc", "grid": 1e-300}, ValueError, "grid must be of at most 1048576 settings"),
    ({"n_trials": 10**9}, ValueError, "n_trials must be at most 1048576, got 1000000000"),
    ({"n_trials": 10**5000}, ValueError, "n_trials must be at most 1048576, got an int that is too long to print"),
    ({"method": "rrf", "n_trials": 10**9}, ValueError, "n_trials must be at most 1048576, got 1000000000"),
    ({"random_state": -1}, ValueError, "random_state must be at least 0, got -1"),
    ({"grid": [[1, 10**400, 0]]}, OverflowError, "weights: the weight of run 'b' is too large for a float: 1000"),
    ({"queries": "qrels"}, TypeError, "this call does not take the option 'queries' of evaluate"),
    ({"exclude": "query_id"}, TypeError, "this call does not take the option 'exclude' of evaluate"),
    ({"grid": [[1, 0]]}, ValueError, "weights: expected 3, one for each run, got 2"),
    ({"grid": 0.5, "n_trials": 5}, ValueError, "grid and n_trials must not be given together"),
    ({"metric": "num_rel"}, ValueError, "is not a mean over queries"),
    ({"metric": "ndgc@5"}, fastir.UnknownMetricError, "did you mean 'ndcg@5'"),
    ({"metric": "ap", "params": {"k": 1}}, TypeError, "method 'wsum' has no parameter 'k'"),
    ({"method": "rrf", "params": {"k": 1}}, ValueError, "has nothing to tune: its k is fixed"),
    ({"qrels": {"x": {"a": 1}}}, fastir.NoOverlapError, "no run has a query of the qrels: 'x' in the qrels"),
    ({"runs": {"a": RUNS["a"]}}, ValueError, "at least two are needed"),
    ({"rel_lvl": 2}, TypeError, "rel_lvl"),
])  # fmt: skip
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
    assert "Indistinguishable from the best: good from 0.6 to 1." in repr(tuning)


def test_queries_without_documents_count_as_empty_rankings():
    qrels = {**QRELS, "none": {"d1": 1}}
    tuning = fastir.tune(qrels, RUNS, "ap", grid=0.5, folds=2)
    assert tuning.results.per_query("ap")["none"] == 0.0
    assert tuning.value == pytest.approx(math.fsum(tuning.results.per_query("ap").values()) / len(qrels))


def test_scores_that_cannot_be_fused_are_named():
    with pytest.raises(ValueError, match=r"run 'b': the score inf cannot be fused \(query q0, document d9\)"):
        fastir.tune(QRELS, {"a": RUNS["a"], "b": {"q0": {"d9": math.inf}}}, "ap")
    assert fastir.tune(QRELS, {"a": RUNS["a"], "b": {"q0": {"d9": math.inf}}}, "ap", "rrf", None).in_sample > 0


LEARNT = [card for card in TUNED if card.learnt]
LESS = [
    card.name + "(n_docs=1000)" * any(param.required for param in card.params) + "@5" * bool(card.members)
    for card in fastir.metrics()
    if card.higher_is_better is False and card.aggregate.startswith("mean") and not (card.pooled or card.sampled)
    if card.name != "false_surface"  # it is of queries without a relevant document, and here are none
]


def restrict(run, queries):
    return {query: docs for query, docs in run.items() if query in queries}


@pytest.mark.parametrize("card", LEARNT, ids=lambda card: card.name)
def test_a_fold_is_taught_by_the_others_alone(card):
    """What is learnt for a fold is what tuning on all other queries learns, and so another thing than all teach."""
    grid = GRIDS.get(card.name) and GRIDS[card.name][1:]
    tuning = fastir.tune(QRELS, RUNS, "ap", card.name, grid=grid, folds=3)
    for place, fold in enumerate(tuning.folds):
        others = {query: labels for query, labels in QRELS.items() if tuning.fold_of_query[query] != place}
        runs = {name: restrict(run, others) for name, run in RUNS.items()}
        alone = fastir.tune(others, runs, "ap", card.name, grid=grid, folds=2)
        np.testing.assert_equal(fold.params, alone.params)
        assert repr(fold.params) != repr(tuning.params)


@pytest.mark.parametrize("metric", LESS)
def test_of_a_metric_of_which_less_is_better_the_least_mean_is_chosen(metric):
    tuning = fastir.tune(QRELS, RUNS, metric, grid=0.5, folds=3)
    finite = [trial.value for trial in tuning.trials if trial.value == trial.value]
    assert tuning.in_sample == pytest.approx(min(finite), abs=1e-12)
    values = []
    for trial in tuning.trials:
        fused = fastir.fuse(RUNS, "wsum", "min-max", trial.weights)
        values.append(fastir.evaluate(QRELS, fused, metric, queries="qrels").per_query(metric))
    for place, fold in enumerate(tuning.folds):
        others = [query for query in QRELS if tuning.fold_of_query[query] != place]
        means = [np.nanmean([of[query] for query in others]) for of in values]
        chosen = next(mean for trial, mean in zip(tuning.trials, means, strict=True) if trial.weights == fold.weights)
        assert chosen == pytest.approx(np.nanmin(means), abs=1e-12)


def test_noise_is_1_96_standard_errors_worked_by_hand():
    """The values are 1, 1, 1/2, 1 with the first run, 1/2, 1, 1, 1/2 with the second: differences -1/2, 0, 1/2, -1/2.

    Their mean is -1/8, the squares of what is left add up to 11/16, and the error is the root of 11/16 / 3 / 4.
    """
    first, second = {"a": 2.0, "x": 1.0}, {"x": 2.0, "a": 1.0}
    runs = {
        "one": {"q1": first, "q2": first, "q3": second, "q4": first},
        "two": {"q1": second, "q2": first, "q3": first, "q4": second},
    }
    qrels = {query: {"a": 1} for query in runs["one"]}
    tuning = fastir.tune(qrels, runs, "mrr", grid=[[1, 0], [0, 1]], folds=2)
    assert tuning.weights == {"one": 1.0, "two": 0.0}
    chosen, other = tuning.trials
    assert (chosen.value, chosen.difference, chosen.noise) == (0.875, 0.0, 0.0)
    assert (other.value, other.difference) == (0.75, -0.125)
    assert other.noise == pytest.approx(1.96 * math.sqrt(11 / 16 / 3 / 4), rel=1e-15)
    assert other.noise == pytest.approx(0.46913928, abs=1e-8)
    assert other.within_noise
    assert tuning.plateau == {"one": (0.0, 1.0), "two": (0.0, 1.0)}


def test_of_an_even_number_of_equal_settings_the_lower_middle_one_is_chosen():
    grid = [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]
    tuning = fastir.tune(QRELS, {"a": RUNS["a"], "b": dict(RUNS["a"])}, "ap", grid=grid)
    assert tuning.weights == {"a": 0.2, "b": 0.8}


def test_folds_go_round_in_the_order_of_the_seed_one_segment_after_the_other():
    segments = {query: int(query[1:]) % 2 for query in QRELS}
    names = list(QRELS)
    for strata in (None, segments):
        tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.5, folds=3, random_state=5, segments=strata)
        order = [names[place] for place in np.random.default_rng(5).permutation(len(names))]
        if strata:
            numbers = list(dict.fromkeys(segments.values()))
            order.sort(key=lambda query: numbers.index(segments[query]))
        assert tuning.fold_of_query == {query: order.index(query) % 3 for query in names}


def test_a_plateau_of_three_weights_is_the_range_of_all_settings_within_noise():
    tuning = fastir.tune(QRELS, RUNS, "ap", grid=0.25)
    near = [trial.weights for trial in tuning.trials if trial.within_noise]
    assert tuning.plateau == {
        run: (min(weights[run] for weights in near), max(weights[run] for weights in near)) for run in RUNS
    }
    places = [place for place, trial in enumerate(tuning.trials) if trial.within_noise]
    assert len(places) < places[-1] - places[0] + 1  # else it would be a stretch, too


def test_a_collection_that_is_too_small_is_an_error():
    with pytest.raises(ValueError, match=r"'wss\(n_docs=10\)@0.5': n_docs=10 is less than"):
        fastir.tune(QRELS, RUNS, "wss(n_docs=10)@0.5", grid=0.5, folds=2)


def test_what_duplicates_says_of_runs_repairs_judgments_too_except_max(tmp_path):
    """The word max is about scores: of two labels of a document, none is right."""
    path = tmp_path / "qrels.txt"
    path.write_text("q0 0 d1 1\nq0 0 d1 2\nq1 0 d1 1\n")
    assert fastir.tune(path, RUNS, "ap", grid=0.5, folds=2, duplicates="first").value >= 0
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'd1'"):
        fastir.tune(path, RUNS, "ap", grid=0.5, folds=2, duplicates="max")


def test_what_probfuse_learns_is_the_share_of_relevant_documents_in_each_part():
    """Rankings of 7 and 5 documents in 3 parts: of 3, 3 and 1 documents, and of 2, 2 and 1."""
    runs = {
        "a": {f"q{i}": {f"d{j}": float(9 - j) for j in range(7)} for i in range(4)},
        "b": {f"q{i}": {f"d{j}": float(j) for j in range(5)} for i in range(4)},
    }
    qrels = {f"q{i}": {f"d{i}": 1, "d6": 1, "d4": i % 2} for i in range(5)}
    tuning = fastir.tune(qrels, runs, "map", "probfuse", grid=[3])
    expected = []
    for run in runs.values():
        shares = [0.0] * 3
        for query, docs in run.items():
            ranking = sorted(docs, key=docs.__getitem__, reverse=True)
            size = math.ceil(len(ranking) / 3)
            for part in range(3):
                docs_of_part = ranking[part * size : (part + 1) * size]
                shares[part] += sum(qrels[query].get(doc, 0) for doc in docs_of_part) / len(docs_of_part) / len(qrels)
        expected.append(shares)
    assert [list(probs) for probs in tuning.params["probs"]] == [pytest.approx(shares) for shares in expected]
    assert "n_segments" in str(tuning) and tuning.results.report.in_both == 4


def test_whole_parameters_are_tried_once_each():
    tuning = fastir.tune(QRELS, RUNS, "map", "slidefuse", n_trials=300)
    tried = [trial.params["w"] for trial in tuning.trials]
    assert len(tried) < 300 and tried == sorted(set(tried)) and all(type(w) is int for w in tried)


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
            chosen = {"k": setting} if method == "rrf" else {"run_weights": setting}
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


@pytest.mark.parametrize("metric", ["ndcg_cut", "ndcg_cut.5,10", "set", "official", "map_cut", "iprec_at_recall"])
def test_a_family_of_metrics_is_refused(metric):
    with pytest.raises(ValueError, match=f"metric: expected one, and '{metric}' means [0-9]+$"):
        fastir.tune(QRELS, RUNS, metric, grid=0.5)


@pytest.mark.parametrize("convention", [name for name, record in CONVENTIONS.items() if record.ties != "trec"])
def test_a_convention_of_other_ties_is_refused_in_words_of_this_call(convention):
    wanted = CONVENTIONS[convention].ties
    fix = "tune has no such rule" if wanted == "pessimistic" else f"tune with ties='{wanted}'"
    with pytest.raises(ValueError, match=f"'recall@7' has ties='{wanted}' there, and tune has ties='trec'.*{fix}"):
        fastir.tune(QRELS, RUNS, "recall@7", grid=0.5, convention=convention)
    if wanted != "pessimistic":
        qrels = {query_id: QRELS[query_id] for query_id in RUNS["a"]}
        fastir.tune(qrels, RUNS, "recall@7", grid=0.5, convention=convention, ties=wanted)


def test_single_precision_and_the_document_called_like_its_query_count_as_for_evaluate():
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    run = {"q": {"q": 9.0, "a": 1.0}, "p": {"a": 1.0, "b": 0.5}}
    assert fastir.tune(qrels, {"x": run, "y": run}, "ndcg@10", folds=2, convention="beir").in_sample == 1.0
    close = {q: {"a": 1.000000001, "b": 1.0} for q in "qp"}
    call = {"metric": "map", "norm": None, "folds": 2, "grid": [(0.5, 0.5)]}
    assert fastir.tune(qrels, {"x": close, "y": close}, **call).in_sample == 1.0
    assert fastir.tune(qrels, {"x": close, "y": close}, score_dtype="float32", **call).in_sample == 0.5


# ---- what is judged --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("metric", "named"), [("ndcg@3", "judged@3"), ("map", "judged@10")])
def test_each_trial_says_how_much_of_its_ranking_is_judged(metric, named):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "c": -1}, "q3": {"z": 2}}
    runs = {
        "x": {"q1": {"a": 3.0, "u": 2.0, "v": 1.0}, "q2": {"u": 2.0, "c": 1.0}},
        "y": {"q1": {"v": 3.0, "w": 2.0, "b": 1.0}, "q2": {"a": 2.0, "u": 1.0}},
    }
    tuning = fastir.tune(qrels, runs, metric, grid=0.25, folds=3, rel_level=2)
    assert tuning.judged_metric == named
    for trial in tuning.trials:
        fused = fastir.fuse(runs, "wsum", "min-max", list(trial.weights.values()))
        assert trial.judged == pytest.approx(fastir.evaluate(qrels, fused, named, queries="qrels")[named])
    assert f"{named}: " in str(tuning) and named in tuning.to_pandas().columns


def test_a_chosen_setting_that_is_judged_less_is_warned_of():
    qrels = {f"q{i}": {"a": 1, **{f"n{j}": 0 for j in range(9)}} for i in range(6)}
    judged = {q: {"a": 9.0, **{f"n{j}": 8.0 - j for j in range(9)}} for q in qrels}
    unjudged = {q: {"a": 9.0, **{f"u{j}": 8.0 - j for j in range(9)}} for q in qrels}
    grid = [[1, 0], [0, 1], [2, 0]]
    with pytest.warns(fastir.FastirWarning, match=r"judged@10 of the chosen setting is 0\.10, of those .* 0\.63"):
        fastir.tune(qrels, {"judged": judged, "unjudged": unjudged}, "ndcg@10", grid=grid)
