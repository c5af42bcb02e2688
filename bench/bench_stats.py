"""Comparing runs: randomization, bootstrap and Tukey tests beside SciPy's and ranx's, and compare_scores as a whole.

Values per query are invented, on no grid, and close enough that p-values are somewhere in the middle.
"""

import numpy as np
import pytest
import workloads
from timing import METRICS, THREADS, Goal, plural

import fastir
from fastir import stats
from fastir.data.results.report import Report
from fastir.data.results.results import Results

scipy_stats = pytest.importorskip("scipy.stats")

ROUNDS = 5


def values(queries, runs, seed=0):
    """Scores of runs that differ a little, of shape (runs, queries)."""
    random = np.random.default_rng(seed)
    base = random.random(queries)
    return np.clip(base + random.normal(0, 0.2, (runs, queries)) + np.linspace(0, 0.02, runs)[:, None], 0, 1)


def as_runs(queries, runs, metrics):
    """The same as {run: {metric: {query_id: value}}}."""
    ids = [f"q{number}" for number in range(queries)]
    tables = [values(queries, runs, seed).tolist() for seed in range(metrics)]
    return {
        f"run{r}": {f"m{m}": dict(zip(ids, table[r], strict=True)) for m, table in enumerate(tables)}
        for r in range(runs)
    }


def near(p, other, n_resamples):
    """Whether two Monte Carlo p-values may be of the same test."""
    return abs(p - other) <= 5 * (2 * p * (1 - p) / n_resamples) ** 0.5


@pytest.fixture
def two_runs(quick):
    """The scores of two runs, and the number of resamples of their randomization test."""
    return *values(200 if quick else 1000, 2), 2000 if quick else 100_000


RANDOMIZATION = "randomization test, 1000 queries x 100 000 resamples"


def p_value(two_runs, n_threads=1):
    a, b, resamples = two_runs
    return stats.randomization_test(a, b, n_resamples=resamples, n_threads=n_threads).p_value


