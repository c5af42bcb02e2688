"""ranx's `compare`, on fastir's evaluation and tests."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.compat.ranx.evaluate import evaluate
from fastir.compat.ranx.report import FrozensetDict, Report
from fastir.errors import quote

if TYPE_CHECKING:
    from fastir.analyses.compare.options import Test

TESTS: dict[str, Test] = {"student": "t", "fisher": "randomization", "tukey": "tukey"}  # ranx's name, fastir's
BLOCK_VALUES = 1 << 22  # values that are permuted at once

Tested = tuple[float, tuple[int, int, int]]  # the p-value of a pair; wins, ties and losses of its first


def compare(
    qrels: Any,
    runs: list[Any],
    metrics: list[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
    *,
    literal: bool = False,
) -> Report:
    """Evaluate runs and test their differences.

    Parameters
    ----------
    qrels : Qrels or dict
    runs : list of Run or dict
        The i-th is called ``run_i`` if it has no name. A Run notes its values, as by `evaluate`.
    metrics : list of str, or str
    stat_test : {"student", "fisher", "tukey"}
        All are paired and two-sided; only Tukey's p-values are corrected for the number of pairs.
    n_permutations, random_seed : int
        For "fisher".
    max_p : float
        The largest p-value that is significant.
    threads : int
        The largest number of threads; 0 leaves it to fastir.
    rounding_digits : int
    show_percentages : bool
        How the report shows means.
    make_comparable : bool
        As for `evaluate`.
    literal : bool
        Compute as ranx does, also where the notes below say that this is wrong.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        The queries of qrels and runs are not the same, or metrics are not str.
    NotImplementedError
        The test does not exist.
    ValueError
        Two runs have one name; otherwise as by `evaluate`.
    ImportError
        SciPy is not installed.

    Notes
    -----
    Where this differs from ranx 0.3.21, unless `literal`:

    - fisher: the p-value is exact where all permutations can be counted. Otherwise it is (1 + c) / (1 +
      n_permutations), never 0, and the same for the same `random_seed`, which has no effect there. A permutation that
      ties with what was observed counts; ranx loses some of these to rounding, so that its p-values of P@k and the like
      are too small. `literal` is c / n_permutations with those ties lost, though from a seed that counts.
    - tukey: queries are paired, by the two-way analysis of variance. ranx's test takes runs for independent samples,
      and finds less the more queries differ; `literal` is that test.
    - student: two runs with equal values have the p-value 1, not NaN.
    - Wins, ties and losses: values that differ by rounding alone tie.

    Also: two runs of one name are an error, where ranx drops one; dicts may be runs; more than 26 runs have letters a1,
    b1 and so on; metrics without a label keep their names; LaTeX has its special characters escaped.

    Examples
    --------
    >>> from fastir.compat.ranx import Qrels, Run, compare
    >>> qrels = Qrels({f"q{i}": {"a": 1} for i in range(8)})
    >>> first = Run({f"q{i}": {"a": 1.0, "b": 0.5} for i in range(8)}, name="first")
    >>> second = Run({f"q{i}": {"a": i / 9, "b": 0.5} for i in range(8)}, name="second")
    >>> compare(qrels, [first, second], ["mrr", "hits@1"], max_p=0.05)
    #    Model    MRR     Hits@1
    ---  -------  ------  --------
    a    first    1.000ᵇ  1.000ᵇ
    b    second   0.688   0.375
    """
    if str(stat_test).lower() not in TESTS:
        raise NotImplementedError(f"stat_test must be one of {', '.join(map(repr, TESTS))}, got {quote(stat_test)}")
    stat_test = stat_test.lower()
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    model_names = [getattr(run, "name", None) or f"run_{number}" for number, run in enumerate(runs, 1)]
    for name in model_names:
        if model_names.count(name) > 1:
            raise ValueError(f"two runs are named {quote(name)}; expected every name once")
    scores: dict[str, dict[str, np.ndarray]] = {}
    for name, run in zip(model_names, runs, strict=True):
        values = evaluate(qrels, run, metrics, return_mean=False, threads=threads, make_comparable=make_comparable)
        scores[name] = {metrics[0]: values} if len(metrics) == 1 else values
    results = {
        name: {metric: float(np.mean(values)) for metric, values in run_scores.items()}
        for name, run_scores in scores.items()
    }
    test = compare_as_ranx if literal else compare_with_fastir
    tested = test(scores, stat_test, n_permutations, random_seed, threads or None)
    comparisons = FrozensetDict(
        {
            pair: {metric: {"p_value": p, "significant": p <= max_p} for metric, (p, _) in tests.items()}
            for pair, tests in tested.items()
        }
    )
    win_tie_loss = {
        (a, b): {
            metric: dict(zip("WTL", counts if (a, b) in tested else counts[::-1], strict=True))
            for metric, (_, counts) in (tested.get((a, b)) or tested[b, a]).items()
        }
        for a in model_names
        for b in model_names
        if a != b
    }
    return Report(
        model_names, results, comparisons, metrics, max_p, win_tie_loss, rounding_digits, show_percentages, stat_test
    )


def compare_with_fastir(
    scores: dict[str, dict[str, np.ndarray]],
    stat_test: str,
    n_permutations: int,
    random_seed: int,
    threads: int | None,
) -> dict[tuple[str, str], dict[str, Tested]]:
    """{(a, b): {metric: p-value and counts}} of every two runs, by fastir's tests."""
    from fastir.analyses.compare.compare_scores import compare_scores

    columns = {
        metric: [run_scores[metric] for run_scores in scores.values()] for metric in next(iter(scores.values()), ())
    }
    undefined = dict.fromkeys(columns, (math.nan, (0, 0, 0)))
    tested: dict[Any, dict[str, Any]] = {pair: dict(undefined) for pair in itertools.combinations(scores, 2)}
    # a metric may be NaN for all queries: bpref where nothing was judged not relevant
    metrics = [metric for metric, values_by_run in columns.items() if not np.isnan(values_by_run).any(axis=0).all()]
    if tested and metrics:
        by_query = {
            name: {metric: dict(enumerate(run_scores[metric].tolist())) for metric in metrics}
            for name, run_scores in scores.items()
        }
        comparison = compare_scores(
            by_query,
            test=TESTS[stat_test],
            n_resamples=n_permutations,
            correction=None,  # as ranx
            random_state=random_seed,
            n_threads=threads,
        )
        for pair in comparison.pairs:
            tested[pair.a, pair.b][pair.metric] = pair.p_value, (pair.wins, pair.ties, pair.losses)
    return tested


