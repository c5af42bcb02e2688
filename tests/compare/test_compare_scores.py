"""compare_scores(): what changes no bit of it, and what it refuses.

Also of: keywords, options.
"""

import math
import subprocess
import sys

import numpy as np
import pytest
from twenty_queries import random_runs

import fastir
from fastir.analyses.compare.records import TESTS

pandas = pytest.importorskip("pandas")


def by_pair(comparison):
    return {(pair.a, pair.b, pair.metric): pair for pair in comparison.pairs}


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization", "bootstrap"])
def test_other_runs_and_metrics_change_no_bit(test):
    runs = random_runs(60, 4, 2)
    expected = by_pair(fastir.compare_scores(runs, test=test, n_resamples=3000, correction=None))
    alone = fastir.compare_scores({run: runs[run] for run in ("run1", "run3")}, "m1", test=test, n_resamples=3000)
    assert repr(alone.pairs[0]) == repr(expected["run1", "run3", "m1"])


def test_ties_are_equal_on_paper():
    (pair,) = fastir.compare_scores({"a": {"q1": 0.1 + 0.2, "q2": 0.5}, "b": {"q1": 0.3, "q2": 0.4}}).pairs
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 0)


A = {"q1": 0.5, "q2": 0.25}


@pytest.mark.parametrize(("arguments", "options", "error", "message"), [
    ([[A, A]], {}, TypeError, "runs must be a mapping of name to values, got list"),
    ([{}], {}, ValueError, "there are no runs"),
    ([{"a": 3}], {}, TypeError, "run 'a': expected Results, {query_id: value} or .*, got int"),
    ([{"a": {"m": A, "n": 3}}], {}, TypeError, "run 'a', metric 'n': expected Results"),
    ([{"a": {"q1": "0.5"}}], {}, TypeError, "run 'a': the value of query 'q1' is '0.5', expected a number"),
    ([{"a": {"q1": None}}], {}, TypeError, "the value of query 'q1' is None"),
    ([{"a": {"q1": math.inf}}], {}, ValueError, "run 'a': score of query 'q1' is infinite"),
    ([{"a": pandas.Series([1.0, 2.0], ["q", "q"])}], {}, ValueError, "run 'a': duplicate query 'q'"),
    ([{"a": {"m": A}, "b": {"n": A}}], {}, ValueError, "run 'b' has no metric 'm'; it has 'n'"),
    ([{"a": A}, ["m", "n"]], {}, ValueError, "run 'a' has no metric 'm'; it has 'score'"),
    ([{"a": A}, []], {}, ValueError, "metrics must be names, each once"),
    ([{"a": A}], {"test": "student"}, ValueError, "unknown test 'student'; expected one of t, wilcoxon"),
    ([{"a": A}], {"correction": "fdr"}, ValueError, "correction must be one of None, 'bonferroni'.*, got 'fdr'"),
    ([{"a": A}], {"correction": "max_t"}, ValueError, "correction='max_t' is for test='randomization', got test='t'"),
    ([{"a": A}], {"test": "tukey", "correction": "holm"}, ValueError, "correction must be None, got 'holm'"),
    ([{"a": A}], {"family": "pair"}, ValueError, "family must be one of 'metric', 'all'.*, got 'pair'"),
    ([{"a": A}], {"interval": "z"}, ValueError, "interval must be one of .*, got 'z'"),
    ([{"a": A}], {"effect": "cohen"}, ValueError, "effect must be one of 'd_z'.*, got 'cohen'"),
    ([{"a": A}], {"confidence": 1}, ValueError, "confidence must be between 0 and 1, got 1"),
    ([{"a": A}], {"n_resamples": 0}, ValueError, "n_resamples must be at least 1, got 0"),
    ([{"a": A}], {"random_state": None}, TypeError, "random_state must be an int, got NoneType"),
    ([{"a": A}], {"n_threads": 0}, ValueError, "n_threads must be at least 1, got 0"),
    ([{"a": A}], {"baseline": "b"}, ValueError, "baseline 'b' is not a run; the runs are 'a'"),
    ([{"a": A}], {"queries": "union"}, ValueError,
     "queries must be None, 'qrels', 'intersection', 'strict' or query ids, got 'union'"),
    ([{"a": A}], {"seeds": "pool"}, ValueError, "seeds must be one of None, 'mean'.*, got 'pool'"),
    ([{"a": [A, A]}], {}, TypeError, "run 'a' has several values; seeds= says what they are"),
    ([{"a": []}], {"seeds": "mean"}, ValueError, "run 'a' has an empty list of values"),
    ([{"a": [A, A]}], {"seeds": "crossed"}, ValueError, "seeds='crossed' is for test='bootstrap'"),
])  # fmt: skip
def test_errors_name_what_is_wrong(arguments, options, error, message):
    with pytest.raises(error, match=message):
        fastir.compare_scores(*arguments, **options)


