"""UnderJudge and ComparisonUnderJudge: what they print and export."""

import pytest
from judged_by_both import HUMAN, JUDGE, METRICS, RUNS

import fastir


def test_it_prints_what_judge_and_humans_said():
    found = fastir.evaluate_under_judge(JUDGE, HUMAN, RUNS["a"], METRICS, n_draws=100)
    text = str(found)
    assert "95% interval" in text and "Judge 2: humans said" in text and "100 draws" in text
    assert found.to_json(per_query=False).count("estimate") == len(METRICS)
    row = found.answers[0]
    assert row.both == sum(row.counts.values()) and sum(row.shares.values()) == pytest.approx(1.0)
    compared = fastir.compare_under_judge(JUDGE, HUMAN, RUNS, METRICS, n_draws=100)
    assert "p (Holm)" in str(compared) and '"pairs"' in compared.to_json()