def compare_as_ranx(
    scores: dict[str, dict[str, np.ndarray]], stat_test: str, n_permutations: int, random_seed: int, _: int | None
) -> dict[tuple[str, str], dict[str, Tested]]:
    """{(a, b): {metric: p-value and counts}} as ranx computes them."""
    from scipy import stats

    tested: dict[tuple[str, str], dict[str, Tested]] = {pair: {} for pair in itertools.combinations(scores, 2)}
    names = list(scores)
    for metric in scores[names[0]] if tested else ():
        columns = {name: run_scores[metric] for name, run_scores in scores.items()}
        unpaired = stats.tukey_hsd(*columns.values()).pvalue if stat_test == "tukey" else None
        for a, b in tested:
            x, y = columns[a], columns[b]
            if unpaired is not None:
                p = unpaired[names.index(a), names.index(b)]
            elif stat_test == "student":
                p = stats.ttest_rel(x, y).pvalue
            else:
                p = share_of_permutations(x, y, n_permutations, random_seed)
            tested[a, b][metric] = float(p), (int((x > y).sum()), int((x == y).sum()), int((x < y).sum()))
    return tested


def share_of_permutations(x: np.ndarray, y: np.ndarray, n_permutations: int, random_seed: int) -> float:
    """How many permutations have means as far apart as x and y, all in floating point and none counted twice."""

    def apart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.abs(np.cumsum(x, axis=1)[:, -1] / x.shape[1] - np.cumsum(y, axis=1)[:, -1] / y.shape[1])

    rng = np.random.default_rng(random_seed)
    observed, n_reached, step = apart(x[None], y[None])[0], 0, max(1, BLOCK_VALUES // len(x))
    for start in range(0, n_permutations, step):
        swapped = rng.random((min(step, n_permutations - start), len(x))) < 0.5
        n_reached += int((apart(np.where(swapped, y, x), np.where(swapped, x, y)) >= observed).sum())
    return n_reached / n_permutations