def test_scipy_is_asked_for_where_it_is_missing():
    code = "import sys; sys.modules['scipy'] = None; import fastir; fastir.{}"
    others = " or ".join(f"test={name!r}" for name, card in TESTS.items() if not card.needs_scipy)
    more = f"; without it there is {others}"
    bca = "compare_scores({}, 'map', test='randomization', interval='bca')"
    for what, end in (
        ("compare({}, {}, 'map', test='sign')", more), ("compare_scores({}, 'map', test='wilcoxon')", more),
        (bca, ""), ("compare_scores({}, 'map', effect='anova')", ""), ("stats.sign_test([1.0, 2.0], [2.0, 4.0])", ""),
    ):  # fmt: skip
        done = subprocess.run([sys.executable, "-c", code.format(what)], capture_output=True, text=True)
        assert done.returncode == 1
        message = "ImportError: fastir.stats needs SciPy: pip install 'fastir[stats]'"
        assert done.stderr.splitlines()[-1] == message + end


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_tests_that_need_no_scipy_do_not_import_it(test):
    code = (
        "import sys, fastir; runs = {n: {str(q): (q * p) % 7 / 7 for q in range(30)} for n, p in (('a', 3), ('b', 5))};"
        f"shown = fastir.compare_scores(runs, test={test!r}, n_resamples=1000); table = str(shown);"
        "assert [tuple(v) for v in shown.verdicts] == [(*p[:4], p.adjusted_p) for p in shown.pairs];"
        "assert [tuple(m) for m in shown.means] == [s[:3] for s in shown.systems];"
        "assert table == str(shown); print(shown.to_table(rows='pairs'), 'scipy.special' in sys.modules)"
    )
    texts = []
    for head in ("", "import sys; sys.modules['scipy'] = None; "):
        done = subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, check=True)
        texts.append(done.stdout)
    assert texts[0] == texts[1] and texts[0].endswith(" False\n")


def test_an_unknown_name_of_the_package():
    with pytest.raises(AttributeError, match="module 'fastir' has no attribute 'nothing'"):
        _ = fastir.nothing


@pytest.mark.parametrize("test", TESTS)
def test_p_values_do_not_change_with_the_scale_of_the_scores(test):
    """To the last bit, where they are shares of resamples or of arrangements."""
    random = np.random.default_rng(5)
    scores = {
        run: dict(enumerate(values))
        for run, values in zip("abc", np.round(random.random((3, 5)), 1).tolist(), strict=True)
    }

    def p_values(factor):
        scaled = {run: {query: value * factor for query, value in values.items()} for run, values in scores.items()}
        return [pair.p_value for pair in fastir.compare_scores(scaled, test=test).pairs]

    expected = p_values(1)
    for factor in (10, 100, 0.1, 3):
        found = p_values(factor)
        assert found == (pytest.approx(expected, rel=1e-12) if test in ("t", "tukey") else expected), factor
