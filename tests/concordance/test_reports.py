"""What the report of a rank correlation says, from which side its metric comes, and when a swap is significant."""

import math

import pytest

import fastir

A, B = {"low": 1, "mid": 2, "top": 3}, {"low": 2, "mid": 3, "top": 1}


def test_the_report_has_a_row_for_each_swap_and_says_who_wins():
    found = fastir.rank_correlation(A, B, "map")
    assert found.systems == ["top", "mid", "low"]
    assert repr(found).split("\n") == [
        "better in a  worse in a       a        b  p in a  p in b  significant in",
        "top          low         2.0000  -1.0000       -       -               -",
        "top          mid         1.0000  -2.0000       -       -               -",
        "",
        "3 systems by map: tau_b -0.3333, tau_ap 0.0000, tau_ap_a 0.0000, tau_ap_b -0.2500, spearman -0.5000.",
        "top wins by a, mid by b; top falls from place 1 to 3, the most.",
        "2 pairs are swapped.",
    ]
    same = repr(fastir.rank_correlation(A, A))
    assert "\n3 systems: tau_b 1.0000" in same and "\ntop wins by both; none falls.\n0 pairs are swapped." in same


def test_csv_has_the_exact_numbers():
    found = fastir.rank_correlation({"a": 1 / 3, "b": 0.0}, {"a": 0.0, "b": 1 / 3})
    assert found.to_table("csv").splitlines()[1].startswith(f"a,b,{1 / 3!r},{-1 / 3!r},nan,nan,")


@pytest.mark.parametrize(("n", "shown"), [(6, 15), (7, 20), (8, 20)])
def test_twenty_swaps_are_shown(n, shown):
    found = fastir.rank_correlation({f"s{i}": i for i in range(n)}, {f"s{i}": -i for i in range(n)})
    text = repr(found)
    assert len(found.swaps) == n * (n - 1) // 2 and len(text.split("\n\n")[0].split("\n")) == 1 + shown
    assert text.endswith("swapped, of which the first 20 are shown." if len(found.swaps) > 20 else "pairs are swapped.")


@pytest.mark.parametrize("side", [0, 1])
def test_results_on_either_side_say_by_which_metric_less_is_better(side):
    runs = {"good": {"q": ["x", "y", "z"]}, "bad": {"q": ["y", "z", "x"]}}
    results = fastir.evaluate_many({"q": {"x": 1}}, runs, "mean_rank")
    both = [{"good": 1.0, "bad": 3.0}, {"good": 1.0, "bad": 3.0}]
    both[side] = results
    found = fastir.rank_correlation(*both)
    assert found.metric == "mean_rank" and found.systems == ["good", "bad"] and found.same_winner


def test_of_a_metric_without_a_direction_more_stands_first():
    found = fastir.rank_correlation(A, B, "num_ret")
    assert found.systems == ["top", "mid", "low"] and found.tau_b == fastir.rank_correlation(A, B).tau_b


def test_a_swap_is_significant_by_the_confidence_asked_for():
    pytest.importorskip("scipy")
    queries = [f"q{i}" for i in range(12)]
    runs = {name: dict.fromkeys(queries, order) for name, order in (("up", ["x", "y"]), ("down", ["y", "x"]))}
    first = {query: {"x": 1} if i < 9 else {"y": 1} for i, query in enumerate(queries)}  # p is about 0.08
    second = {query: {"y": 1} if i < 11 else {"x": 1} for i, query in enumerate(queries)}  # p is below 0.001
    results = [fastir.evaluate_many(qrels, runs, "p@1") for qrels in (first, second)]
    for confidence, verdict in ((0.95, "b"), (0.9, "both"), (1 - 1e-9, "neither")):
        [swap] = fastir.rank_correlation(*results, confidence=confidence).swaps
        assert 0.05 < swap.p_a < 0.1 and 1e-9 < swap.p_b < 0.001 and swap.significant == verdict
    assert math.isclose(swap.difference_a, 0.5)
