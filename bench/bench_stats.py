"""Comparing runs: randomization, bootstrap and Tukey tests beside SciPy's and ranx's, and compare_scores as a whole.

    python bench/bench_stats.py [--rounds N] [--quick] [--record]

Values per query are invented, on no grid, and close enough that p-values are somewhere in the middle.
"""

import tempfile
from pathlib import Path

import numba
import numpy as np
import scipy.stats
import timing
import workloads
from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test
from timing import METRICS, Goal

import fastir
from fastir import stats

THREADS = 4
OURS, OURS_THREADS = "fastir, 1 thread", f"fastir, {THREADS} threads"
RANX, SCIPY = f"ranx, {THREADS} threads", "SciPy"
STEPS = 3 << 20  # of the exact p-value of 38 differences: two halves of 2^19 sums, merged as they double, then met


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
    """Two Monte Carlo p-values of the same test."""
    return abs(p - other) <= 5 * (2 * p * (1 - p) / n_resamples) ** 0.5


def randomization(options, report):
    n, resamples = (200, 2000) if options.quick else (1000, 100_000)
    a, b = values(n, 2)
    numba.set_num_threads(THREADS)

    def ours(threads):
        return lambda: stats.randomization_test(a, b, n_resamples=resamples, n_threads=threads).p_value

    def scipy_s():
        return scipy.stats.permutation_test(
            (a - b,), np.mean, permutation_type="samples", n_resamples=resamples, vectorized=True, batch=5_000_000 // n
        ).pvalue

    calls = {
        OURS: ours(1),
        OURS_THREADS: ours(THREADS),
        SCIPY: scipy_s,
        RANX: lambda: fisher_randomization_test(a, b, resamples)[0],
    }
    p = calls[OURS]()
    assert calls[OURS_THREADS]() == p, "threads change the p-value"
    for name in (SCIPY, RANX):
        assert near(p, calls[name](), resamples), f"{name} differs from {p}"
    costs = timing.measure(calls, 3 * options.rounds, slow=(SCIPY, RANX))
    report.add(
        f"randomization test, {n:,} queries x {resamples:,} resamples",
        costs,
        [Goal(OURS, RANX, 200, "wall"), Goal(OURS_THREADS, RANX, None, "wall"), Goal(OURS, SCIPY, 500)],
    )
    report.limit("a sign", 1e9 * costs[OURS].cpu / (n * resamples), 0.1, "ns")


def exact(options, report):
    d = values(38, 1)[0] - 0.4
    found = stats.randomization_test(d)
    assert found.exact and near(found.p_value, stats.randomization_test(np.append(d, [1e-6] * 3)).p_value, 100_000)
    costs = timing.measure({"fastir": lambda: stats.randomization_test(d)}, options.rounds)
    report.add("exact p-value, 38 differences that are not 0", costs)
    report.limit("steps", STEPS, 1e8, "")
    report.limit("exact p-value", costs["fastir"].wall, 0.5, "s")


def max_t(options, report):
    n, resamples = (200, 2000) if options.quick else (7000, 100_000)
    all_runs = as_runs(n, 20, 6)
    calls = {}
    for count in (5, 10, 20):
        runs = dict(list(all_runs.items())[:count])
        pairs = count * (count - 1) // 2
        calls[f"{count} runs, {6 * pairs} pairs"] = lambda runs=runs: fastir.compare_scores(
            runs, test="randomization", correction="max_t", family="all", n_resamples=resamples, n_threads=1
        )
    calls["20 runs, without a test"] = lambda: fastir.compare_scores(all_runs)
    costs = timing.measure(calls, 1 if options.quick else 3)
    report.add(f"max-T over runs x 6 metrics, {n:,} queries x {resamples:,} resamples, 1 thread", costs)
    few, many = costs["5 runs, 60 pairs"].cpu, costs["20 runs, 1140 pairs"].cpu
    report.limit("4 x the runs, 19 x the pairs take so many times as long", many / few, 6, "")


def bootstrap(options, report):
    n, resamples = (200, 1000) if options.quick else (7000, 10_000)
    d = np.subtract(*values(n, 2))

    def ours(method):
        return stats.bootstrap_interval(d, method=method, n_resamples=resamples, n_threads=1)

    def scipy_s(method):
        return scipy.stats.bootstrap((d,), np.mean, n_resamples=resamples, method=method, batch=100)

    calls = {
        f"{whose}, {method}": lambda whose=whose, method=method: (ours if whose == "fastir" else scipy_s)(method)
        for whose in ("fastir", SCIPY)
        for method in ("percentile", "bca")
    }
    for method in ("percentile", "bca"):
        found, interval = ours(method), scipy_s(method).confidence_interval
        assert max(abs(found.low - interval.low), abs(found.high - interval.high)) < 0.2 * found.standard_error
    costs = timing.measure(calls, options.rounds)
    report.add(
        f"bootstrap interval, {n:,} queries x {resamples:,} resamples",
        costs,
        [Goal("fastir, percentile", f"{SCIPY}, percentile", 5), Goal("fastir, bca", f"{SCIPY}, bca")],
    )


def tukey(options, report):
    x = values(50, 20).T
    theirs = scipy.stats.tukey_hsd(*x.T)
    q = abs(theirs.statistic[0, 1]) / (x.var(axis=0, ddof=1).mean() / len(x)) ** 0.5
    assert abs(float(stats.studentized_range_sf(q, 20, 980)) - theirs.pvalue[0, 1]) < 1e-9, "not SciPy's distribution"
    costs = timing.measure(
        {
            "fastir, paired, with intervals": lambda: stats.tukey_test(x),
            "SciPy, unpaired": lambda: scipy.stats.tukey_hsd(*x.T),
        },
        options.rounds,
        slow=("SciPy, unpaired",),
    )
    report.add(
        "Tukey's test, 50 queries x 20 runs", costs, [Goal("fastir, paired, with intervals", "SciPy, unpaired", 20)]
    )


def from_files(options, report):
    """20 runs of 50 x 1000 lines, evaluated and compared."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = workloads.judged(10 if options.quick else 50)
        workloads.write_qrels(str(Path(folder, "qrels")), qrels)
        runs = {}
        random = np.random.default_rng(0)
        for number in range(20):
            runs[f"run{number}"] = path = str(Path(folder, f"run{number}"))
            noise = {
                query: {
                    doc: score + float(change)
                    for (doc, score), change in zip(
                        docs.items(), random.normal(0, 0.1 + 0.01 * number, len(docs)), strict=True
                    )
                }
                for query, docs in run.items()
            }
            workloads.write_run(path, noise)
        evaluator = fastir.Evaluator(str(Path(folder, "qrels")), METRICS, n_threads=1)
        results = evaluator.evaluate_many(runs)
        costs = timing.measure({
            "evaluated": lambda: evaluator.evaluate_many(runs),
            "evaluated and compared": lambda: fastir.compare_scores(evaluator.evaluate_many(runs)),
            "compared": lambda: fastir.compare_scores(results),
        }, 3 * options.rounds)  # fmt: skip
    report.add(
        "20 runs of 50 x 1000 from files, five metrics, t-tests of all pairs",
        costs,
        [Goal("evaluated and compared", "evaluated", 1 / 1.3)],
    )


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=5)
    report = timing.Report("stats", options)
    for part in (randomization, exact, max_t, bootstrap, tukey, from_files):
        part(options, report)
    report.close()


if __name__ == "__main__":
    main()