def test_randomization_scipy(race, two_runs):
    a, b, resamples = two_runs
    options = {"permutation_type": "samples", "n_resamples": resamples, "batch": 5_000_000 // len(a)}
    calls = {
        "fastir": lambda: p_value(two_runs),
        "SciPy": lambda: scipy_stats.permutation_test((a - b,), np.mean, vectorized=True, **options).pvalue,
    }
    assert near(calls["fastir"](), calls["SciPy"](), resamples)
    costs = race(RANDOMIZATION, calls, [Goal("fastir", "SciPy", 500)], 3 * ROUNDS, slow=["SciPy"])
    race.amount("processor time of a sign", 1e9 * costs["fastir"].cpu / (len(a) * resamples), "ns", 0.1)


def test_randomization_ranx(race, two_runs):
    """ranx uses threads of its own, and is to be beaten by one of ours."""
    pytest.importorskip("ranx")
    import numba
    from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

    numba.set_num_threads(THREADS)
    a, b, resamples = two_runs
    one, more, ranx = (f"{name}, {plural(n)}" for name, n in (("fastir", 1), ("fastir", THREADS), ("ranx", THREADS)))
    calls = {
        one: lambda: p_value(two_runs),
        more: lambda: p_value(two_runs, THREADS),
        ranx: lambda: fisher_randomization_test(a, b, resamples)[0],
    }
    assert calls[more]() == calls[one](), "threads change the p-value"
    assert near(calls[one](), calls[ranx](), resamples)
    goals = [Goal(one, ranx, 200, "wall"), Goal(more, ranx, None, "wall")]
    race(RANDOMIZATION, calls, goals, 3 * ROUNDS, slow=[ranx])


def test_exact_p_value(race):
    """Two halves of 2^19 sums, merged as they double, then met."""
    d = values(38, 1)[0] - 0.4
    found = stats.randomization_test(d)
    assert found.exact and near(found.p_value, stats.randomization_test(np.append(d, [1e-6] * 3)).p_value, 100_000)
    group = "exact p-value, 38 differences that are not 0"
    costs = race(group, {"fastir": lambda: stats.randomization_test(d)}, rounds=ROUNDS)
    race.amount("time (wall)", costs["fastir"].wall, "s", 0.5)


def test_max_t(race, quick):
    """Four times the runs are nineteen times the pairs, and are asked to take at most six times as long."""
    n, resamples = (200, 2000) if quick else (7000, 100_000)
    all_runs = as_runs(n, 20, 6)
    options = {"test": "randomization", "correction": "max_t", "family": "all", "n_resamples": resamples}
    calls = {}
    for count in (20, 10, 5):
        runs = dict(list(all_runs.items())[:count])
        calls[f"{count} runs"] = lambda runs=runs: fastir.compare_scores(runs, n_threads=1, **options)
    calls["20 runs, without a test"] = lambda: fastir.compare_scores(all_runs)
    few, many = ({pair[:3]: pair for pair in calls[name]().pairs} for name in ("5 runs", "20 runs"))
    for key, pair in few.items():
        assert many[key].p_value == pair.p_value, "other runs change a p-value"
        assert many[key].adjusted_p >= pair.adjusted_p, "more comparisons make an adjusted p-value smaller"
    goals = [Goal("20 runs", "5 runs", 1 / 6)]
    race("max-T over runs x 6 metrics, 7000 queries x 100 000 resamples, 1 thread", calls, goals, rounds=3)


@pytest.mark.parametrize(("method", "asked"), [("percentile", 5), ("bca", None)])
def test_bootstrap(race, quick, method, asked):
    d = np.subtract(*values(200 if quick else 7000, 2))
    options = {"method": method, "n_resamples": 10_000}
    ours, theirs = f"fastir, {method}", f"SciPy, {method}"
    calls = {
        ours: lambda: stats.bootstrap_interval(d, n_threads=1, **options),
        theirs: lambda: scipy_stats.bootstrap((d,), np.mean, batch=100, **options),
    }
    found, interval = calls[ours](), calls[theirs]().confidence_interval
    assert max(abs(found.low - interval.low), abs(found.high - interval.high)) < 0.2 * found.standard_error
    race("bootstrap interval, 7000 queries x 10 000 resamples", calls, [Goal(ours, theirs, asked)], ROUNDS)


def test_tukey(race):
    x = values(50, 20).T
    ours, theirs = "fastir, paired, with intervals", "SciPy, unpaired"
    calls = {ours: lambda: stats.tukey_test(x), theirs: lambda: scipy_stats.tukey_hsd(*x.T)}
    found = calls[theirs]()
    q = abs(found.statistic[0, 1]) / (x.var(axis=0, ddof=1).mean() / len(x)) ** 0.5
    assert abs(float(stats.studentized_range_sf(q, 20, 980)) - found.pvalue[0, 1]) < 1e-9, "not SciPy's distribution"
    race("Tukey's test, 50 queries x 20 runs", calls, [Goal(ours, theirs, 20)], ROUNDS, slow=[theirs])


def test_explaining(race):
    """One query with about a thousand ranked and as many judged documents, beside evaluating it for each of them."""
    qrels, run = workloads.judged(queries=1)
    [query] = run
    judged = [place for place, doc in enumerate(run[query], 1) if doc in qrels[query]]
    evaluator = fastir.Evaluator(qrels, METRICS)
    prefixes = [
        {
            query: {
                (doc if rank <= place else f"?{rank}"): score for rank, (doc, score) in enumerate(run[query].items(), 1)
            }
        }
        for place in judged
    ]
    whole = evaluator.explain(run, query).values
    assert whole == evaluator.evaluate(run).to_dict()[query]
    calls = {
        "fastir, explain": lambda: evaluator.explain(run, query),
        "fastir, evaluate each beginning": lambda: [evaluator.evaluate(prefix) for prefix in prefixes],
    }
    cost = race("explaining a query of 1000", calls, [Goal(*calls)], ROUNDS)
    race.amount("fastir, explain", cost["fastir, explain"].cpu * 1e3, "ms", 3)


def noisy(run, random, size):
    """The same run with scores that are changed a little."""
    return {
        query: dict(zip(docs, np.add(list(docs.values()), random.normal(0, size, len(docs))).tolist(), strict=True))
        for query, docs in run.items()
    }


def test_runs_from_files(race, quick, tmp_path):
    """20 runs of 50 x 1000 lines, evaluated and compared."""
    qrels, run = workloads.judged(10 if quick else 50)
    qrels_path = str(tmp_path / "qrels")
    workloads.write_qrels(qrels_path, qrels)
    random = np.random.default_rng(0)
    runs = {}
    for number in range(20):
        runs[f"run{number}"] = path = str(tmp_path / f"run{number}")
        workloads.write_run(path, noisy(run, random, 0.1 + 0.01 * number))
    evaluator = fastir.Evaluator(qrels_path, METRICS, n_threads=1)
    results = evaluator.evaluate_many(runs)
    calls = {
        "evaluated and compared": lambda: fastir.compare_scores(evaluator.evaluate_many(runs)),
        "evaluated": lambda: evaluator.evaluate_many(runs),
        "compared": lambda: fastir.compare_scores(results),
    }
    assert str(calls["compared"]()) == str(calls["evaluated and compared"]())
    goals = [Goal("evaluated and compared", "evaluated", 1 / 1.3)]
    race("20 runs of 50 x 1000 from files, five metrics, t-tests of all pairs", calls, goals, 3 * ROUNDS)


def test_by_segment(race, quick):
    """Beside polars from the same objects, and from a frame that has the segments already."""
    polars = pytest.importorskip("polars")
    n = 700 if quick else 7000
    ids = [f"q{place}" for place in range(n)]
    values = np.random.default_rng(8).random((n, len(METRICS)))
    results = Results(ids, METRICS, values, np.zeros(n, np.uint8), ["mean"] * len(METRICS), Report())
    segments = {query_id: f"segment {place % 7}" for place, query_id in enumerate(ids)}

    def framed():
        return polars.DataFrame(results).with_columns(polars.Series("segment", [segments[each] for each in ids]))

    def means(frame):
        return frame.group_by("segment", maintain_order=True).agg(polars.col(METRICS).mean())

    held = framed()
    found = np.array([list(dict(of_segment).values()) for of_segment in results.by_segment(segments).values()])
    np.testing.assert_allclose(found, means(held).select(METRICS).to_numpy(), rtol=0, atol=1e-12)
    calls = {
        "fastir": lambda: results.by_segment(segments),
        "polars, from results and a dict": lambda: means(framed()),
        "polars, from its own frame": lambda: means(held),
    }
    race(f"by_segment, {n} queries x 5", calls, [Goal("fastir", name) for name in list(calls)[1:]], 15, 5)
