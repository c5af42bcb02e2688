"""Judgments and similarity: runs and bounds beside an evaluation, pools of 50 runs, agreement, preferences."""

import numpy as np
import pytest
from timing import METRICS, Goal, clocked
from workloads import another_run, judged, preferences, systems, without_ties, write_qrels, write_run

import fastir

ROUNDS = 5
FEW = 20  # queries that plain Python takes part in
ONE = "fastir, evaluating one"
PREFERENCES = [f"prefs_{kind}{which}" for kind in ("simp", "pair", "avgjg") for which in ("", "_ret", "_imp")]


# ---- similarity ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ties", ["w", "a"])
def test_similarity_of_dicts(race, quick, collection, ties):
    qrels, run = collection("passages")
    other, measure = another_run(run), f"rbo(ties={ties})"
    alike = fastir.similarity(run, other, measure)
    held = fastir.similarity(fastir.Run.from_dict(run), fastir.Run.from_dict(other), measure)
    np.testing.assert_array_equal(alike.values, held.values)
    calls = {
        "fastir, two dicts": lambda: fastir.similarity(run, other, measure),
        ONE: lambda: fastir.evaluate(qrels, run, METRICS, n_threads=1),
    }
    group = f"{measure} of two runs, {len(run)} x 1000, from dicts"
    race(group, calls, [Goal("fastir, two dicts", ONE, 1 / 10)], ROUNDS)


def test_similarity_of_files(race, quick, collection, tmp_path):
    qrels, run = collection("passages")
    other = another_run(run)
    paths = [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run")]
    write_qrels(paths[0], qrels)
    write_run(paths[1], run)
    write_run(paths[2], other)
    np.testing.assert_array_equal(fastir.similarity(*paths[1:]).values, fastir.similarity(run, other).values)
    calls = {
        "fastir, two files": lambda: fastir.similarity(*paths[1:]),
        ONE: lambda: fastir.evaluate(*paths[:2], METRICS, n_threads=1),
    }
    group = f"rbo of two runs, {len(run)} x 1000, from files"
    race(group, calls, [Goal("fastir, two files", ONE, 1 / 4)], ROUNDS)


def test_similarity_by_hand(race, collection):
    _, run = collection("passages")
    few = without_ties({query: run[query] for query in list(run)[:FEW]})
    other = without_ties(another_run(few))
    calls = {
        "fastir, two dicts": lambda: fastir.similarity(few, other).values[:, 0],
        "plain Python": lambda: np.array([plain_rbo(few[query], other[query]) for query in few]),
    }
    group = f"rbo of two runs, {FEW} x 1000, beside plain Python"
    race(group, calls, [Goal("fastir, two dicts", "plain Python")], ROUNDS, same=1e-12)


def plain_rbo(a, b, p=0.9):
    """Extrapolated, of rankings of one length without ties, depth by depth."""
    seen_a, seen_b, total, agreement = set(), set(), 0.0, 0.0
    for depth, (one, two) in enumerate(zip(a, b, strict=True), 1):
        seen_a.add(one)
        seen_b.add(two)
        agreement = len(seen_a & seen_b) / depth
        total += (1 - p) * p ** (depth - 1) * agreement
    return total + p ** len(a) * agreement


# ---- a judge's errors ------------------------------------------------------------------------------------------------
def test_under_a_judge(race, quick):
    qrels, run = judged(5 if quick else 50, 1000)
    random = np.random.default_rng(0)
    judge = {q: {d: int(abs(x - (random.random() < 0.1))) for d, x in docs.items()} for q, docs in qrels.items()}
    human = {q: {d: x for d, x in docs.items() if random.random() < 0.1} for q, docs in qrels.items()}
    call = {"metrics": METRICS, "n_draws": 100 if quick else 1000, "n_threads": 1}
    found = fastir.evaluate_under_judge(judge, human, run, **call)
    assert all(mean.low < mean.estimate < mean.high for mean in found.means.values())
    calls = {
        "fastir, under a judge": lambda: fastir.evaluate_under_judge(judge, human, run, **call),
        "fastir, comparing two": lambda: fastir.compare_under_judge(judge, human, {"a": run, "b": run}, **call),
        ONE: lambda: fastir.evaluate(qrels, run, METRICS, n_threads=1),
    }
    group = f"{call['n_draws']} draws of labels, five metrics, {len(run)} x 1000"
    race(group, calls, [Goal("fastir, under a judge", ONE, 1 / 400)], ROUNDS)


# ---- unjudged documents ----------------------------------------------------------------------------------------------
def test_bounds(race, quick):
    qrels, run = judged(5 if quick else 50, 1000)
    bounds, value = fastir.bounds(qrels, run, METRICS), fastir.evaluate(qrels, run, METRICS)
    assert (bounds.lower.values <= value.values).all() and (value.values <= bounds.upper.values).all()
    calls = {
        "fastir, bounds": lambda: fastir.bounds(qrels, run, METRICS),
        ONE: lambda: fastir.evaluate(qrels, run, METRICS, n_threads=1),
    }
    race("bounds of five metrics, 50 x 1000 heavily judged", calls, [Goal("fastir, bounds", ONE)], ROUNDS)


@pytest.mark.parametrize("metric", METRICS)
def test_bounds_of_one_metric(race, quick, metric):
    """In evaluations: asked 3, seen 2 to 3."""
    qrels, run = judged(5 if quick else 50, 1000)
    calls = {
        "fastir, bounds": lambda: fastir.bounds(qrels, run, metric, n_threads=1),
        ONE: lambda: fastir.evaluate(qrels, run, metric, n_threads=1),
    }
    assert calls["fastir, bounds"]().value.values.tobytes() == calls[ONE]().values.tobytes()
    race(f"bounds of {metric}, 50 x 1000 heavily judged", calls, [Goal("fastir, bounds", ONE, 1 / 3)], ROUNDS)


# ---- curves ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("curve", [fastir.precision_recall_curve, fastir.roc_curve])
def test_curves(race, quick, curve):
    qrels, run = judged(5 if quick else 50, 1000)
    name = f"fastir, {curve.__name__}"
    mean = {"precision_recall_curve": "map", "roc_curve": "auc"}[curve.__name__]
    assert curve(qrels, run).area() == pytest.approx(fastir.evaluate(qrels, run, mean)[mean], abs=1e-15)
    calls = {
        name: lambda: curve(qrels, run, n_threads=1),
        ONE: lambda: fastir.evaluate(qrels, run, METRICS, n_threads=1),
    }
    race(f"{curve.__name__}, 50 x 1000 heavily judged", calls, [Goal(name, ONE, 1 / 3)], ROUNDS)


# ---- pools -----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def task(quick):
    """Judgments, and the runs of a shared task as they are held once they are read."""
    qrels, runs = systems(*(20, 8) if quick else (250, 50))
    return qrels, {name: fastir.Run.from_dict(run) for name, run in runs.items()}, runs


def test_pool_and_leave_one_out(race, quick, task):
    qrels, runs, given = task
    pooled = {(row.query_id, row.doc_id): row.runs for row in fastir.pool(runs, 100)}
    assert pooled == plain_pool(given)
    name = next(iter(runs))
    own = {(query, doc) for (query, doc), names in plain_pool(given).items() if names == (name,)}
    rest = {query: {doc: docs[doc] for doc in docs if (query, doc) not in own} for query, docs in qrels.items()}
    left_out = fastir.leave_one_out(qrels, runs, "map")
    assert left_out.without[name][name]["map"] == fastir.evaluate(rest, given[name], "map")["map"]
    both = "fastir, pool and leave one out"
    calls = {
        both: lambda: (fastir.pool(runs, 100), fastir.leave_one_out(qrels, runs, "map")),
        "fastir, leave one out": lambda: fastir.leave_one_out(qrels, runs, "map"),
        "fastir, pool": lambda: fastir.pool(runs, 100),
        "plain Python, pool": lambda: plain_pool(given),
    }
    costs = race("pools, 50 runs x 250 x 100", calls, [Goal("fastir, pool", "plain Python, pool")], ROUNDS)
    for what in list(calls)[1:3]:
        race.amount(what, costs[what].cpu, "s", 1)


def test_few_runs_pooled_and_left_out(race, quick):
    """Runs in order, as they are read from files; beside sets, and three evaluations of all."""
    qrels, judged_run = judged(5 if quick else 50, 1000)
    runs = {"a": judged_run, "b": another_run(judged_run), "c": another_run(another_run(judged_run))}
    runs = {name: without_ties(run) for name, run in runs.items()}
    held = {name: fastir.Run.from_dict(run) for name, run in runs.items()}

    def sets():
        found = {}
        for run in runs.values():
            for query, docs in run.items():
                found.setdefault(query, set()).update(list(docs)[:100])
        return found

    pooled = fastir.pool(held, 100)
    assert {query: set(masks) for query, masks in pooled.masks.items()} == sets()
    calls = {"fastir, pool": lambda: fastir.pool(held, 100), "sets": sets}
    race(f"pool of 3 x {len(qrels)} x 1000, first 100", calls, [Goal("fastir, pool", "sets")], ROUNDS)
    calls = {
        "fastir, leave_one_out": lambda: fastir.leave_one_out(qrels, held, "map"),
        "fastir, evaluate_many, three times": lambda: [fastir.evaluate_many(qrels, held, "map") for _ in range(3)],
    }
    costs = {name: min(clocked(call, 1).cpu for _ in range(ROUNDS)) for name, call in calls.items()}
    race.amount("leave_one_out", costs["fastir, leave_one_out"] / costs["fastir, evaluate_many, three times"],
                "of three evaluate_many", 1.3)  # fmt: skip


def plain_pool(runs):
    """{(query_id, doc_id): names of the runs}; every ranking is as long as the pool is deep."""
    found = {}
    for name, run in runs.items():
        for query, docs in run.items():
            for doc in docs:
                found.setdefault((query, doc), []).append(name)
    return {key: tuple(names) for key, names in found.items()}


def test_to_judge(race, task):
    qrels, runs, given = task
    chosen = fastir.to_judge(qrels, runs, "map", 100)
    unjudged = {key for key in plain_pool(given) if key[1] not in qrels[key[0]]}
    assert {(each.query_id, each.doc_id) for each in chosen} <= unjudged and chosen.n_unjudged == len(unjudged)
    calls = {
        "fastir, to_judge": lambda: fastir.to_judge(qrels, runs, "map", 100),
        "fastir, evaluate_many": lambda: fastir.evaluate_many(qrels, runs, "map", n_threads=1),
    }
    costs = race(f"what to judge next, {len(runs)} runs x {len(qrels)} x 100", calls, rounds=ROUNDS)
    race.amount("fastir, to_judge", costs["fastir, to_judge"].cpu, "s", 1)


@pytest.mark.parametrize("alike", [False, True], ids=["other documents", "the same documents"])
def test_merge_qrels(race, quick, alike):
    old, _ = judged(5 if quick else 50, 1000)
    new = {query: {doc if alike else f"new-{doc}": label for doc, label in docs.items()} for query, docs in old.items()}

    def by_hand():
        merged = {query: dict(docs) for query, docs in old.items()}
        for query, docs in new.items():
            merged.setdefault(query, {}).update({doc: label for doc, label in docs.items() if label >= 0})
        return merged

    calls = {"fastir": lambda: fastir.merge_qrels(old, new, duplicates="last"), "dicts, updated": by_hand}
    assert fastir.merge_qrels(old, new, duplicates="last").to_dict() == by_hand()
    group = f"merge_qrels of 2 x {len(old)} x 1000, {'the same' if alike else 'other'} documents"
    race(group, calls, [Goal("fastir", "dicts, updated")], ROUNDS)


# ---- agreement and preferences ---------------------------------------------------------------------------------------
def test_agreement(race, quick):
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, _ = judged(5 if quick else 50, 1000)
    rng = np.random.default_rng(0)
    model = {
        query: {doc: min(3, label + int(rng.random() < 0.2)) for doc, label in docs.items()}
        for query, docs in qrels.items()
    }
    labels = [[label for docs in side.values() for label in docs.values()] for side in (qrels, model)]

    def kappas(agreement):
        return np.array([agreement.kappa, agreement.weighted_kappa])

    calls = {
        "fastir": lambda: kappas(fastir.agreement(qrels, model)),
        "scikit-learn": lambda: np.array(
            [metrics.cohen_kappa_score(*labels, weights=weights) for weights in (None, "quadratic")]
        ),
    }
    goal = Goal("fastir", "scikit-learn")
    race("agreement, 50 x 1000 judgments; in fastir with intervals", calls, [goal], ROUNDS, same=1e-12)


def test_judge_bias(race, quick):
    t = pytest.importorskip("scipy.stats").t
    qrels, _ = judged(5 if quick else 50, 1000)
    rng = np.random.default_rng(0)
    model = {
        query: {doc: label + int(rng.random() < 0.2) for doc, label in docs.items()} for query, docs in qrels.items()
    }
    sources = {doc: "abcde"[place % 5] for docs in qrels.values() for place, doc in enumerate(docs)}

    def clustered(members, mean):
        """What each query adds to a mean less its expectation."""
        sums = {}
        for query, error in members:
            sums[query] = sums.get(query, 0.0) + (error - mean)
        return {query: total / len(members) for query, total in sums.items()}

    def by_hand():
        groups, rows = {}, []
        for query, docs in qrels.items():
            for doc, label in docs.items():
                groups.setdefault(sources[doc], []).append((query, model[query][doc] - label))
        for name, members in groups.items():
            others = [row for other, rest in groups.items() if other != name for row in rest]
            mean, rest = (sum(error for _, error in side) / len(side) for side in (members, others))
            one, two = clustered(members, mean), clustered(others, rest)
            n = len(one)
            error = (sum(x * x for x in one.values()) * n / (n - 1)) ** 0.5
            apart = (sum((one.get(q, 0.0) - two[q]) ** 2 for q in two) * n / (n - 1)) ** 0.5
            rows.append((mean, mean - t.ppf(0.975, n - 1) * error, 2 * t.sf(abs(mean - rest) / apart, n - 1)))
        return np.array(rows)

    def by_fastir():
        groups = fastir.judge_bias(model, qrels, {"source": sources}).groups[1:]
        return np.array([(row.error, row.low, row.p_value) for row in groups])

    calls = {"fastir": by_fastir, "plain Python": by_hand}
    goal = Goal("fastir", "plain Python")
    race("judge_bias by five groups, 50 x 1000 judgments", calls, [goal], ROUNDS, same=1e-9)


def test_preferences(race, quick):
    qrels, run = preferences(10 if quick else 50)
    columns = fastir.Run.from_dict(run)
    np.testing.assert_array_equal(
        fastir.evaluate(qrels, run, PREFERENCES).values, fastir.evaluate(qrels, columns, PREFERENCES).values
    )
    calls = {
        "fastir, nine prefs": lambda: fastir.evaluate(qrels, run, PREFERENCES, n_threads=1),
        "fastir, P_avgjg": lambda: fastir.evaluate(qrels, run, ["P_avgjg@10"], n_threads=1),
    }
    race("preferences of four judges, 50 x 100", calls, rounds=ROUNDS)
